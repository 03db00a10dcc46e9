"""Data files: bundled ones, and those on the user's machine."""

import gzip
import hashlib
import os
import tempfile
import zlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mamofair._cache import cache_folder


@dataclass(frozen=True)
class DataFile:
    """A published file, identified by the sha256 of its unpacked content.

    Parameters
    ----------
    folder : str
        The data set's own folder below `$MAMOFAIR_DATA` and the cache.
    name : str
        The published file name. Packed with gzip, as `name` + ".gz", it is found as well.
    sha256 : str
        Of the content, after unpacking.
    """

    folder: str
    name: str
    sha256: str


def bundled(name: str) -> bytes:
    """Return the unpacked content of a file that comes with the package."""
    return gzip.decompress((resources.files("mamofair.datasets") / "data" / name).read_bytes())


def roots() -> list[Path]:
    """Return the folders in which data files are looked for, in this order: `$MAMOFAIR_DATA`, the cache."""
    chosen = os.environ.get("MAMOFAIR_DATA")
    return [*([Path(chosen).expanduser()] if chosen else []), cache_folder()]


def find(file: DataFile) -> bytes | None:
    """Return the content of `file`, or None if it is not found; unexpected content is an error."""
    for root in roots():
        for folder in (root / file.folder, root):
            for path in (folder / f"{file.name}.gz", folder / file.name):
                if path.is_file():
                    return verify(_unpack(path), file.sha256, path)
    return None


def store(file: DataFile, content: bytes) -> Path:
    """Put `content` into the cache for `find`, atomically."""
    verify(content, file.sha256, file.name)
    target = cache_folder() / file.folder / f"{file.name}.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "wb") as packed:
            packed.write(gzip.compress(content))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def verify(content: bytes, sha256: str, what: str | Path) -> bytes:
    """Return `content` if it has this sha256; raise a `ValueError` otherwise."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise ValueError(
            f"The content of {what} must have sha256 {sha256}: found {digest} ({len(content):,} bytes). "
            "It is another version, or incomplete; delete it and get it again."
        )
    return content


def _unpack(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path} must be a whole gzip file: found {len(content):,} bytes that do not unpack ({error}). "
            "Delete it and get it again."
        ) from error
