"""The decision on a Stop: tables over the pure functions, and the same stories through the real process."""
import json
import os
import time

import pytest

import session_contract as sc
from conftest import (ARMING, ASKING, CONDITION, HONEST, OWING, QUESTION, RUNNING, WAITING, NoTranscript, Pure, Real,
                      Session,
                      Transcript, calls, closes, ends, held, item, let_go, play, rows, says, sets, told)

BEAT = {"id": "w1", "schedule": "* * * * *", "recurring": True, "prompt": "look at the build again"}
SUBAGENT = {"id": "a1", "type": "subagent", "status": "running", "description": "review",
            "agent_type": "general-purpose"}
STALL = [ends(OWING, "BLOCK")] * 3 + [ends(OWING, "ALLOW-DEGRADED")]


def sixty_calls():
    return [calls("Bash", command=f"pytest tests/test_{n}.py") for n in range(60)]


STORIES = rows(
    ("a contradiction is held", [says(ARMING), ends(OWING, "BLOCK")]),
    ("an honest end is let go", [says(ARMING), ends(HONEST, "ALLOW-CLEAN")]),
    ("without a contract nothing is decided", [says("Port the exporters."), ends(OWING, "")]),
    ("stop releases", [says(ARMING), ends(OWING, "BLOCK"), says("stop"), ends(OWING, "")]),
    ("an open item is owed whatever the message says", [says(ARMING), item("port csv"), ends(HONEST, "BLOCK")]),
    ("an open item is owed when the message is empty", [says(ARMING), item("port csv"), ends("", "BLOCK")]),
    ("an empty message without items owes nothing", [says(ARMING), ends("", "ALLOW-CLEAN")]),
    ("a closed item is not owed", [says(ARMING), item("port csv"), closes("done"), ends(HONEST, "ALLOW-CLEAN")]),
    ("a waived item is not owed", [says(ARMING), item("port csv"), closes("waive"), ends(HONEST, "ALLOW-CLEAN")]),
    ("three stalls degrade", [says(ARMING), *STALL]),
    ("new words alone are no work when there is a transcript",
     [says(ARMING)] + [ends(f"{n} remain. Continuing.", "BLOCK") for n in (9, 8, 7)] + [
         ends("6 remain. Continuing.", "ALLOW-DEGRADED")]),
    ("degraded stays degraded without work", [says(ARMING), *STALL, ends(OWING, "ALLOW-DEGRADED")]),
    ("work engages a degraded gate again",
     [says(ARMING), *STALL, calls(command="make"), ends(OWING, "BLOCK"), ends(OWING, "BLOCK")]),
    ("a new prompt engages a degraded gate again", [says(ARMING), *STALL, says("go on"), ends(OWING, "BLOCK")]),
    ("work between holds keeps the gate engaged past five",
     [says(ARMING)] + [step for n in range(7) for step in (calls(command=f"make t{n}"), ends(OWING, "BLOCK"))]),
    ("sixty calls between two contradictions are progress",
     [says(ARMING), ends(OWING, "BLOCK"), ends(OWING, "BLOCK"), ends(OWING, "BLOCK"), *sixty_calls(),
      ends("180 remain. Continuing.", "BLOCK"), ends("180 remain. Continuing.", "BLOCK"),
      ends("180 remain. Continuing.", "BLOCK"), ends("180 remain. Continuing.", "ALLOW-DEGRADED")]),
    ("fifty holds since the prompt end a busy loop",
     [says(ARMING), sets(blocks=49), calls(command="make a"), ends(OWING, "BLOCK"), calls(command="make b"),
      ends(OWING, "ALLOW-DEGRADED"), calls(command="make c"), ends(OWING, "ALLOW-DEGRADED")]),
    ("the operator resets the count of fifty",
     [says(ARMING), sets(blocks=50), ends(OWING, "ALLOW-DEGRADED"), says("go on"), ends(OWING, "BLOCK")]),
    ("stop_hook_active is no release", [says(ARMING), ends(OWING, "BLOCK", stop_hook_active=True)]),
    ("stop_hook_active is no count",
     [says(ARMING), ends(OWING, "BLOCK"), ends(OWING, "BLOCK", stop_hook_active=False),
      ends(OWING, "BLOCK", stop_hook_active=False), ends(OWING, "ALLOW-DEGRADED", stop_hook_active=False)]),
    ("a task notification is no prompt of the operator's",
     [says(ARMING), *STALL, says("<task-notification>\n<summary>done</summary>\n</task-notification>"),
      ends(OWING, "ALLOW-DEGRADED")]),
    ("closing an item with evidence is progress",
     [says(ARMING), item("a"), item("b"), ends(HONEST, "BLOCK"), ends(HONEST, "BLOCK"), ends(HONEST, "BLOCK"),
      closes("done"), ends(HONEST, "BLOCK")]),
    ("waiving an item is no progress",
     [says(ARMING), item("a"), item("b"), ends(HONEST, "BLOCK"), ends(HONEST, "BLOCK"), ends(HONEST, "BLOCK"),
      closes("waive"), ends(HONEST, "ALLOW-DEGRADED")]),
    ("a pause lets go", [says(ARMING), says("wait"), ends(OWING, "ALLOW-PAUSED"), ends(OWING, "ALLOW-PAUSED")]),
    ("a question does not end a pause", [says(ARMING), says("wait"), says(QUESTION), ends(OWING, "ALLOW-PAUSED")]),
    ("any other prompt ends a pause", [says(ARMING), says("wait"), says("ok, go on"), ends(OWING, "BLOCK")]),
    ("stop ends a pause and the contract", [says(ARMING), says("wait"), says("stop"), ends(OWING, "")]),
    ("the operator's own plan mode is let go",
     [says(ARMING, permission_mode="plan"), ends(OWING, "ALLOW-PLAN", permission_mode="plan")]),
    ("a plan mode that the agent entered is held once",
     [says(ARMING), ends(HONEST, "BLOCK", permission_mode="plan"), ends(HONEST, "ALLOW-PLAN", permission_mode="plan")]),
    ("a prompt renews the one hold of the agent's plan mode",
     [says(ARMING), ends(HONEST, "BLOCK", permission_mode="plan"), says("go on"),
      ends(HONEST, "BLOCK", permission_mode="plan")]),
    ("leave the operator gave already is not asked for", [says(ARMING), ends(ASKING, "BLOCK")]),
    ("an answer to a question may ask back", [says(ARMING), says(QUESTION), ends(ASKING, "ALLOW-DIALOGUE")]),
    ("a dialogue ends with work", [says(ARMING), says(QUESTION), calls("Edit", file_path="a"), ends(ASKING, "BLOCK")]),
    ("a dialogue does not cover a continuation", [says(ARMING), says(QUESTION), ends(OWING, "BLOCK")]),
    ("a dialogue does not cover open items", [says(ARMING), item("a"), says(QUESTION), ends(ASKING, "BLOCK")]),
    ("an arming question is no dialogue",
     [says("Can you fix the exporter? Don't stop until the suite is green."), ends(ASKING, "BLOCK")]),
    ("an escalated item lets its question go",
     [says(ARMING), item("a"), closes("escalate"), ends(ASKING, "ALLOW-ESCALATED")]),
    ("an escalation does not cover a continuation",
     [says(ARMING), item("a"), closes("escalate"), ends(OWING, "BLOCK")]),
    ("an escalation does not cover other open items",
     [says(ARMING), item("a"), item("b"), closes("escalate"), ends(ASKING, "BLOCK")]),
    ("a wait that a task confirms is let go", [says(ARMING),
                                               ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING])]),
    ("a wait that nothing confirms is held", [says(ARMING), ends(WAITING, "BLOCK")]),
    ("a finished task confirms no wait",
     [says(ARMING), ends(WAITING, "BLOCK", background_tasks=[{**RUNNING, "status": "completed"}])]),
    ("a task is no ticket for a message that does not wait",
     [says(ARMING), ends(OWING, "BLOCK", background_tasks=[RUNNING])]),
    ("a ticket excuses once",
     [says(ARMING), ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING]),
      ends(WAITING, "BLOCK", background_tasks=[RUNNING])]),
    ("a ticket excuses again after progress",
     [says(ARMING), ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING]), calls("Read", file_path="log"),
      ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING])]),
    ("another task is another ticket",
     [says(ARMING), ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING]),
      ends(WAITING, "ALLOW-WAITING", background_tasks=[{**RUNNING, "id": "b2"}])]),
    ("a ticket excuses open items too",
     [says(ARMING), item("a"), ends(WAITING, "ALLOW-WAITING", background_tasks=[RUNNING])]),
    ("a wakeup is a ticket each time",
     [says(ARMING), ends(WAITING, "ALLOW-WAITING", session_crons=[BEAT]),
      ends(WAITING, "ALLOW-WAITING", session_crons=[BEAT])]),
    ("a wakeup without a readable schedule is no ticket",
     [says(ARMING), ends(WAITING, "BLOCK", session_crons=[{**BEAT, "schedule": "soon"}])]),
    ("a spent time budget ends the contract", [says(ARMING), sets(spent_at=1), ends(OWING, "ALLOW-BUDGET"),
                                               ends(OWING, "")]),
    ("a spent time budget ends the contract in the agent's plan mode too",
     [says(ARMING), sets(spent_at=1), ends(OWING, "ALLOW-BUDGET", permission_mode="plan")]),
    ("a time budget that is not spent holds", [says(ARMING), sets(spent_at=9_000_000_000), ends(OWING, "BLOCK")]),
    ("the client's own notice of a limit is let go",
     [says(ARMING), item("a"), ends("Context limit reached. /compact or /clear to continue", "ALLOW-BLOCKER")]),
    ("the client's own notice of an error is let go",
     [says(ARMING), ends("API Error: 529 overloaded", "ALLOW-BLOCKER")]),
    ("a report that quotes such a notice is read on",
     [says(ARMING), ends("I fixed the handler that logged \"API Error\". 3 files remain. Continuing.", "BLOCK")]),
)


