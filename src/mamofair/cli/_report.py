"""`mamofair report`: a run as a page, as Markdown or as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mamofair._messages import quote
from mamofair.cli._checks import require_writable
from mamofair.cli._console import warnings_as_notes
from mamofair.cli._options import AsJson, RunFolder, UnusedSeed

if TYPE_CHECKING:
    from mamofair.runs import Run

__all__ = ["report"]

_FORMATS = ("html", "md", "json")


def report(
    run: RunFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; report.html, report.md or report.json in RUN by default."),
    ] = None,
    file_format: Annotated[
        str,
        typer.Option("--format", help="html (a page), md (a model card and an evidence pack) or json (all numbers)."),
    ] = "html",
    suppress: Annotated[
        int,
        typer.Option(min=0, help="Leave out groups with a count below this, for reports that others get to see."),
    ] = 0,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write the report of a run again: a page that any browser opens offline, a model card, or all numbers.

    With --json, print the path of the report and every number it shows.

    Example: mamofair report runs/loans --format md --suppress 10 --out
    loans.md
    """
    from mamofair.report import summarize
    from mamofair.runs import is_current, load_run

    if file_format not in _FORMATS:
        raise ValueError(f"`--format` must be one of {', '.join(_FORMATS)}: found {quote(file_format)}.")
    page = run / f"report.{file_format}" if out is None else out
    if out is not None:
        require_writable(out, file=True)
    with warnings_as_notes():
        loaded = load_run(run)
        findings = _read_findings(run, loaded)
        _write(loaded, page, findings, file_format, suppress)
        while not is_current(loaded, run):  # another training has replaced the run meanwhile
            loaded = load_run(run)
            findings = _read_findings(run, loaded)
            _write(loaded, page, findings, file_format, suppress)
    if as_json:
        typer.echo(json.dumps({"report": str(page), "summary": summarize(loaded, **findings, least=suppress)}))
    else:
        typer.echo(f"Report: {page}")


def _read_findings(folder: Path, run: "Run") -> dict[str, list[str]]:
    """Return what was found about a run since it was trained: against an incumbent, and with new rows."""
    from mamofair.runs import read_alternatives, read_question

    question = read_question(folder)
    sentences = [] if question is None or question.run != run.settings["checksum"] else question.sentences()
    return {"alternatives": read_alternatives(folder), "asked": sentences}


def _write(run: "Run", path: Path, findings: Mapping[str, list[str]], file_format: str, least: int) -> None:
    """Write a report as a whole, or leave the earlier one."""
    from mamofair import report

    if file_format == "html":
        report.write(run, path, **findings, least=least)
    elif file_format == "md":
        report.write_page(report.to_markdown(run, least, **findings), path)
    else:
        report.write_page(json.dumps(report.summarize(run, **findings, least=least), indent=1), path)
