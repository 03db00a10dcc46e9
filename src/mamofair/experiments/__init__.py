"""The paper's tables and figures, hypotheses about them, and studies: `mamofair reproduce NAME`.

>>> from mamofair.experiments import EXPERIMENTS
>>> EXPERIMENTS["table-compas"].printed["MF1"]["DDP"]
(0.04, 0.01)

A `Method` makes an estimator for a `Setting`, and `Reproduction` runs a `Table`, `Figure`, `Hypothesis` or `Study`:

>>> from pathlib import Path
>>> from mamofair.experiments import METHODS, Hypothesis, Method, Outcome, Reproduction, Setting, Study, Table
>>> from mamofair.experiments import draw_methods, run
>>> method = METHODS["MF1"]
>>> setting = Setting(("demographic_parity",), validation_fraction=0.25, seed=0, epochs=10, batch_size=512)
>>> isinstance(method, Method), type(method.make(setting)).__name__
(True, 'FairNetClassifier')
>>> [sum(isinstance(one, kind) for one in EXPERIMENTS.values()) for kind in (Table, Hypothesis, Study)]
[8, 6, 2]
>>> records = run(EXPERIMENTS["table-compas"], Path("results"), quick=True)  # an iterator: nothing runs yet
>>> figure = draw_methods(frame)  # doctest: +SKIP
>>> outcome = Outcome(EXPERIMENTS["table-dutch"], skipped="no file")  # what `Reproduction(Path("results"))(…)` returns
>>> print(outcome)
table-dutch is skipped: no file
"""

from mamofair.experiments import (
    figures,
    studies,
    table_adult,
    table_adult_race_sex,
    table_celeba,
    table_compas,
    table_compas_race_sex,
    table_dutch,
)
from mamofair.experiments._canvas import save as save_figure
from mamofair.experiments._figure_single_fairness import draw as draw_methods
from mamofair.experiments._methods import METHODS, Method, Setting
from mamofair.experiments._reproduce import Experiment, Outcome, Reproduction
from mamofair.experiments._run import read, run
from mamofair.experiments._spec import Figure, Table
from mamofair.experiments._study import Study
from mamofair.experiments.hypotheses import HYPOTHESES, Hypothesis

__all__ = [
    "EXPERIMENTS",
    "METHODS",
    "Experiment",
    "Figure",
    "Hypothesis",
    "Method",
    "Outcome",
    "Reproduction",
    "Setting",
    "Study",
    "Table",
    "draw_methods",
    "read",
    "run",
    "save_figure",
]

_ALL: tuple[Experiment, ...] = (
    table_adult.TABLE,
    table_compas.TABLE,
    table_dutch.TABLE,
    table_dutch.WITH_SEX,
    table_celeba.TABLE,
    table_celeba.WITH_SEX,
    table_compas_race_sex.TABLE,
    table_adult_race_sex.TABLE,
    figures.RELAXATIONS,
    figures.TOY,
    figures.SINGLE_FAIRNESS,
    figures.DESCENT,
    *HYPOTHESES,
    studies.SHARPNESS,
    studies.ANCHOR,
)

#: What can be reproduced, by name.
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
