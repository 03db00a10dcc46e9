"""The plug-in's search cut short: few trees, multipliers and mutations, for tests of all but how good its front is.

Models that are compared must all be fitted within it, so it lasts as long as a file's tests.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

_TREES = 8


@pytest.fixture(scope="module")
def short_search() -> Iterator[None]:
    from mamofair.learners.plugin import proposals, table_models  # not before `make shapes` can have it checked

    with pytest.MonkeyPatch.context() as patch:
        for name, number in {"_FIRST": 6, "_BETWEEN": 10, "_ROUNDS": 2, "_MUTANTS": 50}.items():
            patch.setattr(proposals, name, number)
        for effort in proposals.ROUNDS:
            patch.setitem(proposals.ROUNDS, effort, 1)
        for effort, (trees, most) in table_models.EFFORTS.items():
            few = tuple(replace(recipe, n_estimators=_TREES) for recipe in trees)
            patch.setitem(table_models.EFFORTS, effort, (few, most))
        for effort, recipe in table_models._GROUPS.items():
            patch.setitem(table_models._GROUPS, effort, replace(recipe, n_estimators=_TREES))
        yield
