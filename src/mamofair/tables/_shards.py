"""Parquet files that together are one table: found, compared with each other, and read some rows at a time."""

import ctypes
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mamofair._messages import PATH, quote
from mamofair.tables.columns import Kind, require_finite
from mamofair.tables.parquet import open_parquet

__all__ = ["Codes", "Raw", "Shard", "Shards", "agreed", "open_shards"]

_BUFFER = 1 << 18  # bytes of a column that are read at once: a row group need not fit in memory


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of text or booleans: the values that occur, and each row's place among them, −1 if it is missing."""

    places: np.ndarray
    values: list[Any]

    def __getitem__(self, rows: Any) -> "Codes":
        return Codes(self.places[rows], self.values)


#: A column of a few rows: numbers with NaN for missing, or codes.
Raw: TypeAlias = np.ndarray | Codes


@dataclass(frozen=True, eq=False)
class Shard:
    """A file as it was when it was opened: the rows of its row groups, and the kind and type of its columns.

    A column without any value may have no kind. A row has `width` bytes before packing.
    """

    path: Path
    label: str
    size: int
    changed: int
    row_groups: tuple[int, ...]
    width: float
    kinds: Mapping[str, Kind | None]
    types: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Shards:
    """A table in one file or several: its name, the kinds of its columns, and its pieces, each a file's row group."""

    label: str
    kinds: Mapping[str, Kind]
    pieces: tuple[tuple[Shard, int], ...]

    def rows(self, piece: int) -> int:
        """Return how many rows a piece has."""
        shard, group = self.pieces[piece]
        return shard.row_groups[group]

    @property
    def width(self) -> float:
        """The bytes of a row, where it has most."""
        return max(shard.width for shard, _ in self.pieces)

    @property
    def outline(self) -> dict[str, Any]:
        """What must be the same wherever these files are read."""
        files = {shard.label: (shard.size, shard.row_groups) for shard, _ in self.pieces}
        rows = sum(self.rows(piece) for piece in range(len(self.pieces)))
        return {
            "number of files": len(files),
            "number of rows": rows,
            "files": hashlib.sha256(repr(files).encode()).hexdigest()[:8],
        }

    def is_whole(self, name: str) -> bool:
        """Return whether a column is of integers."""
        return all(shard.types[name].startswith(("int", "uint")) for shard, _ in self.pieces)

    def read(self, piece: int, names: Collection[str], rows: int) -> Iterator[dict[str, Raw]]:
        """Yield some rows of a piece at a time, by column."""
        import pyarrow.parquet as pq

        shard, group = self.pieces[piece]
        texts = [name for name in names if self.kinds[name] == "text"]
        with _explained(shard.label):
            found = os.stat(shard.path)
            if (found.st_size, found.st_mtime_ns) != (shard.size, shard.changed):
                raise ValueError(f"{shard.label} must stay as it is while it is read: it has changed. Start again.")
            with pq.ParquetFile(shard.path, read_dictionary=texts, buffer_size=_BUFFER, pre_buffer=False) as file:
                for batch in file.iter_batches(rows, row_groups=[group], columns=list(names)):
                    yield {
                        name: _raw(batch[name], self.kinds[name], f"{quote(name)} of {shard.label}") for name in names
                    }
        _give_back()


def _give_back() -> None:
    """Return memory that is free to the machine: glibc keeps it, and rows of many sizes leave holes that add up."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def open_shards(path: str | os.PathLike[str]) -> list[Shard]:
    """Open a Parquet file, or all in a folder, to their schemas."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {quote(str(path), PATH)}. Check the name.")
    if not path.is_dir() and path.suffix.lower() != ".parquet":
        raise ValueError(f"Only Parquet can be streamed: found {quote(path.name)}. Convert it, or leave out `memory`.")
    files = _files(path) if path.is_dir() else [path]
    return [_opened(file, str(file.relative_to(path if path.is_dir() else path.parent))) for file in files]


