"""The installed form on the real client, in a HOME with nothing in it: it holds, lets go, and locks nobody out."""
import glob
import json
import os
import re
import shlex
import shutil

import pytest

from .api import bash, say
from .driver import EVENTS, hook_entries, own_line, until
from .wording import ARM, ARMED, CONDITION, FINISHED, HELD, NAME, RELEASED, UNFINISHED, held

pytestmark = pytest.mark.client

GATE_OFF = "gate off"
HANDED_ON = re.compile("over:(/[^:]+)arm--from([0-9a-f-]{36})--session([0-9a-f-]{36})")
# How many prompts a session may take to notice that the settings have changed.
PATIENT_PROMPTS = 50


@pytest.fixture
def installed(client):
    """A function that makes a client in an empty HOME and installs the hook there, as the operator would."""
    def make(*turns, scope="user", **more):
        it = client(*turns, commands={}, **more)
        assert HELD in it.operate("install", "--scope", scope)
        return it
    return make


def folder(it):
    """Where the installed copy and its launcher are."""
    return os.path.join(it.config, "session-contract-hook")


def launcher(it):
    """What is registered, and what a shell calls."""
    return os.path.join(folder(it), "hook")


def test_installed_into_an_empty_home_it_holds_and_releases(installed):
    """The model is told of the command as it is installed, held by it, and let go; "stop" releases.

    The path has what a shell would take apart.
    """
    it = installed(say(UNFINISHED), say(FINISHED), say(UNFINISHED), home="my $HOME")
    run = it.run(ARM)
    line = shlex.quote(launcher(it))
    assert ARMED % CONDITION in run.notices
    assert "`%s item add" % line in it.api.main[0].news
    assert "[%s]: %s" % (line, HELD) in it.api.main[1].news
    assert RELEASED in it.run("stop", "--resume", run.session).notices
    assert held(it.api.main) == [False, True, False]


def test_parts_of_the_installation_deleted_while_a_session_is_open_lock_nobody_out(installed, terminal):
    """Without the copy the launcher says so, without the launcher the client; installed again, the gate is back."""
    it = installed(say(FINISHED), say("One. " + UNFINISHED), say("Two. " + UNFINISHED), say(UNFINISHED), say(FINISHED))
    it.open("--permission-mode", "default")
    it.ask(ARM)
    for code in glob.glob(os.path.join(folder(it), "*.py")):
        os.unlink(code)
    it.ask("Go on")
    assert re.search("(?s)PromptSubmit says: .*{0}.*● One.*Stop says: .*{0}".format(GATE_OFF), it.behind("Go on"))
    shutil.rmtree(folder(it))
    it.ask("Go on then")
    assert re.search("(?s)PromptSubmit hook failed.*● Two.*Stop hook failed", it.behind("Go on then"))
    assert held(it.api.main) == [False, False, False]
    it.operate("install")
    it.ask("And now?")
    assert held(it.api.main[3:]) == [False, True]


def test_a_session_that_is_open_during_the_install_is_covered(client, terminal):
    """The client takes the entries up in a moment, though it had no settings file when it started."""
    it = client(commands={})
    it.open("--permission-mode", "default")
    it.ask("Hello")
    it.operate("install")
    for _ in range(PATIENT_PROMPTS):
        it.ask(ARM)
        if ARMED % CONDITION in it.screen():
            break
    asked = len(it.api.main)
    it.api.script(say(UNFINISHED), say(FINISHED))
    it.ask("Go on")
    assert held(it.api.main[asked:]) == [False, True]


@pytest.mark.parametrize("command", ["/clear", "/branch"])
def test_a_session_begun_from_an_armed_one_is_told_how_to_take_the_contract_over(installed, terminal, command):
    """The new session is not armed by itself; the command that the client shows arms it, and releases the old one."""
    it = installed(say(FINISHED), say(UNFINISHED), say(UNFINISHED), say(FINISHED))
    it.open("--permission-mode", "default")
    it.ask(ARM)
    it.type(command)
    # The screen breaks long lines, in the middle of a word too.
    shown = until(lambda: HANDED_ON.search(re.sub(r"\s", "", it.screen())), "how to take the contract over", it.screen)
    program, old, new = shown.groups()
    it.ask("What is left?")
    assert program == launcher(it)
    it.operate("arm", "--from", old, "--session", new, program=(program,))
    it.ask("Go on")
    assert held(it.api.main) == [False, False, False, True]
    assert CONDITION in it.operate("status", "--session", new)
    assert " disarmed " in it.operate("status", "--session", old)


def test_a_fork_that_names_no_parent_is_left_alone(installed):
    """A session forked from the command line carries no proof of where it came from, so nothing is said or held."""
    it = installed(say(FINISHED), say(UNFINISHED))
    parent = it.run(ARM)
    fork = it.run("Go on", "--resume", parent.session, "--fork-session")
    assert fork.session != parent.session
    assert held(it.api.main) == [False, False]
    assert NAME not in fork.notices
    assert " armed " in it.operate("status", "--session", parent.session)


def plugin(it, line):
    """A plugin whose hooks run a command line at each event; returns its folder."""
    root = os.path.join(it.folder, "plugin")
    about = {"name": "contract", "version": "1.0.0", "description": "the hook, by another way"}
    hooks = {"hooks": hook_entries(dict.fromkeys(EVENTS, line))}
    for name, value in ((".claude-plugin/plugin.json", about), ("hooks/hooks.json", hooks)):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as out:
            json.dump(value, out)
    return root


def decided_once(it, line):
    """Run a held and released turn, begun in a folder below the project's, with a plugin that runs a command line.

    Returns how many hooks the client ran at its first Stop.
    """
    it.api.script(bash("mkdir below && cd below && pwd"), say(UNFINISHED), say(FINISHED))
    run = it.run(ARM, "--plugin-dir", plugin(it, line), "--allowedTools", "Bash")
    assert held(it.api.main) == [False, False, True]
    assert it.api.main[1].news.strip().startswith(os.path.join(it.project, "below"))
    assert it.api.main[2].news.count(HELD) == 1
    assert run.notices.count("%s: %s" % (NAME, ARMED % CONDITION)) == 1
    log = [json.loads(line) for line in it.operate("log", "--session", run.session, "--json").splitlines()]
    assert [line["class"] for line in log] == ["CHANGE", "BLOCK", "ALLOW-CLEAN"]
    return next(row["hookCount"] for row in it.transcript() if row.get("subtype") == "stop_hook_summary")


@pytest.mark.parametrize("scope", ["user", "project"])
def test_registered_by_settings_and_by_a_plugin_it_decides_once(installed, scope):
    """The client runs both, and one of them stands down: it finds the other wherever the shell has gone."""
    it = installed(scope=scope)
    assert decided_once(it, launcher(it)) == 2


def test_registered_by_a_plugin_alone_it_decides(client):
    """With nothing in the settings the plugin's registration is the one that decides."""
    it = client(commands={})
    assert decided_once(it, own_line()) == 1
