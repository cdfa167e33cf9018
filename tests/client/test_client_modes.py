"""The other modes on the real client: something shipped, a run of one's own, an absence; and who decided.

`gh` and `git` are stubs on the client's PATH. What counts as shipped is what the client itself wrote into its
transcript about the commands that it ran.
"""
import json
import uuid

import pytest

from .api import bash, call, say
from .wording import ARM, CONDITION, FINISHED, HELD_FOR, LET_GO, UNFINISHED, WORK, held

pytestmark = pytest.mark.client

OPENED = "a pull request is open"
ARM_OPENED = "Fix the tests, and don't stop until " + OPENED
ARM_AWAY = "I'm away, keep going until " + CONDITION
BACK = "back: "
FIXED = "The fix is in."
DONE = "The pull request is open."
URL = "https://forge.example/acme/demo/pull/%d"
CREATE = "gh pr create --title fix --body all"


@pytest.fixture
def shop(client):
    """A function that makes a client with stubs: `gh` prints what is in the project's file `url`, `git` succeeds."""
    def make(*turns, **more):
        it = client(*turns, **more)
        it.program("gh", "cat url")
        it.program("git", "exit 0")
        it.leave("url", URL % 41)
        return it
    return make


def test_a_pull_request_lets_go_once(shop):
    """Opened by the real command it lets go; the same one does not let the next stop go, another one does."""
    it = shop(say(FIXED), bash(CREATE), say(DONE))
    run = it.run(ARM_OPENED)
    assert held(it.api.main) == [False, True, False]
    assert HELD_FOR % OPENED in it.api.main[1].news and "pull request opened" in it.api.main[1].news
    assert URL % 41 in run.notices.rpartition(LET_GO)[2]
    it.api.script(say(DONE), bash(CREATE + " --draft"), say(DONE),
                  bash("printf %s > url && ls" % (URL % 42)), bash(CREATE + " --label next"), say(DONE))
    again = it.run("And the next one", "--resume", run.session)
    assert held(it.api.main[3:]) == [False, True, False, True, False, False]
    assert URL % 42 in again.notices.rpartition(LET_GO)[2]
    assert URL % 41 not in again.notices.rpartition(LET_GO)[2]


def test_the_clients_own_record_of_a_pull_request_lets_go(shop):
    """Behind a push and in front of a filter it is no simple command, but the client knows what it did."""
    it = shop(bash("git push && %s 2>&1 | tail -1" % CREATE), say(DONE))
    run = it.run(ARM_OPENED)
    assert any("gitOperation" in (row.get("toolUseResult") or ()) for row in it.transcript())
    assert held(it.api.main) == [False, False]
    assert URL % 41 in run.notices.rpartition(LET_GO)[2]


def test_an_address_that_was_only_printed_is_no_pull_request(shop):
    """The same words on the same stream, by echo and by cat, hold."""
    it = shop(bash("echo " + URL % 41), say(DONE), bash("cat url && ls -la"), say(DONE), bash(CREATE), say(DONE))
    it.run(ARM_OPENED)
    assert held(it.api.main) == [False, False, True, False, True, False]


def test_a_run_is_held_until_its_state_is_terminal(client):
    """Without its file it has not ended, nor in a state on the way; a terminal state ends the contract."""
    session = str(uuid.uuid4())
    it = client(say(FINISHED), bash("""echo '{"job": {"state": "testing"}}' > run.json"""), say(FINISHED),
                bash("""echo '{"job": {"state": "elevated"}}' > run.json"""), say(UNFINISHED))
    it.operate("arm", "--session", session, "--run-state", "run.json", "--field", "job.state",
               "--terminal", "closed,elevated", "until the job is through")
    run = it.run(WORK, "--session-id", session)
    assert held(it.api.main) == [False, True, False, True, False]
    assert "no state file" in it.api.main[1].news
    assert "testing" in it.api.main[3].news
    assert "elevated" in run.notices.rpartition(LET_GO)[2]
    assert " met " in it.operate("status", "--session", session)


def test_away_a_turn_ends_only_for_a_wakeup(client, terminal):
    """Without a wakeup the turn is held though nothing is owed; with one it waits, until the operator's next prompt."""
    it = client(say("One. " + FINISHED),
                call("ScheduleWakeup", delaySeconds=3600, prompt="look at the build", reason="the build takes an hour"),
                say("Two. The build runs."))
    it.open("--permission-mode", "default")
    it.ask(ARM_AWAY)
    assert held(it.api.main) == [False, True, False]
    assert "away" in it.api.main[1].news
    assert LET_GO in it.told
    assert "waiting" in it.operate("status", "--last")
    it.api.script(say("Three. " + UNFINISHED), say("Four. " + FINISHED))
    it.ask("How far is it?")
    assert held(it.api.main[3:]) == [False, True]
    assert "away" not in it.api.main[4].news
    assert BACK in it.told


def test_away_the_hold_that_reaches_the_clients_bound_is_remembered(client):
    """The client ends the turn against the hook after so many holds; the operator's return is told of it."""
    it = client(*[say(UNFINISHED)] * 3, environ={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"})
    run = it.run(ARM_AWAY)
    assert held(it.api.main) == [False, True, True]
    assert "stopped" in it.operate("status", "--session", run.session)
    it.api.script(say(FINISHED))
    told = it.run("How far is it?", "--resume", run.session).notices
    assert "stopped" in told.partition(BACK)[2]


def test_each_line_of_the_log_says_who_decided(client):
    """Two sessions in one store, each under the identity that its environment gave it."""
    it = client(say(UNFINISHED), say(FINISHED), say(UNFINISHED), say(FINISHED))
    for name in ("ada@desk", "bob@rack"):
        it.environ["SESSION_CONTRACT_IDENTITY"] = name
        session = it.run(ARM).session
        log = [json.loads(line) for line in it.operate("log", "--session", session, "--json").splitlines()]
        assert {line["identity"] for line in log} == {name}
        assert [line["class"] for line in log if line.get("event") == "Stop"] == ["BLOCK", "ALLOW-CLEAN"]
        assert it.operate("log", "--session", session).count(name) == len(log)
