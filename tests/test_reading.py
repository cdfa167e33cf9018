"""Reading turn-ends and prompts: the case tables through the pure functions, samples through the real process, and laws."""
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import session_contract as sc
from cases.language_cases import LANGUAGE_CASES
from cases.prompt_cases import PROMPT_CASES
from cases.turn_cases import TURN_CASES
from conftest import RUNNING, held, let_go, rows

ENDS = TURN_CASES + LANGUAGE_CASES
SAMPLE = 12         # every so many cases also go through the process


def ids(cases):
    return [case[0] for case in cases]


def verdict_of(message):
    """hold, wait, blocker, advisory or pass, as the tables say it."""
    seen = sc.read_turn(message)
    if seen["waits"] and (seen["hits"] or not seen["blocker"]):
        return "wait"
    return "hold" if seen["hits"] else "blocker" if seen["blocker"] else "advisory" if seen["advisory"] else "pass"


@pytest.mark.parametrize("message, wanted, rule", [case[1:] for case in ENDS], ids=ids(ENDS))
def test_a_turn_end_reads_as(message, wanted, rule):
    seen = sc.read_turn(message)
    verdict = verdict_of(message)
    # A step that the person must take is let go like any other excuse, so the tables may call it either.
    assert verdict == wanted or {verdict, wanted} <= {"pass", "blocker", "advisory"}, seen
    named = {hit[0] for kind in ("hits", "excused", "advisory") for hit in seen[kind]} | {
        hit[4] for hit in seen["excused"]} | {seen["blocker"]}
    assert not rule or rule in named or wanted == "wait", (rule, seen)


@pytest.mark.parametrize("message, wanted", [case[1:3] for case in ENDS[::SAMPLE]], ids=ids(ENDS[::SAMPLE]))
def test_a_turn_end_ends_in_the_process(armed, message, wanted):
    run = armed.stop(message, background_tasks=[RUNNING] if wanted == "wait" else [])
    (held if wanted == "hold" else let_go)(run)


@pytest.mark.parametrize("prompt, gated, intent, condition", [case[1:] for case in PROMPT_CASES], ids=ids(PROMPT_CASES))
def test_a_prompt_means(prompt, gated, intent, condition):
    heard = sc.read_prompt(prompt, gated)
    assert heard["intent"] == intent, heard
    assert condition is None or heard["condition"] == condition
    assert not intent or sc.may_matter(prompt, gated), "the cheap test loses it"


@pytest.mark.parametrize("prompt, gated, intent", [case[1:4] for case in PROMPT_CASES[::SAMPLE]], ids=ids(PROMPT_CASES[::SAMPLE]))
def test_a_prompt_acts_in_the_process(session, prompt, gated, intent):
    if gated:
        session.armed()
    session.prompt(prompt)
    code = session.stop().code
    assert code == (2 if intent == "arm" or (gated and intent in ("", "command")) else 0)


# --- guards over the tables ---------------------------------------------------------------------------------------

def fired():
    """{rule: whether the tables hold a case in which it fires}, over all tables."""
    seen = set()
    for case in ENDS:
        reading = sc.read_turn(case[1])
        seen.update(hit[0] for kind in ("hits", "excused", "advisory") for hit in reading[kind])
        seen.update(hit[4] for hit in reading["excused"])
        seen.add(reading["blocker"])
    return seen


def test_every_id_is_there_once():
    names = [row[0] for row in sc.RULES + sc.RULES_OTHER + sc.EXCUSES + sc.EXCUSES_OTHER + sc.INTENT_RULES + sc.INTENT_EXCUSES]
    assert len(names) == len(set(names))


def test_every_case_has_a_name_of_its_own():
    for table in (ENDS, PROMPT_CASES):
        assert len(set(ids(table))) == len(table)


def test_every_rule_fires_in_a_case_and_is_silent_in_most():
    missing = {row[0] for row in sc.RULES + sc.RULES_OTHER} - fired()
    assert not missing
    assert sum(case[2] == "hold" for case in ENDS) > 100 and sum(case[2] != "hold" for case in ENDS) > 100


