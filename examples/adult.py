"""The whole trade-off for sex and race on Adult
=============================================

The whole trade-off for sex and race on the bundled Adult data, and three choices from it.

Writes the front as a table and a figure to FOLDER (runs/adult by default).

::

    python examples/adult.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

from mamofair import FairNetClassifier, MostAccurateWithin
from mamofair.datasets import load_adult, split
from mamofair.metrics import error, gap
from mamofair.tables import encoder


def main(folder: str = "runs/adult", epochs: int = 30) -> None:
    adult = load_adult()
    train, validation, test = split(adult, seed=0)
    rows = np.concatenate([train, validation])
    encode = encoder().fit(adult.X.iloc[rows])
    model = FairNetClassifier(notions="demographic_parity", epochs=epochs, random_state=0, verbose=1)
    model.fit(encode.transform(adult.X.iloc[rows]), adult.y.iloc[rows], sensitive_features=adult.sensitive.iloc[rows])

    features, truth, people = encode.transform(adult.X.iloc[test]), adult.y.iloc[test], adult.sensitive.iloc[test]
    choices = {
        "most accurate": model.at(0),
        "closest to the ideal": model,
        "both gaps ≤ .05": model.with_selection(MostAccurateWithin(0.05)),
    }
    print(
        f"\n{'on ' + format(len(test), ',') + ' test rows':24}{'error':>8}"
        + "".join(f"{'gap ' + a:>10}" for a in people)
    )
    for name, chosen in choices.items():
        decided = chosen.predict(features)
        gaps = [gap(truth, decided, sensitive_features=people[a], notion="demographic_parity") for a in people]
        print(f"{name:24}{error(truth, decided):8.3f}" + "".join(f"{value:10.3f}" for value in gaps))

    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    model.front_.frame().to_csv(out / "front.csv", index_label="point")
    model.front_.plot(selected=model.selected_).savefig(out / "front.png", dpi=120)
    print(f"\nThe front ({len(model.front_)} points): {out / 'front.csv'}, {out / 'front.png'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
