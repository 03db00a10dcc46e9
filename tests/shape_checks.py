"""The tests that `make shapes` runs, with types and shapes checked at run time: one case of each test, few examples.

Whether a shape is right hardly depends on the case or the example; the values are tested by all of them without checks.
"""

import pytest
from hypothesis import is_hypothesis_test, settings

#: Where each case is another class or kind of table.
_ALL_CASES = ("tests/test_contracts.py", "tests/learners/test_large_tables.py", "tests/rows/test_columns.py")

#: Many draws, or a process of its own, where nothing is checked; what they call is called by the others, too.
_LEFT_OUT = (
    "test_training_on_a_large_table_takes_little_memory_beside_it",
    "test_intervals_cover_the_true_price_at_least_as_often_as_they_say",
    "test_intervals_of_persons_cover_where_those_of_rows_do_not",
    "test_the_covariance_is_that_of_resampled_people",
    "test_front_of_two_notions_comes_close_to_the_linear_program",
    "test_local_search_finds_almost_all_of_the_front",
    "test_three_groups_are_searched_exactly",
    "test_ladders_and_mutations_come_last_where_groups_are_not_told",
)

#: Values of wrong types, which the checks refuse before our sentence can.
_WRONG_TYPES = ("test_a_gap_takes_notions_and_relaxations_and_not_their_names",)

#: Processes of their own, in which nothing is checked; alone, the others train with the same functions.
_NOT_CHECKED = "tests/descent/test_ranks.py"

_EXAMPLES = 4  # of a property


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    items[:] = [
        case
        for test, cases in tests.items()
        if not test.endswith((*_LEFT_OUT, *_WRONG_TYPES)) and not test.startswith(_NOT_CHECKED)
        for case in (cases if test.startswith(_ALL_CASES) else cases[:1])
    ]
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):  # also where it asks for a number itself
            own = item.obj._hypothesis_internal_use_settings
            item.obj._hypothesis_internal_use_settings = settings(own, max_examples=_EXAMPLES)
