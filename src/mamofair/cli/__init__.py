"""The command line, one file a command. Whatever is slow to import is imported by the command that needs it."""

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

app.command("check")(_check_table.check)
app.command("train")(_train.train)
app.command("predict")(_predict.predict)
app.command("audit")(_audit.audit)
app.command("plan")(_plan.plan)
app.command("ask")(_ask.ask)
app.command("watch")(_watch.watch)
app.command("alternatives")(_alternatives.alternatives)
app.command("compare")(_compare.compare)
app.command("export")(_export.export)
app.command("datasets")(_datasets.datasets)
app.command("reproduce")(_reproduce.reproduce)
app.command("report")(_report.report)
