"""`mamofair report`: the page of a run, made again."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mamofair.cli._options import AsJson, IdleSeed
from mamofair.cli._values import require_writable


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the page; by default RUN/report.html.")] = None,
    seed: IdleSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Make the page of a run again: one HTML file that needs nothing but a browser.

    With --json the document holds the path of the page and every number that it shows.

    Example: mamofair report runs/loans --out loans.html
    """
    from mamofair.report import summarize, write
    from mamofair.runs import is_current, load_run

    page = run / "report.html" if out is None else out
    if out is not None:
        require_writable(out, file=True)
    found = load_run(run)
    write(found, page)
    while not is_current(found, run):  # a training has ended meanwhile
        found = load_run(run)
        write(found, page)
    if as_json:
        typer.echo(json.dumps({"report": str(page), "summary": summarize(found)}))
    else:
        typer.echo(f"Report: {page}")
