"""Laws: what holds for every payload, store, transcript and text, generated ones among them."""
import json
import os
import shutil
import tempfile

import pytest

import session_contract as sc
from conftest import ARMING, ASKING, HONEST, OWING, QUESTION, WAITING, Transcript, launch

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402

# The same examples in every run, and no clock: this machine may be busy.
LAW = settings(max_examples=80, deadline=None, derandomize=True, database=None,
               suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEW = settings(LAW, max_examples=15)

any_text = st.text(st.characters(), max_size=60)            # lone surrogates among them
values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | any_text,
                      lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
                      max_leaves=8)
messages = st.sampled_from(["", OWING, HONEST, ASKING, WAITING, "Context limit reached", "12 of 40 remain."]) | any_text
prompts = st.sampled_from([ARMING, "stop", "wait", "go on", QUESTION, "contract: status", "contract: stop",
                           "contract: arm until x",
                           "contract:", "keep going for two hours", "don't stop until 18:00",
                           "don't stop until:\n- a\n- b"]) | any_text
tasks = st.lists(values | st.fixed_dictionaries({"id": values, "type": values, "status": st.just("running")}),
                 max_size=3)
crons = st.lists(values | st.fixed_dictionaries({"id": values, "schedule": st.just("* * * * *") | values,
                                                 "prompt": values}), max_size=3)
payloads = st.fixed_dictionaries(
    {"hook_event_name": st.sampled_from(sorted(sc.EVENTS)) | st.sampled_from(sc.QUIET_EVENTS) | values},
    optional={"session_id": st.just("s1") | values, "prompt": prompts | values,
              "last_assistant_message": messages | values,
              "transcript_path": values, "cwd": values,
              "permission_mode": st.sampled_from(["default", "plan"]) | values,
              "stop_hook_active": values, "background_tasks": tasks | values, "session_crons": crons | values,
              "source": st.sampled_from(["user", "resume", "system"]) | values, "agent_id": values})

items = st.lists(st.fixed_dictionaries(
    {"id": st.sampled_from(["i1", "i2", "i3"]), "text": any_text, "state": st.sampled_from(sorted(sc.ITEM_STATES))},
    optional={"closed_at": st.integers(0, 2_000_000_000), "evidence": st.just([{"kind": "note", "value": "seen"}])}),
    max_size=4)
by_type = {str: any_text, int: st.integers(-10**15, 10**15), bool: st.booleans(), list: st.lists(any_text, max_size=3),
           dict: st.just({})}
special = {"schema": st.integers(0, sc.SCHEMA), "mode": st.just("work"), "spent_at": st.integers(0, 2_000_000_000),
           "streak": st.integers(0, 5), "blocks": st.integers(0, 60),
           "check": st.sampled_from(["", "true", "exit 3"])}     # it is run by a shell: nothing generated goes there
# Only the fields that an example is about are drawn; the rest are filled up with defaults, as on reading.
contracts = st.fixed_dictionaries(
    {"state": st.sampled_from(sc.STATES), "items": items},
    optional={name: special.get(name, by_type[type(default)]) for name, default in sc.CONTRACT.items()
              if name not in ("state", "items", "session")}).map(lambda fields: {**sc.CONTRACT, **fields,
                                                                                 "session": "s1"})
live_contracts = contracts.map(lambda contract: {**contract, "state": sc.ARMED})


