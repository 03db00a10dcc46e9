"""BLAS has one thread while a search computes, and its own number again afterwards; OpenMP has those it may have."""

import subprocess
import sys
from pathlib import Path

import joblib
import pytest

from mamofair._threads import openmp_threads


def test_blas_threads_are_limited_and_given_back():
    child = Path(__file__).with_name("blas_thread_checks.py")
    done = subprocess.run([sys.executable, "-W", "error", child], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("limit", "expected"), [("1", 1), ("1,4", 1), ("1000", None), ("", None), ("0", None), ("x", None)]
)
def test_openmp_starts_no_more_threads_than_its_variable_says(limit, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert openmp_threads() == (expected or joblib.cpu_count())
