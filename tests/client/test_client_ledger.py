"""What is owed, on the real client: items and evidence, claims, waits, the client's own lists, the operator's check.

The agent's commands are run by the client's Bash tool: the session is the one that the client names in that shell's
environment, and the evidence is what the client wrote into its own transcript.
"""
import uuid

import pytest

from .api import bash, call, say
from .driver import own_line
from .wording import (
    ARM, ATTESTED, FINISHED, HELD, LET_GO, OPEN_ITEM, RESTORED, UNFINISHED, VERIFIED, WAITS, WORK, held, until_file)

pytestmark = pytest.mark.client

ASKS = "The reader is ported. Should I drop the old column?"
# The longest text of a hold that is not the first one.
SHORT = 600


def own(*args):
    """A turn in which the model runs one of the hook's commands in its shell."""
    return bash(own_line(*args))


def block_of(request):
    """The hold that a request carries, as the hook wrote it, without the client's words around it."""
    return (HELD + request.news.partition(HELD)[2]).partition("</system-reminder>")[0].strip()


def test_items_hold_until_they_are_closed_by_what_ran_or_escalated(client):
    """A command that ran closes an item, one that never ran does not; an escalated item excuses its question."""
    it = client(
        own("item", "add", "port the reader"), own("item", "add", "drop the old column"),
        say(FINISHED),
        bash("mkdir reader && ls -la reader"), bash("test -d reader"),
        own("item", "done", "i1", "--evidence", "command:test -d reader"),
        own("item", "done", "i2", "--evidence", "command:test -d column"),
        say(FINISHED),
        own("item", "escalate", "i2", "--class", "irreversible", "--reason", "the rows cannot be had back"),
        say(ASKS))
    run = it.run(ARM)
    sent = [request.news for request in it.api.main]
    reader, column = OPEN_ITEM % ("i1", "port the reader"), OPEN_ITEM % ("i2", "drop the old column")
    assert held(it.api.main) == [n in (3, 8) for n in range(10)]
    assert reader in sent[3] and column in sent[3]
    assert "i1 done" in sent[6] and VERIFIED in sent[6]
    assert "i2 done" not in sent[7] and "no evidence" in sent[7]
    assert reader not in sent[8] and column in sent[8]
    assert run.final["result"] == ASKS
    assert "i2" in run.notices.rpartition(LET_GO)[2]


def test_a_session_resumed_in_a_new_process_keeps_its_ledger(client):
    """The process that opened the item is gone; the next one is told of the item, held by it, and can close it."""
    it = client(own("item", "add", "port the reader"))
    # The limit on turns ends the first process with no Stop at all.
    first = it.run(ARM, "--max-turns", "1")
    it.api.script(say(FINISHED), own("item", "done", "i1", "--evidence", "note:read it line by line"), say(FINISHED))
    run = it.run("Go on", "--resume", first.session)
    reader = OPEN_ITEM % ("i1", "port the reader")
    assert run.session == first.session
    assert reader in it.api.main[1].text.partition(RESTORED)[2]
    assert held(it.api.main) == [False, False, True, False]
    assert reader in it.api.main[2].news
    assert ATTESTED in run.notices.rpartition(LET_GO)[2]


def test_a_claim_ends_the_contract_at_a_stop_that_nothing_contradicts(client):
    """Claimed with work announced the turn is held all the same; a clean stop ends the contract, with the evidence."""
    it = client(own("met", "--evidence", "note:all 225 pass in run 7"), say(UNFINISHED), say(FINISHED))
    run = it.run(ARM)
    assert held(it.api.main) == [False, False, True]
    told = run.notices.rpartition(LET_GO)[2]
    assert "run 7" in told and ATTESTED in told
    assert " met " in it.operate("status", "--session", run.session)


def test_asking_once_for_the_claim_costs_one_short_hold(client):
    """With `claim` at once a clean end is held one time; the second is let go, and that nobody claimed it is said."""
    it = client(say(FINISHED), say("As I said: " + FINISHED))
    it.configure(claim="once")
    run = it.run(ARM)
    assert held(it.api.main) == [False, True]
    assert "claimed" in run.notices.rpartition(LET_GO)[2]
    block = block_of(it.api.main[1])
    assert "met --evidence" in block
    assert len(block.encode()) <= SHORT


