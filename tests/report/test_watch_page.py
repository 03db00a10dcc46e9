"""The page of a watch: it says what the monitor says, and runs and fetches nothing."""

import re
from html import unescape
from itertools import product

import numpy as np
import pytest

from mamofair.monitor import Monitor
from mamofair.report import render_watch, summarize_watch, write_watch

EVIL = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def watched() -> Monitor:
    rng, rows = np.random.default_rng(0), 6000
    day = np.sort(rng.integers(0, 40, rows))
    sex = rng.choice(["F", "M", EVIL], rows, p=[0.45, 0.45, 0.1])
    decided = rng.random(rows) < np.where((sex == "M") & (day > 25), 0.7, 0.3)
    monitor = Monitor.of(0.1, attributes=["sex"], notions=["dp", "tpr"])
    dates = np.datetime64("2026-01-01") + day
    y = np.where(rng.random(rows) < 0.5, rng.integers(0, 2, rows), np.nan)
    return monitor.update(decided, sensitive_features={"sex": sex}, y=y, ids=np.arange(rows), times=dates)


def test_every_sentence_and_figure_is_on_the_page(watched):
    page = unescape(render_watch(summarize_watch(watched, "loans", ["To switch: mamofair predict"])))
    for sentence in (*watched.answer.sentences()[1:], "To switch: mamofair predict"):
        assert sentence in page
    assert page.count("<svg") >= 5
    table = watched.history.periods[20454]["sex"]  # the first of January
    rates = table[:, 1] / table[:, 0]
    assert f"<td>{max(rates) - min(rates):.3f}</td>" in page
    assert 'data-status="exceeded"' in page


def test_the_page_says_whom_the_rates_are_about_and_what_is_assumed(watched):
    assert "must be begun with <code>--unit</code>" in render_watch(summarize_watch(watched))
    sex = np.repeat(["F", "M"], 100)
    data = {"sensitive_features": {"sex": sex}, "units": np.tile(np.arange(50), 4)}
    by_unit = Monitor.of(0.1, attributes=["sex"]).update(np.tile([True, False], 100), **data)
    page = render_watch(summarize_watch(by_unit))
    assert "about 50 units" in page
    assert "Gaps are those of units" in page
    assert "if what is decided about one unit does not depend on another" in page


def test_text_of_others_is_escaped_and_nothing_may_run_or_be_fetched(watched):
    page = render_watch(summarize_watch(watched, EVIL))
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=", page)


def test_a_watch_that_has_seen_nothing_has_a_page():
    page = render_watch(summarize_watch(Monitor.of(0.05, attributes=["sex"])))
    assert "not yet known" in page


def test_a_browser_shows_it_without_complaint_and_nothing_sticks_out(watched, visit, tmp_path):
    write_watch(watched, tmp_path / "watch.html", title="loans")
    for width, scheme in product((390, 1400), ("light", "dark")):
        page = visit((tmp_path / "watch.html").as_uri(), width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        sizes = page.eval_on_selector_all("article svg text", "all => all.map(t => t.getBoundingClientRect().height)")
        assert min(sizes) > 10