class Folder:
    """A store of its own for one example."""

    def __init__(self, contract=None):
        self.path = tempfile.mkdtemp()
        self.environ = {"SESSION_CONTRACT_DIR": self.path, "HOME": self.path}
        if contract is not None:
            os.mkdir(self.path + "/contracts")
            with open(self.path + "/contracts/s1.json", "wb") as file:
                file.write(contract if isinstance(contract, bytes) else json.dumps(contract).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


KEYS = {"Stop": {"systemMessage"}, "SessionStart": {"systemMessage", "hookSpecificOutput"},
        "UserPromptSubmit": {"systemMessage", "hookSpecificOutput", "decision", "reason", "continue", "stopReason"}}


def keeps_the_table(event, code, out, err, may_hold):
    """Does an answer keep to what EVENT may answer?"""
    body = json.loads(out) if out else {}
    assert isinstance(body, dict)
    if code == sc.HOLD:
        assert may_hold and event == "Stop" and set(body) == {"systemMessage"} and err.startswith(sc.HELD)
    else:
        assert code == 0 and err == ""
        assert set(body) <= (KEYS[event] if isinstance(event, str) and event in KEYS else {"systemMessage"})
        assert body.get("hookSpecificOutput", {}).get("hookEventName", event) == event


@LAW
@given(payloads, st.none() | contracts | st.binary(max_size=40), st.sampled_from(["", "observe", "nein"]))
def test_every_answer_keeps_the_table(payload, contract, switch):
    with Folder(contract) as store:
        reply = sc.Hook(payload, {**store.environ, "SESSION_CONTRACT": switch}, 1_800_000_000).run()
    keeps_the_table(payload["hook_event_name"], reply.code, reply.out, reply.err,
                    may_hold=contract is not None and switch != "observe")


def out_of_order(*_, **__):
    raise sc.StoreError("the disk is on fire")


@LAW
@given(payloads, contracts, st.lists(st.sampled_from(["save", "log", "load", "last_record", "sweep", "__enter__"]),
                                     min_size=1))
def test_every_answer_keeps_the_table_when_the_store_fails(payload, contract, failing):
    """Wherever the store gives up, the answer is one that the event may give."""
    broken = type("Broken", (sc.Store,), dict.fromkeys(failing, out_of_order))
    with Folder(contract) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sc, "Store", broken)
        reply = sc.Hook(payload, store.environ, 1_800_000_000).run()
    keeps_the_table(payload["hook_event_name"], reply.code, reply.out, reply.err, may_hold="load" not in failing)


@FEW
@given(st.binary(max_size=200) | payloads.map(lambda payload: json.dumps(payload).encode()), contracts)
def test_every_process_keeps_the_table(data, contract):
    with Folder(contract) as store:
        run = launch({"PATH": os.environ["PATH"], **store.environ}, data)
    try:
        event = json.loads(data)["hook_event_name"]
    except (ValueError, TypeError, KeyError, RecursionError):
        event = None
    keeps_the_table(event, run.code, run.out, run.err, may_hold=True)


@LAW
@given(payloads, contracts)
def test_only_a_stop_of_a_session_that_binds_is_held(payload, contract):
    contract = {**contract, "state": sc.DISARMED}
    with Folder(contract) as store:
        assert sc.Hook(payload, store.environ, 1_800_000_000).run().code == 0


# --- contracts ------------------------------------------------------------------------------------

@LAW
@given(contracts)
def test_a_contract_that_is_saved_reads_back(contract):
    with Folder() as folder:
        store = sc.Store(folder.path)
        with store.locked():
            store.save(contract)
        loaded = store.load("s1")
    assert (loaded.kind, loaded.contract) == ("ok",
                                              {**contract, "revision": contract["revision"] + 1, "schema": sc.SCHEMA})


@LAW
@given(values | contracts | st.dictionaries(st.sampled_from(sorted(sc.CONTRACT)),
                                            values).map(lambda d: {"schema": 1, "session": "s1", **d}))
def test_any_json_is_a_contract_or_told_not_to_be(value):
    loaded = sc.load_contract(json.dumps(value).encode(), "s1")
    assert (loaded.kind == "ok") is (loaded.contract is not None)
    assert loaded.kind in ("ok", "malformed", "foreign", "newer") and bool(loaded.why) is (loaded.kind != "ok")


@LAW
@given(st.binary(max_size=80))
def test_any_bytes_are_a_contract_or_told_not_to_be(data):
    assert sc.load_contract(data, "s1").kind in ("malformed", "foreign", "newer")


# --- decisions ------------------------------------------------------------------------------------

hits = st.lists(st.tuples(st.just("a.rule"), st.sampled_from(sc.FAMILIES), st.integers(0, 9), st.integers(0, 9)),
                max_size=3).map(tuple)
stops = st.builds(
    sc.Stop, message=messages, hits=hits, advisory=hits, blocker=st.sampled_from(["", "a.blocker"]),
    waits=st.booleans(),
    mode=st.sampled_from(["", "default", "plan"]), active=st.booleans(), tasks=tasks.map(sc.dicts_in),
    crons=crons.map(sc.dicts_in))
turns = st.sampled_from([
    sc.Stop(message=text, mode=mode, tasks=running, waits=waits, hits=sc.read_turn(text)["hits"])
    for text in (OWING, HONEST, ASKING, "", WAITING) for mode in ("default", "plan") for waits in (False, True)
    for running in ((), ({"id": "b1", "status": "running"},))])
