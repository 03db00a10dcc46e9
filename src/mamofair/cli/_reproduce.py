"""`mamofair reproduce`: the paper's tables and figures."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mamofair._messages import quote
from mamofair.cli._checks import require_writable
from mamofair.cli._console import print_markdown, track_progress
from mamofair.cli._options import MAX_SEED, AsJson, Quick

__all__ = ["reproduce"]

_QUICK_SPLITS = 2


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Tables and figures by name, or `all`; `list` shows the names."),
    ],
    runs: Annotated[int, typer.Option(min=1, help="Number of random splits; the paper has 10.")] = 10,
    quick: Quick = False,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = 2,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED // 2, help="Random seed: the number of the first split.")
    ] = 0,
    out: Annotated[Path, typer.Option(help="Folder for `paper.md`, and `paper/` with records and figures.")] = Path(
        "results"
    ),
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiments again, and show its printed numbers beside ours.

    Earlier results are reused, so an interrupted reproduction continues.
    Data sets that are not available are skipped.

    Example: mamofair reproduce table-compas figure-toy --runs 10 --jobs 2
    --out results
    """
    from mamofair.experiments import EXPERIMENTS, Reproduction

    if names == ["list"]:
        titles = {name: experiment.title for name, experiment in EXPERIMENTS.items()}
        typer.echo(json.dumps(titles) if as_json else "\n".join(f"{name:26} {title}" for name, title in titles.items()))
        return
    for name in names:
        if name != "all" and name not in EXPERIMENTS:
            raise ValueError(
                f"There is no experiment {quote(name)}: choose from {', '.join(EXPERIMENTS)}, or use `all`."
            )
    require_writable(out)
    splits = range(seed, seed + (min(runs, _QUICK_SPLITS) if quick else runs))
    reproduction = Reproduction(out, splits, quick, jobs, watch=track_progress)
    outcomes = []
    for name in EXPERIMENTS if "all" in names else names:
        outcomes.append(reproduction(EXPERIMENTS[name]))
        if not as_json:
            print_markdown(str(outcomes[-1]))
    command = f"mamofair reproduce {' '.join(names)} --runs {runs}{' --quick' if quick else ''}"
    path = reproduction.write_page(EXPERIMENTS.values(), command)
    if as_json:
        typer.echo(json.dumps({"page": str(path), "experiments": [outcome.plain() for outcome in outcomes]}))
    else:
        typer.echo(f"All results: {path}")
