"""The script of the pictures is bundled once, and kept."""

import pytest

from mamofair.report import _vega
from mamofair.report._vega import vega_runtime


@pytest.fixture
def bundled(monkeypatch, tmp_path):
    """Let vl-convert count its bundles, in a cache of its own."""
    calls = []

    def bundle(snippet):
        calls.append(snippet)
        return f"/* é */ {snippet}"

    monkeypatch.setattr("vl_convert.javascript_bundle", bundle)
    monkeypatch.setattr(_vega, "cache_folder", lambda: tmp_path / "cache")
    vega_runtime.cache_clear()
    yield calls
    vega_runtime.cache_clear()


def another_process():
    vega_runtime.cache_clear()
    return vega_runtime()


def test_a_second_process_finds_the_script_of_the_first(bundled):
    first = vega_runtime()
    assert "vegaEmbed" in first
    assert another_process() == first
    assert len(bundled) == 1


def test_a_part_of_the_script_is_not_taken_for_it(bundled):
    first = vega_runtime()
    [kept] = _vega.cache_folder().iterdir()
    for content in (b"", first.encode()[:15], b"\xff"):
        kept.write_bytes(content)
        assert another_process() == first
    assert len(bundled) == 4


def test_another_version_has_a_script_of_its_own(bundled, monkeypatch):
    vega_runtime()
    monkeypatch.setattr(_vega, "version", lambda name: "0")
    another_process()
    assert len(bundled) == 2


def test_without_a_place_to_keep_it_the_script_is_made_each_time(bundled, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file, no folder")
    assert another_process() == another_process()

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(_vega, "cache_folder", homeless)
    another_process()
    assert len(bundled) == 3
