import gzip
import hashlib
import os
import re
from pathlib import Path

import pytest

from mamofair.datasets import _files
from mamofair.datasets._files import DataFile, cache_folder, find, store

CONTENT = b"a table of people\n" * 100
FILE = DataFile("people", "people.csv", hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def folders(monkeypatch, tmp_path):
    """Set `$MAMOFAIR_DATA` and the cache to two empty folders."""
    chosen, cache = tmp_path / "chosen", tmp_path / "cache"
    chosen.mkdir()
    monkeypatch.setenv("MAMOFAIR_DATA", str(chosen))
    monkeypatch.setattr(_files, "cache_folder", lambda: cache)
    return chosen, cache


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_nothing_anywhere_is_none(folders):
    assert find(FILE) is None


@pytest.mark.parametrize("place", ["people.csv", "people.csv.gz", "people/people.csv", "people/people.csv.gz"])
def test_every_layout_is_found_in_both_folders(folders, place):
    content = gzip.compress(CONTENT) if place.endswith(".gz") else CONTENT
    for root in folders:
        path = put(root / place, content)
        assert find(FILE) == CONTENT
        path.unlink()


def test_the_users_folder_comes_before_the_cache(folders):
    chosen, _ = folders
    store(FILE, CONTENT)
    wrong = put(chosen / FILE.name, b"another table")
    with pytest.raises(ValueError, match=re.escape(str(wrong))):
        find(FILE)


def test_wrong_content_is_refused_with_both_checksums(folders):
    path = put(folders[0] / FILE.name, CONTENT[:-1])
    with pytest.raises(ValueError, match=FILE.sha256) as raised:
        find(FILE)
    assert hashlib.sha256(CONTENT[:-1]).hexdigest() in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "packed", [gzip.compress(CONTENT, mtime=0)[:-9], gzip.compress(CONTENT, mtime=0)[:30], b"", b"not gzip at all"]
)
def test_a_truncated_or_foreign_gzip_file_is_refused(folders, packed):
    path = put(folders[0] / f"{FILE.name}.gz", packed)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        find(FILE)


def test_what_is_stored_is_found(folders):
    _, cache = folders
    assert store(FILE, CONTENT) == cache / "people" / "people.csv.gz"
    assert find(FILE) == CONTENT


def test_wrong_content_is_not_stored(folders):
    with pytest.raises(ValueError, match=FILE.sha256):
        store(FILE, b"half")
    assert not folders[1].exists()


@pytest.mark.parametrize("step", ["fdopen", "replace"])
def test_an_interrupted_store_leaves_nothing(folders, monkeypatch, step):
    original = os.fdopen

    def interrupt(*args, **kwargs):
        if step == "fdopen":
            original(*args, **kwargs).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        store(FILE, CONTENT)
    monkeypatch.undo()
    assert not [path for path in folders[1].rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/mamofair"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/mamofair"),
        ("darwin", {}, "home/Library/Caches/mamofair"),
        ("win32", {}, "home/AppData/Local/mamofair"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/mamofair"),
    ],
)
def test_the_cache_is_where_the_platform_wants_it(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert cache_folder() == Path(expected)
