"""Names for people."""


def title(column: str) -> str:
    """Return the name of a column for people.

    >>> title("demographic_parity[sex]")
    'demographic parity by sex'
    """
    notion, bracket, attribute = column.partition("[")
    return f"{notion.replace('_', ' ')} by {attribute.removesuffix(']')}" if bracket else column
