"""The four kinds of obligation, one decision: each mode's own predicate, and the default mode untouched by the others."""
import json
import os

import pytest

import session_contract as sc
from conftest import CONDITION, HONEST, OWING, Pure, calls, ends, held, item, let_go, play, rows, says, told

PULL = "https://github.com/acme/demo/pull/"
WAKE = {"id": "w1", "schedule": "* * * * *", "recurring": True, "prompt": "look at the build"}


def shipped(session, command, text, outcome=None, error=False, name="Bash", **row):
    """A tool call that may ship something, with the text of its result and the client's own record of it."""
    transcript = session.transcript
    transcript.count += 1
    call = f"ship_{transcript.count}"
    given = {"command": command} if name == "Bash" else command
    transcript.row("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}], **row)
    transcript.row("user", [{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}],
                   toolUseResult=outcome or {"stdout": text, "stderr": "", "interrupted": False}, **row)


# --- run ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("state, ends_it, why", rows(
    ("there is no file", None, False, "no state file"),
    ("the file is empty", "", False, "no JSON"),
    ("the file is half written", '{"state": "clo', False, "no JSON"),
    ("the file is a list", "[1]", False, "is None"),
    ("the field is missing", '{"other": 1}', False, "is None"),
    ("the state is not terminal", '{"state": "open"}', False, "is open"),
    ("the state is a number", '{"state": 7}', False, "is 7"),
    ("the first terminal state", '{"state": "closed"}', True, "is closed"),
    ("another terminal state", '{"state": "elevated"}', True, "is elevated"),
))
def test_a_run_is_held_until_its_state_file_is_terminal(session, state, ends_it, why):
    path = os.path.join(session.folder, "run.json")
    if state is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(state)
    session.command("arm", "the run ends", "--run-state", path, "--terminal", "closed,elevated")
    if ends_it:
        told(let_go(session.stop(OWING)), why)
        assert session.contract["state"] == "met"
    else:
        assert why in held(session.stop(HONEST)).err


def test_a_field_inside_the_state_file_is_reached_by_dots(session):
    path = os.path.join(session.folder, "run.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"job": {"phase": "closed"}}, file)
    session.command("arm", "x", "--run-state", path, "--field", "job.phase")
    let_go(session.stop(HONEST))


def test_a_run_that_does_not_end_is_bounded(session):
    session.command("arm", "x", "--run-state", os.path.join(session.folder, "none.json"))
    assert [session.stop("Looked again.").code for _ in range(4)] == [2, 2, 2, 0]


# --- artifact -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("command, text, more, counts", rows(
    ("a pull request by shell", "gh pr create --fill", PULL + "1", {}, True),
    ("a merge request by shell", "glab mr create --fill", "https://gitlab.com/acme/demo/-/merge_requests/3", {}, True),
    ("a pull request behind a push, by the client's record", "git push && gh pr create --fill", PULL + "2",
     {"outcome": {"stdout": "", "gitOperation": {"pr": {"number": 2, "url": PULL + "2", "action": "created"}}}}, True),
    ("a pull request by the client's own tool", {"title": "t"}, PULL + "4",
     {"name": "mcp__github__create_pull_request"}, True),
    ("an approving review", "gh pr review 9 --approve", "", {}, True),
    ("a review that requests changes", "gh pr review 9 -r -b 'see notes'", "", {}, True),
    ("a review comment", "gh pr review 9 --comment -b hm", "", {}, False),
    ("a plain comment", "gh pr comment 9 -b hm", PULL + "9", {}, False),
    ("an echo of an address", f"echo {PULL}5", PULL + "5", {}, False),
    ("a file that holds an address", "cat notes.md", PULL + "5", {}, False),
    ("a dry run", "gh pr create --dry-run", PULL + "6", {}, False),
    ("a failure that names an older one", "gh pr create", f"already exists: {PULL}7", {"error": True}, False),
    ("a look at one", "gh pr view 9", PULL + "9", {}, False),
    ("a creation without an address", "gh pr create", "", {}, False),
    ("a creation by a subagent", "gh pr create --fill", PULL + "8", {"isSidechain": True}, False),
    ("an outcome that is a text", "ls -la", "x", {"outcome": "User rejected tool use"}, False),
))
def test_an_artifact_counts_only_if_a_tool_shipped_it(session, command, text, more, counts):
    session.command("arm", CONDITION, "--artifact", "pr,review")
    shipped(session, command, text, **more)
    if counts:
        told(let_go(session.stop(HONEST)), "shipped")
        assert session.classes == ["MATERIAL-ALLOW"]
    else:
        assert "unmet: pull request opened or formal review submitted" in held(session.stop(HONEST)).err


