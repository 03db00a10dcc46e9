"""Files as people have them: what was written is read, whatever separates, marks and encodes it."""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from mamofair.tables import FileFormat, encoder, open_source, read_batches, read_features, read_new_rows, read_table
from mamofair.tables.text_numbers import read_amounts

FORMATS = st.builds(
    FileFormat,
    sep=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
JOBS = ["clerk", "nurse, night", 'the "boss"', "two\nlines", "Zürich", "Müller; Söhne", "café|bar", "tab\tbed"]


@st.composite
def people(draw: st.DrawFn) -> pd.DataFrame:
    """Fractions that only one mark allows, whole numbers, and text with all kinds of separators in it."""
    kinds = {
        "amount": st.integers(-(10**6), 10**6).map(lambda tenths: tenths / 10) | st.none(),
        "count": st.integers(-1000, 1000),
        "job": st.sampled_from(JOBS) | st.none(),
        "hired": st.sampled_from(["no", "yes"]),
    }
    both = [(0.5, 1, "Zürich", "no"), (-1.25, 2, "clerk", "yes")]
    return pd.DataFrame(both + draw(st.lists(st.tuples(*kinds.values()), max_size=20)), columns=list(kinds))


def write(frame: pd.DataFrame, path: Path, file_format: FileFormat) -> None:
    sep, decimal, encoding = file_format.sep, file_format.decimal, file_format.encoding
    frame.to_csv(path, index=False, sep=sep, decimal=decimal, encoding=encoding)


def as_read(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({"amount": float, "job": "str", "hired": "str"})


@given(people(), FORMATS)
def test_a_frame_that_was_written_in_any_format_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file_format: FileFormat
) -> None:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    write(frame, path, file_format)
    assert_frame_equal(read_features(path, list(frame), file_format=file_format), as_read(frame))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow.csv", None)
        assert_frame_equal(read_features(path, list(frame), file_format=file_format), as_read(frame))


@given(people(), FORMATS)
def test_what_is_found_in_a_file_is_what_wrote_it_and_a_note_says_so(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file_format: FileFormat
) -> None:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    write(frame, path, file_format)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        source = open_source(path)
    found = source.file_format
    assert found.sep == file_format.sep
    assert str(found.encoding).replace("-sig", "") == str(file_format.encoding).replace("-sig", "")
    assert source.names == tuple(frame)
    if file_format.sep != ",":
        assert found.decimal == file_format.decimal
        assert_frame_equal(read_quietly(path, list(frame)), as_read(frame))
    is_plain = file_format.sep == "," and str(file_format.encoding).startswith("utf-8")
    assert [str(note.message) for note in notes] == ([] if is_plain else [f"Read people.csv with {shown(found)}."])


def shown(found: FileFormat) -> FileFormat:
    return FileFormat(found.sep, found.decimal or ".", found.encoding)


def read_quietly(path: Path, names: list[str]) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_features(path, names)


@settings(max_examples=15)
@given(people(), FORMATS)
def test_batches_of_a_file_encode_as_the_whole_of_it(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file_format: FileFormat
) -> None:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    write(frame, path, file_format)
    fitted = encoder().fit(as_read(frame)[["amount", "count", "job"]])
    batches = [features for _, features in read_batches(path, fitted, rows=5, file_format=file_format)]
    features, _ = read_new_rows(path, fitted, ["hired"], file_format=file_format)
    for read in (pd.concat(batches, ignore_index=True), features):
        np.testing.assert_array_equal(fitted.transform(read), fitted.transform(as_read(frame)))


def test_a_note_says_what_was_found_and_no_note_what_was_given(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_bytes("größe;ok\n1,75;0\n1,80;1\n".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"^Read loans.csv with sep=';', decimal=',' and encoding cp1252.$"):
        read = read_features(path, ["größe", "ok"])
    assert read.to_dict("list") == {"größe": [1.75, 1.8], "ok": [0, 1]}
    given = FileFormat(";", ",", "cp1252")
    assert_frame_equal(read_features(path, ["größe", "ok"], file_format=given), read)
    assert open_source(path, given).file_format == given


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("5", "1.234", r"'1\.234' in line 1,202"),
        ("1,5", "2.5", r"both '1,5' in line 2 and '2\.5' in line 1,202"),
        ("1.5", "1.234,5", r"both '1\.5' in line 2 and '1\.234,5' in line 1,202"),
    ],
)
def test_a_file_stops_at_the_line_that_makes_its_marks_unclear(
    first: str, last: str, found: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("x;y\n" + f"{first};0\n" * 1200 + f"{last};1\n")
    with pytest.raises(ValueError, match=f"The decimal mark of a.csv must be clear: found {found}. Give it with"):
        open_source(tmp_path / "a.csv")
    given = open_source(tmp_path / "a.csv", FileFormat(sep=";", decimal=","))
    assert given.file_format.decimal == ","


@pytest.mark.parametrize(("last", "value"), [("1.234,5", 1234.5), ("0,5", 0.5), ("0.5", 0.5), ("7", 7)])
def test_the_marks_of_a_sorted_file_are_found_in_its_last_lines(last: str, value: float, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;note\n" + '5;"12.03.2024; a\nb"\n' * 1200 + f"{last};c\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        column = read_features(tmp_path / "a.csv", ["x"])["x"]
        amounts: dict[str, Any] = {}
        column = read_amounts(column, open_source(tmp_path / "a.csv").file_format.decimal, amounts)
    assert column.tolist()[-1] == value


def test_a_single_column_is_separated_by_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("age\n1\n2\n")
    assert read_features(tmp_path / "one.csv", ["age"])["age"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sep": ";;"}, "`sep` must be one character other than a letter.*found ';;'"),
        ({"sep": "a"}, "`sep` must be one character"),
        ({"sep": ""}, "`sep` must be one character"),
        ({"decimal": ";"}, "`decimal` must be '.' or ',': found ';'"),
        ({"encoding": "latin99"}, "`encoding` must be one that Python knows, such as cp1252: found 'latin99'"),
        ({"encoding": "hex"}, "`encoding` must be one that Python knows"),
    ],
)
def test_a_format_checks_itself(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FileFormat(**given)


def test_a_tab_can_be_written_as_shells_allow() -> None:
    assert FileFormat("tab") == FileFormat("\\t") == FileFormat("\t")
    assert str(FileFormat("tab")) == "sep='\\t'"


def test_a_wrong_encoding_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a,b\n1,é\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"a.csv must be in UTF-8: found b'1,\\xe9\\n' in line 2"):
        read_features(tmp_path / "a.csv", ["a"], file_format=FileFormat(encoding="utf-8"))


def test_a_group_far_down_in_another_encoding_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("g,x,y\n" + "a,1,0\nb,2,1\n" * 80_000 + "ä,1,0\n").encode("cp1252"))
    with pytest.raises(ValueError, match=r"a.csv must be in UTF-8: found b'\\xe4,1,0\\n' in line 160,002"):
        read_table(path, "y", sensitive="g", file_format=FileFormat(sep=",", encoding="utf-8"))