@pytest.mark.parametrize("story", STORIES)
def test_the_pure_functions_decide(story):
    player = Pure()
    player.transcript.says("ready")         # a transcript, so that work is looked for in it
    found, wanted = play(player, story)
    assert found == wanted


@pytest.mark.parametrize("story", STORIES)
def test_the_real_process_decides_the_same(story, session):
    session.transcript.says("ready")
    found, wanted = play(Real(session), story)
    assert found == wanted


WITHOUT_TRANSCRIPT = rows(
    ("the same message is no progress", [says(ARMING), *STALL]),
    ("differences of case and space are no progress",
     [says(ARMING), ends(OWING, "BLOCK"), ends("225  REMAIN. continuing.", "BLOCK"), ends(OWING, "BLOCK"),
      ends(OWING, "ALLOW-DEGRADED")]),
    ("another message is progress",
     [says(ARMING)] + [ends(f"{n} remain. Continuing.", "BLOCK") for n in (9, 8, 7, 6, 5)]),
)


@pytest.mark.parametrize("story", WITHOUT_TRANSCRIPT)
def test_without_a_transcript_the_message_decides(story):
    player = Pure()
    player.transcript = NoTranscript()
    found, wanted = play(player, story)
    assert found == wanted


@pytest.mark.parametrize("story", WITHOUT_TRANSCRIPT)
def test_without_a_transcript_the_message_decides_in_the_real_process(story, session):
    session.transcript = NoTranscript()
    found, wanted = play(Real(session), story)
    assert found == wanted


# --- what is work ---------------------------------------------------------------------------------

def bash(command, **more):
    return {"name": "Bash", "command": command, **more}


