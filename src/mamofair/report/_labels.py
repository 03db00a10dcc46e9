"""The outcome in the user's own labels: what the page asks, and what each rate says."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from mamofair.notions import Notion, Rate
from mamofair.runs import Run

__all__ = ["Labels"]

_BARE = {"", "+", "-", "true", "false", "yes", "no"}  # labels that say nothing without the name of the target


@dataclass(frozen=True)
class Labels:
    """Both labels as text, and the name of the target if it is known.

    >>> Labels("approved", "denied", "loan").question
    'Who gets “approved” predicted?'
    >>> Labels("0", "1", "default").question
    'Who gets “default = 0” predicted?'
    """

    favorable: str
    unfavorable: str
    target: str | None = None

    @classmethod
    def of(cls, run: Run) -> "Labels":
        """Return the labels of a run."""
        favorable = run.estimator.favorable_
        unfavorable = next(label for label in run.estimator.classes_ if label != favorable)
        target = run.settings.get("target")
        return cls(str(favorable), str(unfavorable), None if target is None else str(target))

    @property
    def question(self) -> str:
        """What the page answers."""
        return f"Who gets “{self.outcome}” predicted?"

    @property
    def outcome(self) -> str:
        """The favorable label, with the name of the target if it says nothing by itself."""
        return self.name(self.favorable)

    def name(self, label: str) -> str:
        """Return a label, with the name of the target if it says nothing by itself."""
        bare = label.lower() in _BARE or label.lstrip("-").replace(".", "", 1).isdigit()
        return f"{self.target} = {label}" if bare and self.target else label

    def describe(self, rate: Rate) -> str:
        """Return a rate in words.

        >>> from mamofair.notions import EQUAL_OPPORTUNITY
        >>> Labels("0", "1", "default").describe(*EQUAL_OPPORTUNITY.rates)
        'predicted default = 0, among those whose default is 0'
        """
        return _describe(self, rate)

    def demand(self, notion: Notion) -> str:
        """Return what a notion demands, in words.

        >>> from mamofair.notions import DEMOGRAPHIC_PARITY
        >>> Labels("approved", "denied").demand(DEMOGRAPHIC_PARITY)
        'the share predicted approved is the same in every group'
        """
        return self.translate(notion.sentence, notion.rates, "the share ")

    def translate(self, text: str, rates: Iterable[Rate], article: str = "") -> str:
        """Return a text with words in the place of each rate's formula."""
        for rate in rates:
            if (words := self.describe(rate)) != str(rate):
                text = text.replace(str(rate), article + words)
        return text


@cache  # every sentence about every point asks for the same few
def _describe(labels: Labels, rate: Rate) -> str:
    words = rate.describe("\0", "\1", labels.target or "outcome")
    if words == str(rate):
        return words
    for mark, label in (("\0", labels.favorable), ("\1", labels.unfavorable)):
        words = words.replace(f"predicted {mark}", f"predicted {labels.name(label)}").replace(mark, label)
    return words
