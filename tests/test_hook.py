"""The boundary of the process: what each event may answer, for every input, environment and stream."""
import importlib.util
import json
import os
import runpy
import subprocess
import sys
import time

import pytest

import session_contract as sc
from conftest import (ARMING, CONDITION, HONEST, OWING, PATIENCE, QUESTION, Run, Session, command_line, held, launch,
                      let_go,
                      rows, silent, told)
from within import Failing, Instead

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")


def raw(session, data, **more):
    return launch(session.environ, data, **more)


# --- input that is no payload ---------------------------------------------------------------------

UNREADABLE = rows(
    ("no input at all", b""), ("blanks", b" \n\t "), ("a bare word", b"stop"),
    ("half an object", b'{"hook_event_name": "St'),
    ("null", b"null"), ("a list", b"[1, 2]"), ("a text", b'"Stop"'), ("a number", b"7"), ("two objects", b"{} {}"),
    ("UTF-16", '{"hook_event_name": "Stop"}'.encode("utf-16")), ("nothing but NUL bytes", b"\0" * 64),
    ("a hundred thousand brackets", b"[" * 100_000), ("an object nested without end", b'{"a":' * 50_000),
    ("megabytes of random bytes", bytes(range(256)) * 20_000))


@pytest.mark.parametrize("script", [False, True], ids=["installed", "as a script"])
@pytest.mark.parametrize("data", UNREADABLE)
def test_input_that_is_no_payload_is_let_go_and_told(session, data, script):
    told(let_go(raw(session, data, script=script)), "could not be read")
    assert not os.path.exists(session.store)


@pytest.mark.parametrize("payload, fragment", rows(
    ("an empty object", {}, "event"), ("an event of the future", {"hook_event_name": "Frobnicate", "session_id": "s1"},
                                       "Frobnicate"),
    ("a number for an event", {"hook_event_name": 7}, "event 7"),
    ("a list for an event", {"hook_event_name": ["Stop"]}, "event"),
    ("an object for an event", {"hook_event_name": {}}, "event"), ("no event", {"session_id": "s1"}, "event"),
    ("another spelling of an event", {"hook_event_name": "stop", "session_id": "s1"}, "stop"),
    ("a Stop without a session", {"hook_event_name": "Stop"}, "no session id")))
def test_a_payload_that_says_too_little_is_let_go_and_told(session, payload, fragment):
    told(let_go(raw(session, json.dumps(payload).encode())), fragment)


@pytest.mark.parametrize("event", sc.QUIET_EVENTS)
def test_other_events_of_the_client_are_silent(armed, event):
    before = armed.contract
    silent(armed.hook(event, last_assistant_message=OWING, prompt="stop"))
    assert armed.contract == before


@pytest.mark.parametrize("event", EVENTS)
def test_a_subagent_is_not_touched(armed, event):
    before = armed.contract
    silent(armed.hook(event, agent_id="a7", last_assistant_message=OWING, prompt="stop"))
    assert armed.contract == before


@pytest.mark.parametrize("event", EVENTS)
def test_a_session_that_was_never_armed_is_silent_and_leaves_nothing(session, event):
    silent(session.hook(event, prompt="Port the exporters.", last_assistant_message=OWING))
    assert not os.path.exists(session.store)


# --- payloads that are hard to read ---------------------------------------------------------------

def stop_payload(session, message=OWING, **fields):
    return session.payload("Stop", last_assistant_message=message, **fields)


@pytest.mark.parametrize("change", rows(
    ("plain", lambda data: data), ("with a byte order mark", lambda data: b"\xef\xbb\xbf" + data),
    ("over many lines", lambda data: json.dumps(json.loads(data), indent=4).replace("\n", "\r\n").encode()),
    ("with blanks around it", lambda data: b"\n\n  " + data + b" \r\n\n"),
    ("not UTF-8 in one field", lambda data: data.replace(b'"hook_event_name"',
                                                         b'"x": "\xff\xfe\x80", "hook_event_name"')),
    ("not UTF-8 in the message", lambda data: data.replace(b"225", b"\xff\xc3\x28 225")),
    ("raw UTF-8", lambda data: data.replace(b"225 remain", "残り3件 🛑 225 remain".encode())),
    ("a lone surrogate in the message", lambda data: data.replace(b"225", b"\\udc88\\ud800 225")),
    ("a lone surrogate in another field", lambda data: data.replace(b'"hook_event_name"',
                                                                    b'"\\ud800": 1, "hook_event_name"')),
    ("a control character in the message", lambda data: data.replace(b"225", b"\\u0000\\u001b[2J 225")),
    ("an unknown nested field", lambda data: data.replace(b'"hook_event_name"',
                                                          b'"x": {"y": [{}]}, "hook_event_name"')),
    ("a number that is none", lambda data: data.replace(b'"hook_event_name"', b'"x": [NaN, 1e999], "hook_event_name"')),
    ("the same field twice", lambda data: data.replace(b'"hook_event_name"', b'"session_id": "s2", "hook_event_name"',
                                                       1)
     .replace(b"}", b', "session_id": "s1"}')),
    ("a megabyte field", lambda data: data.replace(b'"hook_event_name"',
                                                   b'"x": "' + b"y" * 5_000_000 + b'", "hook_event_name"')),
))
def test_a_contradiction_is_held_however_it_is_written(armed, change):
    held(raw(armed, change(stop_payload(armed))))