CALLS = rows(
    ("a test run is work", bash("pytest -q"), True),
    ("a read is work", {"name": "Read", "file_path": "/a"}, True),
    ("an edit is work", {"name": "Edit", "file_path": "/a", "old_string": "a", "new_string": "b"}, True),
    ("a tool of a server is work", {"name": "mcp__db__query", "sql": "select 1"}, True),
    ("a call that fails is no work", bash("pytest -q", error=True), False),
    ("a call that was interrupted is no work", bash("pytest -q", interrupted=True), False),
    ("a call in a sidechain is no work", bash("pytest -q", row_isSidechain=True), False),
    ("the to-do list is no work", {"name": "TodoWrite", "todos": [{"content": "a", "status": "pending"}]}, False),
    ("a task list is no work", {"name": "TaskUpdate", "taskId": "1", "status": "completed"}, False),
    ("a scheduled wakeup is no work", {"name": "ScheduleWakeup", "delaySeconds": 60}, False),
    ("leaving plan mode is no work", {"name": "ExitPlanMode", "plan": "a"}, False),
    ("asking the operator is no work", {"name": "AskUserQuestion", "questions": []}, False),
    ("sleeping is no work", bash("sleep 30"), False),
    ("echoing is no work", bash("echo still here"), False),
    ("printing the folder is no work", bash("pwd"), False),
    ("several no-ops are no work", bash("cd /tmp && pwd; sleep 2; true"), False),
    ("a no-op by its path is no work", bash("/bin/sleep 30"), False),
    ("a no-op behind an assignment is no work", bash("FOO=1 sleep 5"), False),
    ("a comment is no work", bash("# thinking about the next step"), False),
    ("an empty command is no work", bash("  "), False),
    ("a quoted separator does not make a no-op work", bash('echo "225 remain; continuing"'), False),
    ("joined streams do not make a no-op work", bash("echo still here 2>&1"), False),
    ("silencing a no-op does not make it work", bash("sleep 30 >/dev/null 2>&1"), False),
    ("writing a file is work", bash("echo 1 > version.txt"), True),
    ("a no-op before a command is work", bash("cd src && make"), True),
    ("a command behind a pipe is work", bash("cat a | sort"), True),
    ("a command of ours is no work", bash("python3 /x/session_contract.py item list"), False),
    ("a command of ours under another interpreter is no work",
     bash("/usr/bin/python3.11 -I -S '/x y/session_contract.py' item list"), False),
    ("the installed command is no work", bash("session-contract item done i1 --evidence note:seen"), False),
    ("the installed command by its path is no work",
     bash("\"/home/a b/.claude/session-contract/session-contract\" status"),
     False),
    ("a command of ours behind cd is no work", bash("cd /x && python3 session_contract.py item list"), False),
    ("a command of ours behind an assignment is no work",
     bash("SESSION_CONTRACT_DIR=/x python3 session_contract.py item list"), False),
    ("a command of ours that is filtered is no work", bash("session-contract item list | grep open | head -5"), False),
    ("a test of this very program is work", bash("python3 -m pytest tests/test_session_contract.py"), True),
    ("reading this very program is work", bash("cat session_contract.py"), True),
)


def evidence_after(build, **contract):
    """Evidence from a transcript that BUILD makes, read from its start."""
    transcript = Transcript()
    build(transcript)
    found, end = sc.rows_of(transcript.data, 0, True)
    return sc.read_evidence(found, {**sc.CONTRACT, **contract}, end)


@pytest.mark.parametrize("call, expected", CALLS)
def test_a_call_is_work_or_not(call, expected):
    evidence = evidence_after(lambda t: t.call(**call))
    assert bool(evidence.work) is expected


# Through the process only a few, one of each kind: the rest of the table differs in the reading alone.
@pytest.mark.parametrize("call, expected", [CALLS[n] for n in (0, 1, 4, 6, 7, 12, 26)])
def test_a_call_keeps_the_gate_engaged_or_not(call, expected, session):
    session.transcript.says("ready")
    story = [says(ARMING), *[ends(OWING, "BLOCK")] * 3, calls(**call),
             ends(OWING, "BLOCK" if expected else "ALLOW-DEGRADED")]
    found, wanted = play(Real(session), story)
    assert found == wanted


def test_a_repeated_call_counts_once():
    evidence = evidence_after(lambda t: t.call(command="ls").call(command="ls"))
    assert evidence.work == 1


def test_a_call_made_before_the_last_hold_is_no_work():
    first = evidence_after(lambda t: t.call(command="ls"))
    again = evidence_after(lambda t: t.call(command="ls"), calls=list(first.calls))
    assert (first.work, again.work) == (1, 0)


def test_a_failed_call_may_be_tried_again():
    evidence = evidence_after(lambda t: t.call(command="make", error=True).call(command="make"))
    assert evidence.work == 1


def test_a_call_without_its_result_is_no_work_and_is_read_again():
    call = [{"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": "make"}}]
    evidence = evidence_after(lambda t: t.says("a").row("assistant", call))
    assert evidence.work == 0 and evidence.end == len(Transcript().says("a").data)


def test_a_call_that_a_later_message_has_passed_by_is_not_waited_for():
    """A killed client leaves a call without its result; what comes after it is read all the same."""
    call = [{"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": "make"}}]
    transcript = Transcript().row("assistant", call).human("go on").call(command="ls").says("a")
    found, end = sc.rows_of(transcript.data, 0, True)
    assert sc.read_evidence(found, sc.CONTRACT, end).end == len(transcript.data)


def test_results_of_calls_made_side_by_side_are_told_apart():
    def build(transcript):
        for name in ("1", "2"):
            transcript.row("assistant",
                           [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "make " + name}}])
        transcript.row("user", [{"type": "tool_result", "tool_use_id": "2", "content": "x", "is_error": True}])
        transcript.row("user", [{"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": False}])

    assert evidence_after(build).work == 1


def test_only_calls_behind_the_last_prompt_are_work():
    before = len(Transcript().call(command="make a").data)
    evidence = evidence_after(lambda t: t.call(command="make a").call(command="make b"), prompt_mark=before)
    assert evidence.work == 1


def test_the_last_text_of_the_main_chain_is_found():
    evidence = evidence_after(lambda t: t.says("first").says("last").says("aside", isSidechain=True))
    assert evidence.text == "last"


def test_our_holds_are_counted_since_the_last_work():
    evidence = evidence_after(lambda t: t.held(sc.HELD).call(command="make").held(sc.HELD).held(sc.HELD))
    assert (evidence.holds, evidence.stalled) == (3, 2)


def test_a_prompt_of_the_operator_begins_the_count_of_holds_anew():
    evidence = evidence_after(lambda t: t.held(sc.HELD).human("go on").held(sc.HELD))
    assert evidence.holds == 1


def test_another_hook_s_feedback_is_no_hold_of_ours():
    assert evidence_after(lambda t: t.held("lint failed")).holds == 0


@pytest.mark.parametrize("data", rows(
    ("a torn last line", b'{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}\n{"type":"assis'),
    ("rows that are no objects",
     b'["text"]\n"text"\n7\n{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}\n'),
    ("content of another shape", b'{"type":"user","message":"text","x":{"text":1}}\n'
                                 b'{"type":"assistant","message":{"content":[7,{"type":"text","text":"a"}]}}\n'),
))
def test_a_broken_transcript_is_read_as_far_as_it_goes(data):
    assert sc.read_evidence(sc.rows_of(data, 0, True)[0], sc.CONTRACT, len(data)).text == "a"


# --- the transcript on the disk -------------------------------------------------------------------

def disk_evidence(tmp_path, data, **contract):
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    return sc.transcript_evidence(str(path), {**sc.CONTRACT, **contract})


