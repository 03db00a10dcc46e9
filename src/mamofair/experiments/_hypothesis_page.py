"""The results page's section on hypotheses: the guess, the results on fresh splits, and a verdict."""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan, sqrt

from mamofair.experiments._compare import ROUNDING, Comparison
from mamofair.experiments._job import Record
from mamofair.experiments._markdown import table
from mamofair.experiments.hypotheses import FRESH, Hypothesis

PRINTED_SPLITS = 10

INTRODUCTION = f"""\
## Hypotheses

If enough readings of the paper are tried, some fit by chance: a reading found in this way is **exploratory**. Each was
written down and then run on fresh splits (from number {FRESH} on). A cell agrees here if the means differ by no more
than two standard errors of their difference (the paper has ten splits) plus the rounding. The plan was to use the rule
of the tables, one standard deviation; it would have confirmed COMPAS with a gap twice the printed one, so this stricter
rule replaced it. A reading is confirmed for a row if all its cells agree, refuted if none does, and stays exploratory
otherwise.
"""


def describe_all(hypotheses: Iterable[tuple[Hypothesis, Sequence[Record]]]) -> Iterator[str]:
    """Yield the section, as far as there are records."""
    known = [(hypothesis, records) for hypothesis, records in hypotheses if records]
    if known:
        yield INTRODUCTION
        yield from (describe(*one) for one in known)


def describe(hypothesis: Hypothesis, records: Sequence[Record], judged: bool = True) -> str:
    """Return the guess, every reading beside the printed numbers, and a verdict on each."""
    cells = list(hypothesis.compare(records))
    runs = len({record["repetition"] for record in records})
    head = f"### {hypothesis.title} (`{hypothesis.name}`, {runs} fresh {'split' if runs == 1 else 'splits'})\n"
    rows = [["reading", "row", "column", "print", "found", ""], *(_line(*cell) for cell in cells)]
    verdicts = [f"- {_verdict(reading, cells)}" for reading in hypothesis.readings] if judged else []
    guess = f"*{hypothesis.statement}* {hypothesis.found}\n"
    return "\n".join([head, guess, *table(rows), "", *verdicts, ""])


def has_same_mean(cell: Comparison) -> bool:
    """Whether two means differ by no more than two standard errors of their difference, and the paper's rounding."""
    if cell.printed is None:
        return True
    variance = 0.0 if isnan(cell.std) else cell.std**2 / cell.runs
    error = sqrt(variance + cell.printed[1] ** 2 / PRINTED_SPLITS)
    return abs(cell.difference) <= 2 * error + ROUNDING + 1e-9


def _line(reading: str, cell: Comparison) -> list[str]:
    mean, std = cell.printed or (0.0, 0.0)
    mark = "agrees" if has_same_mean(cell) else "≠"
    return [reading, cell.method.name, cell.column, f"{mean:.2f} ± {std:.2f}", str(cell), mark]


def _verdict(reading: str, cells: Sequence[tuple[str, Comparison]]) -> str:
    """Return a sentence for each row of the paper, since a reading may explain one and not another."""
    of_reading = [cell for name, cell in cells if name == reading]
    verdicts = []
    for method in dict.fromkeys(cell.method.name for cell in of_reading):
        agreeing = [has_same_mean(cell) for cell in of_reading if cell.method.name == method]
        word = "confirmed" if all(agreeing) else "exploratory" if any(agreeing) else "refuted"
        verdicts.append(f"{method} **{word}** ({sum(agreeing)} of {len(agreeing)} cells agree)")
    return f"{reading}: {', '.join(verdicts)}."
