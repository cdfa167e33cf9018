"""The store and the log: what is written, how, for whom, and what never is."""
import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

import session_contract as sc
from conftest import (ARMING, HONEST, INSTALLED, OWING, RUNNING, WAITING, Session, command_line, held, let_go, rows,
                      silent, told)
from within import Failing, Instead


def files_under(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def everything_in(folder):
    """All bytes and all names under FOLDER."""
    found = b""
    for name in files_under(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found += name.encode() + b"\n" + file.read()
    return found


# --- what is written ------------------------------------------------------------------------------

def test_a_session_has_one_contract_and_one_log(armed):
    armed.stop()
    assert files_under(armed.store) == ["contracts/s1.json", "logs/s1.jsonl"]


def test_a_contract_carries_a_schema_mark(armed):
    assert armed.contract["schema"] == sc.SCHEMA


def test_each_writing_raises_the_revision(armed):
    before = armed.contract["revision"]
    armed.stop()
    assert armed.contract["revision"] == before + 1


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_files_are_private_whatever_the_umask(session, mask):
    os.makedirs(session.folder, exist_ok=True)
    before = os.umask(mask)
    try:
        session.armed().stop()
    finally:
        os.umask(before)
    modes = {os.path.relpath(path, session.store): stat.S_IMODE(os.stat(path).st_mode) for path in (
        session.store, os.path.dirname(session.contract_path), os.path.dirname(session.log_path), session.contract_path,
        session.log_path)}
    assert modes == {".": 0o700, "contracts": 0o700, "logs": 0o700, "contracts/s1.json": 0o600, "logs/s1.jsonl": 0o600}


def test_each_decision_is_one_line_of_the_log(armed):
    armed.stop()
    armed.stop(HONEST)
    last = armed.records[-1]
    assert armed.classes == ["BLOCK", "ALLOW-CLEAN"]
    assert {"time", "class", "session", "identity", "rules", "digest", "streak", "owed", "mode"} <= set(last)


def test_a_change_names_who_made_it(session):
    session.environ["SESSION_CONTRACT_IDENTITY"] = "night shift"
    session.armed()
    assert session.records[-1]["identity"] == "night shift" and session.records[-1]["state"] == "armed"


def test_an_identity_cannot_forge_a_line_of_the_log(session):
    session.environ["SESSION_CONTRACT_IDENTITY"] = 'x"}\n{"class": "ALLOW-MET"}'
    session.armed()
    assert [record["class"] for record in session.records] == ["CHANGE"]


def test_the_key_names_of_an_event_are_recorded_once(armed):
    armed.stop(extra="a value")
    first = armed.contract["keys"]
    armed.stop(another="a value")
    assert "extra" in first["Stop"] and armed.contract["keys"] == first


def test_key_names_are_bounded(armed):
    armed.stop(**{"k" * 5_000 + str(n): 1 for n in range(500)})
    assert len(json.dumps(armed.contract["keys"])) < 5_000


# --- what is never written ------------------------------------------------------------------------

SECRET = "hunter2-do-not-keep"


def test_the_text_of_a_message_is_never_stored(armed):
    armed.transcript.human(ARMING).says(SECRET).call(command=f"echo {SECRET} > f").says(OWING)
    armed.stop(f"The password is {SECRET}. {OWING}")
    armed.stop(f"The password is {SECRET}. All done.")
    assert SECRET.encode() not in everything_in(armed.store)


def test_the_text_of_a_prompt_is_never_stored(armed):
    for prompt in (f"use the password {SECRET}", f"why is it {SECRET}?", f"wait, {SECRET}", f"stop. {SECRET}"):
        armed.prompt(prompt)
    assert SECRET.encode() not in everything_in(armed.store)


def test_a_condition_stands_in_the_contract_and_not_in_the_log(session):
    session.armed(f"Don't stop until the login works with {SECRET}.")
    session.stop()
    with open(session.log_path, "rb") as log:
        assert SECRET in session.contract["condition"] and SECRET.encode() not in log.read()


def test_what_a_payload_holds_is_never_stored(armed):
    armed.stop(secret=SECRET, effort={"level": SECRET}, session_crons=[
        {"id": "w1", "schedule": "* * * * *", "recurring": True, "prompt": SECRET}])
    assert SECRET.encode() not in everything_in(armed.store)


def test_the_environment_is_never_stored(session):
    session.environ["API_KEY"] = SECRET
    session.armed().stop()
    assert SECRET.encode() not in everything_in(session.store)


@pytest.mark.parametrize("prompt", ["Port the exporters.", "stop", "contract: status", "contract: stop", "wait",
                                    "Where do the timings end up?"])
def test_nothing_is_written_for_a_session_that_was_never_armed(session, prompt):
    session.prompt(prompt)
    session.stop()
    session.start()
    session.command("status")
    session.command("log")
    assert not os.path.exists(session.store)


def test_a_neighbour_in_the_store_does_not_change_that(armed, tmp_path):
    other = Session(tmp_path, "s2")
    before = files_under(armed.store)
    other.prompt("Port the exporters.")
    other.stop()
    assert files_under(armed.store) == before


def test_a_session_that_was_released_is_not_written_to(armed):
    armed.prompt("stop")
    before = everything_in(armed.store)
    silent(armed.stop())
    silent(armed.prompt("use tabs"))
    assert everything_in(armed.store) == before


# --- torn, locked, full ---------------------------------------------------------------------------

def test_a_writing_that_fails_leaves_the_contract_as_it_was(armed):
    with open(armed.contract_path, "rb") as file:
        before = file.read()
    armed.stop(room=False)
    with open(armed.contract_path, "rb") as file:
        assert file.read() == before
    assert files_under(armed.store) == ["contracts/s1.json", "logs/s1.jsonl"]


@pytest.mark.parametrize("names", rows(
    ("a temporary file of a killed process", ["contracts/.s1.tmp"]),
    ("a lock of another design", ["s1.lock", "contracts/s1.lock"]),
    ("a lock that is a folder", ["lock/pid", "contracts/.lock/pid"]),
    ("files of a desktop", [".DS_Store", "contracts/.DS_Store"])))
def test_what_another_process_left_behind_stops_nothing(session, names):
    for name in names:
        path = os.path.join(session.store, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("4711\n")
    held(session.armed().stop())
    assert session.command("status", "--all").code == 0


def test_a_link_in_place_of_the_temporary_file_is_not_followed(armed, tmp_path):
    target = tmp_path / "target"
    target.write_text("precious")
    os.symlink(str(target), os.path.join(armed.store, "contracts", ".s1.tmp"))
    armed.stop()
    assert target.read_text() == "precious"


def test_a_link_in_place_of_the_log_is_not_followed(armed, tmp_path):
    target = tmp_path / "target"
    target.write_text("precious")
    os.unlink(armed.log_path)
    os.symlink(str(target), armed.log_path)
    told(held(armed.stop()), "logs/s1.jsonl")
    assert target.read_text() == "precious"


@pytest.fixture
def lock(armed):
    """Another process of ours is in the middle of a change, and stays there."""
    fd = os.open(os.path.dirname(armed.contract_path), os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    yield fd
    os.close(fd)


def test_a_lock_that_is_not_given_up_is_told_and_the_hold_stands(armed, lock):
    told(held(armed.stop()), "locked")


def test_a_lock_that_is_not_given_up_is_told_with_a_release(armed, lock):
    told(let_go(armed.prompt("stop")), "locked", "NOT RELEASED")


def test_a_lock_that_is_not_given_up_refuses_a_command(armed, lock):
    run = armed.command("item", "add", "port csv")
    assert run.code == 1 and "locked" in run.err and run.err.count("\n") == 1


def test_a_lock_that_is_given_up_in_time_is_waited_for(armed, lock):
    timer = threading.Timer(0.3, fcntl.flock, (lock, fcntl.LOCK_UN))
    timer.start()
    assert "locked" not in held(armed.stop()).said
    timer.join()


def test_the_bound_on_waiting_is_short_enough_for_a_prompt():
    assert sc.LIMITS["lock"] <= 2


def test_a_lock_dies_with_its_process(armed):
    code = INSTALLED.rpartition(";")[0] + ("; import os; s.Store(os.environ['SESSION_CONTRACT_DIR']).__enter__(); "
                                           "os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-I", "-S", "-c", code], env=armed.environ, check=False)
    assert "locked" not in held(armed.stop()).said


def test_no_update_is_lost_when_many_write_at_once(armed):
    """Each of the processes adds an item of its own; all of them are in the ledger afterwards."""
    environ = {**armed.environ, "CLAUDE_CODE_SESSION_ID": "s1"}
    adding = [subprocess.Popen(command_line("item", "add", f"item {n}"), env=environ, stdout=subprocess.DEVNULL)
              for n in range(12)]
    assert [process.wait() for process in adding] == [0] * 12
    items = armed.contract["items"]
    assert {item["text"] for item in items} == {f"item {n}" for n in range(12)}
    assert len({item["id"] for item in items}) == 12


def test_a_release_is_never_undone_by_a_stop_at_the_same_time(armed):
    """Stops in flight while the operator releases: whatever their own answer, the release stands."""
    processes = [subprocess.Popen(command_line(), env=armed.environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for _ in range(4)]
    for process in processes:
        process.stdin.write(armed.payload("Stop", last_assistant_message=OWING))
        process.stdin.close()
    told(armed.prompt("stop"), "released")
    for process in processes:
        process.wait()
    assert armed.contract["state"] == "disarmed"


# --- the log --------------------------------------------------------------------------------------

def log_in(tmp_path, **limits):
    store = sc.Store(str(tmp_path / "store"))
    store.make()
    return store


def entry(n, **facts):
    return sc.log_record({**sc.CONTRACT, "session": "s1"}, "BLOCK", n, "me@here", rules=[], **facts)


def test_a_full_log_is_put_aside_and_the_one_before_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setitem(sc.LIMITS, "log", 2_000)
    store = log_in(tmp_path)
    for n in range(200):
        store.log(entry(n))
    assert sum(os.path.getsize(os.path.join(store.logs, name)) for name in os.listdir(store.logs)) < 3 * 2_000
    assert len(os.listdir(store.logs)) == 2 and store.last_record("s1")["time"] == sc.clock(199)


def test_a_huge_log_of_before_is_put_aside(armed):
    with open(armed.log_path, "ab") as log:
        log.truncate(50 << 20)
    held(armed.stop())
    assert len(armed.records) == 1


@pytest.mark.parametrize("tail", rows(("half a line", b'{"time": "2027'), ("garbage", b"\xff\x00"),
                                      ("an empty line", b"\n\n")))
def test_a_torn_last_line_costs_that_line_alone(tmp_path, tail):
    store = log_in(tmp_path)
    store.log(entry(1))
    with open(store.log_path("s1"), "ab") as log:
        log.write(tail)
    assert store.last_record("s1")["time"] == sc.clock(1)
    store.log(entry(2))
    assert store.last_record("s1")["time"] == sc.clock(2)


def test_a_message_full_of_counts_makes_no_long_line(armed):
    armed.stop("12 of 40 remain. " * 2_000 + OWING)
    assert max(len(json.dumps(record)) for record in armed.records) < 4_000


def test_the_last_word_of_the_log_is_found_behind_a_long_line(armed):
    armed.stop("12 of 40 remain. " * 2_000)
    os.unlink(armed.contract_path)
    told(let_go(armed.stop()), "vanished")


def test_the_log_of_one_session_is_never_that_of_another(tmp_path):
    store = sc.Store(str(tmp_path))
    mine = {store.log_path("a"), store.old_log_path("a"), store.contract_path("a")}
    assert not any(sc.session_file(os.path.basename(path)[:-len(".jsonl")]) not in ("", "a") for path in mine
                   if path.endswith(".jsonl"))


# --- sweeping -------------------------------------------------------------------------------------

def aged(session, days=31):
    then = time.time() - days * 86_400
    for name in files_under(session.store):
        os.utime(os.path.join(session.store, name), (then, then))


def after_a_month(session, tmp_path, days=31):
    """What is left of SESSION once another one is armed."""
    aged(session, days)
    Session(tmp_path, "s2").armed()
    return [name for name in files_under(session.store) if "s2" not in name]


def test_an_ended_session_is_swept_after_a_month(armed, tmp_path):
    armed.prompt("stop")
    assert after_a_month(armed, tmp_path) == []


def test_an_ended_session_is_kept_for_a_month(armed, tmp_path):
    armed.prompt("stop")
    assert after_a_month(armed, tmp_path, days=29) == ["contracts/s1.json", "logs/s1.jsonl"]


@pytest.mark.parametrize("prompt", ["use tabs", "wait"])
def test_a_session_that_still_binds_is_never_swept(armed, tmp_path, prompt):
    armed.prompt(prompt)
    assert after_a_month(armed, tmp_path, days=3_000) == ["contracts/s1.json", "logs/s1.jsonl"]


@pytest.mark.parametrize("name", ["a.json.broken-1", "a.1", "x.tmp", "a.old"])
def test_a_session_that_still_binds_is_never_swept_whatever_its_name(tmp_path, name):
    session = Session(tmp_path, name).armed()
    assert len(after_a_month(session, tmp_path)) == 2


def test_what_a_killed_process_left_is_swept(armed, tmp_path):
    armed.prompt("stop")
    for name in ("contracts/.s1.tmp", "contracts/.s9.tmp", "logs/s9.jsonl"):
        with open(os.path.join(armed.store, name), "w", encoding="utf-8"):
            pass
    assert after_a_month(armed, tmp_path) == []


def test_a_contract_that_was_set_aside_is_swept(armed, tmp_path):
    armed.break_contract()
    armed.prompt("stop")
    assert after_a_month(armed, tmp_path) == []


def test_a_malformed_contract_is_never_swept(armed, tmp_path):
    armed.break_contract()
    assert "contracts/s1.json" in after_a_month(armed, tmp_path)


def test_files_of_the_operator_s_are_never_swept(armed, tmp_path):
    armed.configure(value={"stalls": 3})
    armed.configure("policy.md", text="Prefer the boring path.")
    armed.prompt("stop")
    assert after_a_month(armed, tmp_path) == ["config.json", "policy.md"]


# --- reading back ---------------------------------------------------------------------------------

@pytest.mark.parametrize("make", rows(
    ("a folder", os.mkdir), ("a fifo", os.mkfifo),
    ("a link to nothing", lambda path: os.symlink("/nonexistent/x", path)),
    ("a link to a device", lambda path: os.symlink("/dev/zero", path))))
def test_a_contract_that_is_no_file_is_let_go_and_told(armed, make):
    os.unlink(armed.contract_path)
    make(armed.contract_path)
    assert let_go(armed.stop()).said != ""


def test_a_contract_too_large_to_be_one_is_let_go_and_told(armed):
    with open(armed.contract_path, "ab") as file:
        file.truncate(sc.LIMITS["contract"] + 10)
    told(let_go(armed.stop()), "larger")


def test_a_ticket_is_kept_across_processes(armed):
    armed.stop(WAITING, background_tasks=[RUNNING])
    assert armed.contract["tickets"] == ["b1"]


def test_a_contract_written_by_hand_keeps_what_it_does_not_know(armed):
    armed.change(note="of a later version")
    armed.stop()
    assert armed.contract["note"] == "of a later version"


# --- growth ---------------------------------------------------------------------------------------

def test_a_store_of_many_sessions_is_swept_in_parts(tmp_path, monkeypatch):
    """One arming looks at so many files and no more; one arming after the other gets at all of them."""
    monkeypatch.setitem(sc.LIMITS, "swept", 10)
    store = log_in(tmp_path)
    for n in range(45):
        for path in (store.contract_path(f"s{n}"), store.log_path(f"s{n}")):
            store.write(path, path + ".tmp", {**sc.CONTRACT, "session": f"s{n}", "state": "disarmed" if n else "armed"},
                        False)
    month = time.time() + 31 * 86_400
    store.sweep(month)
    assert len(files_under(store.path)) == pytest.approx(70, abs=2)
    for second in range(1, 60):
        store.sweep(month + second)
    assert files_under(store.path) == ["contracts/s0.json", "logs/s0.jsonl"]


def test_a_ledger_that_could_not_be_read_back_is_not_written(armed):
    room = sc.LIMITS["contract"] - (1 << 16) - os.path.getsize(armed.contract_path)
    armed.change(message="x" * (room - 50))
    before = armed.contract
    run = armed.command("item", "add", "y" * 200)
    assert run.code == 1 and "larger" in run.err and armed.contract == before
    told(armed.prompt("stop"), "released")
    assert armed.contract["state"] == "disarmed"


def test_a_to_do_list_without_end_leaves_its_newest_entries_in_the_ledger():
    contract = {**sc.CONTRACT, "session": "s1"}
    for n in range(500):
        contract = sc.follow_todos(contract, [(f"t{n}", f"entry {n}", False), (f"t{n}", f"entry {n}", True)], 1)
    contract = sc.follow_todos(contract, [("open", "an open one", False)], 1)
    assert len(contract["items"]) <= sc.LIMITS["ticked"] + 1 and contract["next_item"] == 502
    assert [item["text"] for item in contract["items"]][-2:] == ["entry 499", "an open one"]


def test_a_log_too_large_to_be_shown_whole_is_shown_from_its_end(armed):
    with open(armed.log_path, "rb") as log:
        line = log.read()
    with open(armed.log_path, "wb") as log:
        log.truncate(60 << 20)
        log.seek(0, 2)
        log.write(b"\n" + line)
    run = armed.command("report")
    assert run.code == 0 and armed.command("log").out.count(b"\n") == 1


@pytest.mark.parametrize("older", [3, 80])
def test_a_cleared_session_finds_its_own_among_many(tmp_path, armed, older):
    """Of those that changed last so many are looked at: the one before the clear was the last of its process."""
    armed.change(pid="4711")
    store = sc.Store(armed.store)
    for n in range(older):
        store.save({**sc.CONTRACT, "session": f"older-{n}"})
        os.utime(store.contract_path(f"older-{n}"), (1, 1))
    armed.environ["CLAUDE_PID"] = "4711"
    told(Session(tmp_path, "s2", CLAUDE_PID="4711").start("clear"), "--from s1")


# --- what a disk can do ---------------------------------------------------------------------------

def test_a_store_that_cannot_be_locked_holds_and_says_so(armed, monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "open", lambda path, *_: path.endswith("/contracts")))
    told(held(armed.within("Stop", last_assistant_message=OWING)), "cannot lock", "Input/output error")


def test_a_temporary_file_that_cannot_be_removed_stops_nothing(armed, monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(Failing(sc.fs, "replace"), "unlink"))
    told(held(armed.within("Stop", last_assistant_message=OWING)), "cannot write", armed.contract_path)
    monkeypatch.undo()
    held(armed.stop())


def test_a_broken_contract_that_cannot_be_moved_is_told(armed, monkeypatch):
    armed.break_contract()
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "replace"))
    told(armed.within("UserPromptSubmit", prompt="stop"), "cannot move", armed.contract_path)


def test_a_folder_that_another_process_made_first_is_used(session, monkeypatch):
    real = sc.fs

    def mkdir(path, mode):
        real.mkdir(path, mode)
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(sc, "fs", Instead(real, mkdir=mkdir))
    sc.Store(session.folder + "/a/store").make()
    assert os.path.isdir(session.folder + "/a/store/logs")


def test_what_another_process_sweeps_first_is_passed_over(armed, monkeypatch):
    os.utime(armed.log_path, (1, 1))
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "stat", error=FileNotFoundError(2, "No such file")))
    sc.Store(armed.store).sweep(10 ** 10)
    assert os.path.exists(armed.log_path)