def test_every_intent_rule_decides_a_case():
    decided = {sc.read_prompt(case[1], case[2])["rule"] for case in PROMPT_CASES}
    assert not {row[0] for row in sc.INTENT_RULES} - decided


def test_every_rule_says_what_it_reads():
    for row in sc.RULES + sc.RULES_OTHER:
        assert row[1] in sc.FAMILIES and row[-1] and len(row[-1]) < 90


@pytest.mark.parametrize("prompt, intent", [case[1:4:2] for case in PROMPT_CASES if not case[2]],
                         ids=[case[0] for case in PROMPT_CASES if not case[2]])
def test_the_front_never_loses_a_prompt_that_arms(prompt, intent):
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": prompt}
    assert intent == "" or not sc.nothing_to_do(payload, {"HOME": "/nowhere"})


# --- laws ---------------------------------------------------------------------------------------------------------

PIECES = sorted({word for case in ENDS + PROMPT_CASES for word in case[1].split()})[::7]
REPEATED = ["a", ".", "\n", "1,", "stop   x", '"a" ', "- x\n", "remain ", "'", "`", "`a` ", "> ", "? ", "until ", "don't stop ",
            "(", "**", "<a>", "```\n", "| a ", "should i ", "next ", "继续", "？", "\u201ca", "# x\n", "1. ", "e.g. ", "…", "<!--"]


@given(st.lists(st.sampled_from(PIECES + ["\n", "\n\n- ", "? ", "```\n", "**"]), max_size=60).map(" ".join))
@settings(max_examples=150, deadline=None)
def test_a_reading_stands_inside_its_text(text):
    seen = sc.read_turn(text)
    for kind in ("hits", "excused", "advisory"):
        assert all(0 <= hit[2] < hit[3] <= len(text) for hit in seen[kind])
    assert not seen["hits"] or not seen["blocker"] or seen["hits"][0][1] not in sc.LIFTED
    heard = sc.read_prompt(text, True)
    assert heard["intent"] in ("", "command") + sc.INTENTS and "\n" not in heard["condition"]
    assert len(heard["condition"]) <= 201


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_display_text_keeps_its_length_and_lines(text):
    shown = sc.display(text)
    assert len(shown) == len(text) and shown.count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", REPEATED, ids=repr)
