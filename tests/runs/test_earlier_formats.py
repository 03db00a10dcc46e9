"""Run folders that earlier versions have written still load, and predict what they predicted."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from format_folders import HERE

import mamofair
from mamofair.runs import load_run
from run_fits import fitted, net

FOLDERS = sorted(HERE.glob("format_[0-9]*"))

# A model of scikit-learn in a folder may be of an earlier version, which scikit-learn says.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


def test_todays_format_has_a_folder(tmp_path):
    head = json.loads((mamofair.save(fitted(net(epochs=1)), tmp_path / "run") / "run.json").read_text())
    assert [folder.name for folder in FOLDERS][-1] == f"format_{head['format']}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_committed_folder_loads_and_predicts_what_it_did(folder, tmp_path):
    run, expected = load_run(folder / "run"), json.loads((folder / "expected.json").read_text())
    model, rows = run.estimator, pd.DataFrame(expected["rows"])
    # Other processors and versions of BLAS add in another order.
    np.testing.assert_allclose(model.score_all(rows), expected["scores"], rtol=1e-7, atol=1e-9)
    for name, scores in expected["kinds"].items():
        np.testing.assert_allclose(model.estimators_[name].score_all(rows), scores, rtol=1e-7, atol=1e-9)
    assert model.selected_ == expected["selected"]
    assert len(run.test) == len(run.scores) == len(model.front_)
    again = mamofair.load(mamofair.save(model, tmp_path / "again"))
    np.testing.assert_array_equal(again.score_all(rows), model.score_all(rows))


@pytest.mark.parametrize("more", [{}, {"files": ["listed in another way"]}], ids=["same list", "other list"])
def test_a_newer_folder_says_what_to_do(more, tmp_path):
    folder = shutil.copytree(FOLDERS[-1] / "run", tmp_path / "run")
    head = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(head | {"format": 4} | more))
    with pytest.raises(ValueError, match=r"written by a newer mamofair \(format 4; .*\): pip install -U mamofair\.$"):
        mamofair.load(folder)