def test_work_is_seen_behind_a_bound_on_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sc.LIMITS, "transcript", 4000)
    data = Transcript().filler(100_000).call(command="make").data
    assert disk_evidence(tmp_path, data).work == 1


def test_what_has_been_read_is_not_read_again(tmp_path):
    data = Transcript().call(command="make").data
    assert disk_evidence(tmp_path, data, read_to=len(data)).work == 0


def test_a_row_that_is_still_being_written_is_left_for_the_next_reading(tmp_path):
    data = Transcript().call(command="make").data
    first = disk_evidence(tmp_path, data[:-5])
    assert first.work == 0 and disk_evidence(tmp_path, data, read_to=first.end).work == 1


@pytest.mark.parametrize("prompt_mark", [9_000, 1])
def test_a_transcript_that_shrank_is_read_from_its_start(tmp_path, prompt_mark):
    evidence = disk_evidence(tmp_path, Transcript().call(command="make").data, read_to=10_000, prompt_mark=prompt_mark)
    after = sc.absorb({**sc.CONTRACT, "prompt_mark": prompt_mark, "read_to": 10_000}, evidence, sc.Settings(), 1)
    assert (after["work"], after["prompt_mark"], after["read_to"]) == (1, 0, evidence.end)


@pytest.mark.parametrize("path", rows(
    ("no path", None), ("an empty path", ""), ("a path that is no text", 7), ("a path with a NUL", "/tmp/a\0b"),
    ("a lone surrogate", "/tmp/\udc88\ud800"), ("a folder", "/tmp"), ("a device that never ends", "/dev/zero"),
    ("nothing there", "/nonexistent/t.jsonl")))
def test_a_transcript_that_cannot_be_read_is_said_to_be_unreadable(path):
    assert sc.transcript_evidence(path, sc.CONTRACT).readable is False


# --- schedules ------------------------------------------------------------------------------------

NOON = 1_800_014_400        # a whole hour, so that minutes can be counted from it


@pytest.mark.parametrize("schedule, wait", rows(
    ("every minute", "* * * * *", 60), ("every five minutes", "*/5 * * * *", 300),
    ("a list of minutes", "10,20 * * * *", 600), ("a range of minutes", "7-9 * * * *", 420),
    ("the hour itself is an hour away", "0 * * * *", 3600), ("a range with a step", "10-50/20 * * * *", 600),
    ("a word", "soon", None), ("no text", None, None), ("too few fields", "* * *", None),
    ("a step of nothing", "*/0 * * * *", None), ("an open range", "5- * * * *", None),
    ("a minute that no hour has", "61 * * * *",
     None), ("a day that no month has", "* * 32 * *", None)))
def test_a_schedule_is_read(schedule, wait):
    assert sc.cron_wait(schedule, NOON) == wait


@pytest.mark.parametrize("text", rows(
    ("a number beyond the field", "60"), ("a range beyond the field", "0-99999999999"), ("a negative number", "-1"),
    ("nothing", ""), ("a word", "MONDAY!")))
def test_a_cron_field_that_is_none_is_refused(text):
    with pytest.raises(ValueError):
        sc.cron_field(text, (0, 59))


def waits(**settings):
    crons = settings.pop("crons", ())
    case = sc.Case(contract=sc.CONTRACT, stop=sc.Stop(tasks=settings.pop("tasks", ()), crons=crons),
                   evidence=sc.Evidence(), settings=sc.Settings(**settings), now=NOON)
    return [wake[0] for wake in sc.wakes_of(case)]


def at(hours):
    import time
    return time.strftime("0 %H * * *", time.localtime(NOON + 3600 * hours))


@pytest.mark.parametrize("given, tickets", rows(
    ("a shell task", {"tasks": (RUNNING,)}, ["b1"]), ("a subagent", {"tasks": (SUBAGENT,)}, ["a1"]),
    ("a wakeup eleven hours off", {"crons": ({**BEAT, "schedule": at(11)},)}, [""]),
    ("a wakeup thirteen hours off is too far", {"crons": ({**BEAT, "schedule": at(13)},)}, []),
    ("the operator may allow more", {"crons": ({**BEAT, "schedule": at(13)},), "wakeup_hours": 14}, [""]),
    ("in print mode only a subagent", {"tasks": (RUNNING, SUBAGENT), "crons": (BEAT,), "print_mode": True}, ["a1"]),
    ("a task of an odd shape", {"tasks": ({},)}, ["None"])))
def test_what_wakes_the_session(given, tickets):
    assert waits(**given) == tickets


def test_what_wakes_the_session_is_shown(armed):
    told(let_go(armed.stop(WAITING, background_tasks=[RUNNING])), "the tests")


