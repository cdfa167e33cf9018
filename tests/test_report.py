"""`report --html`: one page that asks for nothing else, is bounded, and shows every kind of event as text."""
import os
import re
from html.parser import HTMLParser

import pytest

import session_contract as sc
from conftest import CONDITION, HONEST, OWING, Session, held, let_go, rows

NOON = 1_800_000_000
HOSTILE = "</h2><script>alert('x')</script><img src=http://a.b/c onerror=go()> & \"'"
VOID = ("meta",)
OTHER_CLASSES = ("PROMPT", "CHANGE", "FORK", "WRONG")


def record(cls, after=0, event="Stop", rules=(), state="armed", **facts):
    """A line of the log, AFTER seconds behind the first one."""
    return {"time": sc.clock(NOON + after), "class": cls, "session": "s1", "identity": "dev@host", "state": state,
            "mode": "work", "owed": 0, "streak": 0, "blocks": 0, "event": event, "rules": list(rules), **facts}


def page_of(logs, conditions=None):
    return sc.html_report(logs, sc.count_report(logs), NOON, conditions)


class Page(HTMLParser):
    """A page taken apart: its tags, their attributes, its text. An end tag that closes nothing is a fault."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"
        self.text = " ".join("".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.texts += [] if self.open[-1:] == ["style"] else [data]


EVERYTHING = [record("CHANGE", event="UserPromptSubmit", rules=["arm.dont-stop"]), *[
    record(cls, 60 * at, why=f"why of {cls}", progress=at % 2 > 0) for at, cls in enumerate(sc.CLASSES)], *[
    record("PROMPT", 2000, "UserPromptSubmit"), record("WRONG", 2001, "command", ["continuing.gerund"]),
    record("FORK", 2002, "command", ["decide"], fork="which store", path="a file", rule="4", reason="it fits"),
    record("CHANGE", 2003, "command", ["item escalated"], item="i2", escalation="irreversible", reason="drops a table"),
    record("CHANGE", 2004, "UserPromptSubmit", ["disarm"], "disarmed")]]
MANY = [record(("BLOCK", "ALLOW-CLEAN", "ALLOW-WAITING")[at % 3], 7 * at, progress=True, why="x" * 300)
        for at in range(5000)]
SPOILT = [{"class": "BLOCK"}, {"time": "yesterday"}, {"time": sc.clock(NOON), "class": None, "state": 3, "rules": None},
          record("ALLOW-CLEAN", -500), {"class": "FORK"}, {"time": "9999-99-99T00:00:00Z", "class": "CHANGE"}]
PAGES = rows(
    ("nothing", {}, {}), ("a session without a line", {"s1": []}, {}),
    ("two events", {"s1": [record("BLOCK"), record("ALLOW-CLEAN", 90)]}, {"s1": CONDITION}),
    ("two events of one second", {"s1": [record("BLOCK"), record("BLOCK")]}, {}),
    ("every event", {"s1": EVERYTHING}, {"s1": CONDITION}), ("5,000 events", {"s1": MANY}, {}),
    ("sixty sessions", {f"s{n}": [record("BLOCK", n)] for n in range(60)}, {}),
    ("lines that lack what a line has", {"s1": SPOILT}, {}),
    ("hostile texts everywhere", {HOSTILE: [record(HOSTILE, 1, HOSTILE, [HOSTILE], HOSTILE, why=HOSTILE), record(
        "FORK", 2, "command", fork=HOSTILE, path=HOSTILE, rule=HOSTILE, reason=HOSTILE)]}, {HOSTILE: HOSTILE}))


@pytest.mark.parametrize("logs, conditions", PAGES)
def test_the_page_is_well_formed_and_asks_for_nothing_else(logs, conditions):
    text = page_of(logs, conditions)
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert not {"script", "link", "img", "iframe", "object", "form", "a"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href", "style") or name.startswith("on")]
    assert not re.search(r"url\(|@import|https?:", text.partition("</style>")[0])
    assert {"h1", "title"} <= set(page.tags)


@pytest.mark.parametrize("cls", [*sc.CLASSES, *OTHER_CLASSES])
def test_every_class_of_event_is_shown_as_a_word(cls):
    found = re.search(rf"<b>([^<]+)</b> <code>{cls}</code>", page_of({"s1": EVERYTHING}))
    assert found and found[1] != cls


@pytest.mark.parametrize("event, lane, words, facts", rows(
    ("a hold", record("BLOCK", rules=["menu.or"], owed=2), "held", "held", "menu.or; 2 open"),
    ("a hold that was only observed", record("WOULD-BLOCK"), "held", "would have been held", ""),
    ("a clean end after work", record("ALLOW-CLEAN", progress=True), "let go", "let go, a clean end", "after work"),
    ("a wait", record("ALLOW-WAITING", why="the tests."), "let go", "let go, it waits", "the tests"),
    ("a prompt", record("PROMPT", 0, "UserPromptSubmit"), "you", "prompt", ""),
    ("an arming", record("CHANGE", 0, "UserPromptSubmit", ["arm.x"]), "you", "armed", "arm.x"),
    ("a release by command", record("CHANGE", 0, "command", ["disarm"], "disarmed"), "you", "released", "disarm"),
    ("a release typed in mid-turn", record("CHANGE", 0, "Stop", ["queued"], "disarmed"), "you", "released", "queued"),
    ("an escalation", record("CHANGE", 0, "command", ["item escalated"], item="i2", escalation="irreversible", reason="r"),
     "ledger", "item escalated", "i2; irreversible; r"),
    ("a fork", record("FORK", 0, "command", fork="f", path="p", rule="4", reason="r"),
     "ledger", "fork resolved", "f \u2192 p (rule 4): r"),
    ("a class of a later version", record("ALLOW-NOVEL"), "let go", "ALLOW-NOVEL", "")))
def test_an_event_in_words(event, lane, words, facts):
    assert sc.event_of(event) == (lane, words, facts)


def test_texts_from_the_log_and_the_contract_stay_texts():
    text = page_of({"s1": [record("BLOCK", why=HOSTILE)]}, {"s1": HOSTILE})
    page = Page(text)
    assert HOSTILE in page.text                                     # the condition, as it was typed
    assert "\u2039script\u203aalert('x')" in page.text              # what stands in the log is broken besides
    assert text.count("&amp; &quot;") == 2


def test_the_lanes_count_and_the_rows_tell_the_same():
    page = Page(page_of({"s1": EVERYTHING}))
    shown = {lane: int((re.search(rf"{mark} {lane} (\d+)", page.text) or [0, 0])[1]) for lane, mark, _ in sc.LANES[1:]}
    told = [sc.event_of(event)[0] for event in EVERYTHING]
    assert shown == {**{lane: told.count(lane) for lane in shown}, "work": sum(1 for e in EVERYTHING if e.get("progress"))}
    assert page.text.count("\u25cf held") == told.count("held")     # in the lane's name, and once with each hold's mark


def test_the_armed_lane_has_a_gap_where_nothing_binds():
    text = page_of({"s1": [record("BLOCK"), record("CHANGE", 25, "command", ["disarm"], "disarmed"),
                           record("CHANGE", 75, "command", ["arm"]), record("BLOCK", 100)]})
    assert '"M0 12H125M375 12H500"' in text


def test_what_is_drawn_of_5000_events_is_bounded_and_the_rest_is_named():
    text = page_of({"s1": MANY})
    assert len(text) < 80_000
    assert text.count("<tr><td><time>") == sc.PAGE_ROWS
    assert f"Its last {sc.PAGE_ROWS} events; 4,880 before them are left out here" in text


def test_of_many_sessions_the_latest_are_drawn_and_all_are_counted():
    text = page_of({f"s{n:02}": [record("BLOCK", n)] for n in range(60)})
    assert re.findall("session <code>(.*?)</code>", text) == [f"s{n}" for n in range(59, 35, -1)]
    assert "36 earlier sessions left out here" in text and "Totals of 60 sessions" in text and "Stops caught: 60" in text


def luminance(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_colours_can_be_told_from_the_paper(scheme):
    colours = dict(re.findall(r"--(\w+):(#\w{6})", re.findall(r":root\{.*?\}", sc.PAGE_STYLE, re.DOTALL)[scheme]))
    paper = luminance(colours.pop("paper"))
    for name, colour in colours.items():
        high, low = sorted((luminance(colour), paper), reverse=True)
        least = {"line": 1.2, "armed": 3}.get(name, 4.5)        # those two are lines, the others also letters
        assert (high + 0.05) / (low + 0.05) >= least, name


# --- through the real process

def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_a_session_s_page(armed, tmp_path):
    held(armed.stop(OWING))
    armed.transcript.call(command="make")
    let_go(armed.stop(HONEST))
    path = str(tmp_path / "report.html")
    run = armed.command("report", "--html", path)
    assert (run.code, run.err) == (0, "") and f"{path}: 1 session, 3 events" in run.out.decode()
    page = Page(read(path))
    assert f"{CONDITION} armed, 3 events, session s1" in page.text
    assert "Stops caught: 1. Of these, 1 ended in work and a clean stop." in page.text
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_the_page_of_all_sessions(armed, tmp_path):
    held(Session(tmp_path, "s2").armed("Fix it, don't stop until the docs build.").stop(OWING))
    path = str(tmp_path / "new" / "report.html")
    assert armed.command("report", "--all", "--html", path).code == 0
    page = Page(read(path))
    assert CONDITION in page.text and "the docs build" in page.text and "Totals of 2 sessions" in page.text


def test_the_page_of_an_empty_store_says_so(session, tmp_path):
    path = str(tmp_path / "report.html")
    assert session.command("report", "--all", "--html", path).code == 0
    assert "Nothing is on record here: no session has been armed." in Page(read(path)).text
    assert "table" not in Page(read(path)).tags


@pytest.mark.parametrize("name", rows(("a folder", "."), ("no name", ""), ("a file that is read-only", "old.html")))
def test_what_cannot_be_written_is_named_and_stays(armed, tmp_path, name):
    old = tmp_path / "old.html"
    old.write_text("old")
    old.chmod(0o444)
    before = sorted(os.listdir(tmp_path))
    run = armed.command("report", "--html", str(tmp_path / name) if name else "")
    assert run.code == 1 and "cannot write" in run.err
    assert old.read_text() == "old" and sorted(os.listdir(tmp_path)) == before


def test_one_form_at_a_time(armed, tmp_path):
    assert armed.command("report", "--json", "--html", str(tmp_path / "report.html")).code == 64
