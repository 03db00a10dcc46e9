"""Fitted parts of scikit-learn in skops files that somebody else may have written.

skops executes nothing and refuses types that are on no list. Two things it leaves to its users: a file may unpack to
any size, and the content of a part of a harmless type may crash compiled code (see `_skops_parts`). It is imported only
for files that hold more than plain values.
"""

import io
import json
from contextlib import suppress
from typing import Any
from zipfile import ZIP_STORED, ZipFile, is_zipfile

from mamofair.tables._plain_skops import NotPlainError, read_plain, write_plain
from mamofair.tables.untrusted import one_sentence, parse_json

__all__ = ["read_parts", "write_parts"]

_SPARSE, _RATIO = 2**26, 20  # limits of sparse matrices, which scipy compresses: bytes, and bytes per byte in the file
_NODES = 10**7


def write_parts(fitted: Any, label: str, what: str, allowed: frozenset[str]) -> bytes:
    """Return the content of a file with a fitted part; types that could not be read back are refused by name."""
    data = _dump(fitted)
    read_parts(data, label, what, allowed)
    return data


def _dump(fitted: Any) -> bytes:
    try:
        schema = write_plain(fitted)
    except NotPlainError:
        import skops.io

        return bytes(skops.io.dumps(fitted))
    with io.BytesIO() as file:
        with ZipFile(file, "w", ZIP_STORED) as archive:
            archive.writestr("schema.json", json.dumps(schema))
        return file.getvalue()


def read_parts(data: bytes, label: str, what: str, allowed: frozenset[str]) -> Any:
    """Return what a file holds; only types that skops trusts, and those in `allowed`, are accepted."""
    with one_sentence(f"{label} must be the file of {what}"):
        schema = _read_stored(data, label)
        with suppress(NotPlainError):
            return read_plain(schema)
        import skops.io

        from mamofair.tables._skops_parts import require_sound

        foreign = set(skops.io.get_untrusted_types(data=data)) - allowed
        if foreign:
            raise ValueError(
                f"{label} must hold nothing but the parts of {what}: found {', '.join(sorted(foreign))[:200]}. "
                "Do not use it unless you know who made it."
            )
        fitted = skops.io.loads(data, trusted=sorted(allowed))
        require_sound(fitted, label, allowed)
        return fitted


def _read_stored(data: bytes, label: str) -> Any:
    """Return the schema of a file; refuse one that unpacks to more than its own size.

    Python's reader stops at the sizes checked here.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        compressed = any(entry.compress_type != ZIP_STORED for entry in entries)
        if compressed or sum(entry.file_size for entry in entries) > len(data):
            raise ValueError(f"{label} must hold its parts as they are: found compressed ones. Do not use it.")
        schema = parse_json(archive.read("schema.json"), label)
        if _expanded(schema, {}) > _NODES:
            raise ValueError(f"{label} must have at most {_NODES:,} parts: found more. Do not use it.")
        for entry in entries:
            content = io.BytesIO(archive.read(entry))
            if is_zipfile(content):
                _require_small(content, entry.file_size, label)
    return schema


def _expanded(state: Any, sizes: dict[Any, int]) -> int:
    """Return the number of parts, counting a part that is referred to by its id each time."""
    if not isinstance(state, dict | list):
        return 1
    name = state.get("__id__") if isinstance(state, dict) else None
    if name is None or name not in sizes:
        size = 1 + sum(_expanded(part, sizes) for part in (state.values() if isinstance(state, dict) else state))
        if name is None:
            return size
        sizes[name] = size
    return sizes[name]


def _require_small(content: io.BytesIO, size: int, label: str) -> None:
    with ZipFile(content) as matrix:
        unpacked = sum(entry.file_size for entry in matrix.infolist())
    if unpacked > _SPARSE + _RATIO * size:
        raise ValueError(
            f"{label} must not unpack to a huge size: found {unpacked:,} bytes in {size:,}. Do not use it."
        )
