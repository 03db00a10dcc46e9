"""Files that somebody else may have written: parsed within bounds, and refused in one sentence."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["one_sentence", "parse_json", "require_size"]

_BYTES, _VALUES = 2**28, 10**7  # limits of a JSON file or a table
_LONGEST = 500  # characters of an error message


@contextmanager
def one_sentence(claim: str, advice: str = "Copy it again, or make it again.") -> Iterator[None]:
    """Let errors that are sentences pass, and turn any other into one that says that `claim` does not hold.

    Libraries that read files raise all kinds of errors. The original one stays attached as the cause.
    """
    try:
        yield
    except (OSError, Warning):  # a warning that was turned into an error
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        if isinstance(error, ValueError | ImportError) and text.endswith(".") and len(str(error)) <= _LONGEST:
            raise
        described = f"{type(error).__name__}: {text[:120]}".rstrip(" .:")
        raise ValueError(f"{claim}: found something else ({described}). {advice}") from error


def require_size(content: bytes, label: str, separators: bytes) -> None:
    """Raise a `ValueError` for a text that would take gigabytes to read."""
    if len(content) > _BYTES or sum(content.count(separator) for separator in separators) > _VALUES:
        raise ValueError(
            f"{label} must have at most {_BYTES:,} bytes and {_VALUES:,} values: found more. Do not use it unless you "
            "know who made it."
        )


def parse_json(content: bytes, label: str) -> Any:
    """Return the content of a JSON file of limited size; errors name the file.

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