def test_a_file_that_ends_before_its_size_is_read_as_far_as_it_goes(tmp_path, monkeypatch):
    (tmp_path / "t").write_bytes(b"abc")
    pieces = [b"ab", b""]
    monkeypatch.setattr(sc, "fs", Instead(sc.fs, read=lambda *_: pieces.pop(0)))
    assert sc.read_tail(str(tmp_path / "t"), 100) == (b"ab", 0, 3)


def test_a_tail_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    (tmp_path / "t").write_bytes(b"abc")
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "read"))
    with pytest.raises(sc.StoreError, match="cannot read .*Input/output error"):
        sc.read_tail(str(tmp_path / "t"), 100)


def test_a_head_is_whole_rows_or_nothing(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b'{"a": 1}\n[2]\n{"b": 3}\n{"c"')
    assert sc.read_head(str(path)) == [{"a": 1}, {"b": 3}]
    assert sc.read_head(str(tmp_path / "none")) == sc.read_head("") == sc.read_head(None) == []


# --- what a contract file may hold ----------------------------------------------------------------

CLOSED = {"id": "i1", "text": "a", "state": "done"}


@pytest.mark.parametrize("fields, why", rows(
    ("another session's", {"session": "s2"}, "it names another session"),
    ("no known state", {"state": "asleep"}, "unknown state or mode"),
    ("no known mode", {"mode": "sprint"}, "unknown state or mode"),
    ("a text for a number", {"read_to": "1"}, "read_to is str, not int"),
    ("a truth value for a number", {"blocks": True}, "blocks is bool, not int"),
    ("items that are no list", {"items": {}}, "items is dict, not list"),
    ("an item that is no object", {"items": ["a"]}, "an item without id, text and state"),
    ("an item without an id", {"items": [{**CLOSED, "id": 1}]}, "an item without id, text and state"),
    ("an item without a text", {"items": [{**CLOSED, "text": None}]}, "an item without id, text and state"),
    ("an item in no known state", {"items": [{**CLOSED, "state": "gone"}]}, "an item without id, text and state"),
    ("an item closed at no time", {"items": [{**CLOSED, "closed_at": "x"}]}, "an item without id, text and state"),
    ("evidence that is no list", {"items": [{**CLOSED, "evidence": {}}]}, "an item without id, text and state"),
    ("evidence without a kind", {"items": [{**CLOSED, "evidence": [{"value": "a"}]}]},
     "an item without id, text and state"),
    ("evidence without a value", {"items": [{**CLOSED, "evidence": [{"kind": "note"}]}]},
     "an item without id, text and state"),
    ("evidence that is a text", {"items": [{**CLOSED, "evidence": ["a"]}]}, "an item without id, text and state"),
    ("a second item that is broken", {"items": [CLOSED, {"id": "i2"}]}, "an item without id, text and state"),
    ("a claim without a kind", {"claim": {"evidence": [{"value": "a"}]}}, "a claim or a wait of another form"),
    ("a wait until no time", {"waiting": {"until": "soon"}}, "a claim or a wait of another form"),
    ("a schema that is no number", {"schema": "1"}, "schema is no number"),
    ("a schema that is a truth value", {"schema": True}, "schema is no number")))
