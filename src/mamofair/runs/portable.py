"""An estimator as one plain value, made of the files of a run folder, for skops and MLflow."""

from collections.abc import Mapping
from typing import Any

from mamofair import estimators, tables
from mamofair.estimators import FairClassifier
from mamofair.runs._estimator_files import OWN_NETWORK, from_files, to_files
from mamofair.tables import read_encoder, write_encoder
from mamofair.tables.untrusted import one_sentence, parse_json

__all__ = ["from_state", "to_state", "trusted_types"]

_FORMAT = 1
_ENCODER = "encoder.skops"


def trusted_types() -> list[str]:
    """Return the names of the types in mamofair's models that skops must trust.

    To skops, a model is a single type: its learned state is stored as in a run folder, and checked in the same way when
    it is loaded. Nothing is pickled or executed.

    Examples
    --------
    >>> import skops.io
    >>> from mamofair import FairPlugInClassifier, trusted_types
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(effort="fast", random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> again = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    >>> bool((again.predict_proba(toy.X) == model.predict_proba(toy.X)).all())
    True
    """
    kinds = [getattr(estimators, name) for name in estimators.__all__ if name != "FairClassifier"]
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in (*kinds, tables.TableEncoder))


def to_state(estimator: FairClassifier) -> dict[str, Any]:
    """Return an estimator, fitted or not, as file names and contents; an error names what cannot be stored."""
    files = to_files(estimator)
    network = parse_json(files["estimator.json"], "estimator.json")["parameters"].get(OWN_NETWORK)
    if network is not None:
        raise ValueError(
            f"A model must have the network `MLP` to be written by skops: found {network}. Write it with "
            "`mamofair.save`, and read it with `mamofair.load(folder, network=…)`; or pickle it."
        )
    encoder = vars(estimator).get("encoder_")
    return {"format": _FORMAT, "files": files | ({} if encoder is None else {_ENCODER: write_encoder(encoder)})}


def from_state(state: Mapping[str, Any]) -> FairClassifier:
    """Return the estimator that `to_state` wrote; nothing in it is executed."""
    with one_sentence("A model must be as mamofair wrote it", "Copy it again, or write it again."):
        if state["format"] > _FORMAT:
            raise ValueError(
                f"The model was written by a newer mamofair (format {int(state['format'])}; this one reads up to "
                f"{_FORMAT}): pip install -U mamofair."
            )
        files = dict(state["files"])
        encoder = files.pop(_ENCODER, None)
        estimator = from_files(files)
        return estimator if encoder is None else estimator.with_encoder(read_encoder(encoder, _ENCODER))
