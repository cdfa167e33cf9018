"""The program played inside the test's own process, for tools that cannot follow it into one of its own.

Coverage and mutation runs set SESSION_CONTRACT_TEST_WITHIN=1; without it every call is a real process.
"""
import errno
import gc
import io
import os
import sys
from contextlib import ExitStack
from unittest import mock


class Left(BaseException):
    """The program left by _exit. No Exception: the program catches those."""


class Streams:
    """The module's file system with standard streams of our own."""

    def __init__(self, real, data):
        self.real, self.data, self.written = real, data, {1: b"", 2: b""}

    def __getattr__(self, name):
        return getattr(self.real, name)

    def isatty(self, _):
        return False

    def read(self, fd, size):
        if fd:
            return self.real.read(fd, size)
        piece, self.data = self.data[:size], self.data[size:]
        return piece

    def write(self, fd, data):
        if fd not in self.written:
            return self.real.write(fd, data)
        self.written[fd] += data
        return len(data)

    def _exit(self, status):
        raise Left(status)


class NoRoom:
    """No file may grow meanwhile."""

    def __enter__(self):
        import resource
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, self.before[1]))

    def __exit__(self, *_):
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


class Folder:
    """PATH is the working directory meanwhile."""

    def __init__(self, path):
        self.path, self.before = path, os.getcwd()

    def __enter__(self):
        os.chdir(self.path)

    def __exit__(self, *_):
        os.chdir(self.before)


def play(program, environ, stdin=b"", arguments=(), room=True, cwd=None):
    """(exit status, stdout, stderr) of one call of PROGRAM, the module."""
    streams = Streams(program.fs, stdin)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(program, "fs", streams))
        stack.enter_context(mock.patch.dict(os.environ, environ, clear=True))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))))
        stack.enter_context(mock.patch.object(sys, "stderr", io.StringIO()))     # argparse asks which stream is which
        if cwd:
            stack.enter_context(Folder(cwd))
        if not room:
            stack.enter_context(NoRoom())
        try:
            status = program.main(list(arguments))
        except Left as left:
            status = left.args[0]
        finally:
            gc.enable()     # a hook call switches it off for what is left of its life
    return status, streams.written[1], streams.written[2]


class Instead:
    """A file system of which some functions are others."""

    def __init__(self, real, **functions):
        self._real = real
        self.__dict__.update(functions)

    def __getattr__(self, name):
        return getattr(self._real, name)


BROKEN = OSError(errno.EIO, os.strerror(errno.EIO))


class Failing(Instead):
    """A file system whose function NAME fails where WHEN(*its arguments) holds."""

    def __init__(self, real, name, when=lambda *_: True, error=BROKEN):
        def failing(*arguments):
            if when(*arguments):
                raise error
            return getattr(real, name)(*arguments)
        super().__init__(real, **{name: failing})
