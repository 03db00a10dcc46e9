"""What tests here share."""

from short_search import short_search

__all__ = ["short_search"]
