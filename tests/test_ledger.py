"""What is owed and every honest way out: evidence, the client's to-do list, checks, claims, waits, and the counting."""
import fcntl
import json
import os
import signal
import subprocess

import pytest

import session_contract as sc
from conftest import ARMING, HONEST, OWING, QUESTION, RUNNING, Transcript, held, let_go, rows, told


def task(session, name, given, outcome, error=False):
    """A call of the client's to-do tools with the outcome that the client writes beside its result."""
    transcript = session.transcript
    transcript.count += 1
    call = f"todo_{transcript.count}"
    transcript.row("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])
    transcript.row("user", [{"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": error}], toolUseResult=outcome)


def created(session, number, text):
    task(session, "TaskCreate", {"subject": text, "description": "d"}, {"task": {"id": number, "subject": text}})


def updated(session, number, status):
    task(session, "TaskUpdate", {"taskId": number, "status": status}, {"success": True, "taskId": number})


def todo_list(session, *entries):
    """A whole list written anew: (text, status)."""
    task(session, "TodoWrite", {"todos": [{"content": text, "status": status} for text, status in entries]}, {"newTodos": []})


def ran(session, command, when="2099-01-01T00:00:00.000Z", **more):
    session.transcript.call(command=command, row_timestamp=when, **more)


# --- evidence: one simple command that really ran -----------------------------------------------------------------

@pytest.mark.parametrize("command, shown, why", rows(
    ("the command itself ran", "pytest -q", [("pytest -q", {})], ""),
    ("a change of directory may lead", "pytest -q", [("cd app && pytest -q", {})], ""),
    ("white space does not matter", "pytest  -q ", [("pytest -q", {})], ""),
    ("it never ran", "pytest -q", [("ls -la", {})], "no successful run"),
    ("it failed", "pytest -q", [("pytest -q", {"error": True})], "no successful run"),
    ("it was interrupted", "pytest -q", [("pytest -q", {"interrupted": True})], "no successful run"),
    ("it ran behind a pipe", "pytest -q", [("pytest -q | tail -3", {})], "no successful run"),
    ("it was only echoed", "pytest -q", [("echo pytest -q", {})], "no successful run"),
    ("it ran before the item was opened", "pytest -q", [("pytest -q", {"when": "2001-01-01T00:00:00.000Z"})], "only before"),
    ("it ran in the background", "make all", [("make all", {"run_in_background": True})], "in the background"),
    ("a subagent ran it", "pytest -q", [("pytest -q", {"row_isSidechain": True})], "no successful run"),
    ("a pipe is named", "pytest -q | tail", [("pytest -q | tail", {})], "no simple command"),
    ("a list of commands is named", "make; true", [("make; true", {})], "no simple command"),
    ("a redirection is named", "make > log", [("make > log", {})], "no simple command"),
    ("an echo is named", "echo done", [("echo done", {})], "proves nothing"),
    ("a look at a file is named", "cat report.txt", [("cat report.txt", {})], "proves nothing"),
    ("a dry run is named", "make deploy --dry-run", [("make deploy --dry-run", {})], "proves nothing"),
    ("our own command is named", "session_contract.py item list", [("session_contract.py item list", {})], "proves nothing"),
))
def test_a_command_is_evidence_only_if(armed, command, shown, why):
    armed.command("item", "add", "port csv")
    for line, more in shown:
        ran(armed, line, **more)
    armed.stop()
    run = armed.command("item", "done", "i1", "--evidence", f"command:{command}")
    assert (run.code, why in run.err) == ((1, True) if why else (0, True)), run
    assert armed.contract["items"][0]["state"] == ("open" if why else "done")


def test_without_a_transcript_no_command_is_evidence(armed):
    armed.command("item", "add", "port csv")
    run = armed.command("item", "done", "i1", "--evidence", "command:pytest -q")
    assert run.code == 1 and "no transcript" in run.err


def test_a_file_is_evidence_with_its_digest(armed, tmp_path):
    armed.command("item", "add", "write the report")
    report = tmp_path / "report.txt"
    report.write_text("fine")
    assert armed.command("item", "done", "i1", "--evidence", f"file:{report}").code == 0
    entry = armed.contract["items"][0]["evidence"][0]
    assert entry["verified"] and len(entry["digest"]) == 16


@pytest.mark.parametrize("evidence, why", rows(
    ("a file that is not there", "file:/nowhere/at/all", "does not exist"),
    ("no kind", "it works", "is not KIND:VALUE"),
    ("an unknown kind", "proof:yes", "is not KIND:VALUE"),
    ("an empty value", "note: ", "is not KIND:VALUE"),
    ("a note that says nothing", "note:done", "says nothing"),
))
def test_no_evidence_no_discharge(armed, evidence, why):
    armed.command("item", "add", "port csv")
    run = armed.command("item", "done", "i1", "--evidence", evidence)
    assert run.code == 1 and why in run.err and run.err.count("\n") == 1
    assert armed.contract["items"][0]["state"] == "open"


def test_a_config_switch_wants_verified_evidence(armed):
    armed.configure(value={"evidence": "verified"})
    armed.command("item", "add", "port csv")
    assert "wants verified evidence" in armed.command("item", "done", "i1", "--evidence", "note:looked at it").err


def test_verified_and_self_attested_are_shown_apart(armed, tmp_path):
    for text in ("a", "b"):
        armed.command("item", "add", text)
    armed.command("item", "done", "i1", "--evidence", f"file:{armed.contract_path}")
    armed.command("item", "done", "i2", "--evidence", "note:looked at it")
    listed = armed.command("item", "list").out.decode()
    assert "(verified)" in listed and "(self-attested)" in listed
    told(armed.stop(HONEST), "1 done (verified), 1 done (self-attested)")


# --- the client's own to-do list ----------------------------------------------------------------------------------

def test_an_open_task_of_the_client_is_owed_and_named(armed):
    created(armed, "1", "port the csv reader")
    assert "port the csv reader" in held(armed.stop(HONEST)).err


def test_a_completed_task_is_not_owed(armed):
    created(armed, "1", "port the csv reader")
    held(armed.stop(HONEST))
    updated(armed, "1", "completed")
    let_go(armed.stop(HONEST))


def test_a_task_that_a_hold_has_named_survives_its_deletion(armed):
    created(armed, "1", "port the csv reader")
    held(armed.stop(HONEST))
    updated(armed, "1", "deleted")
    held(armed.stop(HONEST))


def test_a_task_deleted_before_any_hold_is_not_owed(armed):
    created(armed, "1", "port the csv reader")
    updated(armed, "1", "deleted")
    let_go(armed.stop(HONEST))


def test_a_list_rewritten_without_a_named_entry_keeps_it(armed):
    todo_list(armed, ("port csv", "in_progress"), ("port xml", "completed"))
    held(armed.stop(HONEST))
    todo_list(armed, ("port xml", "completed"))
    held(armed.stop(HONEST))
    todo_list(armed, ("port csv", "completed"))
    let_go(armed.stop(HONEST))


def test_a_failed_call_of_a_todo_tool_adds_nothing(armed):
    task(armed, "TodoWrite", {"todos": [{"content": "port csv", "status": "pending"}]}, "Error: disabled", error=True)
    let_go(armed.stop(HONEST))


def test_the_operator_can_turn_the_todo_list_off(armed):
    armed.configure(value={"todo": False})
    created(armed, "1", "port the csv reader")
    let_go(armed.stop(HONEST))


def test_ticking_the_list_off_is_no_work(armed):
    for number in "123":
        created(armed, number, f"part {number}")
    for number in "123":
        held(armed.stop(HONEST))
        updated(armed, number, "in_progress")
    told(let_go(armed.stop(HONEST)), "degraded")


def test_the_tasks_from_before_the_arming_count(session):
    created(session, "1", "port the csv reader")
    session.armed()
    held(session.stop(HONEST))


# --- the operator's check -----------------------------------------------------------------------------------------

def checked(session, command):
    assert session.command("arm", "the check passes", "--check", command).code == 0
    return session


def test_a_check_that_fails_holds_with_its_last_lines_and_one_that_passes_ends_the_contract(session):
    flag = os.path.join(session.folder, "flag")
    checked(session, f"echo no flag yet; test -e {flag}")
    assert "exits 1: no flag yet" in held(session.stop(HONEST)).err
    held(session.stop(HONEST))
    open(flag, "w").close()
    told(let_go(session.stop(HONEST)), "done", "exits 0")
    assert session.contract["state"] == "met"


@pytest.mark.parametrize("command, shown", rows(
    ("standard input is closed", "read line || echo nothing to read; false", "nothing to read"),
    ("it runs in the session's directory", "pwd; false", None),
    ("a command that is not there", "no-such-command-at-all", "exits 127"),
    ("secrets of the environment are struck out", "echo $DEPLOY_TOKEN; false", "***"),
    ("long output is cut to its end", "seq 1 100000; false", "100000"),
))
def test_a_check(session, command, shown):
    session.environ["DEPLOY_TOKEN"] = "correct-horse-battery"
    run = held(checked(session, command).stop(HONEST))
    assert (shown or session.folder) in run.err and "correct-horse" not in run.err + run.said
    assert len(run.err.encode()) <= sc.LIMITS["first"]


def test_a_check_that_does_not_end_is_ended(session):
    session.configure(value={"check_seconds": 1})
    assert "ran out of time" in held(checked(session, "sleep 600").stop(HONEST)).err


def test_a_hook_that_the_client_killed_during_a_check_is_told_at_the_next_event(session, monkeypatch):
    monkeypatch.delenv("SESSION_CONTRACT_TEST_WITHIN", raising=False)       # the process that is killed is a real one
    session.configure(value={"check_seconds": 1})
    checked(session, "kill -KILL $PPID")
    assert session.stop(HONEST).code not in (0, sc.HOLD)
    session.change(checking=session.contract["checking"] - 10)
    for run in (session.start(), session.prompt(QUESTION)):
        told(run, "did not end")
    assert session.contract["checking"] == 0
    assert "did not end" not in session.prompt(QUESTION).said


def test_a_check_that_ended_leaves_no_mark(session):
    held(checked(session, "false").stop(HONEST))
    assert session.contract["checking"] == 0


def test_a_check_is_not_run_while_something_else_is_owed(session):
    trace = os.path.join(session.folder, "trace")
    held(checked(session, f"touch {trace}").stop(OWING))
    assert not os.path.exists(trace)


def test_a_check_holds_although_the_disk_is_full(session):
    run = held(checked(session, "false").stop(HONEST, room=False))
    assert "exits 1" in run.err and "not on record" in run.said


def test_a_check_that_a_foreign_lock_keeps_from_running_is_told(session):
    checked(session, "false")
    folder = os.open(os.path.join(session.store, "contracts"), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        told(let_go(session.stop(HONEST)), "check was not run", "locked by another process")
    finally:
        os.close(folder)


def test_checks_from_prompts_need_the_operators_leave(session):
    prompt = "Fix it, don't stop until `test -e flag` passes."
    session.prompt(prompt)
    assert session.contract["check"] == ""
    session.configure(value={"checks_from_prompts": True})
    session.name = "s2"
    session.prompt(prompt)
    assert session.contract["check"] == "test -e flag"


# --- claims -------------------------------------------------------------------------------------------------------

def test_met_is_refused_while_items_are_open(armed):
    armed.command("item", "add", "port csv")
    assert "still open (i1)" in armed.command("met", "--evidence", "note:the suite is green").err


def test_a_claim_counts_at_the_first_stop_that_nothing_contradicts(armed):
    assert armed.command("met", "--evidence", "note:the suite is green").code == 0
    held(armed.stop(OWING))
    told(let_go(armed.stop(HONEST)), "done", "the suite is green (self-attested)")
    assert armed.contract["state"] == "met"


def test_a_new_condition_voids_a_claim(armed):
    armed.command("met", "--evidence", "note:the suite is green")
    armed.prompt("Don't stop until the docs are written.")
    let_go(armed.stop(HONEST))
    assert armed.contract["state"] == "armed"


@pytest.mark.parametrize("claim, holds", rows(
    ("off asks for no claim", "off", 0), ("once asks one time", "once", 1), ("strict asks until the breaker", "strict", 3)))
def test_a_pinned_condition_wants_a_claim(armed, claim, holds):
    armed.configure(value={"claim": claim})
    seen = [armed.stop(HONEST) for _ in range(5)]
    assert [run.code for run in seen] == [2] * holds + [0] * (5 - holds)
    assert all("met --evidence" in run.err for run in seen[:holds])


def test_an_end_without_the_wanted_claim_is_told(armed):
    armed.configure(value={"claim": "once"})
    held(armed.stop(HONEST))
    told(let_go(armed.stop(HONEST)), "nobody has claimed")


# --- waits --------------------------------------------------------------------------------------------------------

def test_a_wait_is_honoured_while_the_client_confirms_it(armed):
    armed.command("item", "add", "port csv")
    armed.command("wait", "--for", "the test run")
    told(let_go(armed.stop("Noted.", background_tasks=[RUNNING])), "waits", "b1")


def test_a_wait_that_nothing_confirms_is_void_and_told(armed):
    armed.command("item", "add", "port csv")
    armed.command("wait", "--for", "the test run")
    assert "the wait for the test run is void" in held(armed.stop("Noted.")).err


def test_a_wait_that_ended_unused_is_told_at_the_resume(armed):
    armed.command("item", "add", "port csv")
    armed.command("wait", "--for", "the test run")
    let_go(armed.stop("Noted.", background_tasks=[RUNNING]))
    told(armed.start("resume"), "ended unused", "1 item open")


# --- the agent's shell and the operator's -------------------------------------------------------------------------

def test_a_read_only_store_fails_a_command_loudly_and_changes_nothing(armed):
    before = armed.contract
    run = armed.command("item", "add", "port csv", room=False)
    assert run.code == 1 and "nothing changed" in run.err and "SESSION_CONTRACT_DIR" in run.err
    assert armed.contract == before


def test_a_fork_is_one_line_of_the_log(armed):
    armed.command("decide", "--fork", "which store", "--rule", "4", "--path", "sqlite", "--reason", "local conventions")
    line = armed.records[-1]
    assert (line["class"], line["fork"], line["rule"], line["path"]) == ("FORK", "which store", "4", "sqlite")


def test_waivers_and_escalations_are_on_record_with_their_reason(armed):
    for text in ("a", "b"):
        armed.command("item", "add", text)
    armed.command("item", "waive", "i1", "--reason", "not in this release")
    armed.command("item", "escalate", "i2", "--class", "irreversible", "--reason", "drops a table")
    assert [(r["rules"], r["reason"]) for r in armed.records[-2:]] == [
        (["item waived"], "not in this release"), (["item escalated"], "drops a table")]


@pytest.mark.parametrize("arguments", rows(
    ("an unknown class", ("item", "escalate", "i1", "--class", "hard", "--reason", "it is hard")),
    ("no evidence", ("item", "done", "i1")), ("no reason", ("item", "waive", "i1"))))
def test_wrong_usage_exits_64_and_changes_nothing(armed, arguments):
    armed.command("item", "add", "port csv")
    before = armed.contract
    assert armed.command(*arguments).code == 64 and armed.contract == before


# --- counting -----------------------------------------------------------------------------------------------------

def counted(session):
    return json.loads(session.command("report", "--json").out)


def test_a_hold_followed_by_work_and_a_clean_stop_is_resolved(armed):
    held(armed.stop(OWING))
    ran(armed, "make all")
    let_go(armed.stop(HONEST))
    assert {k: counted(armed)[k] for k in ("caught", "resolved", "pending")} == {"caught": 1, "resolved": 1, "pending": 0}


def test_a_hold_followed_by_the_operators_word_is_no_success(armed):
    held(armed.stop(OWING))
    armed.prompt("and what about the docs?")
    held(armed.stop(OWING))
    armed.prompt("stop")
    assert {k: counted(armed)[k] for k in ("caught", "resolved", "interrupted", "overridden")} == {
        "caught": 2, "resolved": 0, "interrupted": 1, "overridden": 1}


def test_a_stall_is_counted_as_degraded(armed):
    for _ in range(4):
        armed.stop(OWING)
    assert {k: counted(armed)[k] for k in ("caught", "degraded")} == {"caught": 3, "degraded": 3}


def test_a_hold_marked_wrong_is_counted(armed):
    held(armed.stop(OWING))
    assert armed.command("mark-wrong").code == 0
    assert counted(armed)["wrong"] == 1


def test_replay_counts_held_turn_ends_and_the_continue_after_them(session):
    transcript = Transcript()
    transcript.human("port it").says(OWING).human("continue").says(HONEST).human("thanks").says(OWING)
    path = os.path.join(session.folder, "old.jsonl")
    with open(path, "wb") as file:
        file.write(transcript.data)
    seen = json.loads(session.command("replay", path, "--json").out)
    assert (seen["turns"], seen["held"], seen["then_continue"]) == (3, 2, 1)
    assert not os.path.exists(session.store)


def test_five_hundred_items_keep_a_hold_short(armed):
    items = [{"id": f"i{n}", "text": f"port the exporter number {n} " + "x" * 150, "state": "open"} for n in range(500)]
    armed.change(items=items)
    first, later = held(armed.stop(OWING)), held(armed.stop(OWING))
    assert len(first.err.encode()) <= sc.LIMITS["first"] and len(later.err.encode()) <= sc.LIMITS["later"]
    assert "i0" in later.err and "499 more" in later.err


def test_a_long_prompt_arms_once_and_keeps_its_list(session):
    session.armed("Don't stop until:\n- port csv\n- port xml\n")
    assert [item["text"] for item in session.contract["items"]] == ["port csv", "port xml"]
    assert ARMING != session.contract["condition"]


def test_other_tools_and_odd_calls_are_no_evidence(armed):
    armed.command("item", "add", "port csv")
    armed.transcript.call("Read", command="pytest -q").call("Bash", command=7).call("Bash")
    armed.stop()
    run = armed.command("item", "done", "i1", "--evidence", "command:pytest -q")
    assert run.code == 1 and "no successful run" in run.err


def test_a_check_that_cannot_be_started_says_why(monkeypatch):
    def popen(*_, **__):
        raise OSError(12, "Cannot allocate memory")
    monkeypatch.setattr(subprocess, "Popen", popen)
    assert sc.run_check("true", "/", {}, 1) == (127, "[Errno 12] Cannot allocate memory")


def test_a_check_that_ends_while_it_is_being_ended_has_run_out_of_time(monkeypatch):
    def gone(pid, _):
        os.kill(pid, signal.SIGKILL)
        raise ProcessLookupError
    monkeypatch.setattr(os, "killpg", gone)
    assert sc.run_check("echo a; exec sleep 600", "/", dict(os.environ), 0.5) == (None, "a")


@pytest.mark.parametrize("setting, why", rows(
    ("a check that outlasts the hook", {"check_seconds": 141}, "check_seconds is at most 140"),
    ("a choice that is none", {"claim": "always"}, "claim must be one of off, once, strict, not 'always'")))
def test_a_setting_out_of_its_bounds_is_told_and_the_default_stands(session, setting, why):
    session.configure(value=setting)
    told(session.prompt(ARMING), why, "armed")
