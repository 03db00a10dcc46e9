"""The section of the result page on hypotheses: what was guessed, what fresh splits say, and a verdict."""

from collections.abc import Iterable, Iterator, Sequence

from mamofair.experiments._compare import Comparison
from mamofair.experiments._job import Record
from mamofair.experiments._markdown import table
from mamofair.experiments.hypotheses import FRESH, Hypothesis

INTRODUCTION = f"""\
## Hypotheses

Readings of the paper that were found after several tries fit by luck if enough are tried: they are **exploratory**.
Each was written down and then run on splits that none was found on (from number {FRESH} on). A reading is confirmed if
every printed cell it is about agrees there, by the rule above; otherwise it stays exploratory, or is refuted if no cell
agrees.
"""


def describe_all(hypotheses: Iterable[tuple[Hypothesis, Sequence[Record]]]) -> Iterator[str]:
    """Yield the section, as far as there are records."""
    known = [(hypothesis, records) for hypothesis, records in hypotheses if records]
    if known:
        yield INTRODUCTION
        yield from (describe(*one) for one in known)


def describe(hypothesis: Hypothesis, records: Sequence[Record], judged: bool = True) -> str:
    """Return what was guessed, every reading beside print, and a verdict on each."""
    cells = list(hypothesis.compare(records))
    runs = len({record["repetition"] for record in records})
    head = f"### {hypothesis.title} (`{hypothesis.name}`, {runs} fresh {'split' if runs == 1 else 'splits'})\n"
    rows = [["reading", "row", "column", "print", "found", ""], *(_line(*cell) for cell in cells)]
    verdicts = [f"- {_verdict(reading, cells)}" for reading in hypothesis.readings] if judged else []
    guess = f"*{hypothesis.statement}* {hypothesis.found}\n"
    return "\n".join([head, guess, *table(rows), "", *verdicts, ""])


def _line(reading: str, cell: Comparison) -> list[str]:
    mean, std = cell.printed or (0.0, 0.0)
    mark = "agrees" if cell.agrees else "≠"
    return [reading, cell.method.name, cell.column, f"{mean:.2f} ± {std:.2f}", str(cell), mark]


def _verdict(reading: str, cells: Sequence[tuple[str, Comparison]]) -> str:
    """Return a sentence for each row of the paper, since a reading may explain one and not another."""
    own = [cell for name, cell in cells if name == reading]
    told = []
    for method in dict.fromkeys(cell.method.name for cell in own):
        agreeing = [cell.agrees for cell in own if cell.method.name == method]
        word = "confirmed" if all(agreeing) else "exploratory" if any(agreeing) else "refuted"
        told.append(f"{method} **{word}** ({sum(agreeing)} of {len(agreeing)} cells agree)")
    return f"{reading}: {', '.join(told)}."
