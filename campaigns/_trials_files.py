"""Trials of what is read from disk: tables as CSV, and run folders."""

import csv
import io
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mamofair
from campaigns._oracles import Refusal, same
from campaigns._trials import Trial
from mamofair.tables import FileFormat, read_table

_MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"}


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder of this process, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="mamofair-inputs-")


def _place() -> Path:
    return Path(_folder().name)


def _drawn(random: Random) -> tuple[list[str], list[list[str]]]:
    """Return the cells of a good table: a target, a sensitive column, a number and a text."""
    header = ["hired", "sex", "age", random.choice(["job", "Beruf (ä)", "x,y", 'say "hi"', "a\nb"])]
    good, bad = random.choice([("1", "0"), ("yes", "no"), ("true", "false"), ("1", "-1"), ("Ja!", "Nein")])
    rows = []
    for i in range(random.choice([4, 8, 30])):
        target = good if i == 0 else bad if i == 1 else random.choice([good, bad])
        sex = "F" if i == 0 else "M" if i == 1 else random.choice(["F", "M", "é", "", "NA"])
        rows.append(
            [
                target,
                sex,
                random.choice(["1.5", "30", "-2", "", "1e3"]),
                random.choice(["cook", "nurse", "x,y", "a\nb"]),
            ]
        )
    rows[0][2] = "7"
    return header, rows


def _written(random: Random, header: list[str], rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(
        text, quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), lineterminator=random.choice(["\n", "\r\n"])
    )
    writer.writerows([header, *rows])
    return (b"\xef\xbb\xbf" if random.random() < 0.1 else b"") + text.getvalue().encode()


def _spoil(random: Random, content: bytes) -> bytes:
    """Return the bytes with something wrong, or at least odd."""
    at = random.randrange(len(content))
    return random.choice(
        [
            content[:at],
            content[:at] + bytes([random.randrange(256)]) + content[at + 1 :],
            content[:at] + random.choice([b"\0", b'"', b",", b"\n", b"\r", b"\xff", b";"]) + content[at:],
            content.replace(b"age", b"hired", 1),
            content.replace(b"age", b"", 1),
            content.replace(b",", random.choice([b";", b"\t", b",,"])),
            content.replace(b"\n", b"\n\n", 2),
            content + content,
            b"",
            b"\n\n\n",
            content.split(b"\n", 1)[0],
            content.decode().encode("utf-16"),
            bytes(random.randrange(256) for _ in range(50)),
        ]
    )


def _parsed(content: bytes) -> tuple[list[str], list[list[str]]] | None:
    """Return the cells as Python's own reader finds them; None where it finds no table."""
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return None
    full = [line for line in lines if line]
    if not full or any(len(line) != len(full[0]) for line in full) or len(set(full[0])) < len(full[0]):
        return None
    return full[0], full[1:]


def _number(text: str) -> float:
    return float("nan") if text in _MISSING else float(text)


def tabled(random: Random) -> Trial:
    """Return a trial of reading a CSV file."""
    header, rows = _drawn(random)
    content, odd = _written(random, header, rows), random.random() < 0.5
    content = _spoil(random, content) if odd else content
    path = _place() / "people.csv"
    path.write_bytes(content)
    good = rows[0][0]
    cells = (header, rows) if not odd else _parsed(content)
    unknown = random.choice([("NA",), ()])
    needed = cells is not None and {"hired", "sex"} <= set(cells[0])

    def check(table: Any) -> str | None:
        if cells is None or not needed:
            return f"read {table!r}"
        columns = dict(zip(cells[0], zip(*cells[1], strict=True), strict=True))
        label = str(table.labels[1]).removesuffix(".0")
        if table.y.tolist() != [int(_alike(cell, label)) for cell in columns["hired"]]:
            return f"found the labels {table.y.tolist()} of {label}"
        people = [None if value != value else value for value in table.sensitive["sex"].tolist()]
        if people != [None if cell == "" or cell.strip() in unknown else cell for cell in columns["sex"]]:
            return f"found the groups {people}"
        if "age" in table.X and table.X["age"].dtype.kind in "if":
            wrong = [a for a, b in zip(table.X["age"], columns["age"], strict=True) if not same(a, _number(b))]
            return f"found the ages {wrong}" if wrong else None
        return None

    favorable = None if good in ("1", "true") and not odd else good
    how = FileFormat(missing=unknown)
    call = lambda: read_table(path, "hired", favorable, ["sex"], file_format=how)  # noqa: E731
    return Trial("table", call, check, None, not odd, {"content": content})


def _alike(cell: str, label: str) -> bool:
    """Whether a cell is the label: 1 and 1.0, or true and True, are alike."""
    try:
        return float(cell) == float(label)
    except ValueError:
        return cell == label or (cell.lower() == label.lower() and cell.lower() in ("true", "false"))


@cache
def _run() -> tuple[Path, np.ndarray, list[Any]]:
    """Return a small good run, rows to predict, and what its model predicts."""
    from mamofair.runs import Run, save

    numbers = np.random.default_rng(0)
    X, groups = numbers.normal(size=(80, 2)), np.arange(80) % 2
    y = (X[:, 0] + 0.3 * groups > 0).astype(int)
    model = mamofair.FairNetClassifier(network=mamofair.MLP((3,)), members=2, epochs=2, random_state=0)
    folder = save(Run(model.fit(X, y, sensitive_features=groups), {}, {}), _place() / "good")
    return Path(folder), X, model.predict(X).tolist()


def loaded(random: Random) -> Trial:
    """Return a trial of loading a run folder in which something was changed."""
    good, X, expected = _run()
    folder = _place() / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    file = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    content = file.read_bytes()
    at = random.randrange(len(content))
    what = random.choice(["nothing", "flip", "cut", "remove", "empty", "json", "folder", "add"])
    if what == "flip":
        file.write_bytes(content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :])
    elif what in ("cut", "empty"):
        file.write_bytes(content[:at] if what == "cut" else b"")
    elif what in ("remove", "folder"):
        file.unlink()
        if what == "folder":
            file.mkdir()
    elif what == "add":
        (folder / "notes.txt").write_text("mine")
    elif what == "json":
        file = folder / "run.json"
        file.write_text(_edited(random, json.loads(file.read_text())))

    def check(model: Any) -> str | None:
        return None if model.predict(X).tolist() == expected else "predicts otherwise"

    plain = what in ("nothing", "add")
    return Trial("run folder", lambda: mamofair.load(folder), check, None, plain, {"file": file.name, "what": what})


def _edited(random: Random, head: Any) -> str:
    """Return the text of a list of files with one value changed."""
    odd = random.choice([None, -1, "x", [], {}, 1e999, True, "../../etc", {"a": {"b": []}}])
    if random.random() < 0.1:
        return json.dumps(odd)
    head[random.choice([*head, "new"])] = odd
    return json.dumps(head)


def missing(random: Random) -> Trial:
    """Return a trial of a place that holds no table or no run."""
    reads = random.random() < 0.5
    places = [_place(), _place() / "nothing", "", "~", *(["\0", "x" * 5000, "nothing.csv", "/"] if reads else [])]
    place = random.choice(places)
    call = (lambda: read_table(place, "y", None, ["sex"])) if reads else (lambda: mamofair.load(place))
    return Trial(
        "no such place", call, lambda _: "read it", Refusal("there is nothing"), shown={"place": str(place)[:80]}
    )
