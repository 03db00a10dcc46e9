"""How many of the paper's printed cells are reproduced, each under its best-fitting reading."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mamofair.experiments._compare import Comparison, compared
from mamofair.experiments._job import Record
from mamofair.experiments._spec import DATA, Table


@dataclass(frozen=True)
class PrintedCell:
    """A printed number of the paper, and our result under each reading of how it was obtained."""

    data: str
    row: str
    column: str
    readings: tuple[tuple[str, Comparison], ...]

    @property
    def best(self) -> tuple[str, Comparison]:
        """The name of the reading whose mean is closest to the printed one."""
        return min(self.readings, key=lambda reading: abs(reading[1].difference))

    @property
    def agrees(self) -> bool:
        """Whether some reading agrees with the printed number."""
        return any(cell.agrees for _, cell in self.readings)

    @property
    def taken_over(self) -> bool:
        """Whether the paper took it from Lohaus et al. 2020."""
        return self.readings[0][1].method.taken_over


def printed_cells(tables: Iterable[tuple[Table, Sequence[Record]]], whole_front: bool = False) -> list[PrintedCell]:
    """Return every printed cell once, from the tables of points or of fronts.

    The same method under another name, and the same data with sex among the features, are other readings.
    """
    cells: dict[tuple[str, str, str], list[tuple[str, Comparison]]] = {}
    for table, records in tables:
        if records and table.whole_front == whole_front:
            for cell in compared(table, records):
                if cell.printed is not None:
                    column, _, reading = cell.column.partition(" (")
                    name = ", ".join(part for part in (cell.method.name, reading.rstrip(")"), _variant(table)) if part)
                    cells.setdefault((table.data, cell.method.printed_as, column), []).append((name, cell))
    return [PrintedCell(*key, tuple(readings)) for key, readings in cells.items()]


def _variant(table: Table) -> str:
    return "sex a feature" if table.name.endswith("with-sex") else ""


def counts(cells: Sequence[PrintedCell]) -> Iterator[list[str]]:
    """Yield the lines of a table of counts, one per data set: the authors' own cells, and the others."""
    yield ["data", "the authors' own rows", "rows taken over from Lohaus et al."]
    for data in dict.fromkeys(cell.data for cell in cells):
        yield [
            DATA[data],
            *(_share([c for c in cells if c.data == data and c.taken_over == over]) for over in (False, True)),
        ]
    yield ["**all**", *(_share([cell for cell in cells if cell.taken_over == over]) for over in (False, True))]


def _share(cells: Sequence[PrintedCell]) -> str:
    return f"{sum(cell.agrees for cell in cells)} of {len(cells)}" if cells else "–"


def best_readings(cells: Sequence[PrintedCell]) -> Iterator[list[str]]:
    """Yield the lines of a table of the authors' own cells: printed value, best reading, number of readings."""
    yield ["data", "row", "column", "print", "nearest", "reading", "tried", ""]
    for cell in cells:
        if not cell.taken_over:
            name, best = cell.best
            mean, std = best.printed or (0.0, 0.0)
            mark = "" if cell.agrees else "≠"
            shown = [DATA[cell.data], cell.row, cell.column, f"{mean:.2f} ± {std:.2f}", str(best), name]
            yield [*shown, str(len(cell.readings)), mark]
