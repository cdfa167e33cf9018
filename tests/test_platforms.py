"""Where it runs: locales, streams, homes, masks, interpreters. Windows by what the functions return, it is not run."""
import glob
import json
import os
import shutil
import stat
import subprocess
import sys
import types

import pytest

import session_contract as sc
from conftest import (ARMING, CONDITION, FILE, HONEST, OWING, PATIENCE, Run, Session, command_line, held, launch,
                      let_go, rows, told)


# --- streams --------------------------------------------------------------------------------------

STREAMS = ["ok", "closed", "full"]
FORMS = {"ok": "", "closed": "&-", "full": "/dev/full"}


def under(session, out, err, payload, source="", command=None):
    """Run the hook under a shell that has closed or filled its streams."""
    line = 'exec "$@" ' + source + "".join(f" {number}>{FORMS[form]}" for number, form in ((1, out), (2, err))
                                           if FORMS[form])
    done = subprocess.run(["sh", "-c", line, "sh", *(command or command_line())], input=payload, env=session.environ,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("err", STREAMS)
@pytest.mark.parametrize("out", STREAMS)
def test_whatever_the_streams_only_a_hold_exits_2(armed, out, err):
    """Each hold, a check's among them, is one; every other answer is 0, and so is input that cannot be read."""
    owing = armed.payload("Stop", last_assistant_message=OWING)
    assert under(armed, out, err, owing).code == sc.HOLD
    for event, fields in (("UserPromptSubmit", {"prompt": "use tabs"}), ("SessionStart", {"source": "resume"}),
                          ("Stop", {"last_assistant_message": HONEST}), ("Frobnicate", {}), ("SubagentStop", {})):
        assert under(armed, out, err, armed.payload(event, **fields)).code == 0
    assert under(armed, out, err, b"", "<&-").code == under(armed, out, err, b"", "</dev/null").code == 0
    assert under(armed, out, err, b"", "</").code == 1      # a folder: Python does not start, and that is no refusal
    armed.change(check="echo seen; echo seen >&2; exit 3")
    assert under(armed, out, err, armed.payload("Stop", last_assistant_message=HONEST)).code == sc.HOLD
    armed.change(check="true")
    assert under(armed, out, err, armed.payload("Stop", last_assistant_message=HONEST)).code == 0
    assert armed.contract["state"] == sc.MET


@pytest.mark.parametrize("err", STREAMS)
@pytest.mark.parametrize("out", STREAMS)
def test_the_installed_launcher_keeps_that(installed, out, err):  # noqa: F811
    def event(name, **fields):
        payload = {"hook_event_name": name, "session_id": "s1", "transcript_path": "", **fields}
        return under(installed, out, err, json.dumps(payload).encode(),
                     command=["sh", "-c", installed.place.command]).code

    assert event("UserPromptSubmit", prompt=ARMING) == 0
    assert event("Stop", last_assistant_message=OWING) == sc.HOLD
    assert event("Stop", last_assistant_message=HONEST) == 0
    assert under(installed, out, err, b"", "<&-", ["sh", "-c", installed.place.command]).code == 0


@pytest.mark.parametrize("arguments, status", [(("status",), 0), (("--help",), 0), (("nonsense",), 64),
                                               (("item", "waive", "i9", "--reason", "x"), 1)])
def test_no_command_exits_2_whatever_its_streams(armed, arguments, status):
    armed.environ["CLAUDE_CODE_SESSION_ID"] = "s1"
    for out in STREAMS:
        for err in STREAMS:
            assert under(armed, out, err, b"", "<&-", command_line(*arguments)).code == status, (out, err)


# --- locales --------------------------------------------------------------------------------------

LOCALES = rows(*((" ".join(f"{name}={value}" for name, value in environ.items()), environ) for environ in (
    {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"},
    {"LC_ALL": "xx_XX.nonsense"}, {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "cp1252:strict"},
    {"LC_ALL": "en_US.ISO-8859-1", "PYTHONUTF8": "0"}, {"LANG": "ja_JP.SJIS", "PYTHONIOENCODING": "cp932"},
    {"PYTHONUTF8": "1", "PYTHONIOENCODING": "latin-1"}, {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
    {"PYTHONOPTIMIZE": "2"})))
WORDS = "Größe \u2713 全部 \U0001f6d1"


@pytest.mark.parametrize("flags", [("-I", "-S"), ("-S",)], ids=["as installed", "with the environment's say"])
@pytest.mark.parametrize("environ", LOCALES)
def test_a_story_in_any_locale(tmp_path, environ, flags):
    session = Session(tmp_path / "größe", **environ)

    def event(name, **fields):
        return launch(session.environ, session.payload(name, **fields), flags=flags)

    assert WORDS in told(event("UserPromptSubmit", prompt=f"Don\u2019t stop until {WORDS} is done."), "armed").said
    run = held(event("Stop", last_assistant_message=f"残り3件 {WORDS} 3 files remain. Continuing."))
    assert WORDS in run.err
    assert WORDS in event("SessionStart", source="resume").context
    run = session.command("status", flags=flags)
    assert run.code == 0 and WORDS in run.out.decode("utf-8")
    told(event("UserPromptSubmit", prompt="stop"), "released")


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}])
def test_an_argument_that_is_not_ascii_arrives(armed, environ):
    assert armed.command("item", "add", WORDS, environ=environ).code == 0
    assert armed.contract["items"][0]["text"] == WORDS


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
@pytest.mark.parametrize("flags", [("-I", "-S"), ("-S",)], ids=["as installed", "with the environment's say"])
def test_a_home_that_is_no_unicode_is_a_home(tmp_path, environ, flags):
    home = os.fsencode(str(tmp_path)) + b"/\xff\xfe home"
    os.mkdir(home)
    environ = {"PATH": os.environ["PATH"], "HOME": os.fsdecode(home), **environ}
    session = Session(tmp_path)
    told(launch(environ, session.payload("UserPromptSubmit", prompt=ARMING), flags=flags), "armed")
    held(launch(environ, session.payload("Stop", last_assistant_message=OWING), flags=flags))
    assert os.listdir(home + b"/.claude/session-contract/contracts") == [b"s1.json"]


