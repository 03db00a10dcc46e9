"""The paper's table of hypervolume and spacing on COMPAS."""

from mamofair.experiments._spec import Table

PRINTED = {
    "M-MAMO-fair": {"HV": (0.61, 0.01), "SP": (0.21, 0.09)},
    "Sum of losses": {"HV": (0.55, 0.06), "SP": (0.05, 0.04)},
    "Unconstrained": {"HV": (0.34, 0.03), "SP": (0.02, 0.01)},
}

TABLE = Table(
    name="table-compas-race-sex",
    title="COMPAS: demographic parity for race and sex at once",
    data="compas",
    attributes=("sex", "race"),
    tasks=(("demographic_parity",),),
    methods=("M-MAMO-fair", "M-MAMO-fair code", "Sum of losses", "Unconstrained", "mamofair"),
    printed=PRINTED,
    epochs=100,
    batch_size=512,
    whole_front=True,
)
