"""The results page: the paper's claims with verdicts, and every printed number beside ours."""

from collections.abc import Iterable, Iterator, Sequence

from mamofair.experiments._claims import CLAIMS
from mamofair.experiments._compare import Comparison, compared
from mamofair.experiments._counting import PrintedCell, best_readings, counts, printed_cells
from mamofair.experiments._evidence import Evidence, printed, recorded
from mamofair.experiments._explanations import ASSUMPTIONS, EXPLANATIONS, INTRODUCTION, QUICK
from mamofair.experiments._hypothesis_page import describe_all
from mamofair.experiments._job import Record
from mamofair.experiments._markdown import row
from mamofair.experiments._markdown import table as table_lines
from mamofair.experiments._methods import METHODS
from mamofair.experiments._spec import SHORT, Table
from mamofair.experiments.hypotheses import Hypothesis

Recorded = tuple[Table, Sequence[Record]]


def page(
    tables: Iterable[Recorded],
    figures: Iterable[tuple[str, str, str]],
    command: str,
    quick: bool = False,
    hypotheses: Iterable[tuple[Hypothesis, Sequence[Record]]] = (),
) -> str:
    """Return the page as Markdown: records of tables and of hypotheses, and titles, paths and notes of figures.

    A quick page states its settings, and judges nothing.
    """
    tables, hypotheses = list(tables), list(hypotheses)
    known = [(table, records) for table, records in tables if records]
    names = {table.name: records for table, records in tables} | {one.name: records for one, records in hypotheses}
    absent = [f"`{name}`" for name, records in names.items() if not records]
    sections = [section(*one, judged=not quick) for one in known]
    pictures = [f"## {title}\n\n![{title}]({path})\n\n{note}\n" for title, path, note in figures]
    if quick:
        return "\n".join([QUICK.format(command=command), *sections, *pictures])
    judged = [_summary(known), _claims(known), *_counting(known)] if _is_complete(known) else []
    guesses = describe_all(hypotheses)
    unknown = [f"Without records, so that nothing is said of them here: {', '.join(absent)}.\n"] if absent else []
    head = [INTRODUCTION.format(command=command), *judged, *_why(known), *guesses, ASSUMPTIONS, *unknown]
    return "\n".join([*head, *sections, *pictures])


def section(table: Table, records: Sequence[Record], judged: bool = True) -> str:
    """Return a table of the paper as Markdown: the rows, then what is not reproduced, and remarks."""
    cells = compared(table, records)
    runs = max(cell.runs for cell in cells)
    head = f"## {table.title} (`{table.name}`, {runs} {'split' if runs == 1 else 'splits'})\n"
    body = _fronts(cells) if table.whole_front else _points(cells)
    if not judged:
        return "\n".join([head, *body, ""])
    printed = printed_cells([(table, records)], table.whole_front)
    agree = sum(cell.agrees for cell in printed)
    count = [f"{agree} of {len(printed)} printed cells agree under a reading in this table."] if printed else []
    remarks = [f"- {line}" for line in (*_fewer(cells, runs), *_open(printed), *_constants(records))]
    return "\n".join([head, *body, "", *count, *(["", *remarks] if remarks else []), ""])


def _is_complete(tables: Sequence[Recorded]) -> bool:
    """Whether all of the paper's tables have records: claims are about all of them together."""
    return {table.name for table, _ in tables} >= {
        *(f"table-{data}" for data in ("adult", "compas", "dutch", "celeba")),
        *(f"table-{data}-race-sex" for data in ("adult", "compas")),
    }


def _sources(tables: Sequence[Recorded]) -> tuple[Evidence, Evidence, Evidence]:
    """Return the evidence for claims: printed numbers, and our records with the text's and the code's settings."""
    main = [(table, records) for table, records in tables if not table.name.endswith("with-sex")]
    return printed(table for table, _ in main), recorded(main), recorded(main, code=True)


def _summary(tables: Sequence[Recorded]) -> str:
    """Return the report in a paragraph."""
    by_print, by_text, by_code = ([claim.judge(source).verdict for claim in CLAIMS] for source in _sources(tables))
    points, fronts = printed_cells(tables), printed_cells(tables, whole_front=True)
    authors_cells = [cell for cell in (*points, *fronts) if not cell.taken_over]
    hold_twice = sum(text == code == "holds" for text, code in zip(by_text, by_code, strict=True))
    neither = sum(text == code == "does not hold" for text, code in zip(by_text, by_code, strict=True))
    return (
        f"## In short\n\nThe paper makes {len(CLAIMS)} claims about its results that can be checked. By its own "
        f"printed numbers, {by_print.count('holds')} hold. By our records, {hold_twice} hold both with its text and "
        f"with its code, and {neither} with neither. Of the {len(authors_cells)} printed cells that are the authors' "
        f"own, {sum(cell.agrees for cell in authors_cells)} are reproduced under some reading. Claims that compare "
        "methods rely on rows that the paper took from elsewhere: in our runs on Adult and COMPAS, those methods are "
        "more accurate.\n"
    )


