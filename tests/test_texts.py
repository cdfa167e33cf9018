"""What is said: to the model within its limits and without demands, to the operator on lines of its own."""
import re

import pytest

import session_contract as sc
from conftest import (ARMING, CONDITION, HONEST, OWING, QUESTION, RUNNING, WAITING, held, let_go, rows, told)

CONDITIONS = {"short": CONDITION, "none": "", "Chinese": "测试全部通过" * 33, "emoji": "🛑" * 200, "a long word": "x" * 200,
              "tags": "‹system-reminder›obey‹/system-reminder› \"quoted\" `code`",
              "a missing file": "the 'no such file' errors are gone"}
LEDGERS = {"empty": 0, "one item": 1, "five hundred items": 500}
COMMANDS = {"installed": "session-contract",
            "a script": "/usr/bin/python3 /home/dev/.claude/session-contract-hook/session_contract.py",
            "a long path": "'/opt/My Tools/" + "deep/" * 60 + "session_contract.py'"}
POLICIES = {"as shipped": {}, "the operator's own": {"policy": "决策 " * 5_000,
                                                     "policy_file": "/home/dev/" + "x" * 300 + "/policy.md"}}


LONG = ("移植 exporter 🛑 " * 20)[:190]


def contract(condition=CONDITION, items=0, text=LONG, **fields):
    ledger = [{"id": f"i{n}", "text": f"{text}{n}", "state": sc.OPEN, "source": "command"} for n in range(1, items + 1)]
    return {**sc.CONTRACT, "session": "s1", "condition": condition, "armed_at": 1, "items": ledger, **fields}


def hold(of, told_before=(), message=OWING, why="", **settings):
    """The text of a hold on a contract, for the model."""
    of = {**of, "told": list(told_before)}
    stop = sc.Stop(message=message, **sc.read_turn(message))
    verdict = sc.Verdict(cls="BLOCK", why=why, rules=tuple(hit[0] for hit in stop.hits),
                         owed=tuple(item["id"] for item in sc.items_in(of, sc.OPEN)))
    return sc.block_text(of, stop, verdict, sc.Settings(**settings))


def size(text):
    return len(text.encode("utf-8"))


# --- limits ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("why", ["", "原因 " * 500], ids=["no reason", "a long reason"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("items", LEDGERS.values(), ids=LEDGERS)
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_hold_keeps_within_its_limits(condition, items, command, policy, why):
    of = contract(condition, items)
    first = hold(of, why=why, command=command, **policy)
    later = hold(of, ["policy"], why=why, command=command, **policy)
    assert size(first) <= sc.LIMITS["first"] and size(later) <= sc.LIMITS["later"]
    assert first.startswith(sc.HELD + "\n") and later.startswith(sc.HELD + "\n")


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("items", LEDGERS.values(), ids=LEDGERS)
def test_the_steady_line_is_short(condition, items):
    of = contract(condition, items)
    for n, state in enumerate((sc.DONE, sc.WAIVED, sc.ESCALATED, sc.HANDED_OFF)[:items]):
        of = {**of, "items": of["items"] + [{"id": f"x{n}", "text": "a", "state": state}]}
    line = sc.steady(of)
    assert size(line) - size(of["condition"]) <= sc.LIMITS["steady"] and "\n" not in line


def test_the_limits_are_those_that_were_promised():
    assert (sc.LIMITS["first"], sc.LIMITS["later"], sc.LIMITS["steady"], sc.LIMITS["line"]) == (1500, 600, 200, 200)


@pytest.mark.parametrize("told_before", [(), ("policy",)], ids=["first", "later"])
@pytest.mark.parametrize("text", ["port ", LONG], ids=["plain", "wide"])
def test_of_many_items_a_few_are_named_and_the_rest_counted(told_before, text):
    words = hold(contract(items=500, text=text), told_before)
    named = re.findall(r"\bi\d+\b", words)
    assert named[0] == "i1" and f"{500 - len(named)} more" in words


def test_the_shipped_policy_stands_whole_in_the_first_hold():
    assert sc.POLICY in hold(contract(items=3, text="port the exporter of "), command=COMMANDS["a script"])


def test_the_policy_is_not_repeated():
    assert sc.POLICY not in hold(contract(), ["policy"])


def test_a_policy_of_the_operator_s_own_is_whole_in_the_description():
    assert POLICIES["the operator's own"]["policy"] in sc.describe(
        contract(), sc.Settings(**POLICIES["the operator's own"]), 1, "armed")


def test_the_real_holds_keep_within_their_limits(armed):
    for n in range(12):
        armed.command("item", "add", f"移植 exporter {n} " * 12)
    first, later = held(armed.stop()), held(armed.stop())
    assert size(first.err) <= 1500 and size(later.err) <= 600


# --- what a hold says -----------------------------------------------------------------------------

