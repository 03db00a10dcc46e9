"""Trainings without a page, which takes a third of their time."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def pages() -> None:
    """Let commands write their pages: for tests that look at them."""


@pytest.fixture(autouse=True)
def empty_pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands write an empty page; fixtures of a larger scope, which are made before, have theirs."""

    def write(run: Any, path: Path, *arguments: Any, **options: Any) -> None:
        path.touch()

    if "pages" not in request.fixturenames:
        monkeypatch.setattr("mamofair.report.write", write)
