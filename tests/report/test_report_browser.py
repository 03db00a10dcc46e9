"""The page in a real browser: whatever one does, every view follows, and nothing leaves the page."""

import hashlib
import re

import numpy as np
import pytest
from playwright.sync_api import expect
from report_pages import WIDENED, cells, drawn, require_everywhere, shows, unfold
from report_runs import EVIL, EVIL_ATTRIBUTE, HOSTILE, LARGE, PORTFOLIO, TWO_RATES, make_run

from mamofair.runs import judge
from mamofair.selection import MostAccurateWithin

FIRST = "demographic_parity[sex]"
# Where the last axis of the parallel coordinates begins and ends.
ENDS = """() => {
    const box = [...document.querySelectorAll("#parallel .role-axis-grid line")].at(-1).getBoundingClientRect();
    return [[box.x, box.bottom], [box.x, box.top]];
}"""

# Clicks on a point, and ends when every picture shows it and is painted.
SELECT = """point => new Promise(done => {
    new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(done)))
        .observe(document.body, {attributeFilter: ["data-shown"]});
    document.getElementById(`point-${point}`).click();
})"""


def test_the_page_opens_with_the_point_that_the_estimator_selects_and_a_click_on_another_updates_every_view(opened):
    page, summary = opened()
    require_everywhere(page, summary, make_run().estimator.selected_)
    page.locator("#front").scroll_into_view_if_needed()
    place = page.evaluate("""() => {
        for (const mark of document.querySelectorAll("#front .layer_5_marks > *")) {
            const box = mark.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            const {id} = mark.__data__.datum;
            if (id > 3 && document.elementFromPoint(x, y) === mark) return [id, x, y];
        }
    }""")
    point, x, y = place
    assert point != summary["selected"]
    page.mouse.click(x, y)
    require_everywhere(page, summary, point)
    # Another gap, and then other rows, change what is drawn and keep the selection.
    page.locator("#gap").select_option("2")
    shows(page, point)
    assert [datum["x"] for datum in drawn(page, "front", "layer_5")] == [p[2][0] for p in summary["parts"]["test"]]
    expect(page.locator("#gap-meaning")).to_contain_text("gap in demographic parity by race")
    page.locator("#rows").select_option("validation")
    shows(page, point)
    assert [datum["x"] for datum in drawn(page, "front", "layer_5")] == [
        p[2][0] for p in summary["parts"]["validation"]
    ]


def test_a_slider_selects_the_most_accurate_point_within_and_greys_out_the_others(opened):
    page, summary = opened()
    front = make_run().estimator.front_
    for bound in (0.2, 0.1, 0.06):
        page.locator("#limit-1").fill(str(bound))
        point = MostAccurateWithin({front.columns[1]: bound})(front)
        require_everywhere(page, summary, point)
        outside = [
            int(i) for i in page.locator("#points tr.outside input").evaluate_all("all => all.map(i => i.value)")
        ]
        assert outside == [i for i, values in enumerate(summary["parts"]["test"]) if values[1][0] > bound]
        assert [datum["id"] for datum in drawn(page, "front", "layer_5") if not datum["inside"]] == outside
        assert drawn(page, "front", "layer_2") == [{"x": bound}]
        assert cells(page, "#values")[1][-2] == f"{bound:g}"
    page.locator("#no-limits").click()
    require_everywhere(page, summary, MostAccurateWithin(1.0)(front))
    expect(page.locator("#points tr.outside")).to_have_count(0)
    page.locator("#limit-0").fill("0.01")  # no point meets it: this is said, and the nearest is selected
    expect(page.locator("#status")).to_contain_text("No useful point is within these limits by the margin")
    require_everywhere(page, summary, MostAccurateWithin(1.0)(front))
    assert "It exceeds a limit on validation rows." in page.locator("#record-text").inner_text()


