"""The result page: every printed number beside ours, with a verdict and a sentence on each difference."""

from collections.abc import Iterable, Iterator, Sequence

from mamofair.experiments._compare import Comparison, compared
from mamofair.experiments._methods import METHODS
from mamofair.experiments._run import Record
from mamofair.experiments._spec import SHORT, Table

INTRODUCTION = """\
# The paper's tables and figures, run again

Made by `{command}`. The records behind every number are beside this page, in [`paper/`](paper/): a line of JSON for
each method, task and split, with seed, versions, seconds, validation and test values.

How to read it. Every method is trained on the paper's random splits (10,000 training and 5,000 validation rows, on
COMPAS 3,000 and 2,000; the rest is test). Its point is chosen on validation rows, by LINMAP unless said otherwise; the
numbers are of test rows, mean ± standard deviation over splits, the paper's in brackets. A cell **agrees** if the means
differ by no more than one standard deviation of either side, or by the paper's rounding (.005); else it carries ≠. A
cell that does not agree is a finding, not something to tune away.

What was assumed. Batches of 512 rows on Adult and COMPAS, 200 on Dutch and CelebA, as the paper says; 35 epochs on
Adult and 100 on COMPAS are known from its code, 35 on Dutch and CelebA are assumed. Adult and COMPAS use the arrays of
the paper's code, byte for byte. For Dutch and CelebA the paper does not tell the preprocessing: Dutch is one-hot coded,
CelebA's attributes are −1 and 1, and sex is not among the features; a second table has it among them. SFa, Zaf and Cot
were taken over by the paper from Lohaus et al. 2020, whose preprocessing may differ: a difference there is no verdict
on anybody's code. Those rows have no gap or covariance allowed in training, and linear models unless said otherwise.

Rows marked \\* are told the sensitive attribute at prediction; the others are not, though on Adult and COMPAS it is
among the features. The paper's Unc row is compared with two readings: the snapshot that LINMAP picks from the archive
of an unconstrained run (Unc), and its most accurate snapshot (Unc last).
"""


def page(tables: Iterable[tuple[Table, Sequence[Record]]], figures: Iterable[tuple[str, str]], command: str) -> str:
    """Return the page as Markdown, from the records of each table and the titles and paths of figures."""
    parts = [INTRODUCTION.format(command=command), *(section(table, records) for table, records in tables if records)]
    pictures = [f"## {title}\n\n![{title}]({path})\n" for title, path in figures]
    return "\n".join([*parts, *pictures])


def section(table: Table, records: Sequence[Record]) -> str:
    """Return a table of the paper as Markdown: the rows, then a sentence on each difference."""
    cells = compared(table, records)
    runs = max(cell.runs for cell in cells)
    head = f"## {table.title} (`{table.name}`, {runs} {'split' if runs == 1 else 'splits'})\n"
    body = _fronts(cells) if table.whole_front else _points(cells)
    differing = [cell for cell in cells if not cell.agrees]
    compared_cells = sum(cell.printed is not None for cell in cells)
    count = f"{compared_cells - len(differing)} of {compared_cells} printed cells agree."
    told = [f"- {line}" for line in (_on_fronts(differing) if table.whole_front else _on_points(cells, records))]
    return "\n".join([head, *body, "", count, *(["", *told] if told else []), ""])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _points(cells: Sequence[Comparison]) -> list[str]:
    """Return the lines of a table of chosen points, with the printed value in brackets."""
    columns = [column for short in SHORT.values() for column in (short, f"{short} error")]
    lines = [_row(["method", *(f"\\|{c}\\|" if c in SHORT.values() else "error" for c in columns), ""])]
    lines.append("|---" * (len(columns) + 2) + "|")
    for name in dict.fromkeys(cell.method.name for cell in cells):
        own = {cell.column: cell for cell in cells if cell.method.name == name}
        star = "\\*" if METHODS[name].told else ""
        lines.append(_row([name + star, *(_shown(own.get(column)) for column in columns), METHODS[name].title]))
    return lines


def _fronts(cells: Sequence[Comparison]) -> list[str]:
    """Return the lines of a table of fronts, a column for each way to read the paper."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    names = list(dict.fromkeys(cell.method.name for cell in cells))
    lines = [_row(["measure", *names]), "|---" * (len(names) + 1) + "|"]
    for column in columns:
        own = {cell.method.name: cell for cell in cells if cell.column == column}
        lines.append(_row([column, *(_shown(own.get(name)) for name in names)]))
    return lines


def _shown(cell: Comparison | None) -> str:
    if cell is None:
        return "–"
    if cell.printed is None:
        return str(cell)
    return f"{cell} ({'' if cell.agrees else '≠ '}{cell.printed[0]:.2f} ± {cell.printed[1]:.2f})"


def _on_fronts(differing: Iterable[Comparison]) -> Iterator[str]:
    """Yield a sentence on each cell of a table of fronts that differs from print, and one on why it may."""
    yield (
        "A constant classifier has no gap, so that a front that holds one has a hypervolume of one minus its error at "
        "the least (.76 on Adult, .54 on COMPAS), as differences and as ratios: lower values in print are of fronts "
        "without one, or of another measure."
    )
    for cell in differing:
        side = "above" if cell.difference > 0 else "below"
        yield f"{cell.method.name}, {cell.column}: {abs(cell.difference):.3f} {side} print."


def _on_points(cells: Iterable[Comparison], records: Sequence[Record]) -> Iterator[str]:
    """Yield a sentence on each point, gap and error together, that differs from print."""
    found = {(cell.method.name, cell.column): cell for cell in cells}
    for (name, column), gap in found.items():
        error = found.get((name, f"{column} error"))
        if error is None or (gap.agrees and error.agrees):
            continue
        fairness = "as fair" if gap.agrees else "fairer" if gap.difference < 0 else "less fair"
        accuracy = "as accurate" if error.agrees else "more accurate" if error.difference < 0 else "less accurate"
        traded = gap.difference * error.difference < 0 and not (gap.agrees or error.agrees)
        said = [
            f"{name}, {column}: beside print, {fairness} ({gap.difference:+.3f}) and {accuracy} "
            f"({error.difference:+.3f}){': another place on the trade-off' if traded else ''}."
        ]
        yield " ".join([*said, *_remarks(gap, records)])


def _remarks(gap: Comparison, records: Iterable[Record]) -> Iterator[str]:
    """Yield what may explain a difference."""
    own = [r for r in records if r["method"] == gap.method.name and gap.column in map(SHORT.get, r["notions"])]
    constants = sum(record["constant"] for record in own)
    if constants and gap.method.name != "Con":
        yield f"The choice was a constant classifier in {constants} of {len(own)} runs."
    if gap.method.taken_over:
        yield "The printed row was taken over from Lohaus et al.: no verdict."
    if gap.method.name == "Unc" and gap.difference < 0:
        yield "Choosing among archived snapshots closes part of the gap without any fairness objective."
