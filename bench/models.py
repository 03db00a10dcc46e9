"""Which kind of model? Our estimators and their peers in the paper's designs of four data sets.

    python bench/models.py [--splits 5] [--first 5] [--case NAME ...] [--method NAME ...] [--jobs 1]
                           [--records bench/results/models.jsonl] [--out docs/results/models.md]

Blind methods have no column from which the attribute can be read. OxonFair and the aware plug-in have the attribute at
prediction, and on Adult and COMPAS also among the features. HVt is the hypervolume on test rows of the points that are
non-dominated on validation rows, in a tight box: 1 would be a model with the box's smallest error and no gap, and a
constant classifier has about 0. On Adult the box has errors from .15 to .25 and gaps up to .20, on COMPAS .30 to .46
and .25; `CASES` in bench/quality.py has all of them. "error ≤ .02" and "gap ≤ .02" are the test error and largest test
gap of the most accurate point (on validation rows) within a bound; – if no point was within it. Means and standard
deviations over splits; differences are paired, method minus default, with standard errors over splits. Seconds are CPU
time on one thread. The defaults of boosting and the plug-in were tuned on splits 0 to 4, so by default the splits here
are 5 to 9.

The records have one line per method and split. Existing records are not run again, the page shows all of them (with
`--splits 0`, nothing is run), and sections below the tables are kept.
"""

from functools import partial

import pandas as pd
from default import complete, difference, read_options, read_records, written_by_hand
from quality import (
    CASES,
    COLUMNS,
    Case,
    exponentiated_gradient,
    introduction,
    ours,
    oxonfair,
    plug_in,
    run,
    shown,
)

from mamofair import FairBoostingClassifier, FairPortfolioClassifier
from mamofair.datasets import fetch_celeba, fetch_dutch

ALL = {name: case for name, case in CASES.items() if len(case.attributes) == 1} | {
    "Dutch DDP": Case(fetch_dutch, "demographic_parity", ("sex",), (0.25, 0.20), 0.155, 35),
    "Dutch DEO": Case(fetch_dutch, "equal_opportunity", ("sex",), (0.25, 0.07), 0.155, 35),
    "CelebA DDP": Case(partial(fetch_celeba, download=False), "demographic_parity", ("sex",), (0.20, 0.20), 0.14, 35),
    "CelebA DEO": Case(partial(fetch_celeba, download=False), "equal_opportunity", ("sex",), (0.20, 0.15), 0.14, 35),
}
METHODS = {  # and whether they are blind to the attribute
    "**default**": (partial(ours, make=FairPortfolioClassifier), True),
    "net": (partial(ours, patience=5), True),
    "boosting": (partial(ours, make=FairBoostingClassifier), True),
    "ExponentiatedGradient, LightGBM, 4 bounds": (exponentiated_gradient, True),
    "plug-in, told the attribute": (partial(plug_in, told=True), False),
    "OxonFair, LightGBM, told the attribute": (oxonfair, False),
}
COMPARED = ["HVt", "error ≤ .02", "error ≤ .05"]


def figures(case: str, method: str, split: int) -> dict[str, float]:
    """Return the figures of a method on one split."""
    return dict(zip(COLUMNS, map(float, run(ALL[case], METHODS[method], split)), strict=True))


def table(records: pd.DataFrame, case: str) -> str:
    """Return a Markdown table of a case, with all methods that have records; older code's come last."""
    frame = records[records["case"] == case]
    names = list(dict.fromkeys([*METHODS, *frame["method"]]))
    methods = {name: own.set_index("split") for name in names if len(own := frame[frame["method"] == name])}
    heads = [*COLUMNS[:-1], *(f"difference, {name}" for name in COMPARED), COLUMNS[-1]]
    lines = [f"### {case}", "", "| method | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name, own in methods.items():
        cells = [shown(own[column].mean(), own[column].std()) for column in COLUMNS[:-1]]
        cells += [difference(own, methods["**default**"], column) for column in COMPARED]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {own['seconds'].mean():.1f} |")
    return "\n".join(lines)


def main() -> None:
    options = read_options(__doc__, ALL, METHODS, 5, "models")
    wanted = [(case, method, split) for method in options.method for case in options.case for split in options.splits]
    complete(options.records, wanted, figures, options.jobs)
    records = read_records(options.records)
    tables = [table(records, case) for case in ALL if case in set(records["case"])]
    print("\n\n".join(tables))
    if options.out:
        note = f"Splits {records['split'].min()} to {records['split'].max()}."
        head = introduction("Kinds of models", __doc__, note)
        options.out.write_text("\n\n".join([head, *tables, written_by_hand(options.out)]))


if __name__ == "__main__":
    main()
