"""What the tests share: the module, the hook as a real process, a session with a transcript, and stories of both."""
import json
import os
import py_compile
import resource
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(ROOT, "session_contract.py")
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

import session_contract as sc  # noqa: E402
import within  # noqa: E402

# What the operator and the agent of these tests say. Stable wordings: how others are read is tested elsewhere.
ARMING = "Port the exporters, don't stop until the suite is green."
CONDITION = "the suite is green"
OWING = "225 remain. Continuing."
HONEST = "All 265 exporters are ported; the suite is green."
ASKING = "Should I also port the CSV exporter?"
WAITING = "The tests are still running; I will continue when they finish."
QUESTION = "Why did you pick SQLite?"
RUNNING = {"id": "b1", "type": "shell", "status": "running", "description": "the tests", "command": "make test"}
PATIENCE = 60       # seconds until a process counts as hung; a bound for a broken run, not an expectation


class Run:
    """A finished process: exit status, streams, and what its JSON says."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.out) if self.out.strip() else {}

    @property
    def said(self):
        """What the operator is told."""
        return self.json.get("systemMessage", "")

    @property
    def context(self):
        """What the model is told."""
        return self.json.get("hookSpecificOutput", {}).get("additionalContext", "")

    @property
    def answer(self):
        """What stands in place of a model turn."""
        return self.json.get("reason") or self.json.get("stopReason") or ""

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out!r}\nstderr: {self.err}"


# The installed form: the module's bytecode is cached, where a script is compiled at every run.
INSTALLED = "import sys; sys.path.append(%r); import session_contract as s; sys.exit(s.main())" % ROOT
py_compile.compile(FILE, doraise=True)


def command_line(*arguments, flags=("-I", "-S"), script=False):
    if os.environ.get("SESSION_CONTRACT_TEST_WITHIN") == "only":
        pytest.skip("needs a process of its own")
    return [sys.executable, *flags, *([FILE] if script else ["-c", INSTALLED]), *arguments]


def without_room():
    """No file may grow: a full disk that also root runs into. Pipes are not affected."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def launch(environ, stdin=b"", *arguments, flags=("-I", "-S"), script=False, room=True, **more):
    """Run the program as a process and wait for it."""
    if os.environ.get("SESSION_CONTRACT_TEST_WITHIN"):
        return Run(*within.play(sc, environ, stdin, arguments, room, more.get("cwd")))
    done = subprocess.run(command_line(*arguments, flags=flags, script=script), input=stdin, env=environ,
                          timeout=PATIENCE, check=False,
                          preexec_fn=None if room else without_room, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **more)
    return Run(done.returncode, done.stdout, done.stderr)


def held(run):
    """The turn was refused, in the only shape that holds: exit 2, a reason, and a message that keeps it a hold."""
    assert run.code == sc.HOLD, run
    assert run.err.startswith(sc.HELD), run
    assert set(run.json) == {"systemMessage"} and run.said, run
    return run


def let_go(run):
    """The turn may end: exit 0, nothing for the model, nothing or one message for the operator."""
    assert (run.code, run.err) == (0, ""), run
    assert set(run.json) <= {"systemMessage"}, run
    return run


def told(run, *fragments):
    """The operator is told each of FRAGMENTS."""
    assert all(fragment in run.said for fragment in fragments), run
    return run


def silent(run):
    assert (run.code, run.out, run.err) == (0, b"", ""), run
    return run


