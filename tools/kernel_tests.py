"""Run the tests with the kernels of other processors, as far as this one has them: `make test-kernels`.

    python tools/kernel_tests.py                                 # the numerical part of the suite, with every set
    python tools/kernel_tests.py src tests docs README.md        # these tests
    python tools/kernel_tests.py --only avx2 tests/learners

Libraries choose kernels when they are loaded, by variables: torch (also for oneDNN and MKL), OpenBLAS (numpy's and
scipy's), numpy, and OpenMP for its number of threads, which LightGBM follows.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # their names differ between versions

ROOT = Path(__file__).parents[1]
NUMERICAL = [
    *(f"tests/{name}" for name in ("descent", "objectives", "fronts", "rows", "stats", "selection", "metrics")),
    *(f"tests/{name}" for name in ("learners", "estimators", "streaming", "baselines", "explanations", "alternatives")),
    *(f"tests/test_{name}.py" for name in ("contracts", "descent", "notions", "relaxations", "limits")),
]

#: What numpy chooses at run time, and this processor has.
CHOSEN = [name for name in __cpu_dispatch__ if __cpu_features__[name]]

#: The variables of each set, and the feature that it needs.
SETS = {
    "baseline": (
        "SSE2",
        {
            "ATEN_CPU_CAPABILITY": "default",
            "OPENBLAS_CORETYPE": "Prescott",
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "MKL_CBWR": "COMPATIBLE",
            "NPY_DISABLE_CPU_FEATURES": " ".join(CHOSEN),
            "OMP_NUM_THREADS": "1",
        },
    ),
    "avx2": (
        "AVX2",
        {
            "ATEN_CPU_CAPABILITY": "avx2",
            "OPENBLAS_CORETYPE": "Haswell",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
            "MKL_CBWR": "AVX2",
            "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in CHOSEN if name not in ("AVX2", "FMA3", "X86_V3")),
            "OMP_NUM_THREADS": "2",
        },
    ),
    "avx512": (
        "AVX512_SKX",
        {
            "ATEN_CPU_CAPABILITY": "avx512",
            "OPENBLAS_CORETYPE": "SkylakeX",
            "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
            "OMP_NUM_THREADS": "1",
        },
    ),
    "own": ("SSE2", {"OMP_NUM_THREADS": "2"}),
}


def main() -> None:
    """Run the tests with each set of kernels; exit with 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=SETS, help="a set of kernels; repeatable")
    parser.add_argument("tests", nargs="*", default=NUMERICAL, help="instead of the numerical part of the suite")
    asked = parser.parse_args()
    print(f"{_processor()}, Python {platform.python_version()}: {' '.join(asked.tests)}", flush=True)
    failed = False
    for name, (feature, variables) in SETS.items():
        if name not in (asked.only or SETS):
            continue
        if not __cpu_features__.get(feature):
            print(f"{name}: this processor has no {feature}")
            continue
        print(f"{name}: {' '.join(f'{key}={value!r}' for key, value in variables.items())}", flush=True)
        command = [sys.executable, "-m", "pytest", "--quiet", *asked.tests]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | variables, text=True, encoding="utf-8", capture_output=True, check=False
        )
        failed |= bool(done.returncode)
        print(done.stdout + done.stderr if done.returncode else f"  {done.stdout.strip().splitlines()[-1]}", flush=True)
    sys.exit(failed)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
