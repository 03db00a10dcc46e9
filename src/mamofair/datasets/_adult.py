"""Adult: whether a person in the 1994 census earns more than 50,000 dollars a year."""

import io

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mamofair.datasets._base import Dataset, one_hot
from mamofair.datasets._files import bundled

NOMINAL = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "class",
)
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class"),
)
# The countries with more than 150 rows; the paper merges the other 33.
COUNTRIES = (
    *("Canada", "El-Salvador", "Germany", "India", "Mexico", "Philippines", "Puerto-Rico", "United-States"),
    "other",
)


def load_adult(*, binary_race: bool = True) -> Dataset:
    """Return the Adult data set: 48,842 people of the 1994 census of the United States.

    The label is an income above 50,000 dollars a year, which is both the positive class and favorable. X has
    every published column but three: sex and race, which are the sensitive attributes, and `fnlwgt`, the
    census's weight of a row, which says nothing about the person. Three columns have missing values. Note that
    `relationship` (Husband, Wife) nearly gives sex away.

    `design()` is the matrix of the paper's code, with sex and race among its 49 columns: coarse age and hours,
    no capital gain or loss. Expect about two percentage points more error than with all columns.

    Parameters
    ----------
    binary_race : bool
        Race as in the paper, `White` or `other`; if False the five values of the census.

    Returns
    -------
    Dataset
        With the sensitive attributes `sex` and `race`.

    Examples
    --------
    >>> adult = load_adult()
    >>> adult.y.groupby(adult.sensitive["sex"]).mean().round(4).to_dict()
    {'Female': 0.1093, 'Male': 0.3038}
    """
    table = parse(bundled("adult.data.gz"), bundled("adult.test.gz"))
    sensitive = table[["sex", "race"]].astype("str")
    if binary_race:
        sensitive["race"] = sensitive["race"].where(sensitive["race"] == "White", "other")
    return Dataset(
        name="adult",
        X=table.drop(columns=["fnlwgt", "sex", "race", "class"]),
        y=(table["class"] == ">50K").astype("int64").rename("income above $50K"),
        sensitive=sensitive,
        favorable=1,
        split_sizes=(10_000, 5_000),
        source="UCI Machine Learning Repository, https://doi.org/10.24432/C5XW20",
        license="CC BY 4.0",
        citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.",
        description="People of the 1994 census of the United States: who earns more than $50,000 a year?",
        coded_as_one={"sex": "Male", "race": "White"},
        recipe=recipe,
    )


def parse(data: bytes, test: bytes) -> pd.DataFrame:
    """Return the rows of `adult.data`, then those of `adult.test`, with missing values for `?`."""
    table = pd.read_csv(
        io.BytesIO(data + test),
        header=None,
        names=list(COLUMNS),
        skipinitialspace=True,
        comment="|",  # adult.test starts with the line "|1x3 Cross validator"
        na_values=["?"],
        keep_default_na=False,
        dtype=dict.fromkeys(NOMINAL, "category"),
    )
    # In adult.test, and only there, the label ends with a full stop.
    table["class"] = table["class"].astype("str").str.removesuffix(".").astype("category")
    return table


def recipe(X: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.int64]:
    """Return the 49 columns of the paper's code."""
    country = X["native-country"].astype("str")
    merged = country.where(country.isin(COUNTRIES) | country.isna(), "other")
    return np.column_stack(
        [
            np.digitize(X["age"], [25, 35, 45, 55], right=True),
            X["education-num"],
            np.digitize(X["hours-per-week"], [20, 35, 45, 60], right=True),
            *(one_hot(X[name]) for name in ("workclass", "marital-status", "occupation", "relationship")),
            one_hot(merged.astype(pd.CategoricalDtype(list(COUNTRIES)))),
            groups["race"],
            groups["sex"],
        ]
    )
