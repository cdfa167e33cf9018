"""Every system call of a run fails in turn, does half of its work, or is the last one that the process makes."""
import json
import os
import subprocess
import sys
import time

import pytest

import session_contract as sc
from conftest import ARMING, HONEST, OWING, PATIENCE, ROOT, Session, rows

MONTH = sc.LIMITS["sweep"] + 86_400


def plain(session):
    """A session that was never armed."""


def released(session):
    session.armed().prompt("stop")


def owing(session):
    session.armed().command("item", "add", "port csv")


def broken(session):
    session.armed().stop()
    session.break_contract()


def absent(session):
    session.armed().command("arm", "the", "docs", "are", "written", "--while-away")
    assert session.command("away").code == 0


def vanished(session):
    session.armed()
    os.unlink(session.contract_path)


def full_log(session):
    session.armed().stop()
    with open(session.log_path, "ab") as log:
        line = log.write(b"%s\n" % json.dumps(session.records[-1]).encode())
        log.write(b"%s\n" % json.dumps(session.records[-1]).encode() * (sc.LIMITS["log"] // line + 1))


def worked(session):
    """Held once, and work since."""
    session.armed().stop()
    session.transcript.human(ARMING).says(OWING).held(sc.HELD).call(command="make").says(OWING)


def typed_meanwhile(session):
    session.armed()
    session.transcript.human(ARMING).call(command="make")
    later = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 60))
    session.transcript.lines.append(json.dumps({"type": "queue-operation", "operation": "enqueue", "content": "stop",
                                                "timestamp": later}).encode() + b"\n")


def armed(session):
    session.armed()


def stop(message):
    return "Stop", {"last_assistant_message": message}


def types(text):
    return "UserPromptSubmit", {"prompt": text}


# A sentence; what has gone before; the event, or the arguments of a command; seconds gone since.
SCENARIOS = rows(
    ("the operator arms", plain, types(ARMING), 0),
    ("the operator arms while an old session is swept", released, types(ARMING), MONTH),
    ("the operator amends", armed, types("don't stop until the docs are written"), 0),
    ("the operator stops it", armed, types("stop"), 0),
    ("the operator stops it by command", armed, types("contract: stop"), 0),
    ("the operator pauses", armed, types("wait"), 0),
    ("the operator asks for the status", armed, types("contract: status"), 0),
    ("the operator types something else", armed, types("use tabs"), 0),
    ("the operator comes back", absent, types("use tabs"), 0),
    ("the operator stops a broken contract", broken, types("stop"), 0),
    ("the operator types something else with a broken contract", broken, types("use tabs"), 0),
    ("nothing is armed and something is typed", plain, types("use tabs"), 0),
    ("nothing is armed and a turn ends", released, stop(OWING), 0),
    ("a turn is held", armed, stop(OWING), 0),
    ("a turn is held after work", worked, stop(OWING), 0),
    ("a turn is held for an item", owing, stop(HONEST), 0),
    ("a turn is held and the log is full", full_log, stop(OWING), 0),
    ("a turn is held while the operator is away", absent, stop(HONEST), 0),
    ("a turn is let go", armed, stop(HONEST), 0),
    ("a turn is let go by a word typed meanwhile", typed_meanwhile, stop(OWING), 0),
    ("a turn ends with a broken contract", broken, stop(OWING), 0),
    ("a turn ends and the contract has vanished", vanished, stop(OWING), 0),
    ("a session is resumed", armed, ("SessionStart", {"source": "resume"}), 0),
    ("a session begins after a clear", armed, ("SessionStart", {"source": "clear", "session_id": "s2"}), 0),
    ("an item is added", armed, ["item", "add", "port csv"], 0),
    ("an item is done", owing, ["item", "done", "i1", "--evidence", "note:ported and seen"], 0),
    ("a fork is recorded", armed, ["decide", "--fork", "f", "--rule", "4", "--path", "p", "--reason", "r"], 0),
    ("a command disarms", armed, ["disarm"], 0),
    ("a command arms", plain, ["arm", "until", "the", "docs", "are", "written"], 0),
    ("a command carries a contract over", armed, ["arm", "--from", "s1", "--session", "s2"], 0),
    ("a command says that the operator is away", armed, ["away"], 0),
    ("a command marks a hold as wrong", worked, ["mark-wrong"], 0))


def tried(tmp_path, before, what, later):
    """What came of each trouble in a scenario."""
    session = Session(tmp_path)
    before(session)
    hook = isinstance(what, tuple)
    with open(session.path, "wb") as file:
        file.write(session.transcript.data)
    job = {"store": session.store, "now": int(time.time()) + 5 + later,
           "event": {"stdin": session.payload(what[0], **what[1]).decode()} if hook else {"arguments": what},
           "next": {"stdin": session.payload("Stop", last_assistant_message=OWING).decode()}}
    code = f"import sys; sys.path[:0] = [{ROOT!r}, {os.path.dirname(__file__)!r}]; import faulty; faulty.main()"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], input=json.dumps(job).encode(), check=True,
                          stdout=subprocess.PIPE, timeout=4 * PATIENCE,
                          env={**session.environ, "CLAUDE_CODE_SESSION_ID": "s1"})
    found = json.loads(done.stdout)
    for run in found["runs"]:
        run["command"] = not hook
    return found


