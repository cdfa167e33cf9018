"""What the real client does with the hook: held and let go, released, restored, and left alone.

The model is scripted, the client is not: each assertion is on a request that the model got, on the client's screen or
stream, or on the files that were left.
"""
import os
import threading

import pytest

from .api import bash, call, say
from .wording import (
    ARM, ARMED, CONDITION, DEGRADED, FINISHED, HELD, HELD_FOR, INJECTED, NAME, PLAN, RELEASED, RESTORED, STATUS,
    UNFINISHED, WAITING, WAITS, held, until_file)

pytestmark = pytest.mark.client


def test_an_unfinished_turn_is_held_and_an_honest_ending_is_let_go(client):
    """The model is sent the block text instead of being let go, and the run ends with the honest message."""
    it = client(say(UNFINISHED), say(FINISHED))
    run = it.run(ARM)
    assert held(it.api.main) == [False, True]
    assert HELD_FOR % CONDITION in it.api.main[1].news
    assert INJECTED in it.api.main[0].news
    assert ARMED % CONDITION in run.notices
    assert (run.code, run.final["result"]) == (0, FINISHED)
    feedback = [row for row in it.transcript() if row.get("isMeta") and HELD in str(row["message"]["content"])]
    assert len(feedback) == 1


def test_stop_between_two_prompts_releases(client):
    """After "stop" the same unfinished message ends the turn, in this prompt and in the next."""
    it = client(say(FINISHED), say(UNFINISHED), say(UNFINISHED))
    armed = it.run(ARM)
    assert ARMED % CONDITION in armed.notices
    assert RELEASED in it.run("stop", "--resume", armed.session).notices
    assert it.run("What is left?", "--resume", armed.session).final["result"] == UNFINISHED
    assert held(it.api.main) == [False, False, False]


@pytest.mark.parametrize("busy", ["streaming", "in a command"])
def test_stop_typed_while_a_turn_runs_releases_that_turn(client, terminal, busy):
    """The word takes effect in the running turn, whether the client keeps it for later or hands it over now."""
    gate = threading.Event()
    held_turn = say(UNFINISHED, gate) if busy == "streaming" else bash(until_file("go"))
    it = client(say(UNFINISHED), held_turn, say("Stopped. " + UNFINISHED))
    it.open("--permission-mode", "default")
    it.type(ARM)
    it.wait_requests(2)
    it.type("stop")
    # The client queues a prompt only when its hook has answered.
    it.wait_for("Queued")
    gate.set()
    it.leave("go")
    it.wait_for(r"● Stopped\. [^❯]*✻")
    assert held(it.api.main) == [False, True, False]
    assert RELEASED in it.screen()


def test_three_stalls_degrade_visibly_and_the_next_prompt_engages_again(client):
    """Three holds without work, then the turn ends with a notice; a new prompt of the operator brings the gate back."""
    it = client(*[say(UNFINISHED)] * 4)
    stalled = it.run(ARM)
    assert held(it.api.main) == [False, True, True, True]
    assert DEGRADED in stalled.notices
    assert stalled.final["result"] == UNFINISHED
    it.api.script(say(UNFINISHED), say(FINISHED))
    again = it.run("Go on", "--resume", stalled.session)
    assert held(it.api.main[4:]) == [False, True]
    assert DEGRADED not in again.notices


def test_work_between_holds_keeps_the_gate_engaged(client):
    """Seven holds with one piece of work between each two are seven holds, not a stall."""
    it = client()
    work = [bash("mkdir part%d && ls -la part%d" % (n, n)) for n in range(5)]
    work.append(call("Read", file_path=it.leave("notes.txt", "one\ntwo\n")))
    for step in work:
        it.api.script(say(UNFINISHED), step)
    it.api.script(say(UNFINISHED), say(FINISHED))
    run = it.run(ARM)
    assert sum(held(it.api.main)) == len(work) + 1
    assert DEGRADED not in run.notices
    assert run.final["result"] == FINISHED


