"""The page of what campaigns found: a table of kinds and outcomes each, and every case that alarms."""

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from inspect import getdoc

from campaigns._harness import read_records

_HEAD = """# Reliability

What campaigns of seeded trials found. Each case can be repeated by its seed: `python -m campaigns NAME` runs them all
again, and [`campaigns/`](../../campaigns) has the code. `python -m campaigns page` writes this page. When a case
revealed a bug in the library or in its oracle, the bug was fixed and the case repeated: "wrong" counts what is left.
"""


def page(names: Iterable[str], earlier: str = "") -> str:
    """Return the page, from the records of each campaign.

    Records stay on the machine that ran a campaign. A campaign without records here keeps its section of the earlier
    page, word for word.
    """
    parts = f"\n{earlier}".split("\n## ")[1:]
    sections = {part.partition("\n")[0]: f"## {part}" for part in parts}
    return "\n".join([_HEAD, *(_section(name, sections.get(name.capitalize())) for name in names)])


def _section(name: str, earlier: str | None = None) -> str:
    """Return a campaign's section: what it tries, what came of it, and what needs a look."""
    campaign, records = import_module(f"campaigns.{name}"), read_records(name)
    if not records and earlier is not None:
        return earlier
    counts = Counter((record.kind, record.outcome) for record in records)
    kinds, outcomes = (sorted({key[place] for key in counts}) for place in (0, 1))
    rows = [
        ["tried", *outcomes],
        ["---"] * (len(outcomes) + 1),
        *([kind, *(str(counts[kind, outcome]) for outcome in outcomes)] for kind in kinds),
        ["**all**", *(str(sum(counts[kind, outcome] for kind in kinds)) for outcome in outcomes)],
    ]
    more = [campaign.summary(records) + "\n"] if records and hasattr(campaign, "summary") else []
    alarms = [record for record in records if record.outcome in campaign.ALARMS]
    explain = getattr(campaign, "explain", lambda record: "")
    lines = [
        f"## {name.capitalize()}",
        f"\n{getdoc(campaign)}\n",
        f"`python -m campaigns {name}`: {len(records):,} of {campaign.CASES:,} cases, by their seeds.\n",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        *more,
        *(
            f"- {record.kind}, seed {record.seed}: {record.outcome}. {record.detail}{explain(record)}"
            for record in alarms
        ),
    ]
    return "\n".join(lines) + "\n"
