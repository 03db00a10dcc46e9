"""`--gate` and `--policy`: exit codes for builds."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from typer.testing import CliRunner

from mamofair.cli import app
from mamofair.metrics import read_policy
from mamofair.report import to_markdown
from mamofair.runs import load_run

RUNNER = CliRunner()


def says(*arguments, code=0):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of people whose sex says much about the label, and two runs that it has trained."""
    place, rng = tmp_path_factory.mktemp("gate"), np.random.default_rng(0)
    n = 2500  # fewer would leave some of the outcomes that the gates are asked for open
    sex = rng.choice(["F", "M"], n)
    skill = rng.normal(size=n) + (sex == "M")
    hired = np.where(skill + rng.normal(size=n) > 0.5, 1, 0)
    pd.DataFrame({"skill": skill.round(3), "sex": sex, "hired": hired}).to_csv(place / "people.csv", index=False)
    return place


def train(folder, *arguments, code):
    asked = ["train", folder / "people.csv", "--target", "hired", "--sensitive", "sex"]
    effort = () if "--model" in arguments else ("--effort", "fast")
    return says(*asked, *effort, "--no-limit", "--force", *arguments, code=code)


NET = ("--model", "net", "--epochs", 1)  # where any model has the outcome that is asked for


def test_training_leaves_by_the_verdict_on_test_rows(folder):
    wide = train(folder, *NET, "--within", 0.9, "--gate", "--out", folder / "wide", code=0)
    assert "Gate: within; 1 of 1 limits are kept." in wide.stderr
    strict = train(folder, *NET, "--within", 0, "--margin", 0, "--gate", "--json", "--out", folder / "strict", code=3)
    told = json.loads(strict.stdout)
    assert told["gate"]["outcome"] == "exceeds"
    assert told["verdict"]["answer"] == "not kept"
    assert "The one that misses them least was taken: demographic_parity[sex]" in told["stand_in"]
    assert told["gate"]["gaps"] == told["verdict"]["gaps"]
    saved = load_run(folder / "strict")
    assert saved.settings["gate"] == told["gate"] | {"headline": "Gate: exceeds; 0 of 1 limits are kept."}
    assert "Gate: exceeds; 0 of 1 limits are kept." in to_markdown(saved)


def test_a_policy_may_require_what_was_not_trained_for(folder):
    policy = folder / "policy.toml"
    policy.write_text('attributes = ["sex"]\nnotions = ["accuracy_parity"]\nlimit = 0.0001\n')
    told = json.loads(train(folder, "--policy", policy, "--json", "--out", folder / "policy", code=3).stdout)
    [gap] = told["gate"]["gaps"]
    assert (gap["name"], gap["limit"]) == ("accuracy_parity[sex]", 0.0001)
    policy.write_text('attributes = ["sex", "race"]\nnotions = ["dp"]\nlimit = 1\n')
    said = train(folder, *NET, "--policy", policy, "--out", folder / "policy", code=4).stderr
    assert "race could not be assessed" in said


def test_a_gate_needs_limits_before_anything_is_trained(folder, tmp_path):
    result = RUNNER.invoke(app, ["train", str(folder / "people.csv"), "--target", "hired", "--gate"])
    assert "`--gate` needs limits" in str(result.exception)


def test_predictions_are_gated_with_labels_or_without(folder, tmp_path):
    train(folder, "--within", 0.2, "--out", folder / "run", code=0)
    table, out = pd.read_csv(folder / "people.csv"), tmp_path / "decided.csv"
    table.drop(columns="hired").to_csv(tmp_path / "new.csv", index=False)
    asked = ["predict", folder / "run", tmp_path / "new.csv", "-o", out, "--json"]
    own = json.loads(says(*asked, "--gate", code=0).stdout)["gate"]
    decided = pd.read_csv(out)
    rates = decided.groupby("sex")["prediction"].mean()
    assert own["gaps"][0]["gap"] == pytest.approx(rates.max() - rates.min())
    assert own["gaps"][0]["limit"] == load_run(folder / "run").settings["within"]
    policy = tmp_path / "policy.toml"
    policy.write_text('attributes = ["sex"]\nnotions = ["dp", "eopp"]\nlimit = 0.9\n')
    blind = json.loads(says(*asked, "--policy", policy, code=4).stdout)["gate"]
    assert "equal_opportunity[sex] could not be assessed: it needs true labels." in blind["unassessed"]
    table.iloc[::-1].to_csv(tmp_path / "labelled.csv", index=False)
    told = ["predict", folder / "run", tmp_path / "labelled.csv", "-o", out, "--json", "--policy", policy]
    gate = json.loads(says(*told, code=0).stdout)["gate"]
    assert len(gate["gaps"]) == 2
    assert "trained_on" not in gate
    learned = ["predict", folder / "run", folder / "people.csv", "-o", out, "--json", "--policy", policy]
    gate = json.loads(says(*learned, code=4).stdout)["gate"]
    assert (gate["trained_on"], {one["answer"] for one in gate["gaps"]}) == (True, {"kept"})
    assert gate["unassessed"][0].startswith("Rows that a model was trained on cannot show")
    policy.write_text(policy.read_text().replace("0.9", "0"))
    assert json.loads(says(*learned, code=3).stdout)["gate"]["outcome"] == "exceeds"
    table.assign(hired=table["hired"].map({0: "no", 1: "maybe"})).to_csv(tmp_path / "other.csv", index=False)
    result = RUNNER.invoke(app, [*map(str, asked[:2]), str(tmp_path / "other.csv"), "--gate", "-o", str(out)])
    assert "Column 'hired' must hold the values of the target, 1, 0: found 'maybe', 'no'" in str(result.exception)
    table.drop(columns=["hired", "sex"]).to_csv(tmp_path / "blind.csv", index=False)
    result = RUNNER.invoke(app, ["predict", str(folder / "run"), str(tmp_path / "blind.csv"), "--gate", "-o", str(out)])
    assert "needs the sensitive columns" in str(result.exception)