class Transcript:
    """Rows in the client's shape, in the order in which they are added."""

    def __init__(self):
        self.lines, self.count = [], 0

    @property
    def data(self):
        return b"".join(self.lines)

    def row(self, kind, content, **fields):
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message["id"] = f"msg_{len(self.lines):04}"
        row = {"parentUuid": None, "isSidechain": False, "type": kind, "message": message, **fields}
        self.lines.append(json.dumps(row).encode() + b"\n")
        return self

    def human(self, text, origin="human"):
        return self.row("user", text, turnOrigin=origin)

    def says(self, text, **fields):
        return self.row("assistant", [{"type": "text", "text": text}], **fields)

    def call(self, name="Bash", error=False, interrupted=False, **given):
        """A tool call and its result. A keyword that begins with "row_" becomes a field of both rows."""
        self.count += 1
        fields = {key[4:]: given.pop(key) for key in list(given) if key.startswith("row_")}
        name_of_call = f"toolu_{self.count:04}"
        self.row("assistant", [{"type": "tool_use", "id": name_of_call, "name": name, "input": given}], **fields)
        result = {"tool_use_id": name_of_call, "type": "tool_result", "content": "x", "is_error": error}
        outcome = {"stdout": "x", "stderr": "", "interrupted": interrupted}
        return self.row("user", [result], toolUseResult=outcome, **fields)

    def held(self, text):
        """The client feeds a hold back to the model."""
        return self.row("user", f"Stop hook feedback:\n[python3 hook]: {text}", isMeta=True, rowSource="hook")

    def filler(self, size):
        """A row of SIZE bytes or a few more that is nothing the gate looks at."""
        self.lines.append(json.dumps({"type": "file-history-snapshot", "x": "y" * size}).encode() + b"\n")
        return self


class NoTranscript(Transcript):
    """The client wrote nothing, not even the prompts."""

    def row(self, *_, **__):
        return self


class Session:
    """One session of the client, with a home, a store and a transcript of its own."""

    def __init__(self, folder, name="s1", **environ):
        self.folder, self.name = str(folder), name
        self.store = os.path.join(self.folder, "store")
        self.path = os.path.join(self.folder, f"{name}.transcript.jsonl")
        self.transcript = Transcript()
        home = os.path.join(self.folder, "home")
        os.makedirs(home, exist_ok=True)
        self.environ = {"PATH": os.environ.get("PATH", ""), "HOME": home, "SESSION_CONTRACT_DIR": self.store, **environ}

    def payload(self, event, **fields):
        """The bytes that the client sends for EVENT; a field that is `...` is left out."""
        common = {"session_id": self.name, "transcript_path": self.path, "cwd": self.folder, "hook_event_name": event}
        more = {"UserPromptSubmit": {"permission_mode": "default"}, "SessionStart": {"source": "startup"},
                "Stop": {"permission_mode": "default", "stop_hook_active": False, "last_assistant_message": HONEST,
                         "background_tasks": [], "session_crons": []}}.get(event, {})
        whole = {**common, **more, **fields}
        return json.dumps({k: v for k, v in whole.items() if v is not ...}).encode()

    def hook(self, event, room=True, environ=None, **fields):
        """Run the real process on EVENT, with the transcript as it stands on the disk."""
        if self.transcript.lines:
            with open(self.path, "wb") as file:
                file.write(self.transcript.data)
        return launch({**self.environ, **(environ or {})}, self.payload(event, **fields), room=room)

    def within(self, event, program=sc, **fields):
        """The same in the test's own process, so that what the program stands on can be made to fail."""
        return Run(*within.play(program, self.environ, self.payload(event, **fields)))

    def prompt(self, text, **fields):
        return self.hook("UserPromptSubmit", prompt=text, **fields)

    def stop(self, message=OWING, **fields):
        return self.hook("Stop", last_assistant_message=message, **fields)

    def start(self, source="resume", **fields):
        return self.hook("SessionStart", source=source, **fields)

    def command(self, *arguments, environ=None, **more):
        """Run a command in a shell of the operator's, about this session."""
        return launch({**self.environ, "CLAUDE_CODE_SESSION_ID": self.name, **(environ or {})}, b"", *arguments, **more)

    def armed(self, text=ARMING, **fields):
        told(self.prompt(text, **fields), "armed")
        return self

    @property
    def contract_path(self):
        return os.path.join(self.store, "contracts", self.name + ".json")

    @property
    def log_path(self):
        return os.path.join(self.store, "logs", self.name + ".jsonl")

    @property
    def contract(self):
        with open(self.contract_path, "rb") as file:
            return json.loads(file.read())

    def change(self, **fields):
        """Change fields of the contract behind the program's back."""
        contract = {**self.contract, **fields}
        with open(self.contract_path, "w", encoding="utf-8") as file:
            json.dump(contract, file)

    def break_contract(self, data=b"\x00{ no json"):
        with open(self.contract_path, "wb") as file:
            file.write(data)

    @property
    def records(self):
        """The lines of the log."""
        if not os.path.exists(self.log_path):
            return []
        with open(self.log_path, "rb") as file:
            return [json.loads(line) for line in file.read().splitlines()]

    @property
    def classes(self):
        """The decisions on Stops, in the log's order."""
        return [record["class"] for record in self.records if record["event"] == "Stop"]

    def configure(self, name="config.json", value=None, text=None):
        os.makedirs(self.store, exist_ok=True)
        with open(os.path.join(self.store, name), "w", encoding="utf-8") as file:
            file.write(json.dumps(value) if text is None else text)


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path)


