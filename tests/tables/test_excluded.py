"""Rows that are left out by their label."""

import pandas as pd
import pytest

from mamofair.tables import FileFormat, encoder, open_source, read_attributes, read_batches, read_features, read_table
from mamofair.tables.excluded import require_labels

FORMAT = FileFormat(excluded=("ok", ("Withdrawn",)))


@pytest.fixture(params=[".csv", ".xlsx", ".parquet"])
def path(request, tmp_path):
    frame = pd.DataFrame(
        {"age": range(6), "sex": list("fmfmfm"), "ok": ["yes", "Withdrawn", "no", "yes", "withdrawn ", "no"]}
    )
    path = tmp_path / f"a{request.param}"
    {".csv": frame.to_csv, ".xlsx": frame.to_excel, ".parquet": frame.to_parquet}[request.param](path, index=False)
    return path


@pytest.mark.filterwarnings("ignore:Left out 2 of 6")
def test_every_reader_leaves_the_same_rows_out(path):
    table = read_table(path, "ok", "yes", ["sex"], file_format=FORMAT)
    assert table.y.tolist() == [1, 0, 1, 0]
    assert table.sensitive["sex"].tolist() == list("ffmm")
    assert read_features(path, ["age"], file_format=FORMAT)["age"].tolist() == [0, 2, 3, 5]
    assert read_attributes(path, ["sex"], file_format=FORMAT)["sex"].tolist() == list("ffmm")
    batches = read_batches(path, encoder("none").fit(table.X), rows=4, file_format=FORMAT)
    assert [whole["age"].astype(int).tolist() for whole, _ in batches] == [[0, 2, 3], [5]] or path.suffix == ".xlsx"


def test_what_is_left_out_is_said_and_a_misspelled_label_is_refused(path):
    with pytest.warns(UserWarning, match=r"Left out 2 of 6 rows of a\..*, whose `ok` is 'Withdrawn'"):
        read_features(path, ["age"], file_format=FORMAT)
    require_labels(open_source(path), "ok", ["WITHDRAWN"])
    with pytest.raises(ValueError, match=r"must name values of `ok`: found .*, not 'Withdrew'"):
        require_labels(open_source(path), "ok", ["Withdrew"])


def test_a_table_without_the_column_is_read_as_it_is():
    people = pd.DataFrame({"age": [1, 2]})
    assert read_features(people, ["age"], file_format=FORMAT)["age"].tolist() == [1, 2]
