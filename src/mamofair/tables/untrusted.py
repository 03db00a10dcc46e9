"""Files that somebody else may have written: parsed within bounds, and refused in one sentence."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["one_sentence", "parse_json", "require_size"]

_BYTES, _VALUES = 2**28, 10**7  # that a file of JSON or a table may have, at the most
_LONGEST = 500  # characters of an error


@contextmanager
def one_sentence(claim: str, advice: str = "Copy it again, or make it again.") -> Iterator[None]:
    """Let errors that are sentences pass, and turn any other into one: `claim`, which must hold, does not.

    Readers of formats raise whatever their authors thought of. The cause stays attached.
    """
    try:
        yield
    except (OSError, Warning):  # a warning that somebody has made an error
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        if isinstance(error, ValueError | ImportError) and text.endswith(".") and len(str(error)) <= _LONGEST:
            raise
        found = f"{type(error).__name__}: {text[:120]}".rstrip(" .:")
        raise ValueError(f"{claim}: found something else ({found}). {advice}") from error


def require_size(content: bytes, label: str, separators: bytes) -> None:
    """Refuse text so long, or with so many values, that reading it would take gigabytes."""
    if len(content) > _BYTES or sum(content.count(separator) for separator in separators) > _VALUES:
        raise ValueError(
            f"{label} must have at most {_BYTES:,} bytes and {_VALUES:,} values: found more. Do not use it unless you "
            "know who made it."
        )


def parse_json(content: bytes, label: str) -> Any:
    """Return what is in a file of JSON: bounded, strict, and an error that names the file.

    >>> parse_json(b'{"gap": NaN}', "counts.json")
    Traceback (most recent call last):
    ...
    ValueError: counts.json must be JSON with finite numbers: found NaN. Copy it again, or make it again.
    """
    require_size(content, label, b",[{")

    def refuse(constant: str) -> Any:
        raise ValueError(
            f"{label} must be JSON with finite numbers: found {constant}. Copy it again, or make it again."
        )

    with one_sentence(f"{label} must be JSON as mamofair writes it"):
        return json.loads(content, parse_constant=refuse)
