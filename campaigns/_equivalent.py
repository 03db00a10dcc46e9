"""Mutants that no test can notice, because the code still does the same: by module and mutation, with the reason."""

EQUIVALENT: dict[str, dict[str, str]] = {
    "_stats/certificates.py": {
        "find_limit: while high - low > _TOLERANCE: → while high - low >= _TOLERANCE:": (
            "the limit is as close as the tolerance either way"
        ),
    },
    "fronts/_hypervolume.py": {
        "thin: if len(values) <= size: → if len(values) < size:": "with as many points as may stay, no one leaves",
    },
    "learners/plugin/multipliers.py": {
        "midway_multipliers: np.argsort(distance, axis=1)[:, :min(2 * (values.shape[1] - 1), len(values) - 1)] → "
        "np.argsort(distance)[:, :min(2 * (values.shape[1] - 1), len(values) - 1)]": "of two axes, 1 is the last",
        "first_multipliers: np.round(np.vstack([multipliers, around]), 12) → "
        "np.round(np.vstack([multipliers, around]), 11)": (
            "multipliers that differ this little make the same decisions"
        ),
    },
    "learners/plugin/thresholds.py": {
        "search: np.indices(sizes).reshape(len(sizes), -1) → np.indices(sizes).reshape(len(sizes), -2)": (
            "numpy works out any negative size"
        ),
    },
    "metrics/_rates.py": {
        "_tally: count_decisions(is_label(decision, positive), is_label(truth, positive), groups, weight) → "
        "count_decisions(is_label(positive, decision), is_label(truth, positive), groups, weight)": (
            "a label equals a decision if the decision equals the label"
        ),
    },
    "metrics/_verdict.py": {
        "Verdict._asked_sentence: return '' → return None": "no sentence and an empty one are left out alike",
    },
    "runs/_folders.py": {
        "replace_files: _flush(path) → pass": "all processes see the same; what is on the disk shows if power is lost",
    },
    "runs/_onnx_graph.py": {
        "_codes: graph.node(*('LabelEncoder', column), domain='ai.onnx.ml', keys_strings=values, "
        "values_int64s=list(range(len(values))), default_int64=-1) → graph.node(*('LabelEncoder', column), "
        "domain='ai.onnx.ml', keys_strings=values, values_int64s=list(range(len(values))), default_int64=-2)": (
            "all that is below 0 is unknown"
        ),
    },
    "runs/_scores.py": {
        "_are_of: counts.reshape(len(cells), 2, -1) if counts.shape == (len(cells), SCORE_BINS) else "
        "np.empty((0, 2, 1)) → counts.reshape(len(cells), 2, -1) if counts.shape == (len(cells), SCORE_BINS) else "
        "np.empty((0, 2, 2))": "nothing is in it either way",
    },
    "selection/_more_rows.py": {
        "count_more_rows: claim.places[0] > claim.places[1] → claim.places[0] > claim.places[0]": (
            "the other claim about the same two groups, their difference with the other sign, needs as many rows"
        ),
    },
}
