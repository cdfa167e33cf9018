"""How much a hook call costs: whole processes, in turn, against the same interpreter doing nothing.

    python tests/bench.py [ROUNDS]

Times are user+sys of the whole process. Each round runs every case once, so that a busy machine slows all alike;
a ratio is taken within its round. Nothing is asserted: the table is for the reader.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "session_contract.py")
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
NOTHING = ["-c", "pass"]
LARGE = (("'a'", "a"), ("'.'", "."), ("'\\n'", "\n"), ("'1,'", "1,"), ("'stop   x'", "stop   x"),
         ("prose", "The file is ported. "))


class Bench:
    """A folder with the installed program, a store, and the payloads as files."""

    def __init__(self, folder):
        self.folder, self.store = folder, os.path.join(folder, "store")
        self.environ = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "SESSION_CONTRACT_DIR": self.store}
        subprocess.run([PYTHON, FILE, "install"], env=self.environ, check=True, stdout=subprocess.DEVNULL)
        place = os.path.join(folder, ".claude", "session-contract-hook")
        # What the launcher runs, and the whole file as a module, both with their bytecode cached.
        self.installed = ["-c", f"import sys; sys.path.append({place!r}); import gate as s; s.gate()"]
        self.module = ["-c", f"import sys; sys.path.append({place!r}); import session_contract as s; s.main()"]
        self.script = [FILE]

    def payload(self, event, session="armed", **fields):
        """The path of a file that holds a payload."""
        common = {"session_id": session, "transcript_path": "", "cwd": self.folder, "permission_mode": "default",
                  "hook_event_name": event}
        path = os.path.join(self.folder, f"{len(os.listdir(self.folder))}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**common, **fields}, file)
        return path

    def run(self, program, payload=os.devnull):
        """(user+sys in seconds, exit status) of one process."""
        quiet = [(os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0)]
        quiet += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        process = os.posix_spawn(PYTHON, [PYTHON, "-I", "-S", *program], self.environ, file_actions=quiet)
        _, status, used = os.wait4(process, 0)
        return used.ru_utime + used.ru_stime, os.WEXITSTATUS(status)

    def arm(self):
        """Arm a session, and return a function that puts its contract back as it is now."""
        self.run(self.script, self.payload("UserPromptSubmit", prompt="Port it, don't stop until the suite is green."))
        path = os.path.join(self.store, "contracts", "armed.json")
        with open(path, "rb") as file:
            data = file.read()

        def again():
            with open(path, "wb") as file:
                file.write(data)
        return again

    def cases(self):
        """(what, payload, exit status that shows that it did what is measured)"""
        said = {"last_assistant_message": "40 of 265 are ported, 225 remain. Continuing."}
        asked = {"last_assistant_message": "The CSV exporter is ported. Should I do the XML exporter next?"}
        done = {"last_assistant_message": "All 265 exporters are ported; the suite is green."}
        return (
            ("SessionStart, not armed", self.payload("SessionStart", "other", source="startup"), 0),
            ("UserPromptSubmit, not armed", self.payload("UserPromptSubmit", "other",
                                                         prompt="Where do the timings end up?"), 0),
            ("Stop, not armed", self.payload("Stop", "other", stop_hook_active=False, **said), 0),
            ("UserPromptSubmit, armed", self.payload("UserPromptSubmit",
                                                     prompt="Use tabs in the exporters, as the others do."), 0),
            ("Stop, armed, let go", self.payload("Stop", stop_hook_active=False, **done), 0),
            ("Stop, armed, held by a phrase", self.payload("Stop", stop_hook_active=False, **said), 2),
            ("Stop, armed, held by a pattern", self.payload("Stop", stop_hook_active=False, **asked), 2))


def measured(bench, rounds):
    """{(form, what): [(seconds, ratio to the floor of its round)]}"""
    cases, again = bench.cases(), bench.arm()
    found = {}
    for _ in range(rounds):
        floor = statistics.median(bench.run(NOTHING)[0] for _ in range(3))
        found.setdefault(("", "python3 -I -S -c pass"), []).append((floor, 1.0))
        for form, program in (("installed", bench.installed), ("module", bench.module), ("script", bench.script)):
            for what, payload, wanted in cases:
                again()
                seconds, status = bench.run(program, payload)
                if status != wanted:
                    raise SystemExit(f"{what} ({form}) exited {status}, not {wanted}: the figures would mean nothing")
                found.setdefault((form, what), []).append((seconds, seconds / floor))
    return found, again


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        found, again = measured(bench, rounds)
        print(f"Python {sys.version.split()[0]}, {rounds} rounds, user+sys of whole processes\n")
        print(f"{'form':10} {'case':30} {'ms':>7} {'ratio':>7} {'min':>6} {'max':>6}")
        for (form, what), pairs in found.items():
            ratios = [ratio for _, ratio in pairs]
            spent = 1000 * statistics.median(seconds for seconds, _ in pairs)
            print(f"{form:10} {what:30} {spent:7.1f} {statistics.median(ratios):7.2f} "
                  f"{min(ratios):6.2f} {max(ratios):6.2f}")
        print(f"\n{'one megabyte of':20} {'Stop, s':>9} {'prompt, s':>10}   (armed, installed form)")
        for name, unit in LARGE:
            text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
            times = []
            for event, field in (("Stop", "last_assistant_message"), ("UserPromptSubmit", "prompt")):
                again()
                times.append(bench.run(bench.installed, bench.payload(event, **{field: text}))[0])
            print(f"{name:20} {times[0]:9.3f} {times[1]:10.3f}")


if __name__ == "__main__":
    main()
