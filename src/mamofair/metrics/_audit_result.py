"""The result of an audit: gaps, rates and ratios of groups, with intervals and verdicts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from mamofair._html import html_table
from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair._stats.intervals import tail
from mamofair.fronts import SmallGroups, Tally
from mamofair.metrics._audit_over import join_tables, present_groups, rows_of_values
from mamofair.metrics._audit_tables import SELECTION, gap_table, group_table, ratio_table
from mamofair.metrics._audit_text import describe, gaps_with_limits, headline
from mamofair.metrics._by_group import compare_to_overall, rates_by_group, rates_overall
from mamofair.metrics._decisions import Decisions
from mamofair.metrics._row_metrics import Metric, measure_by_group
from mamofair.metrics._scores import Scores
from mamofair.notions import Notion, Rate
from mamofair.performance import ERROR, Cost
from mamofair.plot import plot_calibration

__all__ = ["Audit"]

_VERDICTS = ("inconclusive", "within", "exceeds")


@dataclass(frozen=True, eq=False)
class Audit:
    """How decisions treat groups: gaps, rates and ratios, with intervals and verdicts; made by `audit`.

    `print(audit)` shows it; `frame()`, `groups()` and `ratios()` are tables. For scores there are more: `auc()`,
    `calibration()`, `calibration_error()`, `around_threshold()` and `curve()`. `notions` are listed by attribute if
    some compare within strata; otherwise they apply to all. Without true labels (`has_truth` is False), the counts in
    `tally` treat every label as unfavorable, and nothing that depends on labels is shown. An audit from counts
    (`audit_counts`) has one row of `people` per cell, and `periods` if it has `by`. Gaps leave out `small_groups`.
    """

    tally: Tally
    people: Groups
    limits: Mapping[Notion, float]
    favorable: Any
    confidence: float
    threshold: float | None = None
    scores: Scores | None = None
    notions: Mapping[str, tuple[Notion, ...]] = field(default_factory=dict)
    has_truth: bool = True
    decisions: Decisions = field(kw_only=True)
    performance: Cost = ERROR
    periods: Any = None
    small_groups: SmallGroups = field(default_factory=dict)

    def __post_init__(self) -> None:
        tail(self.confidence)  # raises for an invalid confidence here rather than at the first table

    @property
    def rows(self) -> int:
        """The number of decisions."""
        return self.decisions.count_rows()

    @property
    def unknown_rows(self) -> dict[str, int]:
        """The number of rows of unknown group, for each attribute."""
        codes = zip(self.people.names, self.people.codes.T, strict=True)
        return {name: self.decisions.count_rows(column < 0) for name, column in codes}

    @property
    def rates(self) -> list[Rate]:
        """The rates shown, the selection rate first."""
        return list(dict.fromkeys([SELECTION, *(rate for notion in self.limits for rate in notion.rates)]))

    @property
    def by_group(self) -> pd.DataFrame:
        """The rates in the form of fairlearn's `MetricFrame.by_group`: one row per attribute and group.

        Columns: `count` (rows; with weights, their sum) and each rate, NaN where its condition holds for no row.
        """
        return rates_by_group(self.tally, self.people, self.rates)

    @property
    def overall(self) -> pd.Series:
        """The count and the rates of everyone, including rows of unknown group."""
        return rates_overall(self.tally, self.rates)

    @property
    def error(self) -> float:
        """The share of wrong decisions; NaN without true labels."""
        return self.tally.error if self.has_truth else np.nan

    @property
    def cost(self) -> float:
        """The mean cost of a decision, by `performance`; NaN without true labels."""
        return float(self.performance(self.tally.overall)) if self.has_truth else np.nan

    def criteria(self) -> list[tuple[Notion, str, float]]:
        """Return each measured pair of notion and attribute with its limit."""
        return [
            (bound, name, limit)
            for notion, limit in self.limits.items()
            for name in self.people.names
            for bound in self.notions.get(name, tuple(self.limits))
            if bound.name == notion.name
        ]

    def frame(self) -> pd.DataFrame:
        """Return the gaps: a row for each notion and attribute.

        Columns: `notion`, `attribute`, `gap` (NaN where fewer than two groups can be compared), `low` and `high`, and
        `verdict`: "within" (high ≤ limit), "exceeds" (low > limit) or "inconclusive". Each interval holds on its own:
        of twenty 95 % intervals, about one misses.
        """
        return gap_table(self.tally, self.criteria(), self.confidence)

    def groups(self) -> pd.DataFrame:
        """Return the rates: one row per attribute, rate and group, however small.

        Columns: `attribute`, `group`, `meaning`, `rate` (NaN without rows), `low` and `high` (Wilson, each by itself),
        `rows` under the condition (with weights, their sum), `ratio` to the largest rate of the attribute (NaN if that
        is 0, and for `small_groups`, which are not compared), and `too_small`: the interval of this rate is wider than
        twice the limit. If several notions use a rate, the smallest of their limits counts; the limit of a ratio is
        multiplied by the largest rate.
        """
        return group_table(self.tally, self.people, self.rates, self.confidence, self.limits, self.small_groups)

    def describe_rate(self, rate: Rate) -> str:
        """Return a rate in words, with the favorable label if it is known."""
        favorable = "favorable" if self.favorable is None else str(self.favorable)
        return rate.describe(favorable, f"not {favorable}", "true label")

    def ratios(self) -> pd.DataFrame:
        """Return the smallest selection rate divided by the largest, for each attribute.

        Columns: `attribute`, `ratio` (NaN where it is undefined), `low` and `high`. Which ratio is acceptable is up to
        you: for a verdict, audit the notion "demographic_parity_ratio" with a `limit`. `small_groups` do not count.
        """
        plain = [name for name in self.people.names if name not in self._within_strata()]
        return ratio_table(self.tally, self.people, plain, self.small_groups, self.confidence)

    def to_overall(self, kind: str = "difference") -> pd.DataFrame:
        """Return each group's rates minus those of everyone or, with `kind="ratio"`, divided by them.

        Rows and columns are those of `by_group`, without the count. If the rate of everyone is 0, the ratio is NaN.
        """
        return compare_to_overall(self.by_group, self.overall, kind)

    def metric(
        self,
        metric: Metric,
        *,
        name: str | None = None,
        needs: str = "labels",
        draws: int = 200,
        random_state: int = 0,
    ) -> pd.DataFrame:
        """Return any scikit-learn metric for everyone and for each group, with bootstrap intervals.

        Parameters
        ----------
        metric
            Takes true labels and decisions, or scores if `needs="scores"`, and returns a number. Labels and decisions
            are 1 where they are favorable, else 0. With weights, it must take `sample_weight`.
        name
            The column of values; by default the metric's name.
        needs
            What the metric compares true labels with: `"labels"` (the decisions) or `"scores"`.
        draws, random_state
            Number and seed of the bootstrap draws. Each resamples all rows of a group.

        Returns
        -------
        pandas.DataFrame
            Everyone first, then a row for each group: `attribute`, `group`, the value, `low` and `high` (percentiles of
            the draws) and `rows`. A value is NaN where the metric is undefined, as precision is if nobody was selected;
            so is an end that depends on draws in which it is undefined. Intervals of few rows are too narrow, and a
            value that no draw can change, such as 0 of 10, has an interval of width zero: rates in `groups()` have
            better intervals.

        Examples
        --------
        >>> from sklearn.metrics import f1_score
        >>> from mamofair.metrics import audit
        >>> y, decisions, sex = [1, 0] * 50, [1, 0, 0, 0] * 25, {"sex": ["f", "f", "m", "m"] * 25}
        >>> audit(y, decisions, sensitive_features=sex).metric(f1_score, draws=99).round(2)["f1_score"].tolist()
        [0.67, 1.0, 0.0]
        """
        rows = self.decisions.require_rows("metric").require_independent("metric")
        terms: dict[str, Any] = {"confidence": self.confidence, "draws": draws, "random_state": random_state}
        return measure_by_group(metric, rows, self.people, name=name, needs=needs, **terms)

    def subset(self, rows: Any) -> "Audit":
        """Return the audit of a subset of the rows, given as a boolean mask or row numbers.

        Groups without rows there are left out, except within strata.
        """
        self.decisions.require_rows("subset")
        return self._part(rows)

    def _part(self, rows: Any) -> "Audit":
        decisions = self.decisions[rows]
        people = present_groups(self.people[rows], keep=self._within_strata())
        scores = decisions.make_scores(people, self.threshold, self.confidence)
        tally = decisions.count(people, self.notions, self.small_groups)
        return replace(self, tally=tally, people=people, scores=scores, decisions=decisions)

    def over(self, values: Any = None) -> pd.DataFrame:
        """Return each gap over time, or over the values of any column, in order.

        Columns are those of `frame()`, `value`, and `rows` (the number of rows with this value). Rows without a value
        are left out. Each interval holds on its own: of twenty 95 % intervals, about one misses, so a single month may
        exceed by chance. An audit from counts has its values from `audit_counts(…, by=column)`, and takes no others.
        """
        if self.periods is None:
            self.decisions.require_rows("over")
        elif values is not None:
            raise ValueError("`over` takes no `values` if the audit has `by`: found both. Leave `values` out.")
        return join_tables(
            (value, part.rows, part.frame())
            for value, mask in rows_of_values(values if self.periods is None else self.periods, len(self.people))
            for part in [self._part(mask)]
        )

    def curve(self, thresholds: Iterable[float] | None = None) -> pd.DataFrame:
        """Return the effect of other thresholds: `threshold`, `error`, `selected` (a share) and each gap.

        Without true labels there is no `error`. The default thresholds are 0, .01, …, 1. A threshold picked from this
        table for its small gap must be judged on new rows.
        """
        return self._require_scores("curve").curve(thresholds, [(notion, name) for notion, name, _ in self.criteria()])

    def auc(self) -> pd.DataFrame:
        """Return how well scores rank: a row for everyone (no attribute), then one per group of each attribute.

        Columns: `attribute`, `group`, `auc` (the chance that somebody with the favorable label scores higher than
        somebody without, in the same group; NaN where a label is absent), `low` and `high`, `rows` and `positives`
        (with weights, their sums). A group's AUC says nothing about how it ranks among other groups.
        """
        return self._require_scores("auc").auc()

    def calibration(self, bins: int = 10) -> pd.DataFrame:
        """Return mean scores and observed rates in `bins` with about equal numbers of rows.

        Columns: `attribute`, `group` (everyone first), `bin` from 1 on, `score` (the mean), `rate` (of the favorable
        label), `low` and `high` (of the rate, Wilson), and `rows`. All groups share the bins, so they can be compared;
        a bin without rows of a group is NaN. Tied scores stay together, so there may be fewer bins.
        """
        return self._require_scores("calibration").calibration(bins)

    def calibration_error(self, bins: int = 10) -> pd.DataFrame:
        """Return calibration in one row for everyone and for each group.

        Columns: `attribute`, `group`, `score` and `rate` (means), `difference` (score − rate: calibration in the large,
        above 0 if scores are too high) with `low` and `high`, `error` (the distance of score and rate, averaged over
        bins by rows), `by_chance`, and `rows`. Small bins show an error even for perfect scores: `by_chance` is the
        average error of calibrated scores, and only an `error` clearly above it is meaningful.
        """
        return self._require_scores("calibration_error").calibration_error(bins)

    def around_threshold(self, width: float = 0.05) -> pd.DataFrame:
        """Return where the threshold lies among the scores of everyone and of each group.

        Columns: `attribute`, `group`, `above` (the share of scores above the threshold), `quantile` (the share at or
        below it), `near` (how many score within `width` of it, where a small change of the score or the threshold flips
        the decision), `near_share` and `rows`.
        """
        return self._require_scores("around_threshold").around_threshold(width)

    def plot_calibration(self, bins: int = 10, *, ax: Any = None) -> Any:
        """Draw observed rates against scores, by group, and return the figure; `ax` as for `plot.plot_calibration`."""
        return plot_calibration(self.calibration(bins), threshold=self.threshold, ax=ax)

    def _require_scores(self, table: str) -> Scores:
        if self.scores is None:
            self.decisions.require_independent(table)
            raise ValueError(f"`{table}` needs scores: found decisions. Call audit(..., y_pred=scores, threshold=0.5).")
        return self.scores

    def _within_strata(self) -> list[str]:
        """Return the attributes whose groups are parts of strata."""
        return [name for name, notions in self.notions.items() if any(notion.over for notion in notions)]

    def __repr__(self) -> str:
        verdicts = self.frame()["verdict"]
        counts = ", ".join(f"{(verdicts == verdict).sum()} {verdict}" for verdict in reversed(_VERDICTS))
        favorable = "" if self.favorable is None else f", favorable outcome {quote(self.favorable)}"
        return f"<Audit of {self.rows} decisions{favorable}: {counts}>"

    def __str__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        gaps = gaps_with_limits(self)
        return html_table(headline(self), gaps, gaps.itertuples(index=False))