def test_in_print_mode_a_task_does_not_excuse(armed):
    held(armed.stop(WAITING, background_tasks=[RUNNING], environ={"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}))


# --- what the operator says -----------------------------------------------------------------------

def hear(text, contract=None, now=1_000, mode="default", size=0):
    heard = sc.read_prompt(text, contract is not None)
    return sc.hear(contract, sc.Prompt(heard=heard, mode=mode, size=size, session="s1"), sc.Settings(), now)


BOUND = {**sc.CONTRACT, "session": "s1", "condition": CONDITION, "armed_at": 500, "prompt_at": 500}


@pytest.mark.parametrize("text, contract, state, fragment", rows(
    ("arming", ARMING, None, "armed", 'armed: "the suite is green"'),
    ("a bare arming phrase keeps the condition", "keep going", BOUND, "armed", "the suite is green"),
    ("a new condition amends", "don't stop until the docs build", BOUND, "armed", 'amended, armed: "the docs build"'),
    ("the same condition again", ARMING, BOUND, "armed", "armed already"),
    ("a release", "stop", BOUND, "disarmed", "released"),
    ("a pause", "wait", BOUND, "paused", "paused"),
    ("a prompt while paused", "go on", {**BOUND, "state": "paused"}, "armed", "resumed"),
    ("a question while paused", QUESTION, {**BOUND, "state": "paused"}, "paused", ""),
    ("arming while paused", ARMING, {**BOUND, "state": "paused"}, "armed", "armed"),
    ("an ordinary prompt", "use tabs", BOUND, "armed", "")))
def test_a_prompt_changes_the_contract(text, contract, state, fragment):
    after, answer = hear(text, contract)
    assert after["state"] == state and fragment in answer.system and bool(answer.system) is bool(fragment)


@pytest.mark.parametrize("text, state, fragment", rows(
    ("stop", "contract: stop", "disarmed", "released"), ("pause", "contract: pause", "paused", "paused"),
    ("status", "contract: status", "armed", "the suite is green"),
    ("nothing at all", "contract:", "armed", "the suite is green"),
    ("an unknown word", "contract: dance", "armed", "dance")))
def test_the_language_free_form_is_answered_without_the_model(text, state, fragment):
    after, answer = hear(text, BOUND)
    assert after["state"] == state and fragment in answer.reply + answer.halt and not answer.context


def test_the_language_free_form_arms_with_a_condition():
    after, answer = hear("contract: arm until the suite is green")
    assert after["condition"] == CONDITION and "armed" in answer.system + answer.halt


def test_the_help_of_the_language_free_form_names_only_what_it_takes():
    reply = hear("contract: dance", BOUND)[1].reply
    named = [word for word in ("stop", "pause", "resume",
                               "status") if word in reply.split("takes")[1].split(", not")[0]]
    assert named and not [word for word in named if sc.read_prompt("contract: " + word, True)["command"][0] == "?"]


def test_a_status_changes_nothing():
    assert hear("contract: status", BOUND)[0] == BOUND


@pytest.mark.parametrize("text", ["stop", "wait", "go on", "contract: stop"])
def test_a_prompt_that_arms_nothing_makes_no_contract(text):
    assert hear(text)[0] is None


def test_a_list_becomes_items():
    after = hear("Don't stop until:\n- the parser is ported\n- the docs build\n")[0]
    assert [i["text"] for i in sc.items_in(after, sc.OPEN)] == ["the parser is ported", "the docs build"]


def test_open_items_survive_a_new_condition():
    contract = sc.add_item(BOUND, "port csv", "command", 1)[0]
    assert sc.items_in(hear("don't stop until the docs build", contract)[0], sc.OPEN)


def test_the_same_item_twice_is_one():
    once = sc.add_item(BOUND, "port csv", "command", 1)[0]
    assert sc.add_item(once, "Port  CSV", "command", 1)[0] == once


def test_a_time_budget_is_kept():
    assert hear("keep going for two hours", now=1_000)[0]["spent_at"] == 1_000 + 7_200


def test_a_time_of_day_is_the_next_one():
    after = hear("don't stop until 18:00", now=NOON)[0]
    assert NOON < after["spent_at"] <= NOON + 86_400


def test_every_prompt_resets_the_counts():
    after = hear("use tabs", {**BOUND, "streak": 3, "blocks": 50, "degraded": True, "plan_held": True})[0]
    assert (after["streak"], after["blocks"], after["degraded"], after["plan_held"]) == (0, 0, False, False)


def test_the_contract_that_was_given_is_not_changed():
    before = json.dumps(BOUND)
    hear("don't stop until the docs build:\n- a\n- b", BOUND)
    assert json.dumps(BOUND) == before


# --- settings of the operator's -------------------------------------------------------------------

def test_the_operator_sets_the_number_of_stalls():
    found, wanted = play(Pure(stalls=1), [says(ARMING), ends(OWING, "BLOCK"), ends(OWING, "ALLOW-DEGRADED")])
    assert found == wanted


def test_the_operator_sets_the_number_of_holds(session):
    session.configure(value={"blocks": 1})
    session.transcript.says("ready")
    found, wanted = play(Real(session), [says(ARMING), ends(OWING, "BLOCK"), calls(command="make"),
                                         ends(OWING, "ALLOW-DEGRADED")])
    assert found == wanted


@pytest.mark.parametrize("name, text, fragment", rows(
    ("a setting that does not exist", "config.json", '{"stals": 2}', "stals"),
    ("a setting of the wrong type", "config.json", '{"stalls": "2"}', "stalls"),
    ("a setting below one", "config.json", '{"stalls": 0}', "stalls"),
    ("no JSON at all", "config.json", "stalls = 2", "config.json"),
    ("phrases for no intent", "phrases.json", '{"begin": ["a"]}', "begin"),
    ("a rule that does not exist", "phrases.json", '{"off": ["no.such"]}', "no.such"),
    ("phrases that are no list", "phrases.json", '{"arm": "a"}', "arm")))
def test_what_is_wrong_with_a_file_of_the_operator_s_is_told_and_the_defaults_stand(session, name, text, fragment):
    session.configure(name, text=text)
    told(session.armed().stop(OWING), fragment, "not used")
    assert session.classes == ["BLOCK"]


@pytest.mark.parametrize("value, prompt, expected", rows(
    ("an arming phrase", {"arm": ["full steam ahead"]}, "Full steam ahead on the exporters!", "armed"),
    ("a releasing phrase", {"disarm": ["zurück auf los"]}, "zurück auf los", "released"),
    ("a pausing phrase", {"pause": ["kaffeepause"]}, "kaffeepause", "paused")))
def test_the_operator_adds_a_phrase(session, value, prompt, expected):
    session.configure("phrases.json", value)
    if expected != "armed":
        session.armed()
    told(session.prompt(prompt), expected)


def test_the_operator_switches_a_rule_off(session):
    fired = [hit[0] for hit in sc.read_turn(OWING)["hits"]]
    session.configure("phrases.json", {"off": fired})
    let_go(session.armed().stop(OWING))


def test_a_policy_of_the_operator_s_own_is_named_in_the_hold_and_given_whole(session):
    session.configure("policy.md", text="Prefer the boring path.")
    assert "Prefer the boring path." in session.prompt(ARMING).context
    run = held(session.stop())
    assert "policy.md" in run.err and sc.POLICY not in run.err


# --- observing ------------------------------------------------------------------------------------

def test_observing_records_and_never_holds(session):
    session.environ["SESSION_CONTRACT"] = "observe"
    session.armed()
    for _ in range(5):
        let_go(session.stop())
    assert session.classes == ["WOULD-BLOCK"] * 5


def test_observing_keeps_no_count(session):
    session.environ["SESSION_CONTRACT"] = "observe"
    session.armed().stop()
    assert (session.contract["streak"], session.contract["blocks"]) == (0, 0)


def test_observing_judges_each_stop_as_a_first_one(armed):
    armed.change(streak=3, blocks=50, degraded=True)
    let_go(armed.stop(environ={"SESSION_CONTRACT": "observe"}))
    assert armed.classes == ["WOULD-BLOCK"]


def test_observing_never_holds_when_nothing_can_be_written(armed):
    let_go(armed.stop(room=False, environ={"SESSION_CONTRACT": "observe"}))


def test_observing_never_holds_on_a_malformed_contract(armed):
    armed.break_contract()
    let_go(armed.stop(environ={"SESSION_CONTRACT": "observe"}))


# --- a message that is missing --------------------------------------------------------------------

def test_a_missing_message_is_taken_from_the_transcript(armed):
    armed.transcript.human(ARMING).says(OWING)
    held(armed.stop(...))


def test_a_missing_message_that_is_honest_in_the_transcript_is_let_go(armed):
    armed.transcript.human(ARMING).says(OWING).says(HONEST)
    let_go(armed.stop(...))
    assert armed.classes == ["ALLOW-CLEAN"]


@pytest.mark.parametrize("build", rows(
    ("no transcript", lambda t: t), ("a transcript without a text", lambda t: t.human("x").call(command="make"))))
def test_a_message_that_is_missing_everywhere_is_let_go_and_told(armed, build):
    build(armed.transcript)
    told(let_go(armed.stop(...)), "last_assistant_message")
    assert armed.classes == ["ALLOW-FAULT"]


def test_an_open_item_is_owed_when_the_message_is_missing_everywhere(armed):
    armed.command("item", "add", "port csv")
    held(armed.stop(...))


@pytest.mark.parametrize("message", rows(("null", None), ("empty", ""), ("no text", 7), ("blank", " \n ")))
def test_a_message_without_words_leaves_the_ledger_to_decide(armed, message):
    armed.transcript.human(ARMING).says(OWING)      # what the transcript shows is older than a message that is there
    let_go(armed.stop(message))
    armed.command("item", "add", "port csv")
    held(armed.stop(message))


# --- broken stores --------------------------------------------------------------------------------

BROKEN = rows(
    ("garbage", b"\x00\xff garbage"), ("nothing", b""), ("half a contract", b'{"schema": 1, "session": "s1", "sta'),
    ("a field of the wrong type", b'{"schema": 1, "session": "s1", "state": "armed", "items": {}}'),
    ("an unknown state", b'{"schema": 1, "session": "s1", "state": "asleep"}'),
    ("another session's contract", b'{"schema": 1, "session": "s2", "state": "armed"}'),
    ("an item without a text", b'{"schema": 1, "session": "s1", "items": [{"id": "i1", "state": "open"}]}'),
    ("an item in no known state",
     b'{"schema": 1, "session": "s1", "items": [{"id": "i1", "text": "a", "state": "gone"}]}'),
    ("a place that is no whole number", b'{"schema": 1, "session": "s1", "read_to": 1.5}'),
    ("an item closed at no time", b'{"schema": 1, "session": "s1", "block_at": 1, "items": [{"id": "i1", "text": "a", '
                                  b'"state": "done", "evidence": [{}], "closed_at": "x"}]}'),
    ("a time that no clock shows", b'{"schema": 1, "session": "s1", "armed_at": -Infinity}'),
)


@pytest.mark.parametrize("data", BROKEN)
def test_a_malformed_contract_is_held_with_its_path_and_the_remedy(armed, data):
    armed.break_contract(data)
    run = held(armed.stop(HONEST))
    assert armed.contract_path in run.err and '"stop"' in run.err
    assert armed.classes == ["BLOCK-MALFORMED"]


def test_the_operator_is_told_what_is_wrong_with_a_malformed_contract(armed):
    armed.break_contract()
    told(held(armed.stop(HONEST)), armed.contract_path, '"stop"')


def ten_stops(session, message=HONEST, **more):
    """How many of ten Stops in a row were held."""
    return sum(session.stop(message, stop_hook_active=n > 0, **more).code == sc.HOLD for n in range(10))


def test_a_malformed_contract_is_held_three_times_at_most(armed):
    armed.break_contract()
    assert ten_stops(armed) == 3


def test_a_malformed_contract_is_held_three_times_at_most_with_a_transcript(armed):
    armed.transcript.human(ARMING).call(command="make")
    armed.break_contract()
    assert 1 <= ten_stops(armed) <= 4       # the work before the first hold may count once


def test_a_malformed_contract_is_let_go_visibly_in_the_end(armed):
    armed.break_contract()
    runs = [armed.stop(HONEST) for _ in range(4)]
    told(let_go(runs[-1]), "degraded")


def test_a_malformed_contract_is_bounded_though_the_log_cannot_be_written(armed):
    armed.break_contract()
    assert ten_stops(armed, room=False) <= 3


def test_stop_sets_a_malformed_contract_aside(armed):
    armed.break_contract(b"garbage")
    told(armed.prompt("stop"), "released")
    let_go(armed.stop())
    assert armed.hook("UserPromptSubmit", prompt=ARMING).said.count("armed")


def test_the_language_free_stop_sets_a_malformed_contract_aside(armed):
    armed.break_contract(b"garbage")
    assert "released" in str(armed.prompt("contract: stop").json)
    let_go(armed.stop())


def test_a_malformed_contract_whose_log_says_that_it_ended_is_let_go_and_told(armed):
    armed.prompt("stop")
    armed.break_contract()
    told(let_go(armed.stop()), armed.contract_path)


def test_a_prompt_tells_of_a_malformed_contract(armed):
    armed.break_contract()
    told(armed.prompt("use tabs"), armed.contract_path)


@pytest.mark.parametrize("data, fragment", rows(
    ("a file without our mark", b'{"name": "some other program"}', "not ours"),
    ("a list", b"[1, 2]", "not ours"), ("a newer schema", b'{"schema": 99, "session": "s1"}', "newer")))
@pytest.mark.parametrize("event", ["Stop", "SessionStart", "UserPromptSubmit"])
def test_a_contract_that_is_not_ours_is_told_and_never_held_on(armed, data, fragment, event):
    armed.break_contract(data)
    told(let_go(armed.hook(event, prompt=ARMING, last_assistant_message=OWING)), fragment)
    with open(armed.contract_path, "rb") as file:
        assert file.read() == data


def test_an_older_contract_is_filled_up_with_defaults(armed):
    armed.break_contract(b'{"schema": 0, "session": "s1", "condition": "the suite is green"}')
    assert CONDITION in held(armed.stop()).err
    assert armed.contract["schema"] == sc.SCHEMA


def test_a_contract_that_vanished_is_told_once(armed):
    os.unlink(armed.contract_path)
    told(let_go(armed.stop()), "vanished")
    assert let_go(armed.stop()).said == ""


def test_a_contract_removed_after_its_release_is_not_missed(armed):
    armed.prompt("stop")
    os.unlink(armed.contract_path)
    assert let_go(armed.stop()).said == ""


# --- a store that cannot be written ---------------------------------------------------------------

def test_an_arming_that_cannot_be_saved_is_told(session):
    told(let_go(session.prompt(ARMING, room=False)), "NOT ARMED")
    assert let_go(session.stop()).said == ""


def test_a_release_that_cannot_be_saved_is_told(armed):
    told(let_go(armed.prompt("stop", room=False)), "NOT RELEASED")


def test_a_release_that_cannot_be_logged_stands(armed):
    os.unlink(armed.log_path)
    os.mkdir(armed.log_path)
    told(armed.prompt("stop"), "released", "logs/s1.jsonl")
    assert armed.contract["state"] == "disarmed"


def full_disk_story(session, build=lambda n, t: t, times=8):
    """The decisions on Stops in a row that cannot be recorded; BUILD adds what the agent does before each."""
    session.transcript.human(ARMING)
    codes = []
    for n in range(times):
        build(n, session.transcript)
        run = session.stop(room=False, stop_hook_active=n > 0)
        codes.append(run.code)
        if run.code == sc.HOLD:
            session.transcript.held(run.err)
    return codes


def test_on_a_full_disk_our_own_feedback_in_the_transcript_counts(armed):
    assert full_disk_story(armed) == [2, 2, 2, 0, 0, 0, 0, 0]


def test_on_a_full_disk_work_keeps_the_gate_engaged(armed):
    assert full_disk_story(armed, lambda n, t: t.call(command=f"make t{n}"), 6) == [2] * 6


def test_on_a_full_disk_a_repeated_call_is_no_work(armed):
    codes = full_disk_story(armed, lambda n, t: t.call(command="ls"))
    assert codes.count(2) <= 4 and codes[-1] == 0


def test_on_a_full_disk_without_a_transcript_only_the_first_stop_of_a_turn_is_held(armed):
    held(armed.stop(room=False))
    told(let_go(armed.stop(room=False, stop_hook_active=True)), "neither store nor transcript")


def test_on_a_full_disk_the_fault_is_told_with_the_hold(armed):
    told(held(armed.stop(room=False)), "not on record")


def test_on_a_full_disk_an_honest_end_is_let_go_and_the_fault_told(armed):
    told(let_go(armed.stop(HONEST, room=False)), "not on record")


def test_a_store_that_is_no_folder_is_let_go_and_told(armed):
    os.rename(armed.store, armed.store + ".away")
    with open(armed.store, "w", encoding="utf-8"):
        pass
    told(let_go(armed.stop()), armed.store)


# --- notices --------------------------------------------------------------------------------------

def test_the_first_clean_end_says_that_the_contract_still_stands(armed):
    told(let_go(armed.stop(HONEST)), "Still armed", CONDITION, '"stop"')
    assert let_go(armed.stop(HONEST)).said == ""


def test_a_degraded_gate_says_that_items_stay_open(armed):
    armed.command("item", "add", "port csv")
    runs = [armed.stop(HONEST) for _ in range(4)]
    told(let_go(runs[-1]), "degraded", "1 item open")
    assert armed.contract["items"][0]["state"] == "open"


@pytest.mark.parametrize("verb, more", rows(
    ("a waiver", "waive", ("--reason", "out of scope")), ("a note", "done", ("--evidence", "note:looked at it")),
    ("an escalation", "escalate", ("--reason", "drops a table", "--class", "irreversible"))))
def test_an_end_that_rests_on_the_ledger_is_told_every_time(armed, verb, more):
    armed.command("item", "add", "port csv")
    armed.command("item", verb, "i1", *more)
    for _ in range(2):
        told(let_go(armed.stop(HONEST)), "Ledger")


def test_another_session_is_not_touched(armed, tmp_path):
    other = Session(tmp_path, "s2")
    before = armed.contract
    assert let_go(other.stop()).said == "" and armed.contract == before


def test_the_verdict_never_depends_on_what_was_given_in_place(armed):
    contract, stop = {**BOUND}, sc.Stop(message=OWING, **sc.read_turn(OWING))
    verdict = sc.decide(contract, stop, sc.Evidence(), sc.Settings(), 1)
    before = json.dumps(contract)
    after = sc.next_contract(contract, stop, verdict, 1)
    assert json.dumps(contract) == before and after != contract


# --- rows of a transcript -------------------------------------------------------------------------

def test_the_content_of_a_row_is_blocks():
    text = [{"type": "text", "text": "a"}]
    assert sc.content_of({"message": {"content": "a"}}) == text
    assert sc.content_of({"message": {"content": [*text, 7]}}) == text
    assert sc.content_of({"message": {"content": None}}) == sc.content_of({"message": "a"}) == sc.content_of({}) == []


def test_rows_are_whole_lines_of_the_main_chain():
    said = b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "\xe2\x80\xa8"}]}}\n'
    other, aside = b'{"type": "snapshot"}\n', b'{"isSidechain": true, "x": [{"type": "text"}]}\n'
    data = other + aside + said + b'{"type": "text" broken\n' + said + b'{"type": "te'
    row = sc.parse_json(said)[0]
    first = len(other + aside)
    second = first + len(said) + len(b'{"type": "text" broken\n')
    assert sc.rows_of(data, 0, True) == ([(first, row), (second, row)], second + len(said))
    assert sc.rows_of(said + said, 100, False) == ([(100 + len(said), row)], 100 + 2 * len(said))
    assert sc.rows_of(b"", 7, True) == ([], 7)


