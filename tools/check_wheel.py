"""Build the wheel, install it into an empty environment outside the clone, and run the README's examples there.

python tools/check_wheel.py        # or `make test-wheel`
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def commands(page: str) -> list[list[str]]:
    """Return the words of the `mamofair …` commands of a page: the lines of blocks, and those with options in the text.

    >>> commands("mamofair audits: `mamofair audit a.csv --gate`.")
    [['mamofair', 'audit', 'a.csv', '--gate']]
    """
    blocks = re.findall(r"^```\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^mamofair .+$", "\n".join(blocks), flags=re.MULTILINE)
    return [shlex.split(line, comments=True) for line in [*lines, *re.findall(r"`(mamofair [^`]* --[^`]*)`", page)]]


def write_tables(folder: Path) -> None:
    """Write the tables that the README speaks of, with made-up people."""
    draw, rows = np.random.default_rng(0), 3000
    gender, income = draw.choice(["f", "m"], rows), draw.normal(3, 1, rows)
    people = pd.DataFrame({"income": income.round(2), "gender": gender, "race": draw.choice(["a", "b"], rows)})
    approved = np.where(income + (gender == "m") + draw.normal(size=rows) > 3.5, "yes", "no")
    people.assign(approved=approved).to_csv(folder / "loans.csv", index=False)
    people.to_csv(folder / "new.csv", index=False)
    repaid = np.where(draw.random(rows) < 0.8, "yes", "no")
    decided = pd.DataFrame({"sex": gender, "approved": approved, "repaid": repaid})
    decided.to_csv(folder / "decided.csv", index=False)


def main() -> None:
    """Do all of it, in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        [wheel] = (folder / "dist").glob("*.whl")
        run(sys.executable, "-m", "venv", folder / "empty", cwd=folder)
        python = folder / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pinned = ("--constraint", ROOT / "constraints.txt")
        run(python, "-m", "pip", "install", "-qq", *pinned, f"{wheel}[report]", cwd=folder)
        work = folder / "work"
        work.mkdir()
        write_tables(work)
        run(python, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", ROOT / "README.md", cwd=work)
        listed = commands((ROOT / "README.md").read_text(encoding="utf-8"))
        for _, *words in listed:
            run(python, "-m", "mamofair", *words, cwd=work)
        print(f"{wheel.name}: the README's Python examples and its {len(listed)} commands ran")


def run(*words: object, cwd: Path) -> None:
    """Run a program outside the clone; print what it said, and end, if it failed."""
    line = [str(word) for word in words]
    print("$", shlex.join(line), flush=True)
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(line, cwd=cwd, env=alone, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