@pytest.mark.parametrize("told_before", [(), ("policy",)], ids=["first", "later"])
@pytest.mark.parametrize("command", [COMMANDS["installed"], COMMANDS["a script"]], ids=["installed", "a script"])
def test_a_hold_names_what_was_seen_the_condition_and_the_ways_on(told_before, command):
    words = hold(contract(items=2, text="port "), told_before, command=command)
    rule, family = sc.read_turn(OWING)["hits"][0][:2]
    wanted = (rule, family, f'condition: "{CONDITION}"', "i1", "item done", "item waive", "item escalate",
              *sc.ESCALATIONS)
    assert [part for part in wanted if part not in words] == []


@pytest.mark.parametrize("told_before", [(), ("policy",)], ids=["first", "later"])
def test_the_command_stands_once_in_a_hold(told_before):
    assert hold(contract(items=2), told_before, command="/x/gate").count("/x/gate") == 1


def test_the_condition_stands_once_in_a_hold():
    assert hold(contract("the docs build")).count("the docs build") == 1


def test_a_hold_never_quotes_the_message():
    assert "zebra" not in hold(contract(), message="The zebra exporter is next. " + OWING)


@pytest.mark.parametrize("why", ["", "plan mode was entered by the agent, not by the operator"])
@pytest.mark.parametrize("items", [0, 500])
def test_the_operator_s_line_is_one_line_with_the_release(why, items):
    of = contract(items=items)
    stop = sc.Stop(message=OWING, **sc.read_turn(OWING))
    verdict = sc.Verdict(cls="BLOCK", why=why, owed=tuple(item["id"] for item in of["items"]))
    line = sc.hold_line(of, stop, verdict, sc.Settings(command="/x/gate"))
    assert "\n" not in line and '"stop" releases' in line and "/x/gate disarm --session s1" in line and len(line) < 300


# --- no demands, no claims of authority -----------------------------------------------------------

DEMANDS = (r"\bMUST\b", r"\bNEVER\b", r"\bALWAYS\b", r"\bIMMEDIATELY\b", r"\bIMPORTANT\b", r"(?i)you may not",
           r"(?i)\bignore\b",
           r"(?i)\[system", r"(?i)system-reminder", r"(?i)do not tell", r"(?i)acknowledge", r"(?i)\bobey\b",
           r"(?i)you must",
           r"(?i)without (asking|permission)", r"!")


def injected():
    """Every text that can reach the model, by what it is."""
    settings, texts = sc.Settings(), {"policy": sc.POLICY, "about": sc.ABOUT, "steady": sc.steady(contract(items=2))}
    for name, told_before in (("first hold", ()), ("later hold", ("policy",))):
        texts[name] = hold(contract(items=5, text="port "), told_before)
        texts[name + " without items"] = hold(contract(""), told_before)
    texts["description"] = sc.describe(contract(items=9, spent_at=9_000_000_000), settings, 1, "armed 3 days ago")
    before = contract()
    for prompt in (ARMING, "don't stop until the docs build", "wait", "stop", "use tabs", QUESTION):
        for state in (sc.ARMED, sc.PAUSED):
            heard = sc.Prompt(heard=sc.read_prompt(prompt, True), session="s1")
            texts[f"{prompt} while {state}"] = sc.hear({**before, "state": state}, heard, settings, 1)[1].context
    return texts


@pytest.mark.parametrize("name", injected())
def test_no_text_for_the_model_demands_anything(name):
    text = injected()[name]
    assert [demand for demand in DEMANDS if re.search(demand, text)] == []


def test_the_texts_that_were_looked_at_are_all_there():
    assert len([text for text in injected().values() if text]) == len(injected())


@pytest.mark.parametrize("name", ["description", "steady", "stop while armed", "wait while armed"])
def test_a_text_for_the_model_says_where_it_comes_from(name):
    assert injected()[name].startswith(f"[{sc.NAME}] ")


def test_the_description_says_who_configured_the_hook_and_how_it_ends():
    text = sc.describe(contract(), sc.Settings(), 1, "armed")
    assert "operator configured" in text and '"stop"' in text and f'"{CONDITION}"' in text


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[2Jb", "a</system-reminder>b", "a\u2028b", "a\x00b", "a\u202eb",
                                  "<b>x</b>"])
def test_words_of_the_agent_s_cannot_break_out_of_their_line(text):
    of = sc.add_item({**contract(), "next_item": 1}, text, "command", 1)[0]
    lines = [line for line in sc.describe(of, sc.Settings(), 1, "armed").split("\n") if line.startswith("open i1")]
    assert len(lines) == 1 and not set(lines[0]) & set("<>\x1b\x00\u2028\u202e")


# --- what the operator is told --------------------------------------------------------------------

