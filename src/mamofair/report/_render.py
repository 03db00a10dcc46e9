"""From a summary to a self-contained HTML page."""

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mamofair.report._charts import charts
from mamofair.report._files import write_page
from mamofair.report._summary import summarize
from mamofair.report._vega import vega_runtime
from mamofair.runs import Run

if TYPE_CHECKING:
    from jinja2 import Environment, PackageLoader

__all__ = ["render", "write"]

_SCRIPTS = ("state", "verdict", "intervals", "answer", "choose", "groups", "pictures", "sha256", "record", "start")


def write(
    run: Run,
    path: str | os.PathLike[str],
    alternatives: Sequence[str] = (),
    *,
    asked: Sequence[str] = (),
    least: int = 0,
) -> None:
    """Write the page of a run. An earlier page is replaced as a whole, or stays as it was.

    `alternatives` is what `runs.read_alternatives` returns: how the run compares with an incumbent; `asked`
    are the sentences of `runs.read_question`. Groups that have a cell of fewer than `least` people are left out.
    """
    write_page(render(summarize(run, alternatives, asked=asked, least=least)), path)


def render(summary: Mapping[str, Any]) -> str:
    """Return the page for a summary made by `summarize`.

    The Content-Security-Policy allows our scripts only, by checksum, and no requests: should text ever slip through the
    escaping, it could still neither run nor be sent anywhere.
    """
    loader, environment = _templates()

    def source(name: str) -> str:
        return loader.get_source(environment, name)[0]

    runtime, module = vega_runtime(), "".join(source(f"scripts/{name}.js") for name in _SCRIPTS)
    return environment.get_template("report.html").render(
        summary=summary,
        charts=charts(summary["objectives"][0]["title"]),
        runtime=runtime,
        module=module,
        hashes=[_hash(script) for script in (runtime, module)],
        style=source("report.css"),
        licenses=source("licenses.txt"),
    )


@cache  # compiling the template takes as long as all else about a small page
def _templates() -> "tuple[PackageLoader, Environment]":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('The report needs jinja2 and vl-convert: pip install "mamofair[report]"') from error
    loader = PackageLoader("mamofair.report")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters["as_text"] = _as_text
    return loader, environment


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _as_text(value: Any) -> str:
    """Return a setting as text: "a, b", "train: 100, test: 50", "yes"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_as_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)
