"""Saving a run, atomically."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mamofair.runs._alternatives import ALTERNATIVES
from mamofair.runs._counts import to_lists
from mamofair.runs._csv import to_csv
from mamofair.runs._estimator_files import to_files
from mamofair.runs._folders import (
    WORK,
    as_json,
    checksum,
    holds,
    leads_inside,
    replace_files,
    require_unclaimed,
    write_file,
)
from mamofair.runs._judge import judge
from mamofair.runs._load import (
    CHECKPOINT,
    ENCODER,
    FORMAT,
    LIST,
    is_resumable,
    read_head,
    read_own_list,
    read_settings,
)
from mamofair.runs._locks import own_folder
from mamofair.runs._run import Run
from mamofair.runs._scores import scores_to_lists
from mamofair.tables import save_encoder
from mamofair.tables.untrusted import parse_json

_PAGE = "report.html"
_NAMES = (
    *("estimator.json", "counts.json", "learned.safetensors", "points/points.safetensors", "history.csv", "front.csv"),
    *("test.json", "scores.json", "objectives.json", "limit.csv", ENCODER, _PAGE, LIST),
)
_OTHER_REPORTS = ("report.md", "report.json")


def save(
    run: Run,
    folder: str | Path,
    page: Callable[[Run, Path], None] | None = None,
    resumable: bool = False,
    overwrite: bool = True,
) -> Path:
    """Write a run into a folder, replacing an earlier run there, and return the folder.

    Other files in the folder stay. If another process is writing into it, this raises an `OSError`.

    Parameters
    ----------
    run
        The run. If a part of it cannot be written without pickle, an error names it, and nothing changes.
    folder
        Where: `run.json` (settings, versions, checksums), `front.csv`, `points/`, and what else `load_run` needs.
    page
        A function that writes `report.html`, which is not covered by a checksum, so that it can be rewritten.
    resumable
        Whether to keep the checkpoint of an unfinished training.
    overwrite
        Whether an existing run may be replaced; otherwise it raises a `FileExistsError`.
    """
    folder = Path(folder)
    files = to_files(run.estimator) | {
        "front.csv": to_csv(run.estimator.front_.frame()),
        "test.json": as_json(to_lists(run.test)),
    }
    if run.scores:
        files["scores.json"] = as_json(scores_to_lists(run.scores))
    if run.custom:
        files["objectives.json"] = as_json(list(run.custom))
    if run.limit is not None:
        files["limit.csv"] = to_csv(run.limit)

    def write(place: Path) -> None:
        if run.estimator.encoder_ is not None:
            save_encoder(run.estimator.encoder_, place / ENCODER)
            files[ENCODER] = (place / ENCODER).read_bytes()
        groups = {name: list(names) for name, names in run.groups.items()}
        write_list(place, files, {**run.settings, **_answers(run)}, groups=groups)
        if page is not None:
            page(replace(run, settings=read_settings(json.loads((place / LIST).read_bytes()))), place / _PAGE)

    with own_folder(folder):
        if not overwrite and (holds_run(folder) or is_resumable(folder)):
            raise FileExistsError(
                f"{str(folder)!r} must not hold a run yet: found one. Name another folder, or pass `overwrite=True`."
            )
        require_place(folder)
        replace_files(folder, write, own_files(folder) | (set() if resumable else own_files(folder, CHECKPOINT + "/")))
    return folder


def _answers(run: Run) -> dict[str, Any]:
    """Return the chosen point's row, test values and verdict; None without a chosen point."""
    try:
        run.estimator.selected_  # noqa: B018  # raises if no point meets the selection
    except ValueError:
        return dict.fromkeys(("point", "test", "verdict"))
    verdict = judge(run)
    values = {verdict.performance[0]: verdict.performance[1]} | {one.name: one.gap for one in verdict.gaps}
    values |= {one.name: one.value for one in verdict.custom if one.rows == "test"}
    return {"point": verdict.point, "test": values if run.test else None, "verdict": verdict.to_json()}


def require_place(folder: Path) -> None:
    """Raise an error for a folder with other files and no run, or with other files under a run's file names."""
    is_free = not any(path.name != WORK for path in folder.iterdir())
    if not is_free and not holds_run(folder) and not is_resumable(folder):
        raise FileExistsError(f"A run needs a folder of its own: {str(folder)!r} holds other files. Name another.")
    require_unclaimed(folder, _NAMES, own_files(folder))
    checkpoint = [f"{CHECKPOINT}/{name}" for name in _NAMES]
    require_unclaimed(folder, checkpoint, own_files(folder, f"{CHECKPOINT}/"))


def holds_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    return holds(folder, LIST)


def is_current(run: Run, folder: Path) -> bool:
    """Return whether a loaded run is still the one in its folder."""
    return read_head(folder, read_own_list(folder))["checksum"] == run.settings["checksum"]  # type: ignore[no-any-return]


def own_files(folder: Path, part: str = "") -> set[str]:
    """Return the names of the files that a run, or the part of it that is its checkpoint, has written."""
    if not holds(folder, part + LIST):
        return set()
    try:
        listed = [part + name for name in parse_json(read_own_list(folder, part) or b"", LIST)["files"]]
    except (ValueError, KeyError, TypeError):  # damaged: the list of files is lost
        listed = [part + name for name in _NAMES]
    beside = [] if part else [_PAGE, *_OTHER_REPORTS, ALTERNATIVES]
    return {name for name in (*listed, part + LIST, *beside) if leads_inside(folder, name)}


def write_list(place: Path, files: dict[str, bytes], settings: dict[str, Any], **more: Any) -> None:
    """Write files, and beside them `run.json` with settings and the files' checksums."""
    for name, content in files.items():
        write_file(place / name, content)
    sums = {name: checksum(content) for name, content in sorted(files.items())}
    head = settings | {"format": FORMAT, "checksum": checksum(as_json(sums))}
    write_file(place / LIST, as_json(head | more | {"files": sums}, indent=1))
