"""Records of the objectives in training, with names for the columns of a table."""

from collections.abc import Sequence
from itertools import combinations

from jaxtyping import Float

from mamofair._torch import Tensor


def records(
    names: Sequence[str],
    values: Float[Tensor, "k members"],
    weights: Float[Tensor, "k members"],
    cosines: Float[Tensor, "members k k"] | None = None,
) -> list[dict[str, float]]:
    """Return one record per member: the objectives' values and weights, and the cosines between their gradients.

    >>> import torch
    >>> records(["error"], torch.tensor([[0.5]]), torch.tensor([[1.0]]))
    [{'member': 0, 'error': 0.5, 'weight of error': 1.0}]
    """
    columns = {name: values[i] for i, name in enumerate(names)}
    columns |= {f"weight of {name}": weights[i] for i, name in enumerate(names)}
    if cosines is not None:
        pairs = combinations(range(len(names)), 2)
        columns |= {f"cosine of {names[i]} and {names[j]}": cosines[:, i, j] for i, j in pairs}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{"member": i} | dict(zip(columns, row, strict=True)) for i, row in enumerate(rows)]
