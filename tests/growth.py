"""What piles up, and whether a call still takes the time it took: many Stops of one session, many sessions, a huge log.

    python tests/growth.py [STOPS [SESSIONS]]

The store is filled by the program's own functions in this process; what is measured are real processes, user+sys of
each, the median of several, as a ratio to the same call on the store as it was at first. Nothing is asserted: the
table is for the reader.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "session_contract.py")
sys.path.insert(0, os.path.dirname(FILE))
import session_contract as sc  # noqa: E402

ARMING, OWING = "Port it, don't stop until the suite is green.", "{} of 265 are ported, the others remain. Continuing."
CODE = f"import sys; sys.path.append({os.path.dirname(FILE)!r}); import session_contract as s; sys.exit(s.main())"


class Growth:
    """A store that grows, and the calls that are measured on it."""

    def __init__(self, folder):
        self.folder, self.store = folder, os.path.join(folder, "store")
        self.environ = {"HOME": folder, "SESSION_CONTRACT_DIR": self.store, "PATH": os.environ.get("PATH", "")}
        self.first, self.count = {}, 0
        sc.fs.fsync = lambda fd: None           # only here: filling is not what is measured

    def payload(self, event, session="growing", **fields):
        return {"hook_event_name": event, "session_id": session, "transcript_path": "", "cwd": self.folder,
                "permission_mode": "default", "stop_hook_active": False, **fields}

    def fill(self, event, session="growing", now=0, **fields):
        return sc.run_hook(self.payload(event, session, **fields), "", self.environ, now or int(time.time()))

    def spent(self, payload, **more):
        """user+sys of one process in seconds."""
        arguments = [] if isinstance(payload, dict) else payload
        with tempfile.TemporaryFile() as stdin:
            stdin.write(json.dumps(payload).encode())
            stdin.seek(0)
            process = subprocess.Popen([sys.executable, "-I", "-S", "-c", CODE, *arguments], stdin=stdin,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**self.environ, **more})
            _, process.returncode, used = os.wait4(process.pid, 0)
        return used.ru_utime + used.ru_stime

    def calls(self):
        """(what, payload or arguments, environment) of each measured call; a new session where one is armed."""
        self.count += 1
        return (("Stop, armed", self.payload("Stop", last_assistant_message=OWING.format(self.count)), {}),
                ("Stop, not armed", self.payload("Stop", "unknown", last_assistant_message=OWING), {}),
                ("prompt, armed", self.payload("UserPromptSubmit", prompt="use tabs"), {}),
                ("prompt that arms", self.payload("UserPromptSubmit", f"fresh-{self.count}", prompt=ARMING), {}),
                ("SessionStart after a clear", self.payload("SessionStart", "cleared", source="clear"),
                 {"CLAUDE_PID": str(os.getpid())}),
                ("status --last", ["status", "--last"], {}), ("report --all", ["report", "--all"], {}))

    def measure(self, when):
        times = {}
        for _ in range(9):
            for what, payload, more in self.calls():
                times.setdefault(what, []).append(self.spent(payload, **more))
        sizes = [os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.store) for name in names]
        print(f"\n{when}: {len(sizes)} files, {sum(sizes) / 1e6:.2f} MB")
        for what, seconds in times.items():
            middle = statistics.median(seconds)
            self.first.setdefault(what, middle)
            print(f"  {what:28} {1000 * middle:8.1f} ms  {middle / self.first[what]:6.2f}")


def main():
    stops, sessions = (int(given) for given in (sys.argv[1:] + ["50000", "5000"][len(sys.argv) - 1:]))
    with tempfile.TemporaryDirectory() as folder:
        growth = Growth(folder)
        growth.fill("UserPromptSubmit", prompt=ARMING)
        growth.measure("one session, armed")
        for number in range(stops):
            if number % 40 == 0:
                growth.fill("UserPromptSubmit", prompt=f"use {number} spaces")
            growth.fill("Stop", last_assistant_message=OWING.format(number))
        growth.measure(f"after {stops} Stops")
        with open(os.path.join(growth.store, "logs", "growing.jsonl"), "ab") as log:
            log.truncate(200_000_000)
        growth.measure("with a log of 200 MB")
        month = int(time.time()) - 40 * 86_400
        for number in range(sessions):
            name = f"session-{number}"
            growth.fill("UserPromptSubmit", name, now=month, prompt=ARMING)
            growth.fill("Stop", name, now=month, last_assistant_message=OWING.format(number))
            if number % 10:             # each tenth is left armed
                growth.fill("UserPromptSubmit", name, now=month, prompt="stop")
        growth.measure(f"with {sessions} more sessions, nine of ten released")
        for at, _, names in os.walk(growth.store):
            for name in names:
                if "session-" in name:
                    os.utime(os.path.join(at, name), (month, month))
        armings = 0
        while armings % 20 or any(growth_left(growth)) and armings < 10 * sessions:
            growth.fill("UserPromptSubmit", "one-more", now=int(time.time()) + armings, prompt=ARMING)
            growth.fill("UserPromptSubmit", "one-more", prompt="stop")
            armings += 1
        growth.measure(f"40 days later, after {armings} armings")
        live = sum(contract["state"] in sc.LIVE for contract in sc.contracts_in(sc.Store(growth.store)))
        print(f"  still live: {live}; ended and older than 30 days: {sum(growth_left(growth))}")


def growth_left(growth):
    """Whether each old contract in the store has ended: what sweeping should leave none of."""
    return [contract["state"] not in sc.LIVE for contract in sc.contracts_in(sc.Store(growth.store))
            if contract["session"].startswith("session-")]


if __name__ == "__main__":
    main()