@pytest.mark.filterwarnings("ignore:Group")
def test_groups_that_training_judged_must_be_among_the_rows(tmp_path):
    """Groups a, b and c were judged, and d was too small. Without c, or with another name for it, nothing is within."""
    rng, n = np.random.default_rng(0), 1500
    group = np.where(np.arange(n) < 20, "d", rng.choice(["a", "b", "c"], n))
    skill = rng.normal(size=n)
    hired = (skill + rng.normal(size=n) > 0).astype(int)
    table = pd.DataFrame({"skill": skill.round(3), "group": group, "hired": hired})
    table.to_csv(tmp_path / "people.csv", index=False)
    asked = ["train", tmp_path / "people.csv", "--target", "hired", "--sensitive", "group", "--within", 0.9, *NET]
    says(*asked, "--no-limit", "--out", tmp_path / "run")
    new = table[["skill", "group"]]
    cases = {
        "all": (new, 0),
        "none of c": (new[new["group"] != "c"], 4),
        "c renamed": (new.replace({"group": {"c": "C"}}), 4),
        "without d": (new[new["group"] != "d"], 0),
        "few of c": (new[(new["group"] != "c") | (np.arange(n) > n - 50)], 4),
    }
    gates = {}
    for name, (rows, code) in cases.items():
        rows.sample(frac=1, random_state=1).to_csv(tmp_path / "new.csv", index=False)
        out = ["-o", tmp_path / "out.csv", "--gate", "--json", "--max-unknown", 0.01]
        gates[name] = json.loads(says("predict", tmp_path / "run", tmp_path / "new.csv", *out, code=code).stdout)[
            "gate"
        ]
    assert gates["all"]["remarks"] == ["group=d (20 rows) was too small to judge in training, and is left out."]
    assert (
        "group=c could not be assessed: 0 rows for demographic_parity[group] are too few."
        in (gates["none of c"]["unassessed"])
    )
    [unknown] = gates["c renamed"]["unknown"]
    assert unknown["share"] == pytest.approx((new["group"] == "c").mean())
    assert any("Whoever they are" in line for line in gates["c renamed"]["unassessed"])


@pytest.mark.parametrize(("limit", "code"), [(0.9, 0), (0.001, 3), (None, 4)])
def test_audits_are_gated_by_their_verdicts(limit, code, folder):
    rates = pd.read_csv(folder / "people.csv").groupby("sex")["hired"].mean()
    limit = rates["M"] - rates["F"] if limit is None else limit  # right at the gap, nothing can be told
    asked = ["audit", folder / "people.csv", "--prediction", "hired", "--sensitive", "sex", "--limit", limit, "--json"]
    told = json.loads(says(*asked, "--gate", code=code).stdout)
    verdicts = {"kept": "within", "not kept": "exceeds", "cannot be told": "inconclusive"}
    assert [verdicts[one["answer"]] for one in told["gate"]["gaps"]] == [one["verdict"] for one in told["gaps"]]
    assert json.loads(says(*asked).stdout)["gaps"] == told["gaps"]  # without a gate, the exit code is 0


