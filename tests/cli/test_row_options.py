"""Weights, units and splits on the command line: `--weight`, `--test`, `--time` and `--unit`."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from loan_table import applicants
from mamofair._rows.groups import read_groups
from mamofair.cli import app
from mamofair.cli._data import read_data
from mamofair.cli._row_options import read_times, read_weights, require_ordered_times
from mamofair.cli._splits import split_at_time, strata_of
from mamofair.cli._table_split import TableSplit
from mamofair.cli._test_rows import find_test_rows, print_split
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter
from mamofair.metrics import gap, gap_verdicts, summarize_scores
from mamofair.notions import as_notion
from mamofair.runs import load_run
from mamofair.tables import FileFormat, open_source

COLUMNS = ("--target", "approved", "--favorable", "yes", "--sensitive", "gender")
ASKED = (*COLUMNS, "--drop", "race", "--no-limit", "--model", "net", "--epochs", 1)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("rows"), np.random.default_rng(0)
    people = applicants(600)
    people["person"] = rng.integers(0, 200, 600)
    people["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, 600), unit="D")
    people["weight"] = rng.integers(0, 4, 600)
    people["one"] = 1
    people.to_csv(folder / "loans.csv", index=False)
    people.to_csv(folder / "copy.csv", index=False)
    applicants(200, seed=1).assign(person=np.arange(200) // 2 + 150, weight=2.5).to_csv(
        folder / "later.csv", index=False
    )
    return folder


def options(folder: Path, **more: Any) -> TrainOptions:
    drop = ("race", *(column for column in ("person", "day", "weight", "one") if column not in more.values()))
    return TrainOptions(str(folder / "loans.csv"), "approved", "yes", ("gender",), drop, **more)


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 12), min_size=10, max_size=80).filter(lambda times: len(set(times)) > 1),
    st.floats(0.1, 0.9),
)
def test_a_split_by_time_is_a_cut_as_near_to_the_fraction_as_can_be(times: list[int], fraction: float) -> None:
    column = pd.Series(times)
    past, last, begin = split_at_time(column, fraction)
    assert sorted([*past, *last]) == list(range(len(times)))
    assert column[past].max() < column[last].min() == begin
    sizes = [sum(time >= moment for time in times) for moment in sorted(set(times))[1:]]
    assert abs(len(last) - round(fraction * len(times))) == min(abs(s - round(fraction * len(times))) for s in sizes)


@pytest.mark.parametrize(
    "column",
    [
        ["2024-01-31", "2023-02-01", "2024-01-01"],
        ["2024-01-31T10:00", "2023-02-01 08:00:00", "2024-01-01"],
        [20240131, 20230201, 20240101],
        pd.to_datetime(["2024-01-31", "2023-02-01", "2024-01-01"]).date,
        pd.to_datetime(["2024-01-31", "2023-02-01", "2024-01-01"], utc=True),
    ],
    ids=["text", "times of day", "numbers", "dates", "time zones"],
)
def test_times_are_read_in_their_order(column: Any) -> None:
    assert read_times(pd.Series(column)).argsort().tolist() == [1, 2, 0]


@pytest.mark.parametrize("seed", range(5))
def test_no_person_is_learned_from_and_tested_on(folder: Path, seed: int) -> None:
    asked = options(folder, unit="person", seed=seed)
    split = TableSplit.of(asked, read_data(asked))
    people = pd.read_csv(folder / "loans.csv")["person"]
    learned, tested = set(people[split.train.X.index]), set(people[split.test.X.index])
    assert not learned & tested
    assert split.split["units"] == {"column": "person", "learn": len(learned), "test": len(tested), "both": 0}
    assert sum(split.sizes) == 600
    assert split.sizes[1] == pytest.approx(150, abs=10)
    assert not {"person", "approved", "gender"} & set(split.train.X)


@pytest.fixture(scope="module")
def printed(folder: Path) -> dict[str, str]:
    """What two trainings printed, whose runs are in folders of the same names."""
    by_unit = (*_drop("day", "weight", "one"), "--unit", "person", "--out", folder / "unit")
    by_time = (*_drop("person", "weight", "one"), "--time", "day", "--out", folder / "time")
    trainings = {"unit": by_unit, "time": by_time}
    return {name: run("train", folder / "loans.csv", *ASKED, *more) for name, more in trainings.items()}


def test_training_by_unit_counts_persons_in_intervals(folder: Path, printed: dict[str, str]) -> None:
    loaded = load_run(folder / "unit")
    split = loaded.settings["data"]["split"]
    assert split["kind"] == "unit"
    assert f"Intervals count the {split['units']['test']} different values of `person`, not rows." in printed["unit"]
    for tally in loaded.test:
        assert tally.squares is not None
        assert tally.overall.sum() ** 2 / tally.squares[""].sum() <= split["units"]["test"]  # Kish's effective number
    assert all(point.valid.squares is not None for point in loaded.estimator.front_)


def test_training_on_the_past_says_when_the_test_rows_begin(folder: Path, printed: dict[str, str]) -> None:
    data, days = load_run(folder / "time").settings["data"], pd.read_csv(folder / "loans.csv")["day"]
    assert data["split"] == {"kind": "time", "column": "day", "from": data["split"]["from"]}
    assert data["parts"]["test"] == (days >= data["split"]["from"]).sum()
    assert f"whose `day` is {data['split']['from']} or later." in " ".join(printed["time"].split())


@pytest.mark.parametrize("kind", ["unit", "time"])
def test_alternatives_use_only_the_test_rows_of_the_file_of_the_training(
    folder: Path, printed: dict[str, str], kind: str
) -> None:
    saved, table = load_run(folder / kind).settings, folder / "loans.csv"
    asked = options(folder, **{kind: {"unit": "person", "time": "day"}[kind]})
    split = TableSplit.of(asked, read_data(asked))
    data = read_data(asked)
    strata = strata_of(data.positive, data.sensitive)
    np.testing.assert_array_equal(find_test_rows(saved, table, strata, FileFormat()), split.test.X.index)
    arguments = ("--incumbent", table, "--decision", "owner")
    done = CliRunner().invoke(app, ["alternatives", str(folder / kind), *map(str, arguments)])
    assert f"only its {saved['data']['parts']['test']} test rows are used" in " ".join(done.output.split())


def test_persons_of_the_last_part_are_not_learned_from(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked, people = options(folder, unit="person", time="day"), pd.read_csv(folder / "loans.csv")
    split = TableSplit.of(asked, read_data(asked))
    is_last = people["day"] >= split.split["from"]
    tested = set(people["person"][is_last])
    left_out = people[~is_last & people["person"].isin(tested)]
    assert set(split.test.X.index) == set(people.index[is_last])
    assert set(split.train.X.index) == set(people.index[~is_last]) - set(left_out.index)
    assert split.split["left_out"] == {"units": left_out["person"].nunique(), "rows": len(left_out)}
    assert split.split["units"]["both"] == 0
    print_split(split.split, split.sizes)
    printed = capsys.readouterr().err
    assert f"Test rows are the {is_last.sum()} of 600 whose `day`" in printed
    assert f"their {len(left_out)} earlier rows are left out" in printed


def test_a_split_by_time_must_leave_persons_to_learn_from(tmp_path: Path) -> None:
    people = applicants(60).assign(person=np.arange(60) % 10, day=np.arange(60) // 10, weight=1, one=1)
    people.to_csv(tmp_path / "loans.csv", index=False)
    asked = options(tmp_path, unit="person", time="day")
    with pytest.raises(ValueError, match="`--time` with `--unit` must leave rows to learn from"):
        TableSplit.of(asked, read_data(asked))


def test_rows_in_both_tables_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learned, later = (pd.read_csv(folder / name) for name in ("loans.csv", "later.csv"))
    mixed = pd.concat([learned.iloc[5:12], later], ignore_index=True)[later.columns[::-1]]
    mixed.to_csv(folder / "mixed.csv", index=False)
    counts = {}
    for name in ("later.csv", "mixed.csv"):
        asked = options(folder, test=str(folder / name))
        split = TableSplit.of(asked, read_data(asked))
        counts[name] = split.split["repeated"]
        print_split(split.split, split.sizes)
    assert counts == {"later.csv": 0, "mixed.csv": 7}
    printed = capsys.readouterr().err
    assert "7 of the 207 rows of mixed.csv are also training rows" in printed
    assert "rows of later.csv are also training rows" not in printed


def test_a_gate_of_predictions_counts_weights_and_persons_as_training_did(
    folder: Path, fails: Callable[..., str], tmp_path: Path
) -> None:
    out, drop = tmp_path / "run", _drop("day", "one")
    run("train", folder / "loans.csv", *ASKED, *drop, "--unit", "person", "--weight", "weight", "--out", out)
    new = applicants(400, seed=3).assign(person=np.arange(400) // 2, weight=np.arange(400) % 3)
    new.to_csv(tmp_path / "new.csv", index=False)
    asked = ["predict", out, tmp_path / "new.csv", "--within", "1", "--gate", "-o", tmp_path / "decided.csv"]
    printed = CliRunner().invoke(app, [*map(str, asked), "--json"])
    assert printed.exit_code == 0, printed.output
    [judged] = json.loads(printed.stdout)["gate"]["gaps"]
    decided = pd.read_csv(tmp_path / "decided.csv")
    is_favorable = decided["prediction"] == "yes"
    rates = {
        group: np.average(is_favorable[rows.index], weights=rows["weight"]) for group, rows in decided.groupby("gender")
    }
    assert judged["gap"] == pytest.approx(max(rates.values()) - min(rates.values()))
    people = read_groups(decided[["gender"]], whole=False)
    labels, units = (decided["approved"] == "yes").to_numpy(), decided["person"].to_numpy()
    [tally] = Counter.of(labels, people, decided["weight"].to_numpy(float), units=units)(is_favorable.to_numpy()[None])
    limits = {judged["name"]: 1.0}
    _, [expected] = gap_verdicts(tally, [(as_notion("demographic_parity"), "gender")], limits, 0.95)
    assert (judged["low"], judged["high"]) == pytest.approx((expected.low, expected.high))
    new.drop(columns="person").to_csv(tmp_path / "new.csv", index=False)
    assert "`--gate` needs the column 'person', which the run was trained with as `--unit`" in fails(*asked)


def test_another_table_can_be_the_test(folder: Path) -> None:
    out = folder / "file"
    drop = _drop("day", "one")
    asked = (*ASKED, *drop, "--test", folder / "later.csv", "--unit", "person", "--weight", "weight")
    run("train", folder / "loans.csv", *asked, "--out", out)
    loaded = load_run(out)
    data, later = loaded.settings["data"], pd.read_csv(folder / "later.csv")
    assert (data["split"]["kind"], data["split"]["file"]) == ("file", "later.csv")
    assert (
        data["split"]["units"]["both"] == len({*later["person"]} & {*pd.read_csv(folder / "loans.csv")["person"]}) > 0
    )
    assert (data["rows"], data["parts"]["test"]) == (800, 200)
    assert sum(group["rows"] for group in data["groups"]["gender"].values()) == 800
    run("predict", out, folder / "later.csv", "-o", folder / "decided.csv")
    decided = pd.read_csv(folder / "decided.csv")
    tally = loaded.test[loaded.estimator.selected_]
    assert tally.overall.sum() == 500  # 200 rows of weight 2.5
    assert tally.error == pytest.approx((decided["approved"] != decided["prediction"]).mean())
    [notion] = loaded.estimator.notions_["gender"]
    assert tally.gap(notion, "gender") == pytest.approx(
        gap(
            decided["approved"],
            decided["prediction"],
            sensitive_features=decided["gender"],
            notion=notion,
            favorable="yes",
        )
    )
    with pytest.raises(ValueError, match=r"Rows must be new to the models: .* such as those of later.csv"):
        run_alternatives(out, folder / "loans.csv")


def run_alternatives(out: Path, table: Path) -> None:
    done = CliRunner().invoke(app, ["alternatives", str(out), "--incumbent", str(table), "--decision", "owner"])
    assert done.exception is not None
    raise done.exception


def test_weights_of_one_are_no_weights_bit_for_bit(folder: Path) -> None:
    runs = {}
    for name, more in {"plain": _drop("one"), "ones": ("--weight", "one")}.items():
        out = folder / name
        run("train", folder / "loans.csv", *ASKED, *_drop("person", "day", "weight"), *more, "--out", out)
        runs[name] = load_run(out)
    assert (folder / "plain" / "front.csv").read_bytes() == (folder / "ones" / "front.csv").read_bytes()
    for one, other in zip(runs["plain"].test, runs["ones"].test, strict=True):
        assert one.squares is other.squares is None
        assert all(np.array_equal(one.counts[name], other.counts[name]) for name in one.counts)


def test_weights_reach_training_and_the_test(folder: Path) -> None:
    asked = options(folder, weight="weight")
    data = read_data(asked)
    expected = pd.read_csv(folder / "loans.csv")["weight"].to_numpy()
    np.testing.assert_array_equal(data.weight, expected)
    assert "weight" not in data.X
    out = folder / "weighted"
    run("train", folder / "loans.csv", *ASKED, *_drop("person", "day", "one"), "--weight", "weight", "--out", out)
    loaded, split = load_run(out), TableSplit.of(asked, data)
    assert split.test.weight is not None
    decided = loaded.estimator.predict(split.test.X)
    tally = loaded.test[loaded.estimator.selected_]
    assert tally.error == pytest.approx(np.average(decided != split.test.decode_labels(), weights=split.test.weight))
    assert loaded.settings["data"]["weight"] == "weight"
    assert sum(group["rows"] for group in loaded.settings["data"]["groups"]["gender"].values()) == 600  # not weights
    assert len(loaded.scores) == len(loaded.test)


class Decided(FairClassifier):
    """A classifier with given decisions on test rows, the same at each point."""

    notions = "demographic_parity"
    decisions: np.ndarray

    def new_learner(self) -> Any:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        return self.decisions

    def at(self, row: Any) -> "Decided":
        return self


def test_intersections_count_weights_and_units(folder: Path) -> None:
    asked = replace(options(folder, weight="weight", unit="person"), sensitive=("gender", "race"), drop=("day", "one"))
    data = read_data(asked)
    split = TableSplit.of(asked, data)
    test, rng = split.test, np.random.default_rng(0)
    assert test.weight is not None
    assert test.units is not None
    decided = rng.random(len(test)) < 0.5
    model = Decided()
    model.decisions = np.where(decided, "yes", "no")
    counted = split.count_intersections(model)
    assert counted is not None
    unit_weight = np.bincount(test.units, test.weight)[test.units]
    cells = [decided & test.positive, decided & ~test.positive, ~decided & test.positive, ~decided & ~test.positive]
    names = test.sensitive["gender"].astype(str) + test.sensitive["race"].astype(str)
    for key, weight in {"chosen": test.weight, "squares": test.weight * unit_weight}.items():
        table = counted["chosen"] if key == "chosen" else counted["squares"]["chosen"]
        expected = [[weight[(names == name) & cell].sum() for cell in cells] for name in names.unique()]
        np.testing.assert_allclose(sorted(table), sorted(expected))


def test_whole_weights_count_as_repeated_rows(rng: np.random.Generator) -> None:
    logits, positive, weight = rng.normal(size=200), rng.random(200) < 0.4, rng.integers(0, 4, 200)
    people = read_groups(rng.choice(["f", "m"], 200), rows=200)
    again = np.repeat(np.arange(200), weight)
    weighted = summarize_scores(logits, positive, people, weight.astype(float))
    repeated = summarize_scores(logits[again], positive[again], people[again])
    for name in weighted.counts:
        np.testing.assert_array_equal(weighted.counts[name], repeated.counts[name])
        np.testing.assert_allclose(weighted.auc[name][:, 0], repeated.auc[name][:, 0])
        np.testing.assert_allclose(weighted.difference[name][:, 0], repeated.difference[name][:, 0])


def test_an_audit_with_whole_weights_is_that_of_repeated_rows(folder: Path) -> None:
    people = pd.read_csv(folder / "loans.csv").assign(decided=lambda frame: np.where(frame["age"] > 40, "yes", "no"))
    people.to_csv(folder / "audited.csv", index=False)
    people.loc[people.index.repeat(people["weight"])].to_csv(folder / "repeated.csv", index=False)
    asked = (*COLUMNS, "--prediction", "decided", "--json")
    weighted = json.loads(run("audit", folder / "audited.csv", *asked, "--weight", "weight"))
    repeated = json.loads(run("audit", folder / "repeated.csv", *asked))
    ones = json.loads(run("audit", folder / "audited.csv", *asked, "--weight", "one"))
    plain = json.loads(run("audit", folder / "audited.csv", *asked))
    assert weighted["error"] == pytest.approx(repeated["error"])
    for one, other in zip(weighted["gaps"], repeated["gaps"], strict=True):
        assert one["gap"] == pytest.approx(other["gap"])
        assert one["high"] >= other["high"] - 1e-9  # repeated rows are no more people
    assert ones == plain


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan], "weight in 'w' must be known in every row: found 1 of 2 rows without one"),
        ([1.0, -2.0], "weights in 'w' must be 0 or more: found -2"),
        (["a", "b"], "weights in 'w' must be numbers: found 'a'"),
        ([0.0, 0.0], "`sample_weight` must be finite, non-negative and not all zero"),
    ],
)
def test_weights_that_cannot_be_weights_are_refused(weights: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_weights(pd.Series(weights, name="w"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--weight", "weigth"), "There is no column 'weigth' in loans.csv. Did you mean 'weight'"),
        (("--weight", "gender"), "`--weight` must name a column of its own: 'gender' is sensitive."),
        (("--unit", "approved"), "`--unit` must name a column of its own: 'approved' is the target."),
        (("--unit", "person", "--weight", "person"), "must name different columns"),
        (("--time", "job"), "The time in 'job' must be known in every row"),
        (("--time", "owner"), "must be numbers, or dates that can be read in one way"),
        (("--time", "one"), "`--time` must have at least two different values: found only 1"),
        (("--time", "day", "--test", "later.csv"), "Give either `--test` or `--time`, not both"),
        (("--test", "later.csv", "--test-fraction", "0.3"), "`--test-fraction` has no effect with `--test`"),
        (("--test", "nowhere.csv"), "No file is called 'nowhere.csv': check `--test`."),
        (("--test", "loans.csv"), "`--test` must not be the training file: found the same."),
        (("--test", "copy.csv"), "`--test` must not be the training file: found a copy."),
        (("--test", "later.csv", "--unit", "day"), "There is no column 'day' in later.csv"),
        (("--unit", "person", "--arbitrariness"), "`--arbitrariness` cannot be measured with `--unit`"),
        (("--weight", "weight", "--arbitrariness"), "`--arbitrariness` cannot be measured with `--weight`"),
        (
            ("--unit", "person", "--within", "0.1", "--confidence", "0.9", "--calibration-fraction", "0.2"),
            "`--confidence` assumes independent rows of equal weight, but with `--unit` rows of one",
        ),
        (
            ("--weight", "weight", "--within", "0.1", "--confidence", "0.9", "--calibration-fraction", "0.2"),
            "but with `--weight` rows have different weights",
        ),
        (("--memory", "1GB", "--unit", "person"), "`--unit` needs data that fit in memory"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    folder: Path, fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    assert message in " ".join(
        fails("train", "loans.csv", *COLUMNS, "--drop", "day", *more, "--out", "refused").split()
    )
    assert not (folder / "refused" / "run.json").exists()


def test_a_bundled_data_set_can_be_divided_too(tmp_path: Path) -> None:
    asked = TrainOptions("adult", sensitive=("sex",), time="age")
    split = TableSplit.of(asked, read_data(asked))
    assert split.split["kind"] == "time"
    assert "age" not in split.train.X
    with pytest.raises(ValueError, match="There is no column 'person' in adult"):
        read_data(TrainOptions("adult", sensitive=("sex",), unit="person"))


def _drop(*columns: str) -> list[str]:
    return [word for column in columns for word in ("--drop", column)]


def test_months_that_look_like_numbers_are_refused_where_their_order_would_be_lost(tmp_path):
    path = tmp_path / "a.csv"
    for times, is_fine in ((["2024.9", "2024.10"], False), (["2024.09", "2024.10"], True), (["1.0", "2.25"], True)):
        pd.DataFrame({"day": times * 3}).to_csv(path, index=False)
        with nullcontext() if is_fine else pytest.raises(ValueError, match=r"found '2024\.10', which as a number"):
            require_ordered_times(open_source(path), "day")
