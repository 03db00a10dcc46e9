"""The answer of `find_alternative`: found, none found, or cannot be told with these rows."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil, log10
from typing import Any, Literal

import pandas as pd
from scipy.special import ndtri

from mamofair.explanations import WhoPays

__all__ = ["Alternative", "Change"]

#: The chance that the suggested number of rows is enough, if the differences are as measured.
_CHANCE = 2 / 3
_MOST = 10.0  # if intervals must be this many times narrower, suggest no number of rows


@dataclass(frozen=True)
class Change:
    """A number for the incumbent (`before`) and for the alternative (`after`), and limits on the true difference.

    `low` and `high` are confidence limits on after − before; each holds with the requested confidence.

    >>> Change(before=0.20, after=0.05, low=-0.18, high=-0.12).after
    0.05
    """

    before: float
    after: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The measured difference, after − before."""
        return self.after - self.before

    def __str__(self) -> str:
        return (
            f"{self.before:.3f} to {self.after:.3f}, a change of {_signed(self.value)} "
            f"({_signed(self.low)} to {_signed(self.high)})"
        )


@dataclass(frozen=True, eq=False)
class Alternative:
    """The outcome of testing one point of a front against an incumbent. Printing it gives plain sentences.

    If an alternative is found, its error exceeds the incumbent's by at most `margin`, and its gap is smaller. Both hold
    for the population that the test rows come from. The chance of a wrong claim is at most 1 − `confidence` for the
    error, whose limits are exact, and about that for the gap, whose limits are approximate.

    Attributes
    ----------
    criterion
        The gap that must be smaller, such as `demographic_parity[sex]`.
    margin
        The acceptable loss of accuracy.
    confidence
        The confidence of each limit.
    tested
        The row of `front.frame()` that was selected on one half of the rows and tested on the other.
    models
        The number of models that it was selected from.
    picking_rows, test_rows
        The numbers of rows used to select it and to test it.
    promising
        Whether it looked like an alternative on the rows that selected it.
    error, gaps
        What changes, measured on test rows: the error (or the front's cost), and each gap of the front by its column.
    people
        Whose decisions change, on all rows.
    performance
        The name of the error, or of the cost that counts in its place.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mamofair import FairPlugInClassifier, find_alternative
    >>> from mamofair.datasets import make_toy
    >>> toy, new = make_toy(), make_toy(random_state=1)
    >>> model = FairPlugInClassifier(LogisticRegression(), effort="fast", random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> today = (new.X["x1"] > 2.5).astype(int)  # what decides today
    >>> answer = find_alternative(model, new.X, new.y, sensitive_features=new.sensitive, incumbent=today)
    >>> answer.status, answer.test_rows
    ('found', 300)
    """

    criterion: str
    margin: float
    confidence: float
    tested: int
    models: int
    picking_rows: int
    test_rows: int
    promising: bool
    error: Change
    gaps: Mapping[str, Change]
    people: WhoPays
    performance: str = "error"

    @property
    def gap(self) -> Change:
        """The change of the gap that must be smaller."""
        return self.gaps[self.criterion]

    @property
    def status(self) -> Literal["found", "none found", "cannot be told"]:
        """Whether an alternative was found, none was (or the test rejects it), or there are too few rows."""
        if self.error.high <= self.margin and self.gap.high < 0:
            return "found"
        refuted = self.error.low > self.margin or self.gap.low >= 0
        return "none found" if refuted or not self.promising else "cannot be told"

    @property
    def row(self) -> int | None:
        """The row of `front.frame()` that is an alternative; None if none was found."""
        return self.tested if self.status == "found" else None

    @property
    def rows_to_tell(self) -> int | None:
        """About how many rows in all would be enough, with a chance of two in three, if differences are as measured.

        None if no number would be enough, if it is more than a hundred times the present one, or if there is an answer
        already. The distance from a difference to its limits shrinks with √rows.
        """
        if self.status != "cannot be told" or self.error.value >= self.margin or self.gap.value >= 0:
            return None
        ways = (
            (self.error.high - self.error.value) / (self.margin - self.error.value),
            (self.gap.high - self.gap.value) / -self.gap.value,
        )
        more = max(1.0, *ways) * (1 + ndtri(_CHANCE) / ndtri(self.confidence))
        return _round_up((self.picking_rows + self.test_rows) * more**2) if more < _MOST else None

    def frame(self) -> pd.DataFrame:
        """Return what changes, the error (or cost) first: columns `before`, `after`, `change`, `low` and `high`."""
        changes = {self.performance: self.error, **self.gaps}
        rows = {name: {**asdict(one), "change": one.value} for name, one in changes.items()}
        return pd.DataFrame.from_dict(rows, orient="index")[["before", "after", "change", "low", "high"]]

    def sentences(self) -> list[str]:
        """Return the answer in words: the verdict, the evidence, and whose decisions change."""
        others = {name: one for name, one in self.gaps.items() if name != self.criterion}
        grown = [name for name, one in others.items() if one.low > 0]
        return [
            self._verdict(),
            f"On {self.test_rows:,} test rows, {self.criterion} goes from {self.gap}. "
            f"The {self._performance} goes from {self.error}; up to {_signed(self.margin)} is accepted.",
            *(f"{name} goes from {one}." for name, one in others.items()),
            *([f"Note: {' and '.join(grown)} {'is' if len(grown) == 1 else 'are'} larger."] if grown else []),
            f"Row {self.tested} was selected from {self.models:,} models on {self.picking_rows:,} other rows. "
            f"Each limit holds with {100 * self.confidence:g} % confidence.",
            f"On all {self.picking_rows + self.test_rows:,} rows: {' '.join(self.people.sentences())}",
        ]

    @property
    def _performance(self) -> str:
        return self.performance.replace("_", " ")

    def _verdict(self) -> str:
        if self.status == "found":
            return (
                f"Row {self.tested} is an alternative: its {self.criterion} is smaller by {-self.gap.value:.3f}, and "
                f"its {self._performance} is at most {self.margin:g} larger."
            )
        if self.status == "none found":
            reason = (
                "the test rejects it" if self.promising else "it does not look like one on the rows that selected it"
            )
            return f"None found among the {self.models:,} models tried: row {self.tested} comes closest, but {reason}."
        rows = self.rows_to_tell
        advice = f" About {rows:,} rows in all would be enough, if these differences are the true ones." if rows else ""
        doubt = f"row {self.tested} may be an alternative, or look like one by chance"
        return f"Cannot be told with these rows: {doubt}.{advice}"

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain JSON."""
        names = ("status", "row", "tested", "criterion", "margin", "confidence", "models", "picking_rows", "test_rows")
        people = self.people.frame()
        return {name: getattr(self, name) for name in (*names, "rows_to_tell")} | {
            "changes": self.frame().to_dict("index"),
            "people": people.astype(object).where(people.notna(), None).to_dict("records"),
            "sentences": self.sentences(),
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


def _round_up(rows: float) -> int:
    unit = int(10 ** max(0, int(log10(max(rows, 1))) - 1))
    return ceil(rows / unit) * unit