def agreed(label: str, shards: list[Shard], ignored: Collection[str]) -> Shards:
    """Return files as one table: they must have the same columns, but for ignored ones, of the same kinds."""
    first, kinds = shards[0], dict[str, Kind]()
    for name in first.types:
        found = [shard.kinds[name] for shard in shards if shard.kinds.get(name) is not None]
        kinds[name] = found[0] or "text" if found else "text"
    for shard in shards[1:]:
        if difference := _difference(first, shard, kinds, ignored):
            raise ValueError(
                f"{shard.label} must have the same columns as {first.label}: {difference}. Write it again, or take it "
                "out of the folder."
            )
    pieces = tuple((shard, group) for shard in shards for group, rows in enumerate(shard.row_groups) if rows)
    if not pieces:
        raise ValueError(f"There must be rows in {label}: found only column names. Write it again.")
    return Shards(label, kinds, pieces)


def _difference(first: Shard, shard: Shard, kinds: Mapping[str, Kind], ignored: Collection[str]) -> str:
    if missing := [name for name in first.types if name not in shard.types and name not in ignored]:
        return f"found no {quote(missing[0])} in it"
    if more := [name for name in shard.types if name not in first.types and name not in ignored]:
        return f"found {quote(more[0])} in it, too"
    for name, kind in shard.kinds.items():
        if name not in ignored and kind is not None and kind != kinds[name]:
            return f"found {shard.types[name]} in {quote(name)}, not {first.types[name]}"
    return ""


def _files(folder: Path) -> list[Path]:
    every = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    shown = [file for file in every if not any(part.startswith((".", "_")) for part in file.parts)]
    files = [file for file in shown if file.suffix.lower() == ".parquet"]
    if not files:
        others = sorted({file.suffix for file in every if file.suffix})
        advice = "Convert them to Parquet" if ".csv" in others else "Check the name"
        found = f"found {len(every):,} files ({', '.join(others[:3])})" if others else "found none"
        raise ValueError(
            f"A folder must hold Parquet files to be streamed: {found} in {quote(str(folder), PATH)}. {advice}."
        )
    if partitions := [part for file in files for part in file.parts[:-1] if "=" in part]:
        raise ValueError(
            f"Columns must be in files: found one in the name of a folder, {quote(partitions[0])}. "
            "Write it into the files."
        )
    return [folder / file for file in files]


def _opened(path: Path, label: str) -> Shard:
    names = open_parquet(path).names  # says if pyarrow is missing, or if a name occurs twice
    import pyarrow.parquet as pq

    with _explained(label), pq.ParquetFile(path) as file:
        found, schema = os.stat(path), file.schema_arrow
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        types = {name: schema.field(name).type for name in names}
    kinds = {name: _kind(own) for name, own in types.items()}
    rows = tuple(own.num_rows for own in groups)
    width = max((own.total_byte_size / max(1, own.num_rows) for own in groups), default=0.0)
    named = {name: str(own) for name, own in types.items()}
    return Shard(path, label, found.st_size, found.st_mtime_ns, rows, width, kinds, named)


@contextmanager
def _explained(label: str) -> Iterator[None]:
    """Turn what pyarrow raises into one sentence about the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{label} cannot be read as Parquet: {str(error).strip(' .')}. Write it again.") from None


def _kind(kind: Any) -> Kind | None:
    """Return what a column of Arrow's type holds, as `kind_of` has it."""
    from pyarrow import types

    if types.is_null(kind):
        return None
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return "date" if types.is_temporal(kind) else "other"


def _raw(column: Any, kind: Kind, label: str) -> Raw:
    """Return a column of Arrow's as numbers or codes, never with one Python object per row."""
    import pyarrow as pa

    if kind == "number":
        numbers = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        require_finite(numbers, label)
        return numbers
    if kind == "boolean":
        return Codes(column.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False), [False, True])
    if pa.types.is_null(column.type):
        return Codes(np.full(len(column), -1), [])
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    places, values = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()
    return Codes(np.where(places == values.index(None), -1, places) if None in values else places, values)
