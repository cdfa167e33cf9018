"""The operator's `notify`: run once for each occasion, apart from the hook, and without a say in any decision."""
import json
import os
import subprocess
import sys
import time

import pytest

import session_contract as sc
from conftest import (
    ARMING, CONDITION, FILE, HONEST, OWING, PATIENCE, ROOT, RUNNING, WAITING, Session, held, let_go, rows, told)

# Played inside the test's process, the hook leaves its notices to run on, as it does by leaving.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# What it was told, and the contract as it stands then; moved into place so that it is seen whole or not at all.
RECORD = ("env | grep '^SESSION_CONTRACT' > .facts; cp \"$SESSION_CONTRACT_DIR/contracts/s1.json\" .contract; "
          "mv .contract contract; mv .facts facts")
WAKE = {"id": "w1", "schedule": "* * * * *", "recurring": True, "prompt": "look"}


def until(condition, what):
    """Poll until CONDITION gives a value, and return it; out of patience, fail."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE} s for {what}")


def content(session, name):
    """The content of a file that a notice leaves in the session's folder, once it is there."""
    path = os.path.join(session.folder, name)
    until(lambda: os.path.exists(path), name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def facts(session):
    lines = content(session, "facts").splitlines()
    return dict(line.removeprefix("SESSION_CONTRACT_").split("=", 1) for line in lines)


def gone(pid):
    """Whether a process has ended; one that nobody has collected has, too."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except FileNotFoundError:           # gone meanwhile, or a system without /proc
        return os.path.isdir("/proc/self")


def degraded(session):
    for _ in range(sc.SETTINGS["stalls"]):
        held(session.stop())
    return let_go(session.stop())


def met(session):
    session.command("met", "--evidence", "note:seen")
    return let_go(session.stop(HONEST))


def spent(session):
    session.change(spent_at=1)
    return let_go(session.stop())


def waits(session, *tasks, **more):
    return let_go(session.stop(WAITING, background_tasks=list(tasks or [RUNNING]), **more))


def stopped(session):
    session.command("away")
    session.command("arm", CONDITION, "--while-away")
    return held(session.stop(environ={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}))


OCCASIONS = rows(("degraded", "degraded", degraded), ("met", "met", met), ("spent", "spent", spent),
                 ("waiting", "waiting", waits), ("stopped with work owed", "stopped", stopped))


@pytest.fixture
def notified(session):
    """An armed session with a notice that records what it was told."""
    session.configure(value={"notify": RECORD})
    return session.armed()


# --- what it is told ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("event, comes_about", OCCASIONS)
def test_each_occasion_runs_it_with_the_facts(notified, event, comes_about):
    run = comes_about(notified)
    said = facts(notified)
    assert said == {"DIR": notified.store, "EVENT": event, "SESSION": "s1", "CONDITION": CONDITION, "OPEN": "0",
                    "TEXT": run.said}


@pytest.mark.parametrize("event, comes_about", OCCASIONS)
def test_the_decision_is_on_record_before_it_starts(notified, event, comes_about):
    comes_about(notified)
    contract = json.loads(content(notified, "contract"))
    assert {"degraded": contract["degraded"], "waiting": bool(contract["waiting"]),
            "stopped": contract["standing"] == "stopped"}.get(event, contract["state"] == event)


def test_the_open_items_are_counted(notified):
    notified.command("item", "add", "port the XML exporter")
    degraded(notified)
    assert facts(notified)["OPEN"] == "1"


def test_no_text_is_ever_part_of_the_command(session):
    session.configure(value={"notify": RECORD + "; echo $SESSION_CONTRACT_CONDITION > echoed"})
    condition = "$(touch pwned) `touch pwned`; touch pwned; 'it\" is \u2713 green"
    session.command("arm", condition)
    degraded(session)
    content(session, "echoed")
    assert facts(session)["CONDITION"] == condition and "pwned" not in os.listdir(session.folder)


def test_it_runs_in_the_sessions_directory_or_where_that_is_gone_all_the_same(session):
    out = os.path.join(session.folder, "out")
    session.configure(value={"notify": f"echo ran > {out}/.x; mv {out}/.x {out}/x"})
    os.mkdir(out)
    session.armed(cwd="/nowhere/at/all")
    waits(session, cwd="/nowhere/at/all")
    assert content(session, "out/x") == "ran\n"


# --- how often ----------------------------------------------------------------------------------------------------

class Watched:
    """A session played in this process, where what would be started is written down instead."""

    def __init__(self, session, monkeypatch, **environ):
        self.session, self.environ, self.events, self.now = session, {**session.environ, **environ}, [], 1_800_000_000
        monkeypatch.setattr(sc, "start_notice", lambda *_, **facts: self.events.append(facts["event"]) or "")
        session.configure(value={"notify": "true"})

    def send(self, event, **fields):
        self.now += 60
        if self.session.transcript.lines:
            with open(self.session.path, "wb") as file:
                file.write(self.session.transcript.data)
        return sc.run_hook(json.loads(self.session.payload(event, **fields)), "", self.environ, self.now)

    def prompt(self, text):
        return self.send("UserPromptSubmit", prompt=text)

    def stop(self, message=OWING, *tasks, **fields):
        return self.send("Stop", last_assistant_message=message, background_tasks=list(tasks), **fields)


@pytest.fixture
def watched(session, monkeypatch):
    it = Watched(session, monkeypatch)
    it.prompt(ARMING)
    return it


def test_holds_a_clean_end_and_a_release_are_no_occasions(watched):
    watched.stop()
    watched.stop(HONEST)
    watched.prompt("wait")
    watched.stop()
    watched.prompt("stop")
    watched.stop()
    assert watched.events == []


def test_degraded_is_told_once_until_the_gate_has_engaged_again(watched):
    for _ in range(6):
        watched.stop()
    assert watched.events == ["degraded"]
    watched.prompt("Go on")
    for _ in range(5):
        watched.stop()
    assert watched.events == ["degraded"] * 2


def test_a_wait_that_goes_on_is_told_once_and_another_task_anew(watched):
    other = {**RUNNING, "id": "b2"}
    watched.stop(WAITING, RUNNING)
    watched.session.transcript.call("Read", file_path="a")
    watched.stop(WAITING, RUNNING)
    assert watched.events == ["waiting"]
    watched.session.transcript.call("Read", file_path="b")
    watched.stop(WAITING, other)
    assert watched.events == ["waiting"] * 2


def test_a_scheduled_look_is_told_once_however_often_it_comes(watched):
    for name in "abc":
        watched.session.transcript.call("Read", file_path=name)
        watched.stop(WAITING, session_crons=[WAKE])
    assert watched.events == ["waiting"]
    watched.stop()
    watched.session.transcript.call("Read", file_path="d")
    watched.stop(WAITING, session_crons=[WAKE])
    assert watched.events == ["waiting"] * 2


@pytest.mark.parametrize("event, contract, verdict", rows(
    ("a hold", "", {}, {"cls": "BLOCK"}), ("the last hold of an absence", "stopped", {}, {"cls": "BLOCK", "last": True}),
    ("a stall again, after work", "degraded", {"degraded": True}, {"cls": "ALLOW-DEGRADED", "progress": True}),
    ("an ended contract", "", {"state": "disarmed"}, {"cls": "ALLOW-CLEAN"}),
    ("a fault", "", {}, {"cls": "ALLOW-FAULT"}), ("a malformed contract", "", {}, {"cls": "BLOCK-MALFORMED"})))
def test_an_occasion_is_told_by_the_verdict_and_the_contract_before(event, contract, verdict):
    assert sc.notice_of({**sc.CONTRACT, **contract}, sc.Verdict(**verdict)) == event


def test_every_class_that_lets_go_for_good_or_against_the_rules_is_an_occasion():
    assert set(sc.NOTICES) >= {*sc.ENDS, "ALLOW-DEGRADED"} and set(sc.NOTICES) <= set(sc.CLASSES)


def test_observing_sends_nothing(session, monkeypatch):
    it = Watched(session, monkeypatch, SESSION_CONTRACT="observe")
    it.prompt(ARMING)
    it.session.change(spent_at=1)
    it.stop()
    assert it.session.contract["state"] == "spent" and it.events == []


def test_a_decision_that_could_not_be_recorded_sends_nothing(watched, monkeypatch):
    def full(*_, **__):
        raise sc.StoreError("disk full")
    monkeypatch.setattr(sc.Store, "save", full)
    watched.session.change(spent_at=1)
    assert "not on record" in watched.stop().out and watched.events == []


# --- what it cannot do --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("command", rows(
    ("it fails", "exit 7"), ("it is not there", "no-such-program --at all"), ("it is no shell", "((("),
    ("it exits 2", "exit 2"), ("it hangs", "sleep 600"), ("it talks", "yes"), ("it kills its group", "kill -9 0"),
    ("it reads", "cat"), ("no notice at all", "")))
@pytest.mark.parametrize("event, comes_about", OCCASIONS)
def test_whatever_it_does_the_answer_is_the_same(tmp_path, event, comes_about, command):
    answers = []
    for name, value in (("with", {"notify": command, "notify_seconds": 1}), ("without", {})):
        session = Session(tmp_path, SESSION_CONTRACT_DIR=str(tmp_path / name))
        session.store = str(tmp_path / name)
        session.configure(value=value)
        run = comes_about(session.armed())
        answers.append((run.code, run.out, run.err.replace(str(tmp_path / name), "")))
    assert answers[0] == answers[1]


def test_it_has_no_input_and_none_of_the_hooks_streams_and_a_session_of_its_own(session):
    session.configure(value={"notify": "cat > .input; echo $$ > .pid; mv .input input; mv .pid pid; exec sleep 600",
                             "notify_seconds": 600})
    session.armed()
    spent(session)                      # returns, though the command runs on: it holds no pipe of the hook
    pid = int(content(session, "pid"))
    try:
        assert content(session, "input") == "" and os.getsid(pid) not in (os.getsid(0), pid)
        assert not gone(pid)
    finally:
        os.killpg(os.getpgid(pid), 9)


def test_at_its_time_limit_it_ends_with_all_that_it_started(session):
    deaf = "trap '' TERM HUP INT; sleep 600 & echo $! > .child; mv .child child; echo $$ > .pid; mv .pid pid; wait"
    session.configure(value={"notify": deaf, "notify_seconds": 1})
    session.armed()
    spent(session)
    for name in ("child", "pid"):
        pid = int(content(session, name))
        until(lambda: gone(pid), f"the end of {name}")


def test_one_that_cannot_be_started_is_a_note_and_no_more(notified):
    notified.change(spent_at=1)
    run = told(let_go(notified.stop(environ={"PATH": "/nowhere"})), "time budget is spent", "notify could not be started")
    assert notified.contract["state"] == "spent" and run.code == 0


def test_one_with_a_text_that_no_process_can_take_is_a_note_and_no_more(session):
    session.configure(value={"notify": "true \u0000"})
    told(spent(session.armed()), "time budget is spent", "notify could not be started")


@pytest.mark.parametrize("value, why", rows(
    ("a list", {"notify": ["say", "x"]}, "notify must be a text"),
    ("no seconds", {"notify_seconds": 0}, "notify_seconds must be a whole number"),
    ("seconds as a text", {"notify_seconds": "9"}, "notify_seconds must be a whole number")))
def test_what_is_not_understood_is_told(session, value, why):
    session.configure(value=value)
    told(session.prompt(ARMING), "armed", why)


@pytest.mark.parametrize("message, loaded", [(OWING, False), (HONEST, False), (WAITING, True)])
def test_nothing_is_loaded_for_it_until_one_is_sent(notified, message, loaded):
    payload = json.loads(notified.payload("Stop", last_assistant_message=message, background_tasks=[RUNNING]))
    program = (f"import sys; sys.path.append({os.path.dirname(FILE)!r}); import session_contract as s; "
               f"s.run_hook({payload!r}, '', s.environment(), 1800000000); print('subprocess' in sys.modules)")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], env=notified.environ, check=True,
                          capture_output=True, timeout=PATIENCE)
    assert done.stdout.decode().strip() == str(loaded)


# --- the examples -------------------------------------------------------------------------------------------------

with open(os.path.join(ROOT, "examples", "notify.json"), encoding="utf-8") as _file:
    EXAMPLES = json.load(_file)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_config(name):
    assert sc.read_config(json.dumps(EXAMPLES[name]).encode(), "x")["notify"]


@pytest.mark.parametrize("name, program, comes_about", rows(
    ("a desktop notice on Linux", "a desktop notice on Linux", "notify-send", waits),
    ("a desktop notice on macOS", "a desktop notice on macOS", "osascript", waits),
    ("a webhook", "a webhook, for what needs somebody", "curl", degraded)))
def test_an_example_hands_the_text_over_as_one_argument(session, name, program, comes_about):
    folder = os.path.join(session.folder, "bin")
    os.mkdir(folder)
    path = os.path.join(folder, program)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > .given; mv .given given\n")
    os.chmod(path, 0o755)
    session.environ["PATH"] = folder + os.pathsep + session.environ["PATH"]
    session.configure(value=EXAMPLES[name])
    text = comes_about(session.armed()).said
    assert any(line.endswith(text) for line in content(session, "given").splitlines())


def test_the_webhook_of_the_examples_leaves_a_wait_alone(session):
    command = EXAMPLES["a webhook, for what needs somebody"]["notify"]
    done = subprocess.run(["sh", "-c", command], env={"PATH": "/nowhere", "SESSION_CONTRACT_EVENT": "waiting"},
                          executable="/bin/sh", check=False, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"")
