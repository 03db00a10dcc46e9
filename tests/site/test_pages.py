"""The site has every page, and its links lead somewhere; `make docs` builds all of it, which takes minutes."""

import re
from fnmatch import fnmatch
from pathlib import Path

import repository_links
from tools import check_links, draw_house

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *(DOCS / "results").glob("*.md")])
GENERATED = ("api/", "gallery/")  # by docs/_ext/reference.py, and by sphinx-gallery


def entries(page):
    """Return the entries of all toctrees of a page, as names of pages or patterns for them."""
    trees = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    return [str((page.parent / name).relative_to(DOCS)) for name in names]


def test_every_page_is_in_a_table_of_contents():
    names = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"}
    assert len(names) > 20
    listed = [entry for page in PAGES for entry in entries(page)]
    assert [name for name in names if not any(fnmatch(name, entry) for entry in listed)] == []  # else: docs/guide.md


def test_tables_of_contents_name_pages_that_exist():
    names = [str(page.relative_to(DOCS).with_suffix("")) for page in PAGES]
    for entry in (entry for page in PAGES for entry in entries(page)):
        assert entry.startswith(GENERATED) or any(fnmatch(name, entry) for name in names), entry


def local_links(page):
    """Return the links of a page to other files of the repository."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", text)
    return [link for link in links if not re.match(r"\w+:", link) and not link.startswith(GENERATED)]


def test_links_between_files_work_on_a_code_host():
    links = [(page, link) for page in PAGES for link in local_links(page)]
    assert len(links) > 100
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_links_to_the_repository_become_pages_of_the_site():
    text = "[a](../examples/plot_own_loop.py) [b](../CHANGELOG.md) [c](../src/mamofair/plot.py) [d](audit.md#scores)"
    found = "[a](/gallery/plot_own_loop.rst) [b](/changes.md) [c](../src/mamofair/plot.py) [d](audit.md#scores)"
    assert repository_links.rewrite(text, DOCS) == found


def test_broken_links_of_a_built_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#here">b</a><a href="#top">a</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#gone">a</a><img src="none.png"><a href="https://x.org/y">x</a>')
    assert check_links.broken_links(tmp_path) == [
        "a.html: no element b.html#here",
        "b.html: no element a.html#gone",
        "b.html: no file none.png",
    ]


def test_the_picture_of_the_house_has_every_layer():
    drawn = draw_house.draw(draw_house.layers())
    rooms = [room for floor in draw_house.layers() for room in floor]
    assert len(rooms) > 20
    assert all(f">{room}</text>" in drawn for room in rooms)
