"""A study that the paper left open, and one of the knob that it claims to have."""

from collections.abc import Sequence

from mamofair.experiments import _study_anchor, _study_sharpness
from mamofair.experiments._study import TABLES, Run, Study
from mamofair.relaxations import ConvexConcave, Linear, Relaxation, Sigmoid, Tanh

SHARPNESS_SPLITS = 1
ANCHOR_SPLITS = 2

_SCALES = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0)
_ANCHORS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def _sharpness_runs(splits: Sequence[int], quick: bool) -> list[Run]:
    """Return every relaxation on each data set, alone and as a population."""
    scaled: list[Relaxation] = [kind(c) for c in ((1.0, 16.0) if quick else _SCALES) for kind in (Tanh, Sigmoid)]
    return [
        Run(data, relaxation, 0.1, population, split, quick)
        for split in splits[:SHARPNESS_SPLITS]
        for relaxation in (*scaled, Linear(), ConvexConcave())
        for data in TABLES
        for population in (False, True)
    ]


def _anchor_runs(splits: Sequence[int], quick: bool) -> list[Run]:
    """Return every anchor with a one-sided and a two-sided relaxation; populations have no anchor."""
    return [
        Run(data, relaxation, anchor, False, split, quick)
        for split in splits[:ANCHOR_SPLITS]
        for anchor in (_ANCHORS[::3] if quick else _ANCHORS)
        for relaxation in (Tanh(3.0), Sigmoid(3.0))
        for data in TABLES
    ]


SHARPNESS = Study(
    "study-sharpness",
    "How sharp should a relaxation be?",
    "sharpness.md",
    _sharpness_runs,
    _study_sharpness.draw,
    _study_sharpness.describe,
)
ANCHOR = Study(
    "study-anchor",
    "Is the anchor a knob of the trade-off?",
    "anchor.md",
    _anchor_runs,
    _study_anchor.draw,
    _study_anchor.describe,
)
