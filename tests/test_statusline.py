"""One segment for the client's status line: what the contract is at, nothing if there is none, and never a failure."""
import json
import os
import shutil
import subprocess
import sys

import pytest

import session_contract as sc
from conftest import ARMING, PATIENCE, ROOT, RUNNING, WAITING, Run, command_line, launch, rows, silent, told

EXAMPLE = os.path.join(ROOT, "examples", "statusline.sh")


def sent(name="s1"):
    """What the client sends to a status line, as it was recorded, for a session of ours."""
    with open(os.path.join(ROOT, "examples", "payloads", "status-line.json"), encoding="utf-8") as file:
        return json.dumps({**json.load(file), "session_id": name}).encode()


def line(session, stdin=None, environ=None, **more):
    run = launch({**session.environ, **(environ or {})}, sent(session.name) if stdin is None else stdin, "statusline",
                 **more)
    assert (run.code, run.err) == (0, ""), run
    return run.out.decode()


def contract(**fields):
    return sc.Loaded(kind="ok", contract={**sc.CONTRACT, "session": "s1", **fields})


ITEMS = [{"id": f"i{n}", "text": "x", "state": state} for n, state in enumerate((sc.OPEN, sc.OPEN, sc.DONE, sc.WAIVED))]


@pytest.mark.parametrize("loaded, environ, segment", rows(
    ("armed", contract(), {}, "contract: armed"),
    ("with work owed", contract(items=ITEMS), {}, "contract: armed | 2 open"),
    ("held since the last prompt", contract(items=ITEMS, blocks=3), {}, "contract: armed | 2 open | held 3"),
    ("paused", contract(state="paused"), {}, "contract: paused"),
    ("degraded", contract(degraded=True, blocks=3), {}, "contract: degraded | held 3"),
    ("waiting for a task", contract(waiting={"what": "shell b1 the tests", "at": 1, "until": 0}), {},
     "contract: armed | waiting: shell b1 the tests"),
    ("waiting for a time to come", contract(waiting={"what": "schedule w1 in 5 minutes", "at": 1, "until": 2000}), {},
     "contract: armed | waiting: schedule w1 in 5 minutes"),
    ("waiting for a time that has gone", contract(waiting={"what": "schedule w1", "at": 1, "until": 999}), {},
     "contract: armed | overdue: schedule w1"),
    ("a time budget", contract(spent_at=1000 + 7200), {}, "contract: armed | 2 hours left"),
    ("a time budget that is over", contract(spent_at=999), {}, "contract: armed"),
    ("an absence that ended with work owed", contract(items=ITEMS, mode="away", standing="stopped"), {},
     "contract: stopped with work owed | 2 open"),
    ("met", contract(state="met", items=ITEMS), {}, ""), ("spent", contract(state="spent"), {}, ""),
    ("disarmed", contract(state="disarmed"), {}, ""),
    ("switched off", contract(), {"SESSION_CONTRACT": "0"}, "contract: off"),
    ("observed", contract(), {"SESSION_CONTRACT": "observe"}, "contract: observing"),
    ("malformed", sc.Loaded(kind="malformed", why="x"), {}, "contract: malformed"),
    ("a newer version's", sc.Loaded(kind="newer", why="x"), {}, "contract: newer"),
    ("somebody else's", sc.Loaded(kind="foreign", why="x"), {}, "contract: foreign")))
def test_a_segment_says_where_the_contract_stands(loaded, environ, segment):
    assert sc.segment(loaded, environ, 1000) == segment


def test_a_text_of_the_agents_cannot_leave_its_line_or_colour_it():
    said = sc.segment(contract(waiting={"what": "a\x1b[31m\n\x07" + "b" * 500, "at": 1, "until": 0}), {}, 1000)
    assert said.isprintable() and len(said) < 80


def test_the_whole_process_follows_a_session(session):
    assert line(session) == ""
    session.armed("Port it, don't stop until:\n- the CSV exporter\n- the XML exporter")
    assert line(session) == "contract: armed | 2 open\n"
    session.stop()
    assert line(session) == "contract: armed | 2 open | held 1\n"
    session.prompt("stop")
    assert line(session) == ""


def test_a_wait_is_shown(armed):
    told(armed.stop(WAITING, background_tasks=[RUNNING]), "waits")
    assert line(armed) == "contract: armed | waiting: shell b1\n"


def test_another_session_is_not_shown(armed):
    assert line(armed, sent("s2")) == ""


def test_ids_are_folded_as_the_hook_folds_them(armed):
    assert line(armed, sent("S1")) == "contract: armed\n"


@pytest.mark.parametrize("stdin", rows(
    ("nothing", b""), ("half an object", b'{"session_id": "s1"'), ("a list", b"[1]"), ("no JSON", b"\xff\xfe\x00"),
    ("null", b"null"), ("no session", b"{}"), ("a session of another type", b'{"session_id": 7}'),
    ("a session that leads out", b'{"session_id": "../../etc/passwd"}')))
def test_whatever_arrives_it_says_nothing_and_exits_0(armed, stdin):
    assert line(armed, stdin) == ""


