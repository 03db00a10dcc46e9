"""Checksums of files: whether a table is the one that a run was trained on."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["is_training_table", "sha256_of"]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_training_table(path: Path, settings: Mapping[str, Any]) -> bool:
    """Return whether a file is, byte for byte, the table that a run was trained with."""
    return path.is_file() and sha256_of(path) == settings.get("data", {}).get("checksum")
