#!/usr/bin/env python3
"""A coverage-guided fuzzer for the program's readers and for whole hook calls, in one process.

    pip install -e '.[fuzz]'; python tests/fuzz.py --seconds 60 [--target NAME] [--seed N]

Each target turns bytes into input, runs one entrance of session_contract.py and checks its law: the answer table, no
error of the program's, what is written reads back. Findings are kept beside the corpus; exit 1 if there are any.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
NOW = 1_800_000_000
KEYS = {"Stop": {"systemMessage"}, "SessionStart": {"systemMessage", "hookSpecificOutput"},
        "UserPromptSubmit": {"systemMessage", "hookSpecificOutput", "decision", "reason", "continue", "stopReason"}}
SEEDS = {
    "hook": [b'{"hook_event_name": "%s", "session_id": "s1", "prompt": "%s", "last_assistant_message": "%s"}\0%s\0%s'
             % each for each in (
                 (b"Stop", b"", b"225 remain. Continuing.", b'{"schema": 1, "session": "s1"}', b""),
                 (b"UserPromptSubmit", b"don't stop until x", b"", b"", b""),
                 (b"UserPromptSubmit", b"stop", b"", b'{"schema": 1, "session": "s1"}', b""),
                 (b"SessionStart", b"", b"", b'{"schema": 1, "session": "s1", "mode": "away"}', b""),
                 (b"Stop", b"", b"All done.", b'{"schema": 1, "session": "s1", "mode": "run"}',
                  b'{"type": "user", "message": {"content": "x"}}\n'))],
    "turn": [b"225 remain. Continuing.", b"Should I also port it?\n\n- [ ] a\n", "残り3件。続けます。".encode()],
    "prompt": [b"don't stop until the suite is green", b"keep going for two hours", b"contract: arm until x",
               b"> stop"],
    "evidence": [b'{"type": "assistant", "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": '
                 b'"Bash", "input": {"command": "gh pr create"}}]}}\n{"type": "user", "message": {"content": [{"type": '
                 b'"tool_result", "tool_use_id": "t", "content": "https://x/pull/1"}]}, "toolUseResult": {}}\n'],
    "contract": [b'{"schema": 1, "session": "s1", "items": [{"id": "i1", "text": "x", "state": "open"}]}'],
    "settings": [b"{}", b"[1, // x\n]",
                 b'{\r\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\r\n}'],
}


def answers(sc, event, reply, may_hold):
    """The answer table."""
    body = json.loads(reply.out) if reply.out else {}
    assert "error of this program" not in body.get("systemMessage", ""), body
    if reply.code == sc.HOLD:
        assert may_hold and event == "Stop" and set(body) == {"systemMessage"} and reply.err.startswith(sc.HELD)
    else:
        assert (reply.code, reply.err) == (0, "")
        assert set(body) <= KEYS.get(event if isinstance(event, str) else "", {"systemMessage"}), body


def hook(sc, data):
    """A payload, a contract file and a transcript, parted by NUL."""
    payload, contract, transcript = (data.split(b"\0", 2) + [b"", b""])[:3]
    value, fault = sc.parse_json(payload)
    folder = os.path.join(hook.scratch, "store")
    os.makedirs(folder + "/contracts", mode=0o700)
    try:
        with open(hook.scratch + "/t", "wb") as file:
            file.write(transcript)
        if contract:
            kept = sc.parse_json(contract)[0]
            if isinstance(kept, dict):          # a check is run by a shell, a run's file is read wherever it is
                kept = {**kept, **({"check": ""} if "check" in kept else {}), "transcript": ""}
                contract = sc.dump_json(kept).encode()
            with open(folder + "/contracts/s1.json", "wb") as file:
                file.write(contract)
        if isinstance(value, dict):
            value["transcript_path"] = hook.scratch + "/t"
        fault = fault or ("" if isinstance(value, dict) else "it is no JSON object")
        reply = sc.run_hook(value, fault, {"HOME": hook.scratch, "SESSION_CONTRACT_DIR": folder}, NOW)
        answers(sc, value.get("hook_event_name") if isinstance(value, dict) else None, reply, bool(contract))
        assert sorted(os.listdir(hook.scratch)) == ["store", "t"]
        if not contract and os.path.exists(folder + "/contracts/s1.json"):
            assert sc.Store(folder).load("s1").kind == "ok"
    finally:
        shutil.rmtree(folder)


def turn(sc, data):
    text = data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace") if decodes(data) else ""
    seen = sc.read_turn(text, len(data) % 3 or None)
    assert all(0 <= hit[2] <= hit[3] <= len(text) for key in ("hits", "excused", "advisory") for hit in seen[key])
    stop = sc.Stop(message=text, **seen)
    contract = {**sc.CONTRACT, "session": "s1"}
    verdict = sc.decide(contract, stop, sc.Evidence(readable=True), sc.Settings(), NOW)
    after = sc.next_contract(contract, stop, verdict, NOW)
    assert verdict.cls in sc.CLASSES and not sc.contract_fault(after, "s1")
    assert len(sc.block_text(contract, stop, verdict, sc.Settings()).encode("utf-8", "replace")) <= sc.LIMITS["first"]


def decodes(data):
    try:
        data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace")
        return True
    except UnicodeDecodeError:
        return False


def prompt(sc, data):
    text = data.decode("utf-8", "replace")
    for gated in (False, True):
        words = sc.human_part(text)
        heard = sc.read_prompt(words, gated)
        before = {**sc.CONTRACT, "session": "s1"} if gated else None
        after, answer = sc.hear(before, sc.Prompt(heard=heard, session="s1", size=1), sc.Settings(), NOW)
        assert after is None or not sc.contract_fault(after, "s1")
        assert "\n" not in answer.system
        if heard["intent"]:        # what the cheap test throws away must mean nothing, or installed copies differ
            assert gated or sc.may_matter(text, False)
    sc.nothing_to_do({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": text},
                     {"SESSION_CONTRACT_DIR": "/nonexistent"})


def evidence(sc, data):
    cutting = data[0] % (len(data) + 1) if data else 0
    contract = {**sc.CONTRACT, "session": "s1"}
    for start, whole in ((0, True), (cutting, False)):
        found, end = sc.rows_of(data[start:], start, whole)
        assert start <= end <= len(data)
        seen = sc.read_evidence(found, contract, end)
        after = sc.absorb(contract, seen, sc.Settings(), NOW)
        assert not sc.contract_fault(after, "s1"), sc.contract_fault(after, "s1")
        again = sc.load_contract(sc.dump_json(after).encode(), "s1")
        assert again.kind == "ok" and again.contract == after, again.why
        sc.ran_well(found, "pytest -q", sc.clock(0))


def contract(sc, data):
    loaded = sc.load_contract(data, "s1")
    assert (loaded.kind == "ok") is (loaded.contract is not None) and bool(loaded.why) is (loaded.kind != "ok")
    if loaded.kind != "ok":
        return
    own, settings = loaded.contract, sc.Settings()
    again = sc.load_contract(sc.dump_json(own).encode(), "s1")
    assert again.kind == "ok" and sc.dump_json(again.contract) == sc.dump_json(own)
    sc.status_text(own, NOW), sc.describe(own, settings, NOW, "armed"), sc.steady(own)
    for message in ("225 remain. Continuing.", "All done."):
        stop = sc.Stop(message=message, **sc.read_turn(message))
        seen = sc.Evidence(readable=True, run=("x", ""), check=(1, "no"), away=True)
        verdict = sc.decide(own, stop, seen, settings, NOW)
        sc.block_text(own, stop, verdict, settings), sc.hold_line(own, stop, verdict, settings)
        sc.allow_line(own, verdict)
        assert not sc.contract_fault(sc.next_contract(own, stop, verdict, NOW), "s1")


def settings(sc, data):
    try:
        text = sc.settings_text(data)
        value = sc.parse_settings(text)[0]
        merged = sc.merge_settings(text, ENTRIES)
    except sc.SettingsFault:
        return
    assert sc.merge_settings(merged, ENTRIES) == merged
    left = {event for event, _ in sc.registrations(merged)}
    assert left == set(ENTRIES) and sc.registrations(sc.unmerged(merged, None)) == []
    if not sc.registrations(text) and text.strip(sc.BOM + sc.BLANKS):
        assert sc.unmerged(merged, text) == text
        assert {key: entry for key, entry in sc.parse_settings(merged)[0].items() if key != "hooks"} == {
            key: entry for key, entry in value.items() if key != "hooks"} or has_nan(value)


def has_nan(value):
    return "NaN" in json.dumps(value)


ENTRIES = {event: {"hooks": [{"type": "command", "command": "/x/session-contract-hook/hook"}]}
           for event in ("SessionStart", "UserPromptSubmit", "Stop")}
TARGETS = {run.__name__: run for run in (hook, turn, prompt, evidence, contract, settings)}


def run_target(name, corpus, seconds, seed):
    """In a process of its own: atheris ends the process."""
    import atheris
    with atheris.instrument_imports(include=["session_contract"]):
        import session_contract as sc
    with tempfile.TemporaryDirectory() as scratch:
        hook.scratch = scratch
        atheris.Setup([sys.argv[0], corpus, f"-max_total_time={seconds}", f"-seed={seed}", "-max_len=4096",
                       f"-artifact_prefix={corpus}.finding-", "-rss_limit_mb=2048", "-timeout=10"],
                      lambda data: TARGETS[name](sc, data))
        atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60, help="in all, shared by the targets")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", default="", help="a folder to go on with (default: a new one)")
    parser.add_argument("--in-process", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    folder = args.corpus or tempfile.mkdtemp(prefix="session-contract-fuzz-")
    if args.in_process:
        run_target(args.in_process, f"{folder}/{args.in_process}", args.seconds, args.seed)
        return 0
    names, worst = args.target or list(TARGETS), 0
    for name in names:
        corpus = f"{folder}/{name}"
        os.makedirs(corpus, exist_ok=True)
        for number, data in enumerate(SEEDS[name]):
            with open(f"{corpus}/seed-{number}", "wb") as file:
                file.write(data)
        run = subprocess.run([sys.executable, __file__, "--in-process", name, "--corpus", folder,
                              "--seed", str(args.seed), "--seconds", str(max(1, args.seconds // len(names)))],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        said = run.stdout.decode("utf-8", "replace")
        found = [entry for entry in sorted(os.listdir(folder)) if entry.startswith(name + ".finding-")]
        runs, features = (re.findall(pattern, said)[-1:] or ["?"] for pattern in (r"#(\d+)", r"ft: (\d+)"))
        print(f"{name:9} {runs[0]:>8} runs {features[0]:>6} features {len(os.listdir(corpus)):>5} inputs kept "
              f"{len(found):>3} findings", flush=True)
        if found or run.returncode:
            print(said[-4000:])
            worst = 1
    print(f"corpus: {folder}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
