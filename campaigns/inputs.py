"""Generated inputs to metrics, audits, groups, labels, tables, selections and run folders.

Each case generates rows, puts them into a container (lists, numpy, pandas, polars and pyarrow in their many types) and,
in half of the cases, corrupts something: a missing or infinite value, mixed types, huge weights, wrong lengths, a
single class, strange Unicode, strings of thousands of characters, truncated or flipped bytes. The answer is compared
with slow loops in plain Python that share no code with the library. *Right*: the same answer. *Refused*: a
`ValueError`, `TypeError`, `OSError` or `ImportError` in our own words, in one line of at most 500 characters. *Wrong*:
a different answer, an answer where there is none, a refusal of valid input, or any other kind of error.
"""

from collections.abc import Callable
from random import Random

from campaigns._harness import Result
from campaigns._trials import Trial
from campaigns._trials_decisions import audited, grouped, labelled, measured, spoiled
from campaigns._trials_files import loaded, missing, tabled
from campaigns._trials_fronts import bounded, odd_rule, selected, spread

CASES = 100_000
ALARMS = ("wrong",)

#: What is tried, and how often: folders are slow, and have a campaign of their own.
_TRIALS: dict[Callable[[Random], Trial], int] = {
    measured: 20,
    spoiled: 24,
    audited: 8,
    grouped: 12,
    labelled: 12,
    tabled: 10,
    selected: 6,
    bounded: 6,
    odd_rule: 4,
    spread: 6,
    loaded: 2,
    missing: 1,
}


def case(seed: int) -> Result:
    """Draw an input, hand it over, and judge the answer."""
    random = Random(seed)
    [draw] = random.choices(list(_TRIALS), list(_TRIALS.values()))
    return draw(random).run()
