"""Loading a run: checksums are verified, and nothing from the folder is executed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from mamofair.estimators import FairClassifier
from mamofair.fronts import Tally
from mamofair.learners.checks import is_number, require_tallies
from mamofair.metrics import ScoreSummary
from mamofair.runs._counts import to_tallies
from mamofair.runs._csv import read_csv
from mamofair.runs._estimator_files import from_files
from mamofair.runs._folders import holds, leads_inside, read_file, read_files
from mamofair.runs._run import Run
from mamofair.runs._scores import scores_from_lists
from mamofair.tables import read_encoder
from mamofair.tables.untrusted import one_sentence, parse_json

FORMAT = 1
CHECKPOINT = "checkpoint"
LIST, ENCODER = "run.json", "encoder.skops"
_OF_THE_FOLDER = ("groups", "files")  # entries of run.json besides the settings
_LONGEST = 2**24  # bytes of run.json


def is_resumable(folder: Path) -> bool:
    """Return whether a folder holds the checkpoint of an unfinished training."""
    return holds(folder, f"{CHECKPOINT}/{LIST}")


def read_settings(head: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in the content of `run.json`."""
    return {name: value for name, value in head.items() if name not in _OF_THE_FOLDER}


def read_list(folder: Path, part: str = "") -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the content of `run.json` and of the files it lists, their checksums verified.

    If another process replaces the run meanwhile, the files may not match, and are read again.
    """
    while True:
        content = read_own_list(folder, part)
        try:
            head = read_head(folder, content)
            return head, read_files(folder, head["files"], part)
        except (ValueError, OSError):
            if content == read_own_list(folder, part):
                raise


def read_own_list(folder: Path, part: str = "") -> bytes | None:
    """Return the content of `run.json`; an error if it is a link out of the folder, or far too long."""
    if not leads_inside(folder, part + LIST):
        raise ValueError(
            f"A run must name files of its own folder: {part}{LIST} in {str(folder)!r} does not. Do not use it."
        )
    return read_file(folder, part + LIST, most=_LONGEST)


def read_head(folder: Path, content: bytes | None) -> dict[str, Any]:
    """Return the content of `run.json`, if this version can read it."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no run {str(folder)!r}. Check the name of the folder.")
    if content is None:
        unfinished = is_resumable(folder)
        advice = f"its training has not ended. Continue it with mamofair train --resume {folder}." if unfinished else ""
        raise ValueError(f"{str(folder)!r} must hold a run: {advice or f'found no {LIST} in it. Check the name.'}")
    try:
        head = parse_json(content, LIST)
        head["format"] = int(head["format"])
        is_newer = head["format"] > FORMAT
        head["files"] = {} if is_newer else dict(head["files"])  # a newer format may list them differently
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{LIST} in {str(folder)!r} must be a run's: found something else. Copy it again.") from None
    if is_newer:
        raise ValueError(
            f"The run {str(folder)!r} was written by a newer mamofair (format {head['format']}; this one reads up to "
            f"{FORMAT}): pip install -U mamofair."
        )
    return cast(dict[str, Any], head)


def load_run(
    folder: str | Path, network: Any = None, members: Any = None, objectives: Any = None, *, measured: bool = True
) -> Run:
    """Return the run in a folder. Checksums are verified, and nothing from the folder is executed.

    Parameters
    ----------
    folder
        A folder written by `save` or `mamofair train --out`.
    network
        The function that builds the network, if the run was not trained with an `MLP`.
    members
        The members to continue training with, if they use weightings of another library: a run keeps only their names,
        and predicts without them.
    objectives
        The custom objectives to continue training with: a run keeps only the names of foreign losses and metrics.
    measured
        Whether to read what was measured on test rows, and the limit, too. Predictions do not need them.
    """
    folder = Path(folder)
    with one_sentence(f"The run {str(folder)!r} must be as mamofair wrote it", "Copy it again, or train again."):
        head, files = read_list(folder)
        estimator = from_files(files, network, members, objectives)
        if ENCODER in files:
            estimator = estimator.with_encoder(read_encoder(files[ENCODER], ENCODER))
        with suppress(ValueError):  # if no point meets the selection, `predict` says so
            estimator = _keep_point(estimator, head.get("point"))
        groups = {name: tuple(map(str, own)) for name, own in head["groups"].items()}
        run = Run(estimator, read_settings(head), groups)
        if not measured:
            return run
        test = _read_test(files, estimator)
        scores, custom = _read_scores(files, test), _read_custom(files, estimator)
        return replace(run, test=test, limit=_read_limit(files), scores=scores, custom=custom)


