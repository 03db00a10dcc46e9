"""The question about a run, stored in its folder, with keys of the counted rows: no row counts twice."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt64

from mamofair._messages import quote, quote_some, warn_user
from mamofair.runs._folders import as_json, leads_inside, read_file
from mamofair.runs._locks import replaced_file
from mamofair.selection import Question
from mamofair.tables.untrusted import one_sentence, parse_json, require_seal, seal

__all__ = ["StoredQuestion", "read_question", "write_question"]

_FILE = "question.json"
_FORMAT = 2  # of format 1 there was no checksum
_ADVICE = "Copy it again, or remove it: then the question is a new one, for other rows."
_FEW = 0.02  # the share of a table's rows that may look like earlier ones by chance


@dataclass(frozen=True, eq=False)
class StoredQuestion:
    """A question, the run it is about, and the tables whose rows have been counted.

    Parameters
    ----------
    question
        The question as it stands.
    run
        The checksum of the run it is about.
    tables
        The keys of the rows of each counted table, for this question or an earlier one in this folder.
    columns
        The columns of these tables, which the keys are made of.
    number
        The number of questions asked in this folder, including this one.
    """

    question: Question
    run: str
    tables: tuple[UInt64[np.ndarray, " _"], ...] = ()
    columns: tuple[str, ...] = ()
    number: int = 1

    def new_rows(self, keys: UInt64[np.ndarray, " n"], columns: tuple[str, ...]) -> Bool[np.ndarray, " n"]:
        """Return which rows of a table are new: all except those of whole tables counted before.

        So you may pass a table again after it has grown. A few look-alikes count as other people, if chance explains
        their number. A table that shares more rows with an earlier one is rejected, because the rest would not be a
        random sample.
        """
        if self.columns and columns != self.columns:
            other = sorted({*columns} ^ {*self.columns})
            raise ValueError(
                "Tables must have the same columns each time, so that no row counts twice: found "
                f"{quote_some(other)} in some only. Give the same columns as before."
            )
        is_new, alike = np.ones(len(keys), dtype=bool), 0
        chance = _chance_of_alike(keys)
        for table in self.tables:
            places = _find(table, keys, is_new)
            if len(places) == len(table) and chance * len(table) < 0.5:
                is_new[places] = False
            elif len(places) <= min(chance * len(table), _FEW) * len(keys):
                alike += len(places)
            else:
                raise ValueError(
                    f"Each row may count only once: found {len(places):,} rows that have been counted before. Leave "
                    "them out, or add `--all-new` if they are other people who look the same."
                )
        if alike:
            warn_user(
                f"{alike:,} rows look the same as rows that have been counted before, no more than chance explains: "
                "they count as other people."
            )
        return is_new

    def sentences(self) -> list[str]:
        """Return the answer so far, for a report."""
        number = f", which is number {self.number} of this run" if self.number > 1 else ""
        return [self.question.answer.message, f"{self.question.rows:,} rows have answered this question{number}."]

    def add(self, question: Question, keys: UInt64[np.ndarray, " n"], columns: tuple[str, ...]) -> "StoredQuestion":
        """Return the question after more rows, and remember these."""
        return replace(self, question=question, tables=(*self.tables, np.sort(keys)), columns=columns)

    def ask_anew(self, question: Question, run: str) -> "StoredQuestion":
        """Return a new question in this folder, which the rows counted so far cannot answer."""
        return replace(self, question=question, run=run, number=self.number + 1)


def _chance_of_alike(keys: np.ndarray) -> float:
    """Return an upper estimate of how likely a row is to look the same as another one, from this table."""
    _, times = np.unique(keys, return_counts=True)
    pairs = float((times * (times - 1) / 2).sum())
    most = pairs + 3 * np.sqrt(pairs) + 3  # an upper bound on the expected number, given the number found
    return float(min(1.0, 2 * most / len(keys) ** 2))


def _find(table: np.ndarray, keys: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the places of a table's rows among keys, as often as the table has them."""
    places = np.flatnonzero(allowed)
    places = places[np.argsort(keys[places], kind="stable")]
    ordered = keys[places]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)  # 0 for the first of equal rows
    times = np.searchsorted(table, ordered, side="right") - np.searchsorted(table, ordered)
    return np.asarray(places[rank < times])


def read_question(folder: Path) -> StoredQuestion | None:
    """Return the question about a run, if there is one."""
    content = read_file(folder, _FILE) if leads_inside(folder, _FILE) else None
    if content is None:
        return None
    with one_sentence(f"{_FILE} in {quote(str(folder))} must be as mamofair wrote it", _ADVICE):
        document = parse_json(content, _FILE)
        require_seal(document, _FORMAT, _FILE, _ADVICE)
        tables = tuple(np.frombuffer(bytes.fromhex(keys), dtype="<u8").astype(np.uint64) for keys in document["tables"])
        return StoredQuestion(
            Question.from_json(document["question"]),
            str(document["run"]),
            tables,
            tuple(map(str, document["columns"])),
            int(document["number"]),
        )


def write_question(stored: StoredQuestion, folder: Path) -> None:
    """Write the question into a run folder, replacing the previous one; the caller holds the folder's lock."""
    document: dict[str, Any] = {
        "run": stored.run,
        "number": stored.number,
        "question": stored.question.to_json(),
        "columns": list(stored.columns),
        "tables": [keys.astype("<u8").tobytes().hex() for keys in stored.tables],
    }
    with replaced_file(folder / _FILE) as file:
        file.write(as_json(seal(document, _FORMAT)))