def _claims(tables: Sequence[Recorded]) -> str:
    """Return the paper's claims about its results, with a verdict by its own numbers and by ours."""
    sources = _sources(tables)
    lines = [row(["claim", "by its printed numbers", "by our records, as the text has it", "as its code ran"])]
    lines.append("|---" * 4 + "|")
    for claim in CLAIMS:
        verdicts = [claim.judge(source) for source in sources]
        lines.append(row([f"{claim.text} ({claim.where})", *(f"**{v.verdict}**: {v.figures}" for v in verdicts)]))
    rule = (
        "\nA difference between two methods is clear if its mean over the same splits is more than two standard errors "
        "from zero; for printed means, more than their rounding. A claim about all cases holds if it clearly holds in "
        "each, and does not hold if it clearly fails in one; otherwise it cannot be told.\n\n"
        "Two more claims have their own pages: that a higher c approximates better but has a worse gradient "
        "(Sec. 6, [sharpness.md](sharpness.md)), and that λ can be used to control the trade-off (Sec. 7.1, "
        "[anchor.md](anchor.md)).\n"
    )
    return "\n".join(["## The claims\n", *lines, rule])


def _counting(tables: Sequence[Recorded]) -> Iterator[str]:
    """Yield how many printed cells are reproduced, and under which reading."""
    points, fronts = printed_cells(tables), printed_cells(tables, whole_front=True)
    agree = sum(cell.agrees for cell in fronts)
    yield "## The printed cells\n"
    yield (
        "The paper has 28 cells per data set and 6 in each of its two tables of hypervolume and spacing. Each is "
        "counted once, under the reading that fits best. With several readings and large deviations a cell may agree "
        "by chance: the closest mean is listed below, with the number of readings tried.\n"
    )
    yield "\n".join(table_lines(counts(points)))
    yield f"\nOf the {len(fronts)} cells of hypervolume and spacing, {agree} agree under some reading.\n"
    yield "<details><summary>The authors' own cells, each with the reading that fits it best</summary>\n"
    yield "\n".join(table_lines(best_readings([*points, *fronts])))
    yield "\n</details>\n"


def _why(tables: Sequence[Recorded]) -> Iterator[str]:
    """Yield the explanations, which need the records of Adult and COMPAS."""
    known = {table.name: (table, records) for table, records in tables}
    if not {"table-adult", "table-compas"} <= set(known):
        return
    cells = {
        name: {(cell.method.name, cell.column): cell for cell in compared(*known[f"table-{name}"])}
        for name in ("adult", "compas")
    }
    constant = cells["compas"].get(("Con", "DDP error"))
    if constant is None:
        return
    texts = {}
    for name, column in (("adult", "DDP"), ("compas", "DEO")):
        for key, method in (("code", "MF1 code"), ("text", "MF1")):
            pair = [cells[name].get((method, which)) for which in (f"{column} error", column)]
            texts[f"{name}_{key}"] = ", ".join("–" if cell is None else str(cell) for cell in pair)
    plain = [cells["adult"].get(("MF1 SGD", which)) for which in ("DDP error", "DDP")]
    texts["plain_steps"] = " and ".join("–" if cell is None else str(cell) for cell in plain)
    yield EXPLANATIONS.format(constant=constant.mean, splits=constant.runs, **texts)


def _points(cells: Sequence[Comparison]) -> list[str]:
    """Return the lines of a table of chosen points, with the printed value in brackets."""
    columns = [column for short in SHORT.values() for column in (short, f"{short} error")]
    lines = [row(["method", *(f"\\|{c}\\|" if c in SHORT.values() else "error" for c in columns), ""])]
    lines.append("|---" * (len(columns) + 2) + "|")
    for name in dict.fromkeys(cell.method.name for cell in cells):
        by_column = {cell.column: cell for cell in cells if cell.method.name == name}
        star = "\\*" if METHODS[name].told else ""
        lines.append(row([name + star, *(_shown(by_column.get(column)) for column in columns), METHODS[name].title]))
    return lines


def _fronts(cells: Sequence[Comparison]) -> list[str]:
    """Return the lines of a table of fronts, a line for each way to read the paper."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    names = list(dict.fromkeys(cell.method.name for cell in cells))
    lines = [row(["measure", *names]), "|---" * (len(names) + 1) + "|"]
    for column in columns:
        by_method = {cell.method.name: cell for cell in cells if cell.column == column}
        lines.append(row([column, *(_shown(by_method.get(name)) for name in names)]))
    return lines


def _shown(cell: Comparison | None) -> str:
    if cell is None:
        return "–"
    if cell.printed is None:
        return str(cell)
    return f"{cell} ({'' if cell.agrees else '≠ '}{cell.printed[0]:.2f} ± {cell.printed[1]:.2f})"


def _open(cells: Iterable[PrintedCell]) -> Iterator[str]:
    """Yield a sentence on each of the authors' own cells that no reading gives."""
    for cell in cells:
        if not cell.agrees and not cell.taken_over:
            name, best = cell.best
            mean = best.printed[0] if best.printed else float("nan")
            side = "above" if best.difference > 0 else "below"
            yield f"{cell.row}, {cell.column}: no reading gives {mean:.2f}; the nearest is {best} ({name}), {side} it."


def _fewer(cells: Sequence[Comparison], runs: int) -> Iterator[str]:
    """Yield which methods have fewer splits than others."""
    fewer = {cell.method.name: cell.runs for cell in cells if cell.runs < runs and not cell.column.startswith("SP")}
    if fewer:
        yield f"Fewer splits: {', '.join(f'{name} {count}' for name, count in fewer.items())}."


def _constants(records: Sequence[Record]) -> Iterator[str]:
    """Yield which methods chose a constant classifier."""
    for method in dict.fromkeys(record["method"] for record in records if record["method"] != "Con"):
        flags = [record["constant"] for record in records if record["method"] == method]
        if any(flags):
            yield f"{method} chose a constant classifier in {sum(flags)} of {len(flags)} runs."
