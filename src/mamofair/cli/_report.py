"""`mamofair report`: the report page of a run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mamofair.cli._checks import require_writable
from mamofair.cli._options import AsJson, RunFolder, UnusedSeed

__all__ = ["report"]


def report(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; RUN/report.html by default.")] = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write the report of a run again: one HTML page that any browser opens, also offline.

    With --json, print the path of the page and every number it shows.

    Example: mamofair report runs/loans --out loans.html
    """
    from mamofair.report import summarize, write
    from mamofair.runs import is_current, load_run, read_alternatives

    page = run / "report.html" if out is None else out
    if out is not None:
        require_writable(out, file=True)
    loaded, alternatives = load_run(run), read_alternatives(run)
    write(loaded, page, alternatives)
    while not is_current(loaded, run):  # another training has replaced the run meanwhile
        loaded, alternatives = load_run(run), read_alternatives(run)
        write(loaded, page, alternatives)
    if as_json:
        typer.echo(json.dumps({"report": str(page), "summary": summarize(loaded, alternatives)}))
    else:
        typer.echo(f"Report: {page}")
