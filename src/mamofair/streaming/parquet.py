"""Parquet files that form one table: found, compared with each other, and read a block of rows at a time."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mamofair._messages import PATH, quote
from mamofair._rows.disk import release_memory
from mamofair.streaming.concatenation import concatenate
from mamofair.streaming.folders import find_files
from mamofair.tables.columns import Kind, require_finite
from mamofair.tables.counts import Codes, RawColumn
from mamofair.tables.parquet import open_parquet

__all__ = ["Shard", "Shards", "merge_schemas", "open_shards"]

_BUFFER = 1 << 18  # bytes of a column to read at once: a row group need not fit in memory


@dataclass(frozen=True, eq=False)
class Shard:
    """A file as it was when it was opened: rows in each row group, and the kind and type of each column.

    A column without any value may have no kind. A row has `width` bytes before compression.
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
    """A table in one or more files: its name, the kinds of its columns, and its chunks, each a row group of a file."""

    label: str
    kinds: Mapping[str, Kind]
    chunks: tuple[tuple[Shard, int], ...]

    def rows(self, chunk: int) -> int:
        """Return the number of rows in a chunk."""
        shard, group = self.chunks[chunk]
        return shard.row_groups[group]

    @property
    def width(self) -> float:
        """The bytes of a row in the file where rows are largest."""
        return max(shard.width for shard, _ in self.chunks)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What must be the same on every machine that reads these files."""
        files = {shard.label: (shard.size, shard.row_groups) for shard, _ in self.chunks}
        rows = sum(self.rows(chunk) for chunk in range(len(self.chunks)))
        return {
            "number of files": len(files),
            "number of rows": rows,
            "files": hashlib.sha256(repr(files).encode()).hexdigest()[:8],
        }

    def is_integer(self, name: str) -> bool:
        """Return whether a column has only integers."""
        return all(shard.types[name].startswith(("int", "uint")) for shard, _ in self.chunks)

    def read(self, chunk: int, names: Collection[str], rows: int) -> Iterator[dict[str, RawColumn]]:
        """Yield the columns of a chunk, in blocks of this many rows."""
        label = self.chunks[chunk][0].label
        for batch in self.batches(chunk, names, rows):
            with _naming_file(label):
                yield {name: _read_column(batch[name], self.kinds[name], f"{quote(name)} of {label}") for name in names}

    def batches(self, chunk: int, names: Collection[str], rows: int) -> Iterator[Any]:
        """Yield a chunk as Arrow record batches of this many rows; text is encoded as a dictionary."""
        import pyarrow.parquet as pq

        shard, group = self.chunks[chunk]
        texts = [name for name in names if self.kinds[name] == "text"]
        with _naming_file(shard.label):
            now = os.stat(shard.path)
            if (now.st_size, now.st_mtime_ns) != (shard.size, shard.changed):
                raise ValueError(f"{shard.label} must not change while it is read: it has changed. Start again.")
            with pq.ParquetFile(shard.path, read_dictionary=texts, buffer_size=_BUFFER, pre_buffer=False) as file:
                yield from file.iter_batches(rows, row_groups=[group], columns=list(names))
        release_memory()

    def column(self, name: str, share: float = 1.0) -> Any:
        """Return a column of all chunks as an Arrow array, or of a random share of the rows, the same for each name."""
        import pyarrow.parquet as pq

        parts = []
        for chunk, (shard, group) in enumerate(self.chunks):
            with _naming_file(shard.label), pq.ParquetFile(shard.path) as file:
                part = file.read_row_group(group, columns=[name])
            kept = np.random.default_rng([0, chunk]).random(len(part)) < share
            parts.append(part if kept.all() else part.filter(kept))
        return concatenate(parts)[name]


def open_shards(path: str | os.PathLike[str]) -> list[Shard]:
    """Return the schemas of a Parquet file, or of all in a folder."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {quote(str(path), PATH)}. Check the name.")
    if not path.is_dir() and path.suffix.lower() != ".parquet":
        raise ValueError(f"Only Parquet can be streamed: found {quote(path.name)}. Convert it, or leave out `memory`.")
    files = find_files(path) if path.is_dir() else [path]
    return [_open_shard(file, str(file.relative_to(path if path.is_dir() else path.parent))) for file in files]


def merge_schemas(label: str, shards: list[Shard], ignored: Collection[str]) -> Shards:
    """Return files as one table; all must have the same columns of the same kinds, except for ignored ones."""
    first, kinds = shards[0], dict[str, Kind]()
    for name in first.types:
        known = [shard.kinds[name] for shard in shards if shard.kinds.get(name) is not None]
        kinds[name] = known[0] or "text" if known else "text"
    for shard in shards[1:]:
        if difference := _difference(first, shard, kinds, ignored):
            raise ValueError(
                f"{shard.label} must have the same columns as {first.label}: {difference}. Write it again, or "
                "remove it from the folder."
            )
    chunks = tuple((shard, group) for shard in shards for group, rows in enumerate(shard.row_groups) if rows)
    if not chunks:
        raise ValueError(f"There must be rows in {label}: found only column names. Write it again.")
    return Shards(label, kinds, chunks)


def _difference(first: Shard, shard: Shard, kinds: Mapping[str, Kind], ignored: Collection[str]) -> str:
    if missing := [name for name in first.types if name not in shard.types and name not in ignored]:
        return f"{quote(missing[0])} is missing"
    if more := [name for name in shard.types if name not in first.types and name not in ignored]:
        return f"found {quote(more[0])} in addition"
    for name, kind in shard.kinds.items():
        if name not in ignored and kind is not None and kind != kinds[name]:
            return f"found {shard.types[name]} in {quote(name)}, not {first.types[name]}"
    return ""


def _open_shard(path: Path, label: str) -> Shard:
    names = open_parquet(path).names  # raises if pyarrow is missing, or if a name occurs twice
    import pyarrow.parquet as pq

    with _naming_file(label), pq.ParquetFile(path) as file:
        status, schema = os.stat(path), file.schema_arrow
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        types = {name: schema.field(name).type for name in names}
    kinds = {name: _kind(dtype) for name, dtype in types.items()}
    rows = tuple(group.num_rows for group in groups)
    width = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=0.0)
    names_of_types = {name: str(dtype) for name, dtype in types.items()}
    return Shard(path, label, status.st_size, status.st_mtime_ns, rows, width, kinds, names_of_types)


@contextmanager
def _naming_file(label: str) -> Iterator[None]:
    """Turn errors of pyarrow into one sentence that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{label} cannot be read as Parquet: {str(error).strip(' .')}. Write it again.") from None


def _kind(dtype: Any) -> Kind | None:
    """Return the kind of an Arrow type, as `kind_of` does for columns."""
    from pyarrow import types

    if types.is_null(dtype):
        return None
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return "number"
    if types.is_boolean(dtype):
        return "boolean"
    if types.is_dictionary(dtype):
        return _kind(dtype.value_type)
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return "text"
    return "date" if types.is_temporal(dtype) else "other"


def _read_column(column: Any, kind: Kind, label: str) -> RawColumn:
    """Return an Arrow column as numbers or codes, never with one Python object per row."""
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
    codes, values = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()
    return Codes(np.where(codes == values.index(None), -1, codes) if None in values else codes, values)
