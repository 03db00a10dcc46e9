"""The page on which people look at a run and choose: one file, offline, made from a plain summary."""

from mamofair.report._render import render, write
from mamofair.report._summary import summarize

__all__ = ["render", "summarize", "write"]
