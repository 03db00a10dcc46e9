"""Mutants that no test can notice, because the code still does the same: by module and mutation, with the reason."""

EQUIVALENT: dict[str, dict[str, str]] = {
    "fronts/_hypervolume.py": {
        "thin: if len(values) <= size: → if len(values) < size:": "with as many points as may stay, no one leaves",
    },
    "selection/_more_rows.py": {
        "count_more_rows: claim.places[0] > claim.places[1] → claim.places[0] > claim.places[0]": (
            "the other claim about the same two groups, their difference with the other sign, needs as many rows"
        ),
    },
}
