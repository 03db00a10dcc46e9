"""What tests ask of an open page."""

from typing import Any

from playwright.sync_api import Page, expect

# Waits are for locators: `wait_for_function` polls with eval, which the page's content security policy forbids, so it
# fails whenever its first look comes too early.


# Ends when the front is drawn wider than this, or after so many frames that it never will be.
WIDENED = """wide => new Promise(done => {
    const isWider = () => document.querySelector("#front .background").getBoundingClientRect().width > wide;
    const look = (frames) => isWider() || !frames ? done(isWider()) : requestAnimationFrame(() => look(frames - 1));
    look(600);
})"""


def shows(page: Page, point: int) -> None:
    """Wait until every picture shows this point."""
    expect(page.locator(f'body[data-shown^="{point}/"]')).to_have_count(1, timeout=30_000)


def drawn(page: Page, chart: str, layer: str) -> list[dict[str, Any]]:
    """Return what the marks of one layer of a picture stand for, in the order in which they are drawn."""
    marks = f"#{chart} .{layer}_marks > *"
    return page.evaluate("marks => [...document.querySelectorAll(marks)].map(mark => mark.__data__.datum)", marks)


def cells(page: Page, table: str) -> list[list[str]]:
    """Return the texts of a table's body."""
    read = "rows => rows.map(row => [...row.querySelectorAll('th, td')].map(cell => cell.innerText))"
    return page.eval_on_selector_all(f"{table} tbody tr", read)


def interval(triple: list[float]) -> str:
    value, low, high = triple
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def require_scores(page: Page, summary: dict[str, Any], point: int) -> None:
    """Check that the scores are those of this point, for everyone and for the groups of the gap in view."""
    attribute, scores = page.locator("#scores-title").inner_text(), summary["scores"][point]
    place = list(summary["groups"]).index(attribute) + 1
    rows = [("everyone", 0, 0), *((group, place, g) for g, group in enumerate(summary["groups"][attribute]))]
    for (group, a, g), cell in zip(rows, cells(page, "#scores-table"), strict=True):
        counts = scores["counts"][a][g]
        share = f"{sum(counts[20:]) / sum(counts):.3f}"
        numbers = [interval(scores["auc"][a][g]), interval(scores["difference"][a][g]), share]
        assert cell == [group, f"{sum(counts):,}", *numbers]
    assert drawn(page, "scores", "layer_2") == [{"score": 0.5}]


def unfold(page: Page) -> None:
    """Unfold everything, and wait for the charts that are drawn only then."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    expect(page.locator(".chart:not(:has(svg))")).to_have_count(0, timeout=30_000)


# What the page says of the point that it shows. Words follow a click at once, pictures later.
SAID = """() => {
    const texts = selector => [...document.querySelectorAll(selector)].map(one => one.innerText);
    const [fallback] = document.querySelectorAll("#stand-in");
    return {
        headline: texts("#headline")[0], sentences: texts("#sentences p"), tags: texts("#cards .tag"),
        record: texts("#record-text")[0], fallback: fallback !== undefined && fallback.checkVisibility(),
    };
}"""


def said_of(page: Page, points: list[int]) -> list[dict[str, Any]]:
    """Select these points in turn, and return what the page says of each; the pictures are drawn of the last."""
    click = "(document.getElementById(`point-${point}`).click(), said())"
    said = page.evaluate(f"points => {{ const said = {SAID}; return points.map(point => {click}); }}", points)
    shows(page, points[-1])
    return said


def require_verdict(page: Page, verdict: dict[str, Any]) -> None:
    """Check that the page says of the point that it shows what a verdict says."""
    require_said(page.evaluate(SAID), verdict)


def require_said(said: dict[str, Any], verdict: dict[str, Any]) -> None:
    """Check that the box and the record say what a verdict says, in its words, and that every card has its answer."""
    gaps = [one for one in verdict["gaps"] if one["limit"] is not None]
    assert said["headline"][2:] == verdict["headline"]
    told, before = verdict["sentences"], 1 + len(verdict["caveats"])
    told = told[:before] + told[before + len(gaps) :] if gaps else told  # the cards say these
    # On the page, names in backticks stand out instead.
    assert said["sentences"] == [line.replace("`", "") for line in (*told, verdict["chosen"]["why"])]
    assert [tag.removeprefix(tag[:2]) if tag != "no limit" else None for tag in said["tags"]] == [
        one["answer"] for one in verdict["gaps"]
    ]
    assert said["fallback"] == (verdict["stand_in"] is not None)
    for sentence in (f"{verdict['headline']}.", *verdict["sentences"], verdict["chosen"]["why"]):
        assert sentence in said["record"]


def require_everywhere(page: Page, summary: dict[str, Any], point: int) -> None:
    """Check that every view is of this point: the table, the pictures, the numbers, the words and the record."""
    unfold(page)
    shows(page, point)
    values = summary["parts"][summary["rows"]]
    assert page.locator("input[name=point]:checked").get_attribute("value") == str(point)
    assert [row[1] for row in cells(page, "#values")] == [interval(triple) for triple in values[point]]
    if point != summary["baseline"]:
        assert [row[2] for row in cells(page, "#values")] == [interval(triple) for triple in values[0]]
    assert [datum["id"] for datum in drawn(page, "front", "layer_11")] == [point]
    if len(summary["objectives"]) > 2:
        assert {datum["id"] for datum in drawn(page, "parallel", "layer_2_layer_0")} == {point}
    rates = page.locator("#rates tbody").first.locator("tr:not(.part, .quiet) > :nth-child(3)").all_inner_texts()
    assert rates == [interval(group[:3]) for group in summary["points"][point]["rates"][0]]
    assert drawn(page, "objectives", "layer_2") == [{"step": summary["points"][point]["step"]}]
    if summary["scores"]:
        require_scores(page, summary, point)
    assert page.locator("#who-pays p").all_inner_texts() == summary["points"][point]["told"]
    counts = [int(number.replace(",", "").split(" ")[0]) for number in cells(page, "#people")[0][-4:]]
    assert counts == summary["points"][point]["confusion"][0][0]
    record = page.locator("#record-text").inner_text()
    assert f"Chosen: point {point} of" in record
    assert f"{summary['command']} {point}\n" in record
