"""Install the pinned client that the tests in this folder drive: python3 tests/client/fetch.py

Prints the path of the binary. Nothing is installed twice, and the package's install scripts are not run.
"""
import os
import shutil
import subprocess
import sys

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.332"
OVERRIDE = "SESSION_CONTRACT_TEST_CLIENT"


def folder(environ=os.environ):
    """The cache folder of this version: one per version, so that a new pin never meets an old install."""
    cache = environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "session-contract-tests", "claude-code-" + VERSION)


def binary(environ=os.environ):
    """Where the client is expected: the override if one is set, else the cache. It need not exist."""
    if environ.get(OVERRIDE):
        return environ[OVERRIDE]
    return os.path.join(folder(environ), "node_modules", "@anthropic-ai", "claude-code-linux-x64", "claude")


def install(prefix):
    """Run npm; returns None, or one line saying why there is no client."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not on PATH: install Node.js, or set %s to a client binary" % OVERRIDE
    os.makedirs(prefix, exist_ok=True)
    done = subprocess.run(
        [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, PACKAGE + "@" + VERSION],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.strip()] or ["npm said nothing"]
        return "npm could not install %s@%s (exit %d): %s" % (PACKAGE, VERSION, done.returncode, said[0])
    return None


def main():
    """Print the binary's path and return 0, or print one line on stderr and return 1."""
    path = binary()
    fault = None
    if not os.path.exists(path):
        fault = "%s is set to %s, which does not exist" % (OVERRIDE, path) if os.environ.get(OVERRIDE) else None
        fault = fault or install(folder())
    if fault is None and not os.path.exists(path):
        fault = "npm finished, but %s is not there: the tests know the linux-x64 build only" % path
    if fault:
        print("fetch: " + fault, file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
