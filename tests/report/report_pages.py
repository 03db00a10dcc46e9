"""What tests ask of an open page."""

from typing import Any

from playwright.sync_api import Page


def shows(page: Page, point: int) -> None:
    """Wait until every picture shows this point."""
    page.wait_for_function("point => document.body.dataset.shown?.startsWith(`${point}/`)", arg=point)


def drawn(page: Page, chart: str, layer: str) -> list[dict[str, Any]]:
    """Return what the marks of one layer of a picture stand for, in the order in which they are drawn."""
    marks = f"#{chart} .{layer}_marks > *"
    return page.evaluate("marks => [...document.querySelectorAll(marks)].map(mark => mark.__data__.datum)", marks)


def cells(page: Page, table: str) -> list[list[str]]:
    """Return the texts of a table's body."""
    rows = page.locator(f"{table} tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


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


def require_everywhere(page: Page, summary: dict[str, Any], point: int) -> None:
    """Check that every view is of this point: the table, the pictures, the numbers, the words and the record."""
    shows(page, point)
    values = summary["parts"][summary["rows"]]
    assert page.locator("input[name=point]:checked").get_attribute("value") == str(point)
    assert page.locator("#selected-title").inner_text().startswith(f"Point {point}")
    assert [row[-2] for row in cells(page, "#values")] == [interval(triple) for triple in values[point]]
    assert [row[-1] for row in cells(page, "#values")] == [interval(triple) for triple in values[0]]
    assert [datum["id"] for datum in drawn(page, "front", "layer_11")] == [point]
    if len(summary["objectives"]) > 2:
        assert {datum["id"] for datum in drawn(page, "parallel", "layer_2_layer_0")} == {point}
    rates = [datum["rate"] for datum in drawn(page, "group-rates", "layer_1") if datum["who"] == "selected"]
    assert rates == [group[0] for group in summary["points"][point]["rates"][0]]
    assert drawn(page, "objectives", "layer_2") == [{"step": summary["points"][point]["step"]}]
    if summary["scores"]:
        require_scores(page, summary, point)
    told = page.locator("#who-pays p").all_inner_texts()
    assert told[1:] == summary["points"][point]["told"]
    counts = [int(number.replace(",", "").split(" ")[0]) for number in cells(page, "#people")[0][-4:]]
    assert counts == summary["points"][point]["confusion"][0][0]
    assert f"Chosen point: {point} of" in page.locator("#record").inner_text()
