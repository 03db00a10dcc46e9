"""Rows for a search: features, labels, groups and weights, and the parts that they are split into."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Int, Shaped, UInt64
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from mamofair._descent.ranks import Ranks
from mamofair._messages import cut, quote, quote_some, warn_user
from mamofair._rows import disk
from mamofair._rows.batches import Batch, Feed, in_memory
from mamofair._rows.columns import as_array
from mamofair._rows.groups import Groups
from mamofair._rows.labels import as_column
from mamofair._rows.splits import split_rows
from mamofair._rows.views import RowView
from mamofair._torch import Tensor, torch
from mamofair.fronts import Counter, Criterion
from mamofair.learners.features import take_rows
from mamofair.learners.numbers import Scaling
from mamofair.notions import Notion

#: Makes a tensor of features, on a device.
AsTensor: TypeAlias = Callable[[Shaped[np.ndarray, "n ..."], str], Tensor]

__all__ = ["AsTensor", "Parts", "Rows", "hold_back", "read_classes", "warn_of_unmeasured"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in memory: features in the learner's form, labels, groups and weights.

    Labels are 1 if favorable, else 0; those of a batch that was just read from a stream are as they were given, since
    the favorable one may not have come yet. Rows of a stream have `keys`, numbers that follow from their content and
    decide their part. `samples` marks the rows that a gap is measured on, for gaps with rows of their own. Rows that
    are not `representative` of everyone count for nothing else; they need no labels if these gaps need none. `units`
    numbers the person or other unit of each row: rows of one unit are never split between parts or folds.
    """

    X: Any
    y: Shaped[np.ndarray, " n"]
    groups: Groups
    weight: np.ndarray | None
    keys: UInt64[np.ndarray, " n"] | None = field(default=None, kw_only=True)
    samples: Mapping[Criterion, Bool[np.ndarray, " n"]] = field(default_factory=dict, kw_only=True)
    representative: bool = field(default=True, kw_only=True)
    units: Int[np.ndarray, " n"] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Any) -> "Rows":
        weight, keys, units = (
            None if column is None else column[index] for column in (self.weight, self.keys, self.units)
        )
        samples = {criterion: marks[index] for criterion, marks in self.samples.items()}
        more: dict[str, Any] = {"keys": keys, "samples": samples, "representative": self.representative, "units": units}
        return Rows(take_rows(self.X, index), self.y[index], self.groups[index], weight, **more)

    def split(self, sizes: Sequence[int], rng: np.random.Generator) -> list[Int[np.ndarray, " _"]]:
        """Return the indices of random parts of these sizes, stratified by label and groups."""
        return split_rows(np.column_stack([self.y, self.groups.codes]), sizes, rng, self.units)

    def counter(self) -> Counter:
        """Return a counter of decisions on these rows."""
        return Counter.of(self.y, self.groups, self.weight, self.samples, self.representative, self.units)

    def scaling(self, pieces: int | None) -> Scaling:
        """Return how columns are scaled and split into pieces."""
        return Scaling.of(self.X) if pieces == 0 else Scaling.in_pieces(self.X, self.y, pieces, self.weight)

    def feed(self, tensor: AsTensor, batch_size: int, ranks: Ranks, device: str, even: bool) -> Feed:
        """Return batches of these rows; `tensor` converts features, and each rank has its share of every batch."""
        if not isinstance(self.X, RowView):
            return in_memory(self.batch(tensor, device), batch_size, ranks.rank, ranks.size, even)
        X, numbered = self.X, replace(self.in_single_precision(), x=torch.arange(len(self))).on(device)
        feed = in_memory(numbered, batch_size, ranks.rank, ranks.size, even)

        def batches(seed: int | None) -> Iterator[Batch]:
            return (replace(batch, x=tensor(X[batch.x.cpu().numpy()], device)) for batch in feed.batches(seed))

        return replace(feed, batches=batches)

    def batch(self, tensor: AsTensor, device: str) -> Batch:
        """Return these rows as one batch; `tensor` converts features."""
        memberships = self.groups.memberships(self.y, self.weight)
        return Batch.of(tensor(self.X, device), self.y, memberships, self.weight)

    def in_single_precision(self, tensor: AsTensor | None = None) -> Batch:
        """Return these rows as one batch, made a piece at a time; its features are empty without `tensor`."""
        parts = []
        for rows in disk.pieces(len(self)):
            piece = self[rows]
            x = torch.empty((len(piece), 0)) if tensor is None else tensor(np.asarray(piece.X), "cpu")
            parts.append(Batch.of(x, piece.y, piece.groups.memberships(piece.y, piece.weight), piece.weight))
        x, y, memberships = (torch.cat([getattr(part, name) for part in parts]) for name in ("x", "y", "memberships"))
        weights = [part.weight for part in parts if part.weight is not None]
        return Batch(x, y, memberships, parts[0].spans, torch.cat(weights) if weights else None)

    def stored(self, seed: int) -> "Rows":
        """Return rows that can be read in any order, as often as needed: these are in memory."""
        return self

    @property
    def positive_share(self) -> float:
        """The share of rows with the favorable label."""
        return float(np.average(self.y, weights=self.weight))


