"""The plugin: built from the one file, run as the client runs it, beside settings and without them."""
import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

import session_contract as sc
from conftest import ARMING, FILE, OWING, PATIENCE, ROOT, Run, held, launch, let_go, rows, silent, told

QUOTED = shlex.quote(FILE)         # the checkout may lie in a folder with a space
SOURCE = os.path.join(ROOT, "examples", "plugin")
BUILDER = os.path.join(ROOT, "examples", "build_plugin.py")
PARTS = ("session_contract.py", "gate.py", "rest.py")


def read(*parts):
    with open(os.path.join(*map(str, parts)), "rb") as file:
        return file.read()


def build(dest):
    done = subprocess.run([sys.executable, BUILDER, str(dest)], check=False, timeout=PATIENCE, capture_output=True)
    assert done.returncode == 0, done.stderr
    return str(dest)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("built") / "plugin")


class Plugin:
    """A built plugin in a folder of its own, and a person's empty home."""

    def __init__(self, built, root, home):
        self.root, self.home = str(root), str(home)
        shutil.copytree(built, self.root)
        os.makedirs(f"{self.home}/project/.claude")
        self.folder = os.path.join(self.root, sc.HOOK_DIR)
        self.environ = {"PATH": os.environ["PATH"], "HOME": self.home, "CLAUDE_PLUGIN_ROOT": self.root,
                        "CLAUDE_PROJECT_DIR": f"{self.home}/project"}

    def event(self, name, shell="sh", path=None, **fields):
        """Run the plugin's own command line for an event."""
        hooks = json.loads(read(self.root, "hooks", "hooks.json"))["hooks"]
        line = hooks[name][0]["hooks"][0]["command"]
        payload = {"hook_event_name": name, "session_id": "s1", "transcript_path": "", "cwd": f"{self.home}/project",
                   "permission_mode": "default", **fields}
        done = subprocess.run([shutil.which(shell), "-c", line], input=json.dumps(payload).encode(), cwd=self.home,
                              env={**self.environ, "PATH": path or self.environ["PATH"]}, check=False,
                              capture_output=True, timeout=PATIENCE)
        return Run(done.returncode, done.stdout, done.stderr)

    def arms(self, **more):
        return told(self.event("UserPromptSubmit", prompt=ARMING, **more), "armed")

    def holds(self, **more):
        return held(self.event("Stop", last_assistant_message=OWING, **more))

    @property
    def recorded(self):
        """The interpreter that the launcher has found here."""
        return read(self.folder, "python").decode().strip()

    def settings(self, value, where=".claude/settings.json"):
        path = os.path.join(self.home, where)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def plugin(built, tmp_path):
    return Plugin(built, tmp_path / "plugin", tmp_path / "home")


def programs(folder, **scripts):
    """A PATH of nothing but these shell scripts."""
    os.makedirs(folder)
    for name, text in scripts.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(f"{folder}/{name}", 0o755)
    return str(folder)


# --- what is built ------------------------------------------------------------------------------------------------

def test_the_built_parts_are_those_of_the_file(built):
    assert [read(built, sc.HOOK_DIR, name) for name in PARTS] == list(sc.parts_of(read(FILE)))
    assert read(built, sc.HOOK_DIR, sc.LAUNCHER).decode() == sc.launcher_text("", "")
    assert sorted(os.listdir(f"{built}/{sc.HOOK_DIR}")) == sorted([*PARTS, sc.LAUNCHER])


def test_all_else_is_as_it_stands_in_the_examples(built):
    for folder, _, names in os.walk(SOURCE):
        place = os.path.relpath(folder, SOURCE)
        if not place.startswith(sc.HOOK_DIR):
            assert [read(folder, name) for name in names] == [read(built, place, name) for name in names]


