"""Installing: settings files edited byte by byte, a launcher that never exits 2 by itself, a doctor."""
import builtins
import dis
import glob
import json
import os
import pty
import re
import shlex
import shutil
import stat
import subprocess
import sys
from argparse import Namespace

import pytest

import session_contract as sc
from conftest import ARMING, FILE, PATIENCE, held, launch, let_go, told
from within import Failing

COMMAND = "/home/dev/.claude/session-contract-hook/hook"
ENTRIES = sc.hook_entries(COMMAND)
FOREIGN = {"hooks": [{"type": "command", "command": "/usr/local/bin/notify"}]}
RICH = {
    "env": {"LANG": "de_DE.UTF-8"}, "model": "opus", "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {"Stop": [FOREIGN, {"matcher": "*", "hooks": [{"type": "command", "command": "say done", "timeout": 5}]}],
              "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
              "SessionEnd": []},
    "statusLine": {"type": "command", "command": "line"}, "x-keep": [1.50, None, True, "ceña \u2713 \U0001f512"]}


def old_shape(command, **more):
    return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command, **more}]}]}}).encode()


def laid_out(indent=2, ends="\n", **more):
    return (json.dumps(RICH, ensure_ascii=False, indent=indent, **more).replace("\n", ends) + ends).encode()


# Sentence, bytes of the file.
MERGED = [
    ("an empty object", b"{}"),
    ("an empty object with a newline", b"{}\n"),
    ("an empty object over two lines", b"{\n}\n"),
    ("a file of no bytes", b""),
    ("a file of blanks", b" \n\t\n"),
    ("no hooks yet", b'{\n  "model": "opus"\n}\n'),
    ("an empty hooks object", b'{\n  "hooks": {}\n}\n'),
    ("an empty hooks object that is not last", b'{\n  "hooks": {},\n  "model": "opus"\n}\n'),
    ("an empty list for our event", b'{\n  "hooks": {\n    "Stop": []\n  }\n}\n'),
    ("an empty list with a blank in it", b'{\n  "hooks": {\n    "Stop": [ ]\n  }\n}\n'),
    ("foreign hooks on our events and others", laid_out()),
    ("four blanks of indentation", laid_out(4)),
    ("tabs", laid_out("\t")),
    ("no indentation but lines", laid_out(0)),
    ("CRLF line ends", laid_out(ends="\r\n")),
    ("CR line ends", laid_out(ends="\r")),
    ("no newline at the end", laid_out().rstrip()),
    ("many newlines at the end", laid_out() + b"\n\n\n"),
    ("blank lines and blanks at line ends", laid_out().replace(b"{\n", b"{  \n\n").replace(b",\n", b" ,\n\n")),
    ("a minified file", laid_out(None, "", separators=(",", ":"))),
    ("one line with blanks after the colons", laid_out(None, "")),
    ("escapes that JSON does not need", b'{\n  "note": "\\u00e9\\/\\ud83d\\ude00 \\u2028"\n}\n'),
    ("a byte order mark", b"\xef\xbb\xbf" + laid_out()),
    ("a byte order mark and CRLF", b"\xef\xbb\xbf" + laid_out(ends="\r\n")),
    ("numbers in odd spellings", b'{"a": 1.0e+2, "b": -0, "c": 12345678901234567890123, "d": 1E400}'),
    ("the same key twice off our path", b'{\n  "x": 1,\n  "x": 2\n}\n'),
    ("braces and quotes in texts", b'{"a": "}]\\"{[", "b\\\\": "//", "c": "/* \\" */"}'),
    ("the word hooks elsewhere", b'{\n  "a": {"hooks": 3, "Stop": null},\n  "hooks": {"Notification": []}\n}\n'),
    ("an event that no client knows, of odd shape", b'{"hooks": {"Someday": {"a": 1}}}'),
    ("a hooks object on one line in a file of many", b'{\n  "hooks": {"Stop": [], "PreToolUse": []},\n  "a": 1\n}\n'),
    ("our event on one line",
     b'{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "x"}]}]\n  }\n}\n'),
    ("a hook of a type of its own", b'{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]}}'),
    ("a foreign hook that mentions our file", old_shape("cp ~/session_contract.py /backup")),
    ("a foreign hook that reads our file", old_shape("grep -c def ~/session_contract.py")),
    ("a foreign hook that runs one of our commands", old_shape("~/.claude/session-contract-hook/hook status --all")),
    ("a foreign hook with an open quote", old_shape("echo 'x")),
    ("a megabyte of permissions", json.dumps({"permissions": {"allow": [f"Bash(tool-{n}:*)" for n in range(45000)]}},
                                             indent=1).encode()),
    ("a foreign group in the flat shape", b'{"hooks": {"Stop": [{"type": "command", "command": "x"}]}}'),
    ("a foreign group that is a text", b'{\n  "hooks": {\n    "Stop": ["x", null, {}, 3]\n  }\n}\n'),
    ("a foreign hook with a timeout of text", old_shape("x", timeout="10")),
    ("a nesting of 200 levels", b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}"),
]

# Sentence, bytes of the file, what the refusal says.
REFUSED = [
    ("a line comment", b'{\n  // mine\n  "a": 1\n}\n', "line 2, column 3: a comment"),
    ("a block comment", b'{\n  "a": 1 /* mine */\n}\n', "line 2, column 10: a comment"),
    ("a trailing comma in an object", b'{\n  "a": 1,\n}\n', "trailing comma"),
    ("a trailing comma in a list", b'{"a": [1,]}', "trailing comma"),
    ("an unterminated text", b'{\n  "a": "x\n}\n', "line 2"),
    ("a missing brace", b'{\n  "a": 1\n', "line 3"),
    ("half a file", laid_out()[:300], "line "),
    ("a blank that JSON does not know", b"\x0b", "line 1, column 1"),
    ("two objects", b"{}\n{}\n", "line 2, column 1"),
    ("single quotes", b"{'a': 1}", "line 1, column 2"),
    ("a bare word", b"settings", "line 1, column 1"),
    ("NaN, which only Python reads", b'{\n  "a": NaN\n}\n', "line 2, column 8: NaN"),
    ("a raw control character", b'{"a": "\x01"}', "line 1"),
    ("UTF-16 with its mark", '{"a": 1}'.encode("utf-16"), "line 1, column 1: byte 0xff"),
    ("UTF-16 without a mark", '{"a": 1}'.encode("utf-16-le"), "line 1, column 2"),
    ("Latin-1", '{\n  "a": "ce\xf1a"\n}\n'.encode("latin-1"), "line 2, column 11: byte 0xf1"),
    ("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf{}", "line 1, column 1"),
    ("a null root", b"null\n", "no object"),
    ("a list as root", b"[]", "no object"),
    ("hooks as a list", b'{\n  "hooks": []\n}\n', "line 2, column 12"),
    ("hooks as null", b'{"hooks": null}', "no object"),
    ("our event as an object", b'{"hooks": {"Stop": {"hooks": []}}}', "hooks.Stop is no list"),
    ("our event as null", b'{"hooks": {"Stop": null}}', "hooks.Stop is no list"),
    ("hooks twice", b'{\n  "hooks": {},\n  "hooks": {}\n}\n', "line 3, column 3: \"hooks\" stands twice"),
    ("our event twice", b'{"hooks": {"Stop": [], "Stop": []}}', "\"Stop\" stands twice"),
    ("a nesting that no parser follows", b"[" * 200000, "nested too deeply"),
]

