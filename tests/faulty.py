"""The program with its system calls in the test's hands: each in turn fails, does half, or is the last one made.

    echo JOB | python -c "import faulty; faulty.main()"

One process runs one event many times, with the store put back as it was. A job says what
to run and on what; the answer lists every run with what was printed and what is on the disk.
"""
import errno
import fcntl
import json
import os
import posix
import shutil
import signal
import sys
import time
import traceback

import session_contract as sc

# How each call can fail. (EAGAIN of flock is another process's lock, and no failure.)
READING, MAKING = ("EIO", "EACCES", "EINTR"), ("EIO", "EACCES", "EROFS", "ENOSPC", "EINTR")
FAILS = {"stat": READING, "listdir": READING, "fstat": ("EIO",), "lseek": ("EIO",), "read": ("EIO", "EINTR"),
         "write": ("ENOSPC", "EIO", "EINTR"), "fsync": ("EIO", "ENOSPC", "EINTR"), "close": ("EIO", "EINTR"),
         "mkdir": MAKING, "replace": MAKING, "unlink": ("EIO", "EACCES", "EROFS"), "flock": ("EIO", "EINTR")}
# Some failures last. What of the disk they strike:
LASTS = {"ENOSPC": ("making", "write", "mkdir"), "EROFS": ("making", "writing", "mkdir", "replace", "unlink"),
         "EIO": ("open", "making", "writing", *(name for name in FAILS if name != "flock"))}
STREAMS, FLOCK = ("stdin", "stdout", "stderr"), fcntl.flock
CHANGES = ("write", "fsync", "mkdir", "replace", "unlink", "making")      # a process may die before and after each


class Left(BaseException):
    """The program has left, with this status."""