# --- homes, folders, masks ------------------------------------------------------------------------

@pytest.mark.parametrize("home", ["new", "new/and/deep", "slash/", "slashes///"])
def test_a_home_that_is_not_there_yet_is_made_for_its_owner_alone(session, home):
    del session.environ["SESSION_CONTRACT_DIR"]
    session.environ["HOME"] = os.path.join(session.folder, home)
    before = os.umask(0)
    try:
        held(session.armed().stop())
    finally:
        os.umask(before)
    path = os.path.join(session.folder, home.rstrip("/"))
    for _ in range(3):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
        path = os.path.join(path, os.listdir(path)[0])


def modes_under(folder):
    return {os.path.relpath(os.path.join(at, name), folder): stat.S_IMODE(os.lstat(os.path.join(at, name)).st_mode)
            for at, folders, names in os.walk(folder) for name in folders + names}


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077], ids=oct)
def test_every_file_of_a_long_life_is_private_whatever_the_mask(session, mask):
    """A rotated log, a broken file set aside, an absence, the work of commands."""
    before = os.umask(mask)
    try:
        session.armed().stop()
        with open(session.log_path, "ab") as log:
            log.write(b"\n" * (sc.LIMITS["log"] + 1))
        session.stop()
        session.command("item", "add", "port csv")
        session.command("away")
        session.break_contract()
        told(session.prompt("stop"), "released")
        session.armed()
    finally:
        os.umask(before)
    modes = modes_under(session.store)
    folders = {name: modes.pop(name) for name in ("contracts", "logs")}
    assert set(folders.values()) == {0o700} and stat.S_IMODE(os.stat(session.store).st_mode) == 0o700
    assert len(modes) == 5 and set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize("mask", [0o000, 0o077], ids=oct)
def test_nobody_else_can_write_what_install_makes(tmp_path, mask):
    home = str(tmp_path / "home")
    os.mkdir(home, 0o700)
    before = os.umask(mask)
    try:
        run = launch({"PATH": os.environ["PATH"], "HOME": home}, b"", "install")
    finally:
        os.umask(before)
    assert run.code == 0, run
    modes = modes_under(home)
    assert ".claude/settings.json" in modes and [name for name, mode in modes.items() if mode & 0o022] == []


@pytest.mark.parametrize("event, fields", [("Stop", {"last_assistant_message": OWING}), ("SessionStart", {}),
                                           ("Stop", {"last_assistant_message": HONEST}),
                                           ("UserPromptSubmit", {"prompt": "use tabs"})])
