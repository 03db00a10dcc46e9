"""The separator of a CSV file, detected from its first rows, and its decimal mark, from all of them."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TextIO

from mamofair._messages import quote

__all__ = ["find_decimal", "find_sep", "read_sample"]

_SEPARATORS = ",;\t|"
_LINES, _CHARACTERS = 1000, 2**20  # of a file that are looked at
_UNITS = "€$£¥% \u00a0\u202f+-"

# What only one decimal mark allows, and what both do: 1,234 has either three decimals or a thousand.
_ONLY = {
    ",": re.compile(r"[0-9]{1,3}(\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(\.[0-9]{3}){2,}|[0-9]*,[0-9]+"),
    ".": re.compile(r"[0-9]{1,3}(,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(,[0-9]{3}){2,}|[0-9]*\.[0-9]+"),
}
_MAY_BE = re.compile(rf"[{re.escape(_UNITS)}]*[0-9.,]+[{re.escape(_UNITS)}]*")
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


def find_decimal(open_file: Callable[[], TextIO], sep: str, label: str) -> str | None:
    """Return the decimal mark of the numbers in a file, or None where none of them has one.

    Between commas it is a point, as commas would divide numbers. Elsewhere the whole file tells: one whose first
    numbers are whole may have decimals, or thousands, further down.
    """
    if sep == "," or not _has_marks(open_file):
        return None
    found, unclear = dict[str, str](), ""
    with open_file() as text:
        for line, cell in _marked_cells(text, sep):
            shown = f"{quote(cell)} in line {line:,}"
            number = cell.strip(_UNITS)
            if _EITHER.fullmatch(number):
                unclear = unclear or shown
                continue
            found |= {mark: shown for mark in _ONLY if mark not in found and _ONLY[mark].fullmatch(number)}
            if len(found) > 1:
                raise _unclear(label, f"both {' and '.join(found.values())}")
    if unclear and not found:
        raise _unclear(label, unclear)
    return next(iter(found), None)


def _unclear(label: str, evidence: str) -> ValueError:
    return ValueError(
        f"The decimal mark of {label} must be clear: found {evidence}. Give it with `--decimal` or "
        "FileFormat(decimal=…)."
    )


def _has_marks(open_file: Callable[[], TextIO]) -> bool:
    """Whether there is a comma or a point anywhere: looking for them is quicker than dividing a file into cells."""
    with open_file() as text:
        while block := text.read(_CHARACTERS):
            if "," in block or "." in block:
                return True
    return False


def _marked_cells(text: Iterable[str], sep: str) -> Iterator[tuple[int, str]]:
    """Yield the cells below the header that may be numbers with a comma or a point, and their lines."""
    reader = csv.reader(text, delimiter=sep)
    next((row for row in reader if row), None)
    for row in reader:
        for cell in row:
            if ("," in cell or "." in cell) and _MAY_BE.fullmatch(cell):
                yield reader.line_num, cell


def _fits(lines: list[str], sep: str) -> bool:
    rows = iter(_rows(lines, sep))
    width = len(next(rows, []))
    return width > 1 and all(len(row) == width for row in rows)


def _only_header(lines: list[str]) -> bool:
    return len(list(islice(_rows(lines, ","), 2))) == 1


def _rows(lines: list[str], sep: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(lines, delimiter=sep) if row)
