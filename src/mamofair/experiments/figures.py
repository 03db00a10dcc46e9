"""The paper's figures."""

from mamofair.experiments import (
    _figure_descent,
    _figure_relaxations,
    _figure_single_fairness,
    _figure_toy,
    table_adult,
    table_celeba,
    table_compas,
    table_dutch,
)
from mamofair.experiments._spec import Figure

RELAXATIONS = Figure(
    "figure-relaxations", "Relaxations of demographic parity on the toy data: yellow is fair", _figure_relaxations.draw
)
TOY = Figure("figure-toy", "The toy data, and what methods make of it", _figure_toy.draw)
SINGLE_FAIRNESS = Figure(
    "figure-single-fairness",
    "Error against gap on test rows, for all methods",
    _figure_single_fairness.draw,
    tables=(table_dutch.TABLE, table_compas.TABLE, table_celeba.TABLE, table_adult.TABLE),  # in the paper's order
    methods=("MF1", "MF2", "SFa", "Zaf", "Cot", "Unc last", "Con", "mamofair", "EG", "GS", "TO", "fairret", "OxonFair"),
)
DESCENT = Figure("figure-descent", "The common descent vector of two objectives", _figure_descent.draw)
