"""Commands on a real terminal: a pseudo-terminal of 80 columns."""

import os
import re
import struct
from multiprocessing.connection import Connection

import pytest

from forked import command, started

fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # not on Windows

_UNSET = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")


def on_terminal(*arguments: object) -> str:
    """Run the command line there until it ends well, and return what was written, without escapes."""
    ours, theirs = map(Connection, pty.openpty())
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    written = b""
    with ours, started(dict.fromkeys(range(3), theirs), _command, *map(str, arguments)) as process:
        theirs.close()
        try:
            while part := os.read(ours.fileno(), 65536):
                written += part
        except OSError:  # how Linux says that the other end is closed
            pass
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode()).replace("\r\n", "\n")
    assert process.exitcode == 0, text
    return text


def _command(*arguments: str) -> None:
    os.environ["TERM"] = "xterm-256color"
    for name in _UNSET:
        os.environ.pop(name, None)
    command(*arguments)
