"""Commands on a real terminal: a pseudo-terminal of 80 columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios


def on_terminal(*arguments: object) -> str:
    """Run the command line there until it ends well, and return what was written, without escapes."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    command = [sys.executable, "-m", "mamofair", *map(str, arguments)]
    environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    written = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        try:
            while part := os.read(ours, 65536):
                written += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode()).replace("\r\n", "\n")
    assert process.returncode == 0, text
    return text
