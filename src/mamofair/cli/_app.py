"""The application, and how it fails: one line that says what to do, and exit code 2."""

import sys
from typing import Annotated

import typer

import mamofair

app = typer.Typer(
    name="mamofair",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Accurate and fair classifiers: the whole trade-off, and an honest way to choose from it.",
)

#: Every command takes a seed, so that a script may pass one to all.
IdleSeed = Annotated[int, typer.Option("--seed", min=0, help="Nothing here is random; accepted for scripts.")]


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"mamofair {mamofair.__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run the command line; errors that a user can mend are one line on stderr, with exit code 2."""
    try:
        app()
    except (ValueError, OSError, ImportError, FloatingPointError) as error:
        if "--debug" in sys.argv:
            raise
        typer.secho(f"mamofair: {' '.join(str(error).split()) or repr(error)}", err=True)
        sys.exit(2)
