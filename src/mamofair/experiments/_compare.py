"""Our records compared with the paper's printed numbers: means, deviations and a verdict for every cell."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mamofair.experiments._job import Record
from mamofair.experiments._methods import METHODS, Method
from mamofair.experiments._spec import SHORT, Cell, Table

ROUNDING = 0.005  # the paper prints two decimals


@dataclass(frozen=True)
class Comparison:
    """One cell: the result over `runs` splits, and the paper's printed value, if any."""

    method: Method
    column: str
    mean: float
    std: float
    runs: int
    printed: Cell | None

    @property
    def difference(self) -> float:
        """Measured minus printed; 0 if nothing was printed."""
        return 0.0 if self.printed is None else self.mean - self.printed[0]

    @property
    def agrees(self) -> bool:
        """Whether the means differ by no more than one standard deviation of either, or by the paper's rounding."""
        allowed = max(0.0 if self.std != self.std else self.std, self.printed[1], ROUNDING) if self.printed else 0.0
        return abs(self.difference) <= allowed + 1e-9

    def plain(self) -> dict[str, Any]:
        """Return plain data; undefined values (the deviation of one run) are None."""
        measured = {"mean": self.mean, "std": None if self.std != self.std else self.std, "runs": self.runs}
        compared = {"printed": self.printed, "agrees": self.agrees if self.printed else None}
        return {"method": self.method.name, "column": self.column, **measured, **compared}

    def __str__(self) -> str:
        return show(self.mean, self.std)


def show(mean: float, std: float) -> str:
    """Return a mean and its deviation as tables show them."""
    return f"{mean:.3f} ± {std:.3f}" if std == std else f"{mean:.3f}"


def compared(table: Table, records: Iterable[Record]) -> list[Comparison]:
    """Return every cell of a table, method by method."""
    cells = pd.DataFrame([cell for record in records for cell in _cells(table, record)])
    comparisons = []
    for (name, column), values in cells.groupby(["method", "column"], sort=False)["value"]:
        method = METHODS[str(name)]
        printed = table.printed.get(method.printed_as, {}).get(str(column).split(" (")[0])
        comparisons.append(
            Comparison(method, str(column), float(values.mean()), float(values.std()), len(values), printed)
        )
    order = {name: place for place, name in enumerate(table.methods)}
    return sorted(comparisons, key=lambda cell: order[cell.method.name])


def _cells(table: Table, record: Record) -> Iterator[dict[str, Any]]:
    """Yield the columns of one record; spacing is missing where a front has a single point."""
    name = record["method"]
    if table.whole_front:
        for reading, measures in record["fronts"].items():
            for measure, value in measures.items():
                if value is not None:
                    yield {"method": name, "column": f"{measure} ({reading})", "value": value}
        return
    for notion in record["notions"]:
        for attribute in table.attributes:
            yield {"method": name, "column": SHORT[notion], "value": record["test"][f"{notion}[{attribute}]"]}
        yield {"method": name, "column": f"{SHORT[notion]} error", "value": record["test"]["error"]}


def frame(table: Table, records: Iterable[Record]) -> pd.DataFrame:
    """Return one row per method and notion for the figure of error against gap, DEO first as in the paper."""
    cells = {(cell.method.name, cell.column): cell for cell in compared(table, records)}
    rows = []
    for notion, column in reversed(SHORT.items()):
        for name in table.methods:
            if (name, column) in cells:
                gap, error = cells[name, column], cells[name, f"{column} error"]
                measured = {"gap": gap.mean, "gap_std": gap.std, "error": error.mean, "error_std": error.std}
                rows.append({"data": table.data, "notion": notion, "method": name, "told": gap.method.told, **measured})
    return pd.DataFrame(rows)
