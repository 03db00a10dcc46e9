"""COMPAS: whether a defendant is arrested again within two years."""

import io

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mamofair.datasets._base import Dataset, one_hot
from mamofair.datasets._files import bundled

COUNTS = ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
NOMINAL = ("sex", "age_cat", "race", "c_charge_degree", "c_charge_desc")
COLUMNS = ("sex", "age", "age_cat", "race", *COUNTS, "c_charge_degree", "c_charge_desc", "two_year_recid")

TERMS = "none stated; public records of Broward County, Florida, reduced to 11 columns"


def load_compas(*, binary_race: bool = True) -> Dataset:
    """Return the COMPAS data set: 6,167 defendants of Broward County, Florida, in 2013 and 2014.

    The label is an arrest within two years. **It is the positive class of the paper and bad for the person**:
    `y` is 1 for it and `favorable` is 0. Equal opportunity in the paper's orientation compares the groups among
    those who were arrested again; pass `favorable=0` to metrics and estimators to compare those who were not.

    X has age in years and in three classes, counts of earlier offences as a juvenile and in all, and the degree
    and wording of the charge; the COMPAS scores themselves are left out, as in the paper. `design()` is the matrix
    of the paper's code, with race, sex and a column for both among its 402 columns.

    These are public records about real people. The bundled file has no names, birth dates, case numbers or
    custody dates, but most rows are unique: do not join it with other sources and do not publish rows.

    Parameters
    ----------
    binary_race : bool
        Race as in the paper, `Caucasian` or `other`; if False the six values of the records.

    Returns
    -------
    Dataset
        With the sensitive attributes `race` and `sex`.

    Examples
    --------
    >>> compas = load_compas()
    >>> compas.favorable
    0
    >>> compas.y.groupby(compas.sensitive["race"]).mean().round(4).to_dict()
    {'Caucasian': 0.3914, 'other': 0.4886}
    """
    table = parse(bundled("compas.csv.gz"))
    sensitive = table[["race", "sex"]].astype("str")
    if binary_race:
        sensitive["race"] = sensitive["race"].where(sensitive["race"] == "Caucasian", "other")
    return Dataset(
        name="compas",
        X=table.drop(columns=["race", "sex", "two_year_recid"]),
        y=table["two_year_recid"].rename("arrested again within two years"),
        sensitive=sensitive,
        favorable=0,
        split_sizes=(3_000, 2_000),
        source="ProPublica, https://github.com/propublica/compas-analysis",
        license=TERMS,
        citation="Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine Bias. ProPublica.",
        description="Defendants in Broward County, Florida, 2013-2014: who is arrested again within two years?",
        coded_as_one={"race": "Caucasian", "sex": "Male"},
        recipe=recipe,
    )


def reduce(propublica: bytes) -> bytes:
    """Return what we bundle of ProPublica's `compas-scores-two-years.csv`: 11 columns of the paper's 6,167 rows.

    The rows stay in their order, which the paper's arrays have too.
    """
    filters = ["days_b_screening_arrest", "is_recid", "score_text"]
    # Two header names occur twice; pandas calls the second ones priors_count.1 and decile_score.1.
    raw = pd.read_csv(io.BytesIO(propublica), usecols=[*COLUMNS, *filters])
    kept = (
        (raw["days_b_screening_arrest"].abs() <= 30)
        & (raw["is_recid"] != -1)
        & (raw["c_charge_degree"] != "O")
        & raw["score_text"].notna()
        & raw["c_charge_desc"].notna()
    )
    return raw.loc[kept, list(COLUMNS)].to_csv(index=False, lineterminator="\n").encode()


def parse(reduced: bytes) -> pd.DataFrame:
    """Return the table behind the bundled file."""
    table = pd.read_csv(io.BytesIO(reduced), dtype=dict.fromkeys(NOMINAL, "category"))
    degrees = {"F": "felony", "M": "misdemeanor"}
    table["c_charge_degree"] = table["c_charge_degree"].cat.rename_categories(degrees)
    return table


def recipe(X: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.int64]:
    """Return the 402 columns of the paper's code."""
    return np.column_stack(
        [
            X[["age", *COUNTS]],
            groups["sex"] * groups["race"],
            *(one_hot(X[name]) for name in ("age_cat", "c_charge_degree", "c_charge_desc")),
            groups["sex"],
            groups["race"],
        ]
    )
