"""The application, and how it fails: one line that says what to do, and no traceback unless one is asked for."""

import os
import sys
from typing import Annotated

import typer

import mamofair
from mamofair._messages import cut

_MOST = 500  # characters of an error: what is quoted is cut short where it is quoted, and this is what is left to do
_SIGPIPE = 141  # 128 + 13: what a shell reports of a program whose reader has gone

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
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output, such as `head`, has seen enough
        _leave_quietly()
        code = _SIGPIPE
    sys.exit(code)


def _run() -> int | str | None:
    """Run a command and return its exit code."""
    try:
        app()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # which typer turns into an ordinary failure
            raise end.__context__ from None
        return end.code
    except BrokenPipeError:
        raise
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        said = cut(" ".join(str(error).split()), _MOST)
        if isinstance(error, ValueError | OSError | ImportError | FloatingPointError):
            typer.secho(f"mamofair: {said or repr(error)}", err=True)
            return 2
        told = f"{type(error).__name__}: {said}" if said else type(error).__name__
        typer.secho(f"mamofair: unexpected {told}. Please report it with what `mamofair --debug …` shows.", err=True)
        return 1
    return 0


def _leave_quietly() -> None:
    """Send what is left in broken streams nowhere: Python would complain of it at the end."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:  # as under pythonw
            continue
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
