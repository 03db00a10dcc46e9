"""A run's folder: saved wholly or not at all, and loaded without executing anything from it."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from mamofair.estimators import FairClassifier
from mamofair.fronts import Tally
from mamofair.learners.checks import require_tallies
from mamofair.metrics import ScoreSummary
from mamofair.runs._alternatives import ALTERNATIVES
from mamofair.runs._counts import to_lists, to_tallies
from mamofair.runs._csv import read_csv, to_csv
from mamofair.runs._estimator_files import from_files, to_files
from mamofair.runs._folders import (
    WORK,
    as_json,
    checksum,
    holds,
    leads_inside,
    read_file,
    read_files,
    replace_files,
    require_unclaimed,
    write_file,
)
from mamofair.runs._judge import judge
from mamofair.runs._locks import own_folder
from mamofair.runs._run import Run
from mamofair.runs._scores import scores_from_lists, scores_to_lists
from mamofair.tables import read_encoder, save_encoder
from mamofair.tables.untrusted import one_sentence, parse_json

FORMAT = 1
CHECKPOINT = "checkpoint"
_LIST, _ENCODER, _PAGE = "run.json", "encoder.skops", "report.html"
_NAMES = (
    *("estimator.json", "counts.json", "learned.safetensors", "points/points.safetensors", "history.csv", "front.csv"),
    *("test.json", "scores.json", "limit.csv", _ENCODER, _PAGE, _LIST),
)
_OTHER_REPORTS = ("report.md", "report.json")
_OF_THE_FOLDER = ("groups", "files")  # what run.json has beside the settings
_LONGEST = 2**24  # bytes of run.json


def save(
    run: Run,
    folder: str | Path,
    page: Callable[[Run, Path], None] | None = None,
    resumable: bool = False,
    overwrite: bool = True,
) -> Path:
    """Write a run into a folder, in the place of the run that was there; return the folder.

    Other files in the folder stay. While another process writes into it, this is an `OSError`.

    Parameters
    ----------
    run
        The run. What cannot be written without pickle is refused by name, and nothing is changed.
    folder
        Where: `run.json` (settings, versions, checksums), `front.csv`, `points/`, and what else `load_run` needs.
    page
        Writes `report.html`; it is for people, and no checksum covers it, so that it can be written again.
    resumable
        Whether to keep the checkpoint of a training that has not ended.
    overwrite
        Whether a run that is there may be replaced; if not, it is a `FileExistsError`.
    """
    folder = Path(folder)
    files = to_files(run.estimator) | {
        "front.csv": to_csv(run.estimator.front_.frame()),
        "test.json": as_json(to_lists(run.test)),
    }
    if run.scores:
        files["scores.json"] = as_json(scores_to_lists(run.scores))
    if run.limit is not None:
        files["limit.csv"] = to_csv(run.limit)

    def write(place: Path) -> None:
        if run.estimator.encoder_ is not None:
            save_encoder(run.estimator.encoder_, place / _ENCODER)
            files[_ENCODER] = (place / _ENCODER).read_bytes()
        groups = {name: list(own) for name, own in run.groups.items()}
        write_list(place, files, {**run.settings, **_answers(run)}, groups=groups)
        if page is not None:
            page(replace(run, settings=_settings(json.loads((place / _LIST).read_bytes()))), place / _PAGE)

    with own_folder(folder):
        if not overwrite and (holds_run(folder) or is_resumable(folder)):
            raise FileExistsError(
                f"{str(folder)!r} must not hold a run yet: found one. Name another folder, or pass `overwrite=True`."
            )
        require_place(folder)
        replace_files(folder, write, own_files(folder) | (set() if resumable else own_files(folder, CHECKPOINT + "/")))
    return folder


def _answers(run: Run) -> dict[str, Any]:
    """Return what a run says about its chosen point: the row, its test values, and the verdict; None without one."""
    try:
        run.estimator.selected_  # noqa: B018  # raises if no point meets the selection
    except ValueError:
        return dict.fromkeys(("point", "test", "verdict"))
    verdict = judge(run)
    values = {verdict.performance[0]: verdict.performance[1]} | {one.name: one.gap for one in verdict.gaps}
    return {"point": verdict.point, "test": values if run.test else None, "verdict": verdict.to_json()}


def require_place(folder: Path) -> None:
    """Refuse a folder that holds other files and no run, or other files under the names of a run's."""
    is_free = not any(path.name != WORK for path in folder.iterdir())
    if not is_free and not holds_run(folder) and not is_resumable(folder):
        raise FileExistsError(f"A run needs a folder of its own: {str(folder)!r} holds other files. Name another.")
    require_unclaimed(folder, _NAMES, own_files(folder))
    checkpoint = [f"{CHECKPOINT}/{name}" for name in _NAMES]
    require_unclaimed(folder, checkpoint, own_files(folder, f"{CHECKPOINT}/"))


