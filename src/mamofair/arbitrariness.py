"""Arbitrariness: how many people's decisions would flip if the model had been trained on other rows.

Two models that are equally accurate and equally fair may decide differently for the same person. For that person the
decision is a matter of luck: which rows happened to be in the training set, and which seed was used. Some groups may be
affected more than others. (Cooper et al. 2024, "Arbitrariness and social prediction"; Marx et al. 2020, "Predictive
multiplicity".)
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from sklearn.base import clone
from sklearn.utils import _safe_indexing as take_rows  # documented by scikit-learn, despite the underscore
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.splits import stratified_order
from mamofair.estimators import FairClassifier
from mamofair.fronts import Front
from mamofair.learners.small_groups import leave_out
from mamofair.selection import ClosestToIdeal

__all__ = ["Arbitrariness", "arbitrariness"]

_MODELS = 4
_TEST = 0.25
_PLAIN = {"calibration_fraction": 0.0, "verbose": 0}
#: The three ways to divide four models into two pairs; each pair is averaged.
_PAIRS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))


@dataclass(frozen=True, eq=False)
class Arbitrariness:
    """Shares of people whose decision flips between models trained on different rows; made by `arbitrariness`.

    Attributes
    ----------
    table
        A row for each point of the front: `flips` of everyone, `averaged` (between averages of two models each), and
        both for each group, such as `flips[sex=F]` and `averaged[sex=F]`.
    rows
        The number of people in the comparison.

    Examples
    --------
    >>> luck = Arbitrariness(pd.DataFrame({"flips": [0.08, 0.05], "averaged": [0.04, 0.03]}), rows=1200)
    >>> luck.frame()
       flips  averaged
    0   0.08      0.04
    1   0.05      0.03
    """

    table: pd.DataFrame
    rows: int

    def frame(self) -> pd.DataFrame:
        """Return the table, whose rows are those of `front_.frame()`."""
        return self.table.copy()

    def sentence(self, row: int) -> str:
        """Return what the table says about a point."""
        values = self.table.iloc[row]
        groups = [name for name in map(str, self.table) if name.startswith("flips[")]
        listed = ", ".join(f"{values[name]:.1%} of {name[6:-1]}" for name in groups)
        helps = "lowers this to" if values["averaged"] < values["flips"] else "does not lower this:"
        return (
            f"Trained on another half of the rows, the model at row {row} would decide differently for "
            f"{values['flips']:.1%} of people ({listed}). Averaging two models {helps} {values['averaged']:.1%}."
        )

    def break_tie(self, front: Front, row: int, tolerance: float = 0.002) -> int:
        """Return the row with the fewest flips among those as good as `row`; pass it to `model.at`.

        A point is as good if its gaps are no larger and its error is at most `tolerance` larger.
        """
        values = front.values[row]
        near = (front.values[:, 0] <= values[0] + tolerance) & (front.values[:, 1:] <= values[1:]).all(axis=1)
        rows = np.flatnonzero(near)
        return int(rows[np.argmin(self.table["flips"].to_numpy()[rows])])

    def __repr__(self) -> str:
        low, high = self.table["flips"].min(), self.table["flips"].max()
        return f"<Arbitrariness of {len(self.table)} points: {low:.1%} to {high:.1%} of decisions flip>"


def arbitrariness(
    model: FairClassifier, X: Any, y: Any, *, sensitive_features: Any, random_state: Any = None
) -> Arbitrariness:
    """Return how many decisions of each point would flip with other training rows and another seed.

    A quarter of the rows is held out. Four copies of the model are trained on random halves of the others, each with
    its own seed, and predict the held-out rows. For each point of `model.front_`, each copy uses its most accurate
    point whose gaps are no larger. `flips` is the share of people for whom two copies disagree, averaged over pairs of
    copies; `averaged` is the same for two averages of two copies each. Models of all rows flip less than
    those of halves, so both shares are slightly too large for `model` itself.

    Parameters
    ----------
    model
        A fitted estimator.
    X, y, sensitive_features
        The rows it was fitted to, or others of the same kind.
    random_state
        The seed of the splits and of the copies.

    Examples
    --------
    >>> from mamofair import FairPlugInClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(effort="fast", random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> luck = arbitrariness(model, toy.X, toy.y, sensitive_features=toy.sensitive, random_state=0)
    >>> list(luck.frame())[:2]
    ['flips', 'averaged']
    """
    check_is_fitted(model, "front_")
    plain = ClosestToIdeal(select_rate=getattr(model.selection, "select_rate", None))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    people = leave_out(read_groups(sensitive_features), model.small_groups_)  # too few of these rows are held out
    columns = zip(people.names, people.values, people.codes.T, strict=True)
    features = pd.DataFrame({name: np.array([*values, None], dtype=object)[codes] for name, values, codes in columns})
    X = model.encoder_.transform(X) if model.encoder_ is not None else X
    labels = pd.factorize(np.asarray(y))[0]
    order = stratified_order(np.column_stack([labels, people.codes]), rng)
    test, rest = np.split(order, [round(_TEST * len(order))])
    scores = []
    for _ in range(_MODELS):
        half = np.sort(rest[stratified_order(labels[rest], rng)[: len(rest) // 2]])
        copy = clone(model).set_params(random_state=int(rng.integers(2**31)), selection=plain, **_PLAIN)
        if np.ndim(model.validation_fraction):  # a mask would not match the rows here
            copy.set_params(validation_fraction=_TEST)
        copy.fit(take_rows(X, half), take_rows(y, half), sensitive_features=features.iloc[half])
        new = take_rows(X, test)
        new = (new, features.iloc[test]) if getattr(model, "aware", False) else new
        scores.append(copy.score_all(new)[_match(copy.front_, model.front_)])
    return Arbitrariness(_table(np.stack(scores), people[test]), len(test))


def _match(front: Front, wanted: Front) -> list[int]:
    """Return, for each point of a front, the row of the most accurate point of another whose gaps are no larger.

    If there is none, it is the one whose gaps exceed them least.
    """
    gaps = front.values[:, 1:]
    excess = (gaps[None] - wanted.values[:, None, 1:]).clip(min=0).max(axis=2, initial=0.0)
    return [int(np.lexsort([front.values[:, 0], distances])[0]) for distances in excess]


def _table(scores: Float[np.ndarray, "models points n"], people: Groups) -> pd.DataFrame:
    decided = scores > 0
    single = np.mean([decided[a] != decided[b] for a, b in combinations(range(len(decided)), 2)], axis=0)
    averages = [[scores[list(pair)].mean(axis=0) > 0 for pair in pairs] for pairs in _PAIRS]
    averaged = np.mean([a != b for a, b in averages], axis=0)
    columns = {"flips": single.mean(axis=1), "averaged": averaged.mean(axis=1)}
    for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True):
        for code, value in enumerate(values):
            inside: Bool[np.ndarray, " n"] = codes == code
            if inside.any():
                columns[f"flips[{name}={value}]"] = single[:, inside].mean(axis=1)
                columns[f"averaged[{name}={value}]"] = averaged[:, inside].mean(axis=1)
    return pd.DataFrame(columns)
