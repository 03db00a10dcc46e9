"""`mamofair compare`: every method on the same splits, measured on test rows."""

import json
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import COLUMNS, applicants
from mamofair import FairNetClassifier
from mamofair.cli import app
from mamofair.cli._comparison import Comparison, sample_rows
from mamofair.cli._data import read_data
from mamofair.cli._splits import split_at_random, strata_of
from mamofair.cli._train_options import TrainOptions
from mamofair.learners.plugin.table_models import Trees
from mamofair.metrics import gap
from mamofair.tables import encoder
from terminal import on_terminal


def compare(*arguments):
    done = CliRunner().invoke(app, ["compare", *map(str, arguments), "--quick"])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def found(loans, tmp_path_factory):
    """One of ours and two peers, on two splits: the JSON document and the folder."""
    out = tmp_path_factory.mktemp("comparison") / "new"
    chosen = ("--model", "net", "--peer", "TO", "--peer", "unconstrained")
    return json.loads(compare(loans, *COLUMNS, *chosen, "--runs", 2, "--seed", 5, "--out", out, "--json").stdout), out


def test_every_method_is_on_every_split_and_who_is_told_is_marked(found):
    document, _ = found
    assert {row["method"]: row["told"] for row in document["methods"]} == {
        "net": False,
        "TO": True,
        "unconstrained": False,
    }
    assert sorted((record["method"], record["seed"]) for record in document["records"]) == sorted(
        (name, seed) for name in ("net", "TO", "unconstrained") for seed in (5, 6)
    )
    assert not document["left_out"]


