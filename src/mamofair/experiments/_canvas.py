"""Figures with colors that color-blind people can distinguish, saved byte for byte reproducibly."""

from pathlib import Path
from typing import Any

from mamofair.plot import new_figure

#: The palette of Okabe and Ito (2008), the dark ones first.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GRAY, BLACK = "#E69F00", "#56B4E9", "#7F7F7F", "#000000"
PALE = "#FFF3B8"  # areas behind points

_WIDTH = 1200  # pixels of the PNG


def canvas(width: float = 8.0, height: float = 4.0) -> Any:
    """Return an empty matplotlib figure of this size in inches; text of 9 points is legible in its PNG."""
    figure = new_figure(width, height)
    figure.set_dpi(_WIDTH / width)
    return figure


def save(figure: Any, folder: Path | str, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, and return the files; equal figures give equal bytes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in save(canvas(), folder, "empty")]
    ['empty.png', 'empty.svg']
    """
    from matplotlib import rc_context

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    # Without a salt, an SVG's identifiers are random; the date and the version would change from run to run.
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(paths[0], dpi=figure.dpi, metadata={"Software": None})
        figure.savefig(paths[1], dpi=figure.dpi, metadata={"Date": None, "Creator": None})
    return paths
