"""Find an alternative to an incumbent among the points of a fitted model."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mamofair._messages import PATH, as_share, cut, quote
from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_column, read_outcomes
from mamofair.alternatives._answer import Alternative
from mamofair.alternatives._compare import compare
from mamofair.alternatives._decisions import PairedDecisions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Criterion, Front
from mamofair.learners.small_groups import find_small_groups, leave_out, warn_of_small_groups
from mamofair.notions import Notion, as_notion, require_differences

__all__ = ["find_alternative"]


def find_alternative(
    model: FairClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    incumbent: Any,
    notion: Notion | str | None = None,
    attribute: str | None = None,
    margin: float = 0.01,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Alternative:
    """Look for a point of the front that is no less accurate than an incumbent and has a smaller gap.

    One point is picked on a random half of the rows, stratified by label and groups, and tested on the other half, so
    that the choice does not favor it. Both tests are paired, person by person, and both must pass at level 1 −
    confidence, which needs no correction: the error must be larger by `margin` at most (an exact test), and the gap
    must be smaller. If the front was trained with a cost or the balanced error, that replaces the error.

    Parameters
    ----------
    model : FairClassifier
        A fitted model. All points of its front are considered except constant ones.
    X, y, sensitive_features
        Rows that the model was not fitted to, with their true labels and sensitive attributes, as in `fit`. The answer
        is about the population that they are a random sample of.
    incumbent : array or fitted estimator
        The decisions in use today, one per row, in the same labels as `y`, or an object whose `predict(X)` returns
        them.
    notion, attribute
        The gap that must be smaller; by default the first one of the front. The others are reported.
    margin : float
        How much larger the error may be. Choose it before you look: no statistic can tell what loss of accuracy is
        acceptable.
    confidence : float
        The confidence of both tests.
    random_state : int
        The seed of the split into halves. Trying several until an alternative is found invalidates the confidence.

    Returns
    -------
    Alternative
        Printable; its `status` is "found", "none found" or "cannot be told".

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy, new = make_toy(), make_toy(random_state=1)
    >>> model = FairNetClassifier(epochs=10, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> today = (new.X["x1"] > 2.5).astype(int)
    >>> answer = find_alternative(model, new.X, new.y, sensitive_features=new.sensitive, incumbent=today)
    >>> answer.status
    'found'
    """
    check_is_fitted(model, "front_")
    _require_numbers(margin, confidence)
    front = model.front_
    criterion = _read_criterion(front, notion, attribute)
    require_differences(criterion[0], "The gap that an alternative makes smaller")
    decisions = _read(model, X, y, sensitive_features, incumbent)
    _require_rows(decisions, criterion, model.min_group)
    candidates = np.flatnonzero(~front.is_constant) if not front.is_constant.all() else np.arange(len(front))
    answer = compare(
        decisions.of_models(candidates),
        front.criteria,
        criterion,
        margin=margin,
        confidence=confidence,
        random_state=random_state,
        performance=front.performance,
    )
    return replace(answer, tested=int(candidates[answer.tested]))


def _read_criterion(front: Front, notion: Notion | str | None, attribute: str | None) -> Criterion:
    """Return the requested gap of the front: the first match."""
    wanted = None if notion is None else as_notion(notion)
    for criterion in front.criteria:
        if wanted in (None, criterion[0]) and attribute in (None, criterion[1]):
            return criterion
    requested = " of ".join(quote(each) for each in (wanted.name if wanted else None, attribute) if each is not None)
    raise ValueError(
        f"The gap must be one of the front's: found {requested}. It has {cut(', '.join(front.columns[1:]), PATH)}."
    )


def _read(model: FairClassifier, X: Any, y: Any, features: Any, incumbent: Any) -> PairedDecisions:
    """Return the rows with the decisions of the incumbent and of every point."""
    labels = as_column(y, "y")
    predict = getattr(incumbent, "predict", None)
    given = incumbent if predict is None else predict(X)
    decided = as_column(given, "incumbent")
    if len(decided) != len(labels):
        raise ValueError(
            f"`incumbent` must have one decision per row: found {len(decided):,} for {len(labels):,} rows of `y`. "
            "Give the decisions on these very rows."
        )
    truth, favored = (
        read_outcomes(each, model.classes_, model.favorable_, name)
        for each, name in ((labels, "y"), (decided, "incumbent"))
    )
    groups = read_groups(features, rows=len(labels), whole=False)
    warn_of_order(features, {"X": X, "y": y, "incumbent": given})
    groups = groups.crossed() if model.crossed else groups
    groups = groups.as_in(Groups.of_values(model.front_.groups), strict=False)
    models = model.decide_all(X)
    if models.shape[1] != len(labels):
        raise ValueError(f"`X` must have one row per label: found {models.shape[1]:,} for {len(labels):,} in `y`.")
    return PairedDecisions(truth, _leave_out_small(model, groups, truth), favored, models)


def _leave_out_small(model: FairClassifier, groups: Groups, y: np.ndarray) -> Groups:
    """Return the groups without those too small to compare, which are named in a warning."""
    small = find_small_groups(groups, y.astype(int), model.notions_, model.min_group)
    warn_of_small_groups(small, model.min_group)
    return leave_out(groups, small)


def _require_rows(decisions: PairedDecisions, criterion: Criterion, least: int) -> None:
    """Raise a `ValueError` unless two groups have enough rows for each rate."""
    notion, attribute = criterion
    place = decisions.groups.names.index(attribute)
    codes, values = decisions.groups.codes[:, place], decisions.groups.values[place]
    for rate in notion.rates:
        counted = codes[(codes >= 0) & np.isin(decisions.y.astype(int), rate.labels)]
        rows = np.bincount(counted, minlength=len(values)).tolist()
        if sum(count >= least for count in rows) < 2:
            named = ", ".join(f"{count:,} of {quote(value)}" for value, count in zip(values, rows, strict=True))
            raise ValueError(
                f"At least two groups of {quote(attribute)} must have {least} rows to measure {rate} on: found "
                f"{cut(named, PATH) or 'none'}. Give more rows."
            )


def _require_numbers(margin: float, confidence: float) -> None:
    if not 0 <= margin < 1:
        raise ValueError(
            "`margin` must be a number from 0 to less than 1, the largest increase of the error that you accept: found "
            f"{quote(margin)}.{as_share(margin)}"
        )
    if not 0.5 < confidence < 1:
        raise ValueError(
            f"`confidence` must lie between 0.5 and 1, such as 0.95: found {quote(confidence)}.{as_share(confidence)}"
        )
