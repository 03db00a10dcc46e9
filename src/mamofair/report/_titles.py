"""Names for people."""


def title(column: str) -> str:
    """Return the name of a column for people.

    >>> title("demographic_parity[sex]")
    'demographic parity by sex'
    """
    notion, bracket, attribute = column.partition("[")
    words = notion.replace("_", " ")
    return f"{words} by {attribute.removesuffix(']')}" if bracket else words
