"""Objectives of the user's own in reports: measured on test rows by the user's function, or named as of others."""

from dataclasses import replace

import numpy as np
import pytest
from report_pages import cells, drawn, interval, shows
from report_runs import make_run

from mamofair import FairBoostingClassifier, FairNetClassifier, MostAccurateWithin
from mamofair.datasets import make_toy
from mamofair.metrics import front_intervals
from mamofair.objectives import CounterfactualGap, CustomObjective
from mamofair.plot import plot_front, plot_parallel
from mamofair.report import summarize, to_markdown
from mamofair.runs import Run, judge, load_run, measure_test, save

TOY, NEW = make_toy(), make_toy(random_state=1)
SIZE = CustomObjective("size", lambda logits, batch: (logits.square() / 100).mean(-1), lambda s, _: s.abs().mean() / 9)
LABELS = CustomObjective(
    "missed", SIZE.loss, lambda s, rows: float(((s <= 0) * rows.y).sum() / rows.y.sum())
)  # looks at labels, too


def swapped(X):
    return X[:, ::-1]


def measured(model, **more) -> Run:
    return measure_test(Run.of(model), NEW.X, NEW.y, sensitive_features=NEW.sensitive, **more)


@pytest.fixture(scope="module")
def net() -> FairNetClassifier:
    flips = CounterfactualGap(swapped, name="flips")
    model = FairNetClassifier(objectives=[SIZE, LABELS, flips], epochs=2, members=3, max_points=6, random_state=0)
    return model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)


def test_each_point_is_measured_on_test_rows_by_the_users_function(net):
    run, y = measured(net), NEW.y.to_numpy()
    assert len(run.custom) == len(net.front_)
    for i, values in enumerate(run.custom):
        scores = net.at(i).decision_function(NEW.X)
        changed = net.at(i).decision_function(NEW.X.iloc[:, ::-1].set_axis(NEW.X.columns, axis=1))
        assert values["size"] == pytest.approx(np.abs(scores).mean() / 9, rel=1e-4)
        assert values["missed"] == pytest.approx(np.mean(scores[y == 1] <= 0), abs=1e-6)
        assert values["flips"] == pytest.approx(np.mean((scores > 0) != (changed > 0)), abs=1e-6)


def test_boosting_is_measured_alike():
    model = FairBoostingClassifier(objectives=[SIZE], n_estimators=6, members=2, random_state=0)
    model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
    values = measured(model).custom[model.selected_]
    assert values["size"] == pytest.approx(np.abs(model.decision_function(NEW.X)).mean() / 9)


def test_a_run_keeps_what_was_measured_and_says_where(net, tmp_path):
    chosen = net.with_selection(MostAccurateWithin({"size": 1.0}))
    run = measured(chosen)
    again = load_run(save(run, tmp_path / "run"))
    assert again.custom == run.custom
    assert again.settings["test"]["size"] == run.custom[chosen.selected_]["size"]
    assert summarize(again)["parts"] == summarize(run)["parts"]
    assert f"| size | {run.custom[chosen.selected_]['size']:.3f} | none | 1 |" in to_markdown(run)
    unnamed = measure_test(again, NEW.X, NEW.y, sensitive_features=NEW.sensitive)  # its functions are names by now
    assert unnamed.custom == ()
    titles = [one["title"] for one in summarize(unnamed)["objectives"]]
    assert titles[-3:] == [f"{name} (on validation rows)" for name in ("size", "missed", "flips")]
    assert "| size (on validation rows) |" in to_markdown(unnamed)
    assert {one.rows for one in judge(unnamed).custom} == {"validation"}


@pytest.mark.parametrize("change", [lambda values: values[:-1], lambda values: [{**one, "size": -1} for one in values]])
def test_values_that_make_no_sense_are_refused(net, tmp_path, change):
    run = measured(net)
    folder = save(replace(run, custom=tuple(change(run.custom))), tmp_path / "run")
    with pytest.raises(ValueError, match=r"objectives\.json"):
        load_run(folder)


def test_every_custom_column_has_a_panel(net):
    frame = net.front_.frame()
    labels = [panel.get_xlabel() for panel in plot_front(frame).axes]
    assert labels == ["gap: demographic parity [group]", "size", "missed", "flips"]
    assert len(plot_parallel(frame).axes[0].get_xticks()) == 5
    assert len(plot_front(frame, intervals=front_intervals(net.front_)).axes) == 4


def test_warm_start_refuses_another_metric_under_the_same_name():
    def fitted():
        model = FairNetClassifier(objectives=[SIZE], epochs=1, members=2, random_state=0, warm_start=True)
        return model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)

    model = fitted()
    model.set_params(objectives=[CustomObjective("size", SIZE.loss, lambda s, _: 0.5)])
    with pytest.raises(ValueError, match="same metrics: found a different one named 'size'"):
        model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
    model = fitted()
    model.set_params(objectives=[CustomObjective("size", lambda logits, _: logits.abs().mean(-1), SIZE.metric)])
    model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)  # another loss is another way to the same column
    assert np.isfinite(model.front_.values).all()


def test_the_page_has_the_column_everywhere(opened):
    page, summary = opened(points=8, custom="test", within={"demographic_parity[sex]": 0.4, "effort": 0.6})
    run = make_run(points=8, custom="test", within={"demographic_parity[sex]": 0.4, "effort": 0.6})
    assert cells(page, "#values")[-1][0] == "Effort"
    assert cells(page, "#values")[-1][1] == f"{run.custom[summary['selected']]['effort']:.3f}"
    assert page.locator("#points thead th").all_inner_texts()[-1] == "effort"
    assert [row[-1] for row in cells(page, "#points")] == [f"{one['effort']:.3f}" for one in run.custom]
    page.locator("#gap").select_option("3")
    assert "Horizontal axis: effort; a measure of your own" in page.locator("#gap-meaning").inner_text()
    marks = drawn(page, "front", "layer_5")
    assert [one["x"] for one in marks] == pytest.approx([one["effort"] for one in run.custom], abs=1e-6)
    page.locator("#limit-3").fill("0.3")
    point = int(page.locator("input[name=point]:checked").get_attribute("value"))
    shows(page, point)
    assert run.estimator.front_[point].custom["effort"] <= 0.3
    gap = interval(summary["parts"]["test"][point][1])
    assert f"gap in demographic parity by sex: {gap}, limit 0.400" in page.locator("#record-text").inner_text()
    assert f"effort: {run.custom[point]['effort']:.3f}, limit 0.300" in page.locator("#record-text").inner_text()