def test_a_working_directory_that_is_gone_changes_no_answer(armed, tmp_path, event, fields):
    """Also where a check runs in it."""
    gone = tmp_path / "gone"
    gone.mkdir()
    if fields.get("last_assistant_message") == HONEST:
        armed.change(check="exit 3")
    done = subprocess.run(["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), *command_line()], cwd=str(gone),
                          input=armed.payload(event, cwd=str(gone), **fields), env=armed.environ,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    run = Run(done.returncode, done.stdout, done.stderr)
    assert "error of this program" not in run.said
    assert run.code == (sc.HOLD if event == "Stop" else 0), run


@pytest.mark.parametrize("arguments", [("status",), ("item", "add", "x"), ("item", "list"), ("log",), ("disarm",)])
def test_commands_work_where_the_working_directory_is_gone(armed, tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), *command_line(*arguments)], cwd=str(gone),
                          env={**armed.environ, "CLAUDE_CODE_SESSION_ID": "s1"}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


# --- interpreters ---------------------------------------------------------------------------------

def interpreter(version):
    """Python VERSION on this machine: in SESSION_CONTRACT_TEST_PYTHONS (a path list), under ~/.pyenv, or installed."""
    named = [path for path in os.environ.get("SESSION_CONTRACT_TEST_PYTHONS", "").split(os.pathsep) if path]
    places = [*named, *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))),
              f"/usr/bin/python{version}", f"/usr/local/bin/python{version}", shutil.which(f"python{version}") or ""]
    for path in filter(os.path.exists, places):
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if done.stdout.decode().strip() == version:
            return path
    pytest.skip(f"Python {version} is not on this machine")


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
def test_a_short_story_on_each_python(session, version):
    python = interpreter(version)

    def run(*arguments, data=b"", **more):
        done = subprocess.run([python, "-I", "-W", "error", FILE, *arguments], input=data, cwd=session.folder,
                              env={**session.environ, "CLAUDE_CODE_SESSION_ID": "s1", **more}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        return Run(done.returncode, done.stdout, done.stderr)

    def event(name, **fields):
        with open(session.path, "wb") as file:
            file.write(session.transcript.data)
        return run(data=session.payload(name, **fields))

    told(event("UserPromptSubmit", prompt=ARMING), f'armed: "{CONDITION}"')
    session.transcript.human(ARMING)
    session.transcript.held(held(event("Stop", last_assistant_message=OWING)).err)
    session.transcript.call(command="pytest -q", row_timestamp="2999-01-01T00:00:00Z")
    assert run("item", "add", f"port {WORDS}").code == 0
    assert f"port {WORDS}" in held(event("Stop", last_assistant_message=HONEST)).err
    assert run("item", "done", "i1", "--evidence", "command:pytest -q").code == 0
    assert session.contract["items"][0]["evidence"][0]["verified"] is True
    told(let_go(event("Stop", last_assistant_message=HONEST)), "let go")
    assert CONDITION in event("SessionStart", source="resume").context
    for arguments in (("status", "--json"), ("report", "--json"), ("log", "--json"), ("policy",), ("explain", FILE)):
        done = run(*arguments)
        assert done.code == 0 and done.out and done.err == "", done
    told(event("UserPromptSubmit", prompt="stop"), "released")
    assert (event("Stop", last_assistant_message=OWING).code, session.classes) == (0, ["BLOCK", "BLOCK", "ALLOW-CLEAN"])


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7", "3.8"])
@pytest.mark.parametrize("event", list(sc.EVENTS))
def test_the_plain_file_on_a_python_that_is_too_old_refuses_nothing(armed, version, event):
    """Such a line stands in nobody's settings after `install`; written by hand it may fail, and must not hold."""
    done = subprocess.run([interpreter(version), FILE], input=armed.payload(event, prompt="stop"), env=armed.environ,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode != sc.HOLD or event == "Stop" and done.stdout


# --- Windows, which is not run --------------------------------------------------------------------

@pytest.fixture
def windows(monkeypatch):
    """What the program finds on Windows, as far as it can be had here: no posix, no fcntl, no user ids."""
    fake = types.ModuleType("os")
    missing = ("geteuid", "getuid", "uname", "O_NONBLOCK", "O_NOFOLLOW")
    fake.__dict__.update({name: value for name, value in vars(os).items() if name not in missing
                          and not name.startswith("__")})
    fake.O_BINARY = 0
    monkeypatch.setattr(sc, "fs", fake)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    return monkeypatch


ANA = r"C:\Users\Ana Ruiz"


@pytest.mark.parametrize("environ, path", rows(
    ("the profile", {"USERPROFILE": ANA}, "C:/Users/Ana Ruiz/.claude/session-contract"),
    ("a final backslash", {"USERPROFILE": "D:\\"}, "D:/.claude/session-contract"),
    ("a home that a shell has set", {"USERPROFILE": ANA, "HOME": "/c/Users/Ana Ruiz"},
     "C:/Users/Ana Ruiz/.claude/session-contract"),
    ("a share", {"USERPROFILE": r"\\server\people\ana"}, "//server/people/ana/.claude/session-contract"),
    ("the client's own folder", {"USERPROFILE": ANA, "CLAUDE_CONFIG_DIR": "D:\\cfg\\"}, "D:/cfg/session-contract"),
    ("a store of its own", {"USERPROFILE": ANA, "SESSION_CONTRACT_DIR": r"E:\gate"}, "E:/gate"),
    ("slashes", {"SESSION_CONTRACT_DIR": "E:/gate/"}, "E:/gate")))
def test_windows_has_its_store_in_the_profile(windows, environ, path):
    assert sc.store_dir(environ) == path


@pytest.mark.parametrize("environ", [{}, {"HOME": "/c/Users/x"}, {"SESSION_CONTRACT_DIR": r"some\where"},
                                     {"SESSION_CONTRACT_DIR": "C:drive-relative"}, {"CLAUDE_CONFIG_DIR": "."}])
def test_windows_without_a_usable_folder_is_told(windows, environ):
    with pytest.raises(sc.StoreError):
        sc.store_dir(environ)


@pytest.mark.parametrize("name", ["con", "CON", "Nul", "prn.txt", "aux", "com1", "LPT9.a.b"])
def test_windows_has_ids_that_are_devices(windows, name):
    assert sc.session_file(name) == ""


@pytest.mark.parametrize("name", ["cons", "com", "com10", "lpt", "nul-1", "a.con", "s1"])
def test_windows_has_ids_that_only_look_like_devices(windows, name):
    assert sc.session_file(name) == name


@pytest.mark.parametrize("profile", [ANA, r"C:\Users\O'Neil $HOME", r"C:\Users\ana", "C:\\Users\\`x`;\"y\""])
def test_windows_registers_a_line_that_its_shell_reads_as_one_path(windows, profile):
    """The client runs hooks by the shell that comes with Git, to which a raw backslash is a quote."""
    place = sc.Place("user", {"USERPROFILE": profile})
    wanted = profile.replace("\\", "/") + f"/.claude/{sc.HOOK_DIR}/hook"
    assert place.launcher == wanted
    assert sc.is_ours({"command": place.command})
    if "'" not in profile:
        assert "\\" not in place.command
    for shell in filter(shutil.which, ("sh", "bash")):
        run = subprocess.run([shell, "-c", f"printf %s {place.command}"], stdout=subprocess.PIPE, check=True)
        assert run.stdout.decode() == wanted


def test_windows_shows_commands_without_a_backslash(windows):
    windows.setattr(sc, "__file__", ANA + r"\My Files\session_contract.py")
    windows.setattr(sc.sys, "executable", r"C:\Program Files\Python 3.12\python.exe")
    assert sc.own_command() == ("'C:/Program Files/Python 3.12/python.exe' "
                                "'C:/Users/Ana Ruiz/My Files/session_contract.py'")
    windows.setattr(sc, "__file__", ANA + f"\\.claude\\{sc.HOOK_DIR}\\rest.py")
    assert sc.own_command() == f"'C:/Users/Ana Ruiz/.claude/{sc.HOOK_DIR}/hook'"


def test_windows_has_its_interpreter_in_the_launcher(windows):
    text = sc.launcher_text(r"C:\Program Files\Python\python.exe", "C:/Users/Ana Ruiz/.claude/x")
    assert sc.launcher_python(text) == "C:/Program Files/Python/python.exe" and "C:\\" not in text


def test_windows_arms_holds_and_releases(windows, tmp_path):
    """The store's own calls, with neither user ids nor locks."""
    environ = {"USERPROFILE": str(tmp_path), "SESSION_CONTRACT_DIR": str(tmp_path / "store"), "USERNAME": "ana"}

    def event(name, **fields):
        payload = {"hook_event_name": name, "session_id": "s1", "transcript_path": str(tmp_path / "t"), **fields}
        return sc.run_hook(payload, "", environ, 1_800_000_000)

    assert "armed" in json.loads(event("UserPromptSubmit", prompt=ARMING).out)["systemMessage"]
    os.chmod(str(tmp_path / "store"), 0o777)        # modes say nothing there
    assert event("Stop", last_assistant_message=OWING).code == sc.HOLD
    assert "released" in json.loads(event("UserPromptSubmit", prompt="stop").out)["systemMessage"]
    assert event("Stop", last_assistant_message=OWING) == sc.Reply()


def test_windows_writes_settings_that_are_there_already(windows, tmp_path):
    windows.delattr(os, "geteuid")
    (tmp_path / "settings.json").write_text("{}")
    sc.write_whole(str(tmp_path / "settings.json"), b"{ }")
    assert (tmp_path / "settings.json").read_text() == "{ }"
    os.makedirs(str(tmp_path / "store/contracts"))
    environ = {"USERPROFILE": str(tmp_path), "SESSION_CONTRACT_DIR": str(tmp_path / "store")}
    assert list(sc.store_findings(environ)) == []
