"""Files that somebody else may have written, or a disk has damaged: parsed within bounds, refused in one sentence."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mamofair._messages import quote

__all__ = ["one_sentence", "parse_json", "require_seal", "require_size", "seal"]

_BYTES, _VALUES = 2**28, 10**7  # limits of a JSON file or a table
_SEAL = "state_checksum"
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


def seal(document: Mapping[str, Any], form: int) -> dict[str, Any]:
    """Return plain values with their format and a checksum of all of them, for a file that goes on being written.

    >>> sealed = seal({"rows": 7}, 2)
    >>> require_seal(sealed | {"rows": 8}, 2, "watch.json", "Copy it again.")
    Traceback (most recent call last):
    ...
    ValueError: 'watch.json' must be as it was written: found other content. Copy it again.
    """
    return {"format": form, _SEAL: _checksum_of(document)} | dict(document)


def require_seal(document: Mapping[str, Any], form: int, name: str, advice: str) -> None:
    """Raise a `ValueError` if a document is of a later format than this one, or is not as `seal` has made it.

    Format 1 had no checksum and is taken as it is; whoever goes on writes the file with one.
    """
    written = document["format"]
    if isinstance(written, int) and written > form:
        raise ValueError(f"{name} has format {written}: this mamofair reads {form}. Update mamofair.")
    is_first = written == 1 and _SEAL not in document
    if not is_first and (written != form or document.get(_SEAL) != _checksum_of(document)):
        raise ValueError(f"{quote(name)} must be as it was written: found other content. {advice}")


def _checksum_of(document: Mapping[str, Any]) -> str:
    """Return the checksum of all values but the format and the checksum itself."""
    values = {name: value for name, value in document.items() if name not in ("format", _SEAL)}
    return hashlib.sha256(json.dumps(values, allow_nan=False).encode()).hexdigest()
