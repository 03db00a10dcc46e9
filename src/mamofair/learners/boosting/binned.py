"""Rows as LightGBM bins them, from memory or from disk, for any number of boosters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mamofair._rows.views import RowView

if TYPE_CHECKING:
    from lightgbm import Booster, Dataset

__all__ = ["BinnedRows"]


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Training rows, at one byte per value, the held-back rows to score after each tree, and LightGBM's parameters."""

    train: "Dataset"
    held_back: "tuple[Dataset, ...]"
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        X: Any,
        held_back: Iterable[np.ndarray | RowView] = (),
        parameters: Mapping[str, Any] | None = None,
        categorical: Sequence[int] = (),
    ) -> "BinnedRows":
        """Bin rows, an array or a `RowView`.

        Parameters
        ----------
        X
            The features of training rows.
        held_back
            Features of other rows to score after each tree, in any number of parts.
        parameters
            LightGBM's, such as `learning_rate`; `num_threads=1` unless they say otherwise.
        categorical
            The columns whose numbers are codes of categories.
        """
        lightgbm = _lightgbm()
        lightgbm.Sequence.register(RowView)  # LightGBM asks for its own type
        settings = {
            "num_threads": 1,
            "verbosity": -1,
            "metric": "None",
            "objective": "none",
            "deterministic": True,
            # Otherwise LightGBM times both layouts, and the faster one may differ the next time. By rows, each booster
            # would have its own copy of the rows.
            "force_col_wise": True,
            "feature_pre_filter": False,  # otherwise few rows may leave no column, which LightGBM treats as an error
            "data_random_seed": 1,  # otherwise it follows from the seed in memory, but not on disk, and bins differ
        } | dict(parameters or {})

        def binned(X: Any, reference: "Dataset | None" = None) -> "Dataset":
            rows = lightgbm.Dataset(X, reference=reference, categorical_feature=list(categorical), params=settings)
            return rows.construct()  # type: ignore[no-any-return]  # LightGBM may not be there

        if _is_constant(X):
            raise ValueError("X must have a column that is not constant: found none.")
        train = binned(X)
        return cls(train, tuple(binned(part, train) for part in held_back), settings)

    def boosters(self, count: int, start: float) -> "tuple[Booster, ...]":
        """Return boosters without a tree, which share these rows; all scores are `start` at first."""
        for part in (self.train, *self.held_back):
            part.set_init_score(np.full(part.num_data(), start))
            part.init_score = None  # LightGBM has its own copy
        boosters = tuple(_lightgbm().Booster(dict(self.settings), self.train) for _ in range(count))
        for booster in boosters:
            for i, part in enumerate(self.held_back):
                booster.add_valid(part, str(i))
        return boosters


def _is_constant(X: Any) -> bool:
    """Whether all rows are the same."""
    first = np.asarray(X[:1])
    pieces = X.pieces() if isinstance(X, RowView) else [X]
    return all(np.all((first == piece) | (np.isnan(piece) & np.isnan(first))) for piece in pieces)


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError("Boosting needs LightGBM, which comes with mamofair: pip install lightgbm.") from error
    return lightgbm
