"""Where not even 127.0.0.1 answers, as after `unshare -n`, tests of processes that talk to each other are skipped."""

import socket

import pytest


@pytest.fixture(scope="session")
def loopback() -> None:
    """Processes of this machine can talk to each other."""
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname()[:2], timeout=5),
        ):
            pass
    except OSError:
        pytest.skip("network: nothing answers at 127.0.0.1; `ip link set lo up`")
