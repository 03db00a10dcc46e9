"""Conflict: how much the objectives pulled against each other while a model was trained."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import pandas as pd

from mamofair.explanations._wording import gap_phrase, join_words

__all__ = ["Conflict", "conflict"]

_WEIGHT = "weight of "
_MOSTLY, _RARELY = 0.6, 0.2  # shares of measurements above and below which the wording changes


@dataclass(frozen=True, eq=False)
class Conflict:
    """Cosines between the objectives' gradients, and the objectives' weights. Printing it gives plain sentences.

    A cosine of 1 means that what helps one objective helps the other; −1 means that it hurts the other. Each cosine is
    measured on one batch and is noisy; shares and means over many say more.

    >>> weights = {"weight of error": [0.5, 0.7], "weight of dp[sex]": [0.5, 0.3]}
    >>> cosines = {"cosine of error and dp[sex]": [0.2, -0.4]}
    >>> result = conflict(pd.DataFrame({"member": 0, "step": [0, 1], **weights, **cosines}))
    >>> result.frame()[["first", "second", "mean", "opposed"]]
       first   second  mean  opposed
    0  error  dp[sex]  -0.1      0.5
    """

    pairs: pd.DataFrame
    shares: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Return a row for each pair of objectives.

        Columns: `first`, `second`, `moments` (how many cosines were measured, over all members), `mean`, `early` and
        `late` (means of the first and last third of the training), and `opposed`, the share of cosines below zero.
        """
        return self.pairs.copy()

    def weights(self) -> pd.DataFrame:
        """Return a row for each objective: its `mean`, `lowest` and `highest` weight over moments and members."""
        return self.shares.copy()

    def sentences(self) -> list[str]:
        """Return sentences on how the objectives got along, for readers who do not know gradients."""
        sentences = [_sentence(row) for row in cast(list[dict[str, Any]], self.pairs.to_dict("records"))]
        means = zip(self.shares["objective"], self.shares["mean"], strict=True)
        shares = [f"{mean:.0%} went to {_goal(objective)}" for objective, mean in means]
        return [*sentences, f"Of the weight in training, {join_words(shares)}, on average."]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def conflict(history: pd.DataFrame) -> Conflict:
    """Return how much the objectives were in conflict during training, and their weights.

    Parameters
    ----------
    history
        The `history_` of a network or of boosting, or some of its rows, such as those of one member.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairNetClassifier(epochs=2, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> conflict(model.history_).frame()[["first", "second", "moments"]]
               first                     second  moments
    0  cross_entropy  demographic_parity[group]       16
    """
    names = [str(name).removeprefix(_WEIGHT) for name in history.columns if str(name).startswith(_WEIGHT)]
    columns = {pair: "cosine of {} and {}".format(*pair) for pair in combinations(names, 2)}
    cosines = {pair: name for pair, name in columns.items() if name in history.columns}
    if not cosines:
        raise ValueError(
            "`history` must have the columns 'weight of …' and 'cosine of …', as that of FairNetClassifier has: "
            f"found {list(history.columns)}."
        )
    pairs = [{"first": a, "second": b} | _summarize(history, name) for (a, b), name in cosines.items()]
    weights = history[[_WEIGHT + name for name in names]].agg(["mean", "min", "max"]).T.to_numpy()
    shares = pd.DataFrame(weights, columns=["mean", "lowest", "highest"])
    return Conflict(pd.DataFrame(pairs), shares.assign(objective=names)[["objective", "mean", "lowest", "highest"]])


def _summarize(history: pd.DataFrame, name: str) -> dict[str, float]:
    measured = history.loc[history[name].notna(), ["step", name]]
    first, last = measured["step"].min(), measured["step"].max()
    early = measured.loc[measured["step"] <= first + (last - first) / 3, name]
    late = measured.loc[measured["step"] >= last - (last - first) / 3, name]
    means = {"mean": measured[name].mean(), "early": early.mean(), "late": late.mean()}
    return {"moments": len(measured), **means, "opposed": (measured[name] < 0).mean()}


def _goal(objective: str) -> str:
    return f"closing {gap_phrase(objective)}" if "[" in objective else "being accurate"


def _sentence(row: dict[str, Any]) -> str:
    first, second, moments = _goal(row["first"]), _goal(row["second"]), int(row["moments"])
    if not moments:
        return f"Whether {first} and {second} were in conflict was not measured."
    opposed = round(row["opposed"] * moments)
    often = "mostly" if row["opposed"] > _MOSTLY else "rarely" if row["opposed"] < _RARELY else "sometimes"
    often = {0: "never", moments: "always"}.get(opposed, often)
    head = f"{first[0].upper()}{first[1:]} and {second} {often} pulled against each other"
    return f"{head}: at {opposed:,} of the {moments:,} moments of training at which it was measured."
