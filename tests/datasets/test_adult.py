import hashlib

import numpy as np
import pytest

from mamofair.datasets import load_adult
from mamofair.datasets._adult import parse
from mamofair.datasets._files import bundled

X_SHA256 = "3a2c30916e04c36ed26b3912d5e3b0a9b2d1555842a56c0867cfc12037146889"
LABELS_SHA256 = "9064a2fa37e636b3ef349c9e109b5ab2f068ec50ee6d2372c7739719ccfc6519"

# Two lines in the format of each file, with every trap: the extra first line, the full stops, `?`, the last empty line.
DATA = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    b"United-States, <=50K\n"
    b"26, ?, 1, HS-grad, 9, Divorced, ?, Unmarried, Black, Female, 0, 0, 61, ?, >50K\n\n"
)
TEST = (
    b"|1x3 Cross validator\n"
    b"25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Other, Male, 0, 0, 20, Cuba, <=50K.\n"
    b"56, Private, 89814, HS-grad, 9, Widowed, Sales, Wife, White, Female, 0, 5, 21, India, >50K.\n\n"
)


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array, "<i8").tobytes()).hexdigest()


@pytest.fixture(scope="module")
def adult():
    return load_adult()


def test_design_is_the_papers_byte_for_byte(adult):
    X, y, sensitive = adult.design()
    assert X.shape == (48842, 49)
    assert X.dtype == y.dtype == sensitive.dtype == np.int64
    assert sha256(X) == X_SHA256
    assert sha256(np.column_stack([y, sensitive])) == LABELS_SHA256


def test_design_is_the_papers_whatever_race_is_shown():
    X, y, sensitive = load_adult(binary_race=False).design()
    assert sha256(X) == X_SHA256
    assert sha256(np.column_stack([y, sensitive])) == LABELS_SHA256


def test_groups_and_base_rates_are_the_published_ones(adult):
    people = adult.y.groupby([adult.sensitive["sex"], adult.sensitive["race"]])
    assert people.size().to_dict() == {
        ("Male", "White"): 28735,
        ("Male", "other"): 3915,
        ("Female", "White"): 13027,
        ("Female", "other"): 3165,
    }
    assert (100 * people.mean()).round(2).to_dict() == {
        ("Male", "White"): 31.55,
        ("Male", "other"): 21.79,
        ("Female", "White"): 11.84,
        ("Female", "other"): 7.17,
    }
    assert adult.y.sum() == 11_687
    assert load_adult(binary_race=False).sensitive["race"].nunique() == 5


def test_missing_values_are_where_the_question_marks_were(adult):
    missing = adult.X.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 2799, "occupation": 2809, "native-country": 857}


def test_the_weight_of_the_census_is_not_a_feature(adult):
    assert "fnlwgt" not in adult.X
    assert adult.X.shape[1] == 11


def test_parse_meets_every_trap_of_the_two_files():
    table = parse(DATA, TEST)
    assert list(table["class"]) == ["<=50K", ">50K", "<=50K", ">50K"]
    assert list(table["age"]) == [39, 26, 25, 56]
    assert list(table["workclass"].cat.categories) == ["Private", "State-gov"]
    assert table.isna().sum().sum() == 3
    assert table.dtypes[["age", "fnlwgt", "hours-per-week"]].eq("int64").all()


def test_the_bundled_files_are_upstreams():
    checksums = {
        "adult.data.gz": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "adult.test.gz": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    }
    for name, expected in checksums.items():
        assert hashlib.sha256(bundled(name)).hexdigest() == expected
