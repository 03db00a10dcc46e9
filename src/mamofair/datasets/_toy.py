"""The paper's toy: five Gaussians in the plane, two labels, two groups."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mamofair.datasets._base import Dataset

# Rows, mean, variance of both coordinates, label, group (Padh et al. 2021, appendix "Toy dataset description").
# Departs: the code of Lohaus et al., from whom the toy is taken, centres the first one at (2, -2); we keep to the
# text. It is their code that draws exactly half of the mixture from each part.
CLOUDS = (
    (150, (2.0, -1.0), 1.0, 0, "protected"),
    (75, (3.0, -1.0), 1.0, 1, "protected"),
    (75, (1.0, 4.0), 0.5, 1, "protected"),
    (150, (2.5, 2.5), 1.0, 1, "unprotected"),
    (150, (4.5, -1.5), 1.0, 0, "unprotected"),
)


def make_toy(*, random_state: int = 0) -> Dataset:
    """Draw the toy of the paper's Figure 1: 600 points in the plane, shuffled.

    Each of the two groups has 150 points of each label. The positive points of the protected group form two clouds, one
    among its negative points and one apart, so a straight line between the labels treats the groups differently.

    Parameters
    ----------
    random_state : int
        The seed. The same one gives the same points.

    Returns
    -------
    Dataset
        With the features `x1` and `x2` and the sensitive attribute `group`.

    Examples
    --------
    >>> toy = make_toy()
    >>> toy.X.shape, toy.y.mean()
    ((600, 2), np.float64(0.5))
    """
    rng = np.random.Generator(np.random.PCG64(random_state))
    clouds = [
        pd.DataFrame(rng.normal(mean, np.sqrt(variance), (rows, 2)), columns=["x1", "x2"]).assign(
            label=label, group=group
        )
        for rows, mean, variance, label, group in CLOUDS
    ]
    points = pd.concat(clouds, ignore_index=True)
    points = points.iloc[rng.permutation(len(points))].reset_index(drop=True)
    return Dataset(
        name="toy",
        X=points[["x1", "x2"]],
        y=points["label"].rename("+"),
        sensitive=points[["group"]],
        favorable=1,
        split_sizes=(300, 150),
        source="drawn at random by mamofair",
        license="Apache-2.0",
        citation="Lohaus, M., Perrot, M. and von Luxburg, U. (2020). Too Relaxed to Be Fair. ICML.",
        description="Points in the plane, drawn from five Gaussians: which are positive?",
        coded_as_one={"group": "unprotected"},
        recipe=recipe,
    )


def recipe(X: pd.DataFrame, groups: pd.DataFrame) -> NDArray[Any]:
    """Return the two coordinates."""
    del groups
    return X.to_numpy(copy=True)
