"""Campaigns: many seeded trials of one promise each, run by `make campaign` and not by CI.

A campaign is a module with `CASES`, how many cases a full run has, and `case(seed)`, which tries one and returns a
`Result`. `python -m campaigns NAME` runs it; a short slice of each is in `tests/campaigns/`.
"""