def test_a_contract_of_another_form_is_malformed(fields, why):
    data = json.dumps({**sc.CONTRACT, "session": "s1", **fields}).encode()
    assert sc.load_contract(data, "s1") == sc.Loaded(kind="malformed", why=why)


@pytest.mark.parametrize("fields", rows(
    ("nothing but the mark and the session", {}),
    ("an open item", {"items": [{**CLOSED, "state": "open"}]}),
    ("a closed item with evidence", {"items": [{**CLOSED, "closed_at": 5, "evidence": [
        {"kind": "note", "value": "a"}]}]}),
    ("a claim", {"claim": {"evidence": [{"kind": "url", "value": "a", "verified": False}], "at": 1}}),
    ("a wait", {"waiting": {"what": "the tests", "until": 0}}),
    ("an older schema", {"schema": 0})))
def test_a_contract_is_filled_up_with_defaults(fields):
    loaded = sc.load_contract(json.dumps({"schema": 1, "session": "s1", **fields}).encode(), "s1")
    assert loaded == sc.Loaded(kind="ok", contract={**sc.CONTRACT, "session": "s1", **fields, "schema": sc.SCHEMA})


@pytest.mark.parametrize("data, kind, why", rows(
    ("no file", None, "none", ""), ("a list", b"[]", "foreign", "it has no schema mark"),
    ("an object without a mark", b"{}", "foreign", "it has no schema mark"),
    ("a newer one", b'{"schema": 2}', "newer", "schema 2, this program knows 1")))
