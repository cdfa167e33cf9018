"""What users of hooks like this one reported in public, each as a test: B001 to B114 are the reports' numbers.

The wordings here are this project's own. Where a report left the right answer open, the test shows what was decided.
"""
import ast
import json
import os
import re
import shutil
import subprocess
import threading
import time

import pytest

import session_contract as sc
from conftest import (ARMING, CONDITION, FILE, HONEST, OWING, PATIENCE, ROOT, RUNNING, WAITING, Run, Session,
                      Transcript, command_line, held, launch, let_go, rows, silent, told)
from test_hook import fed, redirected
from test_install import gate_off, laid_out, only, ours_in, pythons, read
from test_modes import shipped

# The reports that were collected; the gaps are numbers that were not kept.
GONE = (3, 5, 6, 11, 14, 17, 20, 21, 26, 27, 35, 36, 37, 40, 43, 47, 50, 52, 54, 59, 62, 65, 67, 68, 71, 76, 79, 82, 87,
        91, 92, 95, 96, 98, 103, 105, 108, 111, 113)
REPORTS = [f"B{number:03}" for number in range(1, 115) if number not in GONE]


def test_every_report_has_a_test():
    named = re.findall(r'(?:\(f?"|def test_)(B\d{3})[ _]', read(__file__).decode())
    assert len(REPORTS) == 75 and sorted(set(named)) == REPORTS


def owing(session, *texts):
    """SESSION with an open item for each of TEXTS."""
    for text in texts or ("rebuild the index",):
        assert session.command("item", "add", text).code == 0
    return session


def states(session):
    return {item["id"]: item["state"] for item in session.contract["items"]}


def in_minutes(minutes, **fields):
    """A schedule that fires in so many minutes, as the client reports it."""
    at = time.strftime("%M %H %d %m *", time.localtime(time.time() + 60 * minutes))
    return {"id": "w1", "schedule": at, "recurring": False, "prompt": "look at the build", **fields}


# --- turns that end too early -----------------------------------------------------------------------------------

HELD = rows(
    ("B001 says what it does next and ends: 'On to the loader.'", "The lexer is finished. On to the loader."),
    ("B001 names the next piece of work", "Headers parse. Next I'll move the footers over."),
    ("B001 is about to do something", "Table renamed. I'm now going to switch the queries."),
    ("B001 keeps going, it says", "A third of the views use it; I'll keep going with the others."),
    ("B001 proceeds, it says", "Mocks rewritten. Proceeding with the clock tests."),
    ("B001 turns to something after a semicolon", "The cache is warm; now for the planner."),
    ("B001 carries on behind a semicolon", "Columns are typed; carrying on with the constraints."),
    ("B001 continues behind a count and a comma", "9 left, continuing."),
    ("B001 goes back to it", "Okay, back to it."),
    ("B001 moves ahead", "Okay, moving ahead with the other views."),
    ("B001 has 6 left and moves on", "6 modules left, moving on."),
    ("B001 can start on the next part", "With that in place I can start on the dialogs."),
    ("B002 is looking", "Hm, odd. Looking."),
    ("B002 is to find something out", "Now to find out who calls it."),
    ("B002 looks at something first", "Let me look at where the token is refreshed."),
    ("B002 checks something, without a verb of its own", "Right, that's it. Reading the two wrappers."),
    ("B002 has one more thing to check", "Hm, another file to check first."),
    ("B002 takes a quick look", "Quick look at the router first."),
    ("B002 wants to look somewhere else", "There's another caller I want to look at."),
    ("B002 sees what something does", "Let's see what the encoder does."),
    ("B004 is low on context", "The main path runs. With the context I have left, the rest belongs in a new session."),
    ("B004 has used up its window", "Much of my window is used up, so handing over now is the safer way."),
    ("B004 wants a clean session", "To keep the quality up I'd rather do the second half in a clean session."),
    ("B004 has no room left", "I don't have enough room left to do the migration justice."),
    ("B004 is close to its limit", "I'm close to my token limit; a handoff now is safer."),
    ("B007 merges results when they come", "Two helpers are at it. I'll merge their branches as they arrive."),
    ("B007 understands and continues", "Noted, continuing."),
    ("B007 says that work continues", "Acknowledged. Work continues."),
    ("B019 lays out a plan and waits for approval", "Plan:\n1. move the reader\n2. drop the cache\nApprove to begin."),
    ("B019 is ready when the plan is approved", "The plan:\n\n- move it\n- test it\n\nReady when you approve."),
    ("B019 awaits approval", "The plan:\n1. move it\n2. test it\nAwaiting approval."),
    ("B022 names its own limit in a longer report", "Three of nine are in. I'm running low on context, so I stop."),
)

PASSES = rows(
    ("B004 speaks of a product's window", "The chat widget now trims to the model's context window; 18 of 18 pass."),
    ("B004 speaks of a product's limit", "Prompts beyond the token limit are now refused by the endpoint. Tests pass."),
    ("B001 tells what a program does next", "The importer logs a bad row, continuing with the next one. All 31 pass."),
    ("B001 tells what a worker did", "The worker sleeps, then goes on with its queue; that is tested now. All 8 pass."),
    ("B002 took a quick look", "A quick look at the log shows no errors. Everything is in."),
    ("B004 starts sessions of a product", "The client now starts a clean session on logout; 12 tests pass."),
    ("B019 shows a button's words", "The last page now says \"Approve to start\". All pages are done, tests pass."),
    ("B009 sums up earlier turns", "Recap: 9 services moved, 41 tests added, all green. Read the branch again just "
     "now: no differences, nothing open."),
    ("B009 only read this time", "Read-only pass over the module: it matches the notes. No open points, 52/52 pass."),
    ("B010 is done, says its second paragraph", "Both parts landed.\n\n**Port: complete.** 90 files, none skipped, "
     "suite green.\n\nShould you ever want YAML, the table is where one would add it; that is outside this task."),
    ("B010 offers something outside the task", "All 40 pages are converted and checked.\n\nIf you later want PDF, the "
     "template would be the next thing to write, which is not part of this work."),
)


@pytest.mark.parametrize("message", HELD)
def test_a_turn_is_held_that(armed, message):
    run = held(armed.stop(message))
    assert run.err.count(CONDITION) == 1 and "?" not in message
    assert any(f"{family} (" in run.err for family in sc.FAMILIES)


@pytest.mark.parametrize("message", PASSES)
def test_a_turn_is_let_go_that(armed, message):
    let_go(armed.stop(message))
    assert armed.classes == ["ALLOW-CLEAN"]


def test_B007_a_promise_is_held_with_the_items_by_name_and_so_is_the_next(armed):
    owing(armed, "merge the left branch", "merge the right branch")
    first = held(armed.stop("Both helpers run. I will merge what they hand in."))
    assert "i1: merge the left" in first.err and "i2: merge the right" in first.err
    held(armed.stop("Yes, going on.", stop_hook_active=True))


def test_B007_words_alone_are_no_progress_where_there_is_a_transcript(armed):
    owing(armed).transcript.human(ARMING)
    for streak, message in enumerate(("I'll merge them as they come.", "Noted, continuing.", "On it."), 1):
        held(armed.stop(message, stop_hook_active=streak > 1))
        assert armed.contract["streak"] == streak
    told(let_go(armed.stop("Really continuing.", stop_hook_active=True)), "degraded")


@pytest.mark.parametrize("message", rows(("B008 an empty text", ""), ("B008 null", None), ("B008 no such field", ...)))
def test_without_a_closing_text_the_ledger_decides(armed, message):
    let_go(armed.stop(message))
    assert "None" not in held(owing(armed).stop(message)).err


# --- holds that would be wrong ----------------------------------------------------------------------------------

