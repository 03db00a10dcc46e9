"""The verdict on the page, in a real browser: that of the run, and for every other point the same rules and words."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect
from report_pages import require_said, require_verdict, said_of, shows
from report_runs import TWO_RATES, make_run

from mamofair.runs import judge
from mamofair.selection import FairestWithin, MostAccurateWithin

BOTH = {"demographic_parity[sex]": 0.05, "demographic_parity[race]": 0.12}
FAILED = {"status": "not enough data", "confidence": 0.9, "limits": {}, "message": "Not enough data to certify it."}
CERTIFIED = FAILED | {"status": "certified", "message": "It is certified."}
RUNS = {
    "limits by name": {"within": BOTH},
    "one limit": {"within": {"demographic_parity[race]": 0.1}},
    "no limit": {},
    "a failed certificate": {"within": 0.3, "certificate": FAILED, "stand_in": "Not enough data <b>."},
    "a certificate": {"within": 0.1, "certificate": CERTIFIED, "points": 12},
    "validation rows": {"within": 0.08, "test": False},
    "one limit for all, and small groups": {"within": 0.08, "data": {"small_groups": [
        {"attribute": "sex", "group": "x", "rows": 1200, "rates": [
            {"meaning": "P(ŷ=1)", "rate": None, "low": 0.0, "high": 1.0}]}]}},
    "at most a share": {"within": 0.3, "select_rate": "0.45", "points": 12},
    "a share alone": {"select_rate": "0.1,0.2"},
    "the error": {"selection": FairestWithin(0.3)},
    "an error that was not met": {"within": 0.3, "fairest_within": 0.2},
    "a measure of one's own": {"within": {"demographic_parity[sex]": 0.3, "effort": 0.5}, "custom": "test"},
    "a measure on other rows": {"within": {"effort": 0.5}, "custom": "validation"},
    "nearly everybody": {"within": 1.0},
    "nobody": {"within": 0.0},
}  # fmt: skip


@pytest.mark.parametrize("name", list(RUNS))
def test_every_point_is_judged_as_python_judges_it(opened, name):
    options = {"points": 6} | RUNS[name]  # every answer and sentence comes up that does with 12 in each run
    page, summary = opened(**options)
    run = make_run(**options)
    require_verdict(page, judge(run).to_json())
    points = [*(i for i in range(options["points"]) if i != summary["selected"]), summary["selected"]]
    for point, said in zip(points, said_of(page, points), strict=True):
        require_said(said, judge(run, point).to_json())
    if name in ("nearly everybody", "nobody"):  # color is never the only sign of an answer
        tone, sign = ("kept", "✓") if name == "nearly everybody" else ("missed", "✗")
        [said] = said_of(page, [summary["baseline"]])
        assert page.locator("#verdict").get_attribute("class") == f"verdict {tone}"
        assert said["headline"][0] == sign
        assert {tag[0] for tag in said["tags"]} == {sign}


def test_a_gap_that_is_undefined_cannot_be_told(opened):
    options = {"points": 3, "attributes": ("sex",), "within": 0.1, "empty": True}
    page, _ = opened(**options)
    for point, said in zip((1, 0), said_of(page, [1, 0]), strict=True):
        verdict = judge(make_run(**options), point)
        assert verdict.answer == "cannot be told"
        require_said(said, verdict.to_json())
    expect(page.locator("#untold")).to_contain_text("fewer than two groups have rows to compare")


def test_another_limit_is_judged_as_if_it_had_been_asked_for(opened):
    page, _ = opened(points=12, within=0.08, selection=MostAccurateWithin(1.0))
    for bound in ("0.02", "0.1", "0.25"):
        page.locator("#limit-1").fill(bound)
        point = int(page.locator("input[name=point]:checked").get_attribute("value"))
        shows(page, point)
        asked = {"demographic_parity[sex]": float(bound), "demographic_parity[race]": 0.08}
        found = replace(judge(make_run(points=12, within=asked), point), by_hand=True).to_json()
        before = "demographic_parity[sex] ≤ 0.08, demographic_parity[race] ≤ 0.08"
        moved = f"These limits were set by hand; training was asked for {before}."
        found["sentences"].insert(1 + len(asked), moved)
        require_verdict(page, found | {"chosen": {"why": "It was chosen by hand."}})
    expect(page.locator("#status")).to_contain_text("chosen by hand")


def test_who_gains_and_loses_is_counted(opened):
    page, summary = opened(**TWO_RATES)
    point = 3
    page.locator(f"#point-{point}").click()
    shows(page, point)
    lines = page.locator("#changes li").all_inner_texts()
    for g, group in enumerate(summary["groups"]["sex"]):
        now, before = (summary["points"][i]["confusion"][1][g] for i in (point, summary["baseline"]))
        net, size = sum(now[:2]) - sum(before[:2]), sum(before)
        share = abs(round(1000 * net / size))
        sign = "+" if net > 0 else "−" if net < 0 else "±"
        assert lines[g].startswith(f"Among 1,000 people whose sex is {group}, {share} " if share else "Among 1,000")
        assert lines[g].endswith(f"predicted approved = yes ({sign}{abs(net)} of {size})")
