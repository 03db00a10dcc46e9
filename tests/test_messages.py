"""Messages stay short, whatever they quote."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair import FairNetClassifier
from mamofair._messages import cut, quote, quote_some
from mamofair._rows.groups import read_groups
from mamofair.metrics import audit, gap
from mamofair.notions import as_notion
from mamofair.tables import parse_attribute, read_table

LONG = "x" * 5_000
LABELS = [LONG + "a", LONG + "b"] * 50
GROUPS = ["f", "m"] * 50


@given(st.text("aß… \n"), st.integers(3, 30))
def test_a_text_is_cut_in_its_middle_and_only_if_it_is_too_long(text, most):
    short = cut(text, most)
    assert len(short) <= most
    assert short == text if len(text) <= most else short.startswith(text[: most // 2]) and "…" in short


@given(st.text("aß'\n", min_size=1) | st.integers() | st.lists(st.floats()), st.integers(1, 20))
def test_quotes_are_short_and_those_of_short_values_are_what_python_writes(value, most):
    assert quote(value) == repr(value) if len(repr(value)) <= 60 else len(quote(value)) == 60
    assert len(quote_some([value] * 1000, most)) <= 70 * most + 20


def test_values_that_are_written_in_lines_are_quoted_in_one():
    assert quote(pd.DataFrame({"a": [1, 2]}, index=["x", "y"])) == "a x  1 y  2"
    assert quote(np.eye(2)) == "array([[1., 0.], [0., 1.]])"


FRAME = pd.DataFrame({"y": [0, 1] * 50, "sex": GROUPS, LONG: range(100), LONG + "2": "a"})
WIDE = pd.DataFrame({f"{i}{LONG[:500]}": [f"note {j}" for j in range(100)] for i in range(300)}).assign(
    y=[0, 1] * 50, sex=GROUPS, number=range(100)
)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: as_notion(LONG),
        lambda: parse_attribute(f"age:{LONG}", ["age"]),
        lambda: read_table(FRAME, LONG, sensitive="sex"),
        lambda: read_table(FRAME, "y", sensitive=LONG),
        lambda: read_table(FRAME, "y" + LONG, sensitive="sex"),
        lambda: read_table(FRAME, "z", sensitive="sex"),
        lambda: read_table(FRAME.assign(y=LABELS), "y", sensitive="sex"),
        lambda: read_table(FRAME.assign(y=LABELS), "y", favorable=LONG, sensitive="sex"),
        lambda: read_table(FRAME.assign(sex=LONG), "y", sensitive="sex"),
        lambda: read_table(WIDE, "z", sensitive="sex"),
        lambda: read_table(WIDE.drop(columns="number"), "y", sensitive="sex"),
        lambda: audit([0, 1] * 50, LABELS, sensitive_features=GROUPS),
        lambda: audit([0, 1] * 50, LABELS, sensitive_features=GROUPS, threshold=0.5),
        lambda: gap(LABELS, LABELS, sensitive_features=GROUPS, notion="dp", favorable="yes"),
        lambda: gap([*LABELS[:99], "c"], LABELS, sensitive_features=GROUPS, notion="dp"),
        lambda: gap([LONG] * 100, [LONG] * 100, sensitive_features=GROUPS, notion="dp"),
        lambda: gap([0, 1] * 50, [0, 1] * 50, sensitive_features=GROUPS, notion=LONG),
        lambda: read_groups({LONG: [f"{LONG}{i}" for i in range(100)]}),
        lambda: read_groups({LONG: range(100)}),
        lambda: read_groups({"a": [LONG]}).as_in(read_groups({"a": ["b"]})),
        lambda: FairNetClassifier(LONG).fit(np.eye(100), [0, 1] * 50, sensitive_features=GROUPS),
        lambda: FairNetClassifier({LONG: "dp"}).fit(np.eye(100), [0, 1] * 50, sensitive_features=GROUPS),
        lambda: FairNetClassifier().fit(np.eye(100), [*LABELS[:99], "c"], sensitive_features=GROUPS),
        lambda: FairNetClassifier().fit(np.eye(100), [0, 1] * 50, sensitive_features=[*["f"] * 99, LONG]),
    ],
)
def test_no_message_is_long(wrong):
    with pytest.raises((ValueError, UserWarning)) as caught:
        wrong()
    assert len(str(caught.value)) <= 500
