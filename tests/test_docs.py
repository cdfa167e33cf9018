"""What README and the examples show is what happens."""
import html
import json
import os
import re
import subprocess

import pytest

import session_contract as sc
from conftest import FILE, OWING, ROOT, held, launch, let_go, rows, silent, told

EXAMPLES = os.path.join(ROOT, "examples")
PAYLOADS = os.path.join(EXAMPLES, "payloads")


def read(*parts):
    with open(os.path.join(ROOT, *parts), "rb") as file:
        return file.read()


README = read("README.md").decode()


def send(session, name):
    return launch(session.environ, read("examples", "payloads", name))


def test_the_payloads_are_all_tried_here():
    assert sorted(os.listdir(PAYLOADS)) == sorted([
        "prompt-arm.json", "prompt-items.json", "prompt-stop.json", "session-start.json", "status-line.json",
        "stop-honest.json", "stop-waiting.json", "stop.json"])


@pytest.mark.parametrize("name", sorted({*os.listdir(PAYLOADS)} - {"status-line.json"}))
def test_a_payload_alone_arms_or_is_silent(session, name):
    run = send(session, name)
    (told(run, "armed") if name in ("prompt-arm.json", "prompt-items.json") else silent(run))


def test_the_payloads_in_readmes_order(session):
    told(send(session, "prompt-arm.json"), 'armed: "the suite is green"')
    held(send(session, "stop.json"))
    let_go(send(session, "stop-honest.json"))
    told(send(session, "stop-waiting.json"), "waits")
    told(send(session, "session-start.json"), "armed for")
    told(send(session, "prompt-stop.json"), "released")
    silent(send(session, "stop.json"))


def test_the_list_payload_makes_items(session):
    send(session, "prompt-items.json")
    assert "the XML exporter is ported" in held(send(session, "stop-honest.json")).err


def commands_in(settings):
    return [(event, hook["command"]) for event, groups in settings["hooks"].items() for group in groups for hook in group["hooks"]]


SMALLEST = commands_in(json.loads(read("examples", "settings.json")))


@pytest.mark.parametrize("event, command", SMALLEST, ids=[event for event, _ in SMALLEST])
def test_the_smallest_settings_never_exit_2_without_the_file_and_gate_with_it(session, event, command):
    def run(name, **fields):
        return subprocess.run(["sh", "-c", command], input=session.payload(name, **fields), env=session.environ,
                              capture_output=True, check=False).returncode
    assert run(event, prompt="Don't stop until it is green.") == 0
    os.symlink(FILE, os.path.join(session.environ["HOME"], "session_contract.py"))
    assert run("UserPromptSubmit", prompt="Don't stop until it is green.") == 0
    assert run("Stop", last_assistant_message=OWING) == 2


def test_the_example_policy_replaces_the_shipped_one(armed):
    armed.configure("policy.md", text=read("examples", "policy.md").decode())
    assert "The design document in docs/ wins" in armed.start("compact").context
    assert "policy.md" in held(armed.stop()).err


def test_the_example_phrases_work(session):
    session.configure("phrases.json", text=read("examples", "phrases.json").decode())
    told(session.prompt("Full steam ahead."), "armed")
    held(session.stop("Parked for the next sprint: the exporter."))
    told(session.prompt("pencils down"), "released")


@pytest.mark.parametrize("text, where", rows(
    ("the test command is the gate's", ".venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest", (".ci", "run")),
    ("the version is the file's", f"{sc.__version__}:", ("README.md",))))
def test_readme_agrees(text, where):
    assert text in README and text in read(*where).decode()


def test_readme_names_every_family_mode_and_class_that_lets_go():
    shown = README
    assert not [word for word in (*sc.FAMILIES, *sc.MODES) if word not in shown]
    assert not [name for name in sc.SETTINGS if f"`{name}" not in shown and f"`{name}`" not in shown and name not in shown]


def test_the_status_payload_shows_what_readme_shows(session):
    send(session, "prompt-items.json")
    send(session, "stop.json")
    run = launch(session.environ, read("examples", "payloads", "status-line.json"), "statusline")
    assert f"`{run.out.decode().strip()}`" in README


def test_readme_names_every_occasion_of_a_notice():
    assert f"({', '.join(sc.NOTICES.values())})" in README


def test_the_demo_shows_an_arming_a_hold_an_honest_end_and_a_release(session):
    shown = session.command("demo").out.decode()
    assert [line.split()[-1] for line in shown.splitlines() if ": exit" in line] == ["0", "2", "0", "0", "0"]
    assert sc.HELD in shown and "released" in shown


def test_the_picture_shows_a_hold_and_asks_for_nothing_else():
    assert re.search(r"!\[[^]]{40,}\]\(examples/held-turn\.svg\)", README)
    picture = read("examples", "held-turn.svg").decode()
    words = html.unescape(re.sub("<[^>]*>", "", picture)).replace("\u00a0", " ")
    assert all(part in words for part in (sc.HELD, "turn held (continuing)", "continuing.gerund", "armed:", "let go:"))
    assert re.findall(r"\w+://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|@import|url\((?!#)|/(tmp|root|home|Users)/", picture)
