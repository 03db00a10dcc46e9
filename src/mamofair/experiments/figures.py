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
TOY = Figure(
    "figure-toy",
    "The toy data, and what methods make of it",
    _figure_toy.draw,
    note="The published setting ends no fairer than the unconstrained network here. Common descent puts 1 to 7 % of "
    "the weight on the gap (seeds 0 to 4, last 20 epochs): its gradient, divided by a small initial value, is long, so "
    "the shortest combination leans towards the other one. Both networks then end where 150 validation rows happen to "
    "choose.",
)
SINGLE_FAIRNESS = Figure(
    "figure-single-fairness",
    "Error against gap on test rows, for all methods",
    _figure_single_fairness.draw,
    note="Rows and columns are in the paper's order. The dotted line is the error of the unconstrained network: of its "
    "most accurate snapshot.",
    tables=(table_dutch.TABLE, table_compas.TABLE, table_celeba.TABLE, table_adult.TABLE),  # in the paper's order
    methods=("MF1", "MF2", "SFa", "Zaf", "Cot", "Unc last", "Con", "mamofair", "EG", "GS", "TO", "fairret", "OxonFair"),
)
DESCENT = Figure("figure-descent", "The common descent vector of two objectives", _figure_descent.draw)
