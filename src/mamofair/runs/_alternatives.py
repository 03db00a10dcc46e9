"""The comparison of a run with an incumbent: a file in the run folder, removed when the run is replaced."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mamofair.runs._folders import as_json, leads_inside, read_file
from mamofair.runs._locks import own_folder, replaced_file
from mamofair.tables.untrusted import parse_json

__all__ = ["ALTERNATIVES", "read_alternatives", "save_alternatives"]

ALTERNATIVES = "alternatives.json"
_LONGEST = 2**22  # bytes


def save_alternatives(document: Mapping[str, Any], folder: str | Path) -> Path:
    """Write the answer for an incumbent into a run folder, replacing an earlier one, and return the file.

    Like the report, it can be rewritten, and is not covered by a checksum.
    """
    path = Path(folder) / ALTERNATIVES
    with own_folder(Path(folder)), replaced_file(path) as file:
        file.write(as_json(dict(document), indent=1))
    return path


def read_alternatives(folder: str | Path) -> list[str]:
    """Return the sentences of the answer in a run folder; none if there is no answer."""
    inside = leads_inside(Path(folder), ALTERNATIVES)
    content = read_file(Path(folder), ALTERNATIVES, most=_LONGEST) if inside else b"null"
    if content is None:
        return []
    document = parse_json(content, ALTERNATIVES)
    sentences = document.get("sentences") if isinstance(document, dict) else None
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise ValueError(
            f"{ALTERNATIVES} in {str(folder)!r} must be as `mamofair alternatives` wrote it: found something else. "
            "Remove it, or ask again."
        )
    return sentences
