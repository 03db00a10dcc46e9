"""The paper's appendix table, the part on Adult."""

from mamofair.experiments._appendix import TASKS, WITH_SGD
from mamofair.experiments._spec import Table

PRINTED = {
    "MF1": {"DDP": (0.09, 0.03), "DDP error": (0.18, 0.01), "DEO": (0.05, 0.03), "DEO error": (0.18, 0.01)},
    "MF2": {"DDP": (0.08, 0.03), "DDP error": (0.19, 0.02), "DEO": (0.04, 0.02), "DEO error": (0.19, 0.02)},
    "SFa": {"DDP": (0.0, 0.0), "DDP error": (0.24, 0.0), "DEO": (0.05, 0.03), "DEO error": (0.2, 0.01)},
    "Zaf": {"DDP": (0.2, 0.01), "DDP error": (0.18, 0.0), "DEO": (0.09, 0.06), "DEO error": (0.2, 0.02)},
    "Cot": {"DDP": (0.0, 0.0), "DDP error": (0.24, 0.0), "DEO": (0.06, 0.04), "DEO error": (0.2, 0.01)},
    "Unc": {"DDP": (0.19, 0.01), "DDP error": (0.17, 0.0), "DEO": (0.18, 0.03), "DEO error": (0.17, 0.0)},
    "Con": {"DDP": (0.0, 0.0), "DDP error": (0.24, 0.0), "DEO": (0.0, 0.0), "DEO error": (0.24, 0.0)},
}

TABLE = Table(
    name="table-adult",
    title="Adult: one attribute, one notion",
    data="adult",
    attributes=("sex",),
    tasks=TASKS,
    methods=WITH_SGD,
    printed=PRINTED,
    epochs=35,  # known from the paper's code
    batch_size=512,
)
