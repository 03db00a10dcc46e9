"""Plain values in skops' format are read and written without skops, and are what skops reads and writes."""

import io
import json
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables._plain_skops import NotPlainError, read_plain, write_plain
from mamofair.tables.skops_files import write_parts

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


def without_ids(state):
    if isinstance(state, list):
        return [without_ids(part) for part in state]
    return {key: without_ids(part) for key, part in state.items() if key != "__id__"} if type(state) is dict else state


@given(PLAIN)
def test_plain_values_are_written_as_skops_writes_them(value):
    assert without_ids(write_plain(value)) == without_ids(schema_of(value))
    assert skops.io.loads(write_parts(value, "It", "a value", frozenset())) == value


@pytest.mark.parametrize("value", [(1, 2), {1: "one"}, np.zeros(2), {"a": {"b"}}, [str], {"x": b"1"}], ids=repr)
def test_anything_else_is_left_to_skops(value):
    with pytest.raises(NotPlainError):
        read_plain(schema_of(value))
    with pytest.raises(NotPlainError):
        write_plain(value)


def test_other_versions_of_the_format_are_left_to_skops():
    for schema in ({**schema_of([1]), "protocol": 3}, {**schema_of([1]), "protocol": True}, [], None):
        with pytest.raises(NotPlainError):
            read_plain(schema)
