"""`mamofair watch`: the answer so far as an exit code, kept in a file, with other points where a limit is exceeded."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from loan_table import applicants
from mamofair.cli import _watch, app
from mamofair.cli._labelled_rows import list_left_out
from mamofair.monitor import Monitor, load_monitor, save_monitor

RUNNER = CliRunner()
COLUMNS = ("--id", "case", "--time", "day")


def run(*arguments, code):
    done = RUNNER.invoke(app, ["watch", *map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Decisions of January, which are fair, of February, where women are refused, and all labels."""
    folder, rng = tmp_path_factory.mktemp("decisions"), np.random.default_rng(0)
    table = applicants(8000, seed=50)
    day = np.sort(rng.integers(0, 59, len(table)))
    rate = np.where((table["gender"] == "f") & (day >= 31), 0.05, 0.45)
    table["prediction"] = np.where(rng.random(len(table)) < rate, "yes", "no")
    table["day"] = (pd.Timestamp("2026-01-01") + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d")
    table["case"] = np.arange(len(table)) + 2**60  # which floats cannot tell apart
    decided = table.drop(columns="approved")
    decided[day < 31].to_csv(folder / "january.csv", index=False)
    # Each person comes with four rows, and again in the next file.
    persons = decided[day < 31].head(500).assign(person=lambda rows: "p" + rows["case"].astype(str))
    pd.concat([persons] * 4).to_csv(folder / "persons.csv", index=False)
    decided[day >= 31].to_parquet(folder / "february.parquet")
    decided[day >= 31].drop(columns="income").to_csv(folder / "narrow.csv", index=False)
    table[["case", "approved"]].to_csv(folder / "labels.csv", index=False)
    table.loc[day < 31].to_csv(folder / "again.csv", index=False)
    return folder


def test_a_watch_goes_on_from_file_to_file(trained, tables, tmp_path):
    state, page, metrics = (tmp_path / name for name in ("watch.json", "watch.html", "watch.prom"))
    given = ("--state", state)
    said = run(trained, *given, "--limit", 0.15, *COLUMNS, code=4)
    assert "0 decisions so far" in said
    assert "not yet known, since no two groups have rows to compare" in said
    said = run(trained, tables / "january.csv", *given, code=0)
    assert "demographic_parity[gender]: within so far" in said
    rows = load_monitor(state)[0].rows
    assert run(trained, *given, code=0) == said
    told = json.loads(run(trained, tables / "again.csv", *given, "--json", code=0))
    assert (told["rows"], told["labelled"], told["new_rows"], told["duplicates"]) == (rows, rows, 0, 0)
    told = json.loads(
        run(trained, tables / "february.parquet", *given, "--json", "--html", page, "--prometheus", metrics, code=3)
    )
    [gap] = told["gaps"]
    [pair] = gap["pairs"]
    assert (told["status"], told["outcome"], told["exit_code"]) == ("exceeded", "exceeds", 3)
    assert pair["groups"] == ["m", "f"]
    assert "2026-01-30" < pair["since"]["text"] < "2026-02-03"
    assert told["labelled"] == rows
    families = {family.name for family in text_string_to_metric_families(metrics.read_text())}
    assert "mamofair_watch_gap" in families
    assert gap["name"] in page.read_text()
    told = json.loads(run(trained, tables / "labels.csv", *given, "--json", "--no-gate", code=0))
    assert (told["rows"], told["labelled"], told["strays"]) == (8000, 8000, rows)


def test_where_a_limit_is_exceeded_other_points_are_named_with_the_command(trained, tables, tmp_path):
    for table, judged in (("february.parquet", "new rows of february"), ("narrow.csv", "counts on validation rows")):
        state = tmp_path / f"{table}.json"
        given = (trained, tables / table, "--state", state, "--limit", 0.3, *COLUMNS)
        told = json.loads(run(*given, "--json", code=3))
        assert judged in told["switch"][0]
        assert told["others"]["points"]
        for other in told["others"]["points"]:
            assert other["row"] != told["point"]
            assert max(other["gaps"].values()) <= 0.3
            assert set(other["measured_on"].values()) == {"new" if "new" in judged else "validation"}
        said = run(trained, "--state", state, code=3)
        assert judged in said  # as it was said when there were rows to judge by
        assert f"To switch, without training: mamofair predict {trained} new.csv --point " in said


def test_the_command_that_is_named_switches(trained, tables, tmp_path):
    shutil.copy(tables / "narrow.csv", tmp_path / "narrow.csv")
    given = (trained, tables / "february.parquet", "--state", tmp_path / "w.json", "--limit", 0.3, *COLUMNS, "--json")
    command = json.loads(run(*given, code=3))["switch"][-1].split(": ")[1].split()
    applicants(50, seed=9).to_csv(tmp_path / "new.csv", index=False)
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in command[1:]]
    done = RUNNER.invoke(app, words)
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "decided.csv")) == 50


