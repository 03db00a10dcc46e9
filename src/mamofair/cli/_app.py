"""The application, and its errors: one line that says what to do, and a traceback only with `--debug`."""

import gc
import os
import sys
from typing import Annotated

import typer

import mamofair
from mamofair._messages import cut

__all__ = ["app", "main"]

_MAX_ERROR = 500  # characters, should a message be long although its quotes are cut short
_SIGPIPE = 141  # 128 + 13, as shells report a program whose reader has gone

app = typer.Typer(
    name="mamofair",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes longer to import than all commands, and leaves little room for explanations
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    help="Train classifiers that are accurate and fair, explore the whole trade-off, and choose from it.",
)


def _print_version(given: bool) -> bool:
    if given:
        typer.echo(f"mamofair {mamofair.__version__}")
        raise typer.Exit
    return given


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run the command line; an error is one line on stderr, with exit code 2 if the user can fix it, else 1."""
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, such as `head`, is done
        _silence_streams()
        code = _SIGPIPE
    gc.freeze()  # what is left goes with the process: to search all modules for garbage at exit takes .3 CPU seconds
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
        message = cut(" ".join(str(error).split()), _MAX_ERROR)
        if isinstance(error, ValueError | OSError | ImportError | FloatingPointError):
            typer.secho(f"mamofair: {message or repr(error)}", err=True)
            return 2
        name = f"{type(error).__name__}: {message}" if message else type(error).__name__
        typer.secho(
            f"mamofair: unexpected {name}. Please report this with the output of `mamofair --debug …`.", err=True
        )
        return 1
    return 0


def _silence_streams() -> None:
    """Discard what is left in broken streams: Python would complain about it at exit."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:  # as under pythonw
            continue
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
