"""The same table in every format: the same groups, check, gaps and decisions.

Tables of a few dozen people are drawn and handed over as CSV (comma and tab), Excel, Parquet, Arrow, pandas (in its
four kinds of types), polars, a folder of Parquet files, and a stream of that folder. Groups are text, codes with
leading zeros, whole numbers, fractions, booleans, dates or bins; some tables have words such as NA, about which
something is said or not; ids have up to 20 digits. *Right*: the groups are those of a slow loop, and in all formats the
labels, features, columns that are left out, the data check, the audit's gaps (also with units), the encoded matrix and
the decisions of a rule on it are the same. *Refused*: an error in our own words, the same in all formats. *Wrong*: a
difference.

Left out is what a format cannot carry: 20 digits and the text #N/A in Excel; in CSV, that digits or the words True and
NA are text in a feature, that digits are text in a target, the difference between an empty text and none, and groups
that are written in another way than typed values are: 1.0 by pandas, TRUE by R, 0,5 with a decimal comma. A stream
reads no amounts in text and has no medians: its groups, labels and the columns that it leaves out are compared, and of
a folder the groups, check, gaps and decisions.
"""

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from campaigns._drawn_tables import DrawnTable, draw_table
from campaigns._harness import Result
from campaigns._trials import foreign
from campaigns._written_tables import write_table
from mamofair.cli._audited_table import audit_table, read_audited_table
from mamofair.cli._counted_table import open_audited_table
from mamofair.streaming import stream
from mamofair.streaming.source import open_folder
from mamofair.tables import FileFormat, check, encoder, open_source, read_batches, read_features, read_table
from mamofair.tables.role_columns import read_names

CASES = 5_000
ALARMS = ("wrong",)

#: What a check says of columns, apart from how they are stored.
_CHECKED = ("rows", "target", "attributes", "telltales", "findings")


