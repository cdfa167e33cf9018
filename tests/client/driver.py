"""The real client in a folder of its own: print mode, interactive mode in tmux, and what each of them left behind."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, NamedTuple

from .api import Api
from .loopback import Loopback

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")
HERE = os.path.dirname(os.path.abspath(__file__))
HOOK = os.path.join(os.path.dirname(os.path.dirname(HERE)), "session_contract.py")
# A key of the right look: the client never sends it anywhere but to the scripted model.
KEY = "sk-ant-" + "0" * 40
# How long a condition may take to come true. A bound for a broken run, not an expectation.
PATIENCE = 60
PAUSE = 0.1
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}


class Run(NamedTuple):
    """A finished print-mode run: exit code, the rows of its stream, stderr."""

    code: int
    rows: List[Dict[str, Any]]
    stderr: str

    @property
    def final(self):
        """The stream's result row."""
        return next((row for row in reversed(self.rows) if row.get("type") == "result"), {})

    @property
    def session(self):
        """The session's id."""
        return self.final.get("session_id")

    @property
    def notices(self):
        """What the operator was told by hooks: their systemMessages, in the order of the stream."""
        told = []
        for row in self.rows:
            if row.get("type") == "system" and row.get("subtype") == "informational":
                told.append(row.get("content", ""))
            elif row.get("subtype") == "hook_response" and row.get("hook_event") == "SessionStart":
                told.append(row.get("stdout") or row.get("output") or "")
        return "\n".join(told)


def hook_entries(commands):
    """The `hooks` section of settings.json, from a command line for each event."""
    return {event: [{"hooks": [{"type": "command", "command": line}]}] for event, line in commands.items()}


def hook_commands(script=HOOK):
    """The plain form: this interpreter and the script. Nothing is in danger of exit 2 here: the script is there."""
    return {event: own_line(script=script) for event in EVENTS}


def own_line(*args, script=HOOK):
    """A shell line that runs the hook's file: as a hook, or with arguments as one of its commands."""
    return " ".join(map(shlex.quote, (sys.executable, script) + args))


