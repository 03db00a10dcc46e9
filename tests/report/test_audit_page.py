"""The page of an audit: it says what the audit says, and runs and fetches nothing."""

import os
import re
from html import unescape
from itertools import product

import numpy as np
import pandas as pd
import pytest

from mamofair.metrics import audit
from mamofair.performance import Cost
from mamofair.report import render_audit, summarize_audit, write_audit

EVIL = '<script>alert("1")</script>'


def decided(n=2000, evil="east"):
    rng = np.random.default_rng(0)
    towns = rng.choice(["north", "south", evil], n, p=[0.5, 0.49, 0.01])
    people = pd.DataFrame({"sex": rng.choice(["F", "M", None], n, p=[0.49, 0.49, 0.02]), "town": towns})
    y = rng.integers(0, 2, n)
    score = np.clip(0.3 + 0.3 * y + 0.1 * (people["sex"] == "M") + 0.15 * rng.normal(size=n), 0, 1)
    return np.where(y, "yes", "no"), score, people, rng.choice([2023, 2024], n)


def audited(**options):
    y, score, people, _ = decided()
    return audit(y, score, sensitive_features=people, **{"favorable": "yes", "threshold": 0.5, "limit": 0.1} | options)


def test_the_summary_is_what_the_audit_says():
    found = audited(crossed=True)
    summary = summarize_audit(found, "loans")
    frame = found.frame()
    assert [gap["verdict"] for gap in summary["gaps"]] == frame["verdict"].tolist()
    assert [gap["gap"] for gap in summary["gaps"]] == frame["gap"].tolist()
    assert sum(summary["verdicts"].values()) == len(frame)
    assert {gap["limit"] for gap in summary["gaps"]} == {0.1}
    assert summary["scale"] >= max(frame["high"])
    by_group, groups = found.by_group, found.groups()
    for attribute in summary["attributes"]:
        assert [group["count"] for group in attribute["groups"]] == by_group.loc[attribute["name"]]["count"].tolist()
        own = groups[groups["attribute"] == attribute["name"]]
        for group in attribute["groups"]:
            assert [cell["rate"] for cell in group["cells"]] == own[own["group"] == group["name"]]["rate"].tolist()
        assert set(attribute["small"]) == set(own[own["too_small"]]["group"])
    assert [one["unknown"] for one in summary["attributes"]][:2] == [found.people.codes[:, 0].tolist().count(-1), 0]
    assert [one["ratio"]["ratio"] for one in summary["attributes"]] == found.ratios()["ratio"].tolist()


def test_every_figure_is_on_the_page():
    found = audited(notions=["dp", "tpr"])
    *_, years = decided()
    page = unescape(render_audit(summarize_audit(found, "loans", found.over(years))))
    for row in found.frame().itertuples():
        assert f"gap <b>{row.gap:.3f}</b>, between {row.low:.3f} and {row.high:.3f}; limit 0.1" in page
    for row in found.ratios().itertuples():
        assert f"<b>{row.ratio:.3f}</b>, between {row.low:.3f} and {row.high:.3f}." in page
    for row in found.over(years).itertuples():
        assert f"<td>{row.value}</td><td>{row.rows:,}</td><td>{row.gap:.3f}</td>" in page
    assert f"Error {found.error:.3f}; selection rate {found.tally.positive_share:.3f}." in page
    assert "predicted yes, among those whose true label is yes" in page
    assert "Too small to judge, because the interval of a rate is wider than twice the limit: east." in page
    assert "2,000 decisions: favorable if the score is above 0.5." in page
    assert "The favorable outcome is <b>yes</b>. Error" in page


def test_scores_and_costs_are_on_the_page():
    found = audited(notions=["dp"], performance=Cost(fp=1, fn=5))
    page = unescape(render_audit(summarize_audit(found)))
    assert f"cost (fp=1, fn=5, tp=0, tn=0) {found.cost:.3f}; selection rate" in page
    for row in found.auc().itertuples():
        assert f"<td>{row.auc:.3f} <small>{row.low:.3f} to {row.high:.3f}</small></td>" in page
    for row in found.calibration_error().itertuples():
        assert f"<td>{row.difference:.3f} <small>{row.low:.3f} to {row.high:.3f}</small></td>" in page
    for row in found.around_threshold().itertuples():
        name = f"{row.attribute} = {row.group}" if row.attribute else "everyone"
        assert f'<th scope="row">{name}</th><td>{row.rows:,.0f}</td><td>{row.above:.3f}</td>' in page
    y, score, people, _ = decided()
    decisions = np.where(score > 0.5, "yes", "no")
    assert 'id="scores"' not in render_audit(
        summarize_audit(audit(y, decisions, sensitive_features=people, favorable="yes"))
    )