def test_what_a_watch_began_with_is_kept(trained, tables, tmp_path, fails):
    state = tmp_path / "watch.json"
    assert "`--state` is missing" in fails("watch", trained)
    assert "`--limit` is missing" in fails("watch", trained, "--state", state)
    run(trained, tables / "january.csv", "--state", state, "--limit", 0.15, *COLUMNS, code=0)
    assert "`--limit` was 0.15 when the watch began: found 0.2" in fails(
        "watch", trained, "--state", state, "--limit", 0.2
    )
    assert "`--id` was case when the watch began" in fails("watch", trained, "--state", state, "--id", "job")
    told = json.loads(run(trained, "--state", state, "--limit", 0.2, "--new", "--json", code=4))
    assert (told["watch"], told["rows"], told["limit"]) == (2, 0, 0.2)


def test_persons_with_several_rows_are_tested_once(trained, tables, tmp_path, fails):
    given = ("--state", tmp_path / "watch.json")
    for _ in range(2):
        told = json.loads(
            run(
                trained,
                tables / "persons.csv",
                *given,
                "--limit",
                0.4,
                "--unit",
                "person",
                "--json",
                "--no-gate",
                code=0,
            )
        )
    assert (told["rows"], told["units"]) == (4000, 500)
    assert any("3,500 other decisions are counted and shown" in sentence for sentence in told["sentences"])
    assert "`--unit` was person when the watch began: found job" in fails("watch", trained, *given, "--unit", "job")
    assert "`--all-groups` was not given when the watch began" in fails("watch", trained, *given, "--all-groups")
    state = ("--state", tmp_path / "other.json", "--limit", 0.4)
    pd.read_csv(tables / "persons.csv").assign(person=None).to_csv(tmp_path / "nobody.csv", index=False)
    said = fails("watch", trained, tmp_path / "nobody.csv", *state, "--unit", "person")
    assert "must be known in every row: found 2,000 of 2,000 rows without one" in said
    said = fails("watch", trained, tables / "persons.csv", *state, "--unit", "person", "--id", "person")
    assert "`--id` names decisions, and `--unit` whom they are about: found 'person' for both" in said


def test_ids_that_repeat_are_pointed_out_unless_there_are_units(trained, tables, tmp_path):
    given = (trained, tables / "persons.csv", "--limit", 0.4, "--no-gate")
    for state, unit, expected in (("a", (), True), ("b", ("--unit", "person"), False)):
        done = RUNNER.invoke(app, ["watch", *map(str, given), "--id", "case", *unit, "--state", str(tmp_path / state)])
        assert done.exit_code == 0, done.output
        assert ("1,500 of 2,000 rows repeat an id of the same table" in done.stderr) is expected
        assert ("If an id names a person and not a decision" in done.stdout) is expected


@pytest.mark.parametrize(("given", "expected"), [({}, True), ({"unit": "person"}, False)])
def test_a_watch_without_units_of_a_run_that_has_some_says_so(given, expected, capsys):
    run = SimpleNamespace(settings={"command": "mamofair train loans.csv --target approved --unit person --out runs/x"})
    _watch._note_units_of_training(run, given)
    assert ("begin it with `--unit person`, unless each person comes only once" in capsys.readouterr().err) is expected


def test_an_old_run_that_does_not_list_its_groups_still_tells_who_was_left_out():
    estimator = SimpleNamespace(small_groups_={"race": {"d": 3}})
    run = SimpleNamespace(settings={"data": {}}, estimator=estimator, groups={"race": ("a", "b")})
    assert list_left_out(run) == {"race": ("d",)}


def test_a_state_that_python_has_saved_is_refused_in_a_sentence(trained, tmp_path, fails):
    save_monitor(Monitor.of(0.1, attributes=["gender"]), tmp_path / "watch.json")
    assert "must have been written by `mamofair watch`" in fails("watch", trained, "--state", tmp_path / "watch.json")


def test_tables_that_cannot_be_watched_are_refused(trained, tables, loans, tmp_path, fails):
    given = ("--state", tmp_path / "watch.json", "--limit", 0.1)
    assert "is the table that the run was trained with" in fails("watch", trained, loans, *given)
    assert "prediction" in fails("watch", trained, tables / "labels.csv", *given)
    odd = pd.read_csv(tables / "january.csv").assign(prediction="maybe")
    odd.to_csv(tmp_path / "odd.csv", index=False)
    assert "must have the labels ['no', 'yes']: found 'maybe'" in fails("watch", trained, tmp_path / "odd.csv", *given)
    assert not (tmp_path / "watch.json").exists()
