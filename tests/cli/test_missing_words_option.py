"""`--missing`: commands that train, judge and watch stop at a word such as NA; a check goes on with a note."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import ASKED, COLUMNS, applicants
from mamofair.cli import app
from mamofair.cli._labelled_rows import as_run_reads
from mamofair.cli._train_options import TrainOptions
from mamofair.tables import FileFormat

RUNNER = CliRunner()
AUDIT = ("--prediction", "decided", "--sensitive", "race", "--notion", "demographic_parity", "--limit", "0.1")


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """A table of which every person with race NA is refused, as CSV, Excel and Parquet."""
    folder, rng = tmp_path_factory.mktemp("coded"), np.random.default_rng(0)
    race = np.repeat(["W", "B", "NA"], 200)
    frame = pd.DataFrame({"race": race, "decided": np.where(race == "NA", 0, rng.integers(0, 2, 600))})
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_excel(folder / "a.xlsx", index=False)
    frame.to_parquet(folder / "a.parquet")
    (folder / "folder").mkdir()
    frame.to_parquet(folder / "folder" / "a.parquet")
    return folder


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.parquet", "folder"])
def test_a_group_that_is_coded_na_does_not_disappear_behind_a_gate(name, coded):
    table = str(coded / name)
    done = RUNNER.invoke(app, ["audit", table, *AUDIT, "--gate"])
    assert "'race' has 'NA' in 200 of 600 rows" in str(done.exception)
    codes, gaps = {}, {}
    for words in (["none"], ["NA"], []):
        more = [*(("--missing", words[0]) if words else ()), *(["--gate"] if words else []), "--json"]
        done = RUNNER.invoke(app, ["audit", table, *AUDIT, *more])
        codes[tuple(words)], gaps[tuple(words)] = done.exit_code, json.loads(done.stdout)["gaps"][0]["gap"]
        assert ("'NA' in 200 of 600 rows counts as a value" in done.stderr) is (not words)
    assert codes == {("none",): 3, ("NA",): 4, (): 0}
    assert gaps[()] == gaps["none",] > 0.4 > 0.1 > gaps["NA",]


def test_scores_may_be_written_as_they_were(coded, tmp_path):
    frame = pd.read_parquet(coded / "a.parquet").assign(score=np.linspace(0, 1, 600))
    frame.to_csv(tmp_path / "a.csv", index=False)
    columns = ["--prediction", "score", "--sensitive", "race", "--missing", "none"]
    done = RUNNER.invoke(app, ["audit", str(tmp_path / "a.csv"), *columns, "--threshold", "0.5", "--json"])
    assert json.loads(done.stdout)["rows"] == 600


@pytest.fixture(scope="module")
def nameless(tmp_path_factory):
    """Loans in which some have the gender NA, and ids with leading zeros."""
    folder = tmp_path_factory.mktemp("nameless")
    table = applicants(400, seed=3)
    table["gender"] = np.where(np.arange(400) % 5 == 0, "NA", table["gender"])
    table["case"] = [f"{place:04}" for place in range(400)]
    table.to_csv(folder / "loans.csv", index=False)
    new = table.assign(prediction=table["approved"], approved=np.where(np.arange(400) % 3, table["approved"], ""))
    new.to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def said(nameless):
    """A run that was trained with `--missing NA`."""
    run = nameless / "run"
    asked = [str(nameless / "loans.csv"), *ASKED, "--drop", "case", "--epochs", "2", "--missing", "NA"]
    done = RUNNER.invoke(app, ["train", *asked, "--out", str(run)])
    assert done.exit_code == 0, done.output
    return run


@pytest.mark.parametrize("command", ["train", "plan", "compare"])
def test_commands_that_compare_groups_stop_at_a_word(command, nameless, tmp_path):
    more = {"train": ("--out", str(tmp_path / "run")), "compare": ("--out", str(tmp_path / "out"))}.get(command, ())
    done = RUNNER.invoke(app, [command, str(nameless / "loans.csv"), *COLUMNS, *more])
    assert "'gender' has 'NA' in 80 of 400 rows" in str(done.exception)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_run_keeps_what_was_said_for_its_gates_and_watches(said, nameless, tmp_path):
    settings = json.loads((said / "run.json").read_text())
    assert settings["data"]["reading"] == {"roles": "text", "missing": ["NA"]}
    assert "--missing NA" in settings["command"]
    assert settings["data"]["groups"]["gender"].keys() == {"f", "m"}
    new = pd.read_csv(nameless / "new.csv", keep_default_na=False, dtype=str).drop(columns="prediction")
    new.to_csv(tmp_path / "new.csv", index=False)
    given = [
        str(said),
        str(tmp_path / "new.csv"),
        "--gate",
        "--within",
        "0.9",
        "--max-unknown",
        "0.3",
        "-o",
        str(tmp_path / "out.csv"),
        "--json",
    ]
    done = RUNNER.invoke(app, ["predict", *given])
    assert done.exit_code == 0, done.output
    given = [
        str(said),
        str(nameless / "new.csv"),
        "--state",
        str(tmp_path / "w.json"),
        "--limit",
        "0.5",
        "--id",
        "case",
    ]
    done = RUNNER.invoke(app, ["watch", *given, "--json"])
    assert json.loads(done.stdout)["rows"] == 400
    done = RUNNER.invoke(app, ["watch", *given, "--json", "--missing", "none", "--new"])
    assert "NA" in json.loads((tmp_path / "w.json").read_text())["groups"]["gender"]


def test_a_run_of_an_earlier_version_keeps_its_own_reading(said, nameless, tmp_path):
    folder = shutil.copytree(said, tmp_path / "run")
    settings = json.loads((folder / "run.json").read_text())
    del settings["data"]["reading"]
    assert as_run_reads(settings, FileFormat(sep=";")) == FileFormat(sep=";", reading="typed")
    with pytest.raises(ValueError, match="`--missing` needs a run that was trained by this version"):
        as_run_reads(settings, FileFormat(missing="NA"))
    (folder / "run.json").write_text(json.dumps(settings))
    given = [str(folder), str(nameless / "new.csv"), "--state", str(tmp_path / "w.json"), "--limit", "0.5"]
    done = RUNNER.invoke(app, ["watch", *given, "--json"])
    assert json.loads(done.stdout)["rows"] == 400  # NA is unknown, as it was in training
    assert json.loads((tmp_path / "w.json").read_text())["groups"]["gender"] == ["f", "m"]


def test_what_an_earlier_version_began_to_train_ends_as_it_began():
    begun = TrainOptions("loans.csv", missing=("NA",)).to_json()
    assert TrainOptions.from_json(begun) == TrainOptions("loans.csv", missing=("NA",))
    older = {name: value for name, value in begun.items() if name not in ("missing", "reading")}
    assert TrainOptions.from_json(older).file_format.reading == "typed"
    assert TrainOptions.from_json(older).reads is None
    assert "reading" not in TrainOptions.from_json(older).command("runs/a")


def test_ids_count_once_whether_they_are_digits_or_text(trained, tmp_path):
    ids = [str(10**19 + place) for place in range(200)]
    rng = np.random.default_rng(0)
    rows = {"gender": rng.choice(["f", "m"], 200), "prediction": rng.choice(["no", "yes"], 200)}
    pd.DataFrame(rows | {"case": ids}).to_csv(tmp_path / "digits.csv", index=False)
    pd.DataFrame(rows | {"case": ids}).to_parquet(tmp_path / "text.parquet")
    pd.DataFrame({"case": [*ids, "a-1"], "approved": "yes"}).to_csv(tmp_path / "labels.csv", index=False)
    given = ["--state", str(tmp_path / "w.json"), "--limit", "0.5", "--id", "case", "--json"]
    counts = []
    for name in ("digits.csv", "text.parquet", "labels.csv"):
        counts.append(json.loads(RUNNER.invoke(app, ["watch", str(trained), str(tmp_path / name), *given]).stdout))
    assert [one["rows"] for one in counts] == [200, 200, 200]
    assert [one["duplicates"] for one in counts] == [0, 200, 200]
    assert counts[-1]["labelled"] == 200


def test_people_with_codes_stay_apart_in_an_audit_by_units(tmp_path):
    frame = pd.DataFrame({"who": ["1", "01", "1.0", "2024.1", "2024.10"] * 20, "x": list("fm") * 50})
    frame.assign(decided=[0, 1, 1, 0] * 25).to_csv(tmp_path / "a.csv", index=False)
    columns = ["--prediction", "decided", "--sensitive", "x", "--unit", "who", "--json"]
    done = RUNNER.invoke(app, ["audit", str(tmp_path / "a.csv"), *columns])
    assert json.loads(done.stdout)["units"] == 5


def test_the_built_in_data_sets_have_no_such_words(tmp_path):
    done = RUNNER.invoke(app, ["train", "toy", "--missing", "NA", "--out", str(tmp_path / "run")])
    assert "`--missing` is for tables of your own: toy has no such words" in str(done.exception)


def test_a_word_among_strata_is_asked_about(coded, tmp_path):
    frame = pd.read_parquet(coded / "a.parquet").assign(sex=list("fm") * 300)
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = ["--prediction", "decided", "--sensitive", "sex", "--notion", "conditional_dp", "--strata", "race"]
    done = RUNNER.invoke(app, ["audit", str(tmp_path / "a.csv"), *asked, "--gate"])
    assert "'race' has 'NA'" in str(done.exception)
    done = RUNNER.invoke(app, ["train", str(tmp_path / "a.csv"), "--target", "decided", *asked[2:], "--out", "a"])
    assert "'race' has 'NA'" in str(done.exception)