def test_one_line_longer_than_the_bound_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sc.LIMITS, "transcript", 4000)
    data = Transcript().call(command="make").filler(100_000).data
    assert disk_evidence(tmp_path, data[:-1]).readable is False


@pytest.mark.parametrize("call, outcome, changes", rows(
    ("a list", {"name": "TodoWrite", "input": {"todos": [
        {"content": "A  b", "status": "completed"}, {"content": "c"}, {"status": "pending"}, 7]}}, {},
     [(None, "", False), ("todo:a b", "A  b", True), ("todo:c", "c", False)]),
    ("a list that is none", {"name": "TodoWrite", "input": {"todos": 7}}, {}, []),
    ("no input", {"name": "TodoWrite", "input": "x"}, {}, []),
    ("a new task", {"name": "TaskCreate", "input": {}}, {"task": {"id": 3, "subject": "port csv"}},
     [("task:3", "port csv", False)]),
    ("a new task without a subject", {"name": "TaskCreate", "input": {}}, {"task": {"id": 3}}, [("task:3", "", False)]),
    ("a new task that the client did not record", {"name": "TaskCreate", "input": {}}, {"task": 7}, []),
    ("a new task with an outcome in words", {"name": "TaskCreate", "input": {}}, "x", []),
    ("a task begun", {"name": "TaskUpdate", "input": {"taskId": 3, "status": "in_progress", "subject": "csv"}}, {},
     [("task:3", "csv", False)]),
    ("a task waiting", {"name": "TaskUpdate", "input": {"taskId": 3, "status": "pending"}}, "ok",
     [("task:3", "", False)]),
    ("a task completed", {"name": "TaskUpdate", "input": {"taskId": 3, "status": "completed"}}, {"success": True},
     [("task:3", "", True)]),
    ("a task deleted", {"name": "TaskUpdate", "input": {"taskId": 3, "status": "deleted", "subject": "csv"}}, {},
     [("task:3", None, False)]),
    ("an update of a task that is gone", {"name": "TaskUpdate", "input": {"taskId": 3, "status": "completed"}},
     {"success": False}, []),
    ("an update without a state", {"name": "TaskUpdate", "input": {"taskId": 3, "owner": "me"}}, {}, []),
    ("another tool", {"name": "Bash", "input": {"status": "completed"}}, {}, [])))
