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
_MARKS = ",."
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


def find_decimal(open_file: Callable[[], TextIO], sep: str, label: str) -> str | None:
    """Return the decimal mark of the numbers in a file, or None where none of them has one.

    Between commas it is a point, as commas would divide numbers. Elsewhere the whole file tells: one whose first
    numbers are whole may have decimals, or thousands, further down.
    """
    if sep == "," or not _occur(open_file, _MARKS):
        return None
    mark, shown = _first_number(open_file, sep, _MARKS)
    if mark is None:
        if shown:
            raise _unclear(label, shown)
        return None
    other = _MARKS.replace(mark, "")
    if _occur(open_file, other):  # quickly seen, and seldom so
        contradiction, second = _first_number(open_file, sep, other)
        if contradiction is not None:
            raise _unclear(label, f"both {shown} and {second}")
    return mark


def _unclear(label: str, evidence: str) -> ValueError:
    return ValueError(
        f"The decimal mark of {label} must be clear: found {evidence}. Give it with `--decimal` or "
        "FileFormat(decimal=…)."
    )


def _occur(open_file: Callable[[], TextIO], marks: str) -> bool:
    """Whether one of these marks is anywhere in a file."""
    with open_file() as text:
        while block := text.read(_CHARACTERS):
            if any(mark in block for mark in marks):
                return True
    return False


def _first_number(open_file: Callable[[], TextIO], sep: str, marks: str) -> tuple[str | None, str]:
    """Return the decimal mark of the first number that allows only one of these, and the number with its line.

    Without a mark, the number is the first one that is unclear, if there is one.
    """
    unclear, has_mark = "", re.compile(f"[{marks}]").search
    with open_file() as text:
        reader = csv.reader(text, delimiter=sep)
        next((row for row in reader if row), None)
        for row in reader:
            for cell in filter(has_mark, row):
                number = cell.strip(_UNITS)
                if _EITHER.fullmatch(number):
                    unclear = unclear or _show(cell, reader.line_num)
                elif mark := next((mark for mark in marks if _ONLY[mark].fullmatch(number)), None):
                    return mark, _show(cell, reader.line_num)
    return None, unclear


def _show(cell: str, line: int) -> str:
    return f"{quote(cell)} in line {line:,}"


def _fits(lines: list[str], sep: str) -> bool:
    rows = iter(_rows(lines, sep))
    width = len(next(rows, []))
    return width > 1 and all(len(row) == width for row in rows)


def _only_header(lines: list[str]) -> bool:
    return len(list(islice(_rows(lines, ","), 2))) == 1


def _rows(lines: list[str], sep: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(lines, delimiter=sep) if row)