def test_resume_and_compaction_restore_the_contract(client, terminal):
    """After each of them the next request tells the model again what it is held to, and the gate still holds."""
    it = client(say(FINISHED), say("It is two."))
    armed = it.run(ARM)
    it.open("--permission-mode", "default", "--resume", armed.session)
    it.type("What is one and one?")
    it.wait_for("It is two")
    resumed = it.wait_requests(2).text
    assert RESTORED in resumed and CONDITION in resumed.split(RESTORED)[1]
    it.type("/compact")
    it.wait_for("(?i)compacted")
    it.api.script(say(UNFINISHED), say("Then: " + FINISHED))
    it.type("Go on")
    it.wait_for("● Then: ")
    compacted = it.api.main[2].text
    assert ARM not in compacted
    assert RESTORED in compacted and CONDITION in compacted.split(RESTORED)[1]
    assert held(it.api.main[2:]) == [False, True]


def test_the_operators_own_plan_mode_is_let_go_and_told(client):
    """A plan waits for the operator: the turn ends, and the operator is told why it was not held."""
    it = client(say("The plan has 3 steps. " + UNFINISHED))
    run = it.run(ARM, "--permission-mode", "plan")
    assert held(it.api.main) == [False]
    assert PLAN in run.notices.split(ARMED % CONDITION)[1]


def test_a_subagents_end_is_untouched(client):
    """The same words end a subagent freely and are held in the main session."""
    it = client(call("Task", description="count", prompt="Count the failing tests.", subagent_type="general-purpose",
                     run_in_background=False),
                say(UNFINISHED), say(UNFINISHED), say(FINISHED))
    run = it.run(ARM)
    assert "Count the failing tests." in it.api.main[1].news and UNFINISHED in it.api.main[2].news
    assert held(it.api.main) == [False, False, False, True]
    assert run.final["result"] == FINISHED


def test_a_wait_for_a_running_background_task_is_let_go_until_it_ends(client, terminal):
    """The turn ends and the screen says what it waits for; when the task has ended, the gate holds again."""
    it = client(bash(until_file("finished"), run_in_background=True), say(WAITS))
    it.open("--permission-mode", "default")
    it.type(ARM)
    it.wait_for("Stop says: session-contract: [^❯]*" + WAITING)
    it.wait_for("(?m)^✻")
    assert held(it.api.main) == [False, False]
    it.api.script(say(UNFINISHED), say("Now: " + FINISHED))
    it.leave("finished")
    it.wait_for("● Now: ")
    assert held(it.api.main) == [False, False, False, True]


def test_a_condition_that_names_a_missing_file_still_blocks(client):
    """The client takes an exit 2 whose stderr says "no such file" for a missing script, unless stdout has an answer."""
    condition = "no test says no such file"
    it = client(say(UNFINISHED), say("No test says so now; all 225 pass."))
    it.run("Fix the paths. Don't stop until " + condition)
    assert held(it.api.main) == [False, True]
    assert HELD_FOR % condition in it.api.main[1].news


def test_contract_status_is_answered_without_the_model_in_print_mode(client):
    """The answer is in the stream, the run ends well, and the model never sees the prompt, then or later."""
    it = client(say(FINISHED), say("It is two."))
    armed = it.run(ARM)
    status = it.run(STATUS, "--resume", armed.session)
    assert status.code == 0
    assert CONDITION in status.notices
    assert len(it.api.main) == 1
    assert it.run("What is one and one?", "--resume", armed.session).final["result"] == "It is two."
    assert STATUS not in it.api.main[1].text


def test_contract_status_is_answered_without_the_model_in_the_terminal(client, terminal):
    """The answer is on the screen under the client's own heading, and no request is made."""
    it = client(say(FINISHED))
    armed = it.run(ARM)
    it.open("--permission-mode", "default", "--resume", armed.session)
    it.type(STATUS)
    it.wait_for("by hook:[^❯]*" + CONDITION)
    assert len(it.api.main) == 1


def test_without_a_contract_nothing_is_written_or_said(client):
    """A session that was never armed leaves no file, no notice, and no word in the conversation."""
    it = client(say(UNFINISHED), say(UNFINISHED))
    run = it.run("Please fix the tests")
    again = it.run("Where does the file stop?", "--resume", run.session)
    assert held(it.api.main) == [False, False]
    assert NAME not in run.notices + again.notices
    assert NAME not in it.api.main[1].text
    assert not os.path.exists(it.store)