# Sentence, a registration of ours as it may stand in a settings file.
OLDER = [
    ("the launcher of another home", "/old/home/.claude/session-contract-hook/hook"),
    ("the launcher, quoted", "'/old/my home/.claude/session-contract-hook/hook'"),
    ("python3 and the file", "python3 /opt/tools/session_contract.py"),
    ("an interpreter with flags", "/usr/bin/python3.11 -I -S /opt/session_contract.py"),
    ("a quoted path", "python3 \"/opt/my tools/session_contract.py\""),
    ("a path with a variable", "python3 \"$CLAUDE_PROJECT_DIR\"/tools/session_contract.py"),
    ("the file as a program", "~/bin/session_contract.py"),
    ("a guard before it", "test -f /opt/session_contract.py || exit 0; exec python3 /opt/session_contract.py"),
    ("a switch before it", "SESSION_CONTRACT=observe python3 /opt/session_contract.py"),
    ("a redirection behind it", "python3 /opt/session_contract.py 2>/dev/null"),
    ("an import", "python3 -I -S -c 'import sys; sys.path.append(\"/opt\"); import session_contract as s; s.main()'"),
]


def ids(rows):
    return {"ids": [row[0] for row in rows]}


def ours_in(text):
    return list(sc.registrations(text))


def without_hooks_of_ours(text):
    """The value of a settings text with our groups left out, and what they alone had filled."""
    value = json.loads(text.lstrip("\ufeff")) if text.strip("\ufeff \n\t") else {}
    hooks = value.get("hooks")
    for event, groups in list(hooks.items()) if isinstance(hooks, dict) else ():
        if isinstance(groups, list):
            hooks[event] = [group for group in groups if not (
                isinstance(group, dict) and any(sc.is_ours(hook) for hook in group.get("hooks", ())))]
    return value


def filled(value):
    """VALUE as text, blind to empty lists and objects of hooks: install fills those."""
    hooks = value.get("hooks")
    if isinstance(hooks, dict):
        value = {**value, "hooks": {event: groups for event, groups in hooks.items() if groups != []}}
        value = {key: part for key, part in value.items() if key != "hooks" or part}
    return json.dumps(value)


def is_woven_in(old, new):
    """Does OLD survive in NEW, character after character?"""
    rest = iter(new)
    return all(char in rest for char in old.strip())


class TestSettingsText:
    """merge_settings and remove_settings, as pure functions of text."""

    @pytest.mark.parametrize("sentence, data", MERGED, **ids(MERGED))
    def test_our_entries_are_added_once_each(self, sentence, data):
        text = sc.settings_text(data)
        new = sc.merge_settings(text, ENTRIES)
        assert sorted(map(str, ours_in(new))) == sorted(str((event, ENTRIES[event]["hooks"][0])) for event in ENTRIES)
        assert filled(without_hooks_of_ours(new)) == filled(without_hooks_of_ours(text))

    @pytest.mark.parametrize("sentence, data", MERGED, **ids(MERGED))
    def test_every_other_byte_stays_and_comes_back(self, sentence, data):
        text = sc.settings_text(data)
        new = sc.merge_settings(text, ENTRIES)
        assert is_woven_in("".join(text.split()), "".join(new.split()))
        assert new.startswith("\ufeff") == text.startswith("\ufeff")
        assert sc.unmerged(new, text) == text

    @pytest.mark.parametrize("sentence, data", MERGED, **ids(MERGED))
    def test_a_second_merge_changes_nothing(self, sentence, data):
        new = sc.merge_settings(sc.settings_text(data), ENTRIES)
        assert sc.merge_settings(new, ENTRIES) == new

    @pytest.mark.parametrize("sentence, data", MERGED, **ids(MERGED))
    def test_removal_without_a_backup_leaves_nothing_of_ours(self, sentence, data):
        text = sc.settings_text(data)
        bare = sc.remove_settings(sc.merge_settings(text, ENTRIES))
        assert not ours_in(bare)
        assert filled(without_hooks_of_ours(bare)) == filled(without_hooks_of_ours(text))

    @pytest.mark.parametrize("ends", ["\r\n", "\r"])
    def test_line_ends_are_those_of_the_file(self, ends):
        new = sc.merge_settings(laid_out(ends=ends).decode(), ENTRIES)
        assert "\n" not in new.replace(ends, "")

    @pytest.mark.parametrize("indent, line", [(2, "\n  "), (4, "\n    "), ("\t", "\n\t")])
    def test_new_lines_are_indented_as_the_others(self, indent, line):
        value = {"model": "opus", "hooks": {"Stop": []}}
        new = sc.merge_settings(json.dumps(value, indent=indent), ENTRIES)
        assert new == json.dumps({**value, "hooks": {event: [ENTRIES[event]] for event in (
            "Stop", "SessionStart", "UserPromptSubmit")}}, indent=indent)
        assert line + "\"hooks\"" in new

    def test_a_minified_file_stays_on_one_line(self):
        assert sc.merge_settings('{"a":1}', {"Stop": FOREIGN}) == \
            '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/usr/local/bin/notify"}]}]}}'

    @pytest.mark.parametrize("sentence, data, said", REFUSED, **ids(REFUSED))
    def test_what_is_not_understood_is_refused_with_its_place(self, sentence, data, said):
        with pytest.raises(sc.SettingsFault) as fault:
            sc.merge_settings(sc.settings_text(data), ENTRIES)
        assert said in str(fault.value) and str(fault.value).startswith("line ")

    @pytest.mark.parametrize("sentence, command", OLDER, **ids(OLDER))
    def test_an_older_registration_is_replaced(self, sentence, command):
        new = sc.merge_settings(old_shape(command).decode(), ENTRIES)
        assert sorted(event for event, _ in ours_in(new)) == sorted(ENTRIES) and command not in json.loads(new)

    def test_an_older_registration_in_exec_form_is_replaced(self):
        text = old_shape("python3", args=["/opt/session_contract.py"]).decode()
        assert "args" not in sc.merge_settings(text, ENTRIES)

    def test_ours_is_taken_out_of_a_group_that_it_shares(self):
        shared = {"hooks": [{"type": "command", "command": "first"}, {"type": "command", "command": COMMAND},
                            {"type": "command", "command": "last"}]}
        new = json.loads(sc.remove_settings(json.dumps({"hooks": {"Stop": [shared]}}, indent=2)))
        assert [hook["command"] for hook in new["hooks"]["Stop"][0]["hooks"]] == ["first", "last"]

    def test_registrations_on_other_events_are_removed_too(self):
        assert sc.remove_settings(old_shape(COMMAND).decode().replace("Stop", "SubagentStop")) == "{}"

    def test_three_copies_become_one(self):
        text = json.dumps({"hooks": {"Stop": [ENTRIES["Stop"], FOREIGN, ENTRIES["Stop"], ENTRIES["Stop"]]}})
        assert json.loads(sc.merge_settings(text, ENTRIES))["hooks"]["Stop"] == [FOREIGN, ENTRIES["Stop"]]

    def test_what_the_operator_changed_since_survives_the_removal(self):
        before = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'
        new = sc.merge_settings(before, ENTRIES).replace('{\n  "hooks"', '{\n  "model": "opus",\n  "hooks"')
        assert sc.unmerged(new, before) == '{\n  "model": "opus",\n  "hooks": {\n    "Stop": []\n  }\n}\n'

    def test_containers_that_install_made_go_again(self):
        assert sc.remove_settings(sc.merge_settings('{\n  "a": 1\n}\n', ENTRIES)) == '{\n  "a": 1\n}\n'


