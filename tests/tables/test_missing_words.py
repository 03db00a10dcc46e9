"""A word such as NA where groups, labels, units and ids are read: what it means is said, and never guessed."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mamofair.tables import FileFormat, check, open_source, read_attributes, read_labels_and_groups, read_table
from mamofair.tables.missing_words import count_words
from mamofair.tables.role_columns import read_labels, read_names

WAYS = ("csv", "xlsx", "parquet", "pandas", "polars")


def people(word: str = "NA") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "race": ["W", "B", word] * 10 + ["W", None],
            "job": ["cook", "nurse"] * 16,
            "age": np.arange(32.0),
            "hired": [0, 1] * 16,
        }
    )


def handed_over(frame: pd.DataFrame, way: str, folder: Path) -> Any:
    """The same table as a file, or as a frame."""
    path = folder / f"people.{way}"
    if way == "csv":
        frame.to_csv(path, index=False)
    elif way == "xlsx":
        frame.to_excel(path, index=False)
    elif way == "parquet":
        frame.to_parquet(path)
    else:
        return frame if way == "pandas" else pl.from_pandas(frame)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_written_word_is_an_error_until_it_is_explained_and_an_empty_cell_is_unknown(
    way: str, tmp_path: Path
) -> None:
    source = handed_over(people(), way, tmp_path)
    with pytest.raises(
        ValueError, match=r"'race' has 'NA' in 10 of 32 rows.* say `--missing NA`; if it is a value.*none"
    ):
        read_table(source, "hired", sensitive="race")
    unknown, value = (
        read_table(source, "hired", sensitive="race", file_format=FileFormat(missing=word)).sensitive["race"]
        for word in ("NA", "none")
    )
    assert unknown.value_counts(dropna=False).to_dict() == {"W": 11, "B": 10, np.nan: 11}
    assert value.value_counts(dropna=False).to_dict() == {"W": 11, "B": 10, "NA": 10, np.nan: 1}
    for read, words in ((unknown, "NA"), (value, "none")):
        again = read_attributes(source, ["race"], file_format=FileFormat(missing=words))["race"]
        assert again.tolist()[:30] == [None if one != one else one for one in read][:30] or again.equals(read)


@pytest.mark.parametrize("word", ["NA", "n/a", "None", "none", "NULL", "#N/A", " ", "<NA>", "NaN"])
def test_what_programs_write_for_missing_is_such_a_word(word: str) -> None:
    assert count_words(pd.Series(["W", word, word, None], dtype=object)) == {word: 2}


def test_an_empty_text_is_unknown_in_typed_columns_as_it_is_in_a_file(tmp_path: Path) -> None:
    frame = people("").astype({"race": "category"})
    for way in ("pandas", "polars", "parquet", "csv"):
        for missing in (None, "none", "NA"):
            table = read_table(
                handed_over(frame, way, tmp_path), "hired", sensitive="race", file_format=FileFormat(missing=missing)
            )
            assert table.sensitive["race"].value_counts().to_dict() == {"W": 11, "B": 10}


def test_other_words_are_groups() -> None:
    assert count_words(pd.Series(["unknown", "?", "Nana", "other", None], dtype="str")) == {}
    assert count_words(pd.Series([1.0, np.nan])) == {}


def test_a_word_that_is_written_none_is_a_value_or_the_cell_is_left_empty() -> None:
    with pytest.raises(
        ValueError, match="If it means unknown, leave these cells empty; if it is a value, say `--missing n"
    ):
        read_table(people("none"), "hired", sensitive="race")


def test_of_several_words_those_that_are_named_are_unknown_and_a_note_tells_of_the_others() -> None:
    frame = people().replace({"race": {"B": "null"}})
    with pytest.warns(UserWarning, match="'race': 'null' in 10 of 32 rows counts as a value; if it means unknown"):
        table = read_table(frame, "hired", sensitive="race", file_format=FileFormat(missing=["NA", "x"]))
    assert table.sensitive["race"].value_counts().to_dict() == {"W": 11, "null": 10}


def test_any_word_or_number_may_mean_unknown(tmp_path: Path) -> None:
    frame = people("prefer not to say").assign(age=[20.0, 999, 70, 30] * 8)
    how = FileFormat(missing=["prefer not to say", "999"])
    for source in (frame, handed_over(frame, "parquet", tmp_path)):
        groups = read_table(source, "hired", sensitive=["race", "age:50"], file_format=how).sensitive
        assert groups.isna().sum().to_dict() == {"race": 11, "age": 8}


def test_a_word_in_the_target_is_an_error_and_labels_keep_their_type(tmp_path: Path) -> None:
    frame = people("W").assign(hired=["0", "1", "NA", "1"] * 8)
    path = handed_over(frame, "csv", tmp_path)
    with pytest.raises(ValueError, match="'hired' has 'NA' in 8 of 32 rows"):
        read_table(path, "hired", sensitive="race")
    with pytest.raises(ValueError, match="must be known in every row: found 8 of 32 rows without a label"):
        read_table(path, "hired", sensitive="race", file_format=FileFormat(missing="NA"))
    known = read_labels(open_source(path, FileFormat(missing="NA")), ["hired"])["hired"]
    assert known.tolist()[:2] == [0, 1]
    assert known.isna().sum() == 8


def test_features_keep_their_words_whatever_is_said_of_groups(tmp_path: Path) -> None:
    frame = people("W").assign(job=["cook", "NA"] * 16)
    for missing in (None, "none", "cook"):
        table = read_table(
            handed_over(frame, "csv", tmp_path), "hired", sensitive="race", file_format=FileFormat(missing=missing)
        )
        assert table.X["job"].isna().sum() == 16


def test_a_check_goes_on_and_names_the_words() -> None:
    result = check(people(), target="hired", sensitive_features="race")
    assert result.attributes[0].groups == {"W": 11, "B": 10, "NA": 10}
    assert [(one.column, one.finding) for one in result.findings if one.column == "race"] == [
        ("race", "may mean unknown"),
        ("race", "small group"),
        ("race", "small group"),
        ("race", "small group"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = check(people(), target="hired", sensitive_features="race", file_format=FileFormat(missing="none"))
    assert "may mean unknown" not in {one.finding for one in said.findings}


def test_units_and_labels_are_asked_about_as_well(tmp_path: Path) -> None:
    path = handed_over(people().assign(race="W", person=["7", "null"] * 16), "csv", tmp_path)
    with pytest.raises(ValueError, match="'person' has 'null' in 16 of 32 rows"):
        read_names(open_source(path), ["person"])
    with pytest.raises(ValueError, match="'race' has 'NA'"):
        read_labels_and_groups(handed_over(people(), "csv", tmp_path), "hired", None, ["race"])


@pytest.mark.parametrize(
    ("missing", "message"),
    [(["none", "NA"], "either none or words"), ([""], "must name words"), ([3], "must name words")],
)
def test_words_check_themselves(missing: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FileFormat(missing=missing)


def test_a_row_of_words_in_a_workbook_is_a_row_and_a_column_may_be_called_na(tmp_path: Path) -> None:
    frame = pd.DataFrame({"NA": ["a", "NA", "b"] * 4, "x": ["1", "null", "3"] * 4, "y": ["yes", "no", "no"] * 4})
    frame.loc[4] = ["NA", "NA", "no"]
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    read = read_table(tmp_path / "a.xlsx", "y", "yes", "NA", file_format=FileFormat(missing="NA"))
    assert read.sensitive["NA"].isna().sum() == 4
    assert len(read) == 12