def test_B009_what_a_hold_injects_is_small_and_the_policy_comes_once(armed):
    owing(armed, *(f"{number}: " + "a long item " * 12 for number in range(30)))
    first, *later = [held(armed.stop(OWING)).err for _ in range(3)]
    assert len(first.encode()) <= 1500 and all(len(text.encode()) <= 600 for text in later)
    assert sc.POLICY[:40] in first and not any(sc.POLICY[:40] in text for text in later)


def test_B012_what_only_a_person_may_allow_is_let_go_once_it_is_escalated(armed):
    owing(armed, "drop the invoices of 2019")
    asks = "I need your yes or no before I drop invoices_2019 in production."
    run = held(armed.stop(asks))
    assert "item escalate" in run.err and all(name in run.err for name in sc.ESCALATIONS)
    assert not re.search(r"without (?:permission|asking)|proceed anyway", run.err)
    armed.command("item", "escalate", "i1", "--class", "irreversible", "--reason", "deletes live data")
    told(let_go(armed.stop(asks)), "Still armed", "1 escalated")
    assert states(armed) == {"i1": "escalated"}


@pytest.mark.parametrize("wait", rows(
    ("B013 hands off until the diff is read", "Wait, leave everything alone until I've been through the diff."),
    ("B013 hold on, with a reason", "Hold on, I want to look at the patch first."),
    ("B013 no more changes for now", "No more changes until I've reviewed this."),
    ("B013 stop editing, for now", "Stop editing files until I have read the diff."),
    ("B013 no edits yet", "Don't change anything until I have seen the plan.")))
def test_a_person_who_says_wait_outranks_the_contract(armed, wait):
    told(armed.prompt(wait), "paused")
    assert armed.contract["condition"] == CONDITION
    let_go(armed.stop("Holding; nothing changes until you have read it."))
    armed.prompt("fine, keep going")
    held(armed.stop())


@pytest.mark.parametrize("transcript", rows(("B015 with a transcript", True), ("B015 without one", False)))
def test_waiting_for_the_same_task_over_and_over_is_bounded(armed, transcript):
    """The task excuses one Stop, then three holds name the way out, then the gate lets go."""
    owing(armed, "publish the docs")
    if transcript:
        armed.transcript.human(ARMING)
    runs = [armed.stop("Still waiting for the background build; nothing else to do.", stop_hook_active=n > 0,
                       background_tasks=[RUNNING]) for n in range(10)]
    assert [run.code for run in runs] == [0, 2, 2, 2, 0, 0, 0, 0, 0, 0]
    assert "scheduled wakeup" in runs[1].err and "publish the docs" in runs[1].err
    told(runs[4], "degraded", "1 item open")


WAKES = "The load test runs; I'll be woken in a quarter of an hour."


@pytest.mark.parametrize("crons, delay, ok", rows(
    ("B016 a wakeup that the client reports", [in_minutes(15)], 900, True),
    ("B016 one that it reports without a schedule", [{"id": "w1", "recurring": False}], 900, True),
    ("B016 words alone", [], None, False),
    ("B016 a call that failed", [{"id": "w1", "recurring": False}], -900, False),
    ("B016 one whose time has passed", [{"id": "w1", "recurring": False}], 10, False)))
def test_a_scheduled_wakeup_is_a_ticket_and_words_about_one_are_none(armed, crons, delay, ok):
    owing(armed).transcript.human(ARMING)
    if delay:
        an_hour_ago = sc.clock(time.time() - 3600)
        armed.transcript.call("ScheduleWakeup", error=delay < 0, delaySeconds=abs(delay), prompt="look at the build",
                              **({"row_timestamp": an_hour_ago} if delay == 10 else {}))
    run = armed.stop(WAKES, session_crons=crons)
    if ok:
        told(let_go(run), "w1", "Still armed")
        assert armed.contract["waiting"]["until"] > time.time()
    else:
        held(run)


def test_B018_an_answer_is_let_go_where_nothing_is_on_the_ledger(armed):
    armed.prompt("By the way, what made you choose a ring buffer?")
    let_go(armed.stop("It needs no allocation. Should I write that into the notes?"))
    assert armed.classes == ["ALLOW-DIALOGUE"] and armed.contract["streak"] == 0
    armed.prompt("thanks, go on")
    held(armed.stop("The retry path is next."))


def test_B018_an_answer_never_covers_an_open_item(armed):
    """The report would let it go; here the ledger decides, whatever the prompt was."""
    owing(armed).prompt("By the way, what made you choose a ring buffer?")
    held(armed.stop("It needs no allocation and has one writer."))


def test_B019_a_plan_mode_of_the_operator_s_own_waits_for_approval(armed):
    owing(armed).prompt("make a plan for the rest", permission_mode="plan")
    told(let_go(armed.stop("The plan: split it, then test it.", permission_mode="plan")), "Still armed", "approval")


def test_B019_a_plan_mode_that_the_agent_entered_is_held_once(armed):
    """The report would let it go at once; a mode that the agent chose by itself gets one hold."""
    owing(armed)
    held(armed.stop("The plan: split it, then test it.", permission_mode="plan"))
    told(let_go(armed.stop("The plan: split it, then test it.", permission_mode="plan")), "Still armed", "plan")


# --- loops that burn turns --------------------------------------------------------------------------------------

@pytest.mark.parametrize("notice", rows(
    ("B022 the context is full", "Context limit reached. Run /compact to go on."),
    ("B022 the service is overloaded", "API Error: 503 upstream overloaded"),
    ("B022 the prompt is too long", "Prompt is too long")))
def test_a_notice_of_the_client_s_own_is_let_go_at_once_and_told(armed, notice):
    owing(armed)
    for number in range(6):
        told(let_go(armed.stop(notice, stop_hook_active=number > 0)), "Still armed", "1 item open")
    before = armed.contract
    silent(armed.hook("StopFailure", error="overloaded", last_assistant_message=OWING))
    assert armed.contract == before


def test_B023_a_broken_contract_is_held_with_the_same_bound_and_stop_clears_it(armed):
    armed.break_contract(b"\x7f{[")
    runs = [armed.stop("Finished.", stop_hook_active=number > 0) for number in range(10)]
    assert [run.code for run in runs] == [2, 2, 2] + [0] * 7
    assert armed.contract_path in runs[0].err and '"stop" sets it aside' in runs[0].err
    told(runs[3], "degraded")
    told(armed.prompt("stop"), "released")
    silent(armed.stop("Finished."))


def test_B024_a_turn_that_another_hook_held_is_a_first_one_for_us(armed):
    held(armed.stop("Seven modules are still to be ported. Continuing.", stop_hook_active=True))
    assert armed.contract["streak"] == 1


def test_B025_empty_answers_end_in_a_visible_release_and_a_prompt_engages_it_again(armed):
    owing(armed)
    runs = [armed.stop(".", stop_hook_active=number > 0) for number in range(8)]
    assert [run.code for run in runs] == [2, 2, 2] + [0] * 5
    told(runs[3], "degraded", "1 item open")
    assert armed.classes[3:] == ["ALLOW-DEGRADED"] * 5
    armed.prompt("and the index?")
    held(armed.stop("."))


# --- lockouts ---------------------------------------------------------------------------------------------------

def test_B028_without_the_installed_copy_a_stop_ends_and_says_so(installed):    # noqa: F811
    told(installed.event("UserPromptSubmit"), "armed")
    held(installed.event("Stop"))
    for path in (installed.place.module, installed.place.gate, installed.place.rest):
        os.rename(path, path + ".gone")
    told(let_go(installed.event("Stop")), "gate off")


def test_B028_without_any_interpreter_a_stop_ends_and_says_so(installed, alone):    # noqa: F811
    installed.write_launcher("/gone/python3")
    told(let_go(installed.event("Stop", path="/nowhere")), "gate off")


