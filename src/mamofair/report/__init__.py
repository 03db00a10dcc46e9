"""Pages that open offline: the report of a run, to choose a point, and the pages of an audit and of a watch.

`model.report(path, X, y, sensitive_features=…)` and `mamofair report` call what is here.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from sklearn.linear_model import LogisticRegression
>>> from mamofair import FairPlugInClassifier, audit
>>> from mamofair.datasets import make_toy
>>> from mamofair.runs import Run, measure_test
>>> toy = make_toy()
>>> rows = {"sensitive_features": toy.sensitive}
>>> model = FairPlugInClassifier(LogisticRegression(), effort="fast", random_state=0).fit(toy.X, toy.y, **rows)
>>> run = measure_test(Run(model, {}, {"group": ("protected", "unprotected")}), toy.X, toy.y, **rows)
>>> found = audit(toy.y, model.predict(toy.X), **rows)
>>> pages = [render(summarize(run)), render_audit(summarize_audit(found, title="Loans"))]
>>> [page[:15] for page in pages]
['<!doctype html>', '<!doctype html>']
>>> to_markdown(run).splitlines()[0]
'# Model card: a run'
>>> with TemporaryDirectory() as folder:
...     write(run, Path(folder) / "run.html")
...     write_audit(found, Path(folder) / "audit.html")
...     write_for(model, Path(folder) / "model.html", toy.X, toy.y, **rows)  # measures, too
...     write_page(pages[0], Path(folder) / "page.html")
...     sorted(path.name for path in Path(folder).iterdir())
['audit.html', 'model.html', 'page.html', 'run.html']
"""

from mamofair.report._audit_page import render_audit, summarize_audit, write_audit
from mamofair.report._files import write_page
from mamofair.report._markdown import to_markdown
from mamofair.report._models import write_for
from mamofair.report._render import render, write
from mamofair.report._summary import summarize
from mamofair.report._watch_page import render_watch, summarize_watch, write_watch

__all__ = [
    "render",
    "render_audit",
    "render_watch",
    "summarize",
    "summarize_audit",
    "summarize_watch",
    "to_markdown",
    "write",
    "write_audit",
    "write_for",
    "write_page",
    "write_watch",
]
