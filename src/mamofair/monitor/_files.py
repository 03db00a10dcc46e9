"""A monitor on disk: a small JSON file, and a second one with ids and decisions that wait for labels."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from mamofair._messages import PATH, quote
from mamofair.monitor._history import History
from mamofair.monitor._ledger import Ledger
from mamofair.monitor._monitor import Monitor
from mamofair.monitor._streams import DriftKey, PairKey, PairStream, alarm_from_json, alarm_to_json
from mamofair.notions import Cell, Notion, Rate
from mamofair.runs import replaced_file
from mamofair.tables.untrusted import one_sentence, parse_json, require_seal, seal

__all__ = ["load_monitor", "own_state", "save_monitor"]

_FORMAT = 2  # of format 1 there was no checksum of the state itself
_COUNTS = ("rows", "labelled", "duplicates", "strays")
_LEDGER = ("most_seen", "most_waiting", "given_up", "forgotten")
_MOMENT = 0.2  # seconds to wait for another process that is about to finish


def save_monitor(monitor: Monitor, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
    """Write a monitor to `path`, a JSON file, and `path` with ".rows-…", which has one number per row.

    The first is replaced atomically once the second exists, so a killed process leaves either the old or the new state.

    Parameters
    ----------
    monitor
        The monitor as it stands.
    path
        The JSON file.
    notes
        Plain values that are kept with it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_monitor(Monitor.of(0.05, attributes=["sex"]), f"{folder}/watch.json")
    ...     load_monitor(f"{folder}/watch.json")[0].answer.status
    'not yet known'
    """
    from safetensors.numpy import save

    state, arrays = Path(path), monitor.ledger.arrays()
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    checksum = hashlib.sha256(content).hexdigest()
    side = state.with_name(f"{state.name}.rows-{checksum[:12]}")
    document = {"side": side.name, "checksum": checksum, "notes": dict(notes or {})} | _to_json(monitor)
    document = seal(document, _FORMAT)
    if not side.exists():
        with replaced_file(side) as file:
            file.write(content)
    with replaced_file(state) as file:
        file.write(json.dumps(document, allow_nan=False, ensure_ascii=False).encode())
    for old in state.parent.glob(f"{escape(state.name)}.rows-*"):
        if old.name != side.name:
            with suppress(OSError):
                old.unlink()


def load_monitor(path: str | os.PathLike[str]) -> tuple[Monitor, dict[str, Any]]:
    """Return the monitor that `save_monitor` has written, and its notes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_monitor(Monitor.of(0.05, attributes=["sex"]), f"{folder}/watch.json", {"table": "loans.csv"})
    ...     monitor, notes = load_monitor(f"{folder}/watch.json")
    >>> notes["table"]
    'loans.csv'
    """
    from safetensors.numpy import load

    state = Path(path)
    with one_sentence(f"{quote(str(state), PATH)} must be the state of a watch", "Start a new one."):
        document = parse_json(state.read_bytes(), state.name)
        require_seal(document, _FORMAT, state.name, "Copy it again from where it was made, or start a new watch.")
        side = state.with_name(str(document["side"]))
        if side.parent != state.parent or not side.is_file():
            raise ValueError(f"{state.name} needs the file {quote(side.name)} beside it: found none. Copy both files.")
        content = side.read_bytes()
        if hashlib.sha256(content).hexdigest() != document["checksum"]:
            raise ValueError(f"{quote(side.name)} must be as it was written: found other content. Copy both files.")
        return _from_json(document, load(content)), dict(document["notes"])


@contextmanager
def own_state(path: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a watch, from reading its state to writing it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, own_state(f"{folder}/watch.json"):
    ...     save_monitor(Monitor.of(0.05, attributes=["sex"]), f"{folder}/watch.json")
    """
    from filelock import FileLock, Timeout, UnixFileLock

    state = Path(path)
    state.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(state.with_name(f".{state.name}.lock"), timeout=_MOMENT)
    try:
        lock.acquire(poll_interval=_MOMENT / 10)
    except Timeout:
        raise BlockingIOError(
            f"Only one process may continue a watch: another one has {quote(str(state), PATH)}. Wait for it."
        ) from None
    try:
        yield
    finally:
        if isinstance(lock, UnixFileLock):  # while the lock is held: whoever waits for it sees that it is gone
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _to_json(monitor: Monitor) -> dict[str, Any]:
    """Return everything but the ledger's rows as plain values."""
    return {
        "limits": [
            {"notion": notion.name, "attribute": attribute, "limit": limit}
            | {"rates": [[rate.event.value, rate.given.value] for rate in notion.rates]}
            for (notion, attribute), limit in monitor.limits.items()
        ],
        "confidence": monitor.confidence,
        "favorable": getattr(monitor.favorable, "item", lambda: monitor.favorable)(),
        "drift": monitor.drift,
        "declared": dict(monitor.declared),
        "groups": {name: list(values) for name, values in monitor.groups.items()},
        "reference": {
            name: [[None if np.isnan(value) else value for value in row] for row in table.tolist()]
            for name, table in monitor.reference.items()
        },
        "clock": monitor.clock,
        "pairs": [[*key, stream.to_json()] for key, stream in monitor.pairs.items()],
        "drifts": [[*key, alarm_to_json(alarm)] for key, alarm in monitor.drifts.items()],
        "history": monitor.history.to_json(),
        "ledger": [getattr(monitor.ledger, name) for name in _LEDGER],
        "reading": monitor.ledger.reading,
        "left_out": [[name, list(counts.items())] for name, counts in monitor.left_out.items()],
        "by_unit": monitor.by_unit,
        "unit_history": monitor.unit_history.to_json(),
    } | {name: getattr(monitor, name) for name in _COUNTS}


def _from_json(document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Monitor:
    """Return the monitor of a state file and of the arrays beside it."""
    limits = {}
    for one in document["limits"]:
        rates = tuple(Rate(Cell(event), given=Cell(given)) for event, given in one["rates"])
        limits[Notion(str(one["notion"]), rates), str(one["attribute"])] = float(one["limit"])
    bounds = dict(zip(_LEDGER, map(int, document["ledger"]), strict=False))
    reading = str(document.get("reading", "typed"))  # of ids, in states that began before there was another one
    rows, labelled, duplicates, strays = (int(document[name]) for name in _COUNTS)
    return Monitor(
        limits,
        float(document["confidence"]),
        document["favorable"],
        float(document["drift"]),
        {str(name): int(number) for name, number in document["declared"].items()},
        {str(name): tuple(values) for name, values in document["groups"].items()},
        {name: np.array(table, dtype=float).reshape(-1, 3) for name, table in document["reference"].items()},
        document["clock"],
        rows,
        labelled,
        duplicates,
        strays,
        pairs={PairKey(*map(int, key)): PairStream.from_json(stored) for *key, stored in document["pairs"]},
        drifts={DriftKey(kind, name, int(i)): alarm_from_json(stored) for kind, name, i, stored in document["drifts"]},
        history=History.from_json(document["history"]),
        ledger=Ledger.of_arrays(arrays, reading, **bounds),
        **_read_later_parts(document, rows),
    )


def _read_later_parts(document: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Return what states of format 1 do not have."""
    if document["format"] == 1:
        return {"by_unit": False if rows else None}
    return {
        "left_out": {
            str(name): {group: int(count) for group, count in counts} for name, counts in document["left_out"]
        },
        "by_unit": document["by_unit"],
        "unit_history": History.from_json(document["unit_history"]),
    }
