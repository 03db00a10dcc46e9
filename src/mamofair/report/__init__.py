"""The report of a run: one offline page to look at the trade-off and choose a point."""

from mamofair.report._render import render, write
from mamofair.report._summary import summarize

__all__ = ["render", "summarize", "write"]
