"""Runs whose checksums are right and whose values make no sense: refused in one sentence, never believed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from campaigns._tampering import write_sums

from mamofair.runs import Run, load_run, save
from run_fits import FACTORIES, X, assert_same, fitted, net, run_of

NAN, INF = {"float": "nan"}, {"float": "inf"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("runs")
    models = {"net": net(epochs=1), "boosting": FACTORIES["boosting"](), "plugin": FACTORIES["plugin, one's own"]()}
    return {name: save(run_of(fitted(model)), place / name) for name, model in models.items()}


@pytest.fixture
def folder(runs, tmp_path):
    def copy(name: str) -> Path:
        for path in runs[name].rglob("*.*"):
            target = tmp_path / path.relative_to(runs[name])
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
        return tmp_path

    return copy


def refusal(folder: Path) -> str:
    """Return the one sentence with which a folder is refused."""
    write_sums(folder)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # which sentence is for the caller
        load_run(folder)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert len(text) <= 500
    return text


def edit(path: Path, change) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def put(*keys, value):
    """Return what puts a value in a place of a document."""

    def change(document):
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["points/points.safetensors", "learned.safetensors"])
def test_weights_that_are_not_finite_are_refused(folder, name, value):
    path = folder("net") / name
    tensors = {key: array.copy() for key, array in safetensors.numpy.load(path.read_bytes()).items()}
    key = next(key for key in tensors if key.endswith("layers.0.weight"))
    tensors[key].flat[0] = value
    path.write_bytes(safetensors.numpy.save(tensors))
    assert "finite" in refusal(path.parent.parent if "/" in name else path.parent)


COUNTS = {
    "negative": put("valid", 0, "counts", "group", 0, 0, value=-1),
    "a text": put("valid", 0, "counts", "group", 0, 0, value="x"),
    "half a person": put("valid", 0, "counts", "group", 0, 0, value=0.5),
    "more rows than there are": put("valid", 0, "counts", "", 0, value=[1e12, 1e12, 1e12, 1e12]),
    "too large": put("valid", 0, "counts", "group", 0, 0, value=1e300),
    "of one group only": lambda document: document["valid"][0]["counts"]["group"].pop(),
    "of another attribute": lambda document: document["valid"][0]["counts"].update(age=[[1, 1, 1, 1]]),
    "of other rows": put("valid", 0, "counts", "", 0, 3, value=10**6),
    "all zero": put("valid", 0, "counts", "", 0, value=[0, 0, 0, 0]),
    "of fewer points": lambda document: document["valid"].pop(),
    "of calibration, of some points": put("calibration", value=[{"counts": {"": [[1, 1, 1, 1]]}}]),
}


@pytest.mark.parametrize("case", COUNTS)
def test_counts_that_make_no_sense_are_refused(folder, case):
    path = folder("plugin") / "counts.json"
    edit(path, COUNTS[case])
    refusal(path.parent)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_numbers_that_are_none(folder, text):
    path = folder("net") / "test.json"
    edit(path, put(0, "counts", "", 0, 0, value=float(text)))
    assert f"found {text}" in refusal(path.parent)


LEARNED = ("learned", "dict")
ESTIMATORS = {
    "chosen, out of range": ("net", put(*LEARNED, "_chosen", value=10**6)),
    "other labels": ("net", put(*LEARNED, "_favorable", value=7)),
    "no features": ("net", put(*LEARNED, "n_features_in_", value=0)),
    "names of other features": ("net", put(*LEARNED, "feature_names_in_", "texts", value=["x1"])),
    "an attribute that nobody has": ("net", put(*LEARNED, "_score", value="x")),
    "a class": ("net", put(*LEARNED, "__class__", value="x")),
    "no population": ("net", lambda document: document["learned"]["dict"].pop("_population")),
    "a parameter that nobody has": ("net", put("parameters", "shell", value=True)),
    "an impossible parameter": ("net", put("parameters", "max_points", value=-3)),
    "an abstract class": ("net", put("class", value="FairClassifier")),
    "a scale of zero": ("net", put(*LEARNED, "_scaling", "of", "scale", value={"array": "learned/_scaling/center"})),
    "more threads than there can be": ("boosting", put("parameters", "n_jobs", value=10**6)),
    "a member that is not there": ("boosting", put("points", 0, "state", value={"tuple": [7, 1]})),
    "all trees": ("boosting", put("points", 0, "state", value={"tuple": [0, -1]})),
    "no boosters": ("boosting", put(*LEARNED, "_boosters", value={"tuple": []})),
    "rules of another kind": ("plugin", put("points", 0, "state", "dict", value={"thresholds": {"tuple": [0.5]}})),
    "a rule of NaN": ("plugin", put("points", 0, "state", "dict", "multipliers", value={"tuple": [NAN]})),
    "no model of groups": ("plugin", put(*LEARNED, "_posterior", "of", "models", value={"pairs": []})),
    "nonsense": ("plugin", put(*LEARNED, value=[])),
    "nothing": ("plugin", lambda document: document.clear()),
}


@pytest.mark.parametrize("case", ESTIMATORS)
def test_estimators_that_make_no_sense_are_refused(folder, case):
    name, change = ESTIMATORS[case]
    path = folder(name) / "estimator.json"
    edit(path, change)
    if case == "a scale of zero":
        tensors = safetensors.numpy.load((path.parent / "learned.safetensors").read_bytes())
        zero = {"learned/_scaling/center": np.zeros(2)}
        (path.parent / "learned.safetensors").write_bytes(safetensors.numpy.save(tensors | zero))
    refusal(path.parent)


LABEL = ("", None)
STACKS = {
    "weights of NaN": lambda posterior, stack: ({}, {LABEL: replace(stack, weights=stack.weights * np.nan)}),
    "weights of two of three": lambda posterior, stack: ({}, {LABEL: replace(stack, weights=stack.weights[:2])}),
    "a bias of NaN": lambda posterior, stack: ({}, {LABEL: replace(stack, bias=stack.bias * np.nan)}),
    "a bias of three of two": lambda posterior, stack: ({}, {LABEL: replace(stack, bias=np.zeros(3))}),
    "a stack of nothing": lambda posterior, stack: ({}, {("age", None): stack}),
    "a model less": lambda posterior, stack: ({LABEL: posterior.label[:2]}, {}),
    "no model": lambda posterior, stack: ({LABEL: ()}, {}),
    "trees of another class": lambda posterior, stack: with_first(posterior, classes_=np.arange(3)),
    "trees of one class": lambda posterior, stack: with_first(posterior, classes_=np.arange(1)),
    "no trees": lambda posterior, stack: with_first(posterior, boosters=()),
    "coefficients of NaN": lambda posterior, stack: with_linear(posterior, coef=np.nan),
    "an intercept of NaN": lambda posterior, stack: with_linear(posterior, intercept=np.nan),
    "knots of NaN": lambda posterior, stack: with_linear(posterior, knots=np.nan),
    "knots in another order": lambda posterior, stack: with_linear(posterior, knots=-1.0),
    "coefficients of another encoding": lambda posterior, stack: with_linear(posterior, sizes=2),
}


def with_first(posterior, **changes):
    """Return the models of labels, the first of them changed."""
    first, *others = posterior.label
    return {LABEL: (replace(first, classifier=replace(first.classifier, **changes)), *others)}, {}


def with_linear(posterior, **factors):
    """Return the models of labels, of the linear one some numbers multiplied."""
    *others, linear = posterior.label
    own, parts = linear.classifier, {}
    for name, factor in factors.items():
        if name in ("knots", "sizes"):
            parts["encoding"] = replace(own.encoding, **{name: getattr(own.encoding, name) * factor})
        else:
            parts[name] = getattr(own, name) * factor
    return {LABEL: (*others, replace(linear, classifier=replace(own, **parts)))}, {}


@pytest.fixture(scope="module")
def stacked():
    return fitted(FACTORIES["plugin"]())


@pytest.mark.parametrize("case", STACKS)
def test_stacks_that_make_no_sense_are_refused(stacked, case, tmp_path):
    learner, posterior = stacked.search_.learner, stacked.search_.learner.posterior
    models, stacks = STACKS[case](posterior, posterior.stacks[LABEL])
    try:
        learner.posterior = replace(
            posterior, models={**posterior.models, **models}, stacks={**posterior.stacks, **stacks}
        )
        save(Run(stacked, {}, {}), tmp_path)
    finally:
        learner.posterior = posterior
    refusal(tmp_path)


def test_a_stack_as_it_was_learned_is_accepted(stacked, tmp_path):
    assert_same(load_run(save(Run(stacked, {}, {}), tmp_path)).estimator, stacked)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("limit.csv", "criterion,gap,error,more_rows\ndp,nan,0,0\n"),
        ("limit.csv", "criterion,gap,error,more_rows\ndp,2,0,0\n"),
        ("limit.csv", "gap\n0\n"),
        ("history.csv", "step,error\n1\n"),
        ("history.csv", "step,error\n1,inf\n"),
        ("history.csv", "step,step\n1,1\n"),
        ("test.json", "[1, 2]"),
        ("test.json", '[{"counts": {"": [[1, 1, 1, 1]]}}]'),
        ("estimator.json", "[" * 10**5),
        ("learned.safetensors", "x"),
        ("counts.json", "\x00"),
    ],
)
def test_files_that_make_no_sense_are_refused(folder, name, content):
    path = folder("net") / name
    path.write_text(content)
    refusal(path.parent)


SCORES = {
    "of fewer points": lambda document: document.pop(),
    "of another attribute": lambda document: document[0]["counts"].update(age=[[0] * 40]),
    "of no attribute": lambda document: document[0]["auc"].pop("group"),
    "of one group only": lambda document: document[0]["counts"]["group"].pop(),
    "in fewer bins": lambda document: document[0]["counts"]["group"][0].pop(),
    "negative": put(0, "counts", "", 0, 0, value=-1),
    "half a person": put(0, "counts", "", 0, 0, value=0.5),
    "unknown": put(0, "counts", "", 0, 0, value=None),
    "of other rows": put(0, "counts", "", 0, 0, value=10**6),
    "a text": put(0, "auc", "", 0, 0, value="x"),
    "an AUC above its interval": put(0, "auc", "", 0, value=[0.9, 0.1, 0.2]),
    "an AUC above 1": put(0, "auc", "", 0, value=[1.5, 0.1, 2]),
    "an interval without an end": put(0, "auc", "", 0, value=[0.5, None, 1]),
    "an AUC without an interval": put(0, "auc", "", 0, value=[0.5]),
    "a difference of more than 1": put(0, "difference", "", 0, value=[-1.5, -2, 0]),
    "no list": lambda document: document.clear(),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_that_make_no_sense_are_refused(folder, case):
    path = folder("plugin") / "scores.json"
    edit(path, SCORES[case])
    assert "scores.json must" in refusal(path.parent)


def test_an_interval_may_be_a_single_number(folder):
    path = folder("plugin") / "scores.json"
    edit(path, put(0, "auc", "", 0, value=[1.0, 1.0, 1.0]))
    write_sums(path.parent)
    assert load_run(path.parent).scores[0].auc[""][0].tolist() == [1, 1, 1]


def test_a_run_without_scores_loads(folder):
    place = folder("plugin")
    assert len(load_run(place).scores) == len(load_run(place).test) > 0
    (place / "scores.json").unlink()
    edit(place / "run.json", lambda document: document["files"].pop("scores.json"))
    write_sums(place)
    assert load_run(place).scores == ()


def test_scores_that_are_nan_are_never_decisions(runs):
    model = load_run(runs["plugin"]).estimator
    for own in model.search_.learner.posterior.label:
        own.classifier.coef_[:] = np.nan
    with pytest.raises(ValueError, match=r"probabilities in \[0, 1\]"):
        model.predict(X)
    network = load_run(runs["net"]).estimator
    network.search_.learner.scaling.center[:] = np.nan
    with pytest.raises(ValueError, match="every row a score: found NaN"):
        network.predict(X)


def test_a_run_without_test_rows_or_groups_loads(tmp_path):
    assert load_run(save(Run(fitted(net(epochs=1)), {}, {}), tmp_path / "run")).test == ()
