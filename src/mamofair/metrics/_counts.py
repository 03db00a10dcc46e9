"""Counts of events, from tallies."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mamofair._stats.intervals import effective_rows
from mamofair.fronts import Tally
from mamofair.notions import Confusion, Rate

__all__ = ["count_events"]


def count_events(
    tallies: Sequence[Tally], rates: Sequence[Rate], key: str
) -> tuple[Float[np.ndarray, "tallies rates groups"], Float[np.ndarray, "tallies rates groups"]]:
    """Return the numbers of rows with each rate's event and condition; with weights, effective sample sizes.

    `key` names the counts: an attribute, or a gap that is measured on its own rows.

    >>> from mamofair.notions import EQUAL_OPPORTUNITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> events, rows = count_events([tally], EQUAL_OPPORTUNITY.rates, "sex")
    >>> events.tolist(), rows.tolist()  # 20 of 30 women, 40 of 50 men
    ([[[20.0, 40.0]]], [[[30.0, 50.0]]])
    """

    def masses(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        confusion = Confusion.of_counts(np.stack(tables))
        event = np.stack([confusion.mass(rate.event) for rate in rates], axis=-2)
        return event, np.stack([confusion.mass(rate.given ^ rate.event) for rate in rates], axis=-2)

    event, rest = masses([tally.counts[key] for tally in tallies])
    rows = event + rest
    squares = [tally.squares[key] for tally in tallies if tally.squares is not None]
    if not squares:
        return event, rows
    effective = effective_rows(event, rest, *masses(squares))
    return effective * np.divide(event, rows, out=np.zeros(rows.shape), where=rows > 0), effective
