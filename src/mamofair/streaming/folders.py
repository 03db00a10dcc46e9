"""The Parquet files of a folder; whatever would be left out of the table, or be in it twice, is an error."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from mamofair._messages import PATH, quote

__all__ = ["find_files"]

_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".arrow", ".feather", ".orc", ".avro", ".json", ".jsonl", ".parq", ".pq")
_PACKED = (".gz", ".zip", ".bz2", ".zst")


def find_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders; names that start with . or _ are left out, as by Spark.

    Tables of other formats, files that are there twice by a link, and links to folders are errors.
    """
    every = sorted(_walk(folder))
    shown = [path for path in every if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)]
    files = [path for path in shown if path.suffix.lower() == ".parquet" and path.is_file()]
    if not files:
        raise ValueError(_nothing_found(folder, [path for path in every if path.is_file()]))
    names = [path.relative_to(folder) for path in files]
    if partitions := [part for name in names for part in name.parts[:-1] if "=" in part]:
        raise ValueError(
            f"Columns must be in the files: found one in the name of a folder, {quote(partitions[0])}. "
            "Write it into the files."
        )
    _require_read(folder, shown, len(files))
    _require_different(folder, files)
    return files


def _walk(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and its subfolders, but for these; links to folders are not followed."""
    for place, folders, names in os.walk(folder):
        yield from (Path(place) / name for name in names)
        yield from (Path(place) / name for name in folders if (Path(place) / name).is_symlink())


def _nothing_found(folder: Path, every: Collection[Path]) -> str:
    others = sorted({path.suffix for path in every if path.suffix})
    advice = "Convert them to Parquet" if ".csv" in others else "Check the name"
    content = f"found {len(every):,} files ({', '.join(others[:3])})" if others else "found none"
    return f"A folder must hold Parquet files to be streamed: {content} in {quote(str(folder), PATH)}. {advice}."


def _require_read(folder: Path, shown: Collection[Path], count: int) -> None:
    """Raise a `ValueError` for what would be silently left out: other tables, and links that are not followed."""
    for path in shown:
        name = quote(str(path.relative_to(folder)))
        if path.is_dir() or (path.is_symlink() and not path.exists()):
            where = "to another folder" if path.is_dir() else "that leads nowhere"
            raise ValueError(f"A folder must hold its files itself: found {name}, a link {where}. Remove it.")
        if _is_other_table(path):
            raise ValueError(
                f"All tables of a folder must be Parquet files: found {name} beside {count:,} of them. Convert it, or "
                "remove it from the folder."
            )


def _is_other_table(path: Path) -> bool:
    """Whether a file is a table that is not read, by its name."""
    name = path.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.endswith((*_TABLES, ".parquet")) and not path.name.lower().endswith(".parquet")


def _require_different(folder: Path, files: Collection[Path]) -> None:
    """Raise a `ValueError` if two names are links to one file, whose rows would count twice."""
    seen: dict[tuple[int, int], Path] = {}
    for path in files:
        status = path.stat()
        first = seen.setdefault((status.st_dev, status.st_ino), path)
        if first is not path and status.st_ino:  # 0 where the system has no such numbers
            both = " and ".join(quote(str(one.relative_to(folder))) for one in (first, path))
            raise ValueError(
                f"Each file of a folder must be there once: found {both}, which are one file. Remove a link."
            )
