"""The script that draws a page's pictures: Vega, Vega-Lite and vega-embed.

vl-convert comes with their sources, and bundling them takes longer than all else about a page. So the bundle is kept in
the cache, one for each version of vl-convert.
"""

from contextlib import suppress
from functools import cache
from importlib.metadata import version

from mamofair._cache import cache_folder
from mamofair.report._files import write_page

__all__ = ["vega_runtime"]


@cache
def vega_runtime() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError('The report needs jinja2 and vl-convert: pip install "mamofair[report]"') from error
    name, bundle = f"vega-{version('vl-convert-python')}.js", ""
    with suppress(OSError, RuntimeError, UnicodeDecodeError):  # a RuntimeError, if the user has no home
        bundle = (cache_folder() / name).read_text(encoding="utf-8")
    if "window.vegaEmbed" not in bundle[-100:]:  # its end: none is kept, or a part of it
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        with suppress(OSError, RuntimeError):  # the next page takes longer, no more
            cache_folder().mkdir(parents=True, exist_ok=True)
            write_page(bundle, cache_folder() / name)
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise ValueError(
            "The script of vl-convert must not close its HTML element: install another version of vl-convert."
        )
    return bundle
