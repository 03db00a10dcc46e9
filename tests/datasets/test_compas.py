import gzip
import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isolation import NOT_BUNDLED
from mamofair.datasets import load_compas
from mamofair.datasets._compas import COLUMNS, parse, reduce
from mamofair.datasets._files import bundled

X_SHA256 = "b63891989002262f792fabb72ce0d0b180ddaa8418037725b1c356fe07472181"
LABELS_SHA256 = "8d47dbf8fb0a28257fe17d25ded948700121e09f25e804bc22e653fff3e7cc4b"

# Made up, in the format of ProPublica's file as far as it matters: two headers occur twice and one column is empty.
HEADER = (
    "id,name,dob,sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_case_number,c_charge_degree,c_charge_desc,is_recid,violent_recid,decile_score,score_text,"
    "priors_count,two_year_recid\n"
)
ROWS = {
    "kept": '1,a b,1947-01-01,Male,69,Greater than 45,Other,0,1,0,0,2,-1,x1,F,"Poss 3,4 MDMA",0,,1,Low,7,0\n',
    "kept on the border": "2,c d,1982-01-01,Female,34,25 - 45,Caucasian,0,3,0,0,0,30,x2,M,Battery,1,,3,Low,0,1\n",
    "too late": "3,e f,1991-01-01,Male,24,Less than 25,Asian,0,4,0,1,4,-31,x3,F,Battery,1,,4,Low,4,1\n",
    "no arrest": "4,g h,1993-01-01,Male,23,Less than 25,Asian,0,8,1,0,1,,x4,F,Battery,0,,8,High,1,0\n",
    "unknown outcome": "5,i j,1973-01-01,Male,43,25 - 45,Other,0,1,0,0,2,1,x5,F,Battery,-1,,1,Low,2,0\n",
    "a traffic offence": "6,k l,1973-01-01,Male,43,25 - 45,Other,0,1,0,0,2,1,x6,O,Battery,0,,1,Low,2,0\n",
    "no score": "7,m n,1973-01-01,Male,43,25 - 45,Other,0,-1,0,0,2,1,x7,F,Battery,0,,-1,N/A,2,0\n",
    "no charge": "8,o p,1973-01-01,Male,43,25 - 45,Other,0,1,0,0,2,1,x8,F,,0,,1,Low,2,0\n",
}


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array, "<i8").tobytes()).hexdigest()


@pytest.fixture(scope="module")
def compas():
    return load_compas()


@pytest.mark.parametrize("binary_race", [True, False])
def test_design_is_the_papers_byte_for_byte(binary_race):
    X, y, sensitive = load_compas(binary_race=binary_race).design()
    assert X.shape == (6167, 402)
    assert X.dtype == y.dtype == sensitive.dtype == np.int64
    assert sha256(X) == X_SHA256
    assert sha256(np.column_stack([y, sensitive])) == LABELS_SHA256


def test_groups_and_base_rates_are_the_published_ones(compas):
    people = compas.y.groupby([compas.sensitive["sex"], compas.sensitive["race"]])
    assert people.size().to_dict() == {
        ("Male", "Caucasian"): 1620,
        ("Male", "other"): 3374,
        ("Female", "Caucasian"): 480,
        ("Female", "other"): 693,
    }
    assert (100 * people.mean()).round(2).to_dict() == {
        ("Male", "Caucasian"): 40.25,
        ("Male", "other"): 51.69,
        ("Female", "Caucasian"): 35.42,
        ("Female", "other"): 35.06,
    }
    assert compas.y.sum() == 2809


def test_race_is_shown_as_recorded_on_request():
    race = load_compas(binary_race=False).sensitive["race"]
    assert race.value_counts().to_dict() == {
        "African-American": 3173,
        "Caucasian": 2100,
        "Hispanic": 509,
        "Other": 343,
        "Asian": 31,
        "Native American": 11,
    }


def test_the_positive_class_is_not_the_favorable_one(compas):
    assert compas.y.name == "arrested again within two years"
    assert compas.favorable == 0


def test_the_bundled_file_has_nothing_but_the_recipe_needs():
    table = pd.read_csv(io.BytesIO(bundled("compas.csv.gz")))
    assert tuple(table) == COLUMNS
    assert len(table) == 6167


def test_reduce_keeps_the_papers_rows_and_no_identity():
    reduced = reduce("".join([HEADER, *ROWS.values()]).encode())
    table = pd.read_csv(io.BytesIO(reduced))
    assert tuple(table) == COLUMNS
    assert list(table["age"]) == [69, 34]
    assert list(table["c_charge_desc"]) == ["Poss 3,4 MDMA", "Battery"]
    assert list(table["priors_count"]) == [2, 0]  # the first of the two columns of that name


def test_parse_spells_out_the_degree_of_a_charge():
    table = parse(reduce("".join([HEADER, *ROWS.values()]).encode()))
    assert list(table["c_charge_degree"]) == ["felony", "misdemeanor"]


def test_reduce_gives_the_bundled_file(real_data):
    raw = Path(os.environ.get("MAMOFAIR_DATA", "")) / "compas" / "compas-scores-two-years.csv.gz"
    if not raw.is_file():
        pytest.skip(NOT_BUNDLED)
    assert reduce(gzip.decompress(raw.read_bytes())) == bundled("compas.csv.gz")
