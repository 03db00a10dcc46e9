import pandas as pd
import pytest

from examples_of_points import front
from mamofair.metrics import front_intervals
from mamofair.plot import plot_front, plot_parallel

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
    assert front((170, 180)).plot(ax=panel) is panel.figure
    assert panel.get_ylabel() == "error"


def test_intervals_and_the_frontier_are_drawn_where_they_are():
    intervals = front_intervals(FRONT)
    frontier = pd.DataFrame({"criterion": FRONT.columns[2], "gap": [0.0, 0.1], "error": [0.2, 0.1]})
    frontier = frontier.assign(more_rows=frontier["error"] - 0.01)
    first, second = plot_front(FRONT.frame(), intervals=intervals, frontier=frontier).axes
    across, along = first.collections[1:3]
    for i, (horizontal, vertical) in enumerate(zip(across.get_segments(), along.get_segments(), strict=True)):
        assert horizontal[:, 0].tolist() == intervals.loc[i, FRONT.columns[1]][["low", "high"]].tolist()
        assert vertical[:, 1].tolist() == intervals.loc[i, "error"][["low", "high"]].tolist()
    assert len(first.lines[-1].get_xdata()) == 0  # the frontier of the other gap only
    assert second.lines[-1].get_ydata().tolist() == [0.2, 0.1]


def test_parallel_coordinates_have_an_axis_an_objective_from_best_to_worst():
    panel = plot_parallel(FRONT.frame(), selected=1).axes[0]
    *lines, accurate, chosen = (line for line in panel.lines if len(line.get_xdata()) == 3)
    assert [line.get_ydata().tolist() for line in lines[:2]] == [
        pytest.approx([0, 1, 6 / 7]),
        pytest.approx([1 / 3, 7 / 16, 1]),
    ]
    assert accurate.get_ydata().tolist() == lines[0].get_ydata().tolist()
    assert chosen.get_ydata().tolist() == lines[1].get_ydata().tolist()
    assert [label.get_text() for label in panel.get_xticklabels()][1] == "demographic parity\n[a]"


def test_an_objective_that_never_changes_has_an_axis_too():
    assert len(plot_parallel(front((170, 50, 9), (180, 50, 8)).frame()).axes[0].get_xticks()) == 3
