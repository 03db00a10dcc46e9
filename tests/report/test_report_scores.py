"""The scores on the page, in a real browser."""

from playwright.sync_api import expect
from report_pages import require_everywhere, require_scores, shows, unfold


def test_scores_are_drawn_for_the_groups_of_the_gap_in_view(opened):
    page, summary = opened()
    unfold(page)
    shows(page, summary["selected"])
    require_scores(page, summary, summary["selected"])
    for gap, attribute, point in (("2", "race", 3), ("1", "sex", 5)):
        page.locator("#gap").select_option(gap)
        page.locator(f"#point-{point}").click()
        shows(page, point)
        require_scores(page, summary, point)
        expect(page.locator("#scores-title")).to_have_text(attribute)
        place = list(summary["groups"]).index(attribute) + 1
        expected = [[n / sum(own) for n in [*own, own[-1]]] for own in summary["scores"][point]["counts"][place]]
        lines = page.evaluate(
            "[...document.querySelectorAll('#scores .layer_1_marks > path')]"
            ".map(path => path.__data__.mark.items.map(item => item.datum.share))"
        )
        assert lines == expected


def test_without_scores_the_page_has_no_section_for_them(opened):
    page, summary = opened(scores=False)
    expect(page.locator("#scores")).to_have_count(0)
    require_everywhere(page, summary, summary["selected"])
