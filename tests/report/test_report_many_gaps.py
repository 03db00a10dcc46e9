"""The page with four gaps and more, and on paper: no card is alone, no column is cut, and the record is one piece."""

import pytest
from playwright.sync_api import expect

from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS

NOTIONS = (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS)


@pytest.mark.parametrize(("notions", "last_row"), [(NOTIONS[:2], 2), (NOTIONS, 3)])
def test_no_card_is_alone_and_every_column_of_the_points_is_in_sight(opened, notions, last_row):
    page, summary = opened(points=8, within=0.1, notions=notions)
    places = [card.bounding_box()["y"] for card in page.locator("#cards .card").all()]
    assert len(places) == 2 * len(notions)
    assert places.count(places[-1]) == last_row
    assert page.locator("#points thead th").count() == 1 + len(summary["objectives"])
    frame = page.locator("#points").locator("..")
    assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 0


def test_small_groups_have_no_ratio_and_no_part_in_others(opened):
    page, summary = opened(points=2, rows=600, names=tuple(f"group {i}" for i in range(15)), within=0.1)
    now = summary["points"][summary["selected"]]["rates"][0]
    highest = max(rate for rate, _, _, count in now if count >= 30)
    expected = [f"{rate / highest:.2f}" if count >= 30 else "–" for rate, _, _, count in now]
    assert "–" in expected
    ratios = page.locator("#rates tbody").first.locator("tr:not(.part, .quiet) td:nth-child(5)").all_inner_texts()
    assert ratios == expected


def test_a_record_is_printed_in_one_piece_with_lines_unless_reasons_were_typed(opened):
    page, _ = opened(points=4, within=0.1)
    page.emulate_media(media="print")
    assert page.locator("#record").evaluate("record => getComputedStyle(record).breakInside") == "avoid"
    expect(page.locator("#record .lines")).to_be_visible()
    page.emulate_media(media="screen")
    expect(page.locator("#record .lines")).to_be_hidden()
    page.locator("#reasons").fill("Because.")
    page.locator("#name").fill("Dr. Änne Müller")
    page.emulate_media(media="print")
    expect(page.locator("#record .lines")).to_be_hidden()
    expect(page.locator("#record-text")).to_contain_text("Because.")
    expect(page.locator("#record-text")).to_contain_text("Decided by: Dr. Änne Müller")
    expect(page.locator(".sign")).to_contain_text("Dr. Änne Müller")


def test_names_in_sentences_stand_out_and_leave_no_backticks(opened):
    findings = [{"column": "paid_out", "finding": "near-copy of the target", "detail": ""}]
    page, _ = opened(points=4, within=0.1, data={"check": {"findings": findings}})
    sentence = page.locator("#sentences p").nth(1)
    expect(sentence).to_contain_text("The feature paid_out is a near-copy of the target")
    expect(sentence.locator("code")).to_have_text("paid_out")
