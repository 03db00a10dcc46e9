"""The question in a run's folder: rows are recognised by what they look like, as far as that tells them apart."""

import json

import numpy as np
import pytest

from examples_of_points import criteria, point
from mamofair.fronts import Front
from mamofair.runs import StoredQuestion, read_question, write_question
from mamofair.selection import Question

COLUMNS = ("age", "id")


@pytest.fixture
def stored() -> StoredQuestion:
    front = Front((point(200, 5),), criteria(1), {"a": ("men", "women")})
    return StoredQuestion(Question.of(front, 0.05, 0.95), "checksum")


def people(rng: np.random.Generator, rows: int, kinds: int = 2**60) -> np.ndarray:
    return rng.integers(0, kinds, rows).astype(np.uint64)


def test_new_rows_are_what_a_table_has_beyond_whole_earlier_ones(stored, rng):
    first, second, third = people(rng, 400), people(rng, 30), people(rng, 500)
    stored = stored.add(stored.question, first, COLUMNS).add(stored.question, second, COLUMNS)
    for old in ([first], [second], [second, first]):
        keys = rng.permutation(np.concatenate([third, *old]))
        assert set(keys[stored.new_rows(keys, COLUMNS)]) == set(third)
    assert stored.new_rows(third, COLUMNS).all()
    assert not stored.new_rows(np.concatenate([first, second]), COLUMNS).any()


def test_a_part_of_an_earlier_table_is_refused(stored, rng):
    first, second = people(rng, 400), people(rng, 400)
    stored = stored.add(stored.question, first, COLUMNS)
    for shared in (20, 399):
        with pytest.raises(ValueError, match=rf"found {shared} rows that have been counted before.*--all-new"):
            stored.new_rows(np.concatenate([first[:shared], second]), COLUMNS)


def test_rows_that_occur_twice_count_as_often_as_they_occur(stored):
    keys = np.array([7, 7, 8], dtype=np.uint64)
    stored = stored.add(stored.question, keys[:2], COLUMNS)
    more = np.array([7, 8, 7, 9, 7, *range(100, 150)], dtype=np.uint64)
    assert stored.new_rows(more, COLUMNS).sum() == len(more) - 2


def test_look_alikes_are_other_people_if_chance_explains_them(stored, rng):
    first, second = people(rng, 3000, kinds=10**6), people(rng, 3000, kinds=10**6)
    stored = stored.add(stored.question, first, COLUMNS)
    assert 0 < np.isin(second, first).sum() < 60
    with pytest.warns(
        UserWarning, match="rows look the same as rows that have been counted before, no more than chance"
    ):
        assert stored.new_rows(second, COLUMNS).all()


def test_rows_that_cannot_be_told_apart_are_refused(stored, rng):
    stored = stored.add(stored.question, people(rng, 400, kinds=8), COLUMNS)
    with pytest.raises(ValueError, match="--all-new"):
        stored.new_rows(people(rng, 4000, kinds=8), COLUMNS)


def test_question_and_rows_come_back_from_the_folder(stored, rng, tmp_path):
    assert read_question(tmp_path) is None
    keys = np.array([0, 2**64 - 1, 5], dtype=np.uint64)
    asked = stored.add(stored.question, keys, COLUMNS).ask_anew(stored.question, "another")
    write_question(asked, tmp_path)
    again = read_question(tmp_path)
    assert (again.run, again.columns, again.number) == ("another", COLUMNS, 2)
    assert again.question.to_json() == asked.question.to_json()
    assert [table.tolist() for table in again.tables] == [sorted(keys.tolist())]
    assert [path.name for path in tmp_path.iterdir()] == ["question.json"]


def test_a_question_that_is_not_as_it_was_written_is_refused_and_an_old_one_is_taken(stored, tmp_path):
    write_question(stored, tmp_path)
    path = tmp_path / "question.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"number": 2}))
    with pytest.raises(ValueError, match=r"'question.json' must be as it was written: found other content.*remove it"):
        read_question(tmp_path)
    del document["state_checksum"]
    path.write_text(json.dumps(document | {"format": 1}))
    assert read_question(tmp_path).number == 1
    path.write_text(json.dumps(document | {"format": 3}))
    with pytest.raises(ValueError, match="has format 3"):
        read_question(tmp_path)