def holds_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    return holds(folder, _LIST)


def is_current(run: Run, folder: Path) -> bool:
    """Return whether a run that was loaded is still the one in its folder."""
    return _read_head(folder, _read_own_list(folder))["checksum"] == run.settings["checksum"]  # type: ignore[no-any-return]


def is_resumable(folder: Path) -> bool:
    """Return whether a folder holds the checkpoint of a training that has not ended."""
    return holds(folder, f"{CHECKPOINT}/{_LIST}")


def own_files(folder: Path, part: str = "") -> set[str]:
    """Return the names of the files that a run, or the part of it that is its checkpoint, has written."""
    if not holds(folder, part + _LIST):
        return set()
    try:
        listed = [part + name for name in parse_json(_read_own_list(folder, part) or b"", _LIST)["files"]]
    except (ValueError, KeyError, TypeError):  # damaged: what it had listed is not known any more
        listed = [part + name for name in _NAMES]
    beside = [] if part else [_PAGE, *_OTHER_REPORTS, ALTERNATIVES]
    return {name for name in (*listed, part + _LIST, *beside) if leads_inside(folder, name)}


def _settings(head: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in head.items() if name not in _OF_THE_FOLDER}


def write_list(place: Path, files: dict[str, bytes], settings: dict[str, Any], **more: Any) -> None:
    """Write files, and beside them `run.json` with settings and the files' checksums."""
    for name, content in files.items():
        write_file(place / name, content)
    sums = {name: checksum(content) for name, content in sorted(files.items())}
    head = settings | {"format": FORMAT, "checksum": checksum(as_json(sums))}
    write_file(place / _LIST, as_json(head | more | {"files": sums}, indent=1))


def read_list(folder: Path, part: str = "") -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the content of `run.json` and of the files it lists, their checksums verified.

    If another process replaces the run meanwhile, what was read may belong together no more: it is read again then.
    """
    while True:
        content = _read_own_list(folder, part)
        try:
            head = _read_head(folder, content)
            return head, read_files(folder, head["files"], part)
        except (ValueError, OSError):
            if content == _read_own_list(folder, part):
                raise


def _read_own_list(folder: Path, part: str = "") -> bytes | None:
    """Return the content of `run.json`; one that is a link out of the folder, or far too long, is refused."""
    if not leads_inside(folder, part + _LIST):
        raise ValueError(
            f"A run must name files of its own folder: {part}{_LIST} in {str(folder)!r} does not. Do not use it."
        )
    return read_file(folder, part + _LIST, most=_LONGEST)


def _read_head(folder: Path, content: bytes | None) -> dict[str, Any]:
    """Return what `run.json` says, if it is one that this version can read."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no run {str(folder)!r}. Check the name of the folder.")
    if content is None:
        unfinished = is_resumable(folder)
        advice = f"its training has not ended. Continue it with mamofair train --resume {folder}." if unfinished else ""
        raise ValueError(f"{str(folder)!r} must hold a run: {advice or f'found no {_LIST} in it. Check the name.'}")
    try:
        head = parse_json(content, _LIST)
        head["format"] = int(head["format"])
        is_newer = head["format"] > FORMAT
        head["files"] = {} if is_newer else dict(head["files"])  # which a newer format may list in another way
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{_LIST} in {str(folder)!r} must be a run's: found something else. Copy it again.") from None
    if is_newer:
        raise ValueError(
            f"The run {str(folder)!r} was written by a newer mamofair (format {head['format']}; this one reads up to "
            f"{FORMAT}): pip install -U mamofair."
        )
    return cast(dict[str, Any], head)


