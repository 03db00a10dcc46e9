"""The paper's figures: the numbers behind them, and that drawing them twice gives the same bytes."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

from mamofair.datasets import make_toy
from mamofair.experiments import _figure_descent as descending
from mamofair.experiments import _figure_relaxations as relaxing
from mamofair.experiments import _figure_single_fairness as single
from mamofair.experiments import _figure_toy as toy
from mamofair.experiments._canvas import canvas, save
from mamofair.metrics import gap
from mamofair.relaxations import Hard, Tanh
from mamofair.selection import MostAccurateWithin

METHODS = ("MF1", "SFa", "Unc last", "OxonFair")


@pytest.fixture(scope="module")
def boundaries():
    """Those of every method, trained for a shorter time than for the figure."""
    few = {"epochs": 10, "steps": 50}
    methods = toy.methods()
    for method in methods.values():
        method.set_params(**{name: few[name] for name in few if name in method.get_params()})
    return {title: toy.boundary(method) for title, method in methods.items()}


def results(data=("Dutch", "Adult"), notions=("demographic_parity", "equal_opportunity")) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    keys = [(name, notion, method) for name in data for notion in notions for method in METHODS]
    numbers = rng.uniform(0.01, 0.2, (len(keys), 4))
    frame = pd.DataFrame(keys, columns=["data", "notion", "method"])
    frame[["error", "gap", "error_std", "gap_std"]] = numbers
    return frame.assign(told=frame["method"] == "OxonFair")


def test_the_hyperbolic_tangent_follows_the_true_gap_and_the_linear_relaxation_does_not():
    found = relaxing.correlations(size=41)
    assert found["Tanh(c=3)"] > 0.9
    assert found["Linear()"] < 0.3


def test_a_place_of_the_map_is_the_gap_of_that_classifier():
    size = 11
    found = relaxing.gaps(size)
    a1, a0 = np.linspace(-5, 5, size)[3], np.linspace(-10, 10, size)[7]
    data = relaxing.make_toy()
    f = -data.X["x2"] + a1 * data.X["x1"] + a0
    for relaxation, indicator in ((Hard(), f > 0), (Tanh(3), np.tanh(3 * f.clip(lower=0)))):
        rates = indicator.groupby(data.sensitive["group"]).mean()
        assert found[relaxation][3, 7] == pytest.approx(abs(rates.iloc[0] - rates.iloc[1]))


def test_yellow_is_fair_in_every_map():
    panels = relaxing.draw(size=11).axes[:4]
    for panel in panels:
        [image] = panel.images
        red, green, blue, _ = image.cmap(image.norm(0.0))
        assert min(red, green) > 0.85 > 0.3 > blue
    assert [panel.get_xlabel() for panel in panels] == ["$a_0$"] * 4


def test_the_shortest_mixture_is_the_shortest_one_and_lowers_both_losses():
    found = descending.descent()
    g1, g2 = found.gradients
    best = minimize_scalar(lambda w: np.sum((w * g1 + (1 - w) * g2) ** 2), bounds=(0, 1), method="bounded")
    assert found.weights[0] == pytest.approx(best.x, abs=1e-4)
    assert found.weights.min() > 0.05  # else the picture would show a corner, and no mixture
    assert found.shortest @ (g1 - g2) == pytest.approx(0, abs=1e-12)
    values = descending.losses(descending.path())
    assert (np.diff(values, axis=0) < 0).all()


def test_gradients_are_those_of_the_losses():
    step = 1e-6 * np.eye(2)
    differences = (descending.losses(descending.START + step) - descending.losses(descending.START - step)).T / 2e-6
    np.testing.assert_allclose(differences, descending.descent().gradients, rtol=1e-6)


def test_methods_on_the_toy_data_draw_the_expected_picture(boundaries):
    assert set(boundaries) == set(toy.methods())
    for found in boundaries.values():
        assert 0.1 < found.error < 0.35
        assert found.score.min() < 0 < found.score.max()
    assert boundaries["SearchFair, linear"].gap < 0.06
    assert boundaries["SearchFair, linear"].error > boundaries["unconstrained"].error + 0.02  # what fairness costs


def test_ours_has_smaller_gaps_than_the_unconstrained_network_over_seeds():
    """On eight draws together: after one of 600 points, gaps on new ones differ by 0.05 from seed to seed.

    What each chooses by itself differs as much, so ours is asked for small gaps, and the other for accuracy.
    """

    def drawn(seeds: range) -> list[pd.DataFrame | pd.Series]:
        draws = [make_toy(random_state=seed) for seed in seeds]
        return [pd.concat([getattr(draw, part) for draw in draws]) for part in ("X", "y", "sensitive")]

    (X, y, people), (new_X, new_y, new_people) = drawn(range(20, 28)), drawn(toy.DRAWS)

    def mean_gap(name: str, limit: float) -> float:
        models = [toy.methods(seed)[name].set_params(epochs=3) for seed in range(2)]
        chosen = [
            model.fit(X, y, sensitive_features=people).with_selection(MostAccurateWithin(limit)) for model in models
        ]
        gaps = [gap(new_y, model.predict(new_X), sensitive_features=new_people, notion="dp") for model in chosen]
        return float(np.mean(gaps))

    assert mean_gap("FairNetClassifier (ours)", 0.05) < mean_gap("unconstrained", 1.0) - 0.04


def test_every_method_of_the_toy_figure_has_a_panel_with_its_numbers(boundaries):
    titles = [panel.get_title() for panel in toy.draw(boundaries).axes]
    assert len(titles) == len(boundaries) + 1
    for title, (name, found) in zip(titles[1:], boundaries.items(), strict=True):
        assert title == f"{name}\nerror {found.error:.2f}, gap {found.gap:.2f}"


def test_only_panels_with_results_are_drawn():
    frame = results()
    partial = frame[~((frame["data"] == "Dutch") & (frame["notion"] == "equal_opportunity"))]
    panels = [(panel.get_title(), panel.get_xlabel()) for panel in single.draw(partial).axes]
    assert panels == [("Dutch", "|DDP|"), ("Adult", "|DDP|"), ("Adult", "|DEO|")]
    with pytest.raises(ValueError, match="at least one row"):
        single.draw(frame[:0])


def test_each_point_is_where_its_row_says_and_looks_the_same_in_every_panel():
    frame = results()
    looks: dict[str, set] = {method: set() for method in METHODS}
    for panel, (_, part) in zip(single.draw(frame).axes, frame.groupby(["data", "notion"], sort=False), strict=True):
        for bars, row in zip(panel.containers, part.to_dict("records"), strict=True):
            mark = bars.lines[0]
            assert mark.get_xydata().tolist() == [[row["gap"], row["error"]]]
            looks[row["method"]].add((mark.get_marker(), mark.get_color(), mark.get_markerfacecolor()))
        [level] = [line for line in panel.lines if line.get_linestyle() == ":"]
        assert level.get_ydata()[0] == part.loc[part["method"] == "Unc last", "error"].item()
    assert all(len(own) == 1 for own in looks.values())
    assert len(set().union(*looks.values())) == len(METHODS)
    [(_, _, fill)] = looks["OxonFair"]
    assert fill == "white"


def test_the_legend_names_every_method_once():
    [legend] = single.draw(results()).legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [*METHODS, "error of Unc last", "open: told the attribute to predict"]


@pytest.mark.parametrize("name", ["relaxations", "descent", "toy", "single"])
def test_figures_are_written_and_the_same_twice(name, tmp_path, boundaries):
    one_method = {"Zafar": boundaries["Zafar"]}  # more panels take seconds more, and are drawn alike
    draw = {
        "relaxations": lambda: relaxing.draw(size=15),
        "descent": descending.draw,
        "toy": lambda: toy.draw(one_method),
        "single": lambda: single.draw(results(data=("Adult",))),
    }[name]
    once, again = (save(draw(), tmp_path / folder, name) for folder in ("once", "again"))
    assert [path.suffix for path in once] == [".png", ".svg"]
    for first, second in zip(once, again, strict=True):
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 5000


def test_training_for_the_toy_figure_is_repeatable(boundaries):
    name = "SearchFair, RBF kernel"
    np.testing.assert_array_equal(toy.boundary(toy.methods()[name]).score, boundaries[name].score)


def test_a_png_is_1200_pixels_wide_and_global_settings_are_left_alone(tmp_path):
    import matplotlib
    from matplotlib.image import imread

    before = dict(matplotlib.rcParams)
    png, _ = save(canvas(6, 3), tmp_path, "empty")
    assert imread(png).shape[1] == 1200
    assert dict(matplotlib.rcParams) == before
