"""The command line, one file a command. Whatever is slow to import is imported by the command that needs it."""

from collections.abc import Callable

from mamofair.cli import (
    _alternatives,
    _ask,
    _audit,
    _check_table,
    _compare,
    _datasets,
    _export,
    _plan,
    _predict,
    _report,
    _reproduce,
    _train,
    _watch,
)
from mamofair.cli._app import app, main

__all__ = ["app", "main"]

_COMMANDS: dict[str, Callable[..., None]] = {
    "check": _check_table.check,
    "train": _train.train,
    "predict": _predict.predict,
    "audit": _audit.audit,
    "plan": _plan.plan,
    "ask": _ask.ask,
    "watch": _watch.watch,
    "alternatives": _alternatives.alternatives,
    "compare": _compare.compare,
    "export": _export.export,
    "datasets": _datasets.datasets,
    "reproduce": _reproduce.reproduce,
    "report": _report.report,
}
for _name, _command in _COMMANDS.items():
    _summary = str(_command.__doc__).partition("\n")[0]  # which the list of commands would cut short
    app.command(_name, short_help=_summary)(_command)
