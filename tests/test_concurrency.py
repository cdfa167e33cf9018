"""Many processes at once: nothing is lost, nothing is torn, nobody waits for ever, and a release is the last word."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import session_contract as sc
from conftest import (ARMING, CONDITION, HONEST, OWING, PATIENCE, QUESTION, ROOT, Run, Session, Transcript,
                      command_line, held, let_go, silent, told)

CODE = f"import sys; sys.path[:0] = [{ROOT!r}, {os.path.dirname(__file__)!r}]; import crowd; crowd.main()"


class Crowd:
    """The crowd, playing on a session's store; what it found is read when it has ended."""

    def __init__(self, session, **job):
        self.path = os.path.join(session.folder, "crowd.json")
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen([sys.executable, "-I", "-S", "-c", CODE], stdin=subprocess.PIPE, stdout=out)
        with self.process.stdin as stdin:
            stdin.write(json.dumps({"store": session.store, **job}).encode())

    @property
    def plays(self):
        return self.process.poll() is None

    def outcome(self):
        assert self.process.wait(4 * PATIENCE) == 0
        with open(self.path, "rb") as file:
            found = json.load(file)
        assert [row for player in found for row in player["odd"]] == []
        return found


def last_lines(path):
    """The records at the end of a log that others are writing to, but for what follows the last line's end."""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 8192))
        return [json.loads(line) for line in file.read().split(b"\n")[1:-1]]


def all_records(session):
    return sc.records_of(sc.Store(session.store), session.name)


def files_of(session):
    return sorted(name for folder in (session.contract_path, session.log_path)
                  for name in os.listdir(os.path.dirname(folder)))


def hooked(session, event, **fields):
    """The real process, started on an event and not waited for."""
    process = subprocess.Popen(command_line(), env=session.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdin.write(session.payload(event, **fields))
    process.stdin.flush()
    return process


def ordered(session, *arguments):
    return subprocess.Popen(command_line(*arguments), env={**session.environ, "CLAUDE_CODE_SESSION_ID": session.name},
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    return Run(process.returncode, out, err)


# --- a crowd --------------------------------------------------------------------------------------

def test_sixteen_processes_lose_and_tear_nothing(armed):
    """Two thousand steps on one store, most of them on one contract; processes that do one thing and end join in."""
    crowd = Crowd(armed, play="crowd", players=16, steps=122, limits={"lock": PATIENCE, "log": 64 << 20})
    adding = [ordered(armed, "item", "add", f"item of process {n}") for n in range(24)]
    ending = [hooked(armed, "Stop", last_assistant_message=OWING) for _ in range(24)]
    looks = 0
    while crowd.plays:
        assert armed.contract["schema"] == sc.SCHEMA and all(r["session"] == "s1" for r in last_lines(armed.log_path))
        looks += 1
        time.sleep(0.002)       # a processor is left to the others
    adding, ending, found = [ended(p) for p in adding], [ended(p) for p in ending], crowd.outcome()
    items = armed.contract["items"]
    added = [text for player in found for text in player["added"]]
    added += [f"item of process {n}" for n, run in enumerate(adding) if run.code == 0]
    assert looks > 10 and all(run.code == 0 or "locked" in run.err for run in adding)
    assert all(run.code in (0, sc.HOLD) for run in ending)
    assert sorted(item["text"] for item in items) == sorted(added) and len(added) > 200
    assert len({item["id"] for item in items}) == len(items) == armed.contract["next_item"] - 1
    assert {item["id"] for item in items if item["state"] == sc.DONE} == {
        name for player in found for name in player["done"]}
    joined = sum(run.code == 0 for run in adding) + sum("not on record" not in run.said for run in ending)
    # A process that joined in has put the log aside, which had grown under the crowd's own bound.
    assert len(all_records(armed)) == 1 + sum(player["logged"]["s1"] for player in found) + joined
    assert len(all_records(Session(armed.folder, "s2"))) == sum(player["logged"]["s2"] for player in found) > 10
    assert {"s1.json", "s1.jsonl", "s2.json", "s2.jsonl"} <= set(files_of(armed)) <= {
        "s1.json", "s1.jsonl", "s2.json", "s2.jsonl", ".s1.old.jsonl", ".s2.old.jsonl"}


def test_a_log_that_is_put_aside_under_a_crowd_stays_whole_and_bounded(armed):
    crowd = Crowd(armed, play="crowd", players=8, steps=40, limits={"lock": PATIENCE, "log": 5_000})
    while crowd.plays:
        try:
            assert all(r["session"] == "s1" for r in last_lines(armed.log_path))
        except FileNotFoundError:
            pass                # between the old log and the new
    crowd.outcome()
    old = os.path.join(os.path.dirname(armed.log_path), ".s1.old.jsonl")
    with open(old, "rb") as file:
        assert all(json.loads(line)["session"] == "s1" for line in file)
    assert armed.records and max(map(os.path.getsize, (old, armed.log_path))) < 5_000 + 4_000


# --- a release ------------------------------------------------------------------------------------

def test_after_a_release_every_turn_ends_freely_however_many_end_at_once(armed):
    """Whatever Stops are in flight: once "stop" has been answered the contract is released, and stays so."""
    found = Crowd(armed, play="race", players=5, rounds=30, limits={"lock": PATIENCE}).outcome()
    assert sum(player["stops"] for player in found) > 30 and armed.contract["state"] == sc.DISARMED
    silent(armed.stop())


# --- a lock that is not given up ------------------------------------------------------------------

@pytest.fixture
def stuck(armed):
    """Another process has the store's lock, and has been stopped."""
    read, write = os.pipe()
    child = os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", (
        "import fcntl, os, signal\n"
        f"fd = os.open({os.path.dirname(armed.contract_path)!r}, os.O_RDONLY)\n"
        f"fcntl.flock(fd, fcntl.LOCK_EX)\nos.write({write}, b'x')\nos.kill(os.getpid(), signal.SIGSTOP)")], {},
        file_actions=[(os.POSIX_SPAWN_DUP2, write, write)])
    os.close(write)
    assert os.read(read, 1) == b"x"
    os.close(read)
    yield child
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_no_event_waits_for_ever_or_in_silence_for_a_lock(armed, stuck):
    other, before = Session(armed.folder, "s2"), armed.contract
    prompts = (("stop", "NOT RELEASED"), ("wait", "NOT PAUSED"), ("use tabs", "NOT SAVED"), (QUESTION, "NOT SAVED"),
               ("contract: stop", "NOT SAVED"), ("contract: status", "NOT SAVED"),
               ("don't stop until the docs are written", "NOT ARMED"))
    heard = [(hooked(armed, "UserPromptSubmit", prompt=text), words) for text, words in prompts]
    heard.append((hooked(other, "UserPromptSubmit", prompt=ARMING), "NOT ARMED"))
    owing, honest = (hooked(armed, "Stop", last_assistant_message=text) for text in (OWING, HONEST))
    orders = [ordered(armed, *words) for words in (
        ("item", "add", "x"), ("disarm",), ("pause",), ("arm", "until", "y"), ("met", "--evidence", "note:seen it"),
        ("away",), ("decide", "--fork", "f", "--rule", "4", "--path", "p", "--reason", "r"))]
    begins, looks = hooked(armed, "SessionStart", source="resume"), ordered(armed, "status")
    free = hooked(other, "Stop")
    for process, words in heard:
        told(let_go(ended(process)), words, "locked by another process")
    told(held(ended(owing)), "locked by another process", "not on record")
    told(let_go(ended(honest)), "locked by another process", "not on record")
    for order in orders:
        run = ended(order)
        assert run.code == 1 and "locked by another process" in run.err and run.err.count("\n") == 1
    assert CONDITION in ended(begins).context and ended(looks).code == 0
    silent(ended(free))
    assert armed.contract == before and not os.path.exists(other.contract_path)


