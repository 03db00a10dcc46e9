"""Rows and their changed versions, for counterfactual gaps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.batches import Batch, Feed
from mamofair._torch import Tensor, torch
from mamofair.learners.rows import AsTensor, Rows
from mamofair.objectives import CounterfactualGap

__all__ = ["change_rows", "counterfactuals", "feed_with_changes", "refuse_in_streams", "separate", "with_changes"]


def counterfactuals(objectives: Sequence[Any]) -> list[CounterfactualGap]:
    """Return the objectives that need changed rows."""
    return [objective for objective in objectives if isinstance(objective, CounterfactualGap)]


def refuse_in_streams(objectives: Sequence[Any]) -> None:
    """Raise a `ValueError` if an objective needs changed rows, which streams do not have."""
    if counterfactuals(objectives):
        raise ValueError(
            "`objectives` must have no CounterfactualGap to train from a stream, whose `memory` does not count "
            "changed rows: found one. Use `fit`."
        )


def with_changes(tensor: AsTensor, gaps: Sequence[CounterfactualGap]) -> AsTensor:
    """Return a function from features to a tensor of them and, along its second axis, their changed versions."""

    def stacked(X: Any, device: str) -> Tensor:
        X = np.asarray(X)  # it may be a view
        return torch.stack([tensor(X, device), *(tensor(change_rows(gap, X), device) for gap in gaps)], dim=1)

    return stacked if gaps else tensor


def separate(batch: Batch, gaps: Sequence[CounterfactualGap]) -> Batch:
    """Return a batch with only the features as `x`, and their changed versions as `changed`."""
    if not gaps:
        return batch
    return replace(batch, x=batch.x[:, 0], changed={gap.name: batch.x[:, 1 + i] for i, gap in enumerate(gaps)})


def feed_with_changes(
    objectives: Sequence[Any], train: Rows, tensor: AsTensor, batch_size: int, ranks: Ranks, device: str, even: bool
) -> Feed:
    """Return batches of training rows as `Rows.feed` does, with the changed rows that objectives need."""
    gaps = counterfactuals(objectives)
    feed = train.feed(with_changes(tensor, gaps), batch_size, ranks, device=device, even=even)
    return replace(feed, batches=lambda seed: (separate(batch, gaps) for batch in feed.batches(seed))) if gaps else feed


def change_rows(gap: CounterfactualGap, X: np.ndarray) -> np.ndarray:
    """Return the changed features of rows; a `ValueError` if they do not have the form of these rows' features."""
    changed = np.asarray(gap.change(X.copy()))
    if changed.shape != X.shape or changed.dtype.kind not in "biuf" or not np.isfinite(changed).all():
        raise ValueError(
            f"The change of {quote(gap.name)} must return finite numbers in the shape of the features, {X.shape}: "
            f"found {changed.dtype} of shape {changed.shape}."
        )
    return changed.astype(X.dtype)