def _keep_point(estimator: FairClassifier, point: Any) -> FairClassifier:
    """Return the estimator with the point that the run chose: a later version's rule may choose another one."""
    is_row = isinstance(point, int) and 0 <= point < len(estimator.front_)
    return estimator.at(point) if is_row and estimator.selected_ != point else estimator


def _read_test(files: Mapping[str, bytes], estimator: FairClassifier) -> tuple[Tally, ...]:
    """Return the counts on test rows, for every point or for none."""
    tallies = tuple(to_tallies(parse_json(files["test.json"], "test.json")))
    if tallies and len(tallies) != len(estimator.front_):
        raise ValueError(
            f"A run must have test counts of all its {len(estimator.front_)} points: found {len(tallies)}. Copy it "
            "again, or train again."
        )
    require_tallies(tallies, {name: len(own) for name, own in estimator.front_.groups.items()})
    return tallies


def _read_scores(files: Mapping[str, bytes], test: tuple[Tally, ...]) -> tuple[ScoreSummary, ...]:
    """Return the summaries of scores on test rows; earlier runs, and large streams, do not have them."""
    if "scores.json" not in files:
        return ()
    with one_sentence("scores.json must be as mamofair wrote it", "Copy the run again, or train again."):
        return scores_from_lists(parse_json(files["scores.json"], "scores.json"), test)


def _read_custom(files: Mapping[str, bytes], estimator: FairClassifier) -> tuple[dict[str, float], ...]:
    """Return what objectives of the user's own measure on test rows: for every point, or for none."""
    values = tuple(parse_json(files["objectives.json"], "objectives.json")) if "objectives.json" in files else ()
    names = set(estimator.front_.custom)
    is_sound = all(set(one) == names and all(is_number(v) and v >= 0 for v in one.values()) for one in values)
    if values and (len(values) != len(estimator.front_) or not is_sound):
        raise ValueError(
            "objectives.json must hold the values of each point, numbers that are 0 or more: found others. Copy the "
            "run again, or train again."
        )
    return values


def _read_limit(files: Mapping[str, bytes]) -> pd.DataFrame | None:
    """Return the limit line, if there is one, after checking it."""
    if "limit.csv" not in files:
        return None
    limit = pd.DataFrame(read_csv(files["limit.csv"], "limit.csv", ["criterion"]))
    numbers = limit.drop(columns="criterion").to_numpy(dtype=float)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError("limit.csv must hold shares between 0 and 1: found others. Copy the run again.")
    return limit


def load(folder: str | Path, network: Any = None, members: Any = None, objectives: Any = None) -> FairClassifier:
    """Return the fitted estimator of a run, with the same front, selection and predictions.

    Nothing from the folder is executed, and checksums are verified. If `mamofair train` encoded a table, frames are
    encoded in the same way before predicting.

    Parameters
    ----------
    folder
        A folder written by `mamofair train --out` or `mamofair.save`.
    network
        The function that builds the network, if the run was not trained with an `MLP`.
    members
        The members to continue training with, if they use weightings of another library: a run keeps only their names,
        and predicts without them.
    objectives
        The custom objectives to continue training with: a run keeps only the names of foreign losses and metrics.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mamofair import FairPlugInClassifier, save
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(effort="fast", random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     model = load(save(model.fit(toy.X, toy.y, sensitive_features=toy.sensitive), folder))
    >>> model.at(0).predict(toy.X).shape  # the most accurate point
    (600,)
    """
    return load_run(folder, network, members, objectives).estimator
