"""Every test has surroundings of its own: none depends on what lies around it, or on what another one left behind.

They are the working directory, the home, `$MAMOFAIR_DATA`, the cache and the folder for temporary files, all empty.
Fixtures of a module or of the session are made in the session's surroundings.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pytest

#: Why a test of a published file is skipped.
NOT_BUNDLED = "data: Dutch, CelebA and COMPAS as published are not bundled; MAMOFAIR_DATA names a folder with them"

_REAL_DATA = os.path.abspath(os.environ.get("MAMOFAIR_DATA", os.devnull))

_NUMBERS = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def session_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The surroundings of what several tests share."""
    # Short names: the path of a socket, which is made in the folder for temporary files, has at most 107 characters.
    place = tmp_path_factory.getbasetemp() / "all"
    with pytest.MonkeyPatch.context() as patch:
        # Matplotlib lists all fonts of the machine at its first use: once, and not in every test's home.
        patch.setenv("MPLCONFIGDIR", str(place / "matplotlib"))
        _move(place, patch)
        get_temp_dir()  # of multiprocessing, which keeps the first one until the process ends
        yield place


@pytest.fixture(autouse=True)
def own_surroundings(session_surroundings: Path) -> Iterator[Path]:
    """The surroundings of one test."""
    place = session_surroundings.with_name(str(next(_NUMBERS)))
    with pytest.MonkeyPatch.context() as patch:
        _move(place, patch)
        _hand_on_scripts(session_surroundings, place)
        yield place
        _hand_on_scripts(place, session_surroundings)
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test find the published files, if the caller's `$MAMOFAIR_DATA` has them."""
    monkeypatch.setenv("MAMOFAIR_DATA", _REAL_DATA)


def _move(place: Path, patch: pytest.MonkeyPatch) -> None:
    folders = {name: place / name for name in ("work", "home", "data", "cache", "tmp")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    variables = {
        "home": ("HOME", "USERPROFILE"),
        "data": ("MAMOFAIR_DATA",),
        "cache": ("XDG_CACHE_HOME", "LOCALAPPDATA"),
        "tmp": ("TMPDIR", "TEMP", "TMP"),
    }
    for name, meant in variables.items():
        for variable in meant:
            patch.setenv(variable, str(folders[name]))
    patch.setattr(tempfile, "tempdir", None)  # it remembers the folder that was found first
    patch.chdir(folders["work"])


def _hand_on_scripts(source: Path, target: Path) -> None:
    """Give one cache what pages are drawn with: making it takes more than a second in each process that needs it."""
    for script in source.glob("cache/mamofair/vega-*.js"):
        copy = target / script.relative_to(source)
        copy.parent.mkdir(exist_ok=True)
        if not copy.exists():
            os.link(script, copy)
