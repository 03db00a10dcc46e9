"""Excel workbooks as people export them: titles above the header, several sheets, a row of totals."""

import warnings
from pathlib import Path

import openpyxl
import pytest

from mamofair.tables import FileFormat, check, open_source, read_features

HEADER, ROWS = ["age", "job", "sex", "ok"], [[30, "nurse", "f", 1], [40, "clerk", "m", 0], [50, "clerk", "f", 1]]


def workbook(path: Path, *rows: list[object], first: str | None = None) -> Path:
    book = openpyxl.Workbook()
    if first is not None:
        book.active.title = first
        book.active.append(["nothing", "here"])
        book.active.append([1, 2])
    sheet = book.active if first is None else book.create_sheet("People")
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_a_title_is_named_with_the_row_that_looks_like_the_header(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [], ["Exported by SAP"], [], [], HEADER, *ROWS)
    message = r"row 2 has 1 filled cell of 4, and row 5 looks like the header\. Add `--header 5`\.$"
    with pytest.raises(ValueError, match=message):
        open_source(path)
    frame = read_features(path, ["age", "job"], file_format=FileFormat(header=5))
    assert frame.to_dict("list") == {"age": [30, 40, 50], "job": ["nurse", "clerk", "clerk"]}
    with pytest.raises(ValueError, match="must have names of columns in row 3: found none"):
        open_source(path, FileFormat(header=3))


def test_columns_without_a_name_are_no_title(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [None, *HEADER[1:]], *ROWS)
    assert open_source(path).names == ("", *HEADER[1:])
    path = workbook(tmp_path / "b.xlsx", ["age"], *([row[0]] for row in ROWS))
    assert open_source(path).names == ("age",)


def test_a_sheet_is_chosen_by_name_or_number(tmp_path):
    path = workbook(tmp_path / "a.xlsx", HEADER, *ROWS, first="Info")
    with pytest.warns(UserWarning, match=r"Read the first of 2 sheets of a\.xlsx, 'Info'\. Choose with `--sheet`"):
        assert open_source(path).names == ("nothing", "here")
    for sheet in ("People", "2"):
        assert read_features(path, ["age"], file_format=FileFormat(sheet=sheet))["age"].tolist() == [30, 40, 50]
    with pytest.raises(ValueError, match=r"no sheet 'people' in a\.xlsx: found 'Info', 'People'"):
        open_source(path, FileFormat(sheet="people"))
    (tmp_path / "a.csv").write_text("age,ok\n1,2\n")
    with pytest.raises(ValueError, match=r"are for Excel files: found a\.csv"):
        open_source(tmp_path / "a.csv", FileFormat(sheet="1"))
    with pytest.raises(ValueError, match="`header` must be the number of a row, 1 or more: found 0"):
        FileFormat(header=0)


def test_a_row_of_totals_is_named(tmp_path):
    path = workbook(tmp_path / "a.xlsx", HEADER, *ROWS, [120, None, "Total:"])
    with pytest.warns(UserWarning, match=r"Row 5 of a\.xlsx, the last, has 'Total:' and looks like a total"):
        read_features(path, ["age"])
    path = workbook(tmp_path / "b.xlsx", HEADER, *ROWS, [60, "totally fine", "f", 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_features(path, ["age"])


def test_features_that_look_protected_are_named_once(tmp_path):
    names = ["Age", "Origin", "Marital status", "mortgage", "Gender", "ok"]
    path = workbook(tmp_path / "a.xlsx", names, *([20 + i, "a", "b", i, "fm"[i % 2], i % 2] for i in range(40)))
    result = check(path, target="ok", sensitive_features=["Gender"])
    [finding] = [one for one in result.findings if one.finding == "may be protected"]
    assert finding.detail.startswith("'Age', 'Origin', 'Marital status' are features and no sensitive attributes")
    sensitive = ["Gender", "Age:30", "Origin"]
    findings = check(path, target="ok", sensitive_features=sensitive, drop="Marital status").findings
    assert "may be protected" not in {one.finding for one in findings}
