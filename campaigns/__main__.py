"""Run campaigns, or write the page of what they found; campaigns without records here keep their section of it.

python -m campaigns inputs --minutes 30
python -m campaigns all --minutes 60        # so many minutes each
python -m campaigns page --out docs/results/reliability.md
"""

import argparse
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

from campaigns._harness import run
from campaigns._page import page

NAMES = ("inputs", "formats", "kills", "folders", "statistics", "mutants")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*NAMES, "all", "page"])
    parser.add_argument("--minutes", type=float, default=60, help="the most time for each campaign")
    parser.add_argument("--cases", type=int, help="the number of cases of a full run, unless the campaign's own")
    parser.add_argument("--again", action="store_true", help="try cases again that alarmed, too")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--out", type=Path, default=Path("docs/results/reliability.md"), help="where the page goes")
    arguments = parser.parse_args()
    if arguments.name == "page":
        earlier = arguments.out.read_text() if arguments.out.is_file() else ""
        arguments.out.write_text(page(NAMES, earlier))
        return
    for name in NAMES if arguments.name == "all" else [arguments.name]:
        _run(name, arguments)


def _run(name: str, arguments: argparse.Namespace) -> None:
    """Run one campaign, with a line on the terminal that counts outcomes."""
    campaign = import_module(f"campaigns.{name}")
    getattr(campaign, "prepare", lambda: None)()
    outcomes: Counter[str] = Counter()
    cases = arguments.cases or campaign.CASES
    again = campaign.ALARMS if arguments.again else ()
    for record in run(name, campaign.case, cases=cases, minutes=arguments.minutes, jobs=arguments.jobs, again=again):
        outcomes[record.outcome] += 1
        if record.outcome in campaign.ALARMS:
            print(f"\n{name} {record.seed}: {record.kind}: {record.outcome}: {record.detail}", file=sys.stderr)
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"\r{name}: {counts}", end="", flush=True)
    print()


if __name__ == "__main__":
    main()
