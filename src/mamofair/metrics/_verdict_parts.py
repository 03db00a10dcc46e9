"""What a verdict says besides gaps: the share of people selected, and the values of custom objectives."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from mamofair._stats.intervals import wilson
from mamofair.fronts import EVERYONE, Tally
from mamofair.metrics._counts import count_events
from mamofair.notions import FP, TP, Rate

__all__ = ["CustomValue", "SelectedShare"]


@dataclass(frozen=True)
class SelectedShare:
    """The share of people who get the favorable decision, with its interval, compared with the requested share.

    `asked` is the smallest and the largest share requested, None if any will do; `observed` is the share of favorable
    labels.
    """

    value: float
    low: float
    high: float
    observed: float
    asked: tuple[float, float] | None = None

    @classmethod
    def of(cls, tally: Tally, asked: tuple[float, float] | None, level: float) -> "SelectedShare":
        """Return the share among the rows that were counted, with its Wilson interval."""
        [events], [rows] = (part[0, 0] for part in count_events([tally], [Rate(TP | FP)], EVERYONE))
        low, high = (float(end) for end in wilson(events, rows, level))
        tp, _, fn, _ = tally.overall
        return cls(tally.positive_share, low, high, float((tp + fn) / tally.overall.sum()), asked)

    @property
    def answer(self) -> Literal["kept", "not kept", "cannot be told"] | None:
        """Whether the whole interval is within the requested share, beyond it, or neither."""
        if self.asked is None:
            return None
        least, most = self.asked
        if least <= self.low and self.high <= most:
            return "kept"
        return "not kept" if self.low > most or self.high < least else "cannot be told"

    @property
    def bounds(self) -> str:
        """The requested share, in words."""
        if self.asked is None:
            return "any share"
        least, most = self.asked
        return f"at most {100 * most:g}%" if least == 0 else f"{100 * least:g}% to {100 * most:g}%"

    def sentence(self, rows: str = "test") -> str:
        """Return a sentence on the share of people selected, beside the requested one or that of favorable labels.

        >>> SelectedShare(0.103, 0.098, 0.108, 0.24, asked=(0, 0.1)).sentence()
        'Share selected: cannot be told. The chosen model selects 10.3% of test rows (9.8%–10.8%); at most 10% was
        asked for.'
        >>> SelectedShare(0.103, 0.098, 0.108, 0.24).sentence()
        'The chosen model decides favorably for 10.3% of test rows (9.8%–10.8%); 24.0% of them have the favorable
        label.'
        """
        share = f"{self.value:.1%} of {rows} rows ({self.low:.1%}–{self.high:.1%})"
        if self.asked is None:
            return (
                f"The chosen model decides favorably for {share}; {self.observed:.1%} of them have the favorable label."
            )
        return f"Share selected: {self.answer}. The chosen model selects {share}; {self.bounds} was asked for."

    def to_json(self, rows: str = "test") -> dict[str, Any]:
        """Return the share as plain JSON; the requested share is one number if it is a maximum."""
        least, most = self.asked or (0, None)
        words = {"answer": self.answer, "sentence": self.sentence(rows)}
        return asdict(self) | {"asked": [least, most] if least else most, **words}


@dataclass(frozen=True)
class CustomValue:
    """The value of a custom objective, compared with its limit if it has one; there is no interval.

    `rows` names the rows it was measured on: "test", or "validation" if the function was not available for test rows.
    """

    name: str
    value: float
    rows: str
    limit: float | None = None

    @property
    def is_exceeded(self) -> bool:
        """Whether the value is above its limit."""
        return self.limit is not None and self.value > self.limit

    def sentence(self) -> str:
        """Return the value beside its limit.

        >>> CustomValue("confident", 0.105, "test", limit=0.1).sentence()
        'confident is 0.105 on test rows, above its limit 0.1; a measure of your own has no interval.'
        """
        if self.limit is None:
            return ""
        where = "above" if self.is_exceeded else "within"
        return (
            f"{self.name} is {self.value:.3f} on {self.rows} rows, {where} its limit {self.limit:g}; a measure of your "
            "own has no interval."
        )