def test_words_about_a_pull_request_are_none(session):
    session.command("arm", CONDITION, "--artifact", "pr")
    session.transcript.human(f"see {PULL}1").says(f"I opened {PULL}1.")
    held(session.stop(f"Opened {PULL}1."))


def test_one_artifact_lets_one_end_go(session):
    session.command("arm", CONDITION, "--artifact", "pr")
    shipped(session, "gh pr create --fill", PULL + "1")
    let_go(session.stop(HONEST))
    held(session.stop(HONEST))
    shipped(session, "gh pr create --fill", PULL + "1")
    held(session.stop(HONEST))
    shipped(session, "gh pr create --fill", PULL + "2")
    let_go(session.stop(HONEST))


def test_an_artifact_from_before_the_arming_is_none(session):
    shipped(session, "gh pr create --fill", PULL + "1")
    session.prompt("Don't stop until a pull request is opened.")
    held(session.stop(HONEST))


def test_an_artifact_does_not_cover_what_is_owed(session):
    session.command("arm", CONDITION, "--artifact", "pr")
    session.command("item", "add", "port csv")
    shipped(session, "gh pr create --fill", PULL + "1")
    held(session.stop(HONEST))


def test_without_an_artifact_every_item_needs_a_next_actor_and_two_holds(session):
    session.command("arm", CONDITION, "--artifact", "pr")
    session.command("item", "add", "release the package")
    held(session.stop(HONEST))
    assert session.command("item", "hand-off", "i1", "--to", "the release team").code == 0
    held(session.stop(HONEST))
    told(let_go(session.stop(HONEST)), "the release team")
    assert session.classes[-1] == "CLEAN-TERMINAL-ALLOW"


@pytest.mark.parametrize("who", ["me", "this agent", "a later session", " - "])
def test_no_item_is_handed_to_this_agent_or_a_later_session(session, who):
    session.command("arm", CONDITION, "--artifact", "pr")
    session.command("item", "add", "release the package")
    assert session.command("item", "hand-off", "i1", "--to", who).code == 1


def test_hand_off_belongs_to_artifact_mode(armed):
    armed.command("item", "add", "release the package")
    assert "belongs to artifact mode" in armed.command("item", "hand-off", "i1", "--to", "ops").err


@pytest.mark.parametrize("condition, wanted", rows(
    ("a pull request is asked for", "a pull request is opened", ["pr"]),
    ("a PR is asked for", "the PR is up", ["pr"]),
    ("a review is asked for", "you have submitted the review", ["review"]),
    ("an existing one only passes", "PR #12's tests pass", []),
    ("a request of another kind", "the request times out no more", []),
    ("nothing of the kind", "the suite is green", []),
))
def test_a_condition_asks_for_an_artifact(condition, wanted):
    assert sc.asks_for_artifact(condition) == wanted


# --- away ---------------------------------------------------------------------------------------------------------

def away(session):
    session.command("arm", CONDITION, "--while-away")
    assert session.command("away").code == 0
    return session


def test_present_is_let_go_with_what_is_owed_in_one_line(session):
    session.command("arm", CONDITION, "--while-away")
    session.command("item", "add", "port csv")
    told(let_go(session.stop(OWING)), "you are present", "1 item open")


def test_away_is_held_without_a_stall_bound_and_names_the_next_item(session):
    away(session).command("item", "add", "port csv")
    for _ in range(6):
        assert "next owed: i1 port csv" in held(session.stop(HONEST)).err


def test_away_with_nothing_owed_asks_for_the_next_ready_item_first(session):
    text = held(away(session).stop(HONEST)).err
    assert text.index("next ready item") < text.index("scheduled look")


def test_a_wake_with_nothing_owed_reads_waiting(session):
    let_go(away(session).stop(HONEST, session_crons=[WAKE]))
    assert session.contract["standing"] == "waiting"


def test_a_wake_does_not_cover_what_no_hold_has_named(session):
    away(session).command("item", "add", "port csv")
    held(session.stop(HONEST, session_crons=[WAKE]))
    let_go(session.stop(HONEST, session_crons=[WAKE]))
    session.command("item", "add", "port xml")
    held(session.stop(HONEST, session_crons=[WAKE]))


def test_away_holds_in_plan_mode_too(session):
    held(away(session).stop(HONEST, permission_mode="plan"))


