"""Mutants that no test can notice, because the code still does the same: by module and mutation, with the reason."""

EQUIVALENT: dict[str, dict[str, str]] = {}