@dataclass(frozen=True, eq=False)
class Parts:
    """Training, validation and calibration rows, and further calibration rows without labels.

    The last two may be empty.
    """

    train: Rows
    valid: Rows
    calibration: Rows
    unlabelled: Rows | None = None

    @property
    def held_back(self) -> list[Rows]:
        """The parts that points are measured on; the validation rows, which the archive uses, come first."""
        return [self.valid, *(part for part in (self.calibration, self.unlabelled) if part is not None and len(part))]

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rows of each part; with folds, rows that both train and measure count in both."""
        sizes = {"train": len(self.train), "validation": len(self.valid), "calibration": len(self.calibration)}
        return sizes if self.unlabelled is None else sizes | {"unlabelled": len(self.unlabelled)}

    def map(self, change: Callable[[Rows], Rows]) -> "Parts":
        """Return the parts, each changed."""
        more = None if self.unlabelled is None else change(self.unlabelled)
        return Parts(change(self.train), change(self.valid), change(self.calibration), more)


def hold_back(rows: Rows, fractions: tuple[Any, ...], rng: np.random.Generator) -> list[Rows]:
    """Return the training part, then a part for each fraction, stratified by label and groups.

    The first fraction may also be a mask of the rows to take.
    """
    if np.ndim(fractions[0]):
        marked = _read_mask(fractions[0], rows)
        train, *others = hold_back(rows[~marked], fractions[1:], rng)
        return [train, rows[marked], *others]
    sizes = [round(fraction * len(rows)) or int(fraction > 0) for fraction in fractions]
    if sum(sizes) >= len(rows):
        raise ValueError(
            f"There must be rows left to train on: found n_samples = {len(rows)}, of which {sum(sizes)} are held back."
        )
    return [rows[np.sort(part)] for part in rows.split([len(rows) - sum(sizes), *sizes], rng)]


def _read_mask(mask: Any, rows: Rows) -> np.ndarray:
    marked = np.asarray(mask)
    if marked.dtype != bool or marked.shape != (len(rows),) or not marked.any():
        raise ValueError(
            "A mask as `validation_fraction` must have True or False for each row with a weight, some of them True: "
            f"found {marked.dtype} of shape {marked.shape} for {len(rows)} rows."
        )
    if rows.units is not None and len(divided := np.intersect1d(rows.units[marked], rows.units[~marked])):
        raise ValueError(
            f"A mask as `validation_fraction` must keep the rows of one unit together: found {len(divided):,} units on "
            "both sides. Mark all of their rows, or none."
        )
    return marked


def warn_of_unmeasured(notion: Notion, attribute: str, valid: Rows) -> None:
    """Warn of groups whose rates cannot be measured on the held-out rows."""
    index = valid.groups.names.index(attribute)
    values, codes = valid.groups.values[index], valid.groups.codes[:, index]
    for rate in notion.rates:
        present = np.unique(codes[np.isin(valid.y, rate.labels)])
        absent = [value for code, value in enumerate(values) if code not in present]
        if absent:
            warn_user(
                f"{notion.name}[{attribute}] cannot be measured for {quote_some(absent)}: no held-out row counts for "
                f"{rate} there. Hold back more rows with `validation_fraction`, merge groups, or set them to missing."
            )


def read_classes(y: Any, rows: int, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as a column and the two classes, sorted, of the rows that have a weight."""
    labels = as_column(column_or_1d(as_array(y, "y"), warn=True), "y")
    if len(labels) != rows:
        raise ValueError(f"`y` must have one label per sample: found {len(labels)} for {rows} samples.")
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes = np.unique(labels if weight is None else labels[weight > 0])
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}: found the "
            f"classes {', '.join(cut(str(one)) for one in classes[:6])}{', …' if len(classes) > 6 else ''}. "
            "Merge or drop some."
        )
    if len(classes) < 2:
        raise ValueError(f"`y` must have two classes: found one class only, {quote(classes.tolist()[0])}.")
    return labels, classes
