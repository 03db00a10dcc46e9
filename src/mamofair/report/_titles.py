"""Readable names of objectives."""

__all__ = ["title"]


def title(column: str) -> str:
    """Return the readable name of a column.

    >>> title("demographic_parity[sex]")
    'demographic parity by sex'
    """
    notion, bracket, attribute = column.partition("[")
    words = notion.replace("_", " ")
    return f"{words} by {attribute.removesuffix(']')}" if bracket else words
