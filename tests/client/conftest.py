"""Finds the pinned client and gives each test one of its own, with the hook registered."""
import contextlib
import os
import shutil

import pytest

from . import fetch, loopback
from .driver import Client, hook_commands


def pytest_configure(config):
    """Register the marker by which these tests are chosen or left out."""
    config.addinivalue_line("markers", "client: drives the real client against a scripted model (takes minutes)")


@pytest.fixture(scope="session")
def binary():
    """The client's binary. Missing, it is a reason to skip; in CI it is a failure, since CI exists to run this."""
    path = fetch.binary()
    if not os.path.exists(path):
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("no client at %s: get it with `python3 tests/client/fetch.py`" % path)
    reason = loopback.why_not()
    if reason:
        pytest.skip(reason)
    return path


@pytest.fixture
def client(binary):
    """A function that makes a client from the model's turns; every client made is closed at the end of the test.

    `commands` names a command line for each event, where the hook is to be registered otherwise than by its file.
    """
    with contextlib.ExitStack() as stack:
        def make(*turns, commands=None, **more):
            registered = hook_commands() if commands is None else commands
            return stack.enter_context(Client(binary, registered, turns, **more))
        yield make


@pytest.fixture
def terminal():
    """The interactive client needs a terminal, and tmux is the one that can be typed into and read."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not on PATH")
