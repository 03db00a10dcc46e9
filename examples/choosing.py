"""How far can a measured gap be trusted?
======================================

Several rules choose a point of a front on Adult; test rows show how good the choices are.

Writes the figure of docs/choosing.md: the front on validation rows, and each choice there and on test rows.

::

    python examples/choosing.py [PICTURE]
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mamofair import ClosestToIdeal, FairNetClassifier, MostAccurateWithin
from mamofair.datasets import load_adult, split
from mamofair.metrics import error, gap
from mamofair.tables import encoder

RULES = {
    "closest to the ideal": (ClosestToIdeal(), "#0072B2", "o"),
    "gap ≤ .05 as measured": (MostAccurateWithin(0.05, margin=0), "#E69F00", "s"),
    "gap ≤ .05, 95 % confident": (MostAccurateWithin(0.05, confidence=0.95), "#009E73", "D"),
    "gap ≤ .02 as measured": (MostAccurateWithin(0.02, margin=0), "#CC79A7", "^"),
    "gap ≤ .02, 95 % confident": (MostAccurateWithin(0.02, confidence=0.95), "#D55E00", "v"),
}


def main(picture: str = "docs/images/choosing.png", epochs: int = 60) -> dict[str, tuple[float, float]]:
    adult = load_adult()
    train, validation, test = split(adult, seed=0)
    rows = np.concatenate([train, validation])
    encode = encoder().fit(adult.X.iloc[rows])
    people = adult.sensitive[["sex"]]
    model = FairNetClassifier(epochs=epochs, calibration_fraction=0.25, random_state=0)
    model.fit(encode.transform(adult.X.iloc[rows]), adult.y.iloc[rows], sensitive_features=people.iloc[rows])

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    frame = model.front_.frame()
    axes.scatter(frame["demographic_parity[sex]"], frame["error"], s=14, color="#999999", label="the front")
    features, truth, found = encode.transform(adult.X.iloc[test]), adult.y.iloc[test], {}
    for name, (rule, color, marker) in RULES.items():
        try:
            chosen = model.with_selection(rule)
        except ValueError as refusal:
            print(f"{name}: {refusal}")
            continue
        decided = chosen.predict(features)
        true_gap = gap(truth, decided, sensitive_features=people.iloc[test], notion="demographic_parity")
        found[name] = true_gap, error(truth, decided)
        expected = frame.loc[chosen.selected_, ["demographic_parity[sex]", "error"]].tolist()
        figures = "gap {:.3f}, error {:.3f}; on test rows {:.3f}, {:.3f}".format(*expected, *found[name])
        print(f"{name}: {figures}")
        draw(axes, expected, found[name], name, color, marker)
    for bound in (0.02, 0.05):
        axes.axvline(bound, color="black", linewidth=0.6, linestyle=":")
    axes.set(xlabel="gap of demographic parity for sex", ylabel="error", xlim=(0, None), ylim=(None, 0.21))
    axes.legend(frameon=False, title="filled: on validation rows, hollow: on test rows")
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=120)
    return found


def draw(axes: Any, expected: list[float], found: tuple[float, float], name: str, color: str, marker: str) -> None:
    """Draw a choice as it was expected, as it is on test rows, and a line between the two."""
    axes.plot(*zip(expected, found, strict=True), color=color, linewidth=1)
    axes.scatter(*expected, s=60, color=color, marker=marker, label=name, zorder=3)
    axes.scatter(*found, s=60, facecolors="white", edgecolors=color, marker=marker, zorder=3)


if __name__ == "__main__":
    main(*sys.argv[1:])
