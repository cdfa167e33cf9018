"""The functions that read and decide, one by one: small values in, exact values out."""
import time

import pytest

import session_contract as sc
from conftest import rows

MARK = sc.MARK
NOW = 1_800_000_000         # 2027-01-15 08:00 UTC
BOUND = {**sc.CONTRACT, "session": "s1", "condition": "the suite is green", "armed_at": NOW - 3600}
UNCLAIMED = "nobody has claimed the condition as met"


def shown(text):
    """TEXT with what was set aside made visible."""
    return text.replace(MARK, "_")


def entry(number, state="open", **more):
    return {"id": f"i{number}", "text": f"port {number}", "state": state, **more}


def case(contract=(), stop=(), evidence=(), settings=(), progress=False):
    return sc.Case(contract={**BOUND, **dict(contract)}, stop=sc.Stop(**dict(stop)), now=NOW, progress=progress,
                   evidence=sc.Evidence(**dict(evidence)), settings=sc.Settings(**dict(settings)))


def verdict(cls, why="", **more):
    return sc.Verdict(cls=cls, why=why, **more)


def changed(before, after):
    """The fields in which two contracts differ, as they are afterwards."""
    assert before.keys() == after.keys()
    return {name: after[name] for name in after if before[name] != after[name]}


# --- reading: values ------------------------------------------------------------------------------

@pytest.mark.parametrize("text, limit, line", rows(
    ("what fits stays", "a b", 3, "a b"),
    ("what does not is cut at a word", "alpha beta gamma", 14, "alpha beta\u2026"),
    ("a word that is too long is cut", "x" * 30, 10, "x" * 9 + "\u2026"),
    ("a word that begins early is cut", "a " + "x" * 30, 10, "a " + "x" * 7 + "\u2026"),
    ("a word that begins in the first half is cut", "x" * 12 + " " + "y" * 30, 30,
     "x" * 12 + " " + "y" * 16 + "\u2026"),
    ("tags are broken, lines joined, control characters gone", "<b>\n\x00c\td", 200, "\u2039b\u203a c d"),
    ("no more than four times the limit is looked at", " " * 40 + "a", 10, "")))
def test_a_text_as_one_line(text, limit, line):
    assert sc.one_line(text, limit) == line


@pytest.mark.parametrize("text, size, cut", rows(
    ("what fits stays", "abcd", 4, "abcd"), ("what does not ends in dots", "abcdef", 5, "ab\u2026"),
    ("bytes count", "\u00e9\u00e9\u00e9", 5, "\u00e9\u2026"),
    ("a lone surrogate counts as one", "\ud800", 1, "\ud800")))
def test_a_text_cut_to_bytes(text, size, cut):
    assert sc.cut(text, size) == cut


@pytest.mark.parametrize("seconds, words", [
    (0, "less than a minute"), (59, "less than a minute"), (60, "1 minute"), (3599, "59 minutes"), (3600, "1 hour"),
    (86399, "23 hours"), (86400, "1 day"), (200000, "2 days")])
def test_a_span_in_words(seconds, words):
    assert sc.span_words(seconds) == words


@pytest.mark.parametrize("stamp, delay, at", rows(
    ("a row with its time", "2027-01-15T08:00:00.123Z", 90, NOW + 90),
    ("with a short time", "2027-01-15T08:00:00Z", 90, NOW + 90),
    ("without a time", "", 90, 190), ("with an odd time", "yesterday", 90, 190),
    ("much too late", "", 1 << 40, 100 + (1 << 31)),
    ("beyond all numbers", "2027-01-15T08:00:00Z", 1 << 2000, 100 + (1 << 31))))
def test_a_wakeup_fires_so_long_after_its_call(stamp, delay, at, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert sc.wakes_at(stamp, delay, 100) == at
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_value_is_one_line_of_ascii():
    assert sc.dump_json({"b": "\u00e9\n",
      "a": [1, 2.5, None, True]}) == '{"b": "\\u00e9\\n", "a": [1, 2.5, null, true]}'
    for odd in ({"a": b"x"}, {(1, 2): 3}):
        with pytest.raises(TypeError):
            sc.dump_json(odd)


def test_a_fold_leaves_out_case_and_space():
    assert sc.fold("  A\n STRASSE\u00df ") == "a strassess"


# --- reading: shell lines -------------------------------------------------------------------------

@pytest.mark.parametrize("line, pipelines", rows(
    ("a command", "make all", [[["make", "all"]]]), ("a pipe", "a b|c", [[["a", "b"], ["c"]]]),
    ("a list", "a; b && c || d\ne", [[["a"]], [["b"]], [["c"]], [["d"]], [["e"]]]),
    ("in the background", "a & b", [[["a"]], [["b"]]]), ("a group", "(a; b)", [[["a"]], [["b"]]]),
    ("quotes", "a 'b c' \"d 'e\"", [[["a", "b c", "d 'e"]]]), ("an empty word", "a ''", [[["a", ""]]]),
    ("glued quotes", "a'b'\"c\"d", [[["abcd"]]]), ("an escape", r"a\ b c\;d", [[["a b", "c;d"]]]),
    ("an escape at the end", "a\\", [[["a"]]]),
    ("a comment", "a # b; c\nd", [[["a"]], [["d"]]]), ("a comment at the end", "a #", [[["a"]]]),
    ("no comment", "a#b", [[["a#b"]]]), ("an open quote", "a 'b", [[["a", "b"]]]),
    ("a comment behind another", "a # b\nc # d\ne", [[["a"]], [["c"]], [["e"]]]), ("an X", "aXb", [[["aXb"]]]),
    ("an escape at the start", r"\a", [[["a"]]]), ("joined streams", "a 2>&1 b", [[["a", "2>&1", "b"]]]),
    ("a redirection", "a >f", [[["a", ">f"]]]), ("a glued redirection", "a b>f", [[["a", "b", ">f"]]]),
    ("glued twice", "a b>>f", [[["a", "b", ">>f"]]]), ("with its number", "a 2>f", [[["a", "2>f"]]]),
    ("tabs", "a\tb", [[["a", "b"]]]), ("nothing", " ;; ", [])))
def test_a_shell_line_as_pipelines(line, pipelines):
    assert sc.pipelines_in(line) == pipelines


@pytest.mark.parametrize("line, idle", rows(
    ("a no-op", "echo a", True), ("a program", "make", False), ("a filtered no-op", "echo a | grep b", True),
    ("a no-op into a program", "echo a | sh", False), ("a filter alone", "grep a b", False),
    ("into a file", "echo a > f", False), ("into a file, glued", "echo a >f", False), ("appended", "echo a >>f", False),
    ("glued to the word", "echo a>f", False), ("glued, into nothing", "echo a>/dev/null", True),
    ("into a file named X", "echo a >X", False),
    ("errors into a file", "echo a 2>f", False), ("both into a file", "echo a &>f", False),
    ("into nothing", "echo a >/dev/null", True), ("into the error stream", "echo a >/dev/stderr", True),
    ("into the output", "echo a > /dev/stdout", True), ("joined", "echo a 2>&1", True),
    ("an assignment", "A=1 echo a", True), ("an assignment alone", "A=1", True),
    ("an option with a sign is no assignment", "-A=1", False),
    ("a path with a sign is no assignment", "./a=b/c", False),
    ("our own file", "session_contract.py status", True), ("by its path", "/x/session_contract.py status", True),
    ("by python", "python3 -I /x/session_contract.py status", True),
    ("our file is an argument of another", "cat session_contract.py", False),
    ("far behind python", "python3 a b c d e session_contract.py", False),
    ("the launcher", "/h/.claude/session-contract-hook/hook status", True),
    ("another launcher", "/h/.claude/other-hook/hook status", False)))
def test_a_pipeline_is_idle(line, idle):
    assert all(map(sc.is_idle, sc.pipelines_in(line))) is idle


def bash(command):
    return {"name": "Bash", "input": {"command": command}}


@pytest.mark.parametrize("call, kind", rows(
    ("a pull request", bash("gh pr create --fill"), "pr"), ("behind a list", bash("git push && gh pr create"), "pr"),
    ("through a pipe", bash("gh pr create | tee x"), ""), ("a draft on the web", bash("gh pr create --web"), ""),
    ("an older tool", bash("hub pull-request -m x"), "pr"), ("a review", bash("gh pr review 1 -a"), "review"),
    ("a comment", bash("gh pr review 1 -c -b x"), ""), ("an approval", bash("glab mr approve 3"), "review"),
    ("another command", bash("gh pr"), ""), ("no command", {"name": "Bash", "input": {"command": 7}}, ""),
    ("no input", {"name": "Bash", "input": 7}, ""), ("another tool", {"name": "Read", "input": {
        "command": "gh pr create"}}, ""),
    ("a server's tool", {"name": "mcp__github__create_pull_request", "input": {}}, "pr"),
    ("a server's review", {"name": "mcp__my_gitlab__approve_merge_request"}, "review"),
    ("a server's other tool", {"name": "mcp__github__list_issues"}, ""),
    ("another server", {"name": "mcp__jira__create_pull_request"}, "")))
def test_what_a_call_ships(call, kind):
    assert sc.shipped_by(call) == kind


# --- reading: the transcript ----------------------------------------------------------------------

def transcript(*rows):
    """The rows with their offsets: 0, 10, 20, ..."""
    return [(10 * number, row) for number, row in enumerate(rows)]


def used(name, number="1", message="m1", **given):
    return {"type": "assistant", "message": {"id": message, "content": [
        {"type": "tool_use", "id": number, "name": name, "input": given}]}}


def result(number="1", **more):
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": number, **more}]}}


def typed(text, origin="human", **more):
    return {"type": "user", "turnOrigin": origin, "message": {"content": text}, **more}


HOLD = {"type": "user", "isMeta": True, "message": {"content": "Stop hook feedback: " + sc.HELD}}


@pytest.mark.parametrize("row, human", rows(
    ("typed", typed("a"), True), ("sent by a program of the operator's", typed("a", "sdk"), True),
    ("scheduled", typed("a", "scheduled"), False), ("of no known origin", {"type": "user"}, False),
    ("the client's own", typed("a", isMeta=True), False),
    ("said by the agent", {**typed("a"), "type": "assistant"}, False)))
def test_a_row_is_the_operator_s(row, human):
    assert sc.is_human(row) is human


def test_calls_are_paired_with_their_results():
    make, read = used("Bash", command="make"), used("Read", "2", file="a")
    pairs, pending = sc.calls_in(transcript(make, read, result("2"), result("1"), result("9")))
    assert [(at, call["name"], row) for at, _, call, row in pairs] == [
        (20, "Read", result("2")), (30, "Bash", result("1"))]
    assert pending is None
    assert sc.calls_in(transcript(make, result(is_error=True)))[0] == []
    assert sc.calls_in(transcript(make, {**result(), "toolUseResult": {"interrupted": True}}))[0] == []
    assert sc.calls_in(transcript(make, {"type": "user", "message": {"content": [
        {"type": "text", "tool_use_id": "1"}]}}, result()))[0][0][3] == result()
    assert sc.calls_in(transcript(used("Bash", "1", "m1"), used("Bash", "2", "m2"), used("Bash", "3", "m2")))[1] == 10
    assert sc.calls_in(transcript(used("Bash"), {"type": "assistant", "message": "odd"}))[1] is None
    assert sc.id_of({"message": "odd"}) is None
    bare = used("Bash", command="make")
    del bare["message"]["content"][0]["id"]
    assert sc.calls_in(transcript(bare, {"type": "user", "message": {"content": [{"type": "tool_result"}]}}))[0] == []


def test_evidence_is_counted_from_its_place():
    calls = (used("Bash", command="make"), result(), used("Bash", "2", command="ls"), result("2"))
    evidence = sc.read_evidence(transcript(*calls), {**sc.CONTRACT, "prompt_mark": 0}, 40)
    assert (evidence.work, evidence.turn_calls, evidence.end, evidence.readable) == (2, 2, 40, True)
    assert sc.read_evidence(transcript(*calls), {**sc.CONTRACT, "prompt_mark": 30}, 40).work == 1
    assert sc.read_evidence(transcript(*calls), {**sc.CONTRACT, "prompt_mark": 31}, 40).work == 0
    assert sc.read_evidence(transcript(calls[0], calls[1], typed("a"), calls[2]), sc.CONTRACT, 40).turn_calls == 1
    assert sc.read_evidence([], sc.CONTRACT, 0) == sc.Evidence(readable=True, turn_calls=0)


def test_text_is_no_call():
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}
    assert sc.read_evidence(transcript(said, used("Bash", command="ls")), sc.CONTRACT, 20).turn_calls == 1


@pytest.mark.parametrize("call, wakeup", rows(
    ("at its time", {**used("ScheduleWakeup", delaySeconds=90), "timestamp": "T1"}, ("T1", 90)),
    ("at no known time", used("ScheduleWakeup", delaySeconds=90), ("", 90)),
    ("without a number", used("ScheduleWakeup", delaySeconds="90"), None),
    ("without a delay", used("ScheduleWakeup"), None),
    ("of another tool", used("Bash", delaySeconds=90), None)))
def test_a_scheduled_wakeup_is_seen(call, wakeup):
    assert sc.read_evidence(transcript(call, result()), sc.CONTRACT, 20).wakeup == wakeup


def test_the_last_wakeup_counts_and_an_odd_one_takes_nothing_back():
    calls = [row for number, delay in (("1", 90), ("2", 60), ("3", None))
             for row in (used("ScheduleWakeup", number, delaySeconds=delay), result(number))]
    assert sc.read_evidence(transcript(*calls), sc.CONTRACT, 60).wakeup == ("", 60)


URL = "https://example.com/o/r/pull/7"


def texts(*pieces):
    return result(content=[{"type": "text", "text": piece} for piece in pieces])


