"""The plugin on the real client: loaded from a folder or installed from its marketplace, its command, and its neighbours.

The plugin is built anew for each test, in a path with a blank; the hook's file is registered nowhere else.
"""
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from .api import bash, say
from .driver import HOOK, PATIENCE, until
from .wording import ARM, ARMED, CONDITION, FINISHED, HELD, HELD_FOR, NAME, RELEASED, UNFINISHED, held, until_file

pytestmark = pytest.mark.client

BUILDER = os.path.join(os.path.dirname(HOOK), "examples", "build_plugin.py")
COMMAND = "/contract "
LONG_COMMAND = "/session-contract:contract "
NOTHING_ARMED = "nothing is armed"


@pytest.fixture
def plugin(client):
    """A function that makes a client in an empty HOME, and the plugin beside it; `root` is the plugin's folder."""
    def make(*turns, **more):
        it = client(*turns, commands={}, **more)
        it.root = os.path.join(it.folder, "a plugin")
        subprocess.run([sys.executable, BUILDER, it.root], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        it.hook = os.path.join(it.root, "session-contract-hook", "hook")
        return it
    return make


def shop(it):
    """Add the marketplace and install the plugin from it, as a person's `/plugin` commands do."""
    for words in (("marketplace", "add", it.root), ("install", "session-contract@session-contract")):
        done = subprocess.run([it.binary, "plugin", *words], cwd=it.project, env=it.environ, timeout=2 * PATIENCE,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def settings(it, **fields):
    """Set top-level keys of the operator's settings."""
    path = os.path.join(it.config, "settings.json")
    value = {}
    if os.path.exists(path):
        with open(path) as file:
            value = json.load(file)
    os.makedirs(it.config, exist_ok=True)
    with open(path, "w") as out:
        json.dump({**value, **fields}, out)


def test_from_a_folder_it_arms_holds_and_releases(plugin):
    """The model is told of the plugin's own launcher, held by it, and let go; "stop" releases."""
    it = plugin(say(UNFINISHED), say(FINISHED), say(UNFINISHED), say(UNFINISHED))
    use = ("--plugin-dir", it.root)
    run = it.run(ARM, *use)
    assert ARMED % CONDITION in run.notices
    assert "`'%s' item add" % it.hook in it.api.main[0].news
    assert HELD_FOR % CONDITION in it.api.main[1].news
    assert RELEASED in it.run("stop", "--resume", run.session, *use).notices
    it.run("What is left?", "--resume", run.session, *use)
    assert held(it.api.main) == [False, True, False, False]


def test_installed_from_its_marketplace_its_command_arms_answers_and_releases(plugin, terminal):
    """Only `arm` reaches the model, with the text of the command; the other words are answered without it."""
    it = plugin(say("One. " + UNFINISHED), say("Two. " + FINISHED), say("Three. " + UNFINISHED))
    shop(it)
    it.open("--permission-mode", "default")
    it.type(COMMAND + "status")
    it.wait_for(NOTHING_ARMED)
    it.ask(COMMAND + "arm until " + CONDITION)
    assert ARMED % CONDITION in it.told
    assert held(it.api.main) == [False, True]
    it.type(LONG_COMMAND + "status")
    it.wait_for("by hook:[^❯]*armed for[^❯]*" + CONDITION)
    it.type(COMMAND + "pause")
    it.wait_for("paused: turns may end")
    it.type(COMMAND + "stop")
    it.wait_for("released; turns end freely")
    assert len(it.api.main) == 2
    it.ask("What is left?")
    assert held(it.api.main) == [False, True, False]


def test_in_print_mode_the_command_is_answered_without_the_model(plugin):
    """With the plugin's name or without it, while nothing is armed and while something is."""
    it = plugin(say(FINISHED))
    use = ("--plugin-dir", it.root)
    assert NOTHING_ARMED in it.run(LONG_COMMAND + "status", *use).notices
    run = it.run(ARM, *use)
    assert CONDITION in it.run(COMMAND + "status", "--resume", run.session, *use).notices
    assert RELEASED in json.dumps(it.run(COMMAND + "stop", "--resume", run.session, *use).rows)
    assert len(it.api.main) == 1
    assert " disarmed " in it.operate("status", "--session", run.session)


def test_the_command_typed_during_a_turn_releases_that_turn(plugin, terminal):
    """The client keeps a command until the turn has ended; the hook finds it in the transcript, and lets that turn go."""
    gate = threading.Event()
    it = plugin(say(UNFINISHED), bash(until_file("go")), say("Stopped. " + UNFINISHED, gate))
    shop(it)
    settings(it, permissions={"allow": ["Bash"]})
    it.open("--permission-mode", "default")
    it.type(ARM)
    it.wait_requests(2)
    armed = time.time()
    until(lambda: time.time() > armed + 1, "the next second: what was queued in that of the arming may be older")
    it.type(COMMAND + "stop")
    it.wait_for("Queued")
    it.leave("go")
    it.wait_requests(3)
    gate.set()
    until(lambda: RELEASED in it.told, "the release", it.screen)
    assert held(it.api.main) == [False, True, False]


def test_beside_an_installed_hook_it_stands_down(plugin):
    """The client runs both at each event; one hold is sent and one decision recorded."""
    it = plugin(say(UNFINISHED), say(FINISHED))
    it.operate("install")
    run = it.run(ARM, "--plugin-dir", it.root)
    assert held(it.api.main) == [False, True]
    assert it.api.main[1].news.count(HELD) == 1
    assert run.notices.count("%s: %s" % (NAME, ARMED % CONDITION)) == 1
    log = [json.loads(line) for line in it.operate("log", "--session", run.session, "--json").splitlines()]
    assert [line["class"] for line in log] == ["CHANGE", "BLOCK", "ALLOW-CLEAN"]


def test_settings_that_only_name_the_hook_leave_the_plugin_in_force(plugin, terminal):
    """A status line and a permission are no registration: the plugin holds, and the line follows it."""
    it = plugin(say(UNFINISHED), say(FINISHED))
    settings(it, permissions={"allow": ["Bash(%s status)" % it.hook]},
             statusLine={"type": "command", "command": "'%s' statusline" % it.hook})
    it.open("--permission-mode", "default", "--plugin-dir", it.root)
    assert "contract:" not in it.screen()
    it.ask(ARM)
    assert held(it.api.main) == [False, True]
    it.wait_for(r"(?m)^\s*contract: armed \| held 1\s*$")
    it.type("stop")
    until(lambda: "contract: armed" not in it.screen().rpartition("❯")[2], "an empty status line", it.screen)


def test_with_the_parts_gone_nobody_is_locked_out(plugin):
    """The launcher says that the gate is off; without the launcher too, prompts pass and turns end."""
    it = plugin(say(UNFINISHED), say(UNFINISHED))
    use = ("--plugin-dir", it.root)
    run = it.run(ARM, *use)
    folder = os.path.dirname(it.hook)
    for name in os.listdir(folder):
        if name.endswith(".py"):
            os.unlink(os.path.join(folder, name))
    it.api.script(say(UNFINISHED), say(UNFINISHED))
    assert "gate off" in it.run("Go on", "--resume", run.session, *use).notices
    os.unlink(it.hook)
    assert it.run("Go on then", "--resume", run.session, *use).code == 0
    assert "Go on then" in it.api.main[-1].text