@pytest.fixture
def armed(session):
    return session.armed()


# A story is a list of steps. It is told twice: to the pure functions, and to the real process.

def says(text, **fields):
    return "says", text, fields


def calls(name="Bash", **given):
    return "calls", name, given


def ends(message, cls, **fields):
    """The agent ends its turn with MESSAGE, and the decision is CLS."""
    return "ends", (message, cls), fields


def item(text):
    return "item", text, {}


def closes(verb, name="i1"):
    return "closes", (verb, name), {}


def sets(**fields):
    return "sets", None, fields


def with_contract(rows_and_end, contract):
    """The arguments of read_evidence."""
    return rows_and_end[0], contract, rows_and_end[1]


class Pure:
    """A session played through the pure functions alone."""

    def __init__(self, **settings):
        self.settings, self.transcript = sc.Settings(**settings), Transcript()
        self.contract, self.now = None, 1_800_000_000

    @property
    def live(self):
        return self.contract if self.contract and self.contract["state"] in sc.LIVE else None

    def says(self, text, permission_mode="default", **fields):
        words = sc.human_part(text)
        heard = sc.read_prompt(words, bool(self.live))
        if words and (self.live or heard["intent"]):
            prompt = sc.Prompt(heard=heard, mode=permission_mode, session="s1", size=len(self.transcript.data))
            self.contract = sc.hear(self.live, prompt, self.settings, self.now)[0] or self.contract
        self.transcript.human(text)

    def calls(self, name, given):
        self.transcript.call(name, **given)

    def evidence(self):
        """What the transcript has gained since it was last read."""
        if not self.transcript.lines:
            return sc.Evidence()
        start = self.contract["read_to"]
        return sc.read_evidence(*with_contract(sc.rows_of(self.transcript.data[start:], start, True), self.contract))

    def ends(self, message, permission_mode="default", stop_hook_active=False, background_tasks=(), session_crons=()):
        """The class of the decision, "" where no contract binds."""
        if not self.live:
            return ""
        evidence = self.evidence()
        stop = sc.Stop(message=message, mode=permission_mode, active=stop_hook_active, tasks=tuple(background_tasks),
                       crons=tuple(session_crons), **(sc.read_turn(message, evidence.turn_calls) if message else {}))
        before = sc.absorb(self.contract, evidence, self.settings, self.now)
        verdict = sc.decide(before, stop, evidence, self.settings, self.now)
        self.contract = sc.next_contract(before, stop, verdict, self.now)
        if verdict.holds:
            self.transcript.held(sc.block_text(before, stop, verdict, self.settings))
        return verdict.cls

    def item(self, text):
        self.contract = sc.add_item(self.contract, text, "command", self.now)[0]

    def closes(self, verb, name):
        state = {"done": sc.DONE, "waive": sc.WAIVED, "escalate": sc.ESCALATED}[verb]
        facts = {"evidence": [{"kind": "note", "value": "seen"}]} if verb == "done" else {"reason": "out of scope"}
        self.contract = sc.close_item(self.contract, name, state, self.now, **facts)

    def sets(self, fields):
        self.contract = {**self.contract, **fields}


class Real:
    """The same session, played through the real process."""

    def __init__(self, session):
        self.session = session

    def says(self, text, **fields):
        run = self.session.prompt(text, **fields)
        assert (run.code, run.err) == (0, ""), run
        self.session.transcript.human(text)

    def calls(self, name, given):
        self.session.transcript.call(name, **given)

    def ends(self, message, **fields):
        before = len(self.session.records)
        run = self.session.stop(message, **fields)
        cls = "".join(record["class"] for record in self.session.records[before:])
        (held if cls in ("BLOCK", "BLOCK-MALFORMED") else let_go)(run)
        if run.code == sc.HOLD:
            self.session.transcript.held(run.err)
        return cls

    def item(self, text):
        assert self.session.command("item", "add", text).code == 0

    def closes(self, verb, name):
        more = {"done": ("--evidence", "note:seen"), "waive": ("--reason", "out of scope"),
                "escalate": ("--reason", "out of scope", "--class", "irreversible")}[verb]
        assert self.session.command("item", verb, name, *more).code == 0

    def sets(self, fields):
        self.session.change(**fields)