def test_a_file_that_is_no_contract_of_ours_is_told_apart(data, kind, why):
    assert sc.load_contract(data, "s1") == sc.Loaded(kind=kind, why=why)


def test_what_is_wrong_with_json_is_told():
    loaded = sc.load_contract(b'{"schema": 1', "s1")
    assert loaded.kind == "malformed" and loaded.why.startswith("Expecting ',' delimiter")


def test_a_record_has_only_its_own_fields():
    with pytest.raises(TypeError, match="Loaded has no field 'sort'"):
        sc.Loaded(sort="ok")
    assert repr(sc.Loaded(kind="ok")) == "Loaded(kind='ok', contract=None, why='')"
    assert sc.Loaded() != sc.Verdict() and sc.Loaded() != sc.Loaded(kind="ok") and sc.Loaded() == sc.Loaded(kind="none")
    assert sc.Loaded(kind="ok").replace(why="x") == sc.Loaded(kind="ok", why="x")


# --- values ---------------------------------------------------------------------------------------

VALUES = [{"a": [1, 2.5, None, True], "b": "\u00e9\u2026\"\\\n"}, [], "x", {"x": {}}]


@pytest.mark.parametrize("value", VALUES)
def test_json_is_written_and_read_the_same_without_the_c_scanner(value, monkeypatch):
    with monkeypatch.context() as quick_only:
        quick_only.setitem(sys.modules, "json", None)
        quick = sc.dump_json(value)
    monkeypatch.setitem(sys.modules, "_json", None)
    assert sc.dump_json(value) == quick == json.dumps(value)
    assert sc.parse_json(quick.encode()) == (value, "")