@pytest.mark.parametrize("rows_, since, found", rows(
    ("the client's own record", [{"toolUseResult": {"gitOperation": {"pr": {"action": "created", "url": URL}}}}], 0,
     ["pr " + URL]),
    ("without an address", [{"toolUseResult": {"gitOperation": {"pr": {"action": "created", "number": 7}}}}], 0,
     ["pr 7"]),
    ("of another kind", [{"toolUseResult": {"gitOperation": {"pr": {"action": "viewed", "url": URL}}}}], 0, []),
    ("from before", [{"toolUseResult": {"gitOperation": {"pr": {"action": "created", "url": URL}}}}], 1, []),
    ("a link", [{"type": "pr-link", "prUrl": URL}], 0, ["pr " + URL]),
    ("a link from before", [{"type": "pr-link", "prUrl": URL}], 1, []),
    ("a call and its address", [used("Bash", command="gh pr create"), texts("see " + URL, "ok")], 0, ["pr " + URL]),
    ("a call that ended just then", [used("Bash", command="gh pr create"), texts(URL)], 10, ["pr " + URL]),
    ("a call that ended before", [used("Bash", command="gh pr create"), texts(URL)], 11, []),
    ("a call without an address", [used("Bash", command="gh pr create"), texts("ok")], 0, []),
    ("a review with its address", [used("Bash", command="gh pr review 7 -a"), texts(URL)], 0, [f"review {URL} 1"]),
    ("a review without one", [used("Bash", command="gh pr review 7 -a"), texts("ok")], 0, ["review 1"]),
    ("one thing told twice", [{"type": "pr-link", "prUrl": URL}, used("Bash", command="gh pr create"), texts(URL)], 0,
     ["pr " + URL])))
def test_what_was_shipped(rows_, since, found):
    at = transcript(*rows_)
    assert sc.artifacts_in(at, sc.calls_in(at)[0], since) == found


@pytest.mark.parametrize("text, url", rows(
    ("in words", f"see <{URL}>, please", URL), ("with a query", URL + "?a=1", URL),
    ("of GitLab", "https://g/o/r/-/merge_requests/3.",
     "https://g/o/r/-/merge_requests/3"), ("with a name in it", "https://u@example.com/o/r/pull/7", ""),
    ("not safe", "http://example.com/o/r/pull/7", ""), ("of something else", "https://example.com/o/r/issues/7", ""),
    ("with a letter behind it", URL + "X", URL + "X"), ("the first one", f"https://a.b/c {URL} {URL}8", URL)))
def test_the_address_of_a_pull_request(text, url):
    assert sc.pull_url(text) == url


def test_the_holds_of_an_ending_are_counted():
    work = (used("Bash", command="make"), result())
    evidence = sc.read_evidence(transcript(HOLD, typed("a"), HOLD, *work, HOLD, HOLD), sc.CONTRACT, 70)
    assert (evidence.holds, evidence.stalled) == (3, 2)
    assert sc.read_evidence(transcript(HOLD), sc.CONTRACT, 10).stalled == 1


def test_the_last_text_is_one_that_is_said():
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "a"}, {"type": "image", "text": "b"},
                                                         {"type": "text", "text": 7}]}}
    assert sc.read_evidence(transcript(said), sc.CONTRACT, 10).text == "a"


def test_a_call_is_known_by_its_tool_and_what_it_is_given():
    key = sc.call_key({"name": "Bash", "input": {"command": "ls"}, "id": "1"})
    assert len(key) == 10 and key == sc.call_key({"name": "Bash", "input": {"command": "ls"}, "id": "2"})
    assert key != sc.call_key({"name": "Read", "input": {"command": "ls"}})
    assert key != sc.call_key({"name": "Bash", "input": {"command": "la"}})


def test_a_call_of_another_tool_is_work_whatever_it_is_given():
    assert sc.is_work({"name": "mcp__sh__run", "input": {"command": "echo"}})
    assert sc.is_work({"name": "Bash", "input": 7})
    assert not sc.is_work({"name": "Bash", "input": {"command": "echo"}}) and not sc.is_work({"name": "TodoWrite"})


def test_words_in_a_queue_have_their_time():
    enqueued = {"type": "queue-operation", "operation": "enqueue", "content": "stop", "timestamp": "T1"}
    attached = {"type": "attachment", "timestamp": "T2", "attachment": {"type": "queued_command", "prompt": "wait"}}
    dated = {"type": "attachment", "timestamp": "T2", "attachment": {
        "type": "queued_command", "prompt": "wait", "timestamp": "T3"}}
    other = {"type": "note", "operation": "enqueue", "content": "stop"}
    assert sc.queued_in(transcript(enqueued, attached, dated, other)) == (
        ("T1", "stop"), ("T2", "wait"), ("T3", "wait"))


SIMPLE = "it is no simple command; run it without pipe, redirection or substitution, and name just that"
PROVES = "such a command proves nothing; name the one that does the work or tests it"
BEFORE = "it ran only before the item was opened, or in the background; run it again"
NEVER = "the transcript shows no successful run of exactly that command; run it without the pipe, then try again"
SINCE = "2027-01-15T08:00:00Z"


@pytest.mark.parametrize("command, ran, when, why", rows(
    ("it ran", "make  X", "make X", SINCE, ""), ("at another time", "make", "make", "2027-01-15T08:00:01.5Z", ""),
    ("in the same second", "make", "make", "2027-01-15T08:00:00.001Z", ""),
    ("before", "make", "make", "2027-01-15T07:59:59.999Z", BEFORE), ("at no known time", "make", "make", ..., BEFORE),
    ("behind cd", "make", "cd a && make", SINCE, ""), ("behind another command", "make", "ls && make", SINCE, NEVER),
    ("a list of two", "make && ls", "make && ls", SINCE, SIMPLE),
    ("behind cd and another command", "make", "cd a && ls && make", SINCE, NEVER),
    ("a substitution", "make $A", "make $A", SINCE, SIMPLE), ("a backtick", "make `a`", "make `a`", SINCE, SIMPLE),
    ("an input", "make <a", "make <a", SINCE, SIMPLE), ("nothing", " ", " ", SINCE, SIMPLE),
    ("a no-op", "echo a", "echo a", SINCE, PROVES), ("a filter", "cat a", "cat a", SINCE, PROVES),
    ("a dry run", "make --dry-run", "make --dry-run", SINCE, PROVES), ("another command", "make", "ls", SINCE, NEVER)))
def test_a_command_ran_well(command, ran, when, why):
    call = used("Bash", command=ran)
    if when is not ...:
        call["timestamp"] = when
    before = used("Read", "8", command="make"), result("8"), used("Bash", "9"), result("9")
    assert sc.ran_well(transcript(*before, call, result()), command, SINCE) == why
    assert sc.ran_well([], "make", SINCE) == NEVER


# --- reading: display text ------------------------------------------------------------------------

@pytest.mark.parametrize("text, said", rows(
    ("a fence", "a\n```\nb\n```\nc", "a\n___\n_\n___\nc"), ("tildes", "a\n~~~py\nb\n~~~\nc", "a\n_____\n_\n___\nc"),
    ("a fence in a longer fence", "a\n````\n```\nb\n````\nc", "a\n____\n___\n_\n____\nc"),
    ("a quotation", "> q\n  > r\na", "___\n_____\na"), ("a quotation behind a colon", "see: > q\nx", "see:____\nx"),
    ("a bare fence that nothing closes", "a\n```\nb", "a\n___\nb"),
    ("a fence with a language that nothing closes", "a\n```py\nb", "a\n_____\n_"),
    ("words behind the closing marks close nothing", "```x\na\n``` b\nc", "____\n_\n_____\n_"),
    ("an indented fence", "   ```\nx\n   ```\ny", "______\n_\n______\ny"),
    ("a fence behind an odd blank", "\u00a0```\na", "\u00a0```\na"), ("an X before a fence", "X```\na", "X```\na"),
    ("blanks behind the closing marks", "```x\na\n```  \nb", "____\n_\n_____\nb"),
    ("two quotations behind colons", "a: > b: > c", "a:_________"),
    ("one mark more closes too", "```x\na\n````\nb", "____\n_\n____\nb"),
    ("a second fence", "```x\na\n```\nb\n~~~y\nc\n~~~\nd", "____\n_\n___\nb\n____\n_\n___\nd"),
    ("a first line that is bare and a fence that nothing closes", "```\n```\nb\n```py\nc", "___\n___\nb\n_____\n_"),
    ("a quotation inside a fence", "```\n> q\n```\na", "___\n___\n___\na"),
    ("a draft between rules", "Draft:\n---\nhello\n---\nend", "Draft:\n___\n_____\n---\nend"),
    ("blanks behind the colon", "Reply: \n\n***\nhello\n***\nend", "Reply: \n\n___\n_____\n***\nend"),
    ("an empty draft", "Draft:\n---\n---\nend", "Draft:\n___\n---\nend"),
    ("a rule that no other closes", "Draft:\n---\nhello", "Draft:\n---\nhello"),
    ("two signs are no rule", "Draft:\n--\nhello\n--", "Draft:\n--\nhello\n--"),
    ("letters are no rule", "Draft:\nXXX\nhello\nXXX", "Draft:\nXXX\nhello\nXXX"),
    ("text between the lead and the rule", "Draft:\nmore\n---\nhello\n---", "Draft:\nmore\n---\nhello\n---"),
    ("no draft at all", "Result:\n---\nhello\n---", "Result:\n---\nhello\n---"),
    ("as long as a draft may be", "Draft:\n---\n" + "a\n" * 58 + "---", "Draft:\n___\n" + "_\n" * 58 + "---"),
    ("longer than a draft may be", "Draft:\n---\n" + "a\n" * 59 + "---", "Draft:\n---\n" + "a\n" * 59 + "---")))
def test_fences_and_quotations_are_set_aside(text, said):
    assert shown(sc.unfenced(text)) == said


@pytest.mark.parametrize("text, said", rows(
    ("code", "a `b` c", "a ___ c"), ("a quotation", 'he said "stop now" x', "he said __________ x"),
    ("single quotes", "he said 'stop now' x", "he said __________ x"),
    ("single quotes at the start", "'stop now' x", "__________ x"),
    ("apostrophes", "don't and can't", "don't and can't"),
    ("a comment over lines", "a <!-- b\nc --> d", "a ______\n_____ d"),
    ("curled quotes", "x \u201cy\u201d z", "x ___ z")))
def test_what_is_shown_is_set_aside(text, said):
    assert shown(sc.display(text)) == said


@pytest.mark.parametrize("text, cleaned", rows(
    ("case, emphasis, space", "  A  *b*\n  c", "a b c"), ("a new sentence keeps its line", "A\nB", "a\nb"),
    ("entries keep their lines", "- a\n- b", "- a\n- b"), ("a wrapped entry is joined", "- a\n- b\nc", "- a\n- b c"),
    ("curled apostrophes", "a\u2019s \u2018x", "a's 'x"), ("double underscores", "__x__ a_b", "x a_b"),
    ("what is set aside is one character", MARK * 3 + "a" + MARK * 2, MARK + "a" + MARK),
    ("a wrapped line of one letter and a sign", "A\nb! c", "a b! c"),
    ("of one letter and a capital", "A\nbC d", "a bc d"), ("an X is no mark", "Xa", "xa"),
    ("the marks of a heading", "## Head", "head"), ("an arrow", "\u2192 x", "x"), ("a bullet", "- x", "x")))
def test_a_unit_is_cleaned(text, cleaned):
    assert sc.clean(text) == cleaned


@pytest.mark.parametrize("line, item", [
    ("- a", True), ("* a", True), ("\u2022 a", True), ("-", False), ("- ", False), ("-- a", False), ("a) x", True),
    ("3. x", True), ("3.", False), ("12) x", True), ("999. x", True), ("1234. x", False), ("ab. x", False),
    ("(a) x", True), ("1\u3001x", True), ("12\u3001x", True), ("a\u3001x", False), ("abc\u3001x", False),
    ("1\u20e3 x", True), ("x\u20e3 x", False), ("x", False), ("x y", False), ("\u2610 a", True),
    ("X) y", True), ("X. y", True), ("123\u3001x", False), ("**1.** a", True), ("**a)** b", True), ("**A** b", False)])
def test_a_line_is_an_item(line, item):
    assert sc.is_item(line) is item


@pytest.mark.parametrize("line, kind", [
    ("", "blank"), (" \t", "blank"), (MARK + MARK, "aside"), (" " + MARK + " ", "aside"), ("---", "rule"),
    ("* * *", "rule"), ("\u2500\u2501", "rule"), ("# a", "heading"), ("### a", "heading"), ("#a", "prose"),
    ("| a |", "table"), ("- a", "item"), ("**A**", "heading"), ("**A**:", "heading"), ("**A**\uff1a", "heading"),
    ("**A** b **C**", "prose"), ("**A** b", "prose"), ("A **b**", "prose"), ("**" + "x" * 115 + "**", "heading"),
    ("**" + "x" * 116 + "**", "prose"), ("prose", "prose"),
    ("X", "prose"), ("#X y", "prose"), ("**a**X", "prose"), ("**1. A**", "heading"), ("**1.** a", "item")])
def test_a_line_is_of_a_kind(line, kind):
    assert sc.line_kind(line) == kind


def pieces(text, spans):
    return [text[a:b] for a, b in spans]


def test_a_text_falls_into_blocks():
    text = f"# H\nProse one\nwraps.\n\n- a\n  b\n- c\nnot wrapped\n| x |\n| y |\n\n---\n{MARK}"
    blocks = sc.blocks_of(text)
    assert [(kind, text[a:b]) for kind, a, b in blocks] == [
        ("heading", "# H"), ("prose", "Prose one\nwraps."), ("item", "- a\n  b"), ("item", "- c"),
        ("prose", "not wrapped"), ("table", "| x |\n| y |"), ("rule", "---"), ("aside", MARK)]
    assert [kind for kind, _, _ in sc.blocks_of("a\n\nb")] == ["prose", "prose"]
    assert [kind for kind, _, _ in sc.blocks_of("# a\nb\n# c\n# d")] == ["heading", "prose", "heading", "heading"]
    assert sc.blocks_of("- a\n\tb") == [("item", 0, 6)]
    assert [kind for kind, _, _ in sc.blocks_of("- a\nX b")] == ["item", "prose"]


