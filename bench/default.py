"""The default learner on unprocessed tables, compared with its parts, our other learners and other libraries.

    python bench/default.py [--splits 5] [--first 10] [--case NAME ...] [--method NAME ...]
                            [--records bench/results/default.jsonl] [--out docs/results/default.md]

A random quarter of the rows is the test set of each split; every method gets the rest and holds out what it needs.
Tables are as `mamofair.datasets` loads them, without the sensitive columns; methods that need numbers get them through
`mamofair.tables.encoder()`. "≤ .02" is the test error (and largest test gap) of the most accurate point whose gaps are
all at most .02 on the rows that the method uses for selection; – if there is none in any split. HVt is the hypervolume
of these points on the test set, in a box from the error of LightGBM (with its defaults) minus .005 to that of the best
constant classifier, and from no gap to 1.1 × the gaps of LightGBM. Differences are paired, method minus default, with
their standard errors over splits. Optimism is the test error of a chosen point minus the error it was chosen by.
Seconds are CPU time on one thread, for `fit` only. The defaults were tuned on splits 0 to 2.

The records have one line per method and split. Existing records are not run again, the page shows all of them (with
`--splits 0`, nothing is run), and sections below the tables are kept.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from quality import introduction
from readable import CASES, LIMITS, METHODS, run

PACKAGES = ("mamofair", "scikit-learn", "lightgbm", "fairlearn", "fairret", "oxonfair")
KEYS = ["case", "method", "split"]
HEADS = ["HVt", "error (gap) ≤ .02", "≤ .05", "≤ .10", "optimism ≤ .05", "difference ≤ .02", "≤ .05", "HVt", "seconds"]


def read_records(path: Path) -> pd.DataFrame:
    """Return a row for each line."""
    lines = path.read_text().splitlines() if path.is_file() else []
    return pd.DataFrame([json.loads(line) for line in lines], columns=None if lines else KEYS)


def complete(path: Path, wanted: list[tuple[str, str, int]], figures: Callable[..., dict[str, Any]], jobs: int) -> None:
    """Append a record of each case, method and split that has none yet."""
    done = set(read_records(path)[KEYS].itertuples(index=False, name=None))
    missing = [key for key in wanted if key not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        found = joblib.Parallel(n_jobs=jobs, return_as="generator")(joblib.delayed(figures)(*key) for key in missing)
        for key, values in zip(missing, found, strict=True):
            print(json.dumps(dict(zip(KEYS, key, strict=True)) | values, ensure_ascii=False), file=file, flush=True)


def figures(case: str, method: str, split: int) -> dict[str, Any]:
    """Return the figures of a method on a split, or why it has none."""
    try:
        return {name: round(value, 5) for name, value in run(case, method, split).items()}
    except ValueError as error:  # a peer that does not know this case
        return {"failure": str(error)}


def written_by_hand(page: Path) -> str:
    """Return the sections below the tables."""
    return "## " + page.read_text().split("\n## ", 1)[1] if page.is_file() else ""


def table(records: pd.DataFrame, case: str) -> str:
    """Return a Markdown table of a case, with the methods that succeeded on a split."""
    frame = records[(records["case"] == case) & records["HVt"].notna()]
    methods = [method for method in METHODS if method in set(frame["method"])]
    first = frame[frame["method"] == methods[0]].set_index("split")
    lines = [f"### {case}", "", "| method | " + " | ".join(HEADS) + " |", "|---" * (len(HEADS) + 1) + "|"]
    for method in methods:
        own = frame[frame["method"] == method].set_index("split")
        few = "" if len(own) == records["split"].nunique() else f", {len(own)} splits"
        cells = [_mean(own, "HVt"), *(_chosen(own, limit) for limit in LIMITS), _mean(own, "optimism 0.05", 4)]
        cells += [difference(own, first, name) for name in ("error 0.02", "error 0.05", "HVt")]
        lines.append(f"| {method}{few} | " + " | ".join(cells) + f" | {own['seconds'].mean():.0f} |")
    return "\n".join(lines)


def _column(own: pd.DataFrame, name: str) -> pd.Series:
    return own[name].dropna() if name in own else pd.Series(dtype=float)


def _mean(own: pd.DataFrame, name: str, digits: int = 3) -> str:
    values = _column(own, name)
    if not len(values):
        return "–"
    error = "" if len(values) < 2 else f" ± {values.sem():.{digits}f}"
    return f"{values.mean():.{digits}f}{error}"


def _chosen(own: pd.DataFrame, limit: float) -> str:
    values, gaps = _column(own, f"error {limit}"), _column(own, f"gap {limit}")
    if not len(values):
        return "–"
    few = "" if len(values) == len(own) else f", {len(values)} of {len(own)} splits"
    error = "" if len(values) < 2 else f" ± {values.sem():.4f}"
    return f"{values.mean():.4f}{error} ({gaps.mean():.3f}{few})"


def difference(own: pd.DataFrame, first: pd.DataFrame, name: str) -> str:
    """Return the paired difference of two methods in a column, and its standard error over splits."""
    values = (_column(own, name) - _column(first, name)).dropna()
    if not len(values) or own is first or values.abs().max() == 0:
        return "" if len(values) else "–"
    return f"{values.mean():+.4f}" + ("" if len(values) < 2 else f" ± {values.sem():.4f}")


def read_options(doc: str, cases: Iterable[str], methods: Iterable[str], first: int, name: str) -> argparse.Namespace:
    """Return the options of a script that keeps records; `splits` is their range."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=first)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", nargs="*", default=list(cases), choices=list(cases))
    parser.add_argument("--method", nargs="*", default=list(methods), choices=list(methods))
    parser.add_argument("--records", type=Path, default=Path(f"bench/results/{name}.jsonl"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.splits = range(options.first, options.first + options.splits)
    return options


def main() -> None:
    options = read_options(__doc__, CASES, METHODS, 10, "default")
    wanted = [(case, method, split) for case in options.case for split in options.splits for method in options.method]
    wanted = [key for key in wanted if METHODS[key[1]].takes(CASES[key[0]])]
    complete(options.records, wanted, figures, options.jobs)
    records = read_records(options.records)
    note = f"Splits {records['split'].min()} to {records['split'].max()}."
    tables = [table(records, case) for case in CASES if case in set(records["case"])]
    print("\n\n".join(tables))
    if options.out:
        head = introduction("The default learner", __doc__, note, PACKAGES)
        options.out.write_text("\n\n".join([head, *tables, written_by_hand(options.out)]))


if __name__ == "__main__":
    main()
