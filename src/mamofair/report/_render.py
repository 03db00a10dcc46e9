"""From a summary to one HTML file that needs nothing but a browser."""

import base64
import hashlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mamofair.report._charts import charts
from mamofair.report._summary import summarize
from mamofair.runs import Run
from mamofair.runs._locks import replaced_file

_SCRIPTS = ("state", "pictures", "texts", "record", "start")


def write(run: Run, path: str | os.PathLike[str]) -> None:
    """Write the page of a run. A page that is there is replaced at once, or stays as it was."""
    page = render(summarize(run))
    with replaced_file(Path(path)) as file:
        file.write(page.encode())


def render(summary: Mapping[str, Any]) -> str:
    """Return the page of a summary, as `summarize` makes it.

    Scripts run by their checksum only and nothing may be fetched (Content-Security-Policy): should text ever slip
    through the escaping, it would still be neither run nor sent anywhere.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('The report needs jinja2 and vl-convert: pip install "mamofair[report]"') from error
    loader = PackageLoader("mamofair.report")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters["words"] = _words

    def source(name: str) -> str:
        return loader.get_source(environment, name)[0]

    module = "".join(source(f"scripts/{name}.js") for name in _SCRIPTS)
    return environment.get_template("report.html").render(
        summary=summary,
        charts=charts(),
        runtime=_runtime(),
        module=module,
        hashes=[_hash(script) for script in (_runtime(), module)],
        style=source("report.css"),
        licenses=source("licenses.txt"),
    )


@cache
def _runtime() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError('The report needs jinja2 and vl-convert: pip install "mamofair[report]"') from error
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise ValueError("vl-convert's script must not end the element it stands in: install another version of it.")
    return bundle


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _words(value: Any) -> str:
    """Return a setting as text: "a, b", "train: 100, test: 50", "yes"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)