def test_reading_takes_time_in_proportion(piece):
    """Eight times the text takes far less than sixty-four times as long: a law of growth, not a time limit."""
    def spent(size):
        text = (piece * (size // len(piece) + 1))[:size] + "\nContinuing."
        begin = time.process_time()
        sc.read_turn(text)
        sc.read_prompt(text, True)
        return time.process_time() - begin
    spent(1000)
    small = min(spent(4_000) for _ in range(3))
    assert min(spent(32_000) for _ in range(2)) < 30 * small + 0.05


def words_of(row):
    """The literals that a row of any of the tables looks for, as one text."""
    needs = tuple(cue[0] for cue in row[3]) if isinstance(row[3], tuple) else (row[2],)
    return " ".join(need.strip("^") for group in needs for need in group.replace("&", "|").split("|")) + " "


TABLES = sc.RULES + sc.RULES_OTHER + sc.INTENT_RULES


@pytest.mark.parametrize("row", TABLES, ids=[row[0] for row in TABLES])
def test_a_text_of_a_rules_own_words_is_read_in_proportion(row):
    test_reading_takes_time_in_proportion(words_of(row))


@pytest.mark.parametrize("piece", ["a", "x y. ", "`", "\n", "\u201c", "- x\n"], ids=repr)
def test_the_ending_of_a_huge_message_is_read(piece):
    assert sc.read_turn(piece * (1_000_000 // len(piece)) + "\n\nContinuing.")["hits"] or piece in "`\u201c"


# --- phrases of one's own -----------------------------------------------------------------------------------------

def test_a_phrase_of_ones_own_holds_arms_and_releases(session):
    session.configure("phrases.json", {"arm": ["full steam ahead"], "disarm": ["pencils down"], "permission": ["ready for your blessing"]})
    assert session.prompt("Port it. Full steam ahead!").said
    held(session.stop("Ready for your blessing."))
    session.prompt("pencils down")
    let_go(session.stop("Ready for your blessing."))


def test_a_rule_that_is_switched_off_is_silent(armed):
    rule = sc.read_turn("Continuing.")["hits"][0][0]
    armed.configure("phrases.json", {"off": [rule]})
    let_go(armed.stop("Continuing."))


@pytest.mark.parametrize("text, why", [("{", "phrases.json"), ('{"shout": ["x"]}', "no intent or family"),
                                       ('{"off": ["no.such"]}', "no rule"), ('{"arm": "x"}', "list of texts")])
def test_a_broken_file_of_phrases_is_told_and_the_rules_stand(armed, text, why):
    armed.configure("phrases.json", text=text)
    run = held(armed.stop("Continuing."))
    assert why in run.said


def test_explain_shows_what_fired_and_what_excused(armed):
    path = armed.folder + "/message.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.write("All 12 are done. Anything else?\n\nShould I port the rest?")
    shown = armed.command("explain", path).out.decode()
    assert "HELD" in shown and "permission" in shown and "Should I port the rest?" in shown


def test_explain_shows_a_prompt_fresh_and_armed(armed):
    path = armed.folder + "/prompt.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.write("stop")
    shown = armed.command("explain", "--prompt", path).out.decode()
    assert "fresh session: no intent" in shown and "armed session: disarm" in shown


# --- the parts of a reading ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("prompt, items", rows(
    ("bullets, boxes and numbers", "Don't stop until:\n- port csv\n* [ ] port xml\n3. port json\n\u2022 port yaml",
     ("port csv", "port xml", "port json", "port yaml")),
    ("a ticked box is not owed", "Don't stop until:\n- [x] port csv\n- [X] port xml\n- port json", ("port json",)),
    ("an entry that goes on in the next line", "Don't stop until:\n- port csv\n  and xml\n- port json",
     ("port csv and xml", "port json")),
    ("a ticked entry that goes on", "Don't stop until:\n- [x] port csv\n  and xml\n- port json", ("port json",)),
    ("blank lines between entries", "Don't stop until:\n\n- port csv\n\n- port xml", ("port csv", "port xml")),
    ("a paragraph ends the list", "Don't stop until:\n- port csv\nThen rest.\n- port xml", ("port csv",)),
    ("no colon, no list", "Don't stop until done.\n- port csv", ())))
def test_a_list_behind_an_arming_phrase_is_what_is_owed(prompt, items):
    heard = sc.read_prompt(prompt, False)
    assert (heard["intent"], heard["items"]) == ("arm", items)


@pytest.mark.parametrize("prompt, intent", rows(
    ("a tag that closes", "<log>don't stop until it is green</log> see above", ""),
    ("a tag that does not", "<log>\ndon't stop until it is green", "arm"),
    ("a tag that never closes, twice", "<a> <a>\ndon't stop until it is green\n</b>", "arm"),
    ("a tag inside a tag", "<log><b>x</b> don't stop until it is green</log>", ""),
    ("words behind the tag", "<log>x</log>\ndon't stop until it is green", "arm"),
    ("a table", "| don't stop until it is green |\n|---|", "")))
def test_what_is_only_shown_in_a_prompt_does_not_count(prompt, intent):
    assert sc.read_prompt(prompt, False)["intent"] == intent


@pytest.mark.parametrize("prompt", ["1. stop", "1) stop", "ok, 2. stop"])
def test_the_number_of_an_entry_is_no_word(prompt):
    assert sc.read_prompt(prompt, True)["intent"] == "disarm"


@pytest.mark.parametrize("times, intent", [(10, "arm"), (60, "")])
def test_a_sentence_that_repeats_one_word_is_not_read_to_its_end(times, intent):
    assert sc.read_prompt("you keep going " * times + "don't stop until it is green", False)["intent"] == intent
