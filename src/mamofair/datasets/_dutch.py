"""Dutch census of 2001: whether a person works in a high-status occupation."""

import io
import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mamofair.datasets._base import Dataset, one_hot
from mamofair.datasets._files import DataFile, find, roots

FILE = DataFile(
    folder="dutch",
    name="dutch_census_2001.arff",
    sha256="0e7e3f32668919c239db820f625815e1ea834c71402cdea595e03ef08c8616ef",
)
TERMS = "none open; copyright Statistics Netherlands and Minnesota Population Center, for research"
PUBLISHED = "https://github.com/tailequy/fairness_dataset (folder Dutch_census)"

REGIONS = {"1": "Netherlands", "2": "rest of Europe", "3": "rest of the world"}
# What the codes say, after the codebook of the sample (IPUMS International, Netherlands 2001).
LABELS = {
    "age": {str(code): f"{5 * code - 5}-{5 * code - 1}" for code in range(1, 17)} | {"17": "80 and over"},
    "household_position": {
        "1110": "child",
        "1121": "married without children",
        "1122": "married with children",
        "1131": "cohabiting without children",
        "1132": "cohabiting with children",
        "1140": "lone parent",
        "1210": "living alone",
        "1220": "other",
    },
    "household_size": {"111": "1", "112": "2", "113": "3", "114": "4", "125": "5", "126": "6 or more"},
    "prev_residence_place": {"1": "same region", "2": "elsewhere", "9": "younger than one year"},
    "citizenship": REGIONS,
    "country_birth": REGIONS,
    "edu_level": {
        "0": "pre-primary",
        "1": "primary",
        "2": "lower secondary",
        "3": "upper secondary",
        "4": "post-secondary",
        "5": "tertiary",
        "9": "unknown",
    },
    "economic_status": {
        "111": "employee",
        "112": "in education with a job",
        "120": "self-employed",
        "210": "unemployed",
        "221": "in education without a job",
        "222": "retired",
        "223": "family duties",
        "224": "otherwise inactive",
    },
    "cur_eco_activity": {
        "111": "agriculture",
        "122": "industry",
        "124": "construction",
        "131": "trade",
        "132": "hotels and restaurants",
        "133": "transport and communication",
        "134": "finance",
        "135": "real estate and business services",
        "136": "public administration",
        "137": "education",
        "138": "health and social work",
        "139": "other services",
        "200": "not applicable",
    },
    "marital_status": {"1": "single", "2": "married", "3": "widowed", "4": "divorced"},
}


def fetch_dutch() -> Dataset:
    """Return the Dutch census of 2001: 60,420 people in high-status or low-status occupations.

    The label is an occupation of major group 1 or 2 (managers, professionals), a proxy for high income: it is the
    positive class and favorable. The other class are clerks, service and elementary workers. All ten features are
    categories; age is in classes of five years.

    The file has no open licence, so it is neither bundled nor downloaded: put it into `$MAMOFAIR_DATA` or the cache
    folder, with or without gzip. Its checksum is verified.

    How the paper encoded the features is not known. `design()` is the one-hot coding of all ten by the levels that
    occur, 59 columns; sex is not among them, which comes closest to the paper's figures. To add it:
    `np.column_stack([X, sensitive])`.

    Returns
    -------
    Dataset
        With the sensitive attribute `sex`.

    Raises
    ------
    FileNotFoundError
        If the file is not found; the message says where to get it and where to put it.
    ValueError
        If the file has unexpected content.

    Examples
    --------
    >>> dutch = fetch_dutch()  # doctest: +SKIP
    >>> dutch.y.groupby(dutch.sensitive["sex"]).mean().round(4).to_dict()  # doctest: +SKIP
    {'Female': 0.3271, 'Male': 0.6256}
    """
    content = find(FILE)
    if content is None:
        raise FileNotFoundError(
            f"The Dutch census must be on this machine as {FILE.name}, with or without .gz: not found in "
            f"{', '.join(map(str, roots()))}. It has no open licence and cannot be fetched for you. It is "
            f"published at {PUBLISHED}; its sha256 is {FILE.sha256}. Put it into {roots()[0] / FILE.folder}, "
            "or set MAMOFAIR_DATA to the folder that holds it."
        )
    table = parse(content)
    return Dataset(
        name="dutch",
        X=table.drop(columns=["sex", "occupation"]),
        y=(table["occupation"] == "2_1").astype("int64").rename("manager or professional"),
        sensitive=table[["sex"]].replace({"sex": {"1": "Male", "2": "Female"}}),
        favorable=1,
        split_sizes=(10_000, 5_000),
        source=f"Statistics Netherlands and IPUMS International; this file: {PUBLISHED}",
        license=TERMS,
        citation=(
            "Minnesota Population Center and Statistics Netherlands, Dutch Virtual Census 2001; "
            "Zliobaite, I., Kamiran, F. and Calders, T. (2011). Handling Conditional Discrimination. ICDM."
        ),
        description="People of the Dutch census of 2001: who works as a manager or professional?",
        coded_as_one={"sex": "Male"},
        recipe=recipe,
    )


def parse(content: bytes) -> pd.DataFrame:
    """Return the rows of the ARFF file with readable features; sex and occupation keep their codes."""
    header, rows = content.decode("ascii").split("@data", 1)
    names = [name.lower() for name in re.findall(r"^@attribute (\S+)", header, flags=re.MULTILINE)]
    table = pd.read_csv(io.StringIO(rows), header=None, names=names, dtype="str")
    for name, labels in LABELS.items():
        levels = table[name].astype(pd.CategoricalDtype(list(labels)))
        # The header declares values that no row has.
        table[name] = levels.cat.remove_unused_categories().cat.rename_categories(labels)
    return table


def recipe(X: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.int64]:
    """Return the one-hot columns of all features."""
    del groups
    return np.column_stack([one_hot(X[name]) for name in X])
