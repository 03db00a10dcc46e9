"""The rates of an audit in the form of fairlearn's `MetricFrame`: by group, overall, and compared with everyone."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair.fronts import EVERYONE, Tally
from mamofair.notions import ALL, Confusion, Rate

__all__ = ["compare_to_overall", "rates_by_group", "rates_overall"]


def rates_by_group(tally: Tally, people: Groups, rates: Sequence[Rate]) -> pd.DataFrame:
    """Return a row for each attribute and group; see `Audit.by_group`."""
    tables = [_table(tally, name, values, rates) for name, values in zip(people.names, people.values, strict=True)]
    return pd.concat(tables, keys=people.names, names=["attribute", "group"])


def rates_overall(tally: Tally, rates: Sequence[Rate]) -> pd.Series:
    """Return the same of everyone; see `Audit.overall`."""
    return _table(tally, EVERYONE, ("everyone",), rates).iloc[0].rename("overall")


def compare_to_overall(by_group: pd.DataFrame, overall: pd.Series, kind: str) -> pd.DataFrame:
    """Return how each group's rates differ from those of everyone; see `Audit.to_overall`."""
    rates, whole = by_group.drop(columns="count"), overall.drop("count").astype(float)
    if kind == "difference":
        return rates - whole
    if kind == "ratio":
        return rates / whole.where(whole > 0)  # NaN: a ratio to 0 is undefined
    raise ValueError(f"`kind` must be 'difference' or 'ratio': found {quote(kind)}.")


def _table(tally: Tally, name: str, values: Sequence[object], rates: Sequence[Rate]) -> pd.DataFrame:
    confusion = Confusion.of_counts(tally.counts[name])
    rows = confusion.mass(ALL)
    count = rows if tally.squares is not None else np.rint(rows).astype(int)
    columns = {"count": count} | {str(rate): rate(confusion) for rate in rates}
    return pd.DataFrame(columns, index=list(values))
