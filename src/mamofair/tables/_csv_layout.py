"""The separator and the decimal mark of a CSV file, detected from its first rows."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

__all__ = ["find_decimal", "find_sep", "read_sample"]

_SEPARATORS = ",;\t|"
_LINES, _CHARACTERS = 1000, 2**20  # of a file that are looked at
_UNITS = "€$£¥% \u00a0\u202f+-"

# What only one decimal mark allows, and what both do: 1,234 has either three decimals or a thousand.
_ONLY = {
    ",": re.compile(r"[0-9]{1,3}(\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(\.[0-9]{3}){2,}|[0-9]*,[0-9]+"),
    ".": re.compile(r"[0-9]{1,3}(,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(,[0-9]{3}){2,}|[0-9]*\.[0-9]+"),
}
_EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")


def read_sample(text: Iterable[str]) -> list[str]:
    """Return the first lines of a file, of which the last is left out if there are more."""
    lines, size = list[str](), 0
    for line in islice(text, _LINES + 1):
        lines.append(line)
        size += len(line)
        if size > _CHARACTERS:
            break
    # A quoted value may span lines, and the last of them could break off within it.
    return lines[:-1] if len(lines) > _LINES or (size > _CHARACTERS and len(lines) > 1) else lines


def find_sep(lines: list[str], label: str) -> str:
    """Return the separator that gives every row as many cells as the header; a comma for a single column."""
    fitting = [sep for sep in _SEPARATORS if _fits(lines, sep)]
    if len(fitting) > 1 and not (fitting[0] == "," and _only_header(lines)):
        raise ValueError(
            f"The separator of {label} must be clear: found rows that {' and '.join(map(repr, fitting))} split equally "
            "well. Give it with `--sep` or FileFormat(sep=…)."
        )
    return fitting[0] if fitting else ","


def find_decimal(lines: list[str], sep: str, label: str) -> str | None:
    """Return the decimal mark of the numbers in a file, or None where none of them has one.

    Between commas it is a point, as commas would divide numbers.
    """
    if sep == ",":
        return None
    cells = list(chain.from_iterable(islice(_rows(lines, sep), 1, None)))
    evidence = {mark: next(_with_mark(cells, mark), None) for mark in ",."}
    if None not in evidence.values():
        evidence_text = f"both {evidence[',']!r} and {evidence['.']!r}"
    elif known := next((mark for mark, cell in evidence.items() if cell is not None), None):
        return known
    elif unclear := next((cell for cell in cells if _EITHER.fullmatch(cell.strip(" +-"))), None):
        evidence_text = f"{unclear!r}"
    else:
        return None
    raise ValueError(
        f"The decimal mark of {label} must be clear: found {evidence_text}. Give it with `--decimal` or "
        "FileFormat(decimal=…)."
    )


def _with_mark(cells: Iterable[str], mark: str) -> Iterator[str]:
    """Yield the numbers that have this decimal mark, and cannot have the other."""
    for cell in cells:
        number = cell.strip(_UNITS)
        if _ONLY[mark].fullmatch(number) and not _EITHER.fullmatch(number):
            yield cell


def _fits(lines: list[str], sep: str) -> bool:
    rows = iter(_rows(lines, sep))
    width = len(next(rows, []))
    return width > 1 and all(len(row) == width for row in rows)


def _only_header(lines: list[str]) -> bool:
    return len(list(islice(_rows(lines, ","), 2))) == 1


def _rows(lines: list[str], sep: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(lines, delimiter=sep) if row)