def test_rows_without_a_group_are_left_out_for_everyone_so_that_no_peer_is_skipped(tmp_path):
    table = applicants(600)
    table.loc[table.index[:46], "gender"] = None
    for name, rows in (("some", table), ("known", table[46:])):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    arguments = (*COLUMNS, "--model", "net", "--peer", "TO", "--runs", 1, "--json")
    done = compare(tmp_path / "some.csv", *arguments, "--out", tmp_path / "a")
    assert "Left out 46 of 600 rows for all methods, because a group is unknown ('gender' of 46)" in done.stderr
    some, known = (
        json.loads(compare(tmp_path / f"{name}.csv", *arguments, "--out", tmp_path / name).stdout)
        for name in ("some", "known")
    )
    assert not some["left_out"]
    for one, other in zip(some["records"], known["records"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_means_and_deviations_are_over_splits(found):
    document, _ = found
    for row in document["methods"]:
        own = [record for record in document["records"] if record["method"] == row["method"]]
        for name in ("error", "gap", "hypervolume", "seconds"):
            values = [record[name] for record in own]
            assert row[name] == pytest.approx(np.mean(values))
            assert row[f"{name}_std"] == pytest.approx(np.std(values, ddof=1))


def test_a_record_is_what_the_chosen_model_does_to_test_rows(found, loans):
    document, _ = found
    data = read_data(TrainOptions(str(loans), "approved", "yes", ("gender",)))
    rest, test = split_at_random(strata_of(data.positive, data.sensitive), 0.25, 6)
    y = data.decode_labels()
    encode = encoder().fit(data.X.iloc[rest])
    model = FairNetClassifier(epochs=10, favorable="yes", random_state=6)
    model.fit(encode.transform(data.X.iloc[rest]), y[rest], sensitive_features=data.sensitive.iloc[rest])
    made = model.predict(encode.transform(data.X.iloc[test]))
    [record] = [one for one in document["records"] if (one["method"], one["seed"]) == ("net", 6)]
    assert record["error"] == pytest.approx((made != y[test]).mean())
    options = {"sensitive_features": data.sensitive.iloc[test], "notion": "dp", "favorable": "yes"}
    assert record["gap"] == pytest.approx(gap(y[test], made, **options))
    assert record["points"] == len(model.front_)


def test_deciding_all_alike_is_the_reference_of_the_hypervolume(found):
    document, _ = found
    share = applicants(600)["approved"].eq("yes").mean()
    assert document["reference"] == {"error": pytest.approx(min(share, 1 - share)), "gap": 0.25}
    assert all(0 <= record["hypervolume"] < 1 for record in document["records"])


def test_the_folder_has_a_picture_and_every_record(found):
    document, out = found
    assert document["files"] == [str(out / f"comparison.{kind}") for kind in ("csv", "png", "svg")]
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    written = pd.read_csv(out / "comparison.csv")
    assert written["error"].tolist() == pytest.approx([record["error"] for record in document["records"]])
    assert "demographic_parity[gender]" in written


def test_an_earlier_comparison_is_kept(found, loans, fails):
    assert "--force" in fails("compare", loans, *COLUMNS, "--out", found[1])


def test_auto_gets_the_table_as_the_plug_in_does_and_both_are_fitted_on_one_thread(tmp_path, monkeypatch):
    applicants(300).to_csv(tmp_path / "loans.csv", index=False)
    threads, fit = set(), Trees.fit

    def watch(*arguments):
        threads.add(threading.get_ident())
        return fit(*arguments)

    monkeypatch.setattr(Trees, "fit", watch)
    asked = ("--model", "auto", "--model", "plugin", "--peer", "none", "--runs", 1, "--out", tmp_path / "new")
    auto, plugin = json.loads(compare(tmp_path / "loans.csv", *COLUMNS, *asked, "--json").stdout)["records"]
    assert [auto.pop("method"), plugin.pop("method")] == ["auto", "plugin"]
    assert {**auto, "seconds": 0} == {**plugin, "seconds": 0}
    assert auto["error"] < 0.35
    assert threads == {threading.get_ident()}


def test_plain_lines_name_who_is_skipped(loans, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "oxonfair", None)  # as if it were not installed
    asked = ("--model", "boosting", "--peer", "OxonFair", "--peer", "TO", "--peer", "EG", "--runs", 1)
    # TO knows no predictive parity, nor does EG: they are left out, too.
    said = compare(loans, *COLUMNS, *asked, "--notion", "predictive_parity", "--out", tmp_path)
    lines = said.stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["method", "boosting"]
    assert "±" not in lines[1]
    notes = [line for line in said.stderr.splitlines() if "Skipped" in line]
    assert [note.split()[2] for note in notes] == ["OxonFair:", "TO:", "EG:"]
    assert "mamofair[baselines]" in notes[0]


def test_quick_takes_few_rows_alike_in_labels_and_groups(tmp_path):
    applicants(4000).to_csv(tmp_path / "many.csv", index=False)
    data = read_data(TrainOptions(str(tmp_path / "many.csv"), "approved", "yes", ("gender",)))
    few = sample_rows(data, 0)
    assert len(few.y) == len(few.X) == len(few.sensitive) == 1500
    assert few.y.mean() == pytest.approx(data.y.mean(), abs=0.002)
    assert few.X.index.equals(few.sensitive.index)


def test_a_fault_of_the_data_ends_ours_and_leaves_a_peer_out(tmp_path):
    people = applicants(300)
    people["approved"] = people["approved"].where(people["gender"] == "m", "no")  # no woman to give a chance to
    people.to_csv(tmp_path / "men.csv", index=False)
    asked = TrainOptions(str(tmp_path / "men.csv"), "approved", "yes", ("gender",), notion=("equal_opportunity",))
    data, left_out = read_data(asked), {}
    with pytest.raises(ValueError, match=r"'f' of 'gender'"):
        list(Comparison(asked, data, ("net", "TO"), 1, quick=True).records(left_out))
    assert not left_out
    assert [record["method"] for record in Comparison(asked, data, ("TO",), 1, quick=True).records(left_out)] == []
    assert list(left_out) == ["TO"]


def test_a_terminal_gets_a_table_that_fits_it(loans, tmp_path):
    asked = ("--model", "boosting", "--peer", "TO", "--runs", 2, "--quick", "--out", tmp_path)
    said = on_terminal("compare", loans, *COLUMNS, *asked)
    lines = said[said.rindex("method  ") :].splitlines()
    assert lines[0].split() == ["method", "error", "largest", "gap", "hypervolume", "seconds"]
    assert set(lines[1].strip()) == {"─"}
    records = pd.read_csv(tmp_path / "comparison.csv").groupby("method")["error"].mean()
    for line, (name, marked) in zip(lines[2:4], [("boosting", "boosting"), ("TO", "TO*")], strict=True):
        assert line.split()[:3] == [marked, f"{records[name]:.3f}", "±"]
    assert max(map(len, lines[:-1])) <= 80  # the last one is of paths
    assert lines[-1].startswith(f"Files: {tmp_path / 'comparison.csv'}")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "aproved", "--sensitive", "gender", "--model", "nett"), "Did you mean 'approved'"),
        ((*COLUMNS, "--model", "nett"), "`--model` must be one of auto, net, boosting"),
        ((*COLUMNS, "--peer", "fairlearn"), "`--peer` must be one of unconstrained, EG"),
        ((*COLUMNS, "--notion", "justice"), "justice"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(fails, loans, options, said):
    assert said in fails("compare", loans, *options)
