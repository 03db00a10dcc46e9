"""An audit of any model's decisions: rates, gaps, intervals, and a verdict that may be "inconclusive"."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from mamofair._html import html_table
from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import favorable_label, is_label, require_alike
from mamofair._stats.intervals import smallest_ratio, tail, wilson
from mamofair.fronts import Counter, Tally, bind_notions, divide_groups, read_strata
from mamofair.metrics._audit_limits import read_limits
from mamofair.metrics._audit_text import as_text, describe_groups, describe_scores
from mamofair.metrics._counts import count_events
from mamofair.metrics._intervals import gap_intervals
from mamofair.metrics._rates import read_columns, require_decisions
from mamofair.metrics._scores import Scores, as_scores
from mamofair.notions import FP, TP, Confusion, Notion, Rate
from mamofair.plot import plot_calibration

__all__ = ["DEFAULT_NOTIONS", "Audit", "audit"]

_SELECTION = Rate(TP | FP)
_FOUR_FIFTHS = 0.8
_VERDICTS = ("inconclusive", "within", "exceeds")

#: Independence, separation (and its half that is used most), sufficiency of a favorable decision, accuracy.
DEFAULT_NOTIONS = ("demographic_parity", "equal_opportunity", "equalized_odds", "predictive_parity", "accuracy_parity")


@dataclass(frozen=True, eq=False)
class Audit:
    """How decisions treat groups: gaps, rates and ratios, with intervals and verdicts; made by `audit`.

    `print(audit)` shows it; `frame()`, `groups()` and `ratios()` are tables. Scores have more of them: `auc()`,
    `calibration()`, `calibration_error()`, `around_threshold()` and `curve()`. `notions` are those of each attribute,
    where some compare within strata; else each is for all.
    """

    tally: Tally
    people: Groups
    limits: Mapping[Notion, float]
    favorable: Any
    confidence: float
    threshold: float | None = None
    scores: Scores | None = None
    notions: Mapping[str, tuple[Notion, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tail(self.confidence)  # refuses what is no confidence, here rather than at the first table

    def frame(self) -> pd.DataFrame:
        """Return the gaps: a row for each notion and attribute.

        Columns: `notion`, `attribute`, `gap` (NaN where fewer than two groups can be compared), `low` and `high`, and
        `verdict`: "within" (high ≤ limit), "exceeds" (low > limit) or "inconclusive". Each interval holds by itself: of
        twenty 95 % intervals about one misses.
        """
        rows = []
        for notion, attribute, limit in self._criteria():
            gap = self.tally.gap(notion, attribute)
            low, high = (float(end[0]) for end in gap_intervals([self.tally], notion, attribute, self.confidence))
            rows.append((notion.name, attribute, gap, low, high, _verdict(low > limit, high <= limit)))
        return pd.DataFrame(rows, columns=["notion", "attribute", "gap", "low", "high", "verdict"])

    def groups(self) -> pd.DataFrame:
        """Return the rates: a row for each attribute, rate and group, however small.

        Columns: `attribute`, `group`, `meaning`, `rate` (NaN without rows), `low` and `high` (Wilson, each by itself),
        `rows` under the condition (with weights, their sum), `ratio` to the largest rate of the attribute (NaN if
        that is 0), and `too_small`: this rate alone is uncertain by more than the limit, its interval wider than twice
        that. Where several notions use a rate, the smallest of their limits counts; that of a ratio is a share of the
        largest rate.
        """
        tables = []
        for attribute, values in zip(self.people.names, self.people.values, strict=True):
            confusion = Confusion.of_counts(self.tally.counts[attribute])
            for rate in self._rates():
                events, rows = (part[0, 0] for part in count_events([self.tally], [rate], attribute))
                low, high = wilson(events, rows, self.confidence)
                shares = rate(confusion)
                best = float(np.max(shares, where=~np.isnan(shares), initial=0))
                table = {"attribute": attribute, "group": list(values), "meaning": str(rate), "rate": shares}
                table |= {"low": low, "high": high, "rows": confusion.mass(rate.given)}
                table |= {
                    "ratio": shares / best if best > 0 else np.nan,
                    "too_small": (high - low) / 2 > self._tolerance(rate, best),
                }
                tables.append(pd.DataFrame(table))
        return pd.concat(tables, ignore_index=True)

    def ratios(self) -> pd.DataFrame:
        """Return the smallest selection rate divided by the largest, for each attribute.

        Columns: `attribute`, `ratio` (NaN where it is undefined), `low`, `high`, and `verdict` by the four-fifths rule
        (29 CFR 1607.4 D): "within" (low ≥ 0.8), "exceeds" (high < 0.8) or "inconclusive".
        """
        rows = []
        for attribute in self.people.names:
            if any(notion.over for notion in self.notions.get(attribute, ())):
                continue  # its groups are parts of strata
            events, known = (part[0, 0] for part in count_events([self.tally], [_SELECTION], attribute))
            low, high = (float(end) for end in smallest_ratio(events, known, self.confidence))
            rates = _SELECTION(Confusion.of_counts(self.tally.counts[attribute]))
            rates = rates[~np.isnan(rates)]
            ratio = float(rates.min() / rates.max()) if len(rates) > 1 and rates.max() > 0 else np.nan
            rows.append((attribute, ratio, low, high, _verdict(high < _FOUR_FIFTHS, low >= _FOUR_FIFTHS)))
        return pd.DataFrame(rows, columns=["attribute", "ratio", "low", "high", "verdict"])

    def curve(self, thresholds: Iterable[float] | None = None) -> pd.DataFrame:
        """Return what other thresholds would do: `threshold`, `error`, `selected` (a share) and each gap.

        By default 0, .01, …, 1. A threshold picked from this table for its small gap needs fresh rows to be judged.
        """
        return self._require_scores("curve").curve(thresholds, [(own, name) for own, name, _ in self._criteria()])

    def auc(self) -> pd.DataFrame:
        """Return how well scores rank: a row for everyone (no attribute), then for each group of each attribute.

        Columns: `attribute`, `group`, `auc` (the chance that somebody with the favorable label scores higher than
        somebody without, in the same group; NaN where a label is absent), `low` and `high`, `rows` and `positives`
        (with weights, their sums). A group's AUC says nothing about how it ranks among other groups.
        """
        return self._require_scores("auc").auc()

    def calibration(self, bins: int = 10) -> pd.DataFrame:
        """Return mean scores and observed rates in `bins` that hold about equally many of all rows.

        Columns: `attribute`, `group` (everyone first), `bin` from 1 on, `score` (the mean), `rate` (of the favorable
        label), `low` and `high` (of the rate, Wilson), and `rows`. All groups share the bins, so they can be compared;
        a bin without rows of a group has NaN. Tied scores stay together, which may leave fewer bins.
        """
        return self._require_scores("calibration").calibration(bins)

    def calibration_error(self, bins: int = 10) -> pd.DataFrame:
        """Return calibration in one row for everyone and for each group.

        Columns: `attribute`, `group`, `score` and `rate` (means), `difference` (score − rate: calibration in the large,
        above 0 if scores are too high) with `low` and `high`, `error` (the distance of score and rate, averaged over
        bins by rows), `by_chance`, and `rows`. Small bins show an error even if scores are perfect: `by_chance` is what
        calibrated scores would show on average, and only an `error` clearly above it is one.
        """
        return self._require_scores("calibration_error").calibration_error(bins)

    def around_threshold(self, width: float = 0.05) -> pd.DataFrame:
        """Return where the threshold lies on the scores of everyone and of each group.

        Columns: `attribute`, `group`, `above` (the share of scores above the threshold), `quantile` (the share at or
        below it), `near` (how many score within `width` of it, on whom a small change of the score or of the threshold
        decides), `near_share` and `rows`.
        """
        return self._require_scores("around_threshold").around_threshold(width)

    def plot_calibration(self, bins: int = 10, *, ax: Any = None) -> Any:
        """Draw observed rates against scores, by group, and return the figure; `ax` as for `plot.plot_calibration`."""
        return plot_calibration(self.calibration(bins), threshold=self.threshold, ax=ax)

    def _require_scores(self, table: str) -> Scores:
        if self.scores is None:
            raise ValueError(f"`{table}` needs scores: found decisions. Call audit(..., y_pred=scores, threshold=0.5).")
        return self.scores

    def _criteria(self) -> list[tuple[Notion, str, float]]:
        """Return each notion with each attribute that it is measured for, and its limit."""
        return [
            (own, name, limit)
            for notion, limit in self.limits.items()
            for name in self.people.names
            for own in self.notions.get(name, tuple(self.limits))
            if own.name == notion.name
        ]

    def _rates(self) -> list[Rate]:
        """Return the rates to show; selection first."""
        return list(dict.fromkeys([_SELECTION, *(rate for notion in self.limits for rate in notion.rates)]))

    def _tolerance(self, rate: Rate, best: float) -> float:
        """Return the smallest limit that a rate has to meet, given the largest rate: all limits, if it has none."""
        own = {notion: limit for notion, limit in self.limits.items() if rate in notion.rates} or self.limits
        return min(limit * best if notion.is_ratio else limit for notion, limit in own.items())

    def __repr__(self) -> str:
        verdicts = self.frame()["verdict"]
        counts = ", ".join(f"{(verdicts == verdict).sum()} {verdict}" for verdict in reversed(_VERDICTS))
        return f"<Audit of {len(self.people)} decisions, favorable outcome {quote(self.favorable)}: {counts}>"

    def __str__(self) -> str:
        ratios = "Four-fifths rule: smallest selection rate divided by the largest, at least 0.8."
        scores = [] if self.scores is None else describe_scores(self.scores)
        groups = describe_groups(self.people, self.groups(), self.confidence, self.limits)
        tables = [as_text(self._gaps()), "", ratios, as_text(self.ratios())]
        return "\n".join([self._headline(), "", *tables, *scores, *groups])

    def _repr_html_(self) -> str:
        gaps = self._gaps()
        return html_table(self._headline(), gaps, gaps.itertuples(index=False))

    def _headline(self) -> str:
        at = "" if self.threshold is None else f" (score > {self.threshold:g})"
        return (
            f"Audit of {len(self.people):,} decisions{at}. The favorable outcome is `{self.favorable}`. "
            f"Error {self.tally.error:.3f}; intervals with {self.confidence:.0%} confidence."
        )

    def _gaps(self) -> pd.DataFrame:
        gaps = self.frame().assign(limit=[limit for _, _, limit in self._criteria()])
        return gaps[["notion", "attribute", "gap", "low", "high", "limit", "verdict"]]


def audit(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notions: Iterable[Notion | str] | Notion | str = DEFAULT_NOTIONS,
    favorable: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    limit: float | Mapping[Any, float] = 0.05,
    crossed: bool = False,
    threshold: float | None = None,
    strata: Any = None,
) -> Audit:
    """Audit the decisions of any model: rates of each group, gaps, intervals, and verdicts.

    Parameters
    ----------
    y_true, y_pred
        Labels and predicted labels, two values of any type; with `threshold`, scores in [0, 1] of the favorable label.
    sensitive_features
        As for `gap`: each column is an attribute; missing means unknown, and such rows are left out of that attribute.
    notions
        Notions or their names.
    favorable
        The label that counts as positive; by default the larger of 0/1, booleans or −1/1. Others must be named.
    sample_weight
        The weight of each row; intervals then use effective numbers of rows.
    confidence
        The chance that one interval covers the true gap.
    limit
        The largest acceptable gap: one number, or one for each notion, such as `{"demographic_parity": 0.1}`. For a
        notion that compares by ratio, 0.2 means a ratio of at least 0.8.
    crossed
        Whether to add the crossing of all attributes as one more attribute.
    threshold
        The score above which a decision is favorable.
    strata
        The stratum of each row, within which conditional notions compare groups; missing means unknown.

    Examples
    --------
    >>> y, decisions, sex = [1, 0] * 500, [1, 0, 0, 0] * 250, {"sex": ["f", "f", "m", "m"] * 250}
    >>> result = audit(y, decisions, sensitive_features=sex, notions="equal_opportunity")
    >>> result
    <Audit of 1000 decisions, favorable outcome 1: 1 exceeds, 0 within, 0 inconclusive>
    >>> result.frame().round(2)
                  notion attribute  gap   low  high  verdict
    0  equal_opportunity       sex  1.0  0.97   1.0  exceeds
    """
    limits = read_limits(notions, limit)
    if threshold is None:
        truth, decision, weight = read_columns(y_true, y_pred, sample_weight)
        require_decisions(truth, decision, "say above which a decision is favorable, as in `threshold=0.5`")
        require_alike(truth, decision)
        scores, label = None, favorable_label(truth, decision, favorable=favorable, name="y_true and y_pred")
        selected = is_label(decision, label)
    else:
        scores = as_scores(y_pred, threshold)
        truth, _, weight = read_columns(y_true, scores, sample_weight)
        label = favorable_label(truth, favorable=favorable, name="y_true")
        selected = scores > threshold
    people = read_groups(sensitive_features, rows=len(truth))
    warn_of_order(sensitive_features, {"y_true": y_true, "y_pred": y_pred})
    people = people.crossed() if crossed else people
    known = None if strata is None else read_strata(strata, len(truth))
    people, notions, cells = divide_groups(people, dict.fromkeys(people.names, tuple(limits)), known, keep=True)
    bound = bind_notions(people, notions, cells)
    positive = is_label(truth, label)
    [tally] = Counter.of(positive, people, weight)(selected[None])
    if scores is None or threshold is None:
        return Audit(tally, people, limits, label, confidence, notions=bound)
    scored = Scores(scores, positive, people, threshold, confidence, weight)
    return Audit(tally, people, limits, label, confidence, threshold, scored, bound)


def _verdict(exceeds: bool, within: bool) -> str:
    return "exceeds" if exceeds else "within" if within else "inconclusive"
