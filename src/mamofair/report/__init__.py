"""Pages that open offline: the report of a run, to choose a point, and the page of an audit."""

from mamofair.report._audit_page import render_audit, summarize_audit, write_audit
from mamofair.report._files import write_page
from mamofair.report._markdown import to_markdown
from mamofair.report._models import write_for
from mamofair.report._render import render, write
from mamofair.report._summary import summarize

__all__ = [
    "render",
    "render_audit",
    "summarize",
    "summarize_audit",
    "to_markdown",
    "write",
    "write_audit",
    "write_for",
    "write_page",
]
