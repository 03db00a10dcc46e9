"""Rules of error-parity, found in an environment of its own (it needs numpy 1).

    .venv-error-parity/bin/python bench/error_parity_rules.py ROWS.npz CONSTRAINT TOLERANCE ... > rules.json

The rows have `scores`, labels `y` and groups `group`, numbered from 0. A rule has a list of steps for each group: the
chance of a favorable decision is the sum of the weights of all steps whose threshold is at most the score.
"""

import json
import sys

import numpy as np
from error_parity import RelaxedThresholdOptimizer
from error_parity.classifiers import RandomizedClassifier


def find_rule(rows: dict[str, np.ndarray], constraint: str, tolerance: float) -> list[list[tuple[float, float]]]:
    """Return the steps, threshold and weight, of each group."""
    optimizer = RelaxedThresholdOptimizer(predictor=np.ravel, constraint=constraint, tolerance=tolerance)
    optimizer.fit(X=rows["scores"], y=rows["y"], group=rows["group"])
    classifiers = optimizer._realized_classifier.group_to_clf
    return [
        steps(classifiers[i], false_positives) for i, (false_positives, _) in enumerate(optimizer.groupwise_roc_points)
    ]


def steps(classifier: object, false_positives: float) -> list[tuple[float, float]]:
    """Return thresholds and weights of a group's classifier, which may draw one of two thresholds, or toss a coin.

    The coin ignores the score, so that it is a step at the lowest of them; it has the rate of false positives that the
    group is to have.
    """
    if not isinstance(classifier, RandomizedClassifier):
        return [(float(classifier.threshold), 1.0)]
    (low, high), (p, q, *coin) = classifier.classifiers[:2], map(float, classifier.probabilities)
    return [(float(low.threshold), p), (float(high.threshold), q), *((0.0, r * float(false_positives)) for r in coin)]


if __name__ == "__main__":
    path, constraint, *tolerances = sys.argv[1:]
    with np.load(path) as rows:
        print(json.dumps([find_rule(dict(rows), constraint, float(tolerance)) for tolerance in tolerances]))