def test_a_digest_is_the_same_without_the_built_in_module(monkeypatch):
    with monkeypatch.context() as quick_only:
        quick_only.setitem(sys.modules, "hashlib", None)
        assert (sc.digest("abc"), sc.digest("abc", 4)) == ("ba7816bf8f01", "ba78")
    assert sc.digest("\ud800") != sc.digest("")
    for name in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)
    assert sc.digest("abc") == "ba7816bf8f01"


@pytest.mark.parametrize("seconds, text", rows(
    ("the epoch", 0, "1970-01-01T00:00:00Z"), ("a time of day", 1_800_000_000, "2027-01-15T08:00:00Z"),
    ("beyond every calendar", 10 ** 30, "?"), ("no number", float("nan"), "?")))
def test_a_time_has_a_text(seconds, text):
    assert sc.clock(seconds) == text


def test_a_clock_takes_a_form():
    assert sc.clock(3600, "%H:%M") == "01:00"


def test_a_descriptor_that_cannot_be_closed_stops_nothing(armed, monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "close"))
    held(armed.within("Stop", last_assistant_message=OWING))


def test_a_folder_that_cannot_be_listed_waits_for_the_next_sweep(armed, monkeypatch):
    os.utime(armed.log_path, (1, 1))
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "listdir"))
    sc.Store(armed.store).sweep(10 ** 10)
    assert os.path.exists(armed.log_path)


