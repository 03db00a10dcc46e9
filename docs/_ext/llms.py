"""`llms.txt` at the root of the site: what the project is and where each page is, for language models."""

from pathlib import Path
from typing import Any

from docutils import nodes

__all__ = ["setup"]

HEAD = """# mamofair

> A Python library and command line that trains classifiers which are accurate and fair, for several sensitive
> attributes and several fairness notions at once, and returns the whole trade-off (a Pareto front) with honest
> intervals. Audits of any classifier's decisions are included.

- Recommended: `FairPortfolioClassifier(notions=["demographic_parity"]).fit(X, y, sensitive_features=people)`;
  then `.front_.frame()`, `.predict(X)`, `.with_selection(MostAccurateWithin(0.05))`. `sensitive_features` is always a
  keyword. Prediction does not need it.
- Command line: `mamofair train table.csv --target COLUMN --favorable VALUE --sensitive COLUMN --out FOLDER`.
- Everything is minimised: errors and gaps lie in [0, 1], and 0 is ideal.
- No limit is a legal threshold: which notion and which limit fit is for accountable people to decide.
"""
PARTS = {"": "Pages", "gallery": "Gallery", "results": "Results", "api": "API reference"}


def _write(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.name not in ("html", "dirhtml"):
        return
    lines = [HEAD]
    for folder, title in PARTS.items():
        lines += [f"## {title}", ""]
        for name in sorted(app.env.found_docs):
            if name.rpartition("/")[0] == folder:
                heading = app.env.titles[name].astext()
                about = _first_sentence(app.env.get_doctree(name))
                lines.append(f"- [{heading}]({app.builder.get_target_uri(name)})" + f": {about}" * bool(about))
        lines.append("")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def _first_sentence(page: nodes.document) -> str:
    for paragraph in page.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            return " ".join(paragraph.astext().split()).split(". ")[0].rstrip(".:") + "."
    return ""


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True}
