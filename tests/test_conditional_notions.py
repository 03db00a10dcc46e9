"""Notions within strata: brute force, one stratum, names of strata, training, confidence, and what is refused."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import mamofair
from estimators.small_fits import GROUP, SMALL, X, Y
from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, MostAccurateWithin
from mamofair._rows.groups import read_groups
from mamofair.cli import app
from mamofair.fronts import Front, Point, Tally, divide_groups
from mamofair.metrics import audit, gap, rates
from mamofair.notions import DEMOGRAPHIC_PARITY, NOTIONS, Notion, as_notion, conditional, ratio
from mamofair.runs import Run, save
from mamofair.selection._pairs import padded_gaps

pytestmark = pytest.mark.usefixtures("short_search")

FAMILIES = [NOTIONS[0], NOTIONS[1], NOTIONS[5], NOTIONS[7]]
tables = st.integers(0, 10**6).map(lambda seed: random_table(seed))


def random_table(seed, n=60, strata=3):
    """Return labels, decisions, groups and strata, some of the latter unknown."""
    rng = np.random.default_rng(seed)
    group, stratum = rng.choice(["f", "m", "x"], n).astype(object), rng.choice(list("pqrs")[:strata], n).astype(object)
    group[rng.random(n) < 0.1] = None
    stratum[rng.random(n) < 0.1] = None
    return rng.integers(0, 2, n), rng.integers(0, 2, n), pd.Series(group, name="sex"), pd.Series(stratum, name="dept")


def by_hand(notion: Notion, y, decided, group, stratum) -> float:
    """The definition: within each stratum, every two groups; then the worst, or the mean by rows, of the strata.

    A stratum that has groups to compare, and decisions that leave nothing to compare, counts as 1 or leaves the worst
    undefined; one whose labels leave nothing is left out.
    """
    found = []
    for rate in notion.rates:
        gaps, rows, emptied = [], [], []
        for one in dict.fromkeys(stratum.dropna()):
            inside = (stratum == one) & group.notna()
            plain = Notion("plain", (rate,), compare=notion.compare)
            if group[inside].nunique() < 2:
                continue
            own = gap(y[inside], decided[inside], sensitive_features=group[inside], notion=plain, favorable=1)
            if not np.isnan(own):
                gaps.append(own)
                rows.append(inside.sum())
            elif rate.conditions_on_prediction:
                emptied.append(inside.sum())
        if not gaps or (emptied and notion.over == "worst"):
            return np.nan
        gaps, rows = [*gaps, *[1.0] * len(emptied)], [*rows, *emptied]
        found.append(max(gaps) if notion.over == "worst" else np.average(gaps, weights=rows))
    return np.nan if np.isnan(found).any() else max(found)


@pytest.mark.parametrize("over", ["worst", "mean"])
@pytest.mark.parametrize("by_ratio", [False, True])
@settings(max_examples=20)
@given(tables, st.sampled_from(FAMILIES))
def test_gap_is_that_of_the_definition(over, by_ratio, table, base):
    y, decided, group, stratum = table
    notion = conditional(ratio(base) if by_ratio else base, over)
    found = gap(y, decided, sensitive_features=group, notion=notion, strata=stratum, favorable=1)
    assert found == pytest.approx(by_hand(notion, y, decided, group, stratum), nan_ok=True)


@given(tables, st.sampled_from(FAMILIES))
def test_worst_stratum_is_at_least_the_mean_and_names_of_strata_do_not_matter(table, base):
    y, decided, group, stratum = table
    given = {"y_true": y, "y_pred": decided, "sensitive_features": group, "favorable": 1}
    worst, mean = (gap(**given, notion=conditional(base, over), strata=stratum) for over in ("worst", "mean"))
    if not np.isnan(worst + mean):
        assert worst >= mean - 1e-12
    renamed = stratum.map({"p": "r", "q": "p", "r": "q"})
    again = [gap(**given, notion=conditional(base, over), strata=renamed) for over in ("worst", "mean")]
    np.testing.assert_allclose(again, [worst, mean])


@given(tables, st.sampled_from(NOTIONS), st.booleans())
def test_one_stratum_is_the_plain_notion(table, base, by_ratio):
    y, decided, group, _ = table
    base = ratio(base) if by_ratio else base
    given = {"y_true": y, "y_pred": decided, "sensitive_features": group, "favorable": 1}
    plain = gap(**given, notion=base)
    for over in ("worst", "mean"):
        found = gap(**given, notion=conditional(base, over), strata=["all"] * len(y))
        np.testing.assert_array_equal(found, plain) if over == "worst" else np.testing.assert_allclose(found, plain)


def test_names_and_aliases_make_conditional_notions():
    assert as_notion("conditional_statistical_parity") == conditional(DEMOGRAPHIC_PARITY)
    assert as_notion("conditional_dp_ratio") == conditional(ratio(DEMOGRAPHIC_PARITY))
    assert ratio(conditional(DEMOGRAPHIC_PARITY)) == conditional(ratio(DEMOGRAPHIC_PARITY))
    assert as_notion("mean_conditional_dp") == conditional(DEMOGRAPHIC_PARITY, "mean")
    with pytest.raises(ValueError, match=r"Did you mean conditional_demographic_parity\?"):
        as_notion("conditional_demografic_parity")
    with pytest.raises(ValueError, match="`over` must be 'worst' or 'mean': found 'best'"):
        conditional(DEMOGRAPHIC_PARITY, "best")
    with pytest.raises(ValueError, match="must not be conditional already"):
        conditional(conditional(DEMOGRAPHIC_PARITY))


def test_rates_and_audits_show_the_groups_of_each_stratum():
    y, decided, group, stratum = random_table(0, 600)
    given = {"y_true": y, "y_pred": decided, "sensitive_features": group, "favorable": 1, "strata": stratum}
    table = rates(**given, notion="conditional_dp")
    assert set(table["attribute"]) == {"sex within dept"}
    assert {"f in p", "x in r"} < set(table["group"])
    found = audit(**given, notions=["conditional_dp", "mean_conditional_dp", "dp"], limit=0.5)
    frame = found.frame()
    assert frame[["notion", "attribute"]].to_numpy().tolist() == [
        ["conditional_demographic_parity", "sex within dept"],
        ["mean_conditional_demographic_parity", "sex within dept"],
        ["demographic_parity", "sex"],
    ]
    assert (frame["low"] <= frame["gap"]).all()
    assert (frame["gap"] <= frame["high"]).all()
    assert found.ratios()["attribute"].tolist() == ["sex"]
    assert "sex within dept" in str(found)


@pytest.mark.parametrize("over", ["worst", "mean"])
def test_interval_covers_the_gap_within_strata(over):
    """Two strata with gaps of .1 and .3; the interval holds at its nominal level, up to chance."""
    rng, covered, draws = np.random.default_rng(0), 0, 60
    truth = {"worst": 0.3, "mean": 0.2}[over]
    group, stratum = np.tile(["f", "m"], 400), np.repeat(["p", "q"], 400)
    chance = np.select([(stratum == "p") & (group == "f"), stratum == "p", group == "f"], [0.4, 0.5, 0.2], 0.5)
    notion = conditional(DEMOGRAPHIC_PARITY, over)
    for _ in range(draws):
        decided = (rng.random(800) < chance).astype(int)
        y = np.arange(800) % 2
        options = {"notions": notion, "confidence": 0.9, "strata": stratum}
        [row] = audit(y, decided, sensitive_features=group, **options).frame().itertuples()
        covered += row.low <= truth <= row.high
    assert covered / draws >= 0.9 - 3 * np.sqrt(0.09 / draws)


MODELS = {
    "net": lambda notions: FairNetClassifier(**SMALL, notions=notions, random_state=0),
    "boosting": lambda notions: FairBoostingClassifier(notions=notions, n_estimators=5, members=3, random_state=0),
    "plugin": lambda notions: FairPlugInClassifier(LogisticRegression(), notions, cv=2, max_points=30, random_state=0),
}
DEPARTMENT = pd.Series(np.where(X.iloc[:, 0] > X.iloc[:, 0].median(), "law", "arts"), name="department")


@pytest.mark.parametrize(
    ("kind", "notion"), [(kind, "demographic_parity") for kind in MODELS] + [("net", "equal_opportunity_ratio")]
)
def test_training_with_one_stratum_is_training_with_the_plain_notion(kind, notion):
    make = MODELS[kind]
    plain = make(notion).fit(X, Y, sensitive_features=GROUP)
    within = make(f"conditional_{notion}").fit(X, Y, sensitive_features=GROUP, strata=["all"] * len(X))
    np.testing.assert_array_equal(within.front_.values, plain.front_.values)
    np.testing.assert_array_equal(within.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, "conditional_dp") for kind in MODELS] + [("plugin", "mean_conditional_dp")]
)
def test_every_learner_finds_saves_and_loads_a_front_within_strata(kind, name, tmp_path):
    """Strata are not needed to predict."""
    model = MODELS[kind]([name, "dp"]).fit(X, Y, sensitive_features=GROUP, strata=DEPARTMENT)
    column = f"{as_notion(name).name}[group within department]"
    assert model.front_.columns == ["error", "demographic_parity[group]", column]
    again = mamofair.load(save(_run(model), tmp_path / "run"))
    assert again.notions_ == model.notions_
    pd.testing.assert_frame_equal(again.front_.frame(), model.front_.frame(), check_exact=True)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def _run(model):
    groups = {name: tuple(map(str, values)) for name, values in model.front_.groups.items()}
    return Run(model, {"command": "mamofair train toy", "seed": 0}, groups)


def test_strata_may_be_a_column_of_the_features():
    department = (DEPARTMENT == "law").astype(int)
    table = X.assign(department=department)
    ours, theirs = (
        FairNetClassifier(**SMALL, notions="conditional_dp", random_state=0).fit(
            table, Y, sensitive_features=GROUP, strata=strata
        )
        for strata in ("department", department)
    )
    assert ours.front_.columns[1] == "conditional_demographic_parity[group within department]"
    pd.testing.assert_frame_equal(ours.front_.frame(), theirs.front_.frame(), check_exact=True)


def test_front_within_strata_has_smaller_gaps_there_than_the_most_accurate_point():
    model = FairPlugInClassifier(LogisticRegression(), "conditional_dp", random_state=0)
    model.fit(X, Y, sensitive_features=GROUP, strata=DEPARTMENT)
    frame = model.front_.frame()[~model.front_.is_constant]
    assert frame.iloc[:, 1].min() < 0.5 * frame.iloc[0, 1]
    fairest = model.at(int(frame.iloc[:, 1].idxmin()))
    measured = [
        gap(Y, chosen.predict(X), sensitive_features=GROUP, notion="conditional_dp", strata=DEPARTMENT)
        for chosen in (fairest, model.at(0))
    ]
    assert measured[0] < 0.7 * measured[1]


def test_confidence_tests_every_two_groups_of_each_stratum():
    model = FairNetClassifier(**SMALL, notions="conditional_dp", calibration_fraction=0.3, random_state=0)
    model.fit(X, Y, sensitive_features=GROUP, strata=DEPARTMENT)
    answer = MostAccurateWithin(0.9, 0.9).answer(model.front_)
    assert answer.status == "certified"
    [(low, high)] = answer.intervals.values()
    assert 0 <= low <= high <= 1
    from mamofair.selection._pairs import pairs

    [criterion] = model.front_.criteria
    names = model.front_.groups[criterion[1]]
    compared = [tuple(names[i] for i in pair.places) for pair in pairs(model.front_[0].valid, criterion)]
    assert compared == [
        two for dept in ("arts", "law") for two in combinations([n for n in names if n.endswith(dept)], 2)
    ]
    mean = FairNetClassifier(**SMALL, notions="mean_conditional_dp", calibration_fraction=0.3, random_state=0)
    mean.fit(X, Y, sensitive_features=GROUP, strata=DEPARTMENT)
    with pytest.raises(ValueError, match="must be for the worst stratum: found mean_conditional_demographic_parity"):
        mean.with_selection(MostAccurateWithin(0.9, 0.9))
    assert mean.with_selection(MostAccurateWithin(0.9)).selected_ >= 0


def test_strata_without_a_conditional_notion_are_refused():
    groups, strata = read_groups({"sex": ["f", "m"]}), read_groups({"dept": ["p", "q"]})
    with pytest.raises(ValueError, match="`strata` must go with a conditional notion"):
        divide_groups(groups, {"sex": (DEMOGRAPHIC_PARITY,)}, strata)


def test_intervals_share_the_risk_among_strata_where_all_ends_must_hold():
    sizes = (300, 200, 120)
    stratum = np.repeat(["p", "q", "r"], sizes)
    sex = np.resize(["f", "m"], len(stratum))
    decided = (np.random.default_rng(0).random(len(stratum)) < np.where(sex == "f", 0.4, 0.5)).astype(int)

    def ends(confidence, own=slice(None), **more):
        people = pd.Series(sex[own], name="sex")
        report = audit(None, decided[own], sensitive_features=people, favorable=1, confidence=confidence, **more)
        [found] = report.frame().to_dict("records")
        return found["low"], found["high"]

    alone, shared = (
        np.array([ends(level, stratum == name, notions="dp") for name in "pqr"]) for level in (0.9, 1 - 0.1 / 3)
    )
    worst, mean = (ends(0.9, notions=name, strata=stratum) for name in ("conditional_dp", "mean_conditional_dp"))
    assert worst == pytest.approx((shared[:, 0].max(), alone[:, 1].max()))
    assert mean == pytest.approx(tuple(np.average(shared, axis=0, weights=sizes)))


def test_small_parts_of_groups_are_left_out_and_named():
    strata = DEPARTMENT.to_numpy(dtype=object).copy()
    strata[:5] = "music"
    with pytest.warns(UserWarning, match=r"Groups of 'group within strata' with fewer than 30 rows .* in music"):
        model = FairNetClassifier(**SMALL, notions="conditional_dp", random_state=0).fit(
            X, Y, sensitive_features=GROUP, strata=strata
        )
    assert all("music" in name for name in model.small_groups_["group within strata"])


def test_what_strata_cannot_do_is_refused_in_a_sentence():
    model = FairNetClassifier(**SMALL, notions="conditional_dp", random_state=0)
    people = {"sensitive_features": GROUP}
    with pytest.raises(ValueError, match="compares groups within strata: pass `strata`"):
        model.fit(X, Y, **people)
    with pytest.raises(ValueError, match="compares groups within strata: pass `strata`"):
        gap(Y, Y, **people, notion="conditional_dp")
    with pytest.raises(ValueError, match="`strata` must go with a conditional notion"):
        FairNetClassifier(**SMALL).fit(X, Y, **people, strata=DEPARTMENT)
    with pytest.raises(ValueError, match=r"must be a column of X: found 'x11'\. Did you mean x1"):
        model.fit(X, Y, **people, strata="x11")
    with pytest.raises(ValueError, match="can name a column of a frame: found 'x1' for X of type ndarray"):
        model.fit(X.to_numpy(), Y, **people, strata="x1")
    with pytest.raises(ValueError, match=r"must have one row per sample: found 3 rows"):
        model.fit(X, Y, **people, strata=["a", "b", "c"])
    with pytest.raises(ValueError, match="must be one column: found 2"):
        model.fit(X, Y, **people, strata=pd.DataFrame({"a": DEPARTMENT, "b": DEPARTMENT}))
    with pytest.raises(ValueError, match="Some stratum must have two groups to compare: found none"):
        model.fit(X, Y, **people, strata=GROUP.iloc[:, 0].to_numpy())
    aware = FairPlugInClassifier(LogisticRegression(), "conditional_dp", aware=True)
    with pytest.raises(ValueError, match="`aware=True` does not support notions within strata"):
        aware.fit(X, Y, **people, strata=DEPARTMENT)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("strata") / "toy.csv"
    X.assign(y=Y, department=DEPARTMENT, **GROUP).to_csv(path, index=False)
    return path


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_command_line_trains_and_audits_within_strata(table, tmp_path):
    asked = table, "--target", "y", "--sensitive", "group", "--notion", "conditional_dp", "--strata", "department"
    fast = "--model", "plugin", "--effort", "fast", "--out", tmp_path / "run"
    said = json.loads(run("train", *asked, *fast, "--within", 0.4, "--json").stdout)
    column = "conditional_demographic_parity[group within department]"
    model = mamofair.load(tmp_path / "run")
    assert model.front_.columns[1] == column
    assert column in str(said)
    assert (tmp_path / "run" / "report.html").exists()
    people = pd.read_csv(table)
    decided = tmp_path / "decided.csv"
    people.assign(decided=people["y"]).to_csv(decided, index=False)
    [row] = json.loads(run("audit", decided, *asked[1:], "--prediction", "decided", "--json").stdout)["gaps"]
    given = {"sensitive_features": people["group"], "notion": "conditional_dp", "strata": people["department"]}
    assert row["gap"] == gap(people["y"], people["y"], **given)


def test_command_line_names_the_column_that_was_meant(table, tmp_path):
    asked = "train", table, "--target", "y", "--sensitive", "group", "--out", tmp_path / "run", "--notion"
    with pytest.raises(ValueError, match=r"no column 'departmnt' in toy\.csv\. Did you mean 'department'"):
        run_or_raise(*asked, "conditional_dp", "--strata", "departmnt")
    with pytest.raises(ValueError, match="`--arbitrariness` cannot be measured within strata"):
        run_or_raise(*asked, "conditional_dp", "--strata", "department", "--arbitrariness")


def run_or_raise(*arguments):
    CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False, standalone_mode=False)


def test_parts_that_would_have_the_same_name_are_refused():
    groups, strata = ["p", "p", "p in q", "p in q"], ["r", "q in r", "r", "q in r"]
    with pytest.raises(ValueError, match="must have different names: found 'p in q in r' twice"):
        gap([1, 0, 1, 0], [1, 0, 1, 0], sensitive_features=groups, strata=strata, notion="conditional_dp")


def test_strata_in_which_nothing_is_compared_do_not_lessen_the_margin():
    """Two strata, the second without positives in one group: the padded mean is that of the first alone."""
    one = np.array([[10.0, 0, 10, 20], [8, 0, 12, 20]])
    other = np.array([[30.0, 0, 10, 20], [0, 0, 0, 20]])
    notion = replace(as_notion("mean_conditional_equal_opportunity"), blocks=(0, 0, 1, 1))
    alone = replace(notion, blocks=(0, 0))
    padded = [
        padded_gaps(Front((Point(Tally({"": table.sum(axis=0)[None], "a": table})),), ((bound, "a"),)), 1.0)
        for bound, table in ((notion, np.vstack([one, other])), (alone, one))
    ]
    assert padded[0] == pytest.approx(padded[1])
    assert padded[0][0, 0] > 0.15


def test_selecting_nobody_of_a_group_does_not_close_a_gap_within_strata():
    """As for a plain notion, whose gap is then undefined, and counts as 1."""
    y, group = np.tile([1, 0], 20), np.repeat(["f", "m"], 20)
    decided = np.where(np.arange(40) < 10, 0, 1)  # nobody of f in stratum p
    stratum = np.where(np.arange(40) % 20 < 10, "p", "q")
    given = {"sensitive_features": group, "favorable": 1}
    in_p = stratum == "p"
    assert np.isnan(gap(y[in_p], decided[in_p], sensitive_features=group[in_p], notion="ppv", favorable=1))
    assert np.isnan(gap(y, decided, **given, strata=stratum, notion="conditional_ppv"))
    assert gap(y, decided, **given, strata=stratum, notion="mean_conditional_ppv") == pytest.approx(0.5)
    counts = np.array([[0.0, 0, 5, 5], [5, 5, 0, 0], [5, 5, 0, 0], [5, 5, 0, 0]])  # f and m in p, then in q
    for name, least in (("conditional_ppv", 1.0), ("mean_conditional_ppv", 0.5)):
        notion = replace(as_notion(name), blocks=(0, 0, 1, 1))
        front = Front((Point(Tally({"": counts.sum(axis=0)[None], "a": counts})),), ((notion, "a"),))
        assert front.gaps[0, 0] == pytest.approx(least)
        assert padded_gaps(front, 1.0)[0, 0] >= least


def test_a_stream_is_not_read_for_a_notion_within_strata():
    class Unread:
        def __iter__(self):
            raise AssertionError("rows were read")

    for notions in ("conditional_dp", {"sex": ["dp", "mean_conditional_tpr"]}):
        with pytest.raises(ValueError, match=r"within strata, and rows of a stream have none\. Use `fit`"):
            FairNetClassifier(**SMALL, notions=notions).fit_stream(Unread())


def test_the_command_line_speaks_of_its_own_options(table, tmp_path):
    asked = "train", table, "--target", "y", "--sensitive", "group", "--out", tmp_path / "run", "--notion"
    with pytest.raises(ValueError, match="conditional_dp compares groups within strata: name their column with `--st"):
        run_or_raise(*asked, "conditional_dp")
    with pytest.raises(ValueError, match="`--strata` must go with a notion that compares groups within strata"):
        run_or_raise(*asked, "dp", "--strata", "department")
    with pytest.raises(ValueError, match="`--strata` must be one of the features: found 'group'"):
        run_or_raise(*asked, "conditional_dp", "--strata", "group")
    audited = "audit", table, "--prediction", "y", "--sensitive", "group", "--notion", "conditional_dp"
    with pytest.raises(ValueError, match="name their column with `--strata`"):
        run_or_raise(*audited)
    folder = tmp_path / "parts"
    folder.mkdir()
    pd.read_csv(table).to_parquet(folder / "part.parquet")
    with pytest.raises(ValueError, match="Groups are compared within strata of data that fit in memory"):
        run_or_raise("train", folder, *asked[2:], "conditional_dp", "--strata", "department")


def test_a_choice_without_a_test_is_refused_before_training():
    choice = MostAccurateWithin(0.1, confidence=0.9)
    model = FairPlugInClassifier(notions="mean_conditional_dp", selection=choice, calibration_fraction=0.3)
    strata = np.where(np.arange(len(X)) % 2, "p", "q")
    with pytest.raises(ValueError, match="must be for the worst stratum: found mean_conditional_demographic_parity"):
        model.fit(X, Y, sensitive_features=GROUP, strata=strata)
    assert not hasattr(model, "search_")
