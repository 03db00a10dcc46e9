"""Pages without scripts: a template, its styles, and a policy that allows no script and no request."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["render_plain"]


def render_plain(
    template: str,
    styles: Sequence[str],
    summary: Mapping[str, Any],
    filters: Mapping[str, Callable[..., str]] | None = None,
) -> str:
    """Return the page that a template makes of a summary, with some style sheets of ours."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('The page needs jinja2: pip install "mamofair[report]"') from error
    loader = PackageLoader("mamofair.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= filters or {}
    style = "".join(loader.get_source(environment, name)[0] for name in styles)
    return environment.get_template(template).render(summary=summary, style=style)
