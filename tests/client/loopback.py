"""A network namespace with loopback alone: the client under test can reach the scripted model and nothing else.

A small process (this file, run as a script) lives in the namespace and keeps it alive. It makes a listening socket
there and hands it out, so the model is served by the test's own process, where its record is an ordinary list.
"""
import os
import shutil
import socket
import subprocess
import sys

TOOLS = ("unshare", "nsenter")
SIOCSIFFLAGS, IFF_UP, AF_INET_REQUEST = 0x8914, 0x1, "16sh22x"


class Loopback:
    """One namespace: `listener` is a TCP socket that listens in it, `enter` the prefix of a command to be run in it."""

    def __init__(self):
        rootless = os.geteuid() != 0
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with ours, theirs:
            fd = theirs.fileno()
            keeper = [sys.executable, "-I", "-S", os.path.abspath(__file__), str(fd)]
            self._keeper = subprocess.Popen(
                ["unshare"] + (["-r"] if rootless else []) + ["-n", "--"] + keeper, pass_fds=[fd],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            # With our copy closed, a keeper that fails is seen as the end of the stream.
            theirs.close()
            ours.settimeout(20)
            fds = socket.recv_fds(ours, 1, 1)[1]
        if not fds:
            said = self._keeper.communicate()[1].decode("utf-8", "replace").strip().splitlines()
            raise OSError(said[-1] if said else "the namespace's keeper ended without a word")
        self.listener = socket.socket(fileno=fds[0])
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.enter = ["nsenter", "-t", str(self._keeper.pid), "-n"]
        if rootless:
            self.enter += ["-U", "--preserve-credentials"]

    def close(self):
        """Let the keeper go; the namespace ends with the last process in it."""
        self._keeper.stdin.close()
        self._keeper.wait(20)
        self._keeper.stderr.close()


def why_not():
    """None where such a namespace can be made and entered, else the reason."""
    if not sys.platform.startswith("linux"):
        return "network namespaces are a Linux facility"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return "%s (util-linux) is not on PATH" % " and ".join(missing)
    try:
        space = Loopback()
    except OSError as fault:
        return "no network namespace: %s" % fault
    try:
        done = subprocess.run(space.enter + ["true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return None if done.returncode == 0 else "the network namespace cannot be entered: " + done.stderr.strip()
    finally:
        space.listener.close()
        space.close()


def keep(fd):
    """Inside the namespace: bring loopback up, hand out a listening socket, and stay until the parent lets go."""
    import fcntl
    import struct
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    fcntl.ioctl(listener, SIOCSIFFLAGS, struct.pack(AF_INET_REQUEST, b"lo", IFF_UP))
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    with socket.socket(fileno=fd) as parent:
        socket.send_fds(parent, [b"."], [listener.fileno()])
    listener.close()
    sys.stdin.read()


if __name__ == "__main__":
    keep(int(sys.argv[1]))