def test_a_contract_that_cannot_be_read_is_no_blank(armed):
    armed.break_contract()
    assert line(armed) == "contract: malformed\n"
    os.unlink(armed.contract_path)
    os.mkdir(armed.contract_path)
    assert line(armed).startswith("contract: status line failed")


def test_a_closed_output_is_no_failure(armed):
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command_line("statusline")], input=sent(), env=armed.environ,
                          capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("armed_first, unloaded", [(False, ("rest", "argparse", "os", "json")), (True, ("argparse",))])
def test_it_loads_only_what_it_needs(session, tmp_path, armed_first, unloaded):
    if armed_first:
        session.armed()
    with open(sc.__file__, "rb") as file:
        _, front, rest = sc.parts_of(file.read())
    for name, data in (("gate.py", front), ("rest.py", rest)):
        with open(tmp_path / name, "wb") as file:
            file.write(data)
    program = ("import sys; sys.path.append(%r); import gate; gate.fs._exit = lambda code: None; gate.status_line(); "
               "print(*sys.modules)" % str(tmp_path))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], input=sent(), env=session.environ, check=True,
                          capture_output=True, timeout=PATIENCE)
    assert not set(unloaded) & set(done.stdout.decode().split())
    assert (b"contract: armed" in done.stdout) is armed_first


def test_the_file_itself_goes_past_the_command_line(armed):
    program = ("import sys; sys.path.append(%r); import session_contract as s; s.fs._exit = lambda code: None; "
               "s.main(['statusline']); print(*sys.modules)" % ROOT)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], input=sent(), env=armed.environ, check=True,
                          capture_output=True, timeout=PATIENCE)
    assert b"contract: armed" in done.stdout and "argparse" not in done.stdout.decode().split()


# --- through the launcher, and the example ------------------------------------------------------------------------

@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home with the hook installed."""
    folder = str(tmp_path_factory.mktemp("home"))
    assert launch({"PATH": os.environ["PATH"], "HOME": folder}, b"", "install").code == 0
    return folder


@pytest.fixture
def installed(home, tmp_path):
    """A copy of that home, and a function that runs a shell line in it with the client's status line on its input."""
    place = shutil.copytree(home, tmp_path / "home")

    def run(words, stdin=None, **environ):
        done = subprocess.run(words, input=sent() if stdin is None else stdin, cwd=str(tmp_path), check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(place), **environ}, timeout=PATIENCE,
                              capture_output=True)
        return Run(done.returncode, done.stdout, done.stderr)

    run.hook = os.path.join(str(place), ".claude", sc.HOOK_DIR, sc.LAUNCHER)
    run.place = str(place)
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": ARMING, "cwd": "/"}
    run.arm = lambda: told(run([run.hook], json.dumps(payload).encode()), "armed")
    return run


def test_the_launcher_answers_as_the_file_does(installed):
    silent(installed([installed.hook, "statusline"]))
    installed.arm()
    os.unlink(os.path.join(os.path.dirname(installed.hook), "session_contract.py"))     # for commands: not needed here
    assert installed([installed.hook, "statusline"]).out == b"contract: armed\n"


@pytest.mark.parametrize("part", ["gate.py", "rest.py"])
def test_with_a_part_gone_the_line_is_no_blank(installed, part):
    installed.arm()
    os.unlink(os.path.join(os.path.dirname(installed.hook), part))
    run = installed([installed.hook, "statusline"])
    assert run.code == 0 and run.out.startswith(b"contract: ") and not run.err


def test_without_any_python_the_line_is_no_blank(installed, monkeypatch):
    monkeypatch.setattr(sc, "OTHER_PYTHONS", "python3")
    with open(installed.hook, "w", encoding="utf-8") as file:
        file.write(sc.launcher_text("/gone/python3", os.path.dirname(installed.hook)))
    run = installed([installed.hook, "statusline"], PATH="/nowhere")
    assert (run.code, run.out, run.err) == (0, b"contract: gate off\n", "")


def test_switched_off_it_says_so_of_an_armed_session(installed):
    installed.arm()
    assert installed([installed.hook, "statusline"], SESSION_CONTRACT="0").out == b"contract: off\n"


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_example_puts_both_segments_on_one_line(installed, shell):
    name = os.path.basename(os.path.dirname(installed.place))
    assert installed([shell, EXAMPLE]).out.decode() == f"{name}\n"
    installed.arm()
    assert installed([shell, EXAMPLE]).out.decode() == f"{name} | contract: armed\n"


def test_the_example_finds_the_plugin_too(installed):
    installed.arm()
    place = os.path.dirname(installed.hook)
    plugin = os.path.join(os.path.dirname(place), "plugins", "cache", "a shop", sc.NAME, "0.1.0")
    os.makedirs(plugin)
    os.rename(place, os.path.join(plugin, sc.HOOK_DIR))
    assert installed(["sh", EXAMPLE]).out.decode().endswith(" | contract: armed\n")


def test_the_example_without_any_hook_is_the_persons_own_line(installed):
    shutil.rmtree(os.path.dirname(installed.hook))
    run = installed(["sh", EXAMPLE])
    assert run.code == 0 and run.out.count(b"\n") == 1 and not run.err