def test_a_lock_whose_process_is_gone_stops_nobody(armed, stuck):
    os.kill(stuck, signal.SIGKILL)
    assert "locked" not in held(armed.stop()).said
    told(armed.prompt("stop"), "released")


# --- one session in two terminals -----------------------------------------------------------------

@pytest.fixture(params=[0, 20_000], ids=["transcripts alike", "a longer and a shorter transcript"])
def terminals(armed, request):
    """The same session twice, each with a transcript of its own."""
    other = Session(armed.folder)
    other.path += ".other"
    for terminal in (armed, other):
        terminal.transcript = Transcript().human(ARMING).says("On it.")
    if request.param:
        armed.transcript.filler(request.param)
    return armed, other


def test_a_release_in_one_terminal_releases_the_other(terminals):
    one, other = terminals
    held(one.stop())
    told(other.prompt("stop"), "released")
    silent(one.stop())
    silent(other.stop())


def test_work_in_either_terminal_counts_once_it_ends_there(terminals):
    one, other = terminals
    for turn in range(5):
        for number, terminal in enumerate((one, other)):
            terminal.transcript.call(command=f"make part-{turn}-{number}")
            held(terminal.stop())
    assert one.contract["streak"] == 1


def test_stalls_in_two_terminals_are_one_stall(terminals):
    one, other = terminals
    for terminal in (one, other, one):
        terminal.transcript.held(held(terminal.stop()).err)
    for terminal in (other, one, other):
        told(let_go(terminal.stop()), "degraded")


def test_a_prompt_in_one_terminal_engages_the_other_again(terminals):
    one, other = terminals
    for _ in range(3):
        held(one.stop())
    told(let_go(other.stop()), "degraded")
    one.prompt("use tabs")
    held(other.stop())
