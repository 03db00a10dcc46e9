"""`mamofair datasets`: what there is to try things on."""

import json

import typer

from mamofair.cli._options import AsJson, IdleSeed


def datasets(
    seed: IdleSeed = 0,
    as_json: AsJson = False,
) -> None:
    """List the data sets that `mamofair train` knows by name: rows, terms, and whether they are at hand.

    Example: mamofair datasets --json
    """
    from mamofair.datasets import CATALOG

    found = {
        name: {"rows": entry.rows, "license": entry.license, "at_hand": entry.at_hand}
        for name, entry in CATALOG.items()
    }
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(f"{'name':8} {'rows':>8}  {'at hand':8} terms")
    for name, entry in found.items():
        typer.echo(f"{name:8} {entry['rows']:>8,}  {'yes' if entry['at_hand'] else 'no':8} {entry['license']}")
