"""The paper's table of hypervolume and spacing on Adult."""

from mamofair.experiments._spec import Table

PRINTED = {
    "M-MAMO-fair": {"HV": (0.6, 0.09), "SP": (0.04, 0.02)},
    "Sum of losses": {"HV": (0.3, 0.02), "SP": (0.02, 0.01)},
    "Unconstrained": {"HV": (0.31, 0.05), "SP": (0.02, 0.01)},
}

TABLE = Table(
    name="table-adult-race-sex",
    title="Adult: demographic parity for race and sex at once",
    data="adult",
    attributes=("sex", "race"),
    tasks=(("demographic_parity",),),
    methods=("M-MAMO-fair", "M-MAMO-fair code", "Sum of losses", "Sum, normalised", "Unconstrained", "mamofair"),
    printed=PRINTED,
    epochs=35,
    batch_size=512,
    whole_front=True,
)