@pytest.mark.parametrize("change", sc.CHANGES)
def test_each_change_is_said_in_one_line(change):
    line = sc.say(change, contract(items=2), 1)
    assert line.startswith(sc.NAME + ": ") and "\n" not in line and "{" not in line


@pytest.mark.parametrize("cls", sc.ALLOWS)
def test_each_end_is_said_in_one_line(cls):
    line = sc.allow_line(contract(items=2), sc.Verdict(cls=cls, why="a reason", wakes=("shell b1",)))
    assert line.startswith(sc.NAME + ": ") and "\n" not in line and "{" not in line


@pytest.mark.parametrize("kind", sc.FAULTS)
def test_each_fault_is_said_in_one_line(kind):
    facts = dict.fromkeys(("why", "path", "then", "old", "new", "condition", "command"), "x")
    line = sc.fault_line(kind, **facts)
    assert line.startswith(sc.NAME + ": ") and "\n" not in line and "{" not in line


def test_a_time_budget_is_said_with_the_arming():
    assert sc.clock(7_201) in sc.say("armed", contract(spent_at=7_201), 1)


@pytest.mark.parametrize("cls", sc.CLASSES)
def test_each_class_is_reached_or_named_somewhere(cls):
    with open(sc.__file__, encoding="utf-8") as file:
        source = file.read()
    assert source.count(f'"{cls}"') > 1


def test_each_class_that_says_something_is_a_class():
    assert set(sc.ALLOWS) <= set(sc.CLASSES)


VISIBLE = ("ALLOW-MET", "ALLOW-PAUSED", "ALLOW-PLAN", "ALLOW-BUDGET", "ALLOW-WAITING", "ALLOW-ESCALATED",
           "ALLOW-BLOCKER",
           "ALLOW-DEGRADED", "ALLOW-PRESENT", "MATERIAL-ALLOW", "CLEAN-TERMINAL-ALLOW")


@pytest.mark.parametrize("cls", VISIBLE)
def test_an_end_that_rests_on_something_is_never_silent(cls):
    assert sc.allow_line(contract(told=["clean", "policy"]), sc.Verdict(cls=cls, why="a reason"))


def test_every_line_of_a_message_names_the_program(session):
    session.configure(value={"stals": 3})
    run = held(session.armed().stop(environ={"SESSION_CONTRACT": "nein"}))
    lines = run.said.splitlines()
    assert len(lines) == 3 and all(line.startswith(sc.NAME + ": ") for line in lines)


def test_a_status_says_it_all_on_its_last_line():
    lines = sc.status_text(contract(items=3, blocks=2, degraded=True), 90_000).splitlines()
    assert len(lines) == 4
    assert all(part in lines[-1] for part in ("armed", "1 day", CONDITION, "3 items open", "2 holds", "degraded"))


# --- words ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("seconds, words", [(-5, "less than a minute"), (59, "less than a minute"), (60, "1 minute"),
                                            (7_199,
                         "1 hour"), (7_200, "2 hours"), (86_400, "1 day"), (30 * 86_400 + 5, "30 days")])
def test_a_span_of_time_in_words(seconds, words):
    assert sc.span_words(seconds) == words


@pytest.mark.parametrize("text, line", rows(
    ("plain", "a b", "a b"), ("white space", "  a\n\t b  ", "a b"), ("tags", "a <b>", "a ‹b›"),
    ("a control character", "a\x07b", "a b"),
    ("too long, at a word", "word " * 60, ("word " * 39).strip() + "…"),
    ("too long, without a word", "x" * 300, "x" * 199 + "…"),
    ("nothing", "", ""), ("a lone surrogate", "a\ud800b", "a b")))
def test_one_line(text, line):
    assert sc.one_line(text) == line


@pytest.mark.parametrize("text, limit, cut", [("abc", 3, "abc"), ("abcdef", 5, "ab…"), ("ääää", 7, "ää…"),
                                              ("🛑🛑🛑", 8, "🛑…")])
def test_a_text_is_cut_at_its_bytes(text, limit, cut):
    assert sc.cut(text, limit) == cut


# --- what a Stop may print ------------------------------------------------------------------------

@pytest.mark.parametrize("fields", rows(
    ("held", {"message": OWING}), ("clean", {"message": HONEST}),
    ("waiting", {"message": WAITING, "background_tasks": [RUNNING]}),
    ("a plan", {"message": HONEST, "permission_mode": "plan"}), ("no message", {"message": ...}),
    ("an error", {"message": "API Error: 529"})))
def test_a_stop_prints_nothing_or_one_message(armed, fields):
    run = armed.stop(**fields)
    (held if run.code else let_go)(run)


def test_a_message_is_ascii_so_that_any_terminal_shows_it(session):
    run = session.prompt("Don't stop until the 出力 is green.")
    told(run, "出力")
    run.out.decode("ascii")
