import hashlib
import runpy
from pathlib import Path

import pytest

from mamofair.datasets._files import bundled

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_datasets.py"))
FILES = sorted(TOOL["TARGET"].glob("*.gz"))


def test_the_bundled_files_are_what_the_tool_writes():
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES} == TOOL["WRITTEN"]


def test_the_bundled_files_are_small():
    assert sum(path.stat().st_size for path in FILES) < 1_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_packed_file_has_neither_name_nor_time(path):
    for packed in (path.read_bytes(), TOOL["pack"](bundled(path.name))):
        assert packed[:8] == bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0])
