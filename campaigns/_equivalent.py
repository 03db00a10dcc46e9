"""Mutants that no test can notice, because the code still does the same: by module and mutation, with the reason."""

EQUIVALENT: dict[str, dict[str, str]] = {
    "fronts/_hypervolume.py": {
        "thin: if len(values) <= size: → if len(values) < size:": "with as many points as may stay, no one leaves",
    },
}