evidences = st.builds(sc.Evidence, readable=st.booleans(), end=st.integers(0, 10**9), anew=st.booleans(),
                      work=st.integers(0, 9),
                      calls=st.lists(any_text, max_size=3).map(tuple),
                      check=st.sampled_from([(0, ""), (1, "2 failed"), (None, "")]), holds=st.integers(0, 60),
                      stalled=st.integers(0, 9))
configured = st.builds(sc.Settings, observe=st.booleans(), print_mode=st.booleans(), stalls=st.integers(1, 5),
                       blocks=st.integers(1, 60))


def decided(contract, stop, evidence, wanted, now=1_800_000_000):
    before = sc.absorb(contract, evidence, wanted, now)
    verdict = sc.decide(before, stop, evidence, wanted, now)
    return before, verdict, sc.next_contract(before, stop, verdict, now)


@LAW
@given(live_contracts, stops, evidences, configured)
def test_a_decision_has_a_class_and_a_contract_that_reads_back(contract, stop, evidence, wanted):
    before, verdict, after = decided(contract, stop, evidence, wanted)
    assert verdict.cls in sc.CLASSES and sc.contract_fault(after, "s1") == ""
    assert sc.contract_fault(before, "s1") == ""


@LAW
@given(live_contracts, stops, evidences, configured)
def test_the_same_stop_is_decided_the_same_and_nothing_given_is_changed(contract, stop, evidence, wanted):
    shown = json.dumps(contract)
    assert decided(contract, stop, evidence, wanted) == decided(contract, stop, evidence, wanted)
    assert json.dumps(contract) == shown


@LAW
@given(live_contracts, stops, evidences)
def test_a_hold_is_within_its_limits_and_its_line_is_one(contract, stop, evidence):
    wanted = sc.Settings()
    before, verdict, _ = decided(contract, stop, evidence, wanted)
    limit = sc.LIMITS["later" if "policy" in before["told"] else "first"]
    assert len(sc.block_text(before, stop, verdict, wanted).encode("utf-8", "replace")) <= limit


@LAW
@given(live_contracts, st.lists(turns, min_size=5, max_size=12), configured)
def test_without_work_no_more_than_the_set_number_of_stalls_is_held(contract, several, wanted):
    """Whatever the messages, tickets and modes: with a transcript that shows no work, the holding ends."""
    contract = {**contract, "streak": 0, "blocks": 0, "degraded": False, "work": 0, "spent_at": 0,
                "check": "", "items": [{**item, "state": sc.OPEN} for item in contract["items"]]}
    held = 0
    for now, stop in enumerate(several, 1_800_000_000):
        if contract["state"] not in sc.LIVE:
            break
        _, verdict, contract = decided(contract, stop, sc.Evidence(readable=True), wanted, now)
        held += verdict.holds
    assert held <= wanted.stalls


@LAW
@given(live_contracts.map(lambda contract: {**contract, "check": "true"}), stops)
def test_a_check_is_asked_for_only_where_nothing_else_is_owed(contract, stop):
    before, verdict, _ = decided(contract, stop, sc.Evidence(readable=True), sc.Settings())
    if verdict.cls == "CHECK":
        assert not stop.hits and not sc.items_in(before, sc.OPEN)


@LAW
@given(live_contracts, st.integers(1, 8), st.lists(turns, min_size=9, max_size=9))
def test_no_more_than_the_set_number_is_held_between_two_prompts(contract, most, several):
    """Whatever the work: the second bound ends a busy loop."""
    contract, held = {**contract, "blocks": 0, "check": ""}, 0
    for now, stop in enumerate(several, 1_800_000_000):
        if contract["state"] not in sc.LIVE:
            break
        evidence = sc.Evidence(readable=True, work=1, calls=(f"call {now}",))
        _, verdict, contract = decided(contract, stop, evidence, sc.Settings(blocks=most), now)
        held += verdict.holds
    assert held <= most


@LAW
@given(st.none() | live_contracts, prompts, st.sampled_from(["", "plan"]))
def test_a_prompt_leaves_a_contract_that_reads_back(contract, text, mode):
    heard = sc.read_prompt(sc.human_part(text), contract is not None)
    prompt = sc.Prompt(heard=heard, mode=mode, size=7, session="s1")
    after, answer = sc.hear(contract, prompt, sc.Settings(), 1_800_000_000)
    assert after is None or sc.contract_fault(after, "s1") == ""
    assert "\n" not in answer.system


# --- transcripts ----------------------------------------------------------------------------------