class Calls:
    """What the program makes its system calls with. TROUBLE is (number of the call, how, errno's name)."""

    def __init__(self, stdin="", trouble=None):
        self.number, self.how, self.error = trouble or (-1, "", "")
        self.streams = [bytearray(stdin.encode()), bytearray(), bytearray()]
        self.seen, self.files = [], {}          # what was called on what; descriptors and their paths

    def __getattr__(self, name):
        real = getattr(posix, name)
        if name != "open" and name not in FAILS:
            return real
        return lambda *given, **more: self.call(name, real, given, more)

    def _exit(self, status):
        raise Left(status)

    def isatty(self, fd):
        return False

    def call(self, name, real, given, more):
        at_stream = type(given[0]) is int and given[0] < 3
        subject = STREAMS[given[0]] if at_stream else self.files.get(given[0], given[0])
        flags = given[1] if name == "open" else 0
        kind = name if name != "open" else "making" if flags & posix.O_CREAT else (
            "writing" if flags & (posix.O_WRONLY | posix.O_RDWR) else name)
        here = len(self.seen) == self.number
        lasting = self.how == "lasts" and len(self.seen) >= self.number and kind in LASTS[self.error] and not at_stream
        self.seen.append((kind, str(subject)))
        if here and self.how == "killed before":
            os.kill(os.getpid(), signal.SIGKILL)
        if here and self.how in ("half", "killed within"):
            given = given[0], bytes(given[1])[:len(given[1]) // 2]
        try:
            if here and self.how == "fails" or lasting:
                if name == "close":             # the descriptor is gone all the same
                    real(self.closed(given[0]))
                raise OSError(getattr(errno, self.error), os.strerror(getattr(errno, self.error)))
            done = (self.stream if at_stream else self.disk)(name, real, given, more)
        finally:
            if here and self.how in ("killed within", "killed after"):
                os.kill(os.getpid(), signal.SIGKILL)
        return done

    def disk(self, name, real, given, more):
        if name == "fsync":         # takes most of the time, and changes nothing that a killed process leaves behind
            return None
        done = real(self.closed(given[0]), *given[1:], **more) if name == "close" else real(*given, **more)
        if name == "open":
            self.files[done] = given[0]
        return done

    def stream(self, name, _, given, __):
        if name == "write":
            self.streams[given[0]] += given[1]
            return len(given[1])
        done = bytes(self.streams[0])
        self.streams[0].clear()
        return done

    def closed(self, fd):
        self.files.pop(fd)
        return fd


def troubles(seen):
    """Every trouble that a run with the calls SEEN can meet."""
    for number, (kind, subject) in enumerate(seen):
        outside = subject in STREAMS
        if kind in CHANGES and not outside:
            yield from ((number, f"killed {when}", "") for when in ("before", "within", "after")
                        if when != "within" or kind == "write")
        name = "open" if kind in ("making", "writing") else kind
        for error in (READING if kind == "open" else MAKING) if name == "open" else FAILS[name]:
            yield number, "fails", error
        if kind == "write":
            yield number, "half", ""
        if not outside:
            yield from ((number, "lasts", error) for error, kinds in LASTS.items() if kind in kinds)


class Bench:
    """A store and what is run on it."""

    def __init__(self, store):
        self.store = store

    def put(self, files):
        if os.path.isdir(self.store) and self.files() == files:
            return
        shutil.rmtree(self.store, ignore_errors=True)
        for name, text in files.items():
            path = os.path.join(self.store, name)
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            if name.endswith("/"):
                continue
            with open(path, "w", encoding="latin-1", newline="") as file:
                file.write(text)

    def files(self):
        """{name: text}; a folder's name ends in a slash."""
        found = {}
        for at, folders, names in os.walk(self.store):
            found.update((os.path.relpath(os.path.join(at, name), self.store) + "/", "") for name in folders)
            for name in names:
                path = os.path.join(at, name)
                with open(path, encoding="latin-1", newline="") as file:
                    found[os.path.relpath(path, self.store)] = file.read()
        return found

    def run(self, event, trouble=None):
        """Run EVENT; what came of it, and the calls that it made. Only who is killed needs a process of its own."""
        calls = Calls(event.get("stdin", ""), trouble)
        if trouble and trouble[1].startswith("killed"):
            child = os.fork()
            if not child:
                os._exit(self.status(event, calls))
            status = os.waitpid(child, 0)[1]
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        else:
            code = self.status(event, calls)
        for fd in calls.files:       # a process that ends closes them
            os.close(fd)
        return {"code": code, "out": calls.streams[1].decode(), "err": calls.streams[2].decode(),
                "files": self.files()}, calls.seen

    def status(self, event, calls):
        """The program's exit status, 99 if it lets an exception through."""
        sc.fs, fcntl.flock = calls, lambda *given: calls.call("flock", FLOCK, given, {})
        try:
            return sc.main(event.get("arguments") or [])
        except Left as left:
            return left.args[0]
        except Exception:
            calls.streams[2] += traceback.format_exc().encode()
            return 99
        finally:
            sc.fs = posix


def main():
    job = json.load(sys.stdin)
    bench = Bench(job["store"])
    before, followed, real = bench.files(), {}, time.time
    time.time = lambda: job["now"]

    def tried(trouble, call):
        bench.put(before)
        run, seen = bench.run(job["event"], trouble)
        key = json.dumps(run["files"], sort_keys=True)
        if key not in followed:         # what follows depends on what is on the disk, and on nothing else
            bench.put(run["files"])
            followed[key] = {"next": bench.run(job["next"])[0]}
            if bench.files():
                sc.Store(bench.store).sweep(real() + 3 * sc.LIMITS["sweep"])
            followed[key]["swept"] = sorted(bench.files())
        return {**run, **followed[key], "trouble": trouble, "call": call, "killed": bool(
            trouble and trouble[1].startswith("killed"))}, seen

    plain, seen = tried(None, "")
    bench.put(before)
    first = {"files": before, "next": bench.run(job["next"])[0]}
    runs = [tried(trouble, " ".join(seen[trouble[0]]))[0] for trouble in troubles(seen)]
    print(json.dumps({"before": first, "plain": plain, "runs": runs}))


if __name__ == "__main__":
    main()
