"""Numbers that are written as text: read where there is one reading, and left alone where there is none or two."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables import FileFormat, encoder, load_encoder, read_table, save_encoder
from mamofair.tables.text_numbers import TextNumbers, UnclearNumbers, parse_number, read_text_numbers

UNITS = {"dollars": "${}", "euros": "€ {}", "after": "{} €", "code": "EUR {}", "none": "{}", "percent": "{} %"}
GROUPS = {".": ",' \u00a0\u202f", ",": ".' \u00a0\u202f"}


def text_of(cents: int, mark: str, group: str, unit: str) -> str:
    """Write an amount of cents as people do; the oracle of what is read."""
    whole, rest = divmod(abs(cents), 100)
    number = f"{whole:,}".replace(",", group) + f"{mark}{rest:02}"
    return ("-" if cents < 0 else "") + UNITS[unit].format(number)


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30),
    st.sampled_from(sorted(UNITS)),
    st.sampled_from([(mark, group) for mark, groups in GROUPS.items() for group in groups]),
)
def test_amounts_are_read_as_they_were_written(amounts: list[int], unit: str, style: tuple[str, str]) -> None:
    mark, group = style
    column = pd.Series([text_of(cents, mark, group, unit) for cents in [*amounts, 123456]], dtype="str")
    reading = read_text_numbers(column)
    assert isinstance(reading, TextNumbers)
    assert reading.decimal == mark
    assert reading.numbers.tolist() == pytest.approx([cents / 100 for cents in [*amounts, 123456]])
    assert reading.words == ()


@given(st.text(max_size=12), st.sampled_from([".", ","]))
def test_what_is_parsed_is_a_number_that_python_reads_from_its_digits(text: str, mark: str) -> None:
    number = parse_number(text, mark)
    if number is not None:
        digits = "".join(letter for letter in text if letter.isdigit() or letter == mark).replace(mark, ".")
        assert abs(number) == float(digits)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$51,061", "$7,500"], [51061, 7500]),
        (["12 %", "7%"], [12, 7]),
        (["€ 1.234,50", "€ 20,00"], [1234.5, 20]),
        (["1.234,5", "950"], [1234.5, 950]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["1'250.50", "90"], [1250.5, 90]),
        (["−$3.50", "+$4"], [-3.5, 4]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["$ 950", "820"], [950, 820]),
    ],
)
def test_examples_of_one_reading(texts: list[str], numbers: list[float]) -> None:
    reading = read_text_numbers(pd.Series(texts, dtype="str"))
    assert isinstance(reading, TextNumbers)
    assert reading.numbers.tolist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["01", "02"],  # codes
        ["10-20", "20-30"],  # ranges
        ["1,2", "1,2,3"],  # lists
        ["12.05.2024", "13.05.2024"],  # dates
        ["5", "seven"],  # plain numbers, and as many words
        ["$5", "€5"],  # two currencies
        ["5 %", "0.05"],  # percentages and shares
        ["030 123 456", "$1"],  # telephones
        ["<1,000", "1,200"],
        ["clerk", "nurse"],
        ["12", "13", "14", "x"],
        [],
    ],
)
def test_what_is_no_amount_stays_text(texts: list[str]) -> None:
    assert read_text_numbers(pd.Series(texts, dtype="str")) is None


def test_two_readings_are_unclear_until_the_mark_is_known() -> None:
    column = pd.Series(["1,234", "12,500", "950"], dtype="str")
    assert read_text_numbers(column) == UnclearNumbers("1,234")
    for mark, numbers in ((".", [1234, 12500, 950]), (",", [1.234, 12.5, 950])):
        reading = read_text_numbers(column, mark)
        assert isinstance(reading, TextNumbers)
        assert reading.numbers.tolist() == numbers


@pytest.mark.parametrize("words", [[], ["unknown"] * 2])
def test_a_point_before_three_digits_is_as_unclear_as_a_comma(words: list[str]) -> None:
    column = pd.Series(["3.125", "2.750", "1.500"] * 20 + words, dtype="str")
    assert read_text_numbers(column) == UnclearNumbers("3.125")
    decimals, thousands = read_text_numbers(column, "."), read_text_numbers(column, ",")
    assert isinstance(decimals, TextNumbers)
    assert isinstance(thousands, TextNumbers)
    assert decimals.numbers[:2].tolist() == [3.125, 2.75]
    assert thousands.numbers[:2].tolist() == [3125, 2750]
    assert read_text_numbers(pd.concat([column, pd.Series(["3.5"], dtype="str")])) is None


@given(st.lists(st.integers(1, 999_999), min_size=3), st.sampled_from([".", ","]), st.integers(0, 1))
def test_what_is_unclear_never_becomes_another_number(thousandths: list[int], mark: str, words: int) -> None:
    texts = [f"{number // 1000}{mark}{number % 1000:03}" for number in thousandths]
    reading = read_text_numbers(pd.Series([*texts * 20, *["unknown"] * words], dtype="str"))
    if isinstance(reading, TextNumbers):
        np.testing.assert_allclose(reading.numbers.dropna().unique(), pd.unique(np.array(thousandths) / 1000))


def test_a_column_with_two_readings_stays_text_in_a_file_until_its_mark_is_given(tmp_path) -> None:
    rows = people().loc[[0, 1, 2, 3] * 30].assign(dose=["3.125", "2.750", "1.250"] * 39 + ["unknown"] * 3)
    rows.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match=r"Read as text: 'dose' \('3.125' has thousands or decimals\)"):
        table = read_table(tmp_path / "a.csv", "hired", sensitive="sex")
    assert table.X["dose"].tolist()[0] == "3.125"
    with pytest.warns(UserWarning, match="Read as numbers: 'dose' .*3 such as 'unknown' are missing"):
        table = read_table(tmp_path / "a.csv", "hired", sensitive="sex", file_format=FileFormat(decimal="."))
    assert table.X["dose"].tolist()[:2] == [3.125, 2.75]


def test_a_few_words_become_missing_and_are_counted() -> None:
    column = pd.Series(["$5"] * 97 + ["unknown"] * 2 + [None], dtype="str")
    reading = read_text_numbers(column)
    assert isinstance(reading, TextNumbers)
    assert (reading.words, reading.missing) == (("unknown",), 2)
    assert reading.numbers.isna().sum() == 3
    assert reading.detail == "'$5' is 5, and 2 such as 'unknown' are missing"
    assert read_text_numbers(pd.Series(["$5"] * 90 + ["unknown"] * 10, dtype="str")) is None


def people(**columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"sex": list("fmfm"), "hired": [0, 1, 1, 0], **columns})


def test_read_table_says_what_it_reads_as_numbers() -> None:
    frame = people(pay=["$1,500", "$2,500", "$900", "$12"], bonus=["5 %", "6 %", "7 %", "8 %"])
    with pytest.warns(UserWarning, match=r"^Read as numbers: 'pay' \('\$1,500' is 1500\); 'bonus' \('5 %' is 5\)\.$"):
        table = read_table(frame, "hired", sensitive="sex")
    assert table.X.to_dict("list") == {"pay": [1500, 2500, 900, 12], "bonus": [5, 6, 7, 8]}
    assert table.text_numbers == {"pay": ".", "bonus": "."}


def test_read_table_says_what_has_two_readings() -> None:
    frame = people(pay=["1,500", "2,500", "900", "12"])
    with pytest.warns(
        UserWarning, match=r"^Read as text: 'pay' \('1,500' has thousands or decimals\)\. Give the decimal"
    ):
        table = read_table(frame, "hired", sensitive="sex")
    assert table.X["pay"].tolist() == frame["pay"].tolist()
    assert table.text_numbers == {}


def test_a_given_mark_decides(tmp_path) -> None:
    people(pay=["1,500", "2,500", "900", "12"]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match="Read as numbers"):
        table = read_table(tmp_path / "a.csv", "hired", sensitive="sex", file_format=FileFormat(decimal="."))
    assert table.X["pay"].tolist() == [1500, 2500, 900, 12]


def test_money_can_be_binned() -> None:
    frame = people(pay=["$1,500", "$2,500", "$900", "$12"], age=[1, 2, 3, 4])
    with pytest.warns(UserWarning, match="Read as numbers: 'pay'"):
        table = read_table(frame, "hired", sensitive="pay:1000")
    assert table.sensitive["pay"].tolist() == ["1000 and over", "1000 and over", "under 1000", "under 1000"]
    assert table.text_numbers == {}


@pytest.mark.parametrize("strategy", ["median", "none"])
def test_an_encoder_reads_new_text_with_the_mark_of_training_also_from_its_file(tmp_path, strategy: str) -> None:
    texts = pd.DataFrame({"pay": ["1.500,5", "20,5", "7"], "job": ["a", "b", "a"]})
    numbers = texts.assign(pay=[1500.5, 20.5, 7.0])
    fitted = encoder(strategy, {"pay": ","}).fit(numbers)
    save_encoder(fitted, tmp_path / "encoder.skops")
    new = pd.DataFrame({"pay": ["1.234", "unknown", None], "job": ["a", "a", "a"]})
    for one in (fitted, load_encoder(tmp_path / "encoder.skops"), encoder(strategy, {"pay": ","}).fit(texts)):
        assert one.text_numbers == {"pay": ","}
        pay = one.transform(new)
        pay = pay["pay"] if strategy == "none" else pd.Series(pay[:, 0])
        assert pay.dropna().tolist() == ([1234.0] if strategy == "none" else [1234.0, 20.5, 20.5])


def test_the_file_of_an_encoder_must_have_sound_marks(tmp_path) -> None:
    fitted = encoder("median", {"pay": ";"}).fit(pd.DataFrame({"pay": [1.0, 2.0]}))
    save_encoder(fitted, tmp_path / "encoder.skops")
    with pytest.raises(ValueError, match="must be sound: found a broken encoder"):
        load_encoder(tmp_path / "encoder.skops")


def test_dollars_in_a_file_with_decimal_commas_have_one_reading() -> None:
    reading = read_text_numbers(pd.Series(["$51,061", "$950"], dtype="str"), ",")
    assert isinstance(reading, TextNumbers)
    assert reading.numbers.tolist() == [51061, 950]