def test_what_a_to_do_tool_changed(call, outcome, changes):
    assert sc.todo_changes(call, {"toolUseResult": outcome}) == changes


@pytest.mark.parametrize("row, shipped", rows(
    ("the client's own link", {"type": "pr-link", "prUrl": "https://x/pull/1"}, ["pr https://x/pull/1"]),
    ("a link without an address", {"type": "pr-link"}, []),
    ("an address in another row", {"type": "user", "prUrl": "https://x/pull/1"}, []),
    ("the client's own record", {"toolUseResult": {"gitOperation": {"pr": {"action": "created", "number": 4}}}},
     ["pr 4"]),
    ("a record with an address", {"toolUseResult": {"gitOperation": {"pr": {
        "action": "created", "number": 4, "url": "https://x/pull/4"}}}}, ["pr https://x/pull/4"]),
    ("a record of a merge", {"toolUseResult": {"gitOperation": {"pr": {"action": "merged", "number": 4}}}}, []),
    ("a record of another form", {"toolUseResult": {"gitOperation": {"pr": 4}}}, []),
    ("a record of no form", {"toolUseResult": {"gitOperation": "pr"}}, [])))
def test_the_client_s_own_record_shows_an_artifact(row, shipped):
    assert sc.artifacts_in([(10, row), (20, row)], [], 10) == shipped
    assert sc.artifacts_in([(10, row)], [], 11) == []


