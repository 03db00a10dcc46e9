"""Check that every internal link of a built site leads to a file, and every fragment to an element.

    python tools/check_links.py docs/_build/html

Sphinx checks the references that it makes; this reads the pages as a browser does.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken_links"]


class _Page(HTMLParser):
    """The addresses that a page points to, and the names that it can be pointed at by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key in ("href", "src") and value and tag != "base":
                self.links.add(value)
            elif key in ("id", "name") and value:
                self.names.add(value)


def broken_links(site: Path) -> list[str]:
    """Return a line for each internal link that leads nowhere."""
    pages = {
        path.resolve(): _Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fragment = unquote(parts.fragment)
            if not target.exists():
                found.append(f"{path.relative_to(site.resolve())}: no file {link}")
            elif fragment and target in pages and fragment not in pages[target].names:
                found.append(f"{path.relative_to(site.resolve())}: no element {link}")
    return found


if __name__ == "__main__":
    broken = broken_links(Path(sys.argv[1]))
    print("\n".join(broken) or "Every internal link leads somewhere.")
    sys.exit(bool(broken))