def test_groups_that_are_left_out_are_named_and_have_no_ratio():
    page = unescape(render_audit(summarize_audit(audited(min_group=30, notions="dp", units=range(2000)))))
    rows = int((decided()[2]["town"] == "east").sum())
    assert f"Left out of the gaps and ratios for too few units: east ({rows})." in page
    assert "east <small>(too few units)</small>" in page
    assert re.search(r"east <small>.*?<td>–</td>", page, re.DOTALL)
    assert "Too small to judge" not in page
    assert "2,000 decisions about 2,000 units, which intervals count: favorable if" in page


def test_a_page_without_true_labels_shows_no_error():
    _, score, people, _ = decided()
    page = render_audit(summarize_audit(audit(None, score, sensitive_features=people, threshold=0.5)))
    assert "True labels are unknown; selection rate" in page
    assert "Error" not in page
    assert "above the threshold" in page
    assert "AUC" not in page
    assert "The favorable outcome is" not in page
    assert "Without true labels, nothing here says whether decisions were right." in page


def test_no_law_is_quoted_and_nothing_is_called_compliant():
    page = render_audit(summarize_audit(audited())).lower()
    for word in ("compliant", "passes", "four-fifths", "0.8,"):
        assert word not in page


def test_names_are_escaped_and_nothing_may_run_or_be_fetched():
    y, score, people, years = decided(evil=EVIL)
    people = people.rename(columns={"town": EVIL + "town"})
    found = audit(y, score, sensitive_features=people, favorable="yes", threshold=0.5)
    page = render_audit(summarize_audit(found, EVIL, found.over(np.where(years == 2023, EVIL, "x"))))
    assert "<script" not in page
    assert EVIL in unescape(page)
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"<(?:link|iframe|object|embed|img)\b|<[^>]*\bsrc\s*=|@import|url\(|href", page)


@pytest.mark.parametrize(
    ("decisions", "groups"),
    [([0, 1, 1, 0], ["a"] * 4), ([0, 0, 0, 0], ["a", "a", "b", "b"]), ([1, 0, 1, 0], [None] * 4)],
    ids=["one group", "nobody selected", "no group known"],
)
def test_odd_audits_have_a_page(decisions, groups):
    page = render_audit(summarize_audit(audit([0, 1, 1, 0], decisions, sensitive_features=groups)))
    assert "nan" not in page.lower()
    assert "None" not in page


def test_weighted_audits_and_strata_have_a_page():
    y, score, people, years = decided()
    weight = np.random.default_rng(1).gamma(2, size=len(y))
    options = {"notions": ["conditional_dp", "dp_ratio"], "strata": years, "sample_weight": weight, "threshold": 0.5}
    found = audit(y, score, sensitive_features=people["sex"], favorable="yes", **options)
    page = unescape(render_audit(summarize_audit(found)))
    assert "sex within strata" in page
    assert "limit 0.05, a ratio of at least 0.95" in page
    assert f"<td>{weight[people['sex'] == 'F'].sum():,.1f}</td>" in page


def test_a_page_is_written_wholly_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "audit.html"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_audit(audited(), path)
    assert path.read_text() == "old"
    monkeypatch.undo()
    write_audit(audited(), path, title="loans")
    assert "<title>Audit: loans</title>" in path.read_text()
    assert path.read_text().startswith("<!doctype html>")


def test_the_page_fits_its_window_and_the_browser_has_nothing_to_say(visit, tmp_path):
    y, score, people, years = decided(evil="an unbroken name of a town " + "x" * 80)
    found = audit(y, score, sensitive_features=people, favorable="yes", threshold=0.5, crossed=True)
    write_audit(found, tmp_path / "audit.html", over=found.over(years))
    for width, scheme in product((390, 1400), ("light", "dark")):
        page = visit((tmp_path / "audit.html").as_uri(), width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("article").count() == len(found.frame())
