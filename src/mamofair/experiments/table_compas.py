"""The paper's appendix table, the part on COMPAS."""

from mamofair.experiments._appendix import APPENDIX, TASKS
from mamofair.experiments._spec import Table

PRINTED = {
    "MF1": {"DDP": (0.04, 0.01), "DDP error": (0.32, 0.01), "DEO": (0.08, 0.04), "DEO error": (0.33, 0.01)},
    "MF2": {"DDP": (0.11, 0.06), "DDP error": (0.33, 0.01), "DEO": (0.11, 0.07), "DEO error": (0.33, 0.01)},
    "SFa": {"DDP": (0.03, 0.01), "DDP error": (0.45, 0.02), "DEO": (0.01, 0.01), "DEO error": (0.45, 0.01)},
    "Zaf": {"DDP": (0.03, 0.01), "DDP error": (0.42, 0.01), "DEO": (0.21, 0.06), "DEO error": (0.33, 0.02)},
    "Cot": {"DDP": (0.04, 0.02), "DDP error": (0.4, 0.01), "DEO": (0.01, 0.01), "DEO error": (0.45, 0.02)},
    "Unc": {"DDP": (0.2, 0.02), "DDP error": (0.32, 0.01), "DEO": (0.23, 0.05), "DEO error": (0.32, 0.03)},
    "Con": {"DDP": (0.0, 0.0), "DDP error": (0.46, 0.01), "DEO": (0.0, 0.0), "DEO error": (0.46, 0.01)},
}

TABLE = Table(
    name="table-compas",
    title="COMPAS: one attribute, one notion",
    data="compas",
    attributes=("race",),
    tasks=TASKS,
    methods=APPENDIX,
    printed=PRINTED,
    epochs=100,  # known from the paper's code
    batch_size=512,
    code_learning_rate=0.005,  # the script's, which overrides 0.01 in its settings
)
