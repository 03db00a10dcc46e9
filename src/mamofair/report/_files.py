"""Pages as files."""

import os
from pathlib import Path

from mamofair.runs import replaced_file

__all__ = ["write_page"]


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page. An earlier one is replaced as a whole, or stays as it was."""
    with replaced_file(Path(path)) as file:
        file.write(page.encode())
