import pandas as pd
import pytest

from examples_of_points import front
from mamofair.plot import plot_front

FRONT = front((170, 180, 90), (180, 90, 100), (200, 20, 30))


def test_every_gap_has_a_panel_with_all_points():
    figure = FRONT.plot(selected=1)
    assert [panel.get_xlabel() for panel in figure.axes] == [
        "gap: demographic parity [a]",
        "gap: demographic parity [b]",
    ]
    for panel in figure.axes:
        points, star = panel.collections
        assert len(points.get_offsets()) == 3
        assert star.get_offsets()[0][1] == pytest.approx(0.18)


def test_outline_never_rises():
    [line] = plot_front(front((170, 180), (180, 90), (200, 20)).frame()).axes[0].lines
    assert pd.Series(line.get_ydata()).is_monotonic_decreasing


def test_axes_of_ones_own_are_drawn_into():
    from matplotlib.figure import Figure

    panel = Figure().subplots()
    assert front((170, 180)).plot(axes=panel) is panel.figure
    assert panel.get_ylabel() == "error"
