"""The application, and how it fails: one line that says what to do, and no traceback unless one is asked for."""

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
    """Run the command line; an error is one line on stderr, with exit code 2 if the user can mend it, else 1."""
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        said = " ".join(str(error).split())
        if isinstance(error, ValueError | OSError | ImportError | FloatingPointError):
            typer.secho(f"mamofair: {said or repr(error)}", err=True)
            sys.exit(2)
        told = f"{type(error).__name__}: {said}" if said else type(error).__name__
        typer.secho(f"mamofair: unexpected {told}. Please report it with what `mamofair --debug …` shows.", err=True)
        sys.exit(1)
