"""Draw the layers of the package as pyproject.toml has them: import-linter checks what the picture shows.

python tools/draw_house.py docs/images/house.svg
"""

import sys
import tomllib
from html import escape
from pathlib import Path

__all__ = ["draw", "layers"]

ROOT = Path(__file__).parents[1]
# What a floor is there for, by one of its rooms.
NOTES = {
    "cli": "commands",
    "report": "pages to hand on; the paper's tables",
    "monitor": "decisions watched as they arrive",
    "runs": "a fitted model in a folder",
    "baselines": "data, peers, questions about fitted models",
    "estimators": "scikit-learn's interface",
    "streaming": "rows that do not fit in memory",
    "learners": "how points are found",
    "tables": "frames; networks, ranks, the training loop",
    "metrics": "what is trained, measured, chosen, explained",
    "fronts": "counts and points; intervals and certificates",
    "notions": "values that everything else speaks in",
    "_html": "text",
}
WIDTH, HEIGHT, GAP, LABEL = 700, 34, 8, 250


def layers() -> list[list[str]]:
    """Return the modules of each layer, from the top to the bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [found for found in settings["tool"]["importlinter"]["contracts"] if found["type"] == "layers"]
    return [layer.split(" | ") for layer in contract["layers"] if layer != "__main__"]


def draw(floors: list[list[str]]) -> str:
    """Return the picture as SVG: a floor for each layer, a room for each module, private ones in gray."""
    total = len(floors) * (HEIGHT + GAP) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LABEL} {total}" font-family="sans-serif">',
        f'<rect width="{WIDTH + LABEL}" height="{total}" fill="white"/>',
    ]
    for level, rooms in enumerate(floors):
        top = level * (HEIGHT + GAP) + 5
        letters = sum(len(room) + 3 for room in rooms)
        left = 5.0
        for room in rooms:
            width = (WIDTH - 10 - GAP * (len(rooms) - 1)) * (len(room) + 3) / letters
            fill = "#eeeeee" if room.startswith("_") else "#d7e9f7"
            lines.append(f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{HEIGHT}" rx="4" fill="{fill}"/>')
            where = f'x="{left + width / 2:.1f}" y="{top + 22}" text-anchor="middle"'
            lines.append(f'<text {where} font-size="14" fill="#1a1a1a">{escape(room)}</text>')
            left += width + GAP
        note = next((NOTES[room] for room in rooms if room in NOTES), "")
        lines.append(f'<text x="{WIDTH + 10}" y="{top + 22}" font-size="13" fill="#555555">{escape(note)}</text>')
    lines.append(
        f'<text x="5" y="{total - 8}" font-size="13" fill="#555555">Upper floors may import lower ones, and rooms of '
        "one floor do not import each other. Blue: what users import; gray: private.</text>"
    )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(layers()), encoding="utf-8")
