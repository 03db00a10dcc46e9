"""A real browser, and pages that must neither complain nor ask for anything."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from report_pages import shows
from report_runs import make_run

from mamofair.report import render, summarize

PATIENCE = 60_000  # milliseconds: a busy machine is no fault of the page's
expect.set_options(timeout=PATIENCE)
NAMES = ("chromium", "chromium-browser", "google-chrome")


NO_BROWSER = "browser: no Chromium found; `make system` installs it"


@pytest.fixture(scope="session")
def browser() -> Iterator[tuple[Page, asyncio.AbstractEventLoop]]:
    """The page that all tests visit in turn, and playwright's loop: to start another browser takes 2 CPU seconds."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        if os.environ.get("MAMOFAIR_REQUIRE_BROWSER"):
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        # Without sandbox, as root (so on CI) Chromium does not start with one; it opens our own files only.
        # Scripts without threads of their own: for pages as short-lived as these, those cost more than they gain.
        options = ["--no-sandbox", "--js-flags=--single-threaded"]
        chromium = playwright.chromium.launch(executable_path=path, args=options)
        page, loop = chromium.new_page(), asyncio.get_running_loop()
        page.set_default_timeout(PATIENCE)
        asyncio._set_running_loop(None)
        yield page, loop
        asyncio._set_running_loop(loop)
        chromium.close()


@pytest.fixture
def tab(browser: tuple[Page, asyncio.AbstractEventLoop]) -> Iterator[Page]:
    """The browser's page. Its loop is this thread's only meanwhile: other tests must not find one that runs."""
    page, loop = browser
    asyncio._set_running_loop(loop)
    yield page
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[str, dict[str, Any]]]:
    """Return the address and the summary of the page of a run that `make_run` makes; each is made once."""
    made: dict[str, tuple[str, dict[str, Any]]] = {}

    def page(least: int = 0, **options: Any) -> tuple[str, dict[str, Any]]:
        key = repr((least, options))
        if key not in made:
            path = tmp_path_factory.mktemp("page") / "report.html"
            summary = summarize(make_run(**options), least=least)
            path.write_text(render(summary), encoding="utf-8")
            made[key] = path.as_uri(), summary
        return made[key]

    return page


@pytest.fixture
def visit(tab: Page) -> Iterator[Callable[..., Page]]:
    """Open an address. At the end: no message in the console, no error, and no request but for the file."""
    visited, trouble = ["blob:"], []

    def visiting(address: str, width: int = 1400, scheme: Literal["light", "dark"] = "light") -> Page:
        visited.append(address)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(media="null", color_scheme=scheme)
        tab.mouse.move(0, 0)  # where it was left, it may be on a mark
        tab.goto(address)
        return tab

    listeners: dict[str, Callable[[Any], Any]] = {
        "console": lambda message: trouble.append(message.text),
        "pageerror": lambda error: trouble.append(str(error)),
        "dialog": lambda dialog: (trouble.append(dialog.message), dialog.dismiss()),
        "request": lambda request: request.url.startswith(tuple(visited)) or trouble.append(request.url),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield visiting
    tab.goto("about:blank")
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    assert trouble == []


@pytest.fixture
def opened(visit: Callable[..., Page], pages: Any) -> Callable[..., tuple[Page, dict[str, Any]]]:
    """Open the page of a run, as `visit` does: in a window of this width and a theme."""

    def opening(window: dict[str, Any] | None = None, **options: Any) -> tuple[Page, dict[str, Any]]:
        address, summary = pages(**options)
        page = visit(address, **window or {})
        shows(page, summary["selected"])
        return page, summary

    return opening
