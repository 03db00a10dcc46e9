"""Boosting and plug-in rules as ONNX, which onnxruntime must decide as the models do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair.runs import to_onnx
from mamofair.runs._onnx_graph import Graph
from mamofair.runs._onnx_trees import add_trees
from mamofair.tables import encoder
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS

ROWS = 300


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.choice([f"town {i:02}" for i in range(40)], rows)
    income = rng.normal(2, 1, rows).round(2)
    income[rng.random(rows) < 0.1] = np.nan
    job = pd.Series(rng.choice(["clerk", "nurse", "cook"], rows), dtype="str").mask(rng.random(rows) < 0.1)
    married = (rng.random(rows) < 0.5).astype(float)
    return pd.DataFrame(
        {"income": income, "zeros": rng.poisson(0.4, rows) * 1.0, "town": town, "job": job, "m": married}
    )


def labels_of(table: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(1)
    sex = np.where(rng.random(len(table)) < 0.3 + 0.4 * (table["m"] == 1), "f", "m")
    code = table["town"].str[-2:].astype(int)
    score = table["income"].fillna(2) + (table["job"] == "nurse") + 0.1 * (code % 7) + 0.5 * (sex == "m")
    race = np.where(code % 3 == 0, "a", np.where(code % 3 == 1, "b", "c"))
    return (score + rng.normal(size=len(table)) > 3).to_numpy().astype(int), pd.DataFrame({"sex": sex, "race": race})


def run_onnx(content: bytes, table: pd.DataFrame) -> dict[str, np.ndarray]:
    session = pytest.importorskip("onnxruntime").InferenceSession(content, providers=["CPUExecutionProvider"])
    columns = {}
    for given in session.get_inputs():
        column = table[given.name]
        text = column.astype(object).where(column.notna(), "") if given.type == "tensor(string)" else column
        columns[given.name] = text.to_numpy(dtype=object if given.type == "tensor(string)" else float)[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, columns), strict=True))


def assert_equal(model, table: pd.DataFrame) -> None:
    found = run_onnx(to_onnx(model), table)
    sign = 1 if model.classes_[1] == model.favorable_ else -1
    np.testing.assert_allclose(found["logit"], sign * model.decision_function(table), rtol=1e-9, atol=1e-9)
    assert found["prediction"].tolist() == model.predict(table).tolist()
    places = model.predict_proba(table)[:, model.classes_.tolist().index(model.favorable_)]
    np.testing.assert_allclose(found["score"], places, atol=1e-9)


def new_people() -> pd.DataFrame:
    """Rows that no model has seen, and values that none has seen either."""
    table = people(300, seed=2)
    table.loc[:4, "town"] = "Atlantis"
    table.loc[:2, "job"] = None
    table.loc[5:9, "income"] = [0.0, -0.0, 1e9, -1e9, np.nan]
    return table


@pytest.mark.parametrize(
    "options",
    [
        {"effort": "fast"},
        {"effort": "balanced", "notions": {"race": ["dp", "eopp"]}},
        {"effort": "fast", "notions": "accuracy_parity", "performance": "balanced_error", "favorable": 0},
    ],
    ids=["trees", "stacked, with a linear model, several groups and notions", "costs"],
)
def test_a_plug_in_decides_alike(options):
    table = people()
    y, attributes = labels_of(table)
    model = FairPlugInClassifier(random_state=0, max_points=8, **options)
    model = model.fit(table, y, sensitive_features=attributes)
    for i in (0, len(model.front_) // 2, len(model.front_) - 1):
        assert_equal(model.at(i), new_people())


def test_a_portfolio_with_the_encoder_of_a_run_decides_alike_and_labels_are_text():
    table = people()
    y, attributes = labels_of(table)
    types = encoder("none").fit(table)
    model = FairPortfolioClassifier(effort="fast", favorable="yes", random_state=0, max_points=8)
    model = model.fit(types.transform(table), np.array(["no", "yes"])[y], sensitive_features=attributes["sex"])
    assert_equal(model.with_encoder(types), new_people())


@pytest.mark.parametrize("encoded", [False, True])
def test_boosting_decides_alike_with_categories_of_its_own_or_an_encoder(encoded):
    table = people()
    y, attributes = labels_of(table)
    fitted = encoder().fit(table) if encoded else None
    X = table if fitted is None else fitted.transform(table)
    model = FairBoostingClassifier(n_estimators=6, members=2, random_state=0).fit(
        X, y, sensitive_features=attributes["sex"]
    )
    for i in (0, len(model.front_) - 1):
        assert_equal(model.with_encoder(fitted).at(i), new_people())


class TwoTrees:
    """A booster whose second tree has a leaf on the left of its root, and a split on the right."""

    def dump_model(self, num_iteration: int) -> dict:
        def split(threshold: float, left: dict, right: dict) -> dict:
            told = {"split_feature": 0, "decision_type": "<=", "missing_type": "NaN", "default_left": False}
            return {**told, "threshold": threshold, "left_child": left, "right_child": right}

        ten, twenty, thirty = ({"leaf_value": value} for value in (10.0, 20.0, 30.0))
        first, second = split(0.0, ten, twenty), split(0.0, ten, split(1.0, twenty, thirty))
        return {"tree_info": [{"tree_structure": tree} for tree in (first, second)]}


def test_no_root_has_a_leaf_and_a_node_of_the_same_number():
    graph = Graph(pytest.importorskip("onnx").helper)
    add_trees(graph, TwoTrees(), "X")
    found = {attribute.name: list(attribute.ints) for attribute in graph.nodes[0].attribute}
    for root in found["tree_roots"]:
        left, right = found["nodes_truenodeids"][root], found["nodes_falsenodeids"][root]
        assert left != right, "onnxruntime 1.21 to 1.23 would take this root for a leaf"


def test_a_network_of_a_portfolio_is_exported_as_any_other():
    table = people()
    y, attributes = labels_of(table)
    fitted = encoder().fit(table)
    named = [("net", FairNetClassifier(epochs=1, members=2))]
    model = FairPortfolioClassifier(named, random_state=0)
    model = model.fit(fitted.transform(table), y, sensitive_features=attributes["sex"])
    assert_equal(model.with_encoder(fitted), new_people())


def test_what_cannot_be_exported_is_refused_in_one_line():
    table = people()[["income", "m"]].fillna(0)
    y, attributes = labels_of(people())
    given = {"sensitive_features": attributes["sex"]}
    told = FairPlugInClassifier(effort="fast", aware=True, random_state=0).fit(table, y, **given)
    with pytest.raises(ValueError, match="needs the groups to predict cannot be exported"):
        to_onnx(told)
    theirs = FairPlugInClassifier(LogisticRegression(), random_state=0).fit(table, y, **given)
    with pytest.raises(ValueError, match="Only our own models can be exported: found LogisticRegression"):
        to_onnx(theirs)
    empty = people().assign(job=people()["job"].fillna(""))
    model = FairPlugInClassifier(effort="fast", random_state=0).fit(empty, y, **given)
    with pytest.raises(ValueError, match="found empty text in 'job'"):
        to_onnx(model)
    named = people().rename(columns={"income": "score"})
    model = FairBoostingClassifier(n_estimators=2, members=2, random_state=0).fit(named, y, **given)
    with pytest.raises(ValueError, match="no column may have such a name: found 'score'"):
        to_onnx(model)