@pytest.mark.parametrize("text, found", [
    ("One. Two! Three", ["One.", "Two!", "Three"]), ("v1.2 is e.g. fine. Next", ["v1.2 is e.g. fine.", "Next"]),
    ("A.) b", ["A.)", "b"]), ("x\ny\nZ", ["x\ny", "Z"]), ('"Done." Then', ['"Done."', "Then"]),
    ("\u7b2c\u4e00\u3002\u7b2c\u4e8c", ["\u7b2c\u4e00\u3002", "\u7b2c\u4e8c"]), ("... a", ["a"]),
    ("Ends (here.) ok", ["Ends (here.)", "ok"]), ("See (e.g. this). B", ["See (e.g. this).", "B"]), ("a.b.", ["a.b."]),
    ("A?\n\nB", ["A?", "B"]), ("a\n\u00a0b", ["a", "b"]), ("a\nXb", ["a", "Xb"]),
    ("a\nbX", ["a\nbX"]), ("XXX. b", ["XXX.", "b"]), ("Is it no? Go", ["Is it no?", "Go"]), ("Xe.g. a", ["Xe.g.", "a"]),
    ("So\u2026 b", ["So\u2026", "b"]), ("!!! ???", []), ("a! " + MARK, ["a!", MARK]),
    ('A.""") b', ['A.""")', "b"]), ('A."""") b', ['A."""") b']), ("a\n  b", ["a\n  b"]),
    ("Use X now.", ["Use X now."]), ("See (e.g.) this. b", ["See (e.g.) this.", "b"])])
def test_a_text_falls_into_sentences(text, found):
    assert pieces(text, sc.sentences_of(text, 0, len(text))) == found


def test_the_sentences_of_a_part_are_those_within_it():
    assert sc.sentences_of("One. Two. Three.", 4, 9) == [(5, 9)]
    assert [sc.ends_here("a. b", 1, 0, 2), sc.ends_here("a.b", 1, 0, 3), sc.ends_here("a.b", 1, 0, 2)] == [2, 0, 2]


LAYOUT = "Intro.\n\nLead:\n- a\n- b\n\nTail one. Tail two."


def units(text):
    """{scope: the texts of its units}, the empty ones left out."""
    found = sc.units_by_scope(text, sc.structure(text))
    return {scope: pieces(text, spans) for scope, spans in found.items() if spans}


def test_a_layout_has_its_shape():
    assert sc.structure(LAYOUT) == {
        "blocks": [("prose", 0, 6), ("prose", 8, 13), ("item", 14, 17), ("item", 18, 21), ("prose", 23, 42)],
        "sentences": [(0, 6, 0), (8, 13, 1), (14, 17, 2), (18, 21, 3), (23, 32, 4), (33, 42, 4)],
        "lists": [(1, 3)], "prose": [0, 1, 4]}
    assert sc.structure("- a\n\n## H\n- b\n\n| c |\n- d")["lists"] == [(0, 0), (1, 2), (4, 4)]


def test_each_scope_has_its_units():
    all_of_it = ["Intro.", "Lead:", "- a", "- b", "Tail one.", "Tail two."]
    assert units(LAYOUT) == {
        "final": ["Tail two."], "last": ["Tail two."], "paragraph": ["Tail one.", "Tail two."],
        "closing": ["Tail one.", "Tail two."], "ending": all_of_it, "anywhere": all_of_it, "lead-in": ["Lead:"],
        "list": ["Lead:\n- a\n- b"], "last-list": ["Lead:\n- a\n- b"], "parts": ["Lead:\n- a\n- b"]}


def test_a_list_at_the_end_has_its_lead_among_the_last():
    found = units("A.\n\nB.\n\nC.\n\n## Left\n- a\n- b")
    assert found["final"] == ["- b"] and found["last"] == ["- b", "## Left"] and found["heading"] == ["## Left"]
    assert found["lead-in"] == ["## Left"] and found["last-list"] == ["## Left\n- a\n- b"]
    assert found["paragraph"] == ["C."] and found["closing"] == ["C.", "## Left", "- a", "- b"]
    assert "whole" not in found and units("- a\n- b")["last"] == ["- b"]
    assert units("- a\n- b")["closing"] == ["- a", "- b"] and units("- a")["last-list"] == ["- a"]
    assert units("# H\n\nA.\n\nB.\n\nC.")["ending"] == ["A.", "B.", "C."]


def test_the_ending_is_three_paragraphs():
    found = units("P1.\n- a\n\nP2.\n\nP3.\n\nP4.")
    assert found["ending"] == ["P2.", "P3.", "P4."] and found["closing"] == ["P4."]
    assert found["list"] == ["P1.\n- a"] and "last-list" not in found


@pytest.mark.parametrize("text, whole", rows(
    ("one sentence", "Let me look.", "Let me look."), ("three", "One. Two. Three.", "One. Two. Three."),
    ("four", "One. Two. Three. Four.", None),
    ("a list", "A:\n- b", None), ("nothing", "", None), ("a text of 320", "x" * 320, "x" * 320),
    ("a text of 321", "x" * 321, None), ("a table", "| a |", None)))
def test_a_short_message_is_one_unit(text, whole):
    assert units(text).get("whole") == (whole and [whole])


def test_a_table_is_a_part():
    assert units("| a |\n| b |") == {"parts": ["| a |\n| b |"]}


@pytest.mark.parametrize("needs, text, found", rows(
    ("one of two", "a|b", "xb", True), ("none of two", "a|b", "x", False), ("one of each group", "a|b&c", "b c", True),
    ("a group without one", "a|b&c", "a b", False), ("at the start", "^ab", "abc", True),
    ("not at the start", "^ab", "cab", False), ("a sign inside", "a^", "a^", True)))
def test_literals_are_had(needs, text, found):
    assert sc.has(needs, text) is found


@pytest.mark.parametrize("needs, text, found", rows(
    ("one of two", "a|b", "xb", True), ("none of two", "a|b", "x", False), ("a pair", "a|b&c", "c b", True),
    ("half a pair", "a|b&c", "b", False), ("the other half", "b&c", "c", False)))
def test_literals_are_present(needs, text, found):
    assert sc.present(needs, text) is found


