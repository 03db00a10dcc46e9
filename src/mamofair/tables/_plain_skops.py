"""Plain values in skops' format, read and written without skops, which imports all of scikit-learn and takes seconds.

Encoders are plain values. Nothing here can execute anything: what comes out are dicts, lists, texts and numbers.
"""

import json
from collections.abc import Iterator
from importlib.metadata import version
from itertools import count
from typing import Any

__all__ = ["NotPlainError", "read_plain", "write_plain"]

_PROTOCOL = 2  # the version of the format that this reads and writes
_TEXT = {"__loader__": "TypeNode", "__module__": "builtins", "__class__": "str"}


class NotPlainError(Exception):
    """Something is not a plain value."""


def read_plain(schema: Any) -> Any:
    """Return the value that the schema of a file describes; a `NotPlainError` if reading it needs skops."""
    if not isinstance(schema, dict) or schema.get("protocol") != _PROTOCOL:
        raise NotPlainError
    return _read(schema)


def _read(state: Any) -> Any:
    match state:
        case {"__loader__": "JsonNode", "content": str(text)}:
            return json.loads(text)
        case {"__loader__": "ListNode", "__module__": "builtins", "__class__": "list", "content": list(parts)}:
            return [_read(part) for part in parts]
        case {"__loader__": "DictNode", "__module__": "builtins", "__class__": "dict", "content": dict(parts)}:
            _require_texts(state.get("key_types"), len(parts))
            return {name: _read(part) for name, part in parts.items()}
    raise NotPlainError


def _require_texts(kinds: Any, count: int) -> None:
    """Require that all keys of a dict are texts, and that there are this many."""
    listed = kinds.get("content") if isinstance(kinds, dict) and kinds.get("__loader__") == "ListNode" else None
    if not isinstance(listed, list) or len(listed) != count or not all(map(_is_text, listed)):
        raise NotPlainError


def _is_text(kind: Any) -> bool:
    return isinstance(kind, dict) and all(kind.get(name) == value for name, value in _TEXT.items())


def write_plain(value: Any) -> dict[str, Any]:
    """Return the schema of a file with a value, the one that skops would write but for ids; see `read_plain`."""
    return _write(value, count()) | {"protocol": _PROTOCOL, "_skops_version": version("skops")}


def _write(value: Any, ids: Iterator[int]) -> dict[str, Any]:
    kind: Any = type(value)
    state = {"__class__": kind.__name__, "__module__": "builtins", "__id__": next(ids)}
    if kind in (str, int, float, bool, type(None)):
        text = {"__class__": "str", "content": json.dumps(value), "is_json": True}  # skops names this class for all
        return state | {"__loader__": "JsonNode"} | text
    if kind is list:
        return state | {"__loader__": "ListNode", "content": [_write(part, ids) for part in value]}
    if kind is dict and all(type(key) is str for key in value):
        kinds = [{**_TEXT, "__id__": next(ids)} for _ in value]
        key_types = _write([], ids) | {"content": kinds}
        content = {key: _write(part, ids) for key, part in value.items()}
        return state | {"__loader__": "DictNode", "content": content, "key_types": key_types}
    raise NotPlainError