@LAW
@given(st.binary(max_size=300), st.integers(0, 5), st.booleans())
def test_any_bytes_can_stand_in_a_transcript(data, start, whole):
    found, end = sc.rows_of(data, start, whole)
    assert start <= end <= start + len(data)
    sc.read_evidence(found, sc.CONTRACT, end)


@LAW
@given(st.lists(values | st.fixed_dictionaries({"type": st.sampled_from(["assistant", "user"]),
                                                "message": st.fixed_dictionaries(
    {"content": values | st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "tool_result"])},
                                                        optional={
        "text": values, "id": values, "name": values, "input": values, "tool_use_id": values, "is_error": values}),
        max_size=3)})},
    optional={"toolUseResult": values, "isMeta": values, "isSidechain": values, "turnOrigin": values}), max_size=5))
def test_rows_of_any_shape_can_stand_in_a_transcript(found):
    data = b"".join(json.dumps(row).encode() + b"\n" for row in found)
    rows_found, end = sc.rows_of(data, 0, True)
    assert sc.read_evidence(rows_found, sc.CONTRACT, end).readable


@LAW
@given(st.lists(st.tuples(st.sampled_from(["ls", "make", "pytest", "echo a"]), st.booleans()), max_size=8),
       st.integers(0, 10_000))
def test_a_transcript_read_in_two_parts_shows_the_same_work(calls, place):
    transcript = Transcript()
    for command, error in calls:
        transcript.call(command=command, error=error)
    data = transcript.data
    place = place % (len(data) + 1)

    def read(contract, upto):
        start = contract["read_to"]
        found, end = sc.rows_of(data[start:upto], start, True)
        return sc.absorb(contract, sc.read_evidence(found, contract, end), sc.Settings(), 1)

    once, twice = read(sc.CONTRACT, len(data)), read(read(sc.CONTRACT, place), len(data))
    assert (once["work"], once["read_to"]) == (twice["work"], twice["read_to"])


# --- small readers --------------------------------------------------------------------------------

@LAW
@given(any_text, st.integers(2, 80))
def test_one_line_is_one_harmless_line(text, limit):
    line = sc.one_line(text, limit)
    assert len(line) <= limit and not set(line) & set("\n\r<>\x00\x1b\u2028\u2029") and line == line.strip()
    assert all(c.isprintable() for c in line)


@LAW
@given(any_text, st.integers(3, 80))
def test_a_text_that_is_cut_fits(text, size):
    assert len(sc.cut(text, size).encode("utf-8", "replace")) <= size


@LAW
@given(values)
def test_json_reads_back_what_it_writes(value):
    text = sc.dump_json(value)
    assert text.isascii() and "\n" not in text
    again, fault = sc.parse_json(text.encode())
    assert fault == "" and sc.dump_json(again) == text


@LAW
@given(st.binary(max_size=80) | values.map(lambda value: json.dumps(value).encode()))
def test_json_of_any_bytes_is_read_or_said_to_be_none(data):
    value, fault = sc.parse_json(data)
    assert fault == "" or value is None


@LAW
@given(any_text | values)
def test_a_session_id_is_safe_as_a_file_name_or_none(session):
    name = sc.session_file(session)
    assert name == "" or (os.path.basename(name) == name and not name.startswith(".") and sc.session_file(name) == name)


@LAW
@given(st.text("0123456789*,-/ aA", max_size=12), st.sampled_from([(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]))
def test_a_cron_field_is_a_set_within_its_bounds_or_a_value_error(text, bounds):
    try:
        numbers = sc.cron_field(text, bounds)
    except ValueError:
        return
    assert numbers and bounds[0] <= min(numbers) and max(numbers) <= bounds[1]


@LAW
@given(st.lists(st.text("0123456789*,-/", max_size=5), max_size=6).map(" ".join) | values,
       st.integers(0, 2_000_000_000))
def test_a_schedule_fires_within_a_day_or_not_at_all(schedule, now):
    wait = sc.cron_wait(schedule, now)
    assert wait is None or 0 < wait <= 86_400


@LAW
@given(st.text("ab \t\n;&|()<>\"'\\#$=2/", max_size=30) | any_text)
def test_any_shell_line_is_read(command):
    for pipeline in sc.pipelines_in(command):
        assert pipeline and all(words and all(isinstance(word, str) for word in words) for words in pipeline)
        sc.is_idle(pipeline)


@LAW
@given(messages)
def test_any_message_is_read_and_its_spans_lie_within_it(message):
    seen = sc.read_turn(message)
    assert all(0 <= hit[2] <= hit[3] <= len(message) for key in ("hits", "excused", "advisory") for hit in seen[key])
