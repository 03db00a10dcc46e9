"""P(y | x) and P(a, y | x), as learned: models of labels and groups, and how several of one target are combined."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.dummy import DummyClassifier

from mamofair._rows.groups import Groups
from mamofair.learners.checks import are_finite
from mamofair.learners.plugin.classifiers import Model
from mamofair.learners.plugin.multipliers import Posterior
from mamofair.learners.plugin.stack import Stack

__all__ = ["LABEL", "Key", "PosteriorModel"]

#: The name of an attribute, and the label of the rows whose groups are learned; None for all rows.
Key = tuple[str, int | None]
LABEL: Key = ("", None)  # stands for y itself


@dataclass(frozen=True, eq=False)
class PosteriorModel:
    """Models of y and of groups, and how several of one target are stacked.

    `groups` names the attributes and their groups, and has no rows.
    """

    models: Mapping[Key, tuple[Model, ...]]
    stacks: Mapping[Key, Stack]
    groups: Groups

    @property
    def constant(self) -> frozenset[Key]:
        """The targets whose models are constant."""
        dummies = {
            k
            for k, models_of_key in self.models.items()
            if all(isinstance(m.classifier, DummyClassifier) for m in models_of_key)
        }
        return frozenset(dummies - {LABEL})

    @property
    def calibration(self) -> dict[str, dict[str, Any]]:
        """How well each target was known, out of fold: the slope of the fit, and for each class what was predicted.

        A slope below 1 says that the models were too sure. `share` is that of the class among the rows, `predicted` the
        mean of the models' probabilities before they were corrected by the fit.
        """
        found = {}
        for (name, y), stack in self.stacks.items():
            if stack.predicted is None or stack.share is None:  # of a run that was written before
                continue
            values = self.groups.values[self.groups.names.index(name)] if name else ("unfavorable", "favorable")
            rows = zip(map(str, values), stack.share.tolist(), stack.predicted.tolist(), strict=True)
            found[name + ("" if y is None else f" given y={y}") if name else "label"] = {
                "slope": round(float(stack.weights.sum()), 4),
                "classes": {
                    value: {"share": round(share, 6), "predicted": round(mean, 6)} for value, share, mean in rows
                },
            }
        return found

    @property
    def label(self) -> tuple[Model, ...]:
        """The models of y."""
        return self.models[LABEL]

    def is_sound(self, features: int) -> bool:
        """Whether there are models of labels, and all models take this many features and have finite weights."""
        models = [model for models_of_key in self.models.values() for model in models_of_key]
        if LABEL not in self.models or not all(
            isinstance(model, Model) and model.is_sound(features) for model in models
        ):
            return False
        if not {key for key, models_of_key in self.models.items() if len(models_of_key) > 1} <= set(self.stacks):
            return False
        return len(self.label[0].classes) == 2 and all(
            key in self.models and self._fits(stack, self.models[key]) for key, stack in self.stacks.items()
        )

    @staticmethod
    def _fits(stack: Stack, models: tuple[Model, ...]) -> bool:
        """Whether a stack has a finite weight for each model, and finite numbers for each class."""
        of_classes = [table for table in (stack.bias, stack.predicted, stack.share) if table is not None]
        shapes = {table.shape for table in of_classes} == {(len(models[0].classes),)}
        return shapes and stack.weights.shape == (len(models),) and are_finite(stack.weights, *of_classes)

    def views(self, X: Any) -> dict[Key, Float[np.ndarray, "models n _"]]:
        """Return each model's probabilities of rows."""
        return {key: np.stack([model(X) for model in models]) for key, models in self.models.items()}

    def join(
        self, views: Mapping[Key, Float[np.ndarray, "models n _"]], true_groups: Groups | None = None
    ) -> Posterior:
        """Return the combined posterior of rows, given each model's; `true_groups` are their groups, if known."""
        stacked = {key: self.stacks[key](view) if key in self.stacks else view[0] for key, view in views.items()}
        positive = stacked.pop(LABEL)[:, -1]
        label = np.column_stack([1 - positive, positive])
        if true_groups is not None:
            joint = {
                name: np.eye(len(values) + 1, len(values))[codes][:, :, None] * label[:, None, :]
                for name, values, codes in zip(true_groups.names, true_groups.values, true_groups.codes.T, strict=True)
            }
            return Posterior(positive, joint)
        joint = {}
        for (name, y), probabilities in stacked.items():
            groups = probabilities[:, :, None] * label[:, None, :]
            joint[name] = joint.get(name, 0) + (groups if y is None else groups * (np.arange(2) == y))
        return Posterior(positive, joint)

    def __call__(self, X: Any, true_groups: Groups | None = None) -> Posterior:
        """Return the posterior of rows; `true_groups` are their groups, if known."""
        return self.join(self.views(X), true_groups)
