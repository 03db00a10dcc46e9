"""The command line, one file a command. Whatever is slow to import is imported by the command that needs it."""

from mamofair.cli import _report, _reproduce
from mamofair.cli._app import app, main

__all__ = ["app", "main"]

app.command("reproduce")(_reproduce.reproduce)
app.command("report")(_report.report)