def test_a_second_build_leaves_nothing_of_the_first(built, tmp_path):
    place = shutil.copytree(built, tmp_path / "again")
    for name in ("python", "gate.py", "old.py"):
        with open(place / sc.HOOK_DIR / name, "w", encoding="utf-8") as file:
            file.write("old")
    build(place)
    assert {name: read(place, sc.HOOK_DIR, name) for name in os.listdir(place / sc.HOOK_DIR)} == {
        name: read(built, sc.HOOK_DIR, name) for name in (*PARTS, sc.LAUNCHER)}


def test_what_is_built_in_place_is_not_committed():
    assert f"examples/plugin/{sc.HOOK_DIR}/" in read(ROOT, ".gitignore").decode().splitlines()


def test_the_manifests_name_the_program_and_its_version():
    about = json.loads(read(SOURCE, ".claude-plugin", "plugin.json"))
    assert (about["name"], about["version"]) == (sc.NAME, sc.__version__)
    shop = json.loads(read(SOURCE, ".claude-plugin", "marketplace.json"))
    assert [(entry["name"], entry["source"]) for entry in shop["plugins"]] == [(sc.NAME, "./")]


def test_it_registers_what_install_would():
    command = f'"${{CLAUDE_PLUGIN_ROOT}}/{sc.HOOK_DIR}/{sc.LAUNCHER}"'
    hooks = json.loads(read(SOURCE, "hooks", "hooks.json"))["hooks"]
    assert hooks == {event: [group] for event, group in sc.hook_entries(command).items()}


def test_its_command_offers_only_words_that_the_hook_takes():
    head = dict(line.split(": ", 1) for line in read(SOURCE, "skills", "contract", "SKILL.md").decode().split(
        "---\n")[1].splitlines())
    words = {word.split()[0] for word in head["argument-hint"].split(" | ")}
    assert words == set(sc.CONTRACT_WORDS) and head["name"] == "contract"
    assert head["disable-model-invocation"] == "true"


# --- how it runs --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "ksh"])
def test_it_arms_holds_and_lets_go(plugin, shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    silent(plugin.event("SessionStart", source="startup", shell=shell))
    plugin.arms(shell=shell)
    plugin.holds(shell=shell)
    let_go(plugin.event("Stop", last_assistant_message="All 265 are ported.", shell=shell))


def test_a_path_that_a_shell_would_take_apart_works(built, tmp_path):
    plugin = Plugin(built, tmp_path / "it's $HOME; a \"b\" & (c) \u00e9", tmp_path / "home")
    line = sc.shell_word(f"{plugin.folder}/{sc.LAUNCHER}")
    assert f"`{line} item add" in plugin.arms().context
    plugin.holds()
    done = subprocess.run(["sh", "-c", f"{line} item add 'a thing' --session s1"], env=plugin.environ, check=False,
                          capture_output=True, timeout=PATIENCE)
    assert done.stdout.startswith(b"i1 open")


def test_the_interpreter_is_sought_once_and_the_bytecode_kept(plugin, tmp_path):
    sought = tmp_path / "sought"
    path = programs(tmp_path / "bin", python3=f'echo x >> {sought}\nexec {sys.executable} "$@"\n')
    plugin.arms(path=path)
    first = read(sought)
    plugin.holds(path=path)
    assert first and read(sought) == first
    assert os.path.isabs(plugin.recorded) and os.path.dirname(plugin.recorded) != path
    assert {name.split(".")[0] for name in os.listdir(f"{plugin.folder}/__pycache__")} == {"gate", "rest"}


@pytest.mark.parametrize("record", rows(
    ("it is gone", "/gone/bin/python3.9\n"), ("an empty file", ""), ("half a path", "/usr"), ("no path", "\x00\n"),
    ("a program that fails", "/bin/false\n")))
def test_a_record_that_leads_nowhere_gives_way(plugin, record):
    with open(f"{plugin.folder}/python", "w", encoding="utf-8") as file:
        file.write(record)
    plugin.arms()
    plugin.holds()


def test_a_record_that_leads_nowhere_is_replaced(plugin):
    with open(f"{plugin.folder}/python", "w", encoding="utf-8") as file:
        file.write("/gone/bin/python3.9\n")
    plugin.arms()
    assert os.access(plugin.recorded, os.X_OK)


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_where_nothing_can_be_written_it_works_and_says_nothing_of_it(plugin, shell):
    os.mkdir(f"{plugin.folder}/python")         # root runs into that, too
    with open(f"{plugin.folder}/__pycache__", "wb"):
        pass
    assert not plugin.arms(shell=shell).err
    plugin.holds(shell=shell)


def test_without_a_python_the_gate_is_off_and_no_event_exits_2(plugin, monkeypatch):
    monkeypatch.setattr(sc, "OTHER_PYTHONS", "python3")
    with open(f"{plugin.folder}/{sc.LAUNCHER}", "w", encoding="utf-8") as file:
        file.write(sc.launcher_text("", ""))
    for event in sc.TIMEOUTS:
        told(let_go(plugin.event(event, path="/nowhere")), "gate off")


@pytest.mark.parametrize("name", [*PARTS[1:], sc.LAUNCHER])
def test_with_a_part_gone_no_event_exits_2(plugin, name):
    plugin.arms()
    os.unlink(f"{plugin.folder}/{name}")
    for event in sc.TIMEOUTS:
        assert plugin.event(event, prompt=ARMING, last_assistant_message=OWING).code in (0, 127)


# --- beside settings ----------------------------------------------------------------------------------------------

INSTALLED = "{home}/.claude/session-contract-hook/hook"


def entries(*events, command=INSTALLED, **more):
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command, **more}]}] for event in events}}


