"""A watch on disk: killed in the middle it is the one before or the one after, and nothing else is taken for it."""

import json

import numpy as np
import pytest
from watched_decisions import decisions, state, update

from mamofair.monitor import Monitor, _files, load_monitor, own_state, save_monitor


@pytest.fixture
def saved(tmp_path):
    first = update(Monitor.of(0.1, attributes=["sex"]), decisions(rows=200), labels=False)
    save_monitor(first, tmp_path / "watch.json", {"point": 3})
    return tmp_path / "watch.json", first


def test_a_state_has_two_files_and_notes(saved):
    path, first = saved
    monitor, notes = load_monitor(path)
    assert notes == {"point": 3}
    save_monitor(update(monitor, decisions(rows=200, seed=1)), path)
    assert len(list(path.parent.iterdir())) == 2
    assert state(first, path.parent) == state(monitor, path.parent)


def test_the_state_is_small_however_many_rows_there_were(saved):
    path, monitor = saved
    sizes = []
    for seed in (1, 2):
        monitor = update(monitor, decisions(rows=3000, seed=seed, day=60 * seed), labels=False)
        save_monitor(monitor, path)
        sizes.append(path.stat().st_size)
    assert sizes[1] < 8_000
    assert sizes[1] - sizes[0] < 1_000  # ten more days in the history


def test_a_process_that_is_killed_between_the_two_files_leaves_the_state_before(saved, monkeypatch):
    path, first = saved
    whole, written = _files.replaced_file, []

    def killed(name):
        written.append(name)
        if len(written) == 2:
            raise KeyboardInterrupt
        return whole(name)

    monkeypatch.setattr(_files, "replaced_file", killed)
    with pytest.raises(KeyboardInterrupt):
        save_monitor(update(first, decisions(rows=200, seed=1)), path)
    monkeypatch.undo()
    monitor, _ = load_monitor(path)
    assert state(monitor, path.parent) == state(first, path.parent)
    save_monitor(update(monitor, decisions(rows=200, seed=1)), path)  # which clears up
    assert len(list(path.parent.glob("watch.json*"))) == 2


def test_only_one_process_may_continue_a_watch(saved):
    path, _ = saved
    with (
        own_state(path),
        pytest.raises(BlockingIOError, match="Only one process may continue a watch"),
        own_state(path),
    ):
        pass
    assert len(list(path.parent.iterdir())) == 2


def test_other_files_are_refused_in_a_sentence(saved):
    path, _ = saved
    document = json.loads(path.read_text())
    side = path.with_name(document["side"])
    content = side.read_bytes()
    side.write_bytes(content[:-1] + b"x")
    with pytest.raises(ValueError, match="must be as it was written: found other content"):
        load_monitor(path)
    side.unlink()
    with pytest.raises(ValueError, match="beside it: found none"):
        load_monitor(path)
    side.write_bytes(content)
    for broken in (
        "[]",
        "{}",
        '{"format": 99}',
        json.dumps(document | {"side": "../elsewhere"}),
        json.dumps(document | {"pairs": [[0]]}),
    ):
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"watch\.json"):
            load_monitor(path)


def refusal(path) -> str:
    """Return why a state is refused, or nothing if it is not."""
    try:
        load_monitor(path)
    except ValueError as error:
        return str(error)
    return ""


def test_a_state_with_any_bit_flipped_is_refused_or_means_the_same(saved):
    path, first = saved
    content, same = path.read_bytes(), state(first, path.parent)
    for place in np.random.default_rng(0).choice(8 * len(content), 120, replace=False).tolist():
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        said = refusal(path)
        # 1e-05 and 1E-05 are the same number.
        assert "watch.json" in said if said else state(load_monitor(path)[0], path.parent) == same


def test_a_state_of_the_format_before_is_taken_once_and_rewritten_with_a_checksum(saved):
    path, first = saved
    document = json.loads(path.read_text())
    for later in ("state_checksum", "left_out", "by_unit", "unit_history"):
        del document[later]
    old = document | {"format": 1, "ledger": document["ledger"][:3]}
    path.write_text(json.dumps(old))
    monitor, _ = load_monitor(path)
    assert (monitor.rows, monitor.by_unit, monitor.left_out) == (200, False, {})
    save_monitor(monitor, path)
    assert json.loads(path.read_text())["format"] == 2
    assert state(load_monitor(path)[0], path.parent) == state(first, path.parent)
    path.write_text(json.dumps(old | {"state_checksum": "0"}))
    with pytest.raises(ValueError, match="must be as it was written"):
        load_monitor(path)
