"""Links to files outside docs/ that work on a code host lead to something here, too.

An example becomes its page in the gallery, CONTRIBUTING.md and CHANGELOG.md their pages, and other files are downloads.
A folder or another Markdown file has no page: its name stays, as text.
"""

import re
from pathlib import Path
from typing import Any

__all__ = ["rewrite", "setup"]

ROOT = Path(__file__).parents[2]
SHOWN = {"contributing": "CONTRIBUTING.md", "changes": "CHANGELOG.md"}
PAGES = {file: f"{page}.md" for page, file in SHOWN.items()} | {"README.md": "index.md"}
LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def rewrite(text: str, folder: Path) -> str:
    """Return Markdown of a page in a folder of docs/ with its links to the rest of the repository replaced.

    >>> docs = ROOT / "docs"
    >>> rewrite("[code](../examples/plot_own_loop.py), [how](../CONTRIBUTING.md#tests), [all](../campaigns)", docs)
    '[code](/gallery/plot_own_loop.rst), [how](/contributing.md#tests), [all]'
    """

    def replace(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if not path.is_relative_to(ROOT) or path.is_relative_to(ROOT / "docs"):
            return match[0]
        inside = path.relative_to(ROOT)
        if inside.name in PAGES and len(inside.parts) == 1:
            return f"](/{PAGES[inside.name]}{match[2] or ''})"
        if inside.parts[0] == "examples" and inside.suffix == ".py":
            return f"](/gallery/{inside.stem}.rst)"
        return "]" if path.is_dir() or inside.suffix == ".md" else match[0]

    return LINK.sub(replace, text)


def _read(app: Any, docname: str, content: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if docname in SHOWN:  # the page shows a file of the root, as if it lay in docs/
        file = ROOT / SHOWN[docname]
        app.env.note_dependency(str(file))
        content[0] = re.sub(r"\]\((?!\w+:|#)", "](../", file.read_text(encoding="utf-8")).replace("](../docs/", "](")
    if path.suffix == ".md":
        content[0] = rewrite(content[0], path.parent)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