def half_of(path):
    data = read(path)
    with open(path, "wb") as file:
        file.write(data[:len(data) // 2])


@pytest.mark.parametrize("harm", rows(
    ("B029 the copy is gone", lambda i: os.unlink(i.place.gate)),
    ("B029 the copy is cut off", lambda i: half_of(i.place.gate)),
    ("B029 the rest is cut off", lambda i: half_of(i.place.rest)),
    ("B029 the launcher is gone", lambda i: os.unlink(i.place.launcher)),
    ("B029 the home is a file", lambda i: i.environ.update(HOME=i.settings, CLAUDE_CONFIG_DIR=i.settings)),
    ("B029 no home is named", lambda i: i.environ.pop("HOME"))))
def test_a_prompt_is_never_refused(installed, harm):        # noqa: F811
    command = installed.place.command
    harm(installed)
    for event in ("UserPromptSubmit", "SessionStart"):
        assert installed.event(event, line=command).code != 2
    assert installed.shell(command, stdin=os.urandom(1 << 20)).code != 2


@pytest.mark.parametrize("words", rows(
    ("B030 a condition of missing files", "No such file or directory"),
    ("B030 a condition of what cannot be opened", "can't open display :0"),
    ("B030 in capital letters", "NO SUCH FILE")))
def test_a_hold_that_quotes_a_missing_file_stays_one(session, words):
    """The client lets an exit 2 go whose stderr holds such words, unless there is something on stdout."""
    session.armed(f"Don't stop until the {words} messages are gone.")
    owing(session, f"find out about {words}")
    run = held(session.stop("Two are gone, three still have to be fixed. Continuing."))
    assert run.out.strip() and words in run.err


def test_B031_a_released_contract_does_not_come_back(armed):
    """A Stop that runs while the word is typed may still be a hold; every later one is not."""
    for _ in range(4):
        stops = [subprocess.Popen(command_line(), env=armed.environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for _ in range(3)]
        for process in stops:
            process.stdin.write(armed.payload("Stop", last_assistant_message=OWING))
            process.stdin.close()
        told(armed.prompt("stop"), "released")
        assert {process.wait(PATIENCE) for process in stops} <= {0, 2}
        silent(armed.stop())
        assert armed.contract["state"] == "disarmed"
        armed.armed()
    os.unlink(armed.contract_path)
    told(let_go(armed.stop()), "vanished")
    assert not os.path.exists(armed.contract_path)


@pytest.mark.parametrize("other", rows(("B032 alone", False), ("B032 beside an armed session", True)))
def test_a_session_that_was_never_armed_is_not_touched(tmp_path, other):
    if other:
        Session(tmp_path, "s2").armed()
    session = Session(tmp_path)
    silent(session.stop("17 modules remain. Continuing. Which one first? Your choice."))
    assert not os.path.exists(session.contract_path) and not os.path.exists(session.log_path)


def test_B033_a_store_that_is_a_file_lets_go_and_says_so(armed):
    os.rename(armed.store, armed.store + ".away")
    with open(armed.store, "w", encoding="utf-8"):
        pass
    assert let_go(armed.stop()).said
    os.unlink(armed.store)
    os.rename(armed.store + ".away", armed.store)
    os.rename(armed.contract_path, armed.contract_path + ".away")
    os.mkdir(armed.contract_path)
    told(let_go(armed.stop()), "no regular file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_B033_a_contract_that_may_not_be_read_lets_go_and_says_so(armed):
    os.chmod(armed.contract_path, 0)
    told(let_go(armed.stop()), "cannot read")


@pytest.mark.parametrize("value, off", rows(
    *((f"B034 {value!r} switches it off", value, True) for value in ("0", "false", "off", "no", "OFF", " 0 ")),
    *((f"B034 {value!r} leaves it on", value, False) for value in ("", "1", "true", "nope"))))
def test_the_switch_is_looked_at_first(armed, value, off):
    armed.environ["SESSION_CONTRACT"] = value
    run = fed(armed, [] if off else [armed.payload("Stop", last_assistant_message=OWING)], keep_open=True)
    if off:
        silent(run)
        armed.break_contract()
        silent(armed.stop())
    else:
        assert ("SESSION_CONTRACT" in held(run).said) == (value not in ("", "1"))


# --- gates that are off unseen ----------------------------------------------------------------------------------

class Home:
    """A scratch home, for the real `install`."""

    def __init__(self, folder, **environ):
        self.path = str(folder)
        os.makedirs(self.path, exist_ok=True)
        self.environ = {"PATH": os.environ["PATH"], "HOME": self.path, **environ}
        self.config = environ.get("CLAUDE_CONFIG_DIR", os.path.join(self.path, ".claude"))
        self.settings = os.path.join(self.config, "settings.json")

    def has(self, data):
        os.makedirs(self.config, exist_ok=True)
        with open(self.settings, "wb") as file:
            file.write(data)
        return self

    def run(self, *arguments, **more):
        return launch(self.environ, b"", *arguments, **more)

    def install(self, *arguments):
        run = self.run("install", *arguments)
        assert run.code == 0, run
        return run

    @property
    def bytes(self):
        return read(self.settings)

    @property
    def entries(self):
        """(event, command) of our entries."""
        return sorted((event, hook["command"]) for event, hook in ours_in(self.bytes.decode("utf-8-sig")))

    def event(self, name, cwd=None, **environ):
        """Run the very command that was written for event NAME, as the client does."""
        fields = {"UserPromptSubmit": {"prompt": ARMING}, "Stop": {"last_assistant_message": OWING}}.get(name, {})
        payload = {"hook_event_name": name, "session_id": "s1", "cwd": cwd or self.path, **fields}
        done = subprocess.run(["sh", "-c", dict(self.entries)[name]], input=json.dumps(payload).encode(), check=False,
                              env={**self.environ, **environ}, cwd=cwd or self.path, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return Run(done.returncode, done.stdout, done.stderr)

    def works(self, **more):
        told(self.event("UserPromptSubmit", **more), "armed")
        held(self.event("Stop", **more))
        told(self.event("SessionStart", **more), "armed")
        return self


def test_B038_odd_letters_in_the_path_are_quoted(tmp_path):
    home = Home(tmp_path / "My Tools; (it's) $HOME & \"x\"")
    assert sc.HELD.encode() in home.install().out       # the proof ran what was written
    home.works()


@pytest.mark.parametrize("path", rows(
    ("B039 a Windows path", "C:\\Users\\Ana Ruiz\\sc\\session_contract.py"),
    ("B039 a share", "\\\\server\\tools\\hook"), ("B039 a path with a quote", "C:\\it's\\hook")))
def test_a_path_with_backslashes_reaches_its_program_whole(path):
    for shell in filter(shutil.which, ("sh", "bash")):
        done = subprocess.run([shell, "-c", f"printf '%s' {sc.shell_word(path)}"], capture_output=True, check=True)
        assert done.stdout.decode() == path


def test_B041_a_python3_first_on_the_path_that_is_none_does_no_harm(tmp_path):
    home = Home(tmp_path / "home")
    home.install()
    shims = only(tmp_path / "bin", python3="#!/bin/sh\necho use another launcher\nexit 1\n")
    home.works(PATH=f"{shims}:{os.environ['PATH']}")


def test_B041_a_version_manager_that_fails_in_the_project_does_no_harm(tmp_path, installed, alone):    # noqa: F811
    home = Home(tmp_path / "home")
    home.install()
    shims = only(tmp_path / "bin", python3="#!/bin/sh\n[ ! -f .python-version ] || exit 127\nexec python3 \"$@\"\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".python-version").write_text("9.9.9\n")
    home.works(cwd=str(project), PATH=f"{shims}:{os.environ['PATH']}")
    installed.write_launcher("/gone/python3")
    assert "python-gone" in installed.findings()


def test_B042_the_oldest_python_runs_it_in_an_empty_environment(session):
    ast.parse(read(FILE), feature_version=(3, 9))
    environ = {"PATH": "/usr/bin:/bin", "HOME": session.environ["HOME"]}
    done = subprocess.run([pythons("3.9"), FILE], env=environ, check=False, capture_output=True,
                          input=session.payload("UserPromptSubmit", prompt=ARMING))
    told(Run(done.returncode, done.stdout, done.stderr), "armed")


def test_B042_an_older_python_says_that_the_gate_is_off(installed, alone, tmp_path):      # noqa: F811
    installed.write_launcher("/gone/python3")
    gate_off(installed, path=only(tmp_path / "bin", python3=pythons("3.8")))


@pytest.mark.parametrize("is_armed", rows(("B044 armed", True), ("B044 not armed", False)))
def test_a_working_directory_that_is_gone_changes_nothing(session, is_armed):
    if is_armed:
        session.armed()
    line = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\""
    done = subprocess.run(["sh", "-c", line, "sh", *command_line()], env=session.environ, cwd=session.folder,
                          input=session.payload("Stop", cwd=session.folder + "/gone", last_assistant_message=OWING),
                          check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    (held if is_armed else silent)(Run(done.returncode, done.stdout, done.stderr))


def test_B045_settings_and_store_follow_the_client_s_directory(tmp_path):
    home = Home(tmp_path / "home", CLAUDE_CONFIG_DIR=str(tmp_path / "other"))
    assert home.settings.encode() in home.run("install", "--dry-run").out and not os.path.exists(home.settings)
    home.install()
    home.works()
    assert os.path.exists(tmp_path / "other" / sc.NAME / "contracts/s1.json")
    assert not os.path.exists(tmp_path / "home/.claude")
    silent(home.event("Stop", CLAUDE_CONFIG_DIR=""))        # another profile: not armed there


@pytest.mark.parametrize("home", rows(("B046 no HOME", None), ("B046 an empty one", ""),
                                      ("B046 a relative one", "some/where"), ("B046 one that is a file", "/dev/null")))
def test_without_a_usable_home_nothing_is_left_in_the_working_directory(tmp_path, home):
    """The account's own home is taken; where nothing can be written there, the arming says so."""
    environ = {"PATH": os.environ["PATH"], **({} if home is None else {"HOME": home})}
    session = Session(tmp_path / "x", f"b046-{os.getpid()}-{len(home or 'none')}")
    work = tmp_path / "work"
    work.mkdir()
    run = launch(environ, session.payload("UserPromptSubmit", prompt=ARMING), cwd=str(work))
    assert run.code == 0 and run.err == "" and ("armed" in run.said or "Not gated" in run.said)
    stop = launch(environ, session.payload("Stop", last_assistant_message=OWING), cwd=str(work))
    if "Not gated" in run.said:
        assert let_go(stop).said
    else:
        held(stop)
        store = sc.store_dir(environ)
        for path in (f"{store}/contracts/{session.name}.json", f"{store}/logs/{session.name}.jsonl"):
            os.unlink(path)
    assert os.listdir(work) == []


# --- state ------------------------------------------------------------------------------------------------------

def test_B048_another_session_in_the_same_folder_is_not_touched(tmp_path):
    mine = Session(tmp_path, "aaa-1").armed()
    before = read(mine.contract_path), os.stat(mine.contract_path).st_mtime_ns
    silent(Session(tmp_path, "bbb-2").stop("8 modules remain. Continuing."))
    assert (read(mine.contract_path), os.stat(mine.contract_path).st_mtime_ns) == before


@pytest.mark.parametrize("name", rows(("B049 empty", ""), ("B049 absent", ...), ("B049 null", None),
                                      ("B049 a number", 42), ("B049 blanks", "   ")))
def test_an_id_that_is_none_arms_nothing_and_catches_nobody(session, name):
    told(let_go(session.prompt(ARMING, session_id=name)), "Not gated")
    let_go(session.stop(session_id=name))
    silent(session.stop())
    assert not os.path.exists(session.store)


@pytest.mark.parametrize("how", rows(("B051 its rows carry the old id", "rows"),
                                     ("B051 its transcript has the old name", "path")))
def test_a_session_that_a_compaction_renamed_is_told_what_it_left_behind(tmp_path, how):
    owing(Session(tmp_path, "old-1").armed())
    new = Session(tmp_path, "new-2")
    if how == "rows":
        new.transcript.row("user", "hello", sessionId="old-1")
    else:
        new.path = os.path.join(new.folder, "old-1.jsonl")
    told(new.start("compact"), "not armed", "old-1", "arm --from old-1 --session new-2")
    silent(new.stop())
    assert new.command("arm", "--from", "old-1").code == 0
    held(new.stop())


def test_B051_a_clear_in_the_same_folder_inherits_nothing(tmp_path):
    Session(tmp_path, "old-1").armed()
    silent(Session(tmp_path, "new-3").start("clear"))


def test_B053_many_writers_lose_nothing_and_a_reader_sees_whole_files(armed):
    bad, done = [], threading.Event()

    def look():
        while not done.is_set():
            try:
                json.loads(read(armed.contract_path))
            except ValueError as error:
                bad.append(error)

    reader = threading.Thread(target=look)
    reader.start()
    environ = {**armed.environ, "CLAUDE_CODE_SESSION_ID": "s1"}
    try:
        for number in range(3):
            adds = [subprocess.Popen(command_line("item", "add", f"thing {number}.{n}"), env=environ,
                                     stdout=subprocess.DEVNULL) for n in range(6)]
            armed.prompt("use tabs, please")
            armed.start()
            assert {process.wait(PATIENCE) for process in adds} == {0}
    finally:
        done.set()
        reader.join()
    assert bad == [] and len({item["text"] for item in armed.contract["items"]}) == 18
    assert os.listdir(os.path.dirname(armed.contract_path)) == ["s1.json"]


def test_B055_an_arming_that_cannot_be_saved_says_so(session):
    told(let_go(session.prompt(ARMING, room=False)), "NOT ARMED")
    assert not os.path.exists(session.contract_path)


@pytest.mark.parametrize("transcript", rows(("B055 a transcript counts the holds", True),
                                            ("B055 nothing counts", False)))
def test_a_full_disk_holds_and_does_not_hold_for_ever(armed, transcript):
    codes = []
    if transcript:
        armed.transcript.human(ARMING)
    for number in range(6):
        run = armed.stop(room=False, stop_hook_active=number > 0)
        codes.append((held if run.code else let_go)(run).code)
        if run.code and transcript:
            armed.transcript.held(run.err)
    assert codes == ([2, 2, 2, 0, 0, 0] if transcript else [2, 0, 0, 0, 0, 0])
    assert run.said


def test_B056_a_command_that_cannot_write_fails_loudly_and_changes_nothing(armed):
    owing(armed)
    before = armed.contract
    run = armed.command("item", "done", "i1", "--evidence", "note:31 of 31 pass", room=False)
    assert run.code == 1 and run.out == b"" and armed.store in run.err and "nothing changed" in run.err.lower()
    assert armed.contract == before
    assert "item done" in held(armed.stop("The index is closed.")).err


@pytest.mark.parametrize("kind", rows(("B057 a lock file of a dead process", "file"), ("B057 a lock folder", "folder"),
                                      ("B057 a temporary file that was left", "temporary")))
def test_what_a_killed_process_left_does_not_stop_anybody(armed, kind):
    folder = os.path.dirname(armed.contract_path)
    for name in {"file": ("s1.lock", "s1.json.lock", ".lock"), "temporary": (".s1.tmp",)}.get(kind, ()):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("999999\n")
        os.utime(os.path.join(folder, name), (4e9, 4e9))
    if kind == "folder":
        os.mkdir(os.path.join(folder, "s1.lock"))
        os.mkdir(os.path.join(armed.store, "lock"))
    owing(armed)
    held(armed.stop())
    told(armed.start(), "armed")
    told(armed.prompt("stop"), "released")


@pytest.mark.parametrize("name", rows(
    *((f"B058 {name[:12]!r}", name) for name in ("../../evil", "..", "a/b", "a\\b", "C:x", "a\0b", "a\nb", "a" * 300,
                                                 "-rf", "é"))))
def test_an_id_never_becomes_a_path(session, name):
    told(let_go(session.prompt(ARMING, session_id=name)), "Not gated")
    assert "\n" not in let_go(session.stop(session_id=name)).said
    assert os.listdir(session.folder) == ["home"] and not os.path.exists(session.store)


def test_B058_ids_that_differ_in_case_are_one_session(tmp_path):
    """Documented: ids are folded to lower case, as file systems of some machines do it."""
    Session(tmp_path, "ABC").prompt(ARMING)
    held(Session(tmp_path, "abc").stop())
    assert "folded to lower case" in read(os.path.join(ROOT, "README.md")).decode()


def test_B060_a_month_old_contract_is_told_with_its_age_and_still_holds(tmp_path):
    session = Session(tmp_path).armed()
    session.change(**{name: session.contract[name] - 30 * 86400 for name in ("armed_at", "changed_at", "prompt_at")})
    other = Session(tmp_path, "s2")
    silent(other.start("startup"))
    silent(other.stop("6 left, continuing."))
    told(session.start("resume"), "30 days", '"stop" releases')
    held(session.stop("6 left, continuing."))


@pytest.mark.parametrize("when", rows(("B060 in the future", 10 ** 11), ("B060 out of any calendar", 10 ** 30),
                                      ("B060 before the epoch", -5), ("B060 no number", "soon")))
def test_a_date_that_makes_no_sense_is_survived(armed, when):
    armed.change(armed_at=when, changed_at=when)
    assert armed.start("resume").said
    held(armed.stop())


# --- the installer ----------------------------------------------------------------------------------------------

def test_B061_everything_else_in_the_settings_stays(tmp_path):
    home = Home(tmp_path).has(laid_out())
    shown = home.run("install", "--dry-run").out.decode()
    assert home.bytes == laid_out()
    home.install()
    new = home.bytes.decode()
    left = json.loads(new)
    for event in sc.TIMEOUTS:
        left["hooks"][event] = [group for group in left["hooks"][event] if not any(map(sc.is_ours, group["hooks"]))]
    left["hooks"] = {event: groups for event, groups in left["hooks"].items() if groups or event == "SessionEnd"}
    assert json.dumps(left) == json.dumps(json.loads(laid_out()))
    added = [line[1:] for line in shown.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added and set(added) <= set(new.splitlines())
    assert read(sc.Place("user", home.environ).backup) == laid_out()


@pytest.mark.parametrize("data, said", rows(
    ("B063 a line comment", b'{\n  // mine\n  "model": "opus"\n}\n', "line 2, column 3"),
    ("B063 a block comment", b'{\n  "model": "opus" /* mine */\n}\n', "line 2, column 19"),
    ("B063 a trailing comma", b'{\n  "model": "opus",\n}\n', "trailing comma"),
    ("B063 an open text", b'{\n  "model": "opus\n}\n', "line 2"),
    ("B064 UTF-16", '{"model": "opus"}'.encode("utf-16"), "line 1")))
def test_settings_that_cannot_be_read_are_refused_and_kept(tmp_path, data, said):
    home = Home(tmp_path).has(data)
    run = home.run("install")
    assert run.code == 1 and said in run.err and home.settings in run.err
    assert home.bytes == data


@pytest.mark.parametrize("data", rows(
    ("B064 a byte order mark", b"\xef\xbb\xbf" + laid_out()), ("B064 no bytes", b""), ("B064 blanks", b" \n\n")))
def test_a_mark_is_no_corruption_and_an_empty_file_is_kept_as_a_backup(tmp_path, data):
    """The mark stays, as all other bytes do, and `doctor` says that the client may not like it."""
    home = Home(tmp_path).has(data)
    home.install()
    assert home.bytes.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf") and len(home.entries) == 3
    assert read(sc.Place("user", home.environ).backup) == data
    assert (b"byte order mark" in home.run("doctor", cwd=home.path).out) == data.startswith(b"\xef\xbb\xbf")
    assert home.run("uninstall").code == 0 and home.bytes == data


def test_B066_installing_again_leaves_one_entry_an_event(tmp_path):
    home = Home(tmp_path / "home").has(laid_out())
    home.install()
    first = home.bytes
    home.install()
    assert home.bytes == first
    moved = str(tmp_path / "moved.py")
    shutil.copy(FILE, moved)
    old = json.loads(first)
    old["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "python3 /opt/old/session_contract.py"}]})
    home.has(json.dumps(old, indent=2, ensure_ascii=False).encode())
    done = subprocess.run([command_line()[0], moved, "install"], env=home.environ, check=False, capture_output=True)
    assert done.returncode == 0, done
    assert [event for event, _ in home.entries] == sorted(sc.TIMEOUTS)
    assert b"/usr/local/bin/notify" in home.bytes and b"/opt/old" not in home.bytes


@pytest.mark.parametrize("data", rows(("B069 into nothing", b"{}"), ("B069 into a rich file", laid_out())))
def test_entries_have_the_shape_that_the_client_wants(tmp_path, data):
    home = Home(tmp_path).has(data)
    home.install()
    for event in sc.TIMEOUTS:
        groups = json.loads(home.bytes)["hooks"][event]
        assert isinstance(groups, list) and all(map(sc.well_formed, groups))
        ours = [hook for group in groups for hook in group["hooks"] if sc.is_ours(hook)]
        assert len(ours) == 1 and set(ours[0]) <= {"type", "command", "timeout", "statusMessage"}
        assert ours[0]["type"] == "command"
        assert 0 < ours[0].get("timeout", 60) <= 600
    home.has(b'{"hooks": {"Notification": [{"matcher": null, "command": "x"}]}}')
    assert b"WARNING" in home.install().out


@pytest.mark.parametrize("link", rows(
    ("B070 an absolute link", "{dot}/real.json"), ("B070 a relative one", "../dot/real.json"),
    ("B070 one to nothing", "../dot/none.json"), ("B070 a linked folder", "")))
def test_a_link_stays_and_its_target_is_written(tmp_path, link):
    home, dot = Home(tmp_path / "home"), tmp_path / "home/dot"
    dot.mkdir()
    if link:
        os.mkdir(home.config)
        target = os.path.join(dot, os.path.basename(link))
        os.symlink(link.format(dot=dot), home.settings)
    else:
        target = os.path.join(dot, "settings.json")
        os.symlink(dot, home.config)
    if "none" not in link:
        with open(target, "wb") as file:
            file.write(laid_out())
        os.chmod(target, 0o600)
    home.install()
    assert os.path.islink(home.settings if link else home.config) and len(home.entries) == 3
    assert read(target) == home.bytes and ("none" in link or os.stat(target).st_mode & 0o777 == 0o600)


def test_B072_uninstall_takes_out_what_is_ours_and_nothing_else(tmp_path):
    home = Home(tmp_path).has(b'{\n  "hooks": {\n    "SessionEnd": []\n  }\n}\n')
    home.install()
    now = json.loads(home.bytes)
    now["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say inside"})
    now["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say beside"}]})
    home.has(json.dumps(now, indent=2).encode())
    told(home.event("UserPromptSubmit"), "armed")
    run = home.run("uninstall")
    assert run.code == 0 and b"s1" in run.out and home.entries == []
    left = json.loads(home.bytes)["hooks"]
    assert left["SessionEnd"] == [] and "UserPromptSubmit" not in left and "SessionStart" not in left
    assert [hook["command"] for group in left["Stop"] for hook in group["hooks"]] == ["say inside", "say beside"]
    before = home.bytes
    assert home.run("uninstall").code == 0 and home.bytes == before


@pytest.mark.parametrize("indent, ends, final", rows(
    ("B073 four blanks", 4, "\n", True), ("B073 tabs", "\t", "\n", True), ("B073 CRLF", 2, "\r\n", True),
    ("B073 no newline at the end", 2, "\n", False)))
def test_lines_of_others_stay_as_they_are(tmp_path, indent, ends, final):
    old = laid_out(indent, ends) if final else laid_out(indent, ends).rstrip()
    home = Home(tmp_path).has(old)
    home.install()
    new = home.bytes.decode()
    assert "ceña \u2713" in new and "\\u" not in new and new.endswith(ends) == final
    kept = [line.rstrip(",") for line in new.split(ends)]
    assert all(line.rstrip(",") in kept for line in old.decode().split(ends))
    assert ends == "\n" or "\n" not in new.replace(ends, "")


# --- the transcript ---------------------------------------------------------------------------------------------

def test_B074_the_payload_s_message_decides_and_not_the_transcript_s(armed):
    armed.transcript.human(ARMING).says("14 remain. Continuing.")
    let_go(armed.stop("All 14 are in; the suite is green."))
    armed.transcript.says("All 14 are in; the suite is green.")
    held(armed.stop("14 remain. Continuing."))


THINKS = [{"type": "thinking", "thinking": "Next I will port the other five files."}]
CALLS = [{"type": "tool_use", "id": "toolu_x", "name": "Bash", "input": {"command": "make"}}]


@pytest.mark.parametrize("last, text", rows(
    ("B075 a thought alone", THINKS, None), ("B075 a call alone", CALLS, None),
    ("B075 a thought behind a finished report", THINKS, HONEST), ("B075 a call behind an owing one", CALLS, OWING)))
def test_without_the_field_only_said_text_is_judged(armed, last, text):
    armed.transcript.human(ARMING)
    if text:
        armed.transcript.says(text)
    armed.transcript.row("assistant", last)
    (held if text == OWING else let_go)(armed.stop(...))
    assert armed.contract["state"] == "armed"
    held(owing(armed).stop(...))


@pytest.mark.parametrize("main, helper, holds", rows(("B077 a helper promises", HONEST, OWING, False),
                                                     ("B077 a helper has finished", OWING, HONEST, True)))
def test_a_helper_s_words_are_not_the_session_s(armed, main, helper, holds):
    armed.transcript.human(ARMING).says(main)
    beside = json.dumps({"type": "assistant", "isSidechain": True, "message": {"content": [
        {"type": "text", "text": helper}]}})
    armed.transcript.lines.append(beside.encode() + b"\n")
    (held if holds else let_go)(armed.stop(...))


PULL = "https://github.com/acme/demo/pull/"


@pytest.mark.parametrize("char", rows(*((f"B078 {char!r}", char) for char in "\u2028\u2029\x85\x0b\x0c\x1c")))
def test_lines_end_at_newlines_alone(session, char):
    session.command("arm", CONDITION, "--artifact", "pr")
    session.transcript.human(f"one{char}two")
    shipped(session, "gh pr create --fill", f"done{char} {PULL}7 {char}")
    session.transcript.lines = [json.dumps(json.loads(line), ensure_ascii=False).replace("\\u000b", "\x0b").replace(
        "\\f", "\x0c").replace("\\u001c", "\x1c").encode() + b"\n" for line in session.transcript.lines]
    assert char.encode() in session.transcript.data
    told(let_go(session.stop(HONEST)), "pull/7")


ODD = ("User rejected tool use", None, [], 7)


@pytest.mark.parametrize("outcome", rows(*((f"B080 an outcome of {odd!r}", odd) for odd in ODD)))
def test_rows_of_odd_shape_are_survived(session, outcome):
    session.command("arm", CONDITION, "--artifact", "pr")
    transcript = session.transcript.human(ARMING)
    for message in ("text", None, {"content": "text"}, {"content": None}, {"content": [None, "x", 3, {"type": []}]}):
        transcript.lines.append(json.dumps({"type": "assistant", "message": message, "toolUseResult": outcome}).encode()
                                + b"\n")
    for error, url in ((True, PULL + "8"), (False, "no address")):
        shipped(session, "gh pr create", url, outcome, error=error)
    held(session.stop(HONEST))
    shipped(session, "gh pr create", [{"type": "text", "text": PULL + "9"}], outcome or "fine")
    told(let_go(session.stop(HONEST)), "pull/9")


@pytest.mark.parametrize("near", rows(("B081 the evidence is near the end", True), ("B081 it is far back", False)))
def test_a_huge_transcript_is_read_from_its_end(session, near):
    session.command("arm", CONDITION, "--artifact", "pr")
    shipped(session, "gh pr create --fill", PULL + "3")
    with open(session.path, "wb") as file:
        file.write(Transcript().human(ARMING).data + (b"" if near else session.transcript.data))
        file.seek(600 << 20)                                # one line of NUL bytes, which takes no room on the disk
        file.write(b"\n" + (session.transcript.data if near else Transcript().says("Reading.").data))
    done = subprocess.run(["sh", "-c", "ulimit -v 1000000 && exec \"$@\"", "sh", *command_line()], check=False,
                          env=session.environ, input=session.payload("Stop"), timeout=PATIENCE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run = Run(done.returncode, done.stdout, done.stderr)
    if near:
        told(let_go(run), "pull/3")
    else:
        assert "too far back" in held(run).err


@pytest.mark.parametrize("command, text, error, counts", rows(
    ("B083 an echo of it", f"echo 'gh pr create gave {PULL}1'", f"gh pr create gave {PULL}1", False, False),
    ("B083 a file that holds an address", "cat notes.md", f"see {PULL}1", False, False),
    ("B083 a heredoc", f"cat > x <<'E'\ngh pr create\n{PULL}1\nE", "", False, False),
    ("B083 a dry run", "gh pr create --dry-run", f"would create {PULL}1", False, False),
    ("B083 one that exists already", "gh pr create", f"already exists: {PULL}1", True, False),
    ("B083 a look at one", "gh pr view 1", PULL + "1", False, False),
    ("B083 a comment", "gh pr comment 1 --body ok", PULL + "1#issuecomment-2", False, False),
    ("B083 the thing itself", "gh pr create --fill", PULL + "1", False, True),
    ("B083 a formal review", "gh pr review 1 --approve", "", False, True)))
def test_only_what_a_tool_shipped_unlocks(session, command, text, error, counts):
    session.command("arm", CONDITION, "--artifact", "pr,review")
    session.transcript.human(f"it looks like {PULL}5")
    shipped(session, command, text, error=error)
    (let_go if counts else held)(session.stop("Opened the pull request."))


# --- standard input and encodings -------------------------------------------------------------------------------

@pytest.mark.parametrize("event", rows(*((f"B084 {event}", event) for event in sc.EVENTS)))
def test_a_pipe_that_stays_open_is_not_waited_for(armed, event):
    run = fed(armed, [armed.payload(event, last_assistant_message=OWING, prompt="use tabs")], keep_open=True)
    assert run.code == (2 if event == "Stop" else 0) and run.out


@pytest.mark.parametrize("redirection", rows(("B084 closed", "<&-"), ("B084 empty", "</dev/null")))
def test_an_input_that_is_none_is_let_go_with_a_note(armed, redirection):
    assert let_go(redirected(armed, redirection)).said


@pytest.mark.parametrize("size, pause", rows(("B085 in pieces of 40 bytes", 40, 0.02), ("B085 in two halves", 0, 1.2)))
def test_a_slow_payload_is_read_to_its_end(armed, size, pause):
    data = armed.payload("Stop", last_assistant_message=OWING)
    size = size or len(data) // 2 + 1
    held(fed(armed, [data[at:at + size] for at in range(0, len(data), size)], pause))


def test_B085_a_payload_that_never_gets_whole_is_let_go_and_told(armed):
    told(let_go(launch(armed.environ, armed.payload("Stop", last_assistant_message=OWING)[:-9])), "could not be read")


@pytest.mark.parametrize("data", rows(*((f"B086 {data!r}", data) for data in (
    b"", b" \n", b"{}", b"null", b"[]", b'"x"', b'{"hook_event_name":"Stop"}',
    b'{"hook_event_name":"Frobnicate","session_id":"s1","prompt":"stop"}', b'{"hook_event_name":7}'))))
def test_an_input_that_says_nothing_is_let_go(armed, data):
    before = armed.contract
    assert let_go(launch(armed.environ, data)).said.count("\n") == 0
    assert armed.contract == before


LOCALES = ("cp932", "cp949", "cp1252", "ascii:strict", "latin-1")


@pytest.mark.parametrize("coding, mark", rows(*((f"B088 {coding}", coding, b"") for coding in LOCALES),
                                              ("B088 cp932 and a byte order mark", "cp932", b"\xef\xbb\xbf")))
def test_the_payload_is_utf_8_whatever_the_locale(armed, coding, mark):
    message = "残り4件。\"続行\" します \u2014 4 modules still have to be ported. Continuing."
    data = json.dumps(json.loads(armed.payload("Stop", last_assistant_message=message)), ensure_ascii=False)
    environ = {**armed.environ, "PYTHONIOENCODING": coding, "PYTHONUTF8": "0"}
    held(launch(environ, mark + data.encode(), flags=("-S",)))


def test_B089_half_surrogates_poison_nothing(session):
    session.armed("don't stop until \udc88\ud800 is gone")
    held(session.stop("\udcff 5 modules are left to port. Continuing."))
    assert session.command("status").code == 0
    told(session.start("resume"), "armed")
    read(session.contract_path).decode("utf-8")
    read(session.log_path).decode("utf-8")


@pytest.mark.parametrize("coding", rows(*((f"B090 {coding}", coding) for coding in ("cp1252", "ascii"))))
def test_letters_that_the_locale_does_not_know_are_written_all_the_same(tmp_path, coding):
    session = Session(tmp_path, PYTHONIOENCODING=coding, PYTHONUTF8="0", LC_ALL="C")
    words = "Don't stop until \u201cMaß \u2713\u201d is set."
    told(launch(session.environ, session.payload("UserPromptSubmit", prompt=words), flags=("-S",)), "Maß \u2713")
    held(launch(session.environ, session.payload("Stop", last_assistant_message=OWING), flags=("-S",)))
    assert launch({**session.environ, "CLAUDE_CODE_SESSION_ID": "s1"}, b"", "status", flags=("-S",)).code == 0
    assert redirected(session, "2>&-").code == 2


# --- mention is not use -----------------------------------------------------------------------------------------

NOT_ARMING = rows(
    ("B093 processes that are not to be stopped", "Which box has the logs? And don't stop any container there."),
    ("B093 a server that is not to be stopped", "Don't stop the proxy while you read its config."),
    ("B093 a program that must not stop", "The consumer must not stop until its topic is empty; is that so today?"),
    ("B093 what a program used to do", "The old job would keep going after the deadline; why?"),
    ("B093 a report about this very hook", "Open a ticket: it arms whenever 'keep going' is typed."),
    ("B094 a quoted sample", 'The guide gives "don\'t stop until done" as its example.'),
    ("B094 a quotation behind a colon", "From the chat of Monday: > keep going until it builds"),
    ("B094 a fence", "```\ndon't stop\n```\nwhat would this do?"),
    ("B094 a label in code marks", "Change the label `keep going` to `next`."),
    ("B094 what somebody wrote", "He put \u201cdon\u2019t stop\u201d into the form."),
    ("B094 a text to translate", "translate: don't stop until the end"),
    ("B094 a text to put in other words", "rephrase: keep going until everything is done"),
    ("B094 quoted, and perhaps meant: read as a mention", 'please "keep going" with this until it builds'),
    ("B102 a joke", "haha, must I type keep going every single time?"),
    ("B102 a question about it in Korean", "don't stop 이라고 쓰면 뭐가 바뀌어?"),
    ("B102 a hypothetical question", "if I told you to keep going, would you?"),
    ("B102 a song", "lol don't stop me now, I'm having such a good time"))


@pytest.mark.parametrize("prompt", NOT_ARMING)
def test_a_prompt_that_only_mentions_it_arms_nothing(session, prompt):
    silent(session.prompt(prompt))
    assert not os.path.exists(session.store)


def test_B093_an_order_in_the_same_sentence_arms(session):
    session.armed("Find the leak and don't stop until the soak test passes.")
    assert session.contract["condition"] == "the soak test passes"


WRAPPED = ("<task-notification>\n<task-id>b3</task-id>\n<status>completed</status>\n<result>{}</result>\n"
           "</task-notification>")


@pytest.mark.parametrize("text, fields", rows(
    ("B097 a report of a helper", WRAPPED.format("The note said: keep going until 7 of 7 pass."), {}),
    ("B097 a subagent", ARMING, {"agent_id": "a3"}),
    *((f"B097 a prompt of {source}", ARMING, {"source": source}) for source in
      ("system", "schedule_wakeup", "loop_wakeup", "poll_event"))))
def test_a_machine_s_words_neither_arm_nor_release(session, text, fields):
    silent(session.prompt(text, **fields))
    silent(session.stop())
    held(session.armed().stop())
    before = session.contract
    session.prompt(WRAPPED.format("stop") if not fields else "stop", **fields)
    assert session.contract == before
    held(session.stop())


@pytest.mark.parametrize("text, fields", rows(
    ("B097 a person, says the source", ARMING, {"source": "user"}), ("B097 the SDK", ARMING, {"source": "sdk"}),
    ("B097 no source", ARMING, {}), ("B097 behind a wrapper", WRAPPED.format("done") + "\n\n" + ARMING, {})))
def test_a_person_s_words_arm(session, text, fields):
    told(session.prompt(text, **fields), "armed")


@pytest.mark.parametrize("message", rows(
    ("B099 says that it does not ask for a release", "The index is not closed and I ask for no waiver."),
    ("B099 names the command", "One could run session_contract.py item waive i1 --reason done."),
    ("B099 shows it in a fence", "```\nsession_contract.py disarm\nitem done i1 --evidence note:all\n```"),
    ("B099 shows it in a table", "| step | command |\n| --- | --- |\n| end | contract: stop |")))
def test_no_words_of_the_agent_close_anything(armed, message):
    held(owing(armed).stop(message))
    assert states(armed) == {"i1": "open"} and armed.contract["state"] == "armed"


# --- languages --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("prompt", rows(
    ("B100 Chinese", "别停，直到所有用例都通过"), ("B100 Japanese", "ビルドが通るまで止まらないで"),
    ("B100 Korean", "모든 테스트가 끝날 때까지 멈추지 마"), ("B100 German", "Nicht aufhören, bis der Build grün ist"),
    ("B100 Spanish", "No te detengas hasta que todo compile"), ("B100 French", "N'arrête pas avant que tout soit vert"),
    ("B100 Portuguese", "Não pare até que tudo passe"), ("B100 Russian", "Продолжай, пока всё не соберётся")))
def test_the_plain_form_arms_in(session, prompt):
    told(session.prompt(prompt), "armed")
    held(session.stop())


def test_B100_a_condition_keeps_its_letters_and_other_languages_do_nothing(session):
    silent(session.prompt("Älä lopeta ennen kuin testit menevät läpi"))
    session.armed("don't stop until 全部用例通过")
    assert session.contract["condition"] == "全部用例通过"


RELEASES = ("stop", "Stop.", "STOP!!!", "  stop ", "stop\u2026", "stop\u3002", "\uff53\uff54\uff4f\uff50",
            "stop, please", "please stop", "ok stop", "stop \U0001f6d1", '"stop"',
            "stop lol", "停止。", "止めて", "멈춰", "arrête",
            "contract: stop", "/contract stop")
STAYS = ("stop the watcher", "stop using spaces", "why did it stop?", "does it stop at ten?", "stop words are kept")


@pytest.mark.parametrize("prompt", rows(*((f"B101 {prompt!r} releases", prompt) for prompt in RELEASES)))
def test_a_release_is_heard(armed, prompt):
    armed.prompt(prompt)
    silent(armed.stop())


@pytest.mark.parametrize("prompt", rows(*((f"B101 {prompt!r} does not release", prompt) for prompt in STAYS)))
def test_something_else_that_stops_is_no_release(armed, prompt):
    armed.prompt(prompt)
    held(armed.stop())


# --- what is injected, written and kept -------------------------------------------------------------------------

LOUD = re.compile(r"\b(?:must|never|immediately|important|ignore)\b|you may not|\[system|do not tell|acknowledge", re.I)


def test_B104_injected_text_states_facts_and_quotes_the_condition_on_one_line(session):
    armed = session.armed("don't stop until the <b>suite</b> is green.")
    texts = [armed.start("resume").context, armed.prompt("use tabs").context, held(armed.stop()).err,
             armed.prompt("wait").context, armed.prompt("go on").context, armed.prompt("stop").context]
    for text in texts:
        assert text and not re.search(r"[A-Z]{5,}", text.replace("KIND:VALUE", "").replace("PATH", "")), text
        assert not LOUD.search(text), text
        assert "<b>" not in text
    assert "by the operator" in texts[0] and '"stop" releases' in texts[0]


def test_B106_a_log_is_bounded_and_what_has_ended_is_swept(tmp_path):
    session = Session(tmp_path, "s1").armed()
    for name in (session.log_path, os.path.join(session.store, "logs", ".s1.old.jsonl")):
        with open(name, "ab") as file:
            file.truncate(200 << 20)
    for _ in range(2):
        session.stop()
    sizes = [os.stat(os.path.join(session.store, "logs", name)).st_blocks for name in
             os.listdir(os.path.join(session.store, "logs"))]
    assert len(sizes) == 2 and os.stat(session.log_path).st_size <= 2 * sc.LIMITS["log"]
    session.prompt("stop")
    for at, _, names in os.walk(session.store):
        for name in names:
            os.utime(os.path.join(at, name), (1, 1))
    Session(tmp_path, "s2").armed()
    assert [name for _, _, names in os.walk(session.store) for name in names if "s1" in name] == []


def test_B107_no_prompt_and_no_message_is_written_down(session):
    session.armed("The key is SECRET-111. Keep going until the deploy works with token=SECRET-222")
    held(session.stop("The password is SECRET-333. 4 modules remain. Continuing."))
    session.prompt("use SECRET-444 for the upload")
    session.stop("Uploaded with SECRET-444; all done.")
    found = {}
    for at, _, names in os.walk(session.folder):
        for name in names:
            path = os.path.join(at, name)
            found[os.path.basename(path)] = re.findall(rb"SECRET-\d+", read(path))
            assert os.stat(path).st_mode & 0o077 == 0, path
    assert found == {"s1.json": [b"SECRET-222"], "s1.jsonl": []}       # the condition, which the operator pinned


PIECES = ('"a" ', "1 ", "until ", "don't stop ", "x", "`", "\n", "'", "| a ", "> ", "**", "should i ")


@pytest.mark.parametrize("piece", rows(*((f"B109 {piece!r}", piece) for piece in PIECES)))
def test_a_message_and_a_prompt_of_200_kb_are_read_with_their_ends(armed, piece):
    """That the time grows in proportion only is a law of its own, in the tests of reading."""
    text = piece * (200_000 // len(piece))
    held(armed.stop(text + "\n\nContinuing."))
    told(armed.prompt(text + "\n\nDon't stop until it builds."), '"it builds"')
    told(armed.prompt(text + "\n\nstop"), "released")


def test_B110_an_item_leaves_only_by_evidence_a_reason_or_a_class(armed):
    owing(armed, "port the reader", "verify on staging")
    armed.command("item", "add", "Port the  reader")            # the same once more
    assert states(armed) == {"i1": "open", "i2": "open"}
    armed.command("item", "add", "verify")
    armed.command("item", "done", "i3", "--evidence", "note:looked at it")
    for evidence in ("", "done", "n/a", "note:", "note:done", "note:n/a", "note:x", "url:-", "file:/nowhere/at/all",
                     "command:pytest -q"):
        assert armed.command("item", "done", "i2", "--evidence", evidence).code == 1
    for arguments in (("waive", "i2"), ("waive", "i2", "--reason", " "),
                      ("escalate", "i2", "--class", "doubt", "--reason", "unsure"),
                      ("escalate", "i2", "--class", "irreversible", "--reason", "")):
        assert armed.command("item", *arguments).code in (1, 64)
    armed.prompt("don't stop until the docs build too")
    armed.start("resume")
    assert states(armed) == {"i1": "open", "i2": "open", "i3": "done"}
    held(armed.stop(HONEST))
    armed.command("item", "waive", "i1", "--reason", "the reader is gone")
    armed.command("item", "done", "i2", "--evidence", f"file:{FILE}")
    told(let_go(armed.stop(HONEST)), "1 waived", "1 done (verified)")
    assert {"item done", "item waived", "item add"} <= {rule for record in armed.records for rule in record["rules"]}


def test_B112_a_wakeup_that_never_came_is_told_at_the_resume_and_excuses_nothing(armed):
    owing(armed)
    told(let_go(armed.stop("The soak test runs; I'm waiting for the wakeup.", session_crons=[in_minutes(15)])), "w1")
    status = armed.command("status").out.decode()
    assert "w1" in status and "due 20" in status and "overdue" not in status
    armed.change(waiting={**armed.contract["waiting"], "until": 7200})
    assert "overdue" in armed.command("status").out.decode()
    told(armed.start("resume"), "w1", "ended unused", "1 item open")
    held(armed.stop("The index still waits."))


def test_B114_a_stop_prints_nothing_or_a_system_message_and_other_events_their_own_shape(armed):
    owing(armed)
    runs = [armed.stop(), armed.stop(WAITING, background_tasks=[RUNNING]), *(armed.stop("") for _ in range(4)),
             armed.stop(permission_mode="plan"), armed.stop("API Error: 500")]
    armed.command("item", "waive", "i1", "--reason", "out of scope")
    prompts = [armed.prompt("why a ring buffer?"), armed.prompt("use tabs"), armed.start("resume"),
               armed.start("compact")]
    runs += [armed.stop(HONEST), armed.stop("7 remain."), armed.stop(...), armed.stop(HONEST, room=False)]
    prompts.append(armed.prompt("wait"))
    runs.append(armed.stop())
    armed.break_contract()
    runs.append(armed.stop())
    for run in runs:
        assert set(run.json) <= {"systemMessage"} and run.out.count(b"\n") <= 1
        (held if run.code else let_go)(run)
    for run, event in zip(prompts, ["UserPromptSubmit"] * 2 + ["SessionStart"] * 2 + ["UserPromptSubmit"]):
        assert run.code == 0 and run.json["hookSpecificOutput"]["hookEventName"] == event
        assert set(run.json) <= {"systemMessage", "hookSpecificOutput"}
    assert len({*armed.classes}) >= 6