def test_the_end_of_a_message_of_five_megabytes_is_read(armed):
    held(raw(armed, stop_payload(armed, "The file is ported.\n\n" * 240_000 + OWING)))


@pytest.mark.parametrize("fields", rows(
    ("tasks that are no list", {"background_tasks": "b1"}),
    ("tasks that are no objects", {"background_tasks": [1, None, "x"]}),
    ("a task with odd fields", {"background_tasks": [{"id": [], "type": {}, "status": None, "description": 7}]}),
    ("schedules that are no objects", {"session_crons": [1, None]}),
    ("a schedule with odd fields", {"session_crons": [{"id": {}, "schedule": 7, "prompt": []}]}),
    ("a mode that is no text", {"permission_mode": ["plan"]}),
    ("a transcript path that is no text", {"transcript_path": {}}),
    ("a transcript path with a NUL", {"transcript_path": "/tmp/a\0b"}),
    ("a folder for a transcript", {"transcript_path": "/"}),
    ("no working directory", {"cwd": None}), ("an effort of another shape", {"effort": "medium"}),
    ("an activity that is no boolean", {"stop_hook_active": "true"}), ("no tasks and no schedules", {
        "background_tasks": ..., "session_crons": ..., "permission_mode": ..., "stop_hook_active": ...,
        "transcript_path": ...})))
def test_a_contradiction_is_held_whatever_the_other_fields_hold(armed, fields):
    held(armed.stop(**fields))


@pytest.mark.parametrize("prompt", rows(("no prompt", ...), ("null", None), ("a number", 7), ("a list", ["stop"]),
                                        ("empty", "")))
def test_a_prompt_without_a_text_is_silent(armed, prompt):
    silent(armed.prompt(prompt))


def test_a_session_with_surrogates_in_it_can_be_read_back(session):
    told(session.prompt("don't stop until \udc88\ud800 is fixed"), "armed")
    held(session.stop("\udcff 3 files remain. Continuing."))
    assert session.start().context and session.command("status").code == 0
    with open(session.contract_path, "rb") as file:
        file.read().decode("utf-8")


# --- slow input -----------------------------------------------------------------------------------

