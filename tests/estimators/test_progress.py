"""What is shown while an estimator trains: the growing front, as a drawing or in plain lines."""

import io
import math
import re
from types import SimpleNamespace

import pytest
from rich.console import Console
from small_fits import GROUP, X, Y, small

from examples_of_points import front
from mamofair.estimators.progress import describe, draw, least_errors, watch


def shown(**kind):
    """Train while a screen of 80 columns watches; return what was written to it, and the model."""
    model, screen = small(), Console(file=io.StringIO(), width=80, **kind)
    for _ in watch(model.fitting(X, Y, sensitive_features=GROUP), 6, 1, screen):
        pass
    return screen.file.getvalue(), model


def drawn(found):
    """Return the rows of the drawing of a front: bound, error, and the column of the mark."""
    screen = Console(file=io.StringIO(), width=80)
    screen.print(draw(SimpleNamespace(front_=found, favorable_="[b]yes")))
    head, *lines, caption = screen.file.getvalue().splitlines()
    assert head.split() == ["gaps", "up", "to", "error"]
    assert caption.split(", ")[0].strip() == "favorable '[b]yes'"
    return [(*line.split()[:2], line.find("●")) for line in lines]


def test_the_least_error_is_that_of_what_would_be_chosen_by_a_standard_error():
    found = least_errors(front((150, 180, 30), (160, 90, 95), (170, 60, 40), (175, 15, 120), (180, 10, 10)))
    assert math.isnan(found.pop(0.01))
    assert found == {1: 0.150, 0.2: 0.150, 0.1: 0.170, 0.05: 0.180, 0.02: 0.180}


def test_a_constant_model_is_no_feat():
    found = least_errors(front((150, 80), (240, 0), constants=(1,)))
    assert found.pop(1) == found.pop(0.2) == found.pop(0.1) == 0.150
    assert all(math.isnan(error) for error in found.values())


def test_the_drawing_has_a_mark_for_each_bound_further_right_the_larger_the_error():
    rows = drawn(front((150, 180), (160, 90), (180, 40), (250, 15)))
    assert [row[:2] for row in rows] == [
        ("1", "0.150"), ("0.2", "0.150"), ("0.1", "0.160"), ("0.05", "0.180"), ("0.02", "0.250"), ("0.01", "–")
    ]  # fmt: skip
    left = rows[0][2]
    assert [row[2] - left for row in rows[:-1]] == [0, 0, 4, 12, 40]
    assert rows[-1][2] == -1


@pytest.mark.parametrize("found", [front((150, 5)), front((240, 0), constants=(0,))])
def test_a_front_of_one_point_is_drawn(found):
    assert len(drawn(found)) == 6


def test_a_terminal_sees_the_front_so_far_below_the_bar():
    written, model = shown(force_terminal=True, force_interactive=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    seen = re.findall(r"\d/6", plain)
    assert (seen[0], seen[-1]) == ("0/6", "6/6")
    assert seen == sorted(seen)
    last = plain[plain.rindex("gaps up to") :]
    assert f"{model.front_.values[0, 0]:.3f}" in last
    assert f"{len(model.front_)} points, on validation rows" in last
    assert max(len(line) for line in re.split(r"[\r\n]", plain)) <= 80
    assert written.endswith("\x1b[?25h")  # the cursor is back


def test_a_pipe_gets_plain_lines_now_and_then():
    written, model = shown(force_terminal=False)
    lines = written.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"Step {done} of 6" for done in (1, 2, 4, 6)]
    least = f"Error of the best choice on validation rows: {model.front_.values[0, 0]:.3f} with"
    assert lines[-1].split(": ", 1)[1].startswith(f"{len(model.front_)} models. {least}")
    assert [line.endswith("The favorable outcome is 1.") for line in lines] == [True, False, False, False]


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            front((150, 180), (160, 90)),
            "2 models. Error of the best choice on validation rows: 0.150 with gaps ≤ 0.2, 0.160 with gaps ≤ 0.1; none "
            "is safely within 0.05 yet.",
        ),
        (
            front((150, 280), (160, 5)),
            "2 models. Error of the best choice on validation rows: 0.150 without a limit, 0.160 with gaps ≤ 0.01.",
        ),
        (front((240, 0), constants=(0,)), "1 model; none is better than one decision for everyone yet."),
    ],
)
def test_a_line_says_what_each_limit_costs_and_what_is_not_met(found, line):
    assert describe(SimpleNamespace(front_=found)) == line


def test_the_last_line_is_of_the_end_wherever_it_is():
    """Of some models nobody knows how long they train, and others stop early."""
    steps = list(small().fitting(X, Y, sensitive_features=GROUP))
    for length, seen in ((0, []), (1, [1]), (3, [1, 2, 3]), (4, [1, 2, 4])):
        screen = Console(file=io.StringIO(), width=80)
        assert list(watch(iter(steps[:length]), None, 1, screen)) == steps[:length]
        lines = screen.file.getvalue().splitlines()
        assert [line.split(":")[0] for line in lines] == [f"Step {done}" for done in seen]


def test_a_terminal_is_as_before_after_an_interruption():
    def stopped():
        yield from list(small().fitting(X, Y, sensitive_features=GROUP))[:2]
        raise KeyboardInterrupt

    screen = Console(file=io.StringIO(), width=80, force_terminal=True, force_interactive=True)
    with pytest.raises(KeyboardInterrupt):
        list(watch(stopped(), 6, 1, screen))
    assert screen.file.getvalue().endswith("\x1b[?25h")
