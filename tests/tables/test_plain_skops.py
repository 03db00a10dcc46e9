"""Plain values in skops' format are read without skops, and are what skops reads."""

import io
import json
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables._plain_skops import NotPlainError, read_plain

NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**60), 2**60)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def schema_of(value):
    with ZipFile(io.BytesIO(skops.io.dumps(value))) as archive:
        return json.loads(archive.read("schema.json"))


@given(PLAIN)
def test_plain_values_are_what_skops_reads(value):
    read = read_plain(schema_of(value))
    assert read == value == skops.io.loads(skops.io.dumps(value))
    assert json.dumps(read) == json.dumps(value)  # True is not 1


@pytest.mark.parametrize("value", [(1, 2), {1: "one"}, np.zeros(2), {"a": {"b"}}, [str], {"x": b"1"}], ids=repr)
def test_anything_else_is_left_to_skops(value):
    with pytest.raises(NotPlainError):
        read_plain(schema_of(value))


def test_other_versions_of_the_format_are_left_to_skops():
    for schema in ({**schema_of([1]), "protocol": 3}, {**schema_of([1]), "protocol": True}, [], None):
        with pytest.raises(NotPlainError):
            read_plain(schema)