def test_numbers_in_new_rows_must_have_the_mark_of_the_file(tmp_path: Path) -> None:
    fitted = encoder().fit(pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}))
    (tmp_path / "a.csv").write_text("a;b\n1,5;1\n1.234,5;2\n1.234;3\n")
    [(_, features)] = read_batches(tmp_path / "a.csv", fitted, file_format=FileFormat(";", ","))
    assert fitted.transform(features)[:, 0].tolist() == [1.5, 1234.5, 1234.0]
    (tmp_path / "a.csv").write_text("a;b\n1,5;1\n51061.5;2\n")
    with pytest.raises(ValueError, match=r"'a' must hold numbers with the decimal mark ',': found '51061.5'"):
        list(read_batches(tmp_path / "a.csv", fitted, file_format=FileFormat(";", ",")))


@settings(max_examples=10)
@given(people())
def test_a_workbook_is_read_as_a_file_is(tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame) -> None:
    path = tmp_path_factory.mktemp("people") / "people.xlsx"
    frame.to_excel(path, index=False)
    assert_frame_equal(read_features(path, list(frame)), as_read(frame))
    fitted = encoder().fit(as_read(frame)[["amount", "count", "job"]])
    batches = [features for _, features in read_batches(path, fitted, rows=5)]
    np.testing.assert_array_equal(
        fitted.transform(pd.concat(batches, ignore_index=True)), fitted.transform(as_read(frame))
    )


def test_of_a_workbook_the_first_sheet_is_read_and_blanks_are_skipped(tmp_path: Path) -> None:
    sheet: list[list[Any]] = [[None] * 3, ["age", None, "sex"], [20, None, "f"], [None] * 3, [30.5, None, "N/A"]]
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        pd.DataFrame(sheet).to_excel(book, sheet_name="People", index=False, header=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="Notes", index=False)
    with pytest.warns(UserWarning, match=r"Read the first of 2 sheets of a.xlsx, 'People'"):
        read = read_features(tmp_path / "a.xlsx", ["age", "sex"])
    assert read["age"].tolist() == [20.0, 30.5]
    assert read["sex"].isna().tolist() == [False, True]


def test_dates_in_a_workbook_are_no_features(tmp_path: Path) -> None:
    frame = pd.DataFrame({"born": pd.to_datetime(["2000-01-01", "2001-01-01"] * 2), "sex": list("fmfm")})
    frame.assign(age=[1, 2, 3, 4], ok=[0, 1, 1, 0]).to_excel(tmp_path / "a.xlsx", index=False)
    with pytest.warns(UserWarning, match=r"'born' \(dates or times\)"):
        table = read_table(tmp_path / "a.xlsx", "ok", sensitive="sex")
    assert list(table.X) == ["age"]


def test_names_in_a_workbook_must_differ(tmp_path: Path) -> None:
    pd.DataFrame([["sex", "sex"], ["f", "m"]]).to_excel(tmp_path / "a.xlsx", index=False, header=False)
    with pytest.raises(ValueError, match=r"Column names must differ: found 'sex' more than once in a.xlsx"):
        open_source(tmp_path / "a.xlsx")


def test_a_blank_workbook_holds_no_table(tmp_path: Path) -> None:
    pd.DataFrame().to_excel(tmp_path / "a.xlsx", index=False, header=False)
    with pytest.raises(ValueError, match=r"a.xlsx must hold a table: found only blank rows"):
        open_source(tmp_path / "a.xlsx")


def test_a_workbook_needs_the_extra_and_no_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"a": [1]}).to_excel(tmp_path / "a.xlsx", index=False)
    with pytest.raises(ValueError, match=r"are for CSV files: found sep=';' for a.xlsx"):
        open_source(tmp_path / "a.xlsx", FileFormat(";"))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r'Run pip install "mamofair\[excel\]"'):
        open_source(tmp_path / "a.xlsx")


def test_new_rows_in_memory_are_refused_with_what_to_do_instead():
    frame = pd.DataFrame({"x": [1.0, 2], "sex": ["f", "m"]})
    fitted = encoder("none").fit(frame[["x"]])
    for read in (lambda: read_new_rows(frame, fitted, ["sex"]), lambda: next(iter(read_batches(frame, fitted)))):
        with pytest.raises(ValueError, match=r"read from a file: found a DataFrame. .* pass the frame to `predict`"):
            read()