def load_run(folder: str | Path, network: Any = None, members: Any = None, objectives: Any = None) -> Run:
    """Return the run in a folder. Checksums are verified, and nothing from the folder is executed.

    Parameters
    ----------
    folder
        What `save`, or `mamofair train --out`, has written.
    network
        What makes the network, if the run was trained with another than `MLP`.
    members
        The members to train further with, if weightings of another library are among them: a run keeps their names,
        and predicts without them.
    objectives
        The custom objectives to train further with: of losses and metrics that are not ours, a run keeps the names.
    """
    folder = Path(folder)
    with one_sentence(f"The run {str(folder)!r} must be as mamofair wrote it", "Copy it again, or train again."):
        head, files = read_list(folder)
        estimator = from_files(files, network, members, objectives)
        if _ENCODER in files:
            estimator = estimator.with_encoder(read_encoder(files[_ENCODER], _ENCODER))
        with suppress(ValueError):  # a selection may find no point, and `predict` says so
            _ = estimator.selected_
        groups = {name: tuple(map(str, own)) for name, own in head["groups"].items()}
        test = _read_test(files, estimator)
        return Run(estimator, _settings(head), groups, test, _read_limit(files), _read_scores(files, test))


def _read_test(files: Mapping[str, bytes], estimator: FairClassifier) -> tuple[Tally, ...]:
    """Return the counts on test rows: of every point, or of none."""
    tallies = tuple(to_tallies(parse_json(files["test.json"], "test.json")))
    if tallies and len(tallies) != len(estimator.front_):
        raise ValueError(
            f"A run must have test counts of all its {len(estimator.front_)} points: found {len(tallies)}. Copy it "
            "again, or train again."
        )
    require_tallies(tallies, {name: len(own) for name, own in estimator.front_.groups.items()})
    return tallies


def _read_scores(files: Mapping[str, bytes], test: tuple[Tally, ...]) -> tuple[ScoreSummary, ...]:
    """Return what scores are like on test rows; earlier runs, and those of streams, do not have it."""
    if "scores.json" not in files:
        return ()
    with one_sentence("scores.json must be as mamofair wrote it", "Copy the run again, or train again."):
        return scores_from_lists(parse_json(files["scores.json"], "scores.json"), test)


def _read_limit(files: Mapping[str, bytes]) -> pd.DataFrame | None:
    """Return the limit line, if there is one: shares, of named criteria."""
    if "limit.csv" not in files:
        return None
    limit = pd.DataFrame(read_csv(files["limit.csv"], "limit.csv", ["criterion"]))
    numbers = limit.drop(columns="criterion").to_numpy(dtype=float)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError("limit.csv must hold shares between 0 and 1: found others. Copy the run again.")
    return limit


def load(folder: str | Path, network: Any = None, members: Any = None, objectives: Any = None) -> FairClassifier:
    """Return the fitted estimator of a run: same front, same choice, same predictions.

    Nothing from the folder is executed, and checksums are verified. Where `mamofair train` has encoded a table, frames
    are encoded the same way before predicting.

    Parameters
    ----------
    folder
        What `mamofair train --out` or `mamofair.save` has written.
    network
        What makes the network, if the run was trained with another than `MLP`.
    members
        The members to train further with, if weightings of another library are among them: a run keeps their names,
        and predicts without them.
    objectives
        The custom objectives to train further with: of losses and metrics that are not ours, a run keeps the names.

    Examples
    --------
    >>> model = load("runs/loans")  # doctest: +SKIP
    >>> model.at(3).predict(pd.read_csv("new.csv"))  # doctest: +SKIP
    """
    return load_run(folder, network, members, objectives).estimator
