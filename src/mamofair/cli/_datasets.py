"""`mamofair datasets`: the data sets known by name."""

import json

import typer

from mamofair.cli._options import AsJson, UnusedSeed

__all__ = ["datasets"]


def datasets(
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """List the data sets that `mamofair train` knows by name, with their terms of use and whether they are available.

    Example: mamofair datasets --json
    """
    from mamofair.datasets import CATALOG

    entries = {
        name: {"rows": entry.rows, "license": entry.license, "at_hand": entry.at_hand}
        for name, entry in CATALOG.items()
    }
    if as_json:
        typer.echo(json.dumps(entries))
        return
    typer.echo(f"{'name':8} {'rows':>8}  {'available':10} terms")
    for name, entry in entries.items():
        typer.echo(f"{name:8} {entry['rows']:>8,}  {'yes' if entry['at_hand'] else 'no':10} {entry['license']}")
