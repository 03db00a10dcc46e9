"""What an audit says about scores beyond decisions at one threshold: AUC, calibration, the threshold's place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from mamofair._messages import as_share, quote
from mamofair._rows.groups import Groups
from mamofair._rows.labels import as_column
from mamofair._stats.auc import auc
from mamofair._stats.calibration import chance_error, mean_difference
from mamofair._stats.intervals import effective_rows, wilson
from mamofair.fronts import Counter, Criterion
from mamofair.notions import column

__all__ = ["EVERYONE", "Scores", "as_scores"]

#: The attribute and the group under which tables list all rows, those of unknown group included.
EVERYONE = ("", "everyone")


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of rows, their labels (None if unknown) and groups, and the threshold above which a decision is favorable.

    Tables have a row for everyone, then one for each group of each attribute. Numbers of rows are sums of weights, if
    there are weights, and intervals use effective numbers.
    """

    values: Float[np.ndarray, " n"]
    positive: Bool[np.ndarray, " n"] | None
    people: Groups
    threshold: float
    confidence: float
    weight: Float[np.ndarray, " n"] | None = None

    def curve(self, thresholds: Iterable[float] | None, criteria: Sequence[Criterion]) -> pd.DataFrame:
        """Return error, selected share and gaps at other thresholds; see `Audit.curve`."""
        labels = np.zeros(len(self.values)) if self.positive is None else self.positive
        counter, rows = Counter.of(labels, self.people, self.weight), []
        for threshold in np.linspace(0, 1, 101) if thresholds is None else thresholds:
            _require_threshold(threshold)
            [tally] = counter((self.values > threshold)[None])
            measured = {column(*criterion): tally.gap(*criterion) for criterion in criteria}
            error = {} if self.positive is None else {"error": tally.error}
            rows.append({"threshold": threshold} | error | {"selected": tally.positive_share} | measured)
        return pd.DataFrame(rows)

    def auc(self) -> pd.DataFrame:
        """Return the AUC of everyone and of each group; see `Audit.auc`."""
        weight, positive = self._weights(), self._require_labels("auc")
        rows = []
        for attribute, group, mask in self._groups():
            favorable, other = np.where(positive, weight, 0)[mask], np.where(positive, 0, weight)[mask]
            area = auc(self.values[mask], favorable, other, self.confidence)
            rows.append((attribute, group, *area, favorable.sum() + other.sum(), favorable.sum()))
        return pd.DataFrame(rows, columns=["attribute", "group", "auc", "low", "high", "rows", "positives"])

    def calibration(self, bins: int) -> pd.DataFrame:
        """Return mean score and observed rate in bins of equal counts; see `Audit.calibration`."""
        self._require_labels("calibration")
        places = self._bins(bins)
        tables = []
        for attribute, group, mask in self._groups():
            table = {"attribute": attribute, "group": group, "bin": np.arange(places.max() + 1) + 1}
            tables.append(pd.DataFrame(table | self._bin_rates(mask, places)).drop(columns="effective"))
        return pd.concat(tables, ignore_index=True)

    def calibration_error(self, bins: int) -> pd.DataFrame:
        """Return calibration in one line for everyone and each group; see `Audit.calibration_error`."""
        positive = self._require_labels("calibration_error")
        places, weight = self._bins(bins), self._weights()
        rows = []
        for attribute, group, mask in self._groups():
            parts, mass = self._bin_rates(mask, places), weight[mask]
            errors = np.abs(parts["score"] - parts["rate"]), chance_error(parts["score"], parts["effective"])
            share = parts["rows"] / mass.sum() if mass.any() else np.full(len(parts["rows"]), np.nan)
            score, rate, error, by_chance = (
                float(np.sum(share * one, where=(share > 0) | np.isnan(share)))
                for one in (parts["score"], parts["rate"], *errors)
            )
            difference = mean_difference(self.values[mask], positive[mask].astype(float), mass, self.confidence)
            rows.append((attribute, group, score, rate, *difference, error, by_chance, mass.sum()))
        names = ["attribute", "group", "score", "rate", "difference", "low", "high", "error", "by_chance", "rows"]
        return pd.DataFrame(rows, columns=names)

    def around_threshold(self, width: float) -> pd.DataFrame:
        """Return where the threshold lies on the scores of everyone and each group; see `Audit.around_threshold`."""
        if not 0 < width <= 1:
            raise ValueError(f"`width` must lie in (0, 1], as scores do: found {quote(width)}.{as_share(width)}")
        weight = self._weights()
        above, near = self.values > self.threshold, np.abs(self.values - self.threshold) <= width + 1e-12
        rows = []
        for attribute, group, mask in self._groups():
            total, close = weight[mask].sum(), weight[mask & near].sum()
            share = weight[mask & above].sum() / total if total else np.nan
            rows.append((attribute, group, share, 1 - share, close, close / total if total else np.nan, total))
        names = ["attribute", "group", "above", "quantile", "near", "near_share", "rows"]
        return pd.DataFrame(rows, columns=names)

    def remarks(self) -> list[str]:
        """Return a sentence for each reason why these scores are uninformative."""
        lines = []
        if self.positive is not None and (self.positive.all() or not self.positive.any()):
            lines.append("All true labels are the same: the AUC is undefined.")
        if len(np.unique(self.values)) == 1:
            lines.append(f"All scores are {self.values[0]:g}: they rank nobody.")
        return lines

    def _require_labels(self, table: str) -> Bool[np.ndarray, " n"]:
        if self.positive is None:
            raise ValueError(
                f"`{table}` needs true labels: found scores only. Call audit(y_true, scores, threshold=…)."
            )
        return self.positive

    def _weights(self) -> Float[np.ndarray, " n"]:
        return np.ones(len(self.values)) if self.weight is None else self.weight

    def _groups(self) -> Iterator[tuple[str, Any, Bool[np.ndarray, " n"]]]:
        """Yield everyone, then each group: its attribute, its name, and a mask of its rows."""
        yield *EVERYONE, np.ones(len(self.values), dtype=bool)
        for name, values, codes in zip(self.people.names, self.people.values, self.people.codes.T, strict=True):
            for code, value in enumerate(values):
                yield name, value, codes == code

    def _bins(self, bins: int) -> Int[np.ndarray, " n"]:
        """Return each row's bin: of about equal numbers of rows, fewer bins where scores are tied."""
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 2:
            raise ValueError(f"`bins` must be an integer of at least 2, such as 10: found {quote(bins)}.")
        edges = np.unique(np.quantile(self.values, np.linspace(0, 1, bins + 1)[1:-1]))
        return np.unique(np.searchsorted(edges, self.values), return_inverse=True)[1]

    def _bin_rates(
        self, mask: Bool[np.ndarray, " n"], places: Int[np.ndarray, " n"]
    ) -> dict[str, Float[np.ndarray, " bins"]]:
        """Return mean score, observed rate with its interval, rows and effective rows of a group in each bin."""
        weight, count = np.where(mask, self._weights(), 0), int(places.max()) + 1
        positive = self._require_labels("calibration")

        def total(part: np.ndarray) -> np.ndarray:
            return np.bincount(places, part, count)

        event, rest = total(weight * positive), total(weight * ~positive)
        rows, effective = event + rest, event + rest
        if self.weight is not None:
            effective = effective_rows(event, rest, total(weight**2 * positive), total(weight**2 * ~positive))
        known = rows > 0
        rate, score = (
            np.divide(part, rows, out=np.full(count, np.nan), where=known)
            for part in (event, total(weight * self.values))
        )
        low, high = wilson(effective * np.where(known, rate, 0), effective, self.confidence)
        return {"score": score, "rate": rate, "low": low, "high": high, "rows": rows, "effective": effective}


def as_scores(y_pred: Any, threshold: Any) -> Float[np.ndarray, " n"]:
    """Return scores as floats in [0, 1]."""
    _require_threshold(threshold)
    column = as_column(y_pred, "y_pred")
    try:
        scores = column.astype(float)
    except (TypeError, ValueError):
        raise ValueError(
            f"`y_pred` must hold scores when `threshold` is given: found {quote(column.tolist()[0])}."
        ) from None
    outside = scores[~((scores >= 0) & (scores <= 1))]
    if len(outside):
        raise ValueError(
            f"`y_pred` must hold scores in [0, 1] when `threshold` is given: found {outside[0]:g}. "
            "Turn logits f into 1 / (1 + exp(−f)) first."
        )
    return scores


def _require_threshold(threshold: Any) -> None:
    if not 0 <= threshold <= 1:
        raise ValueError(
            f"`threshold` must lie in [0, 1], as scores do: found {quote(threshold)}.{as_share(threshold)}"
        )
