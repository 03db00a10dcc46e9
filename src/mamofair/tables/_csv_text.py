"""The text of a CSV file: its bytes, gzipped or not, and their encoding."""

import codecs
import gzip
from io import BufferedReader, TextIOWrapper
from pathlib import Path

from mamofair._messages import quote

__all__ = ["find_encoding", "is_gzip", "is_utf8", "open_text", "wrong_encoding"]

_BLOCK = 2**20
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # starts with the mark of UTF-16, and therefore comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def is_gzip(path: Path) -> bool:
    """Return whether a file is gzipped, by its name."""
    return path.suffix.lower() == ".gz"


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding is UTF-8, under any of its names; a byte order mark makes no difference."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def open_text(path: Path, encoding: str) -> TextIOWrapper:
    """Open a CSV file as text; lines keep their ends, and a byte order mark is skipped."""
    # Only "\n" ends a line: csv.reader itself knows what to do with a carriage return.
    return TextIOWrapper(_open_bytes(path), encoding="utf-8-sig" if is_utf8(encoding) else encoding, newline="\n")


def find_encoding(path: Path) -> str:
    """Return the encoding of a file: what its byte order mark says, or UTF-8, or else cp1252 of Western Windows."""
    with _open_bytes(path) as file:
        start = file.read(_BLOCK)
    if marked := next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None):
        return marked
    if 4 * start.count(0) > len(start):  # text with so many zeros takes two bytes a character
        raise ValueError(
            f"{path.name} must begin with a byte order mark, or be in UTF-8: found many zero bytes. Give its encoding, "
            "such as utf-16-le, with `--encoding` or FileFormat(encoding=…)."
        )
    if detected := next((encoding for encoding in ("utf-8", "cp1252") if _decodes(path, encoding)), None):
        return detected
    raise wrong_encoding(path, "utf-8")


def wrong_encoding(path: Path, encoding: str) -> ValueError:
    """Return the error of a file that is not in an encoding."""
    name = "UTF-8" if is_utf8(encoding) else encoding
    where = _first_wrong_line(path, encoding)
    return ValueError(
        f"{path.name} must be in {name}: found {where}. Give its encoding, such as cp1252, with `--encoding` or "
        "FileFormat(encoding=…), or save it as UTF-8 (in Excel: CSV UTF-8)."
    )


def _first_wrong_line(path: Path, encoding: str) -> str:
    with _open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return f"{quote(line[:40])} in line {number:,}"
    return "bytes that are not"


def _decodes(path: Path, encoding: str) -> bool:
    """Whether all bytes of a file are text in an encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _open_bytes(path) as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _open_bytes(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if is_gzip(path) else path.open("rb")
