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