def test_the_texts_of_a_result_are_those_of_its_parts():
    row = {"message": {"content": [
        {"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "x", {"text": 7}]},
        {"type": "tool_result", "content": "b"}, {"type": "tool_result"}]}}
    assert list(sc.result_texts(row)) == ["a", "b"]


@pytest.mark.parametrize("text, url", rows(
    ("a pull request", "see <https://x/a/pull/1>.", "https://x/a/pull/1"),
    ("a merge request in quotes", "'https://x/-/merge_requests/2',", "https://x/-/merge_requests/2"),
    ("the first of two", "https://x/pull/1 https://x/pull/2", "https://x/pull/1"),
    ("another page", "https://x/issues/1", ""), ("no address", "x/pull/1", ""), ("nothing", "", "")))
def test_the_address_of_a_pull_request_is_found(text, url):
    assert sc.pull_url(text) == url


@pytest.mark.parametrize("schedule, wait", rows(
    ("tomorrow's minute of this day of the week is too far", "0 12 {yesterday} * *", None),
    ("this hour tomorrow", "0 {hour} * * *", 86400),
    ("no such day in a day's time", "* * {yesterday} * *", None),
    ("today, by its day", "30 * {today} * *", 1800),
    ("today, by its month", "30 * * {month} *", 1800),
    ("another month", "30 * * {other} *", None),
    ("today, by its week day", "30 * * * {weekday}", 1800),
    ("another week day", "30 * * * {wrong}", None),
    ("a day and a minute from now", "1 {hour} {tomorrow} * *", None),
    ("too many minutes", "0-60 * * * *", None), ("too many hours", "* 0-24 * * *", None),
    ("too many days", "* * 1-32 * *", None), ("too many months", "* * * 1-13 *", None),
    ("too many days of a week", "* * * * 0-8", None), ("no day of a month", "* * 0 * *", None),
    ("no month", "* * * 0 *", None)))
def test_a_schedule_is_read_in_local_time(schedule, wait):
    t = time.localtime(NOON)
    given = schedule.format(hour=t.tm_hour, today=t.tm_mday, tomorrow=time.localtime(NOON + 86400).tm_mday,
                            yesterday=(t.tm_mday - 3) % 28 + 1, month=t.tm_mon,
                            other=t.tm_mon % 12 + 1, weekday=(t.tm_wday + 1) % 7, wrong=(t.tm_wday + 4) % 7)
    assert sc.cron_wait(given, NOON) == wait


def test_a_schedule_fires_on_the_minute():
    assert sc.cron_wait("1 * * * *", NOON + 30) == 30 and sc.cron_wait("* * * * *", NOON + 59) == 1


@pytest.mark.parametrize("weekday, fires", [(0, True), (7, True), (1, False)])
def test_sunday_has_two_numbers(weekday, fires, monkeypatch):
    monkeypatch.setattr(time, "localtime", time.gmtime)
    sunday = 1_800_144_000          # 2027-01-17, midnight
    assert (sc.cron_wait(f"5 0 * * {weekday}", sunday) == 300) is fires


@pytest.mark.parametrize("text, numbers", rows(
    ("every", "*", {0, 1, 2, 3, 4, 5, 6, 7}), ("every other", "*/2", {0, 2, 4, 6}), ("one", "3", {3}),
    ("a range", "2-4", {2, 3, 4}), ("a range with a step", "1-7/3", {1, 4, 7}), ("from one on with a step", "3/2", {3, 5, 7}),
    ("a list", "1,5-6", {1, 5, 6}), ("both ends", "0,7", {0, 7})))
def test_a_cron_field_is_a_set(text, numbers):
    assert sc.cron_field(text, (0, 7)) == numbers