def until(condition, what, show=lambda: ""):
    """Poll until `condition` holds and return its value; out of patience, tell what was missing and what was there."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited %d s for %s\n%s" % (PATIENCE, what, show()))
        time.sleep(PAUSE)


def running(pid):
    """Whether the process still runs. One that ended and was not reaped (a container without an init) does not."""
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Client:
    """One client with an empty HOME, a scripted model and, if commands are given, the hook registered.

    Without commands there is no settings file, and the configuration is where a new user's is: in HOME.
    """

    size = 160, 50              # of the terminal, in columns and lines

    def __init__(self, binary, commands=None, turns=(), environ=None, home="home"):
        self.binary = binary
        # Not pytest's own folder: the path of a tmux socket has to be short.
        self.folder = tempfile.mkdtemp(prefix="client-")
        self.home, self.project = self._make(home), self._make("project")
        self.config = self._make("config") if commands else os.path.join(self.home, ".claude")
        self._space = Loopback()
        self.api = Api(self._space.listener, turns)
        self._socket = os.path.join(self.folder, "tmux")
        self._pid = 0
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": self.home, "TMPDIR": self._make("tmp"),
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self._space.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/sh"}
        if commands:
            self.environ["CLAUDE_CONFIG_DIR"] = self.config
            self.register(commands)
        self._settle(self.config if commands else self.home)
        self.environ.update(environ or {})

    def __enter__(self):
        return self

    def __exit__(self, *fault):
        self.close()

    def close(self):
        """End everything this client started and remove its folder."""
        if self._pid:
            self._tmux("kill-server")
            # The client writes on its way out; the folder can go when it has gone.
            until(lambda: not running(self._pid), "the client's end")
        self.api.close()
        self._space.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def register(self, commands):
        """Write settings.json: the tools a script uses are allowed, and the hook is registered."""
        settings = {"permissions": {"allow": ["Bash", "Read"]}, "hooks": hook_entries(commands)}
        with open(os.path.join(self.config, "settings.json"), "w") as out:
            json.dump(settings, out, indent=2)

    def program(self, name, script):
        """Put a shell script on the client's PATH, in front of whatever else has that name."""
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name)
        with open(path, "w") as out:
            out.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)
        if not self.environ["PATH"].startswith(folder):
            self.environ["PATH"] = folder + os.pathsep + self.environ["PATH"]

    def configure(self, **settings):
        """Write the operator's config.json beside the hook's records."""
        os.makedirs(self.store, exist_ok=True)
        with open(os.path.join(self.store, "config.json"), "w") as out:
            json.dump(settings, out)

    def operate(self, *args, program=(sys.executable, HOOK)):
        """One of the hook's commands from the operator's other terminal; what it printed."""
        done = subprocess.run(list(program + args), cwd=self.project, env=self.environ, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, **PIPES)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _make(self, name):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        return path

    def _settle(self, folder):
        """Answer in advance what the client asks a person on first use: theme, folder trust, the key."""
        known = {"hasCompletedOnboarding": True, "theme": "dark",
                 "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
                 "projects": {self.project: {"hasTrustDialogAccepted": True}}}
        with open(os.path.join(folder, ".claude.json"), "w") as out:
            json.dump(known, out)

    # --- print mode

    def run(self, prompt, *args):
        """One prompt in print mode, with the whole stream read."""
        line = self._space.enter + [self.binary, "-p", "--output-format", "stream-json", "--verbose"] + list(args)
        try:
            done = subprocess.run(line, input=prompt, cwd=self.project, env=self.environ, timeout=2 * PATIENCE, **PIPES)
        except subprocess.TimeoutExpired as late:
            raise AssertionError("print mode did not end; the stream so far:\n%s" % late.stdout)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return Run(done.returncode, rows, done.stderr)

    # --- interactive mode

    def open(self, *args):
        """Start the interactive client in a terminal of its own and wait until it takes input."""
        command = "exec " + " ".join(map(shlex.quote, self._space.enter + [self.binary] + list(args)))
        width, height = map(str, self.size)
        made = self._tmux("new-session", "-d", "-x", width, "-y", height, "-c", self.project, "-P", "-F", "#{pane_pid}",
                          command)
        assert made.returncode == 0, made.stderr
        self._pid = int(made.stdout)
        self._tmux("set", "-g", "remain-on-exit", "on")
        self.wait_for(r"(?m)^\s*❯")

    def type(self, text):
        """Type a line, see it in the input box, which is what follows the last prompt sign, and press Enter."""
        self._tmux("send-keys", "-l", text)
        until(lambda: text[-40:] in self.screen().rpartition("❯")[2], "%r in the input box" % text, self.screen)
        self.key("Enter")

    def ask(self, text):
        """Type a prompt and wait for the row that the client writes at its turn's end: a screen may have lost it."""
        ended = self._ended()
        self.type(text)
        until(lambda: self._ended() > ended, "the end of the turn", self.screen)

    def behind(self, prompt):
        """What the screen shows behind the last prompt of these words."""
        return self.screen().rpartition("❯ " + prompt)[2]

    def _ended(self):
        return sum(row.get("subtype") == "turn_duration" for row in self.transcript())

    def key(self, *names):
        """Press keys by tmux's names for them."""
        self._tmux("send-keys", *names)

    def screen(self, *more):
        """All that the terminal shows, with what has scrolled off its top; lines that were wrapped are joined.

        `-e` among `more` keeps the colours.
        """
        return self._tmux("capture-pane", "-p", "-J", "-S", "-2000", *more).stdout

    def wait_for(self, pattern):
        """Poll the screen until the pattern is on it."""
        return until(lambda: re.search(pattern, self.screen()), "/%s/ on the screen" % pattern, self.screen)

    def wait_requests(self, count):
        """Wait until the model has been asked `count` times, and return the last of these requests."""
        until(lambda: len(self.api.main) >= count, "%d requests, saw fewer" % count, self.screen if self._pid else str)
        return self.api.main[count - 1]

    def _tmux(self, *args):
        return subprocess.run(["tmux", "-S", self._socket, "-f", os.devnull] + list(args), env=self.environ, **PIPES)

    # --- files

    def leave(self, name, text=""):
        """Put a file into the project; returns its path."""
        path = os.path.join(self.project, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    @property
    def store(self):
        """Where the hook keeps its records in this client's configuration."""
        return os.path.join(self.config, "session-contract")

    def transcript(self):
        """The rows of this client's transcripts (one session, unless the test made more), oldest first."""
        rows = []
        for path in sorted(glob.glob(os.path.join(self.config, "projects", "*", "*.jsonl")), key=os.path.getmtime):
            with open(path, encoding="utf-8") as lines:
                rows += [json.loads(line) for line in lines if line.endswith("\n")]
        return rows

    @property
    def told(self):
        """What hooks have told the operator in interactive mode, from the transcript: the screen may have lost it."""
        notes = (row.get("attachment") or {} for row in self.transcript())
        return "\n".join(note["content"] for note in notes if note.get("type") == "hook_system_message")
