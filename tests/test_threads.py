"""BLAS has one thread while a search computes, and its own number again afterwards."""

import subprocess
import sys
from pathlib import Path


def test_blas_threads_are_limited_and_given_back():
    child = Path(__file__).with_name("blas_thread_checks.py")
    done = subprocess.run([sys.executable, "-W", "error", child], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