# --- what must hold, whatever fails ---------------------------------------------------------------
# Each law is given the run, the run that nothing disturbed, and the store before both; it says what is wrong.

def contracts(files):
    return {name: text for name, text in files.items() if name.startswith("contracts/") and name.endswith(".json")}


def lines(files, name="s1"):
    return [line for part in (f"logs/.{name}.old.jsonl", f"logs/{name}.jsonl")
            for line in files.get(part, "").splitlines()]


def is_json(text):
    try:
        return bool(json.loads(text))
    except ValueError:
        return False


def on_our_streams(run):
    """It struck standard input, output or error: what is to be told may not arrive."""
    return run["call"].split()[-1] in ("stdin", "stdout", "stderr")


def without_transcript(run):
    """It struck the transcript: the decision may be another, but it is told why."""
    return ".transcript.jsonl" in run["call"] + run["out"]


def it_answers_in_the_table(run, undisturbed, _):
    code, out, err = run["code"], run["out"], run["err"]
    if run["killed"]:
        return code == -9
    if run["command"]:
        return code in (0, 1) and (all(line.startswith(sc.NAME) for line in err.splitlines())
                                  and (err or not code or on_our_streams(run)))
    if on_our_streams(run):
        return code in (0, undisturbed["code"])
    said = json.loads(out or "{}")
    if code == sc.HOLD:
        return ((undisturbed["code"] == sc.HOLD or without_transcript(run)) and err.startswith(sc.HELD)
                and list(said) == ["systemMessage"] and said["systemMessage"])
    return code == 0 and not err and isinstance(said, dict)


def its_contract_is_whole(run, undisturbed, before):
    """As it was before, or as it is after the run that nothing disturbed."""
    found, old, new = contracts(run["files"]), contracts(before["files"]), contracts(undisturbed["files"])
    if without_transcript(run) and found != old:
        return sc.load_contract(found["contracts/s1.json"].encode(), "s1").kind == "ok"
    return all(found.get(name) in (old.get(name), new.get(name)) for name in {*found, *old, *new})


def it_does_what_it_says(run, undisturbed, before):
    """A command that fails has changed nothing; one that does not, everything. So has a prompt."""
    old, new = contracts(before["files"]), contracts(undisturbed["files"])
    found = contracts(run["files"])
    if run["killed"] or on_our_streams(run):
        return True
    if run["command"]:
        return found == (old if run["code"] else new) or "could not be released" in run["err"]
    return found == old if "as it was before" in run["out"] else True


def what_differs_is_told(run, undisturbed, _):
    if run["killed"] or on_our_streams(run):
        return True
    if run["command"]:
        return run["err"] or (run["code"], run["files"]) == (undisturbed["code"], undisturbed["files"])
    said, usual = (json.loads(which["out"] or "{}") for which in (run, undisturbed))
    words = [which.get("systemMessage") or which.get("reason") or which.get("stopReason") for which in (said, usual)]
    if (run["code"], run["files"]) == (undisturbed["code"], undisturbed["files"]):
        return words[0] == words[1] or words[0]
    return words[0] and words[0] != words[1]


def no_line_of_the_log_is_lost_or_torn(run, _, before):
    """A process that dies while it writes leaves half a line; the next line stands on its own."""
    old, found, after = (lines(which["files"]) for which in (before, run, run["next"]))
    torn = [place for place, line in enumerate(found) if not is_json(line)]
    interrupted = run["call"].startswith("write") and torn == [len(found) - 1]
    return (found[:len(old)] == old and (not torn or interrupted)
            and after[:len(found)] == found and all(map(is_json, after[len(found):])))


def the_next_event_is_undisturbed(run, undisturbed, before):
    """It does what it does on such a contract."""
    def state(files):
        return {**contracts(files), "presence": files.get("presence.json")}

    def outcome(which):
        return which["next"]["code"], state(which["next"]["files"])

    usual = [outcome(which) for which in (before, undisturbed) if state(which["files"]) == state(run["files"])]
    return outcome(run) in usual if usual else run["next"]["code"] in (0, sc.HOLD)


def nothing_is_left_lying_about(run, undisturbed, before):
    """After the next sweep there is nothing that undisturbed runs do not leave."""
    known = {*undisturbed["swept"], *before["files"], "contracts/", "logs/", "contracts/s1.json", "logs/s1.jsonl"}
    return set(run["swept"]) <= known


LAWS = (it_answers_in_the_table, its_contract_is_whole, it_does_what_it_says, what_differs_is_told,
        no_line_of_the_log_is_lost_or_torn, the_next_event_is_undisturbed, nothing_is_left_lying_about)


@pytest.mark.parametrize("before, what, later", SCENARIOS)
def test_whatever_fails(tmp_path, before, what, later):
    found = tried(tmp_path, before, what, later)
    assert len(found["runs"]) > 10
    wrong = [f"{law.__name__}: {run['trouble']} {run['call']}: exit {run['code']} {run['out']} {run['err']}"
             for run in found["runs"] for law in LAWS if not law(run, found["plain"], found["before"])]
    assert not wrong, "\n".join(wrong)