def test_a_background_task_excuses_one_stop_and_one_more_after_work(client, terminal):
    """A wait is let go while the client reports its task: once, and again after work. With no task left it is void."""
    it = client(bash(until_file("finished"), run_in_background=True), say("One. " + WAITS), say("Two. " + WAITS),
                bash("mkdir part && ls -la"), say("Three. " + WAITS))
    it.open("--permission-mode", "default")
    it.ask(ARM)
    assert held(it.api.main) == [False, False]
    it.ask("Go on")
    assert held(it.api.main) == [False, False, False, True, False]
    assert it.told.count(LET_GO) == 2
    it.api.script(own("wait", "--for", "the suite"), say("Four. " + WAITS), say("Five. " + FINISHED))
    it.leave("finished")
    it.wait_for("● Five")
    assert held(it.api.main[5:]) == [False, False, True]
    assert "the suite is void" in it.api.main[7].news


def todo(*entries):
    """A turn that writes the client's whole to-do list anew."""
    return call("TodoWrite", todos=[dict(content=text, activeForm=text, status=status) for text, status in entries])


def task(number, status):
    """A turn that changes one of the client's tasks."""
    return call("TaskUpdate", taskId=number, status=status)


def added(subject):
    """A turn that adds one task to the client's list."""
    return call("TaskCreate", subject=subject, description="all of it")


# The tools are off in print mode unless the environment asks for them; the second variable asks for the older one.
TODO = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "CLAUDE_CODE_ENABLE_TASKS": "0"}
TASKS = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}


def test_a_to_do_list_is_owed_until_it_is_completed(client):
    """Open entries hold, and hold on when the list is rewritten without them; completed they let go."""
    it = client(todo(("port the reader", "pending"), ("port the writer", "in_progress")), say(FINISHED),
                todo(("tidy up", "completed")), say(FINISHED),
                todo(("port the reader", "completed"), ("port the writer", "completed")), say(FINISHED), environ=TODO)
    run = it.run(ARM)
    assert held(it.api.main) == [False, False, True, False, True, False]
    for text in ("port the reader", "port the writer"):
        assert text in it.api.main[2].news
    assert "2 done" in run.notices.rpartition(LET_GO)[2]


def test_tasks_are_owed_until_they_are_completed(client):
    """A task deleted after a hold stays owed; the client refuses to complete it, and so it is waived with a reason."""
    it = client(added("port the reader"), added("port the writer"), say(FINISHED),
                task("1", "completed"), task("2", "deleted"), say(FINISHED),
                task("2", "completed"), say(FINISHED),
                own("item", "waive", "i2", "--reason", "the writer is gone"), say(FINISHED), environ=TASKS)
    run = it.run(ARM)
    assert held(it.api.main) == [n in (3, 6, 8) for n in range(10)]
    assert OPEN_ITEM % ("i1", "port the reader") not in it.api.main[6].news
    assert OPEN_ITEM % ("i2", "port the writer") in it.api.main[6].news
    assert "1 waived" in run.notices.rpartition(LET_GO)[2]


def test_the_operators_check_fails_twice_and_then_passes(client):
    """Armed from another terminal, the check is run by the gate; each failure is told with its last lines."""
    session = str(uuid.uuid4())
    it = client(say(FINISHED), bash("mkdir built"), say(FINISHED), bash("mkdir tested"), say(FINISHED))
    check = "ls; test -d built && test -d tested"
    it.operate("arm", "--session", session, "--check", check, "until both parts are there")
    run = it.run(WORK, "--session-id", session)
    assert held(it.api.main) == [False, True, False, True, False]
    assert "exits 1" in it.api.main[1].news
    assert "exits 1: built" in it.api.main[3].news
    assert "exits 0" in run.notices.rpartition(LET_GO)[2]
    assert " met " in it.operate("status", "--session", session)