# -- the installed form

def pythons(version):
    """An interpreter of VERSION on this machine; the test is skipped without one."""
    found = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}")))
    path = found[0] if found else shutil.which(f"python{version}")
    if not path:
        pytest.skip(f"no Python {version} here")
    return path


# What is wrong with an entry of the settings.
ODD_GROUPS = [
    ("a group in the flat shape", {"type": "command", "command": "x"}),
    ("a group that is a text", "x"),
    ("a null matcher", {"matcher": None, "hooks": []}),
    ("a matcher object", {"matcher": {}, "hooks": []}),
    ("a hook without a type", {"hooks": [{"command": "x"}]}),
    ("a hook without a command", {"hooks": [{"type": "command"}]}),
    ("a timeout of text", {"hooks": [{"type": "command", "command": "x", "timeout": "10"}]}),
    ("a negative timeout", {"hooks": [{"type": "command", "command": "x", "timeout": -1}]}),
]


@pytest.mark.parametrize("sentence, group", ODD_GROUPS, **ids(ODD_GROUPS))
def test_an_entry_of_odd_shape_is_known(sentence, group):
    assert not sc.well_formed(group)


@pytest.mark.parametrize("group", [FOREIGN, {"hooks": []},
                                   {"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "?"}]}])
def test_an_entry_of_good_shape_is_known(group):
    assert sc.well_formed(group)


def only(folder, **programs):
    """A PATH of nothing but PROGRAMS: a path to link to, or the text of a script."""
    os.makedirs(folder, exist_ok=True)
    for name, what in programs.items():
        path = os.path.join(folder, name)
        if what.startswith("#!"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(what)
            os.chmod(path, 0o755)
        else:
            os.symlink(what, path)
    return str(folder)


def gate_off(installed, **more):
    """No event is answered with 2, and the operator is told that nothing is held."""
    for event in sc.TIMEOUTS:
        told(let_go(installed.event(event, **more)), "gate off")


class TestLauncher:
    @pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "ksh"])
    def test_it_arms_holds_and_lets_go(self, installed, shell):
        if not shutil.which(shell):
            pytest.skip(f"no {shell} here")
        told(installed.event("UserPromptSubmit", shell=shell), "armed")
        held(installed.event("Stop", shell=shell))

    def test_a_path_of_blanks_quotes_and_dollars_works(self, odd):
        told(odd.event("UserPromptSubmit"), "armed")
        held(odd.event("Stop"))
        assert odd.shell(f"{odd.place.command} item add 'a thing' --session s1").out.startswith(b"i1 open")

    def test_a_home_that_moved_works_at_its_new_place(self, installed, tmp_path):
        os.rename(installed.config, tmp_path / "moved")
        installed.config = str(tmp_path / "moved")
        line = shlex.quote(str(tmp_path / "moved" / sc.HOOK_DIR / sc.LAUNCHER))
        assert installed.shell(line + " --version", CLAUDE_CONFIG_DIR=installed.config).code == 0
        assert installed.shell().code == 127

    def test_it_is_found_through_a_link(self, installed, tmp_path):
        os.symlink(installed.place.launcher, tmp_path / "contract")
        assert b"0." in installed.shell(f"{tmp_path}/contract --version").out

    def test_without_the_launcher_the_shell_says_127(self, installed):
        os.unlink(installed.place.launcher)
        assert installed.event("UserPromptSubmit").code == 127

    @pytest.mark.parametrize("shell", ["sh", "bash"])
    def test_crlf_line_ends_do_not_exit_2(self, installed, shell):
        installed.write(sc.launcher_text(installed.python, installed.place.home).replace("\n", "\r\n"),
                        installed.place.launcher)
        assert installed.event("UserPromptSubmit", shell=shell).code in (126, 127)

    @pytest.mark.parametrize("shell", ["sh", "bash"])
    def test_cut_off_anywhere_behind_its_trap_it_does_not_exit_2(self, installed, shell):
        text = sc.launcher_text("/gone/python3.11", installed.place.home)
        start = text.index("EXIT\n") + 5
        for end in range(start, len(text), 17):
            installed.write(text[:end], installed.place.launcher)
            os.chmod(installed.place.launcher, 0o755)
            assert installed.shell(installed.place.command, shell=shell, path="/nowhere").code != 2, text[:end]

    def test_without_the_hook_part_the_gate_is_off(self, installed):
        os.unlink(installed.place.gate)
        gate_off(installed)

    def test_without_the_copy_the_gate_is_off_where_it_would_have_to_act_and_a_command_says_so(self, installed):
        os.unlink(installed.place.module)
        os.unlink(installed.place.rest)
        told(let_go(installed.event("UserPromptSubmit")), "gate off")
        assert "is gone" in installed.shell(f"{installed.place.command} status").err

    @pytest.mark.parametrize("what", [b"", b"\0\0\0", b"def main(:\n", b"import gone_for_good\n",
                                      b"raise SystemExit(2)\n"],
                             ids=["empty", "zero bytes", "broken", "lacking a module", "leaving at once"])
    def test_with_a_copy_that_cannot_be_loaded_no_event_exits_2(self, installed, what):
        installed.write(what, installed.place.gate)
        assert {installed.event(event).code for event in sc.TIMEOUTS} == {0}

    def test_with_half_a_copy_the_gate_is_off(self, installed):
        data = read(installed.place.gate)
        installed.write(data[:len(data) // 2], installed.place.gate)
        gate_off(installed)

    def test_with_the_interpreter_gone_python3_takes_over(self, installed, alone, tmp_path):
        installed.write_launcher("/gone/python3.11")
        path = only(tmp_path / "bin", python3=installed.python)
        told(installed.event("UserPromptSubmit", path=path), "armed")
        held(installed.event("Stop", path=path))

    def test_with_no_python_at_all_the_gate_is_off(self, installed, alone):
        installed.write_launcher("/gone/python3.11")
        gate_off(installed, path="/nowhere")

    @pytest.mark.parametrize("version", ["2.7", "3.6", "3.7", "3.8"])
    def test_python3_that_is_too_old_is_not_used(self, installed, alone, tmp_path, version):
        installed.write_launcher("/gone/python3.11")
        gate_off(installed, path=only(tmp_path / "bin", python3=pythons(version)))

    @pytest.mark.parametrize("version", ["2.7", "3.6", "3.8"])
    def test_a_recorded_interpreter_that_became_too_old_gives_way(self, installed, alone, tmp_path, version):
        installed.write_launcher(only(tmp_path / "bin", recorded=pythons(version)) + "/recorded")
        for event in sc.TIMEOUTS:
            run = installed.event(event, path="/nowhere")       # Python 2 has its say on stderr, which nobody reads
            assert run.code == 0 and "gate off" in run.said
        path = only(tmp_path / "more", python3=installed.python)
        told(installed.event("UserPromptSubmit", path=path), "armed")

    @pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
    def test_every_later_python_runs_it(self, installed, version):
        installed.write_launcher(pythons(version))
        told(installed.event("UserPromptSubmit"), "armed")
        held(installed.event("Stop"))

    @pytest.mark.parametrize("status", [0, 1, 2, 127])
    def test_a_shim_in_front_is_not_taken_for_python(self, installed, alone, tmp_path, status):
        installed.write_launcher("/gone/python3.11")
        shim = f"#!/bin/sh\necho use another launcher\nexit {status}\n"
        gate_off(installed, path=only(tmp_path / "bin", python3=shim))

    @pytest.mark.parametrize("status", [1, 2, 3, 126, 127])
    def test_a_recorded_interpreter_that_fails_holds_nothing(self, installed, alone, tmp_path, status):
        only(tmp_path / "bin", recorded=f"#!/bin/sh\nexit {status}\n")
        installed.write_launcher(f"{tmp_path}/bin/recorded")
        gate_off(installed, path="/nowhere")

    @pytest.mark.parametrize("word", ["0", "false", "off", "no"])
    def test_switched_off_it_leaves_before_any_python(self, installed, word):
        installed.write_launcher("/gone/python3.11")
        run = installed.event("Stop", path="/nowhere", SESSION_CONTRACT=word)
        assert (run.code, run.out, run.err) == (0, b"", "")

    def test_switched_off_its_commands_still_work(self, installed):
        assert installed.shell(f"{installed.place.command} status --all", SESSION_CONTRACT="0").code == 0

    @pytest.mark.parametrize("line, status", [("status --all", 0), ("no-such-verb", 64), ("item list", 1)])
    def test_with_arguments_it_is_a_command(self, installed, line, status):
        assert installed.shell(f"{installed.place.command} {line}").code == status

    def test_a_command_without_any_python_says_so(self, installed, alone):
        installed.write_launcher("/gone/python3.11")
        run = installed.shell(f"{installed.place.command} status", path="/nowhere")
        assert run.code == 1 and "no Python" in run.err and not run.out

    def test_on_a_terminal_it_prints_its_help(self, installed):
        ours, its = pty.openpty()
        done = subprocess.run([installed.place.launcher], stdin=its, env=installed.environ, check=False,
                              timeout=PATIENCE, stdout=subprocess.PIPE)
        os.close(its), os.close(ours)
        assert done.returncode == 0 and b"usage" in done.stdout

    @pytest.mark.parametrize("stdin", [b"", b"{", b"[1]", b"\xff" * 5000, b"null"])
    def test_rubbish_on_its_input_is_let_go(self, installed, stdin):
        assert installed.shell(stdin=stdin).code == 0

    def test_it_works_where_the_working_directory_is_gone(self, installed):
        run = installed.shell(f"mkdir x && cd x && rmdir ../x && {installed.place.command}", stdin=json.dumps(
            {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": ARMING}).encode())
        told(run, "armed")

    def test_the_texts_for_the_model_name_the_launcher(self, installed):
        assert f"{installed.place.command} item" in installed.event("UserPromptSubmit").context


def names_in(code):
    """The global names that CODE and the code in it look up."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            yield from names_in(inner)


@pytest.mark.parametrize("part", [1, 2], ids=["the front", "the hook without its commands"])
def test_an_installed_part_lacks_nothing_that_it_calls(part):
    code = compile(sc.parts_of(read(FILE))[part], "part", "exec")
    known = {"__name__": "part", "__file__": "/nowhere/part.py"}
    exec(code, known)
    assert {name for name in names_in(code) if name not in known and not hasattr(builtins, name)} == set()
    assert not any(name.startswith("cmd_") for name in known)


class TestInterpreter:
    def test_a_link_is_recorded_only_where_it_leads_to_the_same_file(self, monkeypatch, tmp_path):
        name = "python{}.{}".format(*sys.version_info)
        only(tmp_path / "other/bin", **{name: "/bin/sh"})
        same = only(tmp_path / "same/bin", **{name: os.path.realpath(sys.executable)})
        monkeypatch.setattr(sc, "PYTHON_HOMES", (f"{tmp_path}/other", f"{tmp_path}/same"))
        assert sc.recorded_python({}) == f"{same}/{name}"

    def test_a_venv_is_not_recorded(self, tmp_path):
        made = subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=False,
                              capture_output=True)
        if made.returncode:
            pytest.skip("venv cannot be made here")
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        subprocess.run([tmp_path / "venv/bin/python", FILE, "install"], env=environ, check=True, capture_output=True)
        shutil.rmtree(tmp_path / "venv")
        launcher = tmp_path / ".claude" / sc.HOOK_DIR / sc.LAUNCHER
        assert "venv" not in sc.launcher_python(launcher.read_text())
        assert subprocess.run([launcher, "--version"], env=environ, check=False, capture_output=True).returncode == 0

    def test_an_interpreter_that_does_not_answer_is_refused(self, monkeypatch):
        monkeypatch.setattr(sc, "answers", lambda path: None)
        with pytest.raises(sc.Refusal, match="does not answer"):
            sc.recorded_python({})


# -- install and uninstall, on disk

@pytest.fixture
def quick(monkeypatch, installed):
    """Install and uninstall in this process, with a proof that always holds; the real one is run elsewhere."""
    monkeypatch.setattr(sc, "prove", lambda command, environ: "a hold\n")
    monkeypatch.setattr(sc, "recorded_python", lambda environ: installed.python)

    def run(verb, scope="user", dry_run=False, **environ):
        command = {"install": sc.cmd_install, "uninstall": sc.cmd_uninstall}[verb]
        return command(Namespace(scope=scope, dry_run=dry_run), {**installed.environ, **environ}, 0)

    run.installed = installed
    return run


def read(path):
    with open(path, "rb") as file:
        return file.read()


class TestInstall:
    def test_it_proves_itself_and_shows_the_hold(self, tmp_path):
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        run = launch(environ, b"", "install")
        assert run.code == 0 and sc.HELD.encode() in run.out and b"already open are covered" in run.out
        written = read(tmp_path / ".claude/settings.json").decode()
        assert sorted(event for event, _ in ours_in(written)) == sorted(sc.TIMEOUTS)
        assert glob.glob(f"{tmp_path}/.claude/{sc.HOOK_DIR}/__pycache__/*.pyc")
        assert not os.path.exists(tmp_path / ".claude" / sc.NAME)

    def test_five_installs_leave_one_entry_an_event(self, quick):
        for _ in range(5):
            quick("install")
        assert len(ours_in(read(quick.installed.settings).decode())) == len(sc.TIMEOUTS)

    def test_a_failed_proof_leaves_nothing(self, tmp_path):
        only(tmp_path / "bin", sh="#!/bin/false\n")
        run = launch({"PATH": f"{tmp_path}/bin", "HOME": str(tmp_path / "home")}, b"", "install")
        assert run.code == 1 and "proof" in run.err
        assert [files for _, _, files in os.walk(tmp_path / "home") if files] == []

    def test_a_failed_proof_leaves_what_was_installed_before(self, quick, monkeypatch):
        place = quick.installed.place
        quick.installed.write(b"# an older copy\n", place.module)
        before = [read(path) for path in (place.module, place.gate, place.launcher, place.settings)]

        def fails(command, environ):
            raise sc.Refusal("it failed its proof")

        monkeypatch.setattr(sc, "prove", fails)
        with pytest.raises(sc.Refusal):
            quick("install")
        assert [read(path) for path in (place.module, place.gate, place.launcher, place.settings)] == before

    def test_install_and_uninstall_leave_an_empty_home(self, tmp_path):
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        for verb in ("install", "uninstall", "uninstall"):
            assert launch(environ, b"", verb).code == 0
        assert [files for _, _, files in os.walk(tmp_path) if files] == []

    @pytest.mark.parametrize("sentence, data", MERGED, **ids(MERGED))
    def test_uninstall_gives_every_file_its_bytes_back(self, quick, sentence, data):
        quick.installed.write(data)
        quick("install")
        assert read(quick.installed.place.backup) == data
        quick("uninstall")
        assert read(quick.installed.settings) == data and not os.path.exists(quick.installed.place.backup)

    @pytest.mark.parametrize("sentence, data, said", REFUSED, **ids(REFUSED))
    def test_a_refused_file_is_named_and_untouched(self, quick, sentence, data, said):
        quick.installed.write(data)
        with pytest.raises(sc.Refusal) as refusal:
            quick("install")
        assert quick.installed.settings in str(refusal.value) and said in str(refusal.value)
        assert read(quick.installed.settings) == data and not os.path.exists(quick.installed.place.backup)

    def test_a_dry_run_shows_the_difference_and_changes_nothing(self, quick, capfd):
        quick.installed.write(laid_out())
        before = sorted(os.listdir(quick.installed.config))
        quick("install", dry_run=True)
        assert "+    \"UserPromptSubmit\": [" in capfd.readouterr().out
        assert read(quick.installed.settings) == laid_out() and sorted(os.listdir(quick.installed.config)) == before

    def test_uninstall_has_a_dry_run_too(self, quick, capfd):
        before = read(quick.installed.settings)
        quick("uninstall", dry_run=True)
        assert "-" in capfd.readouterr().out and read(quick.installed.settings) == before

    @pytest.mark.parametrize("verb", ["install", "uninstall"])
    def test_the_agent_may_not(self, quick, verb):
        with pytest.raises(sc.Refusal, match="operator"):
            quick(verb, CLAUDECODE="1")

    @pytest.mark.parametrize("scope, name", [("project", "settings.json"), ("local", "settings.local.json")])
    def test_other_scopes_write_into_the_project(self, quick, monkeypatch, tmp_path, scope, name):
        monkeypatch.chdir(tmp_path)
        before = read(quick.installed.settings)
        quick("install", scope=scope)
        assert len(ours_in(read(tmp_path / ".claude" / name).decode())) == 3
        assert read(quick.installed.settings) == before
        quick("uninstall", scope=scope)
        assert not os.path.exists(tmp_path / ".claude")

    def test_the_copy_stays_while_another_scope_runs_it(self, quick, monkeypatch, tmp_path, capfd):
        monkeypatch.chdir(tmp_path)
        for scope in ("user", "local"):
            quick("install", scope=scope)
        quick("uninstall", scope="user")
        assert "stays" in capfd.readouterr().out and os.path.exists(quick.installed.place.launcher)
        quick("uninstall", scope="local")
        assert not os.path.exists(quick.installed.place.home)

    def test_uninstall_lists_sessions_still_armed(self, quick, capfd):
        told(quick.installed.event("UserPromptSubmit"), "armed")
        quick("uninstall")
        assert "s1" in capfd.readouterr().out

    def test_uninstall_does_not_list_sessions_that_ended(self, quick, capfd):
        contract_file(quick.installed, json.dumps({**sc.CONTRACT, "session": "s9", "state": "disarmed"}))
        quick("uninstall")
        assert "s9" not in capfd.readouterr().out

    def test_a_project_s_folder_stays_if_something_else_is_in_it(self, quick, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        quick("install", scope="local")
        (tmp_path / ".claude/notes.txt").write_text("mine")
        quick("uninstall", scope="local")
        assert os.listdir(tmp_path / ".claude") == ["notes.txt"]

    def test_a_backup_that_is_no_settings_file_is_not_gone_by(self, quick):
        quick("install")
        quick.installed.write("{ broken", quick.installed.place.backup)
        quick("uninstall")
        assert json.loads(read(quick.installed.settings)) == {}

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_a_file_of_another_user_stays_that_user_s(self, quick):
        quick.installed.write(b'{"model": "opus"}')
        os.chown(quick.installed.settings, 12345, 12346)
        quick("install")
        status = os.stat(quick.installed.settings)
        assert (status.st_uid, status.st_gid) == (12345, 12346) and ours_in(read(quick.installed.settings).decode())

    def test_the_owner_of_a_file_is_looked_at(self, quick, monkeypatch):
        """As above for a user who is not root: the change of owner is asked for, and a refusal leaves the file."""
        quick.installed.write(b'{"model": "opus"}')
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
        monkeypatch.setattr(os, "chown", Failing(os, "chown", error=PermissionError(1, "Operation not permitted")).chown)
        with pytest.raises(sc.Refusal, match="Operation not permitted; it is as it was"):
            quick("install")
        assert read(quick.installed.settings) == b'{"model": "opus"}'

    def test_uninstall_leaves_files_that_are_not_its_own(self, quick):
        quick.installed.write("mine", f"{quick.installed.place.home}/notes.txt")
        quick("uninstall")
        assert os.listdir(quick.installed.place.home) == ["notes.txt"]

    def test_a_chain_of_links_stays_and_its_target_is_written(self, quick, tmp_path):
        place = quick.installed.place
        os.unlink(place.settings)
        quick.installed.write(laid_out(), str(tmp_path / "dot/real.json"))
        os.chmod(tmp_path / "dot/real.json", 0o640)
        os.symlink("real.json", tmp_path / "dot/link.json")
        os.symlink(tmp_path / "dot/link.json", place.settings)
        quick("install")
        assert os.path.islink(place.settings) and os.path.islink(tmp_path / "dot/link.json")
        assert len(ours_in(read(tmp_path / "dot/real.json").decode())) == 3
        assert stat.S_IMODE(os.stat(tmp_path / "dot/real.json").st_mode) == 0o640
        assert sorted(os.listdir(tmp_path / "dot")) == ["link.json", "real.json"]

    def test_a_link_to_nothing_gets_its_target(self, quick, tmp_path):
        os.unlink(quick.installed.settings)
        os.symlink(tmp_path / "dot/real.json", quick.installed.settings)
        quick("install")
        assert os.path.islink(quick.installed.settings) and os.path.exists(tmp_path / "dot/real.json")

    def test_a_loop_of_links_is_refused(self, quick):
        os.unlink(quick.installed.settings)
        os.symlink(quick.installed.settings, quick.installed.settings)
        with pytest.raises(sc.StoreError, match="symbolic links"):
            quick("install")
        assert os.path.islink(quick.installed.settings)

    def test_a_folder_in_its_place_is_refused(self, quick):
        os.unlink(quick.installed.settings)
        os.mkdir(quick.installed.settings)
        with pytest.raises(sc.StoreError, match="no regular file"):
            quick("install")

    def test_a_read_only_file_is_refused(self, quick):
        quick.installed.write(b"{}")
        os.chmod(quick.installed.settings, 0o444)
        with pytest.raises(sc.Refusal, match="read-only"):
            quick("install")
        assert read(quick.installed.settings) == b"{}"

    def test_a_copy_that_was_not_there_before_a_failed_install_is_not_left(self, quick, monkeypatch):
        os.unlink(quick.installed.place.gate)
        monkeypatch.setattr(sc, "change_settings", lambda *_: 1 / 0)
        quick.installed.write("{}")
        with pytest.raises(ZeroDivisionError):
            quick("install")
        assert not os.path.exists(quick.installed.place.gate) and os.path.exists(quick.installed.place.module)

    def test_a_file_that_another_program_wrote_meanwhile_is_not_overwritten(self, quick):
        place = quick.installed.place
        quick.installed.write(b'{"new": 1}')
        with pytest.raises(sc.Refusal, match="changed while"):
            sc.change_settings(place, b"{}", b'{"hooks": {}}')
        assert read(place.settings) == b'{"new": 1}'

    def test_an_entry_of_odd_shape_is_warned_about(self, quick, capfd):
        quick.installed.write(b'{"hooks": {"Notification": [{"command": "x"}]}}')
        assert quick("install") == 0 and "WARNING" in capfd.readouterr().out

    def test_a_registration_that_is_switched_off_is_told(self, quick, capfd):
        quick.installed.change(disableAllHooks=True)
        assert quick("install") == 1 and "NOT IN FORCE" in capfd.readouterr().out

    def test_a_crash_at_any_step_leaves_the_old_file_or_the_new(self, quick, monkeypatch):
        old = laid_out()
        new = sc.merge_settings(old.decode(), sc.hook_entries(quick.installed.place.command)).encode()
        for step in range(200):
            quick.installed.write(old)
            with monkeypatch.context() as patch:
                killed = crash_at(step, patch)
                try:
                    quick("install")
                except Killed:
                    pass
            assert read(quick.installed.settings) in (old, new)
            if not killed:
                break
        assert step > 10 and read(quick.installed.settings) == new


class Killed(BaseException):
    """The process ended here."""


def crash_at(step, patch):
    """From the STEP-th change of the disk on, every one fails; the list that is returned tells if it came to that."""
    count, killed = [0], []

    def guarded(real):
        def call(*given, **more):
            count[0] += 1
            if count[0] > step:
                killed.append(real)
                raise Killed
            return real(*given, **more)
        return call

    for name in ("open", "fsync", "chmod", "replace", "unlink", "rmdir"):
        patch.setattr(os, name, guarded(getattr(os, name)))
    return killed


# -- doctor

def no_launcher(i):
    os.unlink(i.place.launcher)


def not_executable(i):
    os.chmod(i.place.launcher, 0o644)


def contract_file(i, data, name="s9"):
    i.write(data, f"{i.config}/{sc.NAME}/contracts/{name}.json")
    for folder in ("", "/contracts"):
        os.chmod(f"{i.config}/{sc.NAME}{folder}", 0o700)


def own_store_file(i, name, data):
    i.write(data, f"{i.config}/{sc.NAME}/{name}")
    os.chmod(f"{i.config}/{sc.NAME}", 0o700)


def store_link(i):
    os.makedirs(f"{i.config}/elsewhere", mode=0o700)
    os.symlink(f"{i.config}/elsewhere", f"{i.config}/{sc.NAME}")


def no_bytecode(i):
    shutil.rmtree(f"{i.place.home}/__pycache__")


def project(i, name, value):
    i.write(json.dumps(value), os.path.join(os.getcwd(), ".claude", name))


def stranger(i):
    os.makedirs(f"{i.config}/{sc.NAME}", mode=0o700)
    os.chown(f"{i.config}/{sc.NAME}", 12345, 12345)


# Sentence, what breaks it, the finding, and what is added to doctor's environment.
BROKEN = [
    ("nothing is registered", lambda i: i.write("{}"), "not-installed"),
    ("no settings file at all", lambda i: os.unlink(i.settings), "not-installed"),
    ("one event is missing", lambda i: i.swap('"UserPromptSubmit"', '"PreToolUse"'), "entry-missing"),
    ("an event is registered twice", lambda i: i.swap('"Stop": [', '"Stop": [' + json.dumps(
        sc.hook_entries(i.place.command)["Stop"]) + ","), "entry-twice"),
    ("two scopes register different lines", lambda i: project(i, "settings.json", {"hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "python3 /opt/session_contract.py"}]}]}}), "entry-twice"),
    ("an entry leads nowhere", lambda i: i.swap(i.place.command, "/old/home/session-contract-hook/hook"), "entry-path"),
    ("an entry is of an older shape", lambda i: i.swap(i.place.command, f"python3 {shlex.quote(FILE)}"), "entry-path"),
    ("the timeout of Stop is too short", lambda i: i.swap("150", "5"), "entry-timeout"),
    ("the copy is gone", lambda i: os.unlink(i.place.module), "copy-missing"),
    ("the copy is an old one", lambda i: i.write(b"def main(): pass\n", i.place.module), "copy-stale"),
    ("the hook part is gone", lambda i: os.unlink(i.place.gate), "copy-missing"),
    ("the hook part is an old one", lambda i: i.write(b"def main(): pass\n", i.place.gate), "copy-stale"),
    ("the launcher is gone", no_launcher, "launcher-missing"),
    ("the launcher is not executable", not_executable, "launcher-mode"),
    ("the launcher has CRLF", lambda i: i.write(sc.launcher_text(i.python, i.place.home).replace("\n", "\r\n"),
                                                i.place.launcher), "launcher-changed"),
    ("the launcher was edited", lambda i: i.write(sc.launcher_text(i.python, i.place.home) + "exit 2\n",
                                                  i.place.launcher), "launcher-changed"),
    ("the interpreter is gone", lambda i: i.write_launcher("/gone/python3.11"), "python-gone"),
    ("the interpreter does not answer", lambda i: i.write_launcher("/bin/cat"), "python-gone"),
    ("the interpreter is too old", lambda i: i.write_launcher(pythons("3.8")), "python-old"),
    ("the bytecode is missing", no_bytecode, "bytecode-missing"),
    ("settings.json is a folder", lambda i: (os.unlink(i.settings), os.mkdir(i.settings)), "unreadable"),
    ("settings.json has a comment", lambda i: i.swap("{\n", "{ // mine\n"), "settings-broken"),
    ("settings.json is UTF-16", lambda i: i.write('{"a": 1}'.encode("utf-16")), "settings-broken"),
    ("a project's settings are broken", lambda i: i.write("{", os.path.join(os.getcwd(), ".claude/settings.json")),
     "settings-broken"),
    ("settings.json begins with a mark", lambda i: i.write(b"\xef\xbb\xbf" + read(i.settings)), "settings-bom"),
    ("a foreign entry has the flat shape", lambda i: i.swap(
        '"Stop": [', '"Notification": [{"command": "x"}], "Stop": ['), "settings-shape"),
    ("all hooks are disabled", lambda i: i.change(disableAllHooks=True), "hooks-disabled"),
    ("a project disables all hooks", lambda i: project(i, "settings.local.json", {"disableAllHooks": True}),
     "hooks-disabled"),
    ("the organization disables all hooks", lambda i: i.write('{"disableAllHooks": true}', sc.MANAGED[0]),
     "hooks-disabled"),
    ("the organization allows only its own", lambda i: i.write('{"allowManagedHooksOnly": true}', sc.MANAGED[0]),
     "managed-only"),
    ("a part of the policy allows only its own", lambda i: i.write(
        '{"allowManagedHooksOnly": true}', sc.MANAGED[0][:-5] + ".d/10-hooks.json"), "managed-only"),
    ("a repository switches it off", lambda i: project(i, "settings.json", {"env": {"SESSION_CONTRACT": "0"}}),
     "switched-off"),
    ("a repository only observes", lambda i: project(i, "settings.json", {"env": {"SESSION_CONTRACT": "observe"}}),
     "observing"),
    ("a repository spells it oddly", lambda i: project(i, "settings.json", {"env": {"SESSION_CONTRACT": "nope"}}),
     "switch-unknown"),
    ("the environment switches it off", lambda i: None, "switched-off", {"SESSION_CONTRACT": "off"}),
    ("the store's path is relative", lambda i: None, "unreadable", {"SESSION_CONTRACT_DIR": "store"}),
    ("settings name another store", lambda i: i.change(env={"SESSION_CONTRACT_DIR": "/srv/store"}), "store-elsewhere"),
    ("the store is a file", lambda i: i.write("x", f"{i.config}/{sc.NAME}"), "store-kind"),
    ("the store is a link", store_link, "store-link"),
    ("the store is a link to nothing", lambda i: os.symlink("/nowhere", f"{i.config}/{sc.NAME}"), "store-kind"),
    ("the store is open to others", lambda i: os.makedirs(f"{i.config}/{sc.NAME}", mode=0o755), "store-mode"),
    ("the store cannot be written", lambda i: os.makedirs(f"{i.config}/{sc.NAME}", mode=0o500), "store-mode"),
    ("config.json is broken", lambda i: own_store_file(i, "config.json", "{"), "own-file"),
    ("config.json has an unknown setting", lambda i: own_store_file(i, "config.json", '{"stals": 3}'), "own-file"),
    ("phrases.json is broken", lambda i: own_store_file(i, "phrases.json", "[]"), "own-file"),
    ("the hook part is a folder", lambda i: (os.unlink(i.place.gate), os.mkdir(i.place.gate)), "unreadable"),
    ("a contract is torn", lambda i: contract_file(i, '{"schema": 1, "sess'), "contract-broken"),
    ("a contract is not ours", lambda i: contract_file(i, '{"a": 1}'), "contract-broken"),
    ("this session has seen no firing", lambda i: None, "not-seen", {"CLAUDE_CODE_SESSION_ID": "s7"}),
    ("the session named is none", lambda i: None, "not-seen", {"CLAUDE_CODE_SESSION_ID": "../s7"}),
    ("the client sends fewer fields", lambda i: contract_file(i, json.dumps(
        {**sc.CONTRACT, "session": "s7", "keys": {"Stop": ["session_id"]}}), "s7"), "fields-missing",
     {"CLAUDE_CODE_SESSION_ID": "s7"}),
    ("a plugin registers it too", lambda i: i.change(enabledPlugins={"session-contract@market": True}), "plugin-too"),
]


class TestDoctor:
    @pytest.fixture(autouse=True)
    def elsewhere(self, monkeypatch, tmp_path):
        """A project of its own, a policy folder of its own, and no proof: it has its own tests."""
        (tmp_path / "project").mkdir()
        monkeypatch.chdir(tmp_path / "project")
        monkeypatch.setattr(sc, "MANAGED", (str(tmp_path / "policy/managed-settings.json"),))
        monkeypatch.setattr(sc, "prove", lambda command, environ: "")

    def test_a_fresh_installation_is_sound(self, installed):
        assert installed.findings() == []

    @pytest.mark.parametrize("row", BROKEN, **ids(BROKEN))
    def test_each_fault_is_found(self, installed, row):
        row[1](installed)
        assert row[2] in installed.findings(**(row[3] if len(row) > 3 else {}))

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
    def test_a_foreign_owner_is_found(self, installed):
        stranger(installed)
        assert "store-owner" in installed.findings()

    def test_a_store_where_nothing_can_be_written_is_found(self, installed, monkeypatch):
        os.makedirs(f"{installed.config}/{sc.NAME}", mode=0o700)
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert "store-denied" in installed.findings()

    def test_a_proof_that_fails_is_found_where_all_else_is_sound(self, installed, monkeypatch):
        def fails(command, environ):
            raise sc.Refusal("it failed its proof")
        monkeypatch.setattr(sc, "prove", fails)
        assert installed.findings() == ["proof-failed"]

    def test_every_finding_has_a_row_here(self):
        section = read(FILE).decode().partition("# --- command line: doctor -")[2]
        named = re.findall(r'(?:yield|append|from|[a-z0)}],) ?\(*"([a-z]+-[a-z]+|observing|unreadable)", ', section)
        assert {row[2] for row in BROKEN} | {"store-owner", "store-denied", "proof-failed"} == set(named)

    def test_the_same_line_in_two_scopes_is_sound(self, installed):
        project(installed, "settings.json", json.loads(read(installed.settings)))
        assert installed.findings() == []

    def test_another_plugin_is_no_second_registration(self, installed):
        installed.change(enabledPlugins={"prettier@market": True, "session-contract@market": False})
        assert installed.findings() == []

    def test_where_nothing_was_ever_installed_nothing_is_missed(self, installed):
        installed.write("{}")
        shutil.rmtree(installed.place.home)
        assert installed.findings() == ["not-installed"]

    def test_a_session_that_armed_has_been_seen(self, installed):
        installed.event("UserPromptSubmit")
        assert installed.findings(CLAUDE_CODE_SESSION_ID="s1") == []

    def test_the_client_own_record_of_a_firing_counts(self, installed):
        installed.write(json.dumps({"type": "system", "subtype": "stop_hook_summary", "hookInfos": [
            {"command": installed.place.command}]}), f"{installed.config}/projects/-work/s7.jsonl")
        assert installed.findings(session="s7") == []

    def test_without_a_home_it_says_so(self, monkeypatch, capfd):
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", "relative")
        assert sc.run_command(["doctor"]) == 1
        assert "absolute" in capfd.readouterr().out

    def test_where_the_working_directory_is_gone_it_still_looks(self, installed, tmp_path):
        os.rmdir(tmp_path / "project")
        assert installed.findings() == []


def test_doctor_proves_what_is_registered(installed):
    installed.write("import os\nos._exit(2)\n", installed.place.gate)
    with pytest.raises(sc.Refusal, match="failed its proof"):
        sc.prove(installed.place.command, installed.environ)


def test_a_proof_that_cannot_be_started_is_refused(installed, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(sc.Refusal, match="the command for SessionStart could not be run"):
        sc.prove(installed.place.command, {**installed.environ, "PATH": "/nowhere"})


def test_doctor_exits_0_where_all_is_sound(installed):
    run = launch(installed.environ, b"", "doctor", cwd=installed.config)
    assert run.code == 0 and b"sound" in run.out, run


def test_doctor_exits_1_and_offers_the_mend(installed):
    installed.change(disableAllHooks=True)
    run = launch(installed.environ, b"", "doctor", "--json", cwd=installed.config)
    assert run.code == 1 and run.json["sound"] is False
    assert [(row["id"], bool(row["mend"])) for row in run.json["findings"]] == [("hooks-disabled", True)]
