"""Why known mutants survive: by module and the beginning of the mutation."""

_SLOW = "tests/{} notices it, as a try by hand showed, but is not among the tests that the campaign chooses"
_SEARCH = "where, or for how long, a search looks: tests check what it finds, not the way to it"

SURVIVED: dict[str, dict[str, str]] = {
    "fronts/_hypervolume.py": {"hypervolume: values:": _SLOW.format("fronts/test_fronts.py")},
    "learners/plugin/multipliers.py": {"module: (-0.5, 0.9": _SEARCH},
    "learners/plugin/thresholds.py": {"_local_search:": _SEARCH, "module: _STEPS": _SEARCH},
    "metrics/_audit.py": {"audit: y_true:": _SLOW.format("metrics/test_audit_min_group.py")},
    "metrics/_audit_result.py": {"Audit.plot_calibration: self, bins:": _SLOW.format("metrics/test_scores.py")},
    "runs/_boosters.py": {"Tree._decides: (kind >= 0)": "LightGBM writes no decision of type 0 for our tables"},
    "runs/_onnx_plugin.py": {
        "_of_linear:": _SLOW.format("runs/test_onnx_trees.py"),
        "_piecewise:": _SLOW.format("runs/test_onnx_trees.py"),
        "_stacked:": _SLOW.format("runs/test_onnx_trees.py"),
    },
    "runs/_save.py": {"_answers: run.estimator.selected_": _SLOW.format("runs/test_save_and_load.py")},
    "runs/_test_rows.py": {"_divide: people.crossed()": _SLOW.format("report/test_model_reports.py")},
    "runs/_values.py": {"_: value if _TEXTS": _SLOW.format("runs/test_save_and_load.py")},
    "selection/_more_rows.py": {
        "count_more_rows: for name, rows": "the estimate is hardly ever between one row and two"
    },
    "selection/_plan.py": {"_Planner._require: if needed <= budget": "rows are hardly ever enough to the last digit"},
}
