"""`model.report`: the page of a model that was fitted in Python, measured on rows that it has not seen."""

import json

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

import mamofair
from mamofair import FairNetClassifier, FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import make_toy
from mamofair.report import summarize
from mamofair.runs import Run, load_run, measure_test, save
from mamofair.tables import encoder

TOY, NEW = make_toy(), make_toy(random_state=1)
PEOPLE = TOY.sensitive.assign(side=np.resize(["left", "right", "left"], len(TOY.y)))
NEW_PEOPLE = NEW.sensitive.assign(side=np.resize(["right", "left", "right"], len(NEW.y)))


def plugin(**parameters) -> FairPlugInClassifier:
    return FairPlugInClassifier(LogisticRegression(), cv=None, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model() -> FairPlugInClassifier:
    return plugin(max_points=4).fit(TOY.X, TOY.y, sensitive_features=PEOPLE)


def measured(model, **more) -> Run:
    return measure_test(Run.of(model), NEW.X, NEW.y, **{"sensitive_features": NEW_PEOPLE} | more)


def test_counts_are_those_of_each_points_own_predictions(model):
    run = measured(model)
    assert len(run.test) == len(model.front_) > 1
    for i, tally in enumerate(run.test):
        decided = model.at(i).predict(NEW.X)
        tn, fp, fn, tp = confusion_matrix(NEW.y, decided).ravel()
        assert tally.counts[""].tolist() == [[tp, fp, fn, tn]]
        rates = MetricFrame(
            metrics=selection_rate, y_true=NEW.y, y_pred=decided, sensitive_features=NEW_PEOPLE["side"]
        ).by_group
        cells = tally.counts["side"]
        np.testing.assert_allclose(cells[:, :2].sum(axis=1) / cells.sum(axis=1), rates[["left", "right"]])
    assert run.settings["data"]["parts"]["test"] == len(NEW.y)
    assert len(run.scores) == len(run.test)


def test_a_score_of_zero_is_no_favorable_decision(model, monkeypatch):
    monkeypatch.setattr(type(model), "score_all", lambda self, X: np.zeros((len(self.front_), len(X))))
    assert {tally.positive_share for tally in measured(model).test} == {0}


def test_groups_are_crossed_if_they_were_in_fit():
    crossed = plugin(max_points=4, crossed=True, min_group=1).fit(TOY.X, TOY.y, sensitive_features=PEOPLE)
    cells = measured(crossed).test[0].counts["group*side"]
    together = NEW_PEOPLE["group"] + " / " + NEW_PEOPLE["side"]
    counted = dict(zip(map(str, crossed.front_.groups["group*side"]), cells.sum(axis=1), strict=True))
    assert counted == together.value_counts().to_dict()


def test_weights_count_as_rows_do(model):
    weight = np.resize([1.0, 2.0, 0.0], len(NEW.y))
    again = np.repeat(np.arange(len(NEW.y)), weight.astype(int))
    weighted = measured(model, sample_weight=weight)
    rows = [part.iloc[again].reset_index(drop=True) for part in (NEW.X, NEW.y, NEW_PEOPLE)]
    repeated = measure_test(Run.of(model), rows[0], rows[1], sensitive_features=rows[2])
    for ours, theirs in zip(weighted.test, repeated.test, strict=True):
        for name in ("", "group", "side"):
            np.testing.assert_allclose(ours.counts[name], theirs.counts[name])
    assert weighted.scores == ()


def test_a_model_that_is_told_the_groups_is_told_them_here(tmp_path):
    frame, new = (toy.X.assign(colour=np.where(toy.X["x1"] > 3, "red", "blue")) for toy in (TOY, NEW))
    encode = encoder().fit(frame)
    told = plugin(aware=True).fit(encode.transform(frame), TOY.y, sensitive_features=TOY.sensitive)
    told = told.with_encoder(encode)
    run = measure_test(Run.of(told), new, NEW.y, sensitive_features=NEW.sensitive)
    decided = told.predict(new, sensitive_features=NEW.sensitive)
    tn, fp, fn, tp = confusion_matrix(NEW.y, decided).ravel()
    assert run.test[told.selected_].counts[""].tolist() == [[tp, fp, fn, tn]]


def test_crossed_groups_and_strata_are_made_as_in_fit():
    notions = ["demographic_parity", "conditional_demographic_parity"]
    strata, new_strata = (np.where(toy.X["x1"] > 3, "high", "low") for toy in (TOY, NEW))
    model = plugin(notions=notions, crossed=True, min_group=5, effort="fast")
    model.fit(TOY.X, TOY.y, sensitive_features=PEOPLE, strata=pd.Series(strata, name="level"))
    run = measured(model, strata=pd.Series(new_strata, name="level"))
    groups = model.front_.groups
    assert {"group", "side", "group*side", "group within level"} <= groups.keys()
    decided = model.predict(NEW.X)
    for name in ("group*side", "group within level"):
        other = NEW_PEOPLE["side"] if name == "group*side" else pd.Series(new_strata)
        joint = " / ".join if name == "group*side" else " in ".join
        own = [joint(pair) for pair in zip(NEW_PEOPLE["group"], other, strict=True)]
        rows = pd.crosstab(pd.Series(own), decided)
        counts = run.test[model.selected_].counts[name]
        for place, group in enumerate(groups[name]):
            assert counts[place, :2].sum() == (rows[1][group] if 1 in rows else 0)
    with pytest.raises(ValueError, match="strata"):
        measured(model)


def test_groups_too_small_to_judge_are_listed_with_their_rates():
    rare = PEOPLE.assign(side=np.where(np.arange(len(TOY.y)) < 12, "centre", PEOPLE["side"]))
    new = NEW_PEOPLE.assign(side=np.where(np.arange(len(NEW.y)) < 12, "centre", NEW_PEOPLE["side"]))
    with pytest.warns(UserWarning, match="centre"):
        model = plugin().fit(TOY.X, TOY.y, sensitive_features=rare)
    run = measured(model, sensitive_features=new)
    [listed] = run.settings["data"]["small_groups"]
    assert listed["group"] == "centre"
    assert run.test[0].counts["side"].shape == (2, 4)
    assert json.dumps(run.settings)


def test_the_page_has_the_numbers_of_the_test_rows(model, tmp_path):
    model.report(tmp_path / "page.html", NEW.X, NEW.y, sensitive_features=NEW_PEOPLE)
    page = (tmp_path / "page.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html")
    shown = summarize(measured(model))
    assert shown["rows"] == "test"
    error = shown["parts"]["test"][model.selected_][0][0]
    assert error == pytest.approx(np.mean(model.predict(NEW.X) != NEW.y), abs=1e-6)
    assert json.dumps(error) in page


def test_a_report_changes_neither_the_model_nor_its_choice(model, tmp_path):
    chosen = model.with_selection(MostAccurateWithin(0.9))
    before = chosen.predict(NEW.X), chosen.selected_, sorted(vars(chosen))
    chosen.report(tmp_path / "page.html", NEW.X, NEW.y, sensitive_features=NEW_PEOPLE)
    assert (before[0] == chosen.predict(NEW.X)).all()
    assert before[1:] == (chosen.selected_, sorted(vars(chosen)))
    assert Run.of(chosen).settings["within"] == 0.9


def test_a_measured_run_is_saved_and_loaded_with_its_counts(model, tmp_path):
    run = measured(model)
    again = load_run(save(run, tmp_path / "run"))
    for ours, theirs in zip(again.test, run.test, strict=True):
        np.testing.assert_array_equal(ours.counts["side"], theirs.counts["side"])
    assert len(again.scores) == len(run.scores)
    assert mamofair.load(tmp_path / "run").selected_ == model.selected_


def test_rows_that_do_not_fit_are_refused_in_a_sentence(model, tmp_path):
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match=r"`y` must have the labels that the model knows, 0 and 1: found 2\."):
        model.report(path, NEW.X, NEW.y + 1, sensitive_features=NEW_PEOPLE)
    with pytest.raises(ValueError, match=r"`X` must have one row per label: found 599 for 600"):
        model.report(path, NEW.X[1:], NEW.y.to_numpy(), sensitive_features=NEW_PEOPLE.to_dict("list"))
    with pytest.raises(ValueError, match="must have the attribute 'side' as in `fit`"):
        model.report(path, NEW.X, NEW.y, sensitive_features=NEW.sensitive)
    with pytest.raises(NotFittedError):
        FairNetClassifier().report(path, NEW.X, NEW.y, sensitive_features=NEW_PEOPLE)
    assert not path.exists()


def test_models_fronts_points_and_audits_show_themselves_in_notebooks(model):
    audit = mamofair.audit(NEW.y, model.predict(NEW.X), sensitive_features=NEW_PEOPLE)
    shown = [each._repr_html_() for each in (model, model.front_, model.front_[0], audit)]
    assert all("</" in html for html in shown)
    assert "FairPlugInClassifier" in shown[0]
    assert all(html.startswith("<table>") for html in shown[1:])