@pytest.mark.parametrize("cap, last", rows(("the client's own cap", "", 8), ("a lower cap", "3", 3), ("no cap", "0", 0)))
def test_the_hold_that_reaches_the_clients_cap_reads_stopped(session, cap, last):
    session.environ["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = cap
    away(session)
    seen = []
    for _ in range(9):
        held(session.stop(HONEST))
        seen.append(session.contract["standing"])
    assert (seen.index("stopped") + 1 if "stopped" in seen else 0) == last


def test_any_prompt_of_the_operator_ends_an_absence_and_tells_what_happened(session):
    away(session).command("item", "add", "port csv")
    held(session.stop(HONEST))
    told(session.prompt("good morning"), "back", "working", "1 item open")
    assert session.contract["mode"] == "work"


def test_an_absence_that_began_in_a_prompt_holds(session):
    session.armed("I'm away until 8, keep going until the list is done.")
    assert session.contract["mode"] == "away"
    held(session.stop(HONEST))


def test_an_absence_ends_at_its_time(session):
    away(session)
    with open(os.path.join(session.store, "presence.json"), "w", encoding="utf-8") as file:
        json.dump({"away": True, "since": 1, "until": 2}, file)
    told(let_go(session.stop(HONEST)), "you are present")


def test_back_lists_what_was_held(session):
    held(away(session).stop(HONEST))
    assert "s1 working" in session.command("back").out.decode()


# --- one decision -------------------------------------------------------------------------------------------------

def test_one_mode_decides(session):
    assert "one mode decides" in session.command("arm", "x", "--artifact", "pr", "--while-away").err


def test_observe_records_everything_and_holds_nothing(session):
    session.environ["SESSION_CONTRACT"] = "observe"
    session.armed()
    for _ in range(5):
        let_go(session.stop(OWING))
    assert session.classes == ["WOULD-BLOCK"] * 5
    assert session.records[-1]["rules"]
    assert json.loads(session.command("report", "--json").out)["would"] == 5


@pytest.mark.parametrize("given, wanted", rows(("its own name", "night shift", "night shift"), ("user and host", None, "@")))
def test_every_line_of_the_log_says_who(session, given, wanted):
    if given:
        session.environ["SESSION_CONTRACT_IDENTITY"] = given
    session.armed().stop(OWING)
    assert session.records and all(wanted in record["identity"] for record in session.records)


PINNED = [says("Don't stop until the suite is green."), ends(OWING, "BLOCK"), calls(command="make"), ends(HONEST, "ALLOW-CLEAN"),
          item("a"), ends(HONEST, "BLOCK")]


def test_the_default_mode_decides_the_same_whatever_other_modes_there_are(monkeypatch):
    monkeypatch.setattr(sc, "MODES", {"work": sc.MODES["work"]})
    found, wanted = play(Pure(), PINNED)
    assert found == wanted


def test_a_state_file_that_is_no_file_is_named(session):
    session.command("arm", "x", "--run-state", session.folder)
    assert "no regular file" in held(session.stop(HONEST)).err


@pytest.mark.parametrize("given", ["issue", ",", "pr,issue"])
def test_a_class_that_is_no_artifact_is_refused(session, given):
    run = session.command("arm", "x", "--artifact", given)
    assert run.code == 1 and f"--artifact takes pr or review, not {given!r}" in run.err


def test_a_return_that_is_no_time_is_refused(session):
    run = session.command("away", "--until", "soon")
    assert run.code == 1 and "HH:MM, not 'soon'" in run.err


def test_an_absence_has_an_end(session):
    assert b"away until 08:00" in session.command("away", "--until", "8:00".zfill(5)).out
    with open(os.path.join(session.store, "presence.json"), encoding="utf-8") as file:
        presence = json.load(file)
    assert presence["until"] > presence["since"]


def test_the_language_free_form_says_away_and_back(session):
    session.armed()
    assert "armed for your absence" in session.prompt("contract: away").answer
    assert session.contract["mode"] == "away"
    held(session.stop(HONEST))
    assert "you are back" in session.prompt("contract: back").answer
    assert session.contract["mode"] == "work"
    let_go(session.stop(HONEST))


@pytest.mark.parametrize("word", ["away", "back"])
def test_the_language_free_form_needs_no_contract(session, word):
    assert session.prompt(f"contract: {word}").answer == f"{sc.NAME}: {word}; nothing is armed in this session."


def test_the_language_free_form_resumes(session):
    session.armed()
    assert "paused" in session.prompt("contract: pause").answer
    let_go(session.stop(OWING))
    assert "resumed" in session.prompt("contract: resume").answer
    held(session.stop(OWING))


def test_a_status_names_the_mode_and_how_it_stands(session):
    held(away(session).stop(HONEST))
    assert b"  mode away: working\n" in session.command("status").out
