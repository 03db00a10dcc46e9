"""Figures of an example, whether pyplot knows them or not: `front.plot()` draws on a plain `Figure`."""

from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

__all__ = ["scrape"]


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that a block of an example has made, each once, and return the markup that shows them."""
    known = block_vars["example_globals"].setdefault("__figures__", set())
    named = [value for value in block_vars["example_globals"].values() if isinstance(value, Figure)]
    figures = {id(figure): figure for figure in [*map(pyplot.figure, pyplot.get_fignums()), *named]}
    paths = []
    for key, figure in figures.items():
        if key not in known:
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=120, bbox_inches="tight")
            known.add(key)
            paths.append(path)
    pyplot.close("all")
    return figure_rst(paths, gallery_conf["src_dir"])