def test_a_contract_that_cannot_be_read_hides_no_other(armed):
    os.mkdir(os.path.join(armed.store, "contracts", "s0.json"))
    assert [contract["session"] for contract in sc.contracts_in(sc.Store(armed.store))] == ["s1"]


def test_a_file_that_is_gone_is_as_old_as_can_be(tmp_path):
    assert sc.file_time(str(tmp_path / "x")) == 0


def test_a_process_that_cannot_be_looked_at_is_known_by_its_number(monkeypatch):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "open"))
    assert sc.client_process({"CLAUDE_PID": "1"}) == "1"


def test_a_change_that_the_log_lacks_is_told_and_stands(armed, monkeypatch, capfd):
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "open", lambda path, *_: "/logs/" in path))
    sc.log_or_tell(sc.Store(armed.store), {"session": "s1"})
    assert "the log lacks a line" in capfd.readouterr().err


def test_a_session_that_could_not_be_released_after_its_contract_went_on_is_named(armed, monkeypatch):
    store, hook = sc.Store(armed.store), sc.Hook({}, armed.environ, 7)
    monkeypatch.setattr(sc, "fs", Failing(sc.fs, "replace"))
    with pytest.raises(sc.Refusal, match="session s2 is armed, but s1 could not be released"):
        sc.release_carried(store, armed.contract, "s2", hook)
    assert armed.contract["state"] == "armed"