def play(player, story):
    """Tell STORY to PLAYER; the decisions and what they should have been."""
    found, wanted = [], []
    for number, (verb, what, fields) in enumerate(story):
        if hasattr(player, "now"):
            player.now += 60
        if verb == "ends":
            found.append(f"step {number}: {player.ends(what[0], **fields)}")
            wanted.append(f"step {number}: {what[1]}")
        elif verb == "says":
            player.says(what, **fields)
        elif verb == "calls":
            player.calls(what, fields)
        elif verb == "sets":
            player.sets(fields)
        else:
            getattr(player, verb)(*(what if isinstance(what, tuple) else (what,)))
    return found, wanted


def rows(*cases):
    """Cases whose first value is a sentence: the sentence becomes the id, the rest the parameters."""
    return [pytest.param(*case[1:], id=case[0]) for case in cases]


# --- an installation -------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A real installation, made once and then copied: installing compiles and proves, which takes a second."""
    home = tmp_path_factory.mktemp("template")
    run = launch({"PATH": os.environ["PATH"], "HOME": str(home)}, b"", "install")
    assert run.code == 0, run
    return os.path.join(home, ".claude", sc.HOOK_DIR)


class Installed:
    """A copy of the template in a configuration directory of its own."""

    def __init__(self, template, config):
        self.config = str(config)
        self.environ = {"PATH": os.environ["PATH"], "HOME": self.config, "CLAUDE_CONFIG_DIR": self.config}
        self.place = sc.Place("user", self.environ)
        shutil.copytree(template, self.place.home)
        self.settings = self.place.settings
        self.write(sc.merge_settings("", sc.hook_entries(self.place.command)))
        with open(self.place.launcher, encoding="utf-8") as file:
            self.python = sc.launcher_python(file.read())
        self.write_launcher(self.python)
        self.write("", self.place.register)

    def write(self, text, path=None):
        path = path or self.settings
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def write_launcher(self, python):
        self.write(sc.launcher_text(python, self.place.home), self.place.launcher)
        os.chmod(self.place.launcher, 0o755)

    def change(self, **fields):
        """Set top-level keys of settings.json."""
        with open(self.settings, encoding="utf-8") as file:
            self.write(json.dumps({**json.load(file), **fields}))

    def swap(self, old, new):
        with open(self.settings, encoding="utf-8") as file:
            self.write(file.read().replace(old, new))

    def shell(self, line=None, stdin=b"", shell="sh", path=None, **environ):
        """Run LINE (the registered command) as the client does."""
        done = subprocess.run([shutil.which(shell), "-c", line or self.place.command], input=stdin, cwd=self.config,
                              env={**self.environ, "PATH": path or self.environ["PATH"], **environ}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        return Run(done.returncode, done.stdout, done.stderr)

    def event(self, name, **more):
        fields = {"UserPromptSubmit": {"prompt": ARMING}, "Stop": {"last_assistant_message": OWING}}.get(name, {})
        payload = {"hook_event_name": name, "session_id": "s1", "transcript_path": "", "cwd": self.config,
                   "permission_mode": "default", **fields}
        return self.shell(stdin=json.dumps(payload).encode(), **more)

    def findings(self, session="", **environ):
        return [name for name, _, _ in sc.diagnose({**self.environ, **environ}, session)]


@pytest.fixture
def installed(template, tmp_path):
    return Installed(template, tmp_path / "config")


@pytest.fixture
def odd(template, tmp_path):
    return Installed(template, tmp_path / "it's $HOME; a \"b\" & (c) \u00e9")


@pytest.fixture
def alone(monkeypatch):
    """Launchers that know of no other Python than the one on PATH."""
    monkeypatch.setattr(sc, "OTHER_PYTHONS", "python3")