def test_a_policy_counts_what_an_audit_without_labels_cannot_tell(folder, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('attributes = ["sex"]\nnotions = ["dp", "eopp"]\nlimit = 0.9\n')
    asked = ["audit", folder / "people.csv", "--prediction", "hired", "--sensitive", "sex", "--policy", policy]
    assert "equal_opportunity[sex] could not be assessed" in says(*asked, code=4).stderr
    policy.write_text(policy.read_text() + 'exempt = ["eopp"]\n')
    says(*asked, code=0)


def test_the_table_of_an_audit_is_by_the_policy(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv").assign(
        side=lambda frame: np.where(frame.index % 2, "left", "right"), chosen=lambda frame: 1 * (frame["skill"] > 0.5)
    )
    table.to_csv(tmp_path / "decided.csv", index=False)
    policy, names = tmp_path / "policy.toml", ["--target", "hired", "--sensitive", "sex", "--sensitive", "side"]
    policy.write_text(
        'attributes = ["sex", "side"]\nnotions = ["dp", "eopp"]\nlimit = 0.9\nconfidence = 0.8\n'
        "[limits]\neopp = 0.001\n"
    )
    asked = ["audit", tmp_path / "decided.csv", "--prediction", "chosen", *names, "--policy", policy]
    done = says(*asked, "--json", code=3)
    told = json.loads(done.stdout)
    assert told["limit"] == {"demographic_parity": 0.9, "equal_opportunity": 0.001}
    assert told["confidence"] == 0.8
    verdicts = {"kept": "within", "not kept": "exceeds", "cannot be told": "inconclusive"}
    gate = {one["name"]: (verdicts[one["answer"]], one["gap"], one["low"], one["high"]) for one in told["gate"]["gaps"]}
    shown = {
        f"{one['notion']}[{one['attribute']}]": (one["verdict"], one["gap"], one["low"], one["high"])
        for one in told["gaps"]
    }
    assert shown.keys() == gate.keys()
    for name, (verdict, *numbers) in shown.items():
        assert gate[name][0] == verdict
        assert gate[name][1:] == pytest.approx(numbers)
    assert "in the table" not in done.stderr
    policy.write_text(policy.read_text() + '"dp[side]" = 0.2\n')
    said = says(*asked, code=3).stderr
    assert "limits for demographic_parity differ by attribute: the table judges all by the smallest, 0.2," in said
    policy.write_text('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 1\nexempt = ["sex=X"]\n')
    table.loc[:2, ["sex", "chosen"]] = "X", 1
    table.to_csv(tmp_path / "decided.csv", index=False)
    assert "in the table" not in says(*asked, code=0).stderr
    assert "in the table, which compares more groups" in says(*asked, "--min-group", 1, code=0).stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--notion", "demographic_parity"), ("--limit", 0.05), ("--confidence", 0.95)]
)
def test_a_policy_and_options_that_it_decides_are_refused(option, value, folder, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 0.9\n')
    asked = ["audit", folder / "people.csv", "--prediction", "hired", "--sensitive", "sex", "--policy", policy]
    result = RUNNER.invoke(app, [str(one) for one in (*asked, option, value)])
    assert f"leave `{option}` out" in str(result.exception)


def test_the_documented_policy_and_workflow_are_valid(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "gates.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(toml|yaml)\n(.*?)```", text, flags=re.DOTALL))
    policy = tmp_path / "policy.toml"
    policy.write_text(blocks["toml"], encoding="utf-8")
    assert read_policy(policy).attributes == ("sex", "race")
    workflow = tmp_path / "workflow.yml"
    workflow.write_text(blocks["yaml"], encoding="utf-8")
    check_jsonschema(["--builtin-schema", "vendor.github-workflows", str(workflow)], standalone_mode=False)


@pytest.mark.parametrize(("rows", "difference", "code"), [(30_000, 0.0, 0), (30_000, 0.25, 3), (600, 0.0, 4)])
def test_the_documented_workflow_leaves_by_its_policy(rows, difference, code, tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "gates.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(toml|yaml)\n(.*?)```", text, flags=re.DOTALL))
    monkeypatch.chdir(tmp_path)
    Path("fairness.toml").write_text(blocks["toml"], encoding="utf-8")
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], rows), "race": rng.choice(["a", "b"], rows)})
    approved = rng.random(rows) < 0.5 + difference * (people["sex"] == "m")
    people = people.assign(repaid=rng.choice(["yes", "no"], rows), approved=np.where(approved, "yes", "no"))
    people.to_csv("decisions.csv", index=False)
    steps = yaml.safe_load(blocks["yaml"])["jobs"]["audit"]["steps"]
    [command] = [step["run"] for step in steps if step.get("run", "").startswith("mamofair")]
    words, out = shlex.split(command.partition(">")[0]), command.partition(">")[2].strip()
    result = says(*words[1:], code=code)
    assert json.loads(result.stdout)["gate"]["exit_code"] == code
    assert out in [step.get("with", {}).get("path") for step in steps]  # is kept
