"""What a fitted estimator can tell about its training and its front, beyond predictions."""

import os
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

__all__ = ["Findings"]


class Findings:
    """Mixin of all estimators: the training history, the small groups, and the report."""

    @property
    def small_groups_(self: Any) -> dict[str, dict[Any, int]]:
        """The groups of each attribute that are too small to judge, with their number of rows; gaps leave them out."""
        check_is_fitted(self, "front_")
        return {name: dict(counts) for name, counts in self.search_.small.items()}

    @property
    def history_(self: Any) -> pd.DataFrame:
        """The training history: one row per snapshot and member."""
        check_is_fitted(self, "front_")
        return pd.DataFrame(self.search_.history)

    def report(
        self: Any,
        path: str | os.PathLike[str],
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        strata: Any = None,
    ) -> None:
        """Measure every point of the front on test rows, and write an offline HTML report.

        Parameters
        ----------
        path
            The file to write, such as "page.html"; an earlier page is replaced.
        X, y, sensitive_features, sample_weight, strata
            Rows that the model was not fitted to, as in `fit`. The front and the choice do not change.
        """
        from mamofair.report import write_for  # an exception from the layers, listed in pyproject.toml

        check_is_fitted(self, "front_")
        more = {"sample_weight": sample_weight, "strata": strata}
        write_for(self, path, X, y, sensitive_features=sensitive_features, **more)
