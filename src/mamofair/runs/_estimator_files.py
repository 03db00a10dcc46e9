"""A fitted estimator as files: JSON, safetensors, CSV and skops. None of them can execute anything."""

from collections.abc import Mapping
from dataclasses import fields
from inspect import isabstract
from typing import Any, cast

import pandas as pd

from mamofair import estimators
from mamofair.estimators import FairClassifier
from mamofair.estimators.state import get_points, get_state, set_state
from mamofair.fronts import Point, Tally
from mamofair.runs._counts import to_lists, to_tallies
from mamofair.runs._csv import read_csv, to_csv
from mamofair.runs._folders import as_json
from mamofair.runs._objectives import name_functions
from mamofair.runs._tensors import load_tensors, save_tensors
from mamofair.runs._values import READERS, Store, from_plain, is_mlp, to_plain
from mamofair.runs._weightings import name_foreign
from mamofair.tables.untrusted import parse_json

OWN_NETWORK = "a network of your own"


def to_files(estimator: FairClassifier) -> dict[str, bytes]:
    """Return the files of an estimator, fitted or (as before the first checkpoint) not."""
    rest, of_points, points = Store(), Store(), get_points(estimator)
    held = get_state(estimator)
    history = pd.DataFrame(held.pop("_history", []))
    document = {
        "class": _class(estimator),
        "parameters": _parameters(estimator, rest),
        "learned": to_plain(dict(sorted(held.items())), "learned", rest),
        "points": _states(points, "", of_points),
    }
    files = {
        "estimator.json": as_json(document),
        "counts.json": as_json(_counts(points)),
        "learned.safetensors": save_tensors(rest.tensors),
        "points/points.safetensors": save_tensors(of_points.tensors),
    }
    if len(history):
        files["history.csv"] = to_csv(history)
    return files | {f"points/{name}": content for name, content in rest.files.items()}


def from_files(
    files: Mapping[str, bytes], network: Any = None, members: Any = None, objectives: Any = None
) -> FairClassifier:
    """Return the estimator of these files, whose checksums have been verified.

    `network` is one that is not an `MLP`; `members` and `objectives` replace those that the run knows.
    """
    document, counts = (parse_json(files[name], name) for name in ("estimator.json", "counts.json"))
    models = {name.removeprefix("points/"): content for name, content in files.items()}
    rest = Store(load_tensors(files["learned.safetensors"]), models)
    of_points = Store(load_tensors(files["points/points.safetensors"]))
    parameters = document["parameters"]
    own_network = parameters.pop(OWN_NETWORK, None)
    if own_network is not None and network is None:
        raise ValueError(
            f"This run was trained with a network of its own, {str(own_network)[:200]}: pass the function that "
            "builds it, load(run, network=…)."
        )
    given = {name: from_plain(part, rest) for name, part in parameters.items()}
    again = {"network": network, "members": members, "objectives": objectives}
    estimator = _made(document["class"], given | {name: value for name, value in again.items() if value is not None})
    held = from_plain(document["learned"], rest)
    if "history.csv" in files:
        held["_history"] = read_csv(files["history.csv"], "history.csv", ["model"])
    set_state(estimator, held, _points(document["points"], counts, of_points))
    return estimator


@to_plain.register
def _(value: FairClassifier, at: str, store: Store) -> Any:
    """Return an estimator within another one, such as those of a portfolio."""
    points, given = get_points(value), _given(value)
    return {
        "estimator": _class(value),
        "parameters": {name: to_plain(part, f"{at}/{name}", store) for name, part in given.items()},
        "learned": to_plain(dict(sorted(get_state(value).items())), f"{at}/learned", store),
        "points": _states(points, f"{at}/", store),
        "counts": _counts(points),
    }


def _inner(document: Any, store: Store) -> FairClassifier:
    given = {name: from_plain(part, store) for name, part in document["parameters"].items()}
    estimator = _made(document["estimator"], given)
    points = _points(document["points"], document["counts"], store)
    set_state(estimator, from_plain(document["learned"], store), points)
    return estimator


READERS["estimator"] = _inner


def _class(estimator: FairClassifier) -> str:
    kind = type(estimator)
    if getattr(estimators, kind.__name__, None) is not kind:
        raise ValueError(
            f"A run can hold mamofair's own estimators: found {kind.__module__}.{kind.__qualname__}. Save others with "
            "pickle or joblib."
        )
    return str(kind.__name__)


def _made(name: str, parameters: dict[str, Any]) -> FairClassifier:
    kind = getattr(estimators, name) if name in estimators.__all__ else FairClassifier
    if isabstract(kind):
        raise ValueError(f"A run must hold one of mamofair's estimators: found {str(name)[:80]!r}. Update mamofair.")
    known = sorted(part.name for part in fields(kind))
    if unknown := sorted(set(parameters) - set(known)):
        raise ValueError(f"A {name} must be given {', '.join(known)}: found {unknown[0][:80]!r}. Update mamofair.")
    return cast(FairClassifier, kind(**parameters))


def _given(estimator: FairClassifier) -> dict[str, Any]:
    """Return the constructor's parameters; foreign weightings and functions are stored by name."""
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    named = {"members": name_foreign, "objectives": name_functions}
    return parameters | {name: named[name](parameters[name]) for name in named if name in parameters}


def _parameters(estimator: FairClassifier, store: Store) -> dict[str, Any]:
    """Return the constructor's parameters; a user's own network is stored by name only."""
    parameters, own_network = _given(estimator), {}
    if "network" in parameters and not is_mlp(parameters["network"]):
        network = parameters.pop("network")
        own_network = {
            OWN_NETWORK: f"{network.__module__}.{getattr(network, '__qualname__', type(network).__qualname__)}"
        }
    return {name: to_plain(value, name, store) for name, value in parameters.items()} | own_network


def _states(points: list[Point], at: str, store: Store) -> list[dict[str, Any]]:
    """Return the origin of points and what they need for predictions."""
    return [
        {"member": p.member, "step": p.step, "model": p.model, "state": to_plain(p.state, f"{at}{i:03}", store)}
        | ({"custom": dict(p.custom)} if p.custom else {})
        for i, p in enumerate(points)
    ]


def _counts(points: list[Point]) -> dict[str, Any]:
    calibration = [point.calibration for point in points if point.calibration is not None]
    return {"valid": to_lists([point.valid for point in points]), "calibration": to_lists(calibration)}


def _points(documents: list[dict[str, Any]], counts: dict[str, Any], store: Store) -> list[Point]:
    calibration: list[Tally | None] = [*to_tallies(counts["calibration"])] or [None] * len(documents)
    tallies = zip(documents, to_tallies(counts["valid"]), calibration, strict=True)
    return [
        Point(valid, held_back, p["member"], p["step"], p["model"], from_plain(p["state"], store), p.get("custom", {}))
        for p, valid, held_back in tallies
    ]