def fed(session, pieces, pause=0.0, keep_open=False):
    """Run the process on PIECES written one by one. KEEP_OPEN leaves the pipe open until the process has ended."""
    process = subprocess.Popen(command_line(), env=session.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    with process:
        for piece in pieces:
            time.sleep(pause)
            process.stdin.write(piece)
            process.stdin.flush()
        if keep_open:
            process.wait(PATIENCE)
        out, err = process.communicate(timeout=PATIENCE)
    return Run(process.returncode, out, err)


def test_a_payload_in_three_byte_pieces_is_held(armed):
    data = stop_payload(armed)
    held(fed(armed, [data[at:at + 3] for at in range(0, len(data), 3)], pause=0.002))


def test_a_payload_that_comes_late_is_held(armed):
    held(fed(armed, [stop_payload(armed)], pause=1))


def test_a_payload_with_a_break_in_the_middle_is_held(armed):
    data = stop_payload(armed)
    held(fed(armed, [data[:len(data) // 2], data[len(data) // 2:]], pause=0.5))


def test_a_complete_payload_is_enough_though_the_pipe_stays_open(armed):
    held(fed(armed, [stop_payload(armed)], keep_open=True))


def test_a_brace_inside_a_text_does_not_end_the_payload(armed):
    data = stop_payload(armed, "The handler is `{}`. " + OWING)
    at = data.index(b"{}`") + 2
    held(fed(armed, [data[:at], data[at:]], pause=0.2))


# --- the switch -----------------------------------------------------------------------------------

@pytest.mark.parametrize("value", ["0", "false", "off", "no", "FALSE", " 0 ", "Off"])
@pytest.mark.parametrize("event", EVENTS)
def test_switched_off_it_is_silent_before_input_or_store_are_touched(armed, value, event):
    armed.break_contract()
    environ = {**armed.environ, "SESSION_CONTRACT": value, "SESSION_CONTRACT_DIR": "not/absolute"}
    process = subprocess.Popen(command_line(), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    with process:
        assert process.wait(PATIENCE) == 0      # with its input held open
        assert process.stdout.read() + process.stderr.read() == b""


@pytest.mark.parametrize("value", ["", "1", " 1 "])
def test_switched_on_it_holds_and_says_nothing_of_the_switch(armed, value):
    assert "SESSION_CONTRACT=" not in held(armed.stop(environ={"SESSION_CONTRACT": value})).said


@pytest.mark.parametrize("value", ["disable", "2", "yes", "nein"])
def test_another_spelling_of_the_switch_holds_and_is_told_once(armed, value):
    environ = {"SESSION_CONTRACT": value}
    told(held(armed.stop(environ=environ)), value, "SESSION_CONTRACT")
    assert value not in held(armed.stop(environ=environ)).said


# --- session ids ----------------------------------------------------------------------------------

BAD_IDS = rows(
    ("none", ...), ("null", None), ("empty", ""), ("blank", "   "), ("a number", 42), ("a list", ["s1"]),
    ("a way out", "../../evil"),
    ("dots", ".."), ("a hidden name", ".s1"), ("a path", "a/b"), ("a Windows path", "a\\b"), ("a drive", "C:x"),
    ("a NUL", "a\0b"),
    ("a line break", "a\nb"), ("an option", "-rf"), ("a letter with an accent", "é"),
    ("a digit of another script", "٣"),
    ("too long", "a" * 129), ("a lone surrogate", "a\ud800"), ("a blank inside", "a b"))


@pytest.mark.parametrize("name", BAD_IDS)
def test_an_id_that_names_no_file_is_not_gated_and_told(session, name):
    told(let_go(session.prompt(ARMING, session_id=name)), "Not gated")
    told(let_go(session.stop(session_id=name)), "Not gated")
    silent(session.prompt("Port the exporters.", session_id=name))
    assert not os.path.exists(session.store)


@pytest.mark.parametrize("name", ["a" * 128, "0", "a.b_c-d", "s1.json", "con", "a..b"])
def test_an_id_that_names_a_file_is_gated(tmp_path, name):
    session = Session(tmp_path, name)
    held(session.armed().stop())
    assert os.listdir(os.path.join(session.store, "contracts")) == [name + ".json"]


def test_ids_are_the_same_whatever_their_case(armed):
    held(armed.stop(session_id="S1"))


# --- streams --------------------------------------------------------------------------------------

def redirected(session, redirection, payload=None):
    """Run the process under a shell that redirects its streams."""
    done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", *command_line()], env=session.environ,
                          check=False,
                          input=stop_payload(session) if payload is None else payload, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE)
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("redirection", rows(
    ("standard output is closed", ">&-"), ("standard error is closed", "2>&-"), ("both are closed", ">&- 2>&-"),
    ("standard output is full", ">/dev/full"), ("standard error is full", "2>/dev/full"),
    ("both are full", ">/dev/full 2>&1")))
def test_a_hold_stays_a_hold(armed, redirection):
    assert redirected(armed, redirection).code == sc.HOLD


@pytest.mark.parametrize("redirection", ["<&-", "<&- >&-", "<&- >&- 2>&-", "</dev/null", ">/dev/full 2>&1", ">&- 2>&-"])
def test_a_prompt_is_never_refused_whatever_its_streams(armed, redirection):
    assert redirected(armed, redirection, armed.payload("UserPromptSubmit", prompt="stop")).code == 0


def test_a_hold_through_a_pipe_that_nobody_reads_stays_a_hold(armed):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(command_line(), input=stop_payload(armed), env=armed.environ, stdout=pipe, stderr=pipe,
                              check=False)
    assert done.returncode == sc.HOLD


LOCALES = rows(
    ("ASCII", {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": "C"}),
    ("a Windows code page", {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}),
    ("a Japanese code page", {"PYTHONIOENCODING": "cp932", "PYTHONUTF8": "0"}),
    ("Latin 1", {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}))


@pytest.mark.parametrize("environ", LOCALES)
def test_the_locale_changes_nothing(session, environ):
    session.environ.update(environ)
    words = "Don\u2019t stop until \u201cGröße \u2713 全部 \U0001f6d1\u201d is green."
    run = launch(session.environ, session.payload("UserPromptSubmit", prompt=words), flags=("-S",))
    told(run, "armed", "Größe ✓ 全部")
    held(launch(session.environ, stop_payload(session, "残り3件 🛑 3 files remain. Continuing."), flags=("-S",)))


# --- where the store is ---------------------------------------------------------------------------

def moved(session, **environ):
    session.environ = {**{k: v for k, v in session.environ.items() if k != "SESSION_CONTRACT_DIR"}, **environ}
    return session.armed()


def test_the_store_stands_in_the_home(session):
    moved(session)
    assert os.path.isdir(os.path.join(session.environ["HOME"], ".claude", sc.NAME, "contracts"))


def test_the_store_follows_the_client_s_own_directory(session, tmp_path):
    moved(session, CLAUDE_CONFIG_DIR=str(tmp_path / "other place"))
    held(session.stop())
    assert (tmp_path / "other place" / sc.NAME / "contracts").is_dir()
    assert not os.path.exists(os.path.join(session.environ["HOME"], ".claude"))


@pytest.mark.parametrize("name", ["SESSION_CONTRACT_DIR", "CLAUDE_CONFIG_DIR"])
def test_a_store_that_depends_on_the_working_directory_is_refused_and_told(session, name):
    session.environ.pop("SESSION_CONTRACT_DIR")
    session.environ[name] = "some/where"
    told(let_go(raw(session, session.payload("UserPromptSubmit", prompt=ARMING), cwd=session.folder)), name)
    assert not os.path.exists(os.path.join(session.folder, "some"))


@pytest.mark.parametrize("environ", rows(("no HOME", {}), ("an empty HOME", {"HOME": ""}),
                                         ("a relative HOME", {"HOME": "relative/dir"})))
def test_without_a_usable_home_the_account_s_own_is_taken(environ):
    import pwd
    assert sc.store_dir(environ) == f"{pwd.getpwuid(os.getuid()).pw_dir.rstrip('/')}/.claude/{sc.NAME}"


def test_without_any_home_it_says_so(monkeypatch):
    import pwd
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    with pytest.raises(sc.StoreError, match="HOME"):
        sc.store_dir({})


@pytest.mark.parametrize("home", [None, "", "relative/dir"])
def test_without_a_usable_home_nothing_appears_in_the_working_directory(tmp_path, home):
    environ = {"PATH": os.environ["PATH"], **({} if home is None else {"HOME": home})}
    payload = Session(tmp_path / "x").payload("Stop", session_id="never-armed-in-any-home")
    silent(launch(environ, payload, cwd=str(tmp_path)))
    assert os.listdir(str(tmp_path)) == ["x"]


def test_a_home_that_does_not_exist_is_told_when_arming(session):
    session.environ = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent"}
    told(let_go(session.prompt(ARMING)), "NOT ARMED")
    silent(session.stop())


def test_a_deleted_working_directory_changes_nothing(armed, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), *command_line()], cwd=str(gone),
                          check=False,
                          input=stop_payload(armed, cwd=str(gone)), env=armed.environ, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    held(Run(done.returncode, done.stdout, done.stderr))


def test_a_module_of_the_repository_s_own_is_not_imported(armed, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit(2)")
    (tmp_path / "re.py").write_text("raise SystemExit(3)")
    held(raw(armed, stop_payload(armed), cwd=str(tmp_path)))


# --- what the client reads into our words ---------------------------------------------------------

@pytest.mark.parametrize("words", ["no such file", "No such file or directory", "can't open display :0"])
def test_a_hold_that_names_a_missing_file_keeps_a_message_on_standard_output(session, words):
    session.armed(f"Don't stop until the '{words}' errors in boot are gone.")
    session.command("item", "add", f"{words}: find out why")
    run = held(session.stop())
    assert words.lower() in run.err.lower()     # else this proves nothing: it is what the client looks for


@pytest.mark.parametrize("event, fields", [("SessionStart", {"source": "resume"}),
                                           ("UserPromptSubmit", {"prompt": "use tabs"})])
def test_what_is_told_to_the_model_names_its_event(armed, event, fields):
    run = armed.hook(event, **fields)
    assert run.json["hookSpecificOutput"]["hookEventName"] == event and CONDITION in run.context


# --- the start of a session -----------------------------------------------------------------------

@pytest.mark.parametrize("source", ["resume", "compact", "startup"])
def test_the_start_of_an_armed_session_gives_the_description_back(armed, source):
    run = armed.start(source)
    told(run, CONDITION, '"stop" releases')
    assert CONDITION in run.context and sc.POLICY in run.context


def test_the_start_of_an_armed_session_tells_its_age(armed):
    armed.change(armed_at=int(time.time()) - 30 * 86_400)
    told(armed.start(), "30 days")
    held(armed.stop())


@pytest.mark.parametrize("at", [0, -10**12, 10**12, 10**30])
def test_a_time_out_of_the_calendar_crashes_nothing(armed, at):
    armed.change(armed_at=at, changed_at=at, block_at=at, prompt_at=at)
    told(armed.start(), "armed")
    assert armed.stop().code == sc.HOLD and armed.command("status").code == 0


def test_the_start_of_a_released_session_is_silent(armed):
    armed.prompt("stop")
    silent(armed.start())


def test_the_start_of_a_paused_session_says_that_it_is_paused(armed):
    armed.prompt("wait")
    told(armed.start(), "paused")


def test_the_start_of_another_session_inherits_nothing(armed, tmp_path):
    other = Session(tmp_path, "s2")
    silent(other.start("clear"))
    assert let_go(other.stop()).said == ""


def test_the_start_of_a_session_never_arms(session):
    silent(session.start("startup", prompt=ARMING, custom_instructions=ARMING))


# --- who spoke ------------------------------------------------------------------------------------

NOTICE = "<task-notification>\n<task-id>b7</task-id>\n<result>{}</result>\n</task-notification>"
MACHINE = rows(
    ("a task notification", {"prompt": NOTICE.format("{}")}), ("a system source", {"prompt": "{}", "source": "system"}),
    ("a scheduled wakeup", {"prompt": "{}", "source": "schedule_wakeup"}),
    ("a loop", {"prompt": "{}", "source": "loop_wakeup"}),
    ("an event that was polled", {"prompt": "{}", "source": "poll_event"}),
    ("a source of the future", {"prompt": "{}", "source": "x"}),
    ("a subagent", {"prompt": "{}", "agent_id": "a7"}))


def filled(fields, words):
    return {**fields, "prompt": fields["prompt"].replace("{}", words)}


@pytest.mark.parametrize("fields", MACHINE)
def test_a_machine_never_arms(session, fields):
    session.hook("UserPromptSubmit", **filled(fields, ARMING))
    assert not os.path.exists(session.store)


@pytest.mark.parametrize("fields", MACHINE)
def test_a_machine_never_releases_or_resets(armed, fields):
    armed.stop()
    before = armed.contract
    armed.hook("UserPromptSubmit", **filled(fields, "stop"))
    assert armed.contract == before


@pytest.mark.parametrize("fields", rows(("no source", {}), ("a person", {"source": "user"}),
                                        ("a program of the operator's", {"source": "sdk"})))
def test_the_operator_arms(session, fields):
    told(session.prompt(ARMING, **fields), "armed")


def test_a_scheduled_prompt_that_comes_back_is_no_word_of_the_operator_s(armed):
    armed.stop(session_crons=[{"id": "w1", "schedule": "* * * * *", "recurring": True, "prompt": "stop"}])
    armed.prompt("stop")
    held(armed.stop())


def test_words_of_the_operator_s_behind_a_notification_count(armed):
    told(armed.prompt(NOTICE.format("3 of 9 pass") + "\n\nstop"), "released")


# --- a terminal -----------------------------------------------------------------------------------

@pytest.mark.parametrize("script", [False, True], ids=["installed", "as a script"])
def test_with_a_terminal_on_standard_input_it_prints_its_help(session, script):
    main_end, other_end = os.openpty()
    try:
        done = subprocess.run(command_line(script=script), env=session.environ, stdin=other_end, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    finally:
        os.close(main_end)
        os.close(other_end)
    assert done.returncode == 0 and b"demo" in done.stdout and done.stderr == b""


# --- the whole life of a session ------------------------------------------------------------------

def test_a_session_from_arming_to_release_as_a_script(session):
    def play(event, **fields):
        return launch(session.environ, session.payload(event, **fields), script=True)

    told(play("UserPromptSubmit", prompt=ARMING), f'armed: "{CONDITION}"')
    held(play("Stop", last_assistant_message=OWING))
    told(let_go(play("Stop", last_assistant_message=HONEST)), "let go")
    told(play("UserPromptSubmit", prompt="stop"), "released")
    silent(play("Stop", last_assistant_message=OWING))


def test_a_question_of_an_armed_session_carries_one_short_line(armed):
    run = armed.prompt(QUESTION)
    assert run.said == "" and run.context.count("\n") == 0 and CONDITION in run.context


def test_nothing_but_what_a_hook_call_needs_is_imported(session):
    code = ("import sys; sys.path.append(%r); import session_contract as s; "
            "s.run_hook(*s.read_stdin(), s.environment(), 1); "
            "print(sorted(set(sys.modules) & {'re', 'json', 'os', 'typing', 'argparse', 'subprocess', 'enum'}))"
            % os.path.dirname(sc.__file__))
    done = subprocess.run([*command_line()[:3], "-c", code], input=session.payload("Stop"), env=session.environ,
                          stdout=subprocess.PIPE, check=False)
    assert done.stdout.strip() == b"[]"


# --- what the hook stands on ----------------------------------------------------------------------

def loaded_without(monkeypatch, *names):
    """The program as it loads where modules of these NAMES do not exist."""
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location("elsewhere", sc.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_where_no_posix_module_and_no_lock_is_it_arms_holds_and_releases(session, monkeypatch):
    """As on Windows: the operating system's general module, and writes that are atomic but not locked."""
    program = loaded_without(monkeypatch, "posix", "fcntl")
    assert program.fs is os
    told(session.within("UserPromptSubmit", program, prompt=ARMING), "armed")
    held(session.within("Stop", program, last_assistant_message=OWING))
    told(session.within("UserPromptSubmit", program, prompt="stop"), "released")
    silent(session.within("Stop", program, last_assistant_message=OWING))


def test_the_environment_is_the_same_without_the_os_module(monkeypatch):
    at_the_start = {os.fsdecode(name): os.fsdecode(value) for name, value in sc.fs.environ.items()}
    monkeypatch.delitem(sys.modules, "os")
    assert sc.environment() == at_the_start


def test_with_a_transcript_that_fails_in_the_middle_the_stop_is_judged_by_its_message(armed, monkeypatch):
    armed.transcript.human(ARMING)
    held(armed.stop())
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "lseek"))
    held(armed.within("Stop", last_assistant_message=OWING))


def test_a_contract_that_fails_while_it_is_read_is_let_go_and_told(armed, monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "read"))
    told(let_go(armed.within("Stop", last_assistant_message=OWING)), "cannot read", "Input/output error", "Let go.")


def test_standard_input_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "read", lambda fd, _: fd == 0))
    assert sc.read_stdin() == (None, "standard input: Input/output error")


def test_a_payload_without_an_end_is_let_go_and_told(armed, monkeypatch):
    monkeypatch.setitem(sc.LIMITS, "payload", 1 << 16)
    told(let_go(armed.within("Stop", last_assistant_message="x" * (1 << 17))), "larger than 65536 bytes")


def test_switched_off_it_leaves_at_once(armed):
    armed.environ["SESSION_CONTRACT"] = "0"
    silent(armed.within("Stop", last_assistant_message=OWING))


def test_an_installed_copy_whose_other_part_is_gone_lets_go_and_says_so(armed, monkeypatch):
    monkeypatch.delattr(sc, "run_hook")
    monkeypatch.setitem(sys.modules, "rest", None)
    told(let_go(armed.within("Stop", last_assistant_message=OWING)), "gate off", "install it again")


def test_an_error_of_this_program_s_own_is_let_go_and_told(armed, monkeypatch):
    monkeypatch.setattr(sc, "decide", lambda *_: 1 / 0)
    told(let_go(armed.within("Stop", last_assistant_message=OWING)), "ZeroDivisionError: division by zero")


def test_a_stream_that_takes_nothing_is_told_apart(monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "write"))
    assert sc.put(1, "x") is False


def test_on_a_terminal_the_help_says_how_to_go_on(monkeypatch, capfd):
    monkeypatch.setattr(sc, "fs", Instead(sc.fs, isatty=lambda _: True))
    assert sc.main([]) == 0
    assert "demo" in capfd.readouterr().out


def test_as_a_script_it_exits_with_what_the_command_returns(monkeypatch, capfd):
    monkeypatch.setattr(sys, "argv", [sc.__file__, "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(sc.__file__, run_name="__main__")
    assert left.value.code == 0 and sc.__version__ in capfd.readouterr().out


def test_an_installed_copy_calls_itself_by_its_launcher(monkeypatch):
    monkeypatch.setattr(sc, "__file__", f"/home/a b/.claude/{sc.HOOK_DIR}/rest.py")
    assert sc.own_command() == f"'/home/a b/.claude/{sc.HOOK_DIR}/{sc.LAUNCHER}'"


# --- a plugin beside settings ---------------------------------------------------------------------

@pytest.mark.parametrize("command, stands_down", rows(
    ("settings register the same file", "'/x y/session-contract-hook/hook'", True),
    ("settings register a file that is gone", "/gone/session-contract-hook/hook", False),
    ("settings mention it", "echo session-contract-hook/hook is fine", False),
    ("an open quote", "'session-contract-hook/hook", False)))
def test_a_plugin_s_copy_stands_down_only_for_a_registration(armed, tmp_path, command, stands_down):
    there = tmp_path / "x y/session-contract-hook"
    there.mkdir(parents=True)
    (there / "hook").write_text("")
    folder = os.path.join(armed.folder, ".claude")
    os.makedirs(os.path.join(folder, "settings.local.json"))      # no file: passed over
    entry = {"type": "command", "command": command.replace("/x y", str(tmp_path / "x y"))}
    with open(os.path.join(folder, "settings.json"), "w", encoding="utf-8") as file:
        json.dump({"hooks": {"Stop": [{"hooks": [entry, {"type": "command"}]}]}}, file)
    armed.environ["CLAUDE_PLUGIN_ROOT"] = "/plugins/x"
    (silent if stands_down else held)(armed.within("Stop", last_assistant_message=OWING))


def test_a_hook_that_uses_the_exec_form_is_known():
    assert sc.is_ours({"command": "/x/session-contract-hook/hook", "args": []}) == "/x/session-contract-hook/hook"


def test_a_check_that_never_ended_is_told(armed):
    armed.change(checking=1)
    told(armed.within("SessionStart", source="resume"), "did not end")


# --- a session that came from another -------------------------------------------------------------

def begun(armed, source, name="s2", environ=None, shown=()):
    """What the operator is told when session NAME begins, whose transcript holds the rows SHOWN."""
    later = Session(armed.folder, name)
    with open(later.path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in shown)
    run = later.hook("SessionStart", source=source, environ=environ)
    assert (run.code, run.err) == (0, ""), run
    return run.said


@pytest.mark.parametrize("source, shown, is_told", rows(
    ("a branch names its parent", "resume", [{"forkedFrom": {"sessionId": "s1", "messageUuid": "u"}}], True),
    ("a fork's rows still carry the parent's id", "fork", [{"sessionId": "s1"}], True),
    ("rows of nobody that is armed", "fork", [{"sessionId": "s9"}, ["no row"]], False),
    ("a fork without a transcript", "fork", [], False),
    ("a start from nothing", "startup", [{"sessionId": "s1"}], False)))
def test_a_session_from_an_armed_one_is_told_how_to_carry_it_over(armed, source, shown, is_told):
    said = begun(armed, source, shown=shown)
    assert ("arm --from s1 --session s2" in said and CONDITION in said) if is_told else said == ""


def test_a_start_from_nothing_has_no_ancestor_whatever_else_stands_in_the_store(armed):
    armed.configure("phrases.json", value={"arm": ["full steam"]})
    assert begun(armed, "startup", shown=[{"sessionId": "s1"}]) == ""


def test_after_a_clear_the_same_client_process_is_the_proof(session):
    session.environ["CLAUDE_PID"] = str(os.getpid())
    session.armed()
    assert "arm --from s1 --session s2" in begun(session, "clear", environ={"CLAUDE_PID": str(os.getpid())})
    assert begun(session, "clear", "s3", environ={"CLAUDE_PID": str(os.getppid())}) == ""
    assert begun(session, "clear", "s4") == ""
    assert begun(session, "resume", "s5", environ={"CLAUDE_PID": str(os.getpid())}) == ""


def test_of_two_armed_ancestors_the_one_that_changed_last_is_told(armed):
    Session(armed.folder, "s0").armed("Don't stop until the docs are written.").change(changed_at=1)
    assert "--from s1" in begun(armed, "fork", shown=[{"sessionId": "s0"}, {"sessionId": "s1"}])


@pytest.mark.parametrize("pid, known", rows(
    ("no number", "", ""), ("no such process", "999999999", "999999999"), ("no number at all", "me", "")))
def test_a_client_process_that_cannot_be_looked_at_is_known_by_its_number(pid, known):
    assert sc.client_process({"CLAUDE_PID": pid}) == known


# --- words that no event told of ------------------------------------------------------------------

def enqueued(session, text, when="2099-01-01T00:00:00.000Z", **fields):
    """The operator typed TEXT while a turn ran, on a client that fires no event for it."""
    row = {"type": "queue-operation", "operation": "enqueue", "content": text, "timestamp": when, **fields}
    session.transcript.lines.append(json.dumps(row).encode() + b"\n")


def attached(session, text, when="2099-01-01T00:00:00.000Z", **fields):
    row = {"type": "attachment", "timestamp": when, "attachment": {"type": "queued_command", "prompt": text, **fields}}
    session.transcript.lines.append(json.dumps(row).encode() + b"\n")


@pytest.mark.parametrize("enter, state, notice", rows(
    ("stop", lambda s: enqueued(s, "stop"), "disarmed", "released"),
    ("the language-free stop", lambda s: enqueued(s, "contract: stop"), "disarmed", "released"),
    ("stop as an attachment", lambda s: attached(s, "stop"), "disarmed", "released"),
    ("stop as an attachment of a person's", lambda s: attached(s, "stop", origin={"kind": "human"}), "disarmed",
     "released"),
    ("wait", lambda s: enqueued(s, "hold on"), "paused", "paused"),
    ("wait twice is one pause", lambda s: (enqueued(s, "hold on"), attached(s, "hold on")), "paused", "paused"),
    ("wait and then stop", lambda s: (enqueued(s, "hold on"), enqueued(s, "stop", "2099-01-01T00:00:01.000Z")),
     "disarmed", "released"),
    ("stop before the arming", lambda s: enqueued(s, "stop", "2001-01-01T00:00:00.000Z"), "armed", ""),
    ("stop that was taken back", lambda s: (enqueued(s, "stop"), enqueued(s, "stop", operation="remove")), "armed", ""),
    ("stop that the running turn took in", lambda s: (enqueued(s, "stop"), enqueued(
        s, "stop", operation="remove", reason="absorbed_mid_turn")), "disarmed", "released"),
    ("stop that a task sent", lambda s: attached(s, "stop", origin={"kind": "task-notification"}), "armed", ""),
    ("stop inside a notification", lambda s: enqueued(s, "<task-notification>stop</task-notification>"), "armed", ""),
    ("another word", lambda s: enqueued(s, "use tabs"), "armed", ""),
    ("a text of no kind", lambda s: enqueued(s, 7), "armed", ""),
    ("another kind of attachment", lambda s: attached(s, "stop", type="file"), "armed", "")))
def test_a_word_typed_while_a_turn_ran(armed, enter, state, notice):
    enter(armed)
    run = armed.stop()
    assert armed.contract["state"] == state
    (held if state == "armed" else let_go)(run)
    told(run, notice)
    assert run.said.count("paused: it was typed while the turn ran") <= 1


def test_a_release_that_a_queue_told_of_is_on_record(armed):
    enqueued(armed, "stop")
    armed.stop()
    assert (armed.records[-1]["class"], armed.records[-1]["rules"]) == ("CHANGE", ["queued"])


# --- two processes at one contract ----------------------------------------------------------------

def between(monkeypatch, change):
    """CHANGE happens once, after the hook has looked and before it has the lock."""
    enter, changes = sc.Store.__enter__, [change]

    def entered(store):
        if changes:
            changes.pop()()
        return enter(store)
    monkeypatch.setattr(sc.Store, "__enter__", entered)


def test_a_release_between_the_look_and_the_lock_is_the_last_word(armed, monkeypatch):
    between(monkeypatch, lambda: armed.change(state="disarmed"))
    silent(armed.within("Stop", last_assistant_message=OWING))


def test_a_contract_that_vanishes_between_the_look_and_the_lock_binds_no_more(armed, monkeypatch):
    between(monkeypatch, lambda: os.unlink(armed.contract_path))
    silent(armed.within("Stop", last_assistant_message=OWING))


def test_a_reading_between_the_look_and_the_lock_is_not_counted_twice(armed, monkeypatch):
    """Another Stop of the same session has read the transcript in the meantime: its work is not new."""
    armed.transcript.call(command="make")
    with open(armed.path, "wb") as file:
        file.write(armed.transcript.data)
    between(monkeypatch, lambda: armed.change(read_to=len(armed.transcript.data), work=0))
    held(armed.within("Stop", last_assistant_message=OWING))
    assert armed.records[-1]["progress"] is False


def test_a_word_in_the_queue_that_cannot_be_saved_releases_all_the_same(armed, monkeypatch):
    enqueued(armed, "stop")
    with open(armed.path, "wb") as file:
        file.write(armed.transcript.data)
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "replace"))
    told(let_go(armed.within("Stop", last_assistant_message=OWING)), "released", "not on record")


def test_a_fault_that_cannot_be_logged_is_told_with_it(armed, monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "open", lambda path, *_: "/logs/" in path))
    told(let_go(armed.within("Stop", last_assistant_message=...)), "no last_assistant_message", "cannot write")
