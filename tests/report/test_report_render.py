"""The page as a file: small, whole, and safe before a browser ever sees it."""

import json
import os
import re
from html import unescape
from pathlib import Path

import altair
import pytest
from report_runs import EVIL, EVIL_ATTRIBUTE, HOSTILE, TWO_RATES, make_run

from mamofair import report
from mamofair.report import render, summarize, write
from mamofair.report._charts import charts
from mamofair.report._vega import vega_runtime


def test_the_summary_in_the_page_is_the_summary():
    summary = summarize(make_run(**HOSTILE))
    [found] = re.findall(r'<script type="application/json" id="summary">(.*?)</script>', render(summary), re.S)
    assert json.loads(found) == summary
    assert not re.search("[<>&\u2028]", found)


def test_names_of_users_are_escaped_wherever_they_stand():
    page = render(summarize(make_run(**HOSTILE))).replace(vega_runtime(), "")
    assert EVIL not in page
    assert "<img" not in page
    assert EVIL in unescape(page)
    assert EVIL_ATTRIBUTE in unescape(page)
    assert page.count("<script") == 4  # two of data, the library and our own


def test_nothing_may_be_fetched_and_only_our_scripts_may_run():
    page = render(summarize(make_run(**TWO_RATES)))
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy.split("style-src")[0]
    assert not re.search(r"""<(?:link|iframe|object|embed)\b|<[^>]*\bsrc\s*=|@import|url\(""", page.split("<script")[0])


@pytest.mark.parametrize("name", list(charts()))
def test_every_picture_is_valid_vega_lite(name):
    spec = charts()[name]
    altair.Chart.from_dict(spec | {"$schema": altair.SCHEMA_URL})


def test_settings_data_and_licences_are_on_the_page():
    page = unescape(render(summarize(make_run(seed=7, versions={"torch": "2.13"}, command="mamofair train <x>"))))
    for part in ("torch: 2.13", "mamofair train <x>", "c0ffee", "not justice", "optimistic", "BSD-3-Clause", "40.0%"):
        assert part in page


def test_a_run_of_which_little_is_known_has_a_page():
    run = make_run(points=1, attributes=("sex",), test=False)
    bare = type(run)(run.estimator, {}, run.groups)
    page = render(summarize(bare))
    assert "<h1>Who gets “yes” predicted?</h1>" in page
    assert "1 model found" in page


def test_a_page_is_replaced_wholly_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write(make_run(**TWO_RATES), path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"
    monkeypatch.undo()
    write(make_run(**TWO_RATES), path)
    assert path.read_text().startswith("<!doctype html>")


def test_no_script_ends_the_element_it_stands_in():
    for script in (Path(report.__file__).parent / "templates" / "scripts").glob("*.js"):
        assert "</script" not in script.read_text()
        assert "innerHTML" not in script.read_text()


def test_a_run_without_scores_has_a_page_without_them():
    assert 'id="scores-title"' in render(summarize(make_run(points=3)))
    assert 'id="scores-title"' not in render(summarize(make_run(points=3, scores=False))).replace(vega_runtime(), "")


def test_sentences_about_an_incumbent_are_shown_as_text():
    page = render(summarize(make_run(), ["Row 3 is an alternative <b>."])).replace(vega_runtime(), "")
    assert "<li>Row 3 is an alternative &lt;b&gt;.</li>" in page
    assert "alternatives-title" not in render(summarize(make_run()))