def test_the_tail_of_a_long_message_is_read():
    most = sc.READ_AT_MOST
    assert sc.tail_of("x" * most) == (0, "x" * most)
    assert sc.tail_of("ab\n" + "x" * most) == (3, "x" * most)
    assert sc.tail_of("x" * (most + 5)) == (5, "x" * most)
    lines = "a\n" + "b" * 10 + "\n" + "c" * (most - 5)
    assert sc.tail_of(lines) == (13, "c" * (most - 5))
    fenced = "```\n" + "b" * 10 + "\n" + "c" * (most - 5)
    offset, text = sc.tail_of(fenced)
    assert (offset, text) == (11, "```\n" + "c" * (most - 5))
    assert sc.tail_of("```\n```\n" + "b" * 10 + "\n" + "c" * (most - 5))[0] == 19
    assert sc.tail_of("a\n" + "x" * (most - 2)) == (0, "a\n" + "x" * (most - 2))
    assert sc.tail_of("b" * 10 + "\n" + "c" * 10 + "\n" + "d" * (most - 15))[0] == 11
    for gap, cut in ((most // 2 - 9, most // 2), (most * 5 // 12, most * 5 // 12 + 9), (most * 3 // 4, 8)):
        # A line that begins within the first half of what is read begins the reading.
        text = "x" * (8 + gap) + "\n" + "y" * (most - gap - 1)
        assert sc.tail_of(text)[0] == cut
    assert sc.tail_of("q" * most + "\n" + "x" * (most - 10))[0] == most + 1


# --- reading: rules over a message ----------------------------------------------------------------

SEVEN = "One. Two. Three. Four. Five. Six.\n\nLead:\n- a\n- b\n\nTail."


@pytest.mark.parametrize("hit, scope, looked_at", rows(
    ("the message", "Three.", "message", SEVEN), ("the ending", "Three.", "ending", SEVEN),
    ("the sentences near it", "Three.", "near", "One. Two. Three. Four."),
    ("near the end there is nothing behind it", "Tail.", "near", "- a\n- b\n\nTail."),
    ("near the third one", "Four.", "near", "Two. Three. Four. Five."),
    ("near the first one", "One.", "near", "One. Two."),
    ("the list that it stands in", "- b", "list", "Lead:\n- a\n- b"),
    ("the list from its lead", "Lead:", "list", "Lead:\n- a\n- b"),
    ("outside a list its paragraph", "Three.", "list", "One. Two. Three. Four. Five. Six."),
    ("itself", "Three.", "own", "Three.")))
def test_an_excuse_looks_around_a_hit(hit, scope, looked_at):
    reading = sc.Reading(SEVEN)
    start = SEVEN.index(hit)
    a, b = reading.around((start, start + len(hit)), scope)
    assert SEVEN[a:b] == looked_at


def test_sentences_that_touch_are_told_apart():
    text = "\u4e00\u3002\u4e8c\u3002\u4e09\u3002\u56db\u3002\u4e94\u3002"
    a, b = sc.Reading(text).around((4, 6), "near")
    assert (a, b) == (0, 8)


def test_around_what_has_no_ending_it_is_itself():
    assert sc.Reading("| a |").around((2, 3), "ending") == (2, 3)
    assert sc.Reading("a. b").around((100, 101), "near") == (100, 101)


def rule(name, family, needs, pattern="", unless="", scope="anywhere"):
    return name, family, scope, ((needs, pattern),), unless, "says so"


def excuse(name, kind, needs, pattern="", scope="own"):
    return name, kind, scope, ((needs, pattern),)


def test_a_rule_finds_its_units_from_the_end():
    reading = sc.Reading("An a. No b? An a too? Ok.")
    texts = lambda row: pieces(reading.text, reading.find(row))     # noqa: E731
    assert texts(rule("r", "menu", "a")) == ["An a too?", "An a."]
    assert texts(rule("r", "menu", "a", scope="anywhere?")) == ["An a too?"]
    assert texts(rule("r", "menu", "^no b|ok")) == ["Ok.", "No b?"]
    assert texts(rule("r", "menu", "a", scope="nowhere")) == [] and texts(rule("r", "menu", "x")) == []
    assert texts(rule("r", "menu", "a", r"^an a\W$")) == ["An a."]


def test_a_pattern_is_compiled_once_with_its_shared_parts(monkeypatch):
    monkeypatch.setattr(sc, "COMPILED", {})
    assert sc.search("^all {done}$", "all ported") and not sc.search("^all {done}$", "all open")
    assert sc.search("a{2}", "aa") and not sc.search("a{2}", "a") and sc.search("b", "ab")
    assert list(sc.COMPILED) == ["^all {done}$", "a{2}", "b"]
    monkeypatch.setitem(sc.COMPILED, "b", lambda unit: None)
    assert not sc.search("b", "ab")


def judged(text, rules, excuses=(), calls=None, whole=True):
    hits, excused, advisory = sc.judge(sc.Reading(text), rules, excuses, calls, whole)
    return [hit[0] for hit in hits], [(hit[0], hit[4]) for hit in excused], [hit[0] for hit in advisory]


def test_rules_are_judged_over_a_message():
    asks, goes, left = (rule(name, name, need) for name, need in (
        ("permission", "a"), ("continuing", "b"), ("remaining", "c")))
    text = "An a. A b. A c."
    assert judged(text, (asks, goes, left)) == (["permission"] * 3 + ["continuing", "remaining"], [], [])
    assert judged(text, (asks, goes, left), whole=False) == (["continuing"], [], [])
    assert judged(text, (asks, left), whole=False)[0] == ["permission"] * 3 + ["remaining"]
    assert judged("a. " * 30, (asks,))[0] == ["permission"] * 20
    both = judged("a. " * 30 + "b", (asks, goes))[0]
    assert both == ["permission"] * 20 + ["continuing"]


def test_a_weak_rule_advises_unless_a_turn_without_calls_goes_on():
    weak = rule("continuing.intent", "continuing", "a")
    bare = rule("remaining.bare-count", "remaining", "a")
    assert judged("An a.", (weak, bare)) == ([], [], ["continuing.intent", "remaining.bare-count"])
    assert judged("An a.", (weak, bare), calls=0) == (["continuing.intent"], [], ["remaining.bare-count"])
    assert judged("An a.", (weak, bare), calls=1) == ([], [], ["continuing.intent", "remaining.bare-count"])


def test_the_first_excuse_that_a_rule_names_counts():
    hit = rule("r", "menu", "a", unless="mine group")
    other, first, second = excuse("other", "x", "a"), excuse("mine", "x", "a"), excuse("group.one", "x", "a")
    assert judged("An a.", (hit,), (other, first, second)) == ([], [("r", "mine")], [])
    assert judged("An a.", (hit,), (other, second)) == ([], [("r", "group.one")], [])
    assert judged("An a.", (hit,), (other, excuse("x", "mine", "a"))) == (["r"], [], [])
    assert judged("An a.", (hit,), (excuse("mine", "x", "z"),)) == (["r"], [], [])


def lifted(text, hits, excuses):
    return sc.lifted(sc.Reading(text), hits, [], excuses)


def test_a_blocker_lifts_what_only_asks():
    asks, goes = ("r", "permission", 0, 1), ("s", "continuing", 0, 1)
    blocker, waits = excuse("blocker.key", "blocker", "key"), excuse("waits.ci", "waits", "ci")
    assert lifted("The key.", [asks, goes], (blocker, waits)) == ([goes], [("r", "permission", 0, 1, "blocker.key")],
                                                                 "blocker.key", False)
    assert lifted("The key, the CI.", [asks], (waits, blocker)) == ([], [(*asks, "blocker.key")], "blocker.key", True)
    assert lifted("The key.", [], (blocker, waits)) == ([], [], "", False)
    assert lifted("For CI.", [], (blocker, waits)) == ([], [], "", True)
    assert lifted("For CI. Done.", [goes], (blocker, waits)) == ([goes], [], "", False)
    assert lifted("| ci |", [], (waits,)) == ([], [], "", True)


SAYS_NOTHING = {"hits": (), "excused": (), "advisory": (), "blocker": "", "waits": False}
ASKS, GOES = ("p.a", "permission"), ("continuing.intent", "continuing")


@pytest.mark.parametrize("text, more, said", rows(
    ("nothing", "Nothing.", {}, {}), ("no message", None, {}, {}),
    ("what asks", "Alpha.", {}, {"hits": ((*ASKS, 0, 6),)}),
    ("with an excuse", "Alpha, sorry.", {}, {"excused": ((*ASKS, 0, 13, "ex"),)}),
    ("with a person's excuse", "Alpha, pardon.", {}, {"excused": ((*ASKS, 0, 14, "who"),), "blocker": "who"}),
    ("with a blocker", "Alpha. Password.", {}, {"excused": ((*ASKS, 0, 6, "bl"),), "blocker": "bl"}),
    ("with a blocker and a person's excuse", "Alpha, pardon. Alpha. Password.", {}, {
        "excused": ((*ASKS, 0, 14, "who"), (*ASKS, 15, 21, "bl")), "blocker": "bl"}),
    ("a wait", "Waiting.", {}, {"waits": True}),
    ("a wait and a hit", "Waiting. Alpha.", {}, {"hits": ((*ASKS, 9, 15),)}),
    ("one's own", "Zap.", {"own": {"menu": ["zap"]}}, {"hits": (("own.menu", "menu", 0, 3),)}),
    ("advice", "Beta.", {}, {"advisory": ((*GOES, 0, 5),)}), ("of a turn without a call", "Beta.", {"calls": 0}, {
        "hits": ((*GOES, 0, 5),)}), ("a rule that is off", "Alpha.", {"off": ("p.a",)}, {}),
    ("a rule of a unit's first words alone", "Ok. Gamma.", {}, {"hits": (("p.c", "permission", 4, 10),)}),
    ("a curled apostrophe", "I\u2019ll.", {}, {"hits": (("p.d", "permission", 0, 5),)}),
    ("emphasis in the middle", "To *do*.", {}, {"hits": (("p.e", "permission", 0, 8),)}),
    ("at the end of a long message", "x" * sc.READ_AT_MOST + "\nAlpha.", {}, {
        "hits": ((*ASKS, sc.READ_AT_MOST + 1, sc.READ_AT_MOST + 7),)})))
def test_all_that_a_turn_end_says(text, more, said, monkeypatch):
    monkeypatch.setattr(sc, "RULES", (
        rule("p.a", "permission", "alpha", unless="ex who"), rule("continuing.intent", "continuing", "beta"),
        rule("p.c", "permission", "^gamma"), rule("p.d", "permission", "i'll"), rule("p.e", "permission", "to do")))
    monkeypatch.setattr(sc, "EXCUSES", (
        excuse("ex", "excuse", "sorry"), excuse("who", "person", "pardon"), excuse("bl", "blocker", "password"),
        excuse("w", "waits", "waiting")))
    assert sc.read_turn(text, **more) == {**SAYS_NOTHING, **said}


def test_what_nothing_can_lift_is_looked_for_first():
    asks, goes = rule("a", "permission", "a"), rule("b", "continuing", "b")
    assert judged("An a. A b.", (asks, goes), whole=False)[0] == ["b"]


def test_phrases_of_one_s_own_hit_where_they_stand_last():
    reading = sc.Reading("Parked it. PARKED it now")
    assert list(sc.own_hits(reading, {"permission": [" ", "Parked it"], "menu": ["gone"], "x": ["now"]})) == [
        ("own.permission", "permission", 11, 20)]
    assert list(sc.own_hits(sc.Reading("ab"), {"menu": ["ab"]})) == [("own.menu", "menu", 0, 2)]
    assert list(sc.own_hits(reading, None)) == []


# --- reading: a prompt ----------------------------------------------------------------------------

@pytest.mark.parametrize("text, part", rows(
    ("a person's", " stop ", " stop "), ("a machine's", "  Stop hook feedback\nx", ""),
    ("a tag and nothing else", "<system-reminder>x</system-reminder>", ""),
    ("a tag inside", "a <system-reminder>b\nc</system-reminder> d", "a" + " " * 19 + "\n" + " " * 20 + "d"),
    ("a tag that does not close", "a <system-reminder>b", "a" + " " * 19),
    ("two tags", "<command-name>/x</command-name><command-args>y</command-args>z", " " * 61 + "z"),
    ("the same tag twice", "<bash-input>a</bash-input>b<bash-input>c</bash-input>d", " " * 26 + "b" + " " * 26 + "d"),
    ("a tag of a person's", "<b>a</b>", "<b>a</b>"),
    ("three tags", "<bash-input>a</bash-input>b<bash-input>c</bash-input>d<bash-input>e</bash-input>",
     " " * 26 + "b" + " " * 26 + "d" + " " * 26),
    ("a tag that was closed before", "</bash-input> a <bash-input>b", "</bash-input> a" + " " * 14),
    ("an interruption behind spaces", "  [Request interrupted by user] a[0]", " " * 32 + "a[0]"),
    ("an interruption", "[Request interrupted by user] stop", " " * 30 + "stop"),
    ("an interruption in words", "a [Request interrupted by user] b", "a [Request interrupted by user] b")))
def test_the_human_part_of_a_prompt(text, part):
    assert sc.human_part(text) == part


@pytest.mark.parametrize("text, command", [
    ("contract: stop", ("stop",)), ("/contract", ("status",)), ("/contract stop", ("stop",)), ("/contractor stop", ()),
    ("/contract:stop", ("stop",)), ("contract:", ("status",)), ("Contract: STOP!", ("stop",)), ("contracts", ()),
    ("contract\uff1a pause", ("pause",)), ("contract: arm until the suite is green", ("arm", "the suite is green")),
    ("contract: arm TILL it is", ("arm", "it is")), ("contract: arm unless it is", ("arm", "it is")),
    ("contract: arm The suite", ("arm", "The suite")), ("contract: arm", ("arm", "")), ("contract: disarm", ("stop",)),
    ("contract: frob now", ("?", "frob")), ("contract: " + "x" * 50, ("?", "x" * 40)),
    ("contract: resume\nand more", ("resume",)), ("  contract: away ", ("away",)), ("my contract: stop", ()),
    ("\uff43ontract: stop", ("stop",)), ("/contract: status.", ("status",)),
    ("contract: \u201cstop\u201d", ("?", "\u201cstop\u201d")), ("contract: Xray", ("?", "Xray")),
    ("contract: arm it works\nand more", ("arm", "it works"))])
def test_the_language_free_form_is_read(text, command):
    assert sc.read_command(text) == command


@pytest.mark.parametrize("text, found", [
    ("keep going for two hours", ("for", 7200)), ("for 1.5 hours", ("for", 5400)), ("for 90 minutes", ("for", 5400)),
    ("for half an hour", ("for", 1800)), ("for an hour", ("for", 3600)), ("\u4e24\u5c0f\u65f6", ("for", 7200)),
    ("until 18:00", ("until", "18:00")), ("until 6pm", ("until", "18:00")), ("until 6 pm", ("until", "18:00")),
    ("until 7:30 am", ("until", "07:30")), ("until 12am", ("until", "00:00")), ("until 12pm", ("until", "12:00")),
    ("until noon", ("until", "12:00")), ("until midnight", ("until", "00:00")),
    ("until 8", None), ("until 23:59", ("until", "23:59")),
    ("until 24:00", None), ("until 18:60", None), ("all day", None), ("until it is green", None)])
def test_a_budget_is_read(text, found):
    if text == "until 8":
        found = sc.budget("until 8 o'clock", (0, 15, 15))
    assert sc.budget(text, (0, len(text), len(text))) == found


@pytest.mark.parametrize("word, number", [("2", 2), ("1,5", 1.5), ("1.5", 1.5), ("two", 2), ("half", .5), ("x", 0)])
def test_a_number_is_read(word, number):
    assert sc.number_of(word) == number


@pytest.mark.parametrize("text, asks", [
    ("why?", True), ("can you fix it?", False), ("could you?", False), ("what is left", True), ("fix it", False),
    ("fix it. why?", True), ("is it done? ", True), ("hold on, why?", True), ("ok so what is it", True),
    ("\u4f60\u597d\u5417", True), ("", False), ("please can you stop?", False), ("where are we", True),
    ("tell me. what is left", False), ("will it", True), ("will you", False), ("why? fix it", False),
    ("ok, so, what is it", True), ("what is the name of the file that they said would be in the folder of logs", True),
    ("do you like it", True), ("can you tell me the name", True), ("can you please explain it", True),
    ("would you fix it?", False), ("will you fix it?", False), ("\u4f60\u597d\u5417 ", True),
    ("\u600e\u4e48\u529e\u5462", True), ("\u3067\u304d\u307e\u3059\u304b", True), ("\ud560\uae4c", True)])
def test_a_prompt_is_a_question(text, asks):
    low = sc.judged(text)
    assert sc.is_question(low, sc.sentences(low)) is asks


@pytest.mark.parametrize("text, found", [
    ("a. b", [(0, 1, 2), (2, 4, 4)]), ("a.b", [(0, 3, 3)]), ("a... b", [(0, 1, 4), (4, 6, 6)]),
    ("a! b? c", [(0, 1, 2), (2, 4, 5), (5, 7, 7)]), ("a; b", [(0, 1, 2), (2, 4, 4)]), ("a;b", [(0, 3, 3)]),
    ("a\nb", [(0, 1, 2), (2, 3, 3)]), (" \n ", []), ("", []), ("a\u3002b", [(0, 1, 2), (2, 3, 3)]),
    ("a.) b", [(0, 1, 2), (2, 5, 5)]), ("\u2026a", [(1, 2, 2)]), ("a..b", [(0, 1, 3), (3, 4, 4)]), ("a.", [(0, 1, 2)]),
    ("a;) b", [(0, 5, 5)]), ("a?\u4e00", [(0, 1, 2), (2, 3, 3)])])
def test_a_prompt_falls_into_sentences(text, found):
    assert sc.sentences(text) == found


OWN = {"arm": ["Full steam", " "], "disarm": ["basta"]}


@pytest.mark.parametrize("text, gated, own, found", rows(
    ("as whole words", "go full steam!", True, OWN, [("own.arm", "arm", 3, 13, 3)]),
    ("at the start", "full steam", False, OWN, [("own.arm", "arm", 0, 10, 0)]),
    ("inside a longer word", "full steamer", True, OWN, []),
    ("behind a longer word", "awful full steamer", True, OWN, []),
    ("glued at the front", "xfull steam", True, OWN, []),
    ("once inside and once whole", "full steamer, full steam", True, OWN, [("own.arm", "arm", 14, 24, 14)]),
    ("twice", "full steam, full steam", True, OWN, [("own.arm", "arm", 0, 10, 0)]),
    ("once inside and twice whole", "xbasta basta basta", True, OWN, [("own.disarm", "disarm", 7, 12, 7)]),
    ("a release without a contract", "basta", False, OWN, []),
    ("a release with one", "basta", True, OWN, [("own.disarm", "disarm", 0, 5, 0)]),
    ("without word boundaries", "\u7ee7\u7eed\u5427", True, {"arm": ["\u7ee7\u7eed"]}, [("own.arm", "arm", 0, 2, 0)]),
    ("no phrases", "full steam", True, None, [])))
def test_a_phrase_of_one_s_own_is_found(text, gated, own, found):
    assert sc.own_phrases(text, gated, own) == found


@pytest.mark.parametrize("text, low", [
    ("ABC", "abc"), ("\uff21\uff22\u3000x\u00a0\u2019\u2018\u02bc", "ab x '''"), ("\u0130X", "\u0130x"),
    ("\u00c4" + MARK, "\u00e4" + sc.SHOWN), ("\uff5e", "~"), ("\uff5f", "\uff5f"), ("\uff01", "!")])
def test_a_text_in_plain_letters_is_as_long_as_before(text, low):
    assert sc.plain(text) == low and len(low) == len(text)


def test_a_condition_is_one_short_line():
    assert sc.shortened("a  b\n c ,:;") == "a b c" and sc.shortened("a X, ") == "a X"
    assert sc.shortened("x" * 200) == "x" * 200 and sc.shortened("x" * 201) == "x" * 199 + "\u2026"
    assert sc.shortened("x" * 100 + " " + "y" * 200) == "x" * 100 + "\u2026"
    assert sc.shortened("word " * 100) == ("word " * 39).strip() + "\u2026"


@pytest.mark.parametrize("text, condition", rows(
    ("put first", "Until the tests pass, don't stop.", "the tests pass"),
    ("put first, in two halves", "Until the tests pass and the docs build, please don't stop.",
     "the tests pass and the docs build"),
    ("put first without a comma", "Work until it is done and don't stop", "it is done"),
    ("a list that is put first", "Until a, b and c pass, don't stop.", "a, b and c pass"),
    ("before a stop", "All must be green before you stop, and look around before you begin.", "All must be green"),
    ("twice before a stop", "All must be green before you ask or before you stop.",
     "All must be green before you ask or"),
    ("a connective only as a part of a word", "Don't stop, beforehand or not. It ran until six.", ""),
    ("two connectives", "Keep working, only stop when all is green before noon.", "all is green before noon"),
    ("two of the same", "Don't stop until all is green, unless it burns.", "all is green, unless it burns"),
    ("noon is no condition", "Don't stop until noon.", ""), ("nor is midnight", "Don't stop until midnight.", ""),
    ("nor is a time", "Don't stop until 18:00.", ""),
    ("a number is one", "Don't stop until 5 of them pass.", "5 of them pass"),
    ("a time after a time", "Work on it for 2 hours, don't stop until noon.", "noon"),
    ("what follows", "Don't stop until it works, then report.", "it works"),
    ("put first, and courtesy behind the order", "Until it works, don't stop, please.", "it works"),
    ("Japanese", "\u5168\u90e8\u901a\u308b\u307e\u3067\u7d9a\u3051\u3066", "\u5168\u90e8\u901a\u308b"),
    ("Japanese behind two commas", "a\u3001b\u3001\u5168\u90e8\u901a\u308b\u307e\u3067\u7d9a\u3051\u3066",
     "\u5168\u90e8\u901a\u308b"),
    ("Japanese with commas behind it",
     "\u5168\u90e8\u901a\u308b\u307e\u3067\u3001\u7d9a\u3051\u3066\u3001\u983c\u3080", "\u5168\u90e8\u901a\u308b"),
    ("German", "H\u00f6r nicht auf bis alles gr\u00fcn ist.", "alles gr\u00fcn ist"),
    ("Japanese behind another sentence", "a\u3001b\u3002\u5168\u90e8\u901a\u308b\u307e\u3067\u7d9a\u3051\u3066",
     "\u5168\u90e8\u901a\u308b"),
    ("Japanese, and a time in another sentence",
     "\u6b62\u307e\u3089\u306a\u3044\u3067\u3002\u660e\u65e5\u307e\u3067\u306b\u9023\u7d61\u3059\u308b", ""),
    ("Chinese behind the order",
     "\u4e0d\u8981\u505c\uff0c\u76f4\u5230\u5168\u90e8\u901a\u8fc7\uff0c\u7136\u540e\u6c47\u62a5",
     "\u5168\u90e8\u901a\u8fc7"),
    ("a dash in another sentence", "Don't stop until the token works. It helps - really.", "the token works"),
    ("Chinese", "\u76f4\u5230\u5168\u90e8\u901a\u8fc7,\u4e0d\u8981\u505c", "\u5168\u90e8\u901a\u8fc7")))
def test_a_condition_is_found(text, condition):
    heard = sc.read_prompt(text, False)
    assert heard["intent"] == "arm" and heard["condition"] == condition


@pytest.mark.parametrize("text, entries", rows(
    ("a list", ":\n- port a\n- port b", ("port a", "port b")), ("numbers", ":\n1. a\n2) b", ("a", "b")),
    ("a space behind the colon", ": \n- a", ("a",)), ("an empty line before it", ":\n\n- a", ("a",)),
    ("no colon", "\n- a", ()), ("boxes", ":\n- [ ] a\n- [x] b\n- [X] c\n* d", ("a", "d")),
    ("an entry of two lines", ":\n- a\n b\n\tc\n- d", ("a b c", "d")), ("what follows it", ":\n- a\nX\n- b", ("a",)),
    ("the second line of a ticked entry", ":\n- [x] a\n  b\n- c", ("c",)), ("no list at all", ":\n a\n- b", ()),
    ("an empty line within", ":\n- a\n\n- b", ("a", "b")),
    ("too long a list", ":" + "\n- a" * 101, ("a",) * 100)))
def test_the_entries_of_a_list_are_items(text, entries):
    text = "Don't stop until these are done" + text
    assert sc.items(text, sc.judged(text), sc.sentences(sc.judged(text))[0]) == entries


def test_a_condition_of_a_phrase_of_one_s_own_is_its_sentence_s():
    heard = sc.read_prompt("Until it works (all of it)! go on", False, {"arm": ["! go on"]})
    assert (heard["rule"], heard["condition"]) == ("own.arm", "it works (all of it)")
    heard = sc.read_prompt("!!!", False, {"arm": ["!!!"]})
    assert (heard["rule"], heard["condition"]) == ("own.arm", "")


@pytest.mark.parametrize("text, found", rows(
    ("nobody there, and all of it", "a b", [(0, 3)]), ("the other way round", "b a", [(0, 3)]),
    ("nobody there, and go on", "a d", [(0, 3)]), ("all of it, and persistence", "b c", [(0, 3)]),
    ("all of it, and go on", "b d", []), ("persistence, and go on", "c d", []), ("one kind twice", "a a", []),
    ("just close enough", "a" + " " * 199 + "b", [(0, 201)]), ("too far apart", "a" + " " * 200 + "b", []),
    ("the first pair counts", "a b c", [(0, 3)]), ("the earlier of two", "c a b", [(0, 3)]),
    ("at the beginning of a line", "x\na b", [(2, 5)])))
def test_two_kinds_of_cues_stand_close_together(text, found):
    import re
    spans = sc.cue_spans(re.compile("(a)|(b)|(c)|(d)"), text, sc.sentences(text))
    assert [(start, end) for _, start, end, _ in spans] == found


@pytest.mark.parametrize("text, gated, own, may", rows(
    ("a command", "  contract: status", False, None, True), ("a command of the plugin", "/contract", False, None, True),
    ("nothing", "rename it", True, None, False), ("a release without a contract", "enough", False, None, False),
    ("a release with one", "enough", True, None, True), ("one's own release", "zap", True, {"disarm": ["zap"]}, True),
    ("one's own release without a contract", "zap", False, {"disarm": ["zap"]}, False)))
def test_a_prompt_may_matter(text, gated, own, may):
    assert sc.may_matter(text, gated, own) is may


def test_of_a_long_prompt_both_ends_are_read():
    head, tail = sc.READ_HEAD, sc.READ_TAIL
    whole = "a" * (head + tail)
    assert sc.ends_of(whole) == (whole, int)
    text, moved = sc.ends_of("a" * head + "b" * 1000 + "c" * tail)
    assert text == "a" * (head - 5) + "\n" * 5 + "c" * tail and len(text) == head + tail
    assert [moved(at) for at in (0, head - 1, head, head + 5)] == [0, head - 1, head + 1000, head + 1005]
    text, moved = sc.ends_of("a" * head + "b" * 500 + "\n```" + "b" * 496 + "c" * tail)
    assert text == "a" * (head - 5) + "\n```\n" + "c" * tail


HEAD, TAIL = sc.READ_HEAD, sc.READ_TAIL


@pytest.mark.parametrize("fences, odd", rows(
    ("none", (), False), ("one", (HEAD + 50,), True), ("two", (HEAD + 50, HEAD + 90), False),
    ("three", (HEAD + 50, HEAD + 90, HEAD + 130), True), ("one in the head", (10,), False),
    ("one at the head's end", (HEAD - 9,), False), ("one that is cut there", (HEAD - 8,), True),
    ("one in the tail", (HEAD + 600,), False), ("one that is cut there too", (HEAD + 599,), True),
    ("one in both ends", (10, HEAD + 700), False)))
def test_a_fence_in_what_is_left_out_of_a_long_prompt_is_put_back(fences, odd):
    text = list("a" * (HEAD + 600 + TAIL))
    for at in fences:
        text[at:at + 4] = "\n```"
    assert sc.ends_of("".join(text))[0][HEAD - 5:HEAD] == ("\n```\n" if odd else "\n" * 5)


def spans(scope, needs, text, pattern=""):
    """Where a rule of one's own holds in TEXT: [(start, end, where its pattern begins)]."""
    low = sc.judged(text)
    return [found[1:] for found in sc.rule_spans(("arm.x", scope, needs, pattern or needs, ""), low, sc.sentences(low))]


@pytest.mark.parametrize("scope, needs, text, found", rows(
    ("whole words only", "within", "stop", "nonstop", []),
    ("of CJK any place", "within", "\u505c", "x\u505c", [(1, 2, 1)]),
    ("each sentence once", "within", "go", "a. go. go", [(3, 5, 3), (7, 9, 7)]),
    ("in the first sentence", "first", "wait", "ok, wait", [(4, 8, 4)]),
    ("behind openers", "first", "wait", "ok. wait", [(4, 8, 4)]),
    ("not in the third", "first", "wait", "ok. so. wait", []),
    ("not behind another sentence", "first", "wait", "foo. wait", []),
    ("the whole prompt", "whole", "stop", "ok, stop!", [(4, 8, 4)]), ("not its end", "whole", "stop", "foo. stop", []),
    ("where a clause begins", "clause", "stop", "the stop, stop", [(10, 14, 10)]),
    ("where a sentence begins", "start", "stop", "the stop, stop", []),
    ("behind a verb", "go", "until", "continue until", [(0, 14, 9)]), ("without one", "go", "until", "jump until", []),
    ("nothing but verbs", "go", "work", "continue work", [(0, 13, 9)]),
    ("the verb itself", "go", "continue", "continue on", []),
    ("behind two spaces", "go", "until", "please  continue until", [(8, 22, 17)]),
    ("behind a comma", "go", "until", "ok, continue until", [(4, 18, 13)]),
    ("as far behind as it may", "go", "until", "continue " + "x" * 150 + " until", [(0, 165, 160)]),
    ("too far behind", "go", "until", "continue " + "x" * 151 + " until", [])))
def test_a_rule_holds_where_its_scope_says(scope, needs, text, found):
    assert spans(scope, needs, text) == found


def test_a_rule_of_the_whole_prompt_holds_at_its_last_group():
    assert spans("prompt", "go", "a. go. b", "(g)o") == [(3, 5, 3)] and spans("prompt", "go", "a. b", "(g)o") == []


@pytest.mark.parametrize("text, at, led", rows(
    ("openers all the way", "ok " * 30 + "wait", 90, True), ("not all the way", " " + "ok " * 30 + "wait", 91, False),
    ("the number of an entry", "1. wait", 3, True), ("with a bracket", "2) wait", 3, True),
    ("a letter", "x. wait", 3, False)))
def test_only_openers_lead_in(text, at, led):
    assert sc.led(text, 0, at, False) is led


@pytest.mark.parametrize("text, why", rows(
    ("a line of a log", "one\ntwo\n[12:00:01] keep going", "log"),
    ("an entry", "requirements:\n- keep going", "arm.list"),
    ("a number", "requirements:\n1. keep going", "arm.list"), ("a star", "requirements:\n* keep going", "arm.list"),
    ("a plus", "requirements:\n+ keep going", "arm.list"), ("a dot", "requirements:\n\u2022 keep going", "arm.list"),
    ("no entry", "requirements:\nkeep going", ""),
    ("further down", "build it.\n\nrequirements:\n- keep going", "arm.list"),
    ("told in the middle", "yesterday she told me to keep going", "arm.told"), ("an order", "keep going", "")))
def test_an_order_is_excused(text, why):
    at = text.find("keep going")
    part = next(part for part in sc.sentences(text) if part[0] <= at < part[2])
    assert sc.excuse_of("arm.keep-going", text, part, (at, at, at + 10), {}) == why


THREE = (("arm.x", "within", "go", "go", ""), ("arm.y", "within", "on", r"o\b|on", ""),
 ("disarm.z", "within", "on", "on", ""))


@pytest.mark.parametrize("text, found", rows(
    ("one sentence", "go on", ["arm.x 0", "disarm.z 3"]),
    ("a second without the word", "go on. it no", ["arm.x 0", "disarm.z 3"]),
    ("a second with the word", "go on. on it", ["arm.x 0", "arm.y 3", "arm.y 7", "disarm.z 3", "disarm.z 7"]),
    ("the word only in a second", "go. x on", ["arm.x 0", "arm.y 6", "disarm.z 6"]), ("nothing", "zero", [])))
def test_a_second_rule_of_an_intent_is_tried_where_it_adds_something(text, found):
    hits, excused = sc.find_hits(text, sc.sentences(text), THREE)
    assert [f"{rule} {start}" for rule, _, start, _, _ in hits] == found and excused == []


@pytest.mark.parametrize("text, gated, rules", rows(
    ("a stop word and a little more", "stop" + "x" * 195, True, "disarm.whole disarm.stop disarm.there"),
    ("a stop word and too much more", "stop" + "x" * 196, True, "disarm.stop disarm.there"),
    ("a word at the end of what is looked at first", "x" * 195 + "hold", True, "pause.hold-on"),
    ("a word behind it", "x" * 196 + "hold", True, ""), ("at a line's beginning", "until x", True, "arm.until"),
    ("behind white space", "\tuntil x", True, "arm.until"), ("a release without a contract", "stop", False, "")))
def test_the_rules_that_may_hold(text, gated, rules):
    assert " ".join(rule[0] for rule in sc.candidates(text, gated)) == rules


@pytest.mark.parametrize("text, low", rows(
    ("one quoted word", "'stop'", " stop "), ("curly", "\u201cstop\u201d", " stop "),
    ("of CJK", "\u300c\u505c\u300d", " \u505c "),
    ("plain", '"stop"', " stop "), ("two words", '"stop it"', "_" * 9), ("a digit first", '"5x"', "____"),
    ("a digit last", '"x5"', "____"), ("a long word", '"' + "a" * 57 + '"', " " + "a" * 57 + " "),
    ("too long a word", '"' + "a" * 58 + '"', "_" * 60), ("a table", "a\n| b | c |\nd", "a\n_________\nd"),
    ("a tag", "<a>x</a> y <a>z</a>", "____</a> y ____</a>"),
    ("a tag within", "<a><b>c</b></a> x </b>", "___________</a> x </b>"),
    ("a tag that was closed before", "</a> x <a>y</a>", "</a> x ____</a>"), ("an open tag", "<a>x", "<a>x")))
def test_what_is_only_shown_is_set_aside(text, low):
    assert sc.judged(text).replace(sc.SHOWN, "_") == low


@pytest.mark.parametrize("text, gated, said", rows(
    ("nothing", "rename it", True, {}), ("a command", "contract: stop", True, {
        "intent": "command", "command": ("stop",), "end": 14}),
    ("a release", "Please stop.", True, {"intent": "disarm", "rule": "disarm.whole", "start": 7, "end": 11}),
    ("what looked like an order", "the label says: keep going", False, {
        "excused": (("arm.keep-going", 16, 26, "arm.told"),)}),
    ("an order that is taken back", "Don't stop until it is green. Actually, stop.", True, {
        "intent": "disarm", "rule": "disarm.there", "start": 40, "end": 44})))
def test_all_that_a_prompt_means(text, gated, said):
    assert sc.read_prompt(text, gated) == {**sc.NOTHING_HEARD, **said}


@pytest.mark.parametrize("text, condition", rows(
    ("of two", "Keep going until A is done. Don't stop until B is done.", "B is done"),
    ("where the last order has none", "Keep going until A is done. Don't stop.", "A is done")))
def test_the_last_condition_of_a_prompt_counts(text, condition):
    assert sc.read_prompt(text, True)["condition"] == condition


def test_the_last_words_of_a_prompt_count():
    assert sc.read_prompt("go on and on", True, {"arm": ["go on and on"], "pause": ["and"]})["intent"] == "pause"


def test_of_one_s_own_rules_and_phrases():
    assert sc.read_prompt("stop", True, None, ("disarm.whole",))["rule"] == "disarm.stop"
    assert sc.read_prompt("zap", True, {"disarm": ["zap"]})["intent"] == "disarm"
    assert sc.read_prompt("zap", False, {"disarm": ["zap"]})["intent"] == ""


# --- deciding: the steps --------------------------------------------------------------------------

HITS = (("permission.x", "permission", 0, 1),)
OTHER = (("continuing.x", "continuing", 0, 1),)
RUN = {"file": "/s.json", "field": "state", "terminal": ["closed", "elevated"]}
ART = {"wanted": ["pr", "review"]}
UNMET = "unmet: pull request opened or formal review submitted since 2027-01-15T07:"
NOTHING = ("the operator is away; nothing is on the ledger: the next ready item comes first, a scheduled look only "
           "after that")
TASK = {"id": "b1", "type": "shell", "status": "running", "description": "the\n tests", "command": "make"}
WAITS = verdict("ALLOW-WAITING", wakes=("shell b1 the tests",), waits="shell b1", tickets=("b1",))


@pytest.mark.parametrize("step, given, wanted", rows(
    ("a notice of the client's", "step_host", case(stop={"message": "API Error: 529 overloaded"}),
     verdict("ALLOW-BLOCKER", "the client reports an error or a limit")),
    ("a notice of 299 characters", "step_host", case(stop={"message": "API Error" + "x" * 290}),
     verdict("ALLOW-BLOCKER", "the client reports an error or a limit")),
    ("a long message that begins like one", "step_host", case(stop={"message": "API Error" + "x" * 291}), None),
    ("no message", "step_host", case(), None),
    ("paused", "step_paused", case({"state": "paused"}), verdict("ALLOW-PAUSED")),
    ("not paused", "step_paused", case(), None),
    ("no plan mode", "step_plan", case({"prompt_mode": "plan"}), None),
    ("the operator's own plan mode", "step_plan", case({"prompt_mode": "plan"}, {"mode": "plan"}),
     verdict("ALLOW-PLAN", "the operator's own prompt was in plan mode")),
    ("the agent's plan mode", "step_plan", case((), {"mode": "plan"}),
     verdict("BLOCK", "plan mode was entered by the agent, not by the operator")),
    ("the agent's plan mode again", "step_plan", case({"plan_held": True}, {"mode": "plan"}),
     verdict("ALLOW-PLAN", "the agent entered plan mode by itself and stays there")),
    ("a budget that ends now", "step_budget", case({"spent_at": NOW}), verdict("ALLOW-BUDGET")),
    ("a budget that ends later", "step_budget", case({"spent_at": NOW + 1}), None),
    ("no budget", "step_budget", case(), None),
    ("nothing owed", "work_owes", case(), verdict("ALLOW-CLEAN")),
    ("an open item", "work_owes", case({"items": [entry(1)]}), None),
    ("a contradiction", "work_owes", case((), {"hits": HITS}), None),
    ("a blocker", "work_owes", case((), {"blocker": "blocker.key"}), verdict("ALLOW-BLOCKER", "blocker.key")),
    ("a wait that the client confirms", "work_owes", case({"check": "make"}, {"waits": True, "tasks": (TASK,)}), WAITS),
    ("a wait that it does not", "work_owes", case((), {"waits": True}), verdict("ALLOW-CLEAN")),
    ("a task that nothing waits for", "work_owes", case((), {"tasks": (TASK,)}), verdict("ALLOW-CLEAN")),
    ("the agent's own wait", "work_owes", case({"wait_for": "CI"}, {"tasks": (TASK,)}), WAITS),
    ("a check that has not run", "work_owes", case({"check": "make"}), verdict("CHECK")),
    ("a check that passes", "work_owes", case({"check": "make"}, (), {"check": (0, "x")}),
     verdict("ALLOW-MET", "checked: make exits 0.")),
    ("a check that fails", "work_owes", case({"check": "make"}, (), {"check": (2, "bad")}),
     verdict("BLOCK", "the operator's check make exits 2", output="bad")),
    ("a check that does not end", "work_owes", case({"check": "make " + "x" * 90}, (), {"check": (None, "")}),
     verdict("BLOCK", "the operator's check make " + "x" * 74 + "\u2026 ran out of time")),
    ("a claim", "work_owes", case({"claim": {"evidence": [
        {"kind": "url", "value": "x"}, {"kind": "file", "value": "y", "verified": True}]}}),
     verdict("ALLOW-MET", "claimed with url:x (self-attested), file:y (verified).")),
    ("a claim wanted once", "work_owes", case(settings={"claim": "once"}), verdict("BLOCK", UNCLAIMED)),
    ("a claim wanted once, asked before", "work_owes", case({"told": ["claim"]}, settings={"claim": "once"}),
     verdict("ALLOW-CLEAN", UNCLAIMED)),
    ("a claim wanted", "work_owes", case({"told": ["claim"]}, settings={"claim": "strict"}),
     verdict("BLOCK", UNCLAIMED)),
    ("a claim wanted without a condition", "work_owes", case({"condition": ""}, settings={"claim": "strict"}),
     verdict("ALLOW-CLEAN")),
    ("a weak sign", "work_owes", case((), {"advisory": (("a", "x"), ("b", "x"))}), verdict("ADVISORY", "a, b")),
    ("a question with an escalated item", "work_excuses", case(
        {"items": [entry(1, "escalated"), entry(2, "done"), entry(3, "escalated")]}, {"hits": HITS}),
     verdict("ALLOW-ESCALATED", "i1, i3")),
    ("another contradiction with an escalated item", "work_excuses", case(
        {"items": [entry(1, "escalated")]}, {"hits": HITS + OTHER}), None),
    ("an open item beside an escalated one", "work_excuses", case(
        {"items": [entry(1, "escalated"), entry(2)]}, {"hits": HITS}), None),
    ("an escalated item without a question", "work_excuses", case({"items": [entry(1, "escalated")]}), None),
    ("a question after a question", "work_excuses", case({"question": True}, {"hits": HITS}),
     verdict("ALLOW-DIALOGUE")),
    ("a question after a question and work", "work_excuses", case(
        {"question": True, "worked": True}, {"hits": HITS}), None),
    ("a question after an order", "work_excuses", case((), {"hits": HITS}), None),
    ("a wait over open items", "work_excuses", case({"items": [entry(1)]}, {"waits": True, "tasks": (TASK,)}), WAITS),
    ("a wait for the same task again", "work_excuses", case({"tickets": ["b1"]}, {
        "hits": OTHER, "waits": True, "tasks": (TASK,)}), None),
    ("a wait for the same task after work", "work_excuses", case({"tickets": ["b1"]}, {
        "hits": OTHER, "waits": True, "tasks": (TASK,)}, progress=True), WAITS),
    ("three holds", "bounds_of_work", case({"streak": 3}),
     verdict("ALLOW-DEGRADED", "3 holds in a row without work between")),
    ("two holds", "bounds_of_work", case({"streak": 2}), None),
    ("two holds on a client that honours two", "bounds_of_work", case({"streak": 2}, settings={"cap": 2}),
     verdict("ALLOW-DEGRADED", "2 holds in a row without work between")),
    ("a client without a cap", "bounds_of_work", case({"streak": 3}, settings={"cap": 0}),
     verdict("ALLOW-DEGRADED", "3 holds in a row without work between")),
    ("three holds and work", "bounds_of_work", case({"streak": 3}, progress=True), None),
    ("still degraded", "bounds_of_work", case({"streak": 1, "degraded": True}),
     verdict("ALLOW-DEGRADED", "1 hold in a row without work between")),
    ("fifty holds with work between", "bounds_of_work", case({"blocks": 50}, progress=True),
     verdict("ALLOW-DEGRADED", "50 holds since the operator's last prompt")),
    ("forty-nine", "bounds_of_work", case({"blocks": 49}), None),
    ("a run that has ended", "run_owes", case({"run": RUN}, (), {"run": ("elevated", "")}),
     verdict("ALLOW-MET", "the run's state is elevated.")),
    ("a run that has not", "run_owes", case({"run": RUN}, (), {"run": ("open", "")}),
     verdict("BLOCK", "the run has not ended: state is open, it ends at closed or elevated (/s.json)")),
    ("a run that cannot be read", "run_owes", case({"run": RUN}, (), {"run": (None, "no file")}),
     verdict("BLOCK", "the run has not ended: no file, it ends at closed or elevated (/s.json)")),
    ("a run in an odd state", "run_owes", case({"run": RUN}, (), {"run": ("x" * 70, "")}), verdict(
        "BLOCK", "the run has not ended: state is " + "x" * 59 + "\u2026, it ends at closed or elevated (/s.json)")),
    ("a transcript that was not read whole", "artifact_owes", case(ART, (), {"unread": 5 << 20}), verdict(
        "BLOCK", UNMET + "00:00Z; 5 MB of the transcript are too far back to be read, so none is verified there")),
    ("nothing shipped since the arming", "artifact_owes", case(ART), verdict("BLOCK", UNMET + "00:00Z")),
    ("nothing shipped since the boundary", "artifact_owes", case({**ART, "boundary_at": NOW - 60}),
     verdict("BLOCK", UNMET + "59:00Z")),
    ("shipped", "artifact_owes", case({**ART, "artifacts": ["pr 1", "x 2", "review 3"]}),
     verdict("MATERIAL-ALLOW", "pr 1, review 3")),
    ("a review with its address", "artifact_owes", case({**ART, "artifacts": ["review https://x/pull/1 toolu_1"]}),
     verdict("MATERIAL-ALLOW", "review https://x/pull/1 toolu_1")),
    ("four shipped", "artifact_owes", case({**ART, "artifacts": ["pr 1", "pr 2", "pr 3", "pr 4"]}),
     verdict("MATERIAL-ALLOW", "pr 2, pr 3, pr 4")),
    ("shipped over an open item", "artifact_owes", case({**ART, "artifacts": ["pr 1"], "items": [entry(1)]}), None),
    ("shipped over a contradiction", "artifact_owes", case({**ART, "artifacts": ["pr 1"]}, {"hits": OTHER}), None),
    ("all passed on after two holds", "artifact_owes", case({**ART, "boundary_blocks": 2, "items": [
        entry(1, "escalated"), entry(2, "handed-off", to="ops")]}),
     verdict("CLEAN-TERMINAL-ALLOW", "i1 the operator, i2 ops")),
    ("of many passed on five are named", "artifact_owes", case({**ART, "boundary_blocks": 3, "items": [
        entry(n, "handed-off", to="ops") for n in range(7)]}),
     verdict("CLEAN-TERMINAL-ALLOW", "i0 ops, i1 ops, i2 ops, i3 ops, i4 ops")),
    ("all passed on after one hold", "artifact_owes", case({**ART, "boundary_blocks": 1, "items": [
        entry(1, "escalated")]}), verdict("BLOCK", UNMET + "00:00Z")),
    ("nothing to pass on", "artifact_owes", case({**ART, "boundary_blocks": 2}), verdict("BLOCK", UNMET + "00:00Z")),
    ("one done, one passed on", "artifact_owes", case({**ART, "boundary_blocks": 2, "items": [
        entry(1, "escalated"), entry(2, "done")]}), verdict("BLOCK", UNMET + "00:00Z")),
    ("present", "away_owes", case({"items": [entry(1)]}), verdict("ALLOW-PRESENT")),
    ("away with nothing owed", "away_owes", case((), (), {"away": True}), verdict("BLOCK", NOTHING)),
    ("away with an item", "away_owes", case({"items": [entry(1, text="x" * 90)]}, (), {"away": True}),
     verdict("BLOCK", "the operator is away; next owed: i1 " + "x" * 77 + "\u2026")),
    ("away with a wake", "away_owes", case((), {"tasks": (TASK,)}, {"away": True}), WAITS),
    ("away with a wake and a contradiction", "away_owes", case((), {"tasks": (TASK,), "hits": OTHER}, {"away": True}),
     verdict("BLOCK", NOTHING)),
    ("away with a wake and what a hold has named", "away_owes", case(
        {"items": [entry(1)], "owed": sc.fingerprint({"items": [entry(1)]})}, {"tasks": (TASK,)}, {"away": True}),
     WAITS),
    ("away with a wake and a new item", "away_owes", case({"items": [entry(1)]}, {"tasks": (TASK,)}, {"away": True}),
     verdict("BLOCK", "the operator is away; next owed: i1 port 1")),
    ("the hold that reaches the client's cap", "away_owes", case({"host_run": 7}, (), {"away": True}),
     verdict("BLOCK", NOTHING, last=True)),
    ("the hold before it", "away_owes", case({"blocks": 48}, (), {"away": True}, {"cap": 0}),
     verdict("BLOCK", NOTHING)),
    ("a client that honours one hold", "away_owes", case((), (), {"away": True}, {"cap": 1}),
     verdict("BLOCK", NOTHING, last=True)),
    ("one before", "away_owes", case({"host_run": 6}, (), {"away": True}), verdict("BLOCK", NOTHING)),
    ("no cap", "away_owes", case({"host_run": 70}, (), {"away": True}, {"cap": 0}), verdict("BLOCK", NOTHING)),
    ("the hold that reaches the bound", "away_owes", case({"blocks": 49}, (), {"away": True}, {"cap": 0}),
     verdict("BLOCK", NOTHING, last=True))))
def test_a_step_answers(step, given, wanted):
    assert getattr(sc, step)(given) == wanted


@pytest.mark.parametrize("contract, stop, evidence, malformed, wanted", rows(
    ("owed", {}, {"hits": OTHER}, {}, "", verdict("BLOCK", rules=("continuing.x",), progress=True)),
    ("owed by the ledger", {"items": [entry(1), entry(2, "done"), entry(3)]}, {}, {}, "",
     verdict("BLOCK", owed=("i1", "i3"), progress=True)),
    ("a wait that is void", {"wait_for": "CI"}, {"hits": OTHER}, {}, "", verdict(
        "BLOCK", "the wait for CI is void: the client reports nothing that wakes this session", rules=("continuing.x",),
        progress=True)),
    ("a stall", {"streak": 3}, {"hits": OTHER}, {"readable": True}, "", verdict(
        "ALLOW-DEGRADED", "3 holds in a row without work between", rules=("continuing.x",))),
    ("a stalled check", {"streak": 3, "check": "make"}, {}, {"readable": True, "check": (1, "")}, "", verdict(
        "ALLOW-DEGRADED", "3 holds in a row without work between")),
    ("a broken file", {}, {}, {}, "broken", verdict("BLOCK-MALFORMED", "broken", progress=True)),
    ("a broken file after three holds", {"streak": 3}, {}, {"readable": True}, "broken", verdict(
        "ALLOW-DEGRADED", "3 holds in a row without work between")),
    ("paused with an error of the client's", {"state": "paused"}, {"message": "API Error"}, {}, "", verdict(
        "ALLOW-BLOCKER", "the client reports an error or a limit", progress=True)),
    ("paused after the budget", {"state": "paused", "spent_at": 1}, {}, {}, "", verdict("ALLOW-PAUSED", progress=True)),
    ("after the budget in plan mode", {"spent_at": 1}, {"mode": "plan"}, {}, "", verdict(
        "ALLOW-BUDGET", progress=True)),
    ("a run in its mode", {"mode": "run", "run": RUN, "items": [entry(1)]}, {}, {"run": ("closed", "")}, "", verdict(
        "ALLOW-MET", "the run's state is closed.", owed=("i1",), progress=True))))
def test_a_stop_is_decided(contract, stop, evidence, malformed, wanted):
    given = {**BOUND, **contract}, sc.Stop(**stop), sc.Evidence(**evidence), sc.Settings(), NOW, malformed
    assert sc.decide(*given) == wanted


def test_a_wake_is_in_time_and_short():
    daily = {"id": "w", "schedule": time.strftime("%M %H * * *", time.localtime(NOW + 7200))}
    long = {**TASK, "description": "x" * 70}
    assert sc.wakes_of(case((), {"crons": (daily,)}, (), {"wakeup_hours": 2})) == (
        ("", "schedule w in 2 hours", NOW + 7200, ""),)
    later = {**daily, "schedule": time.strftime("%M %H * * *", time.localtime(NOW + 7260))}
    assert sc.wakes_of(case((), {"crons": (later,)}, (), {"wakeup_hours": 2})) == ()
    assert sc.wakes_of(case((), {"tasks": (long,)}))[0][3] == " " + "x" * 59 + "\u2026"


@pytest.mark.parametrize("ahead, wakes", rows(
    ("in a second", 1, (("", "schedule w in less than a minute", NOW + 1, ""),)), ("now", 0, ()), ("before", -60, ()),
    ("in two hours", 7200, (("", "schedule w in 2 hours", NOW + 7200, ""),)), ("too far off", 7201, ())))
def test_a_wakeup_without_a_schedule_fires_when_its_call_said(ahead, wakes):
    given = case({"wakeup": NOW + ahead}, {"crons": ({"id": "w"},)}, (), {"wakeup_hours": 2})
    assert sc.wakes_of(given) == wakes


def test_a_wake_with_long_names_is_short():
    (task,), (cron,) = (sc.wakes_of(case((), given)) for given in (
        {"tasks": ({"id": "x" * 70, "type": "shell"},)}, {"crons": ({"id": "y" * 70, "schedule": "* * * * *"},)}))
    assert task[:2] == ("x" * 59 + "\u2026", "shell " + "x" * 53 + "\u2026")
    assert cron[1] == "schedule " + "y" * 50 + "\u2026 in 1 minute"
    assert sc.waiting((task,)).wakes == (task[1],)


def test_what_wakes_is_named():
    tasks = (TASK, {"id": "b2", "status": "running", "command": "make"}, {"id": "b3", "status": "done"},
             {"id": "b4", "type": "subagent"})
    crons = ({"id": "w1", "schedule": "* * * * *"}, {"id": "w2", "schedule": "x"},
             {"id": "w3", "schedule": "0 * * * *"})
    given = {"tasks": tasks, "crons": crons}
    assert sc.wakes_of(case((), given)) == (
        ("b1", "shell b1", 0, " the tests"), ("b2", "task b2", 0, " make"), ("b4", "subagent b4", 0, " "),
        ("", "schedule w1 in 1 minute", NOW + 60, ""), ("", "schedule w3 in 1 hour", NOW + 3600, ""))
    assert sc.wakes_of(case((), given, (), {"print_mode": True})) == (("b4", "subagent b4", 0, " "),)
    assert sc.waiting((("a", "b", 0, " x"), ("", "c", 9, ""))) == verdict(
        "ALLOW-WAITING", wakes=("b x", "c"), waits="b, c", tickets=("a",), until=9)


@pytest.mark.parametrize("contract, stop, why", rows(
    ("nothing", {}, {}, ""), ("a wait that the client does not confirm", {}, {"waits": True},
     "it waits, and the client reports nothing new that wakes this session; a scheduled wakeup would"),
    ("the agent's own wait", {"wait_for": "CI"}, {"waits": True},
     "the wait for CI is void: the client reports nothing that wakes this session")))
def test_a_hold_says_what_it_owes(contract, stop, why):
    assert sc.owed_why(case(contract, stop)) == why


@pytest.mark.parametrize("contract, cls, more, word", rows(
    ("let go after a stall", {}, "ALLOW-DEGRADED", {}, "degraded"),
    ("the same stall again", {"degraded": True}, "ALLOW-DEGRADED", {}, ""),
    ("a new stall after work", {"degraded": True}, "ALLOW-DEGRADED", {"progress": True}, "degraded"),
    ("met", {}, "ALLOW-MET", {}, "met"), ("spent", {"degraded": True}, "ALLOW-BUDGET", {}, "spent"),
    ("a wait", {}, "ALLOW-WAITING", {"tickets": ("b1",)}, "waiting"),
    ("the same wait again", {"waiting": {"what": "x"}, "tickets": ["b1"]}, "ALLOW-WAITING", {"tickets": ("b1",)}, ""),
    ("a wait for more", {"waiting": {"what": "x"}, "tickets": ["b1"]}, "ALLOW-WAITING", {"tickets": ("b1", "b2")},
     "waiting"),
    ("a second wait in a row", {"tickets": ["b1"]}, "ALLOW-WAITING", {"tickets": ("b1",)}, "waiting"),
    ("a hold", {}, "BLOCK", {}, ""), ("the last hold of an absence", {}, "BLOCK", {"last": True}, "stopped"),
    ("a clean end", {}, "ALLOW-CLEAN", {}, ""), ("a contract that has ended", {"state": "met"}, "ALLOW-MET", {}, ""),
    ("a paused one", {"state": "paused"}, "ALLOW-DEGRADED", {}, "degraded")))
def test_the_operator_is_told_of(contract, cls, more, word):
    assert sc.notice_of({**BOUND, **contract}, verdict(cls, **more)) == word


# --- records --------------------------------------------------------------------------------------

LOOKS = {"file": "/s.json", "field": "state", "terminal": ["closed"]}


@pytest.mark.parametrize("contract, why", rows(
    ("of a run", {"mode": "run", "run": LOOKS}, ""), ("of no run", {"mode": "run"}, "mode run lacks what it looks at"),
    ("of a run without a file", {"mode": "run", "run": {**LOOKS, "file": 7}}, "mode run lacks what it looks at"),
    ("of a run without a field", {"mode": "run", "run": {**LOOKS, "field": None}}, "mode run lacks what it looks at"),
    ("of a run without an end", {"mode": "run", "run": {**LOOKS, "terminal": "closed"}},
     "mode run lacks what it looks at"),
    ("of a run with an odd end", {"mode": "run", "run": {**LOOKS, "terminal": ["closed", 7]}},
     "mode run lacks what it looks at"),
    ("of artifacts", {"mode": "artifact", "wanted": ["pr"]}, ""),
    ("of an unknown artifact", {"mode": "artifact", "wanted": ["song"]}, "mode artifact lacks what it looks at"),
    ("of work, with an odd run", {"run": {"file": 7}}, ""), ("of an absence", {"mode": "away"}, ""),
    ("of no known mode", {"mode": "play"}, "unknown state or mode")))
def test_a_contract_looks_at_something(contract, why):
    assert sc.contract_fault({**BOUND, **contract}, "s1") == why


# --- deciding: progress and what follows ----------------------------------------------------------

PROOF = [{"kind": "note", "value": "x"}]


@pytest.mark.parametrize("contract, stop, evidence, made", rows(
    ("work", {"work": 1}, {}, {"readable": True}, True), ("no work", {}, {"message": "new"}, {"readable": True}, False),
    ("another message where nothing can be read", {"message": sc.digest("a")}, {"message": "b"}, {}, True),
    ("the same message in other letters", {"message": sc.digest("a b")}, {"message": "A  b"}, {}, False),
    ("no message twice", {"message": sc.digest("")}, {}, {}, False),
    ("an item closed since the hold", {"block_at": 5, "items": [entry(1, "done", closed_at=5, evidence=PROOF)]}, {},
     {"readable": True}, True),
    ("an item closed before it", {"block_at": 5, "items": [entry(1, "done", closed_at=4, evidence=PROOF)]}, {},
     {"readable": True}, False),
    ("an item closed before any hold", {"items": [entry(1, "done", closed_at=4, evidence=PROOF)]}, {},
     {"readable": True}, False),
    ("an item ticked in the client's list", {"block_at": 5, "items": [entry(1, "done", closed_at=5, evidence=[
        {"kind": "todo", "value": "x"}])]}, {}, {"readable": True}, False),
    ("an item given up", {"block_at": 5, "items": [entry(1, "waived", closed_at=5, evidence=PROOF)]}, {},
     {"readable": True}, False),
    ("an item closed at no known time", {"block_at": 5, "items": [entry(1, "done", evidence=PROOF)]}, {},
     {"readable": True}, False)))
def test_progress_is_made(contract, stop, evidence, made):
    assert sc.made_progress({**BOUND, **contract}, sc.Stop(**stop), sc.Evidence(**evidence)) is made


HELD_ONCE = {"streak": 1, "blocks": 1, "block_at": NOW, "boundary_blocks": 1, "host_run": 1,
             "owed": sc.fingerprint(BOUND)}


@pytest.mark.parametrize("contract, stop, given, wanted", rows(
    ("a hold", {"work": 3}, {"message": "A  b"}, verdict("BLOCK"),
     {**HELD_ONCE, "work": 0, "message": sc.digest("a b"), "told": ["policy"]}),
    ("a second hold", {"told": ["policy"], "streak": 1, "blocks": 4, "host_run": 2, "boundary_blocks": 2}, {},
     verdict("BLOCK"), {**HELD_ONCE, "streak": 2, "blocks": 5, "host_run": 3, "boundary_blocks": 3,
      "message": sc.digest("")}),
    ("a hold for a claim", {}, {}, verdict("BLOCK", UNCLAIMED),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["claim"]}),
    ("a hold in plan mode", {}, {"mode": "plan"}, verdict("BLOCK"),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"], "plan_held": True}),
    ("a hold after one in plan mode", {"plan_held": True}, {}, verdict("BLOCK"),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"]}),
    ("a hold names its open items", {"items": [entry(1), entry(2, "done")]}, {}, verdict("BLOCK"),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"], "items": [entry(1, held=True), entry(2, "done")],
      "owed": sc.fingerprint({"items": [entry(1)]})}),
    ("a hold while away", {"mode": "away"}, {}, verdict("BLOCK"),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"], "standing": "working"}),
    ("the last hold while away", {"mode": "away"}, {}, verdict("BLOCK", last=True),
     {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"], "standing": "stopped"}),
    ("a hold after work", {"streak": 2, "degraded": True, "tickets": ["b1"], "work": 1}, {},
     verdict("BLOCK", progress=True), {**HELD_ONCE, "message": sc.digest(""), "told": ["policy"],
      "degraded": False, "tickets": [], "work": 0}),
    ("a clean end", {"work": 4, "wait_for": "x", "waiting": {"what": "y"}, "streak": 2}, {}, verdict("ALLOW-CLEAN"),
     {"told": ["clean"], "wait_for": "", "waiting": {}}),
    ("a second clean end", {"told": ["clean"]}, {}, verdict("ALLOW-CLEAN"), {}),
    ("met", {}, {}, verdict("ALLOW-MET"), {"state": "met", "changed_at": NOW}),
    ("spent", {}, {}, verdict("ALLOW-BUDGET"), {"state": "spent", "changed_at": NOW}),
    ("degraded", {}, {}, verdict("ALLOW-DEGRADED"), {"degraded": True}),
    ("shipped", {"artifacts": ["pr 1"], "shipped": ["pr 0"], "boundary_blocks": 2}, {}, verdict("MATERIAL-ALLOW"),
     {"boundary_at": NOW, "boundary_blocks": 0, "artifacts": [], "shipped": ["pr 0", "pr 1"]}),
    ("passed on", {"boundary_blocks": 2}, {}, verdict("CLEAN-TERMINAL-ALLOW"),
     {"boundary_at": NOW, "boundary_blocks": 0}),
    ("waiting", {"work": 2, "tickets": ["b0"]}, {}, verdict(
        "ALLOW-WAITING", wakes=("shell b1 tests", "x"), waits="shell b1, x", tickets=("b1", "b0"), until=7),
     {"message": sc.digest(""), "standing": "waiting", "waiting": {"what": "shell b1, x", "at": NOW, "until": 7},
      "work": 0,
      "tickets": ["b0", "b1"]}),
    ("scheduled prompts", {"crons": [sc.digest("old"), sc.digest("a")]}, {"crons": (
        {"prompt": "a"}, {"prompt": "b"}, {"prompt": 7}, {})}, verdict("ALLOW-PAUSED"),
     {"crons": [sc.digest("old"), sc.digest("a"), sc.digest("b")]})))
def test_a_verdict_changes_the_contract(contract, stop, given, wanted):
    before = {**BOUND, **contract}
    assert changed(before, sc.next_contract(before, sc.Stop(**stop), given, NOW)) == wanted


def test_what_has_no_end_is_bounded():
    before = {**BOUND, "shipped": [f"pr {n}" for n in range(200)], "artifacts": ["pr new"],
              "crons": [str(n) for n in range(60)]}
    stop = sc.Stop(crons=tuple({"prompt": str(n)} for n in range(60)))
    after = sc.next_contract(before, stop, verdict("MATERIAL-ALLOW"), NOW)
    assert len(after["shipped"]) == 200 and after["shipped"][-1] == "pr new" and after["shipped"][0] == "pr 1"
    assert len(after["crons"]) == 100 and after["crons"][:2] == ["10", "11"] and after["crons"][-1] == sc.digest("59")


def test_nothing_changed_is_the_same_contract():
    before = {**BOUND, "told": ["clean"]}
    assert sc.next_contract(before, sc.Stop(), verdict("ALLOW-CLEAN"), NOW) is before
    for stamp, at in (("2027-01-15T08:00:00Z", NOW + 90), ("", NOW + 95)):
        woken = sc.absorb(before, sc.Evidence(readable=True, wakeup=(stamp, 90)), sc.Settings(), NOW + 5)
        assert woken["wakeup"] == at
    assert sc.absorb({**before, "wakeup": 7}, sc.Evidence(readable=True), sc.Settings(), NOW)["wakeup"] == 7
    assert sc.absorb(before, sc.Evidence(), sc.Settings(), NOW) is before


def test_what_the_transcript_has_gained_is_taken_in():
    before = {**BOUND, "prompt_mark": 9, "work": 2, "host_run": 3, "artifacts": ["pr 1"], "shipped": ["pr 2"],
              "calls": ["a"], "read_to": 5}
    evidence = sc.Evidence(readable=True, end=50, work=1, calls=("a", "b"), artifacts=("pr 1", "pr 2", "pr 3"))
    assert changed(before, sc.absorb(before, evidence, sc.Settings(), NOW)) == {
        "read_to": 50, "work": 3, "worked": True, "host_run": 0, "artifacts": ["pr 1", "pr 3"], "calls": ["a", "b"]}
    anew = sc.absorb(before, sc.Evidence(readable=True, anew=True), sc.Settings(), NOW)
    assert changed(before, anew) == {"read_to": 0, "prompt_mark": 0}
    assert sc.absorb({**before, "worked": True}, evidence.replace(work=0), sc.Settings(), NOW)["worked"] is True
    listed = evidence.replace(todos=(("todo:a", "a", False),))
    assert sc.absorb(before, listed, sc.Settings(), NOW)["items"][0]["opened_at"] == NOW
    assert sc.absorb(before, listed, sc.Settings(todo=False), NOW)["items"] == []
    many = sc.absorb(before, evidence.replace(calls=tuple(map(str, range(300)))), sc.Settings(), NOW)["calls"]
    assert len(many) == 256 and many[-1] == "299"


TICK = [{"kind": "todo", "value": "completed in the client's list", "verified": False}]


@pytest.mark.parametrize("items, changes, after", rows(
    ("a new entry", [], [("todo:a", "A  a", False)], [
        {"id": "i5", "text": "A a", "state": "open", "source": "todo", "key": "todo:a", "opened_at": NOW}]),
    ("an entry that was done when it was first seen", [], [("todo:a", "a", True)], []),
    ("an entry without a text", [], [("task:1", "", False)], []),
    ("an entry that is known", [entry(1, key="todo:a")], [("todo:a", "a", False)], [entry(1, key="todo:a")]),
    ("an entry done", [entry(1, key="todo:a")], [("todo:a", "a", True)], [
        entry(1, "done", key="todo:a", closed_at=NOW, evidence=TICK)]),
    ("an entry done that was given up", [entry(1, "waived", key="todo:a")], [("todo:a", "a", True)],
     [entry(1, "waived", key="todo:a")]),
    ("a list begun anew", [entry(1, key="todo:a"), entry(2, key="todo:b", held=True), entry(3, "done", key="todo:c"),
                           entry(4), entry(5, key="task:1")], [(None, "", False)],
     [entry(2, key="todo:b", held=True), entry(3, "done", key="todo:c"), entry(4), entry(5, key="task:1")]),
    ("an entry deleted", [entry(1, key="task:1"), entry(2, key="task:2")], [("task:1", None, False)],
     [entry(2, key="task:2")]),
    ("an entry deleted that a hold has named", [entry(1, key="task:1", held=True)], [("task:1", None, False)],
     [entry(1, key="task:1", held=True)])))
def test_the_client_s_list_is_followed(items, changes, after):
    before = {**BOUND, "items": items, "next_item": 5}
    assert sc.follow_todos(before, changes, NOW)["items"] == after
    assert before["items"] == items


@pytest.mark.parametrize("transcript_, path, after", rows(
    ("the same one", "/t", "/t", {}), ("the first one", "", "/t", {}), ("another one", "/t", "/u", {
        "transcript": "/u", "read_to": 0, "prompt_mark": 0}),
    ("none", "/t", "", {}), ("an odd one", "/t", 7, {}), ("no path at all", "/t", None, {})))
def test_another_transcript_has_not_been_read(transcript_, path, after):
    before = {**BOUND, "transcript": transcript_, "read_to": 90, "prompt_mark": 40}
    assert changed(before, sc.at_transcript(before, path)) == after


def test_open_items_are_never_dropped():
    items = [{"id": f"i{n}", "text": "a", "state": "open"} for n in range(sc.LIMITS["ticked"] + 5)]
    assert sc.follow_todos({**BOUND, "items": items}, [], NOW)["items"] == items


def test_numbers_of_the_client_s_list_go_on():
    after = sc.follow_todos({**BOUND, "next_item": 5}, [("todo:a", "a", False), ("todo:b", "b", False)], NOW)
    assert [item["id"] for item in after["items"]] == ["i5", "i6"] and after["next_item"] == 7


# --- deciding: the ledger -------------------------------------------------------------------------

def test_an_item_is_added_once():
    before = {**BOUND, "items": [entry(1), entry(2, "done")], "next_item": 3}
    assert sc.add_item(before, " PORT  1", "command", NOW) == (before, entry(1))
    after, item = sc.add_item(before, "port 2\n", "prompt", NOW)
    assert item == {"id": "i3", "text": "port 2", "state": "open", "source": "prompt", "opened_at": NOW}
    assert changed(before, after) == {"items": [*before["items"], item], "next_item": 4}


def test_an_item_is_closed_once():
    before = {**BOUND, "items": [entry(1), entry(2), entry(3, "escalated")]}
    after = sc.close_item(before, "i2", "done", NOW, evidence=PROOF)
    assert after["items"] == [entry(1), entry(2, "done", closed_at=NOW, evidence=PROOF), entry(3, "escalated")]
    assert sc.close_item(before, "i3", "waived", NOW)["items"][2] == entry(3, "waived", closed_at=NOW)
    with pytest.raises(ValueError, match="^item i2 is done$"):
        sc.close_item(after, "i2", "waived", NOW)
    with pytest.raises(KeyError, match="i9"):
        sc.close_item(after, "i9", "done", NOW)


def test_evidence_is_told_apart():
    assert sc.evidence_text([{"kind": "url", "value": "x"}, {"kind": "file", "value": "y", "verified": True}]) == \
        "url:x (self-attested), file:y (verified)"


@pytest.mark.parametrize("condition, command", [
    ("`make test` passes", "make test"), ("`make` is green.", "make"), ("`a` succeeds", "a"), ("`a` exits 0!", "a"),
    ("`a` is clean", "a"), ("`a` returns 0", "a"), (" `a` passes ", "a"), ("`a` fails", ""), ("`a` Xpasses", ""),
    ("run `a` passes", ""),
    ("`a` and `b` passes", ""), ("a passes", ""), ("`a", "")])
def test_a_check_in_a_condition(condition, command):
    assert sc.check_in(condition) == command


@pytest.mark.parametrize("condition, kinds", [
    ("a PR is opened", ["pr"]), ("an MR is up", ["pr"]), ("(PRs) were created.", ["pr"]),
    ("a pull request is raised", ["pr"]),
    ("you submitted the review", ["review"]), ("reviews are posted", ["review"]), ("the PR exists", ["pr"]),
    ("a review and a PR are filed", ["review", "pr"]), ("PR #12 is open", []), ("the PR is merged", []),
    ("a file is created", []), ("", [])])
def test_an_artifact_in_a_condition(condition, kinds):
    assert sc.asks_for_artifact(condition) == kinds


def test_a_budget_has_an_end(monkeypatch):
    monkeypatch.setattr(time, "localtime", time.gmtime)
    assert sc.budget_end(None, NOW) == 0 and sc.budget_end(("for", 90.5), NOW) == NOW + 90
    assert sc.budget_end(("until", "08:01"), NOW) == NOW + 60 and sc.budget_end(("until", "10:30"), NOW) == NOW + 9000
    assert sc.budget_end(("until", "08:00"), NOW) == NOW + 86400
    assert sc.budget_end(("until", "07:59"), NOW + 20) == NOW + 86340
    assert sc.budget_end(("until", "08:01"), NOW + 20) == NOW + 60
    assert sc.budget_end(("until", "08:01"), NOW + 59) == NOW + 60
    assert sc.budget_end(("until", "09:30"), NOW + 1200) == NOW + 5400


# --- deciding: what the operator says -------------------------------------------------------------

def heard(text, contract=None, settings=(), **more):
    """(contract, Answer) after the prompt TEXT of a session with CONTRACT."""
    prompt = sc.Prompt(heard=sc.read_prompt(text, bool(contract)), session="s1", size=70, mode="plan", **more)
    return sc.hear(contract, prompt, sc.Settings(**dict(settings)), NOW)


HEARD = {"prompt_at": NOW, "prompt_mark": 70, "prompt_mode": "plan"}
FRESH = {**sc.CONTRACT, "session": "s1", "armed_at": NOW, "changed_at": NOW, "armed_mark": 70, **HEARD}


def test_arming_makes_a_contract():
    contract, answer = heard("Don't stop until the suite is green.", settings={"pins": {"a": "b"}})
    assert contract == {**FRESH, "condition": "the suite is green", "pins": {"a": "b"}}
    assert answer.system == ('session-contract: armed: "the suite is green". A turn that ends with work owed is held; '
                             '"stop" releases.')
    assert answer.context.startswith('[session-contract] armed by the operator: "the suite is green"; no items. ')
    assert not answer.halt and not answer.reply


def test_arming_for_an_absence_for_an_artifact_and_while_observing():
    contract, answer = heard("Keep going until the docs are written.", away=True)
    assert contract == {**FRESH, "condition": "the docs are written", "mode": "away"}
    assert "for your absence" in answer.system
    contract, _ = heard("Keep going until a PR is opened.")
    assert contract == {**FRESH, "condition": "a PR is opened", "mode": "artifact", "wanted": ["pr"]}
    contract, answer = heard("Keep going.", settings={"observe": True}, away=True)
    assert contract == {**FRESH, "mode": "away"} and "observing" in answer.system
    contract, _ = heard("Keep going until `make` passes.", settings={"checks_from_prompts": True})
    assert (contract["condition"], contract["check"]) == ("`make` passes", "make")
    contract, answer = heard("Keep going for two hours.")
    assert contract["spent_at"] == NOW + 7200 and contract["condition"] == ""
    assert answer.system.endswith(" Until 2027-01-15T10:00:00Z.")


SPOKEN = {**BOUND, "streak": 2, "blocks": 4, "degraded": True, "plan_held": True, "work": 3, "worked": True,
          "host_run": 5, "waiting": {"what": "x"}, "claim": {"evidence": PROOF}, "spent_at": NOW + 60}
RESET = {**HEARD, "streak": 0, "blocks": 0, "degraded": False, "plan_held": False, "work": 0, "worked": False,
         "host_run": 0, "waiting": {}}


@pytest.mark.parametrize("text, contract, changes, said, context", rows(
    ("another condition", "Don't stop until the docs are done.", {}, {
        **RESET, "condition": "the docs are done", "claim": {}, "changed_at": NOW},
     'amended, armed: "the docs are done"', 'amended by the operator: "the docs are done"'),
    ("a bare phrase", "Keep going.", {}, {**RESET, "changed_at": NOW}, 'armed already: "the suite is green"',
     'armed already by the operator: "the suite is green"'),
    ("a bare phrase while paused", "Keep going.", {"state": "paused"}, {**RESET, "state": "armed", "changed_at": NOW},
     "armed already", "armed already"),
    ("stop", "stop", {}, {**RESET, "state": "disarmed", "changed_at": NOW, "origin": "the operator's prompt"},
     "released; turns end freely again", "released by the operator; turns end freely again."),
    ("wait", "hold on", {}, {**RESET, "state": "paused", "changed_at": NOW}, "paused: turns may end",
     "paused by the operator; turns may end until the next prompt that is no question."),
    ("a question while paused", "Why?", {"state": "paused"}, {**RESET, "question": True}, "",
     "paused by the operator; turns may end."),
    ("an order while paused", "Use tabs.", {"state": "paused"}, {**RESET, "state": "armed", "changed_at": NOW},
     'resumed, armed: "the suite is green"', 'resumed by the operator: "the suite is green"'),
    ("an order", "Use tabs.", {}, RESET, "", 'armed: "the suite is green"; no items.'),
    ("a question", "Why?", {}, {**RESET, "question": True}, "", 'armed: "the suite is green"; no items.'),
    ("an order in another mode", "Use tabs.", {"mode": "run"}, RESET, "", 'armed: "the suite is green"; no items.'),
    ("an order ends an absence", "Use tabs.", {"mode": "away", "standing": "working"}, {
        **RESET, "mode": "work", "standing": ""}, "", 'armed: "the suite is green"; no items.'),
    ("a list", "Don't stop until:\n- port csv\n- port xml", {"next_item": 3}, {
        **RESET, "changed_at": NOW, "next_item": 5, "items": [
            {"id": f"i{n}", "text": text, "state": "open", "source": "prompt", "opened_at": NOW}
            for n, text in ((3, "port csv"), (4, "port xml"))]}, 'armed already: "the suite is green" (2 items open)',
     "armed already")))
def test_a_word_changes_the_contract(text, contract, changes, said, context):
    before = {**SPOKEN, **contract}
    after, answer = heard(text, before)
    assert changed(before, after) == changes
    assert said in answer.system and (said or not answer.system)
    assert answer.context.startswith("[session-contract] " + context) and not answer.halt and not answer.reply


@pytest.mark.parametrize("text, contract, changes, halt, reply", rows(
    ("stop", "contract: stop", {}, {**RESET, "state": "disarmed", "changed_at": NOW, "origin": "contract: stop"},
     "released; turns end freely again.", ""),
    ("pause", "contract: pause", {}, {**RESET, "state": "paused", "changed_at": NOW}, "paused: turns may end", ""),
    ("resume", "contract: resume", {"state": "paused"}, {**RESET, "state": "armed", "changed_at": NOW},
     "resumed, armed", ""),
    ("away", "contract: away", {}, {**RESET, "mode": "away"}, "armed for your absence", ""),
    ("back", "contract: back", {"mode": "away", "standing": "working"}, {**RESET, "mode": "work", "standing": ""},
     "you are back", ""),
    ("status", "contract: status", {}, {}, "", "armed for 1 hour"),
    ("an unknown word", "contract: frob", {}, {}, "", "not 'frob'.")))
def test_the_language_free_form_is_obeyed(text, contract, changes, halt, reply):
    before = {**SPOKEN, **contract}
    after, answer = heard(text, before)
    assert changed(before, after) == changes
    assert halt in answer.halt and bool(halt) == bool(answer.halt)
    assert reply in answer.reply and bool(reply) == bool(answer.reply)
    assert not answer.system and not answer.context


@pytest.mark.parametrize("word", ["stop", "pause", "resume"])
def test_without_a_contract_the_language_free_form_changes_nothing(word):
    assert heard(f"contract: {word}") == (None, sc.Answer(reply="session-contract: nothing is armed in this session."))


@pytest.mark.parametrize("word", ["away", "back"])
def test_without_a_contract_presence_is_told(word):
    halt = f"session-contract: {word}; nothing is armed in this session."
    assert heard(f"contract: {word}") == (None, sc.Answer(halt=halt))


def test_the_language_free_form_arms():
    contract, answer = heard("contract: arm until the suite is green")
    assert contract == {**FRESH, "condition": "the suite is green"} and "armed" in answer.system


def test_an_order_without_a_contract_is_nothing():
    assert heard("Use tabs.") == (None, sc.Answer())