def case(seed: int) -> Result:
    """Draw a table, read it in every format, and compare what comes of it."""
    random = Random(seed)
    table = draw_table(random)
    kind = "a word that may mean unknown" if table.has_words else "groups and ids"
    answers: dict[str, dict[str, Any] | str] = {}
    with tempfile.TemporaryDirectory(prefix="mamofair-formats-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form, source in write_table(table, random, Path(folder)):
            answers |= dict(_answers(table, form, source))
    problem = _compare(table, answers)
    if problem is not None:
        return Result(kind, "wrong", " ".join(problem.split())[:1500])
    return Result(kind, "refused" if isinstance(answers["csv"], str) else "right")


def _answers(table: DrawnTable, form: str, source: Any) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yield what is found in one format, or the sentence that refuses it; a folder is also a stream."""
    how = FileFormat("\t" if form == "tsv" else None, "." if form == "tsv" else None, missing=table.missing)
    readers = {"folder": _of_folder, "stream": _of_stream} if form == "folder" else {form: _of_table}
    for name, read in readers.items():
        try:
            yield name, read(table, source, how)
        except Exception as error:
            problem = foreign(error)
            yield name, str(error) if problem is None else f"{name}: {problem}"


def _of_table(table: DrawnTable, source: Any, how: FileFormat) -> dict[str, Any]:
    read = read_table(source, "hired", table.favorable, table.sensitive, drop=["decided", "who"], file_format=how)
    fitted = encoder(text_numbers=read.text_numbers).fit(read.X)
    opened = open_source(source, how)
    return {
        "groups": _plain(read.sensitive),
        "labels": (read.y.tolist(), list(map(str, read.labels))),
        "features": list(read.X),
        "left out": read.left_out,
        "ids": read_names(opened, ["who"])["who"].tolist(),
        "check": _check(table, source, how),
        "gaps": _gaps(table, open_audited_table(source, *_audited(table), how, None) if _is_path(source) else opened),
        "gaps with units": _gaps(table, opened, unit="who"),
        "trained on": fitted.transform(read.X).round(9).tolist(),
        "decisions": _decide(fitted, fitted.transform(read.X)),
        "decisions on new rows": _decide(fitted, fitted.transform(_new_rows(source, fitted, how))),
    }


def _of_folder(table: DrawnTable, folder: Path, how: FileFormat) -> dict[str, Any]:
    opened, _ = open_folder(folder, 10**6)
    whole = [read_features(path, list(table.columns)) for path in sorted(folder.glob("*.parquet"))]
    source = replace(opened, file_format=how)
    read = read_table(source, "hired", table.favorable, table.sensitive, ["decided", "who"])
    fitted = encoder(text_numbers=read.text_numbers).fit(read.X)
    return {
        "groups": _plain(read.sensitive),
        "check": _check(table, source, how),
        "gaps": _gaps(table, open_audited_table(folder, *_audited(table), how, None)),
        "decisions": _decide(fitted, np.vstack([fitted.transform(part) for part in whole])),
    }


def _of_stream(table: DrawnTable, folder: Path, how: FileFormat) -> dict[str, Any]:
    rows = stream(folder, "hired", table.favorable, table.sensitive, ["decided", "who"], file_format=how)
    groups = {name: [] for name in table.edges}
    labels: list[int] = []
    for chunk in range(len(rows)):
        for block in rows.read(chunk):
            labels += block.y.tolist()
            for place, (name, values) in enumerate(zip(block.groups.names, block.groups.values, strict=True)):
                groups[name] += [None if code < 0 else values[code] for code in block.groups.codes[:, place]]
    named = list(map(str, np.array(rows.labels).tolist()))
    amounts = [name for name, column in table.columns.items() if any(str(one).startswith("$") for one in column.values)]
    left_out = {name: reason for name, reason in rows.left_out.items() if name not in amounts}
    return {"groups": groups, "labels": (labels, named), "left out": left_out}


def _is_path(source: Any) -> bool:
    return isinstance(source, Path)


def _audited(table: DrawnTable) -> tuple[list[str], list[str], None]:
    return ["hired", "decided"], table.sensitive, None


def _check(table: DrawnTable, source: Any, how: FileFormat) -> dict[str, Any]:
    terms = {"target": "hired", "favorable": table.favorable, "sensitive_features": table.sensitive, "unit": "who"}
    document = check(source, **terms, drop=["decided"], min_group=5, file_format=how).to_json()
    uses = {one["column"]: (one["role"], one["missing"]) for one in document["columns"]}
    return {name: document[name] for name in _CHECKED} | {"uses": uses}


def _gaps(table: DrawnTable, source: Any, unit: str | None = None) -> list[Any]:
    favorable = None if table.favorable is None else [table.favorable]
    read = read_audited_table(source, "hired", "decided", favorable, table.sensitive, decided=True)
    result = audit_table(source, read, None, None, None, unit, min_group=1, threshold=None)
    frame = result.frame().round(9)
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _new_rows(source: Any, fitted: Any, how: FileFormat) -> pd.DataFrame:
    """Return the features of a table as `predict` reads them."""
    if not _is_path(source):
        return read_features(source, fitted.feature_names_in_)
    return pd.concat([rows for _, rows in read_batches(source, fitted, rows=17, file_format=how)], ignore_index=True)


def _decide(fitted: Any, matrix: np.ndarray) -> list[bool]:
    """Return the decisions of a rule whose weights follow from the names of the encoded columns."""
    weights = np.array([(sum(map(ord, name)) % 19 - 9) / 9 for name in fitted.get_feature_names_out()])
    scores = (matrix / (1 + np.abs(matrix).max(axis=0, initial=0))) @ weights
    return (scores.round(9) > 0).tolist()


def _plain(frame: pd.DataFrame) -> dict[str, list[str | None]]:
    return {str(name): [None if one != one else one for one in column.tolist()] for name, column in frame.items()}


def _compare(table: DrawnTable, answers: dict[str, dict[str, Any] | str]) -> str | None:
    """Return the first difference between formats, or between one and the slow loop."""
    first = answers["csv"]
    if isinstance(first, str):
        others = {form: answer for form, answer in answers.items() if answer != first}
        return f"csv says {first!r}, others {others!r}" if others else None
    for form, answer in answers.items():
        if isinstance(answer, str):
            return f"{form} says {answer!r}"
        if answer.get("groups", table.groups()) != table.groups():
            return f"{form} has the groups {answer['groups']}, not {table.groups()}"
        for what, found in answer.items():
            if repr(found) != repr(first[what]):
                return f"{form}: {what} is {found!r}, not {first[what]!r}"
    return None
