"""The page at odd values, on narrow and wide screens and on paper: nothing collapses, sticks out or is cut."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from report_pages import WIDENED, shows, unfold
from report_runs import LARGE, make_run

from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS
from mamofair.report import render, summarize

LONG = "attribute_with_a_name_of_eighty_characters_that_no_line_can_break_anywhere_at_al"
WORDS = "a group whose name has eighty characters and many words, such as forms may have"
SIX = {"notions": (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS), "within": 0.1}
ODD = {
    "a limit beyond the axis": {"points": 8, "within": 0.9},
    "a limit of zero": {"points": 8, "within": 0.0},
    "one point": {"points": 1, "within": 0.05},
    "three hundred points": {**LARGE, "within": 0.1},
    "one gap, and 0 is favorable": {"points": 8, "attributes": ("sex",), "favorable": "0", "within": 0.1},
    "six gaps": {"points": 8, **SIX},
    "forty groups": {"points": 5, "names": tuple(f"group {i}" for i in range(40)), "rows": 4000, "within": 0.1},
    "long names": {"points": 5, "attributes": (LONG, "sex"), "names": (LONG + "s", WORDS), "within": 0.1},
    "no rows of a group": {"points": 5, "within": 0.1, "empty": True},
}

# How wide the page and its drawings are, how marks of the front's limit are clipped, and how far marks of a card stick
# out of it.
DRAWN = """() => {
    const box = element => element.getBoundingClientRect();
    const all = (selector, within = document) => [...within.querySelectorAll(selector)];
    return {
        page: document.documentElement.scrollWidth,
        charts: all(".chart svg").map(chart => box(chart).width),
        front: box(document.querySelector("#front .background")).width,
        clipped: [0, 1, 2].flatMap(i => all(`#front .layer_${i}_marks`))
            .map(mark => mark.getAttribute("clip-path") ?? ""),
        cards: all("#cards svg").map(card => ({
            width: box(card).width,
            sticksOut: Math.max(...[...card.children]
                .flatMap(one => [box(card).left - box(one).left, box(one).right - box(card).right])),
        })),
    };
}"""


def require_whole(page: Page, width: int) -> None:
    """Check that the page is as wide as the window, and that no drawing has collapsed."""
    drawn = page.evaluate(DRAWN)
    assert drawn["page"] <= width
    assert drawn["charts"]
    assert min(drawn["charts"]) > 200
    assert drawn["front"] > 200
    assert drawn["clipped"]
    assert all(path.startswith("url(#") for path in drawn["clipped"])
    assert drawn["cards"]
    for card in drawn["cards"]:
        assert card["width"] > 200
        assert card["sticksOut"] <= 1


def require_good_print(page: Page) -> None:
    """Check that on paper there are three pages at most, white, without controls, and that no table is cut."""
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 3
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#headline").evaluate("text => getComputedStyle(text.parentElement).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    for hidden in ("#save", "#points", "#sliders", "#people", "#name", "nav"):
        expect(page.locator(hidden)).to_be_hidden()
    for seen in ("#headline", "#values", "#rates", "#caveats", "#record-text", ".sign"):
        expect(page.locator(seen)).to_be_visible()
    page.set_viewport_size({"width": 718, "height": 1000})  # of A4 with the page's margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    for table in ("#values", "#rates"):
        assert page.locator(table).evaluate("table => getComputedStyle(table).breakInside") == "avoid"
        frame = page.locator(table).locator("..")
        assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 0


def require_largest_changes(page: Page, summary: dict[str, Any]) -> None:
    """Check that the largest changes of many groups are told, and that all groups are in the table."""
    point = 2
    page.locator(f"#point-{point}").click()
    shows(page, point)
    expect(page.locator("#changes")).to_contain_text("72 other groups change less")
    rows = page.locator("#rates tr:not(.part, .quiet)").count()
    assert rows == 1 + 2 * 40
    ratios = page.locator("#rates tbody").first.locator("tr:not(.part, .quiet) td:nth-child(5)").all_inner_texts()
    rates = [group[0] for group in summary["points"][point]["rates"][0]]
    assert ratios == [f"{rate / max(rates):.2f}" for rate in rates]


@pytest.mark.parametrize("name", list(ODD))
def test_odd_values_neither_collapse_a_chart_nor_widen_the_page(opened, name):
    page, summary = opened({"width": 390, "scheme": "dark"}, **ODD[name])
    unfold(page)
    require_whole(page, 390)
    page.set_viewport_size({"width": 1400, "height": 900})
    assert page.evaluate(WIDENED, 390)
    require_whole(page, 1400)
    if name == "a limit beyond the axis":
        expect(page.locator("#gap-meaning")).to_contain_text("The limit 0.9 is beyond the axis.")
        expect(page.locator("#cards svg").first).to_contain_text("limit 0.9 →")
        expect(page.locator("#cards .rule")).to_have_count(0)
    if name == "a limit of zero":
        expect(page.locator("#cards .rule")).to_have_count(2)
    if name == "forty groups":
        require_largest_changes(page, summary)
    if name in ("six gaps", "three hundred points"):  # on paper, whatever the screen's theme
        require_good_print(page)


def test_people_of_unknown_group_and_small_groups_are_in_the_table(opened):
    small = {"attribute": "sex", "group": "x", "rows": 12, "rates": [
        {"meaning": "P(ŷ=1)", "rate": 0.25, "low": 0.1, "high": 0.5}]}  # fmt: skip
    page, _ = opened(points=4, empty=True, data={"small_groups": [small]})
    [few, unknown] = page.locator("#rates tbody").first.locator("tr.quiet").all_inner_texts()
    assert few.split("\t") == [
        "x (too small)",
        "12",
        "0.250 [0.100, 0.500] for the point chosen in training; left out of the gaps",
    ]
    assert re.fullmatch(r"unknown or too small\t\d+\tleft out of the gaps", unknown)
    expect(page.locator("#untold")).to_contain_text("whose sex is unknown or too rare: no gap counts them")


def test_a_data_check_is_rendered_whatever_it_holds():
    check = {"rows": 10, "left_out": [{"column": "<id>", "why": "an id"}], "notes": ["a"] * 7, "balance": {"yes": 0.3}}
    run = make_run(points=2, data={"check": check})
    page = render(summarize(run))
    for part in ("<dt>left out</dt>", "<td>&lt;id&gt;</td><td>an id</td>", "<li>a</li>", "<dt>yes</dt><dd>0.3"):
        assert part in page
    assert 'id="data-check"' not in render(summarize(make_run(points=2)))