def test_limits_are_judged_on_validation_rows_and_what_test_rows_say_is_told(opened):
    page, summary = opened(selection=MostAccurateWithin(1.0, margin=0))
    shown, valid = summary["parts"]["test"], summary["parts"]["validation"]
    worse = next(i for i in range(len(valid)) if valid[i][1][0] < shown[i][1][0] - 0.01 and i == _first(valid, i))
    bound = -(-valid[worse][1][0] * 1000 // 1) / 1000
    page.locator("#no-limits").click()
    page.locator("#limit-1").fill(str(bound))
    require_everywhere(page, summary, worse)
    verdict = judge(make_run(within={FIRST: bound}, selection=MostAccurateWithin(1.0, margin=0)), worse)
    assert verdict.answer in ("not kept", "cannot be told")
    expect(page.locator("#status")).to_contain_text("chosen by hand, within the limits on validation rows")
    expect(page.locator("#headline")).to_contain_text(verdict.headline)


def _first(valid, i):
    """Return the most accurate point whose first gap is within that of point i, to the next thousandth."""
    bound = -(-valid[i][1][0] * 1000 // 1) / 1000
    return next(j for j, values in enumerate(valid) if values[1][0] <= bound)


def test_dragging_on_a_parallel_axis_filters(opened):
    page, summary = opened()
    page.locator("#parallel").scroll_into_view_if_needed()
    (x, low), (_, high) = page.evaluate(ENDS)
    page.mouse.move(x, high)
    page.mouse.down()
    page.mouse.move(x, low + 0.4 * (high - low), steps=3)
    page.mouse.up()
    bound = float(page.locator(".slider output").nth(2).inner_text().removeprefix("≤ "))
    values = [point[2][0] for point in summary["parts"]["test"]]
    assert bound == pytest.approx(0.6 * min(values) + 0.4 * max(values), abs=0.003)
    front = make_run().estimator.front_
    require_everywhere(page, summary, MostAccurateWithin({front.columns[2]: bound})(front))
    greyed = {datum["id"] for datum in drawn(page, "parallel", "layer_0") if not datum["inside"]}
    assert greyed == {i for i, value in enumerate(values) if value > bound}
    assert 0 < len(greyed) < len(front)
    assert len(drawn(page, "parallel", "layer_3")) == 1


def test_the_keyboard_reaches_every_point_and_every_slider(opened):
    page, summary = opened()
    page.locator("input[name=point]:checked").focus()
    page.keyboard.press("ArrowDown")
    require_everywhere(page, summary, summary["selected"] + 1)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.locator("#limit-2").focus()
    page.keyboard.press("Home")
    expect(page.locator(".slider output").nth(2)).to_have_text("≤ 0.000")
    for field in page.locator("input:not([type=radio]), select, textarea, button").all():
        assert field.evaluate("field => (field.labels?.length ?? 0) + field.innerText.length > 0")


def test_the_record_has_the_point_the_limits_the_reasons_and_the_checksum(opened, tmp_path):
    page, summary = opened()
    page.locator("#limit-1").fill("0.1")
    page.locator("#name").fill("Ada")
    page.locator("#reasons").fill("Because <b>we</b> said so.\nTwice.")
    record = page.locator("#record-text").inner_text()
    point = int(page.locator("input[name=point]:checked").get_attribute("value"))
    assert f"Chosen: point {point} of 40" in record
    for part in ("Decided by: Ada", "limit 0.100", "<b>we</b> said so.\nTwice.", summary["checksum"], "c0ffee"):
        assert part in record
    assert re.search(r"^Date: \d{4}-\d\d-\d\d$", record, re.M)
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == f"decision-point-{point}.txt"
    download.value.save_as(tmp_path / "record.txt")
    assert (tmp_path / "record.txt").read_text() == f"{record}\n"
    text, _, said = record.rpartition("SHA-256 of all lines above: ")
    assert said == hashlib.sha256(text.encode()).hexdigest()
    page.locator("#copy").click()
    expect(page.locator("#copied")).to_have_text(re.compile("Copied|Ctrl"))


def test_names_of_users_are_shown_as_text_and_never_run(opened):
    page, _ = opened(**HOSTILE)
    page.locator("#gap").select_option("2")
    page.locator("#point-3").click()
    shows(page, 3)
    text = page.locator("body").inner_text()
    assert EVIL in text
    assert EVIL_ATTRIBUTE.strip("\u2028") in text.replace("\u2028", "")
    unfold(page)
    assert EVIL in page.locator("#scores svg").text_content()
    assert EVIL in page.locator("#rates").inner_text()
    assert page.evaluate("document.querySelectorAll('img, b + script, #who-pays script, table script').length") == 0
    assert page.evaluate("document.scripts.length") == 4


def test_300_points_of_five_objectives_fit_and_selecting_one_takes_less_than_a_tenth_of_a_second(opened):
    """On a slow machine: no more than four times as long as among six, where words take most of the time."""
    page, _ = opened(points=6)
    few = seconds_to_select(page, range(6))
    page, summary = opened(**LARGE, within=0.1)
    assert len(page.content().encode()) < 3_000_000  # with all that was drawn
    assert len(summary["points"]) == 300
    assert len(summary["objectives"]) == 5
    many = seconds_to_select(page, (*range(0, 300, 30), 299))
    assert 0 < many < max(0.1, 4 * few), (many, few)
    require_everywhere(page, summary, 299)


def seconds_to_select(page, points) -> float:
    """Return the median processor time of the page's main thread, whatever else the machine does in between."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    times = []
    for point in points:
        before = worked()
        page.evaluate(SELECT, point)
        times.append(worked() - before)
    session.detach()
    return float(np.median(times))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_readable_and_the_page_is_no_wider_than_the_window(opened, scheme):
    page, _ = opened({"width": 390, "scheme": scheme}, within=0.1)
    assert page.locator(".slider output").all_inner_texts() == ["no limit", "≤ 0.100", "≤ 0.100"]  # of the run
    unfold(page)
    for width, chart in ((390, 200), (1400, 390)):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDENED, chart)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for table in ("#points", "#values", "#rates", "#causes", "#scores-table"):  # whole, without scrolling
            frame = page.locator(table).first.locator("..")
            assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 0, table
    for text in (
        "h1",
        "#values td",
        "#status",
        ".hint",
        "#front .mark-text text",
        "#scores .mark-text text",
        "#record-text",
        "#headline",
        "#sentences p",
        "#cards .tag",
        "#cards svg text",
        "#rates .quiet th",
    ):
        assert page.locator(text).first.evaluate(CONTRAST) > 4.5, text
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


# Of a text on what is behind it, as WCAG defines it.
CONTRAST = """element => {
    const channels = (color) => color.match(/[0-9.]+/g).map(Number);
    const light = (color) => channels(color).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const style = getComputedStyle(element);
    let behind = element;
    while (behind.parentElement && (channels(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0)
        behind = behind.parentElement;
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const both = [light(ink), light(getComputedStyle(behind).backgroundColor)];
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}"""


def test_without_test_rows_validation_rows_are_shown_and_named(opened):
    page, summary = opened(test=False)
    expect(page.locator("#answer")).to_contain_text("Error and gaps, on validation rows")
    expect(page.locator("#untold")).to_contain_text("there are no test rows")
    expect(page.locator("#rows")).to_have_count(0)
    require_everywhere(page, summary, summary["selected"])


def test_of_a_portfolio_the_moment_is_shown_of_points_of_the_model_whose_training_is_drawn(opened):
    page, _ = opened(**PORTFOLIO)
    unfold(page)
    expect(page.locator("#training .hint")).to_contain_text(
        "Shown for net, the first model that is trained step by step"
    )
    for point, moment in ((2, [{"step": 20}]), (3, []), (4, [{"step": 40}])):
        page.locator(f"#point-{point}").click()
        shows(page, point)
        assert drawn(page, "objectives", "layer_2") == drawn(page, "weights", "layer_2") == moment


def test_one_gap_needs_no_parallel_coordinates_and_every_rate_of_a_notion_is_drawn(opened):
    page, summary = opened(**TWO_RATES)
    expect(page.locator("#parallel")).to_have_count(0)
    titles = page.locator("#rates .part").all_inner_texts()
    assert titles == [
        "Sex: the share predicted approved = yes, among those whose approved is yes",
        "Sex: the share predicted approved = yes, among those whose approved is no",
    ]
    assert page.locator("#rates tr:not(.part, .quiet)").count() == 1 + 2 * 3  # the header, and rates by group
    unfold(page)
    assert len(cells(page, "#causes")) == 2
    assert len(drawn(page, "front", "layer_3")) == len(summary["points"])  # few points show all their intervals


def test_a_shared_page_shows_every_point_without_numbers_of_small_groups(opened):
    page, summary = opened(least=8, names=("a", "b", "c"), points=6)
    for point in range(len(summary["points"])):
        page.evaluate(SELECT, point)
        shows(page, point)
        is_hidden = summary["points"][point]["hides_groups"]
        assert is_hidden == (point not in (summary["baseline"], summary["selected"]))
        assert ("is not shown for this model" in page.locator("#changes").inner_text()) == is_hidden
        assert not re.search("NaN|undefined|null", page.locator("main, body").first.inner_text())