STOP, ALL = ("Stop",), tuple(sc.EVENTS)

# Sentence, settings, which file, the events for which the plugin stands down.
BESIDE = [
    ("the operator's settings register it", entries(*ALL), ".claude/settings.json", ALL),
    ("the project's settings register it", entries(*ALL), "project/.claude/settings.json", ALL),
    ("the project's local settings register it", entries(*ALL), "project/.claude/settings.local.json", ALL),
    ("settings run the file itself", entries(*ALL, command="python3 " + QUOTED), ".claude/settings.json", ALL),
    ("settings run it in exec form", entries(*ALL, command="python3", args=[FILE]), ".claude/settings.json", ALL),
    ("settings test for the file first", entries(*ALL, command=f"[ ! -f {QUOTED} ] || python3 {QUOTED}"),
     ".claude/settings.json", ALL),
    ("it is registered for one event only", entries(*STOP), ".claude/settings.json", STOP),
    ("only another project registers it", entries(*ALL), "elsewhere/.claude/settings.json", ()),
    ("a status line runs it", {"statusLine": {"type": "command", "command": INSTALLED + " statusline"}},
     ".claude/settings.json", ()),
    ("a permission names it", {"permissions": {"allow": [f"Bash({INSTALLED} status)", "Bash(session_contract.py:*)"]}},
     ".claude/settings.json", ()),
    ("a hook of another kind names it", entries(*ALL, command="grep -c session_contract.py notes.txt"),
     ".claude/settings.json", ()),
    ("one of its commands is a hook", entries(*ALL, command=INSTALLED + " status"), ".claude/settings.json", ()),
    ("another program's hook", entries(*ALL, command="/usr/bin/true"), ".claude/settings.json", ()),
    ("the registered file is gone", entries(*ALL, command="/gone/session-contract-hook/hook"),
     ".claude/settings.json", ()),
    ("the settings enable the plugin", {"enabledPlugins": {"session-contract@session-contract": True}},
     ".claude/settings.json", ()),
    ("the client cannot read the settings", json.dumps(entries(*ALL)) + " // mine", ".claude/settings.json", ()),
    ("the settings are a list", json.dumps([entries(*ALL)]), ".claude/settings.json", ()),
    ("hooks of no known shape", {"hooks": {"Stop": "session-contract-hook/hook", "UserPromptSubmit": [None, {}]}},
     ".claude/settings.json", ())]


