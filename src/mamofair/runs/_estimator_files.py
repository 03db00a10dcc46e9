"""A fitted estimator as files: JSON, safetensors, CSV, LightGBM's text and skops. None of them can execute anything."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pandas as pd
import safetensors.torch

from mamofair import estimators
from mamofair.estimators import FairClassifier
from mamofair.estimators._state import learned, points, restore
from mamofair.networks import MLP
from mamofair.pareto import Point, Tally
from mamofair.runs._counts import to_lists, to_tallies
from mamofair.runs._csv import read_csv, to_csv
from mamofair.runs._folders import as_json
from mamofair.runs._values import Store, from_plain, to_plain

_OWN_NETWORK = "a network of your own"


def to_files(estimator: FairClassifier) -> dict[str, bytes]:
    """Return the files of an estimator, fitted or (as before the first checkpoint) not."""
    kind = type(estimator)
    if getattr(estimators, kind.__name__, None) is not kind:
        raise ValueError(f"A run can hold mamofair's own estimators: found {kind.__module__}.{kind.__qualname__}.")
    rest, of_points, found = Store(), Store(), points(estimator)
    held = learned(estimator)
    history = pd.DataFrame(held.pop("_history", []))
    document = {
        "class": kind.__name__,
        "parameters": _parameters(estimator, rest),
        "learned": to_plain(dict(sorted(held.items())), "learned", rest),
        "points": [
            {"member": point.member, "step": point.step, "model": point.model}
            | {"state": to_plain(point.state, f"{i:03}", of_points)}
            for i, point in enumerate(found)
        ],
    }
    files = {
        "estimator.json": as_json(document),
        "counts.json": as_json(
            {"valid": to_lists([point.valid for point in found]), "calibration": to_lists(_calibration(found))}
        ),
        "learned.safetensors": safetensors.torch.save(rest.tensors),
        "points/points.safetensors": safetensors.torch.save(of_points.tensors),
    }
    if len(history):
        files["history.csv"] = to_csv(history)
    return files | {f"points/{name}": content for name, content in rest.files.items()}


def from_files(files: Mapping[str, bytes], network: Any = None) -> FairClassifier:
    """Return the estimator of these files, whose sums have been checked; `network` is one that is no `MLP`."""
    document, counts = json.loads(files["estimator.json"]), json.loads(files["counts.json"])
    kind = getattr(estimators, document["class"], None) if document["class"] in estimators.__all__ else None
    if kind is None:
        raise ValueError(f"A run must hold one of mamofair's estimators: found {document['class']!r}. Update mamofair.")
    models = {name.removeprefix("points/"): content for name, content in files.items()}
    rest = Store(safetensors.torch.load(files["learned.safetensors"]), models)
    of_points = Store(safetensors.torch.load(files["points/points.safetensors"]))
    parameters = document["parameters"]
    if _OWN_NETWORK in parameters and network is None:
        raise ValueError(
            f"This run was trained with a network of its own, {parameters[_OWN_NETWORK]}: give what makes one, "
            "load(run, network=…)."
        )
    given = {name: from_plain(part, rest) for name, part in parameters.items() if name != _OWN_NETWORK}
    estimator = cast(FairClassifier, kind(**given | ({} if network is None else {"network": network})))
    held = from_plain(document["learned"], rest)
    if "history.csv" in files:
        held["_history"] = read_csv(files["history.csv"])
    calibration: list[Tally | None] = [*to_tallies(counts["calibration"])]
    found = [
        Point(valid, held_back, member=p["member"], step=p["step"], model=p["model"], state=state)
        for p, valid, held_back, state in zip(
            document["points"],
            to_tallies(counts["valid"]),
            calibration or [None] * len(document["points"]),
            [from_plain(p["state"], of_points) for p in document["points"]],
            strict=True,
        )
    ]
    restore(estimator, held, found)
    return estimator


def _parameters(estimator: FairClassifier, store: Store) -> dict[str, Any]:
    """Return the constructor's parameters; a user's own network is known by its name only."""
    parameters = estimator.get_params(deep=False)
    network = parameters.get("network", MLP())
    if not isinstance(network, MLP):
        del parameters["network"]
        named = f"{network.__module__}.{getattr(network, '__qualname__', type(network).__qualname__)}"
        return {name: to_plain(value, name, store) for name, value in parameters.items()} | {_OWN_NETWORK: named}
    return {name: to_plain(value, name, store) for name, value in parameters.items()}


def _calibration(found: list[Point]) -> list[Tally]:
    return [point.calibration for point in found if point.calibration is not None]
