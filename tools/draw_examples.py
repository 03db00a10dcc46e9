"""Run gallery examples and save their figures, to look at them or for a page of the docs.

    python tools/draw_examples.py [--out FOLDER] [NAME ...]

`NAME` is an example without `plot_` and `.py`; by default all of them. Figures are NAME_1.png, NAME_2.png, … in FOLDER.
"""

import argparse
import runpy
from pathlib import Path

import matplotlib

EXAMPLES = Path(__file__).parents[1] / "examples"


def draw(name: str, folder: Path) -> None:
    """Run an example and save each of its figures."""
    from matplotlib import pyplot as plt

    with plt.rc_context():
        runpy.run_path(str(EXAMPLES / f"plot_{name}.py"), run_name="__main__")
        for number in plt.get_fignums():
            plt.figure(number).savefig(folder / f"{name}_{number}.png", dpi=120)
    plt.close("all")


def main() -> None:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("runs/gallery"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    matplotlib.use("template")  # draws nothing on a screen, so that `plt.show()` returns at once
    for name in options.names or sorted(path.stem.removeprefix("plot_") for path in EXAMPLES.glob("plot_*.py")):
        draw(name, options.out)


if __name__ == "__main__":
    main()