@pytest.mark.parametrize("settings, where, down", rows(*BESIDE))
def test_it_stands_down_exactly_where_settings_register_the_hook_for_the_event(plugin, settings, where, down):
    installed = INSTALLED.format(home=plugin.home)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    os.makedirs(os.path.dirname(installed), exist_ok=True)
    with open(installed, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
    plugin.arms()
    plugin.settings(text.replace(INSTALLED, installed), where)
    if "Stop" in down:
        silent(plugin.event("Stop", last_assistant_message=OWING))
    else:
        plugin.holds()
    stop = plugin.event("UserPromptSubmit", prompt="stop")
    silent(stop) if "UserPromptSubmit" in down else told(stop, "released")


def test_what_is_registered_by_settings_does_not_look_for_others(session):
    folder = os.path.join(session.environ["HOME"], ".claude")
    os.makedirs(folder)
    with open(f"{folder}/settings.json", "w", encoding="utf-8") as file:
        json.dump(entries(*ALL, command="python3 " + QUOTED), file)
    held(session.armed().stop())


@pytest.mark.parametrize("registered, found", [(False, []), (True, ["plugin-too"])])
def test_doctor_knows_the_plugin(plugin, monkeypatch, registered, found):
    monkeypatch.chdir(f"{plugin.home}/project")
    monkeypatch.setattr(sc, "MANAGED", ())
    plugin.settings({"enabledPlugins": {"session-contract@session-contract": True},
                     **(entries(*ALL, command="python3 " + QUOTED) if registered else {})})
    names = [name for name, *_ in sc.diagnose(plugin.environ)]
    assert "not-installed" not in names and [name for name in names if name == "plugin-too"] == found


def test_doctor_of_the_plugin_proves_the_plugins_own_command(plugin):
    plugin.settings({"enabledPlugins": {"session-contract@session-contract": True}})
    done = subprocess.run([f"{plugin.folder}/{sc.LAUNCHER}", "doctor"], env=plugin.environ, check=False,
                          cwd=f"{plugin.home}/project", capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and b"sound" in done.stdout, done


# --- its command --------------------------------------------------------------------------------------------------

HEADS = ("contract:", "/contract", "/session-contract:contract", "/Contract", "Contract:")


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("words, read_as", rows(
    ("a stop", "stop", ("stop",)), ("a pause", "pause", ("pause",)), ("nothing", "", ("status",)),
    ("a condition", "arm until the suite is green", ("arm", "the suite is green")),
    ("a word that is none", "dance", ("?", "dance"))))
def test_each_head_of_a_command_is_read(head, words, read_as):
    assert sc.read_command(f"{head} {words}") == read_as


@pytest.mark.parametrize("text", [
    "/contracts stop", "/session-contract:contracts stop", "/session-contract stop", "/session-contract:stop",
    "/other:contract stop", "the /contract stop", "/contract\nstop"])
def test_what_only_looks_like_a_command_is_none(text):
    assert sc.read_command(text) == ()


@pytest.mark.parametrize("head", HEADS)
def test_a_command_reaches_the_hook_though_nothing_is_armed(session, head):
    run = session.prompt(f"{head} status")
    assert "nothing is armed" in run.answer
    told(session.prompt(f"{head} arm until the suite is green"), 'armed: "the suite is green"')
    assert "released" in session.prompt(f"{head} stop").answer


@pytest.mark.parametrize("head", HEADS)
def test_a_command_queued_during_a_turn_releases_it(armed, head):
    armed.transcript.lines.append(json.dumps({
        "type": "queue-operation", "operation": "enqueue", "timestamp": "2099-01-01T00:00:00.000Z",
        "content": f"{head} stop"}).encode() + b"\n")
    told(let_go(armed.stop()), "released")


def test_the_commands_text_alone_never_arms(session):
    body = read(SOURCE, "skills", "contract", "SKILL.md").decode().split("---\n", 2)[2]
    silent(session.prompt(body.replace("$ARGUMENTS", "status")))
    assert launch(session.environ, session.payload("Stop", last_assistant_message=OWING)).code == 0
