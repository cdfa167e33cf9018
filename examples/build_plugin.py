#!/usr/bin/env python3
"""Build the Claude Code plugin from session_contract.py.

    python3 examples/build_plugin.py [DEST]

Without DEST it is completed where it stands, in examples/plugin; with it the whole plugin is made there. The folder is a
marketplace too: `/plugin marketplace add DEST`, then `/plugin install session-contract@session-contract`.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "plugin")
sys.path.insert(0, os.path.dirname(HERE))

import session_contract as sc  # noqa: E402


def built_files():
    """{name: (bytes, mode)} of what is made of session_contract.py: the parts that an installed copy has, too."""
    with open(sc.__file__, "rb") as file:
        whole, front, rest = sc.parts_of(file.read())
    # No interpreter and no folder is known yet: the launcher looks for both where it runs.
    launcher = sc.launcher_text("", "").encode()
    return {"session_contract.py": (whole, 0o644), "gate.py": (front, 0o644), "rest.py": (rest, 0o644),
            sc.LAUNCHER: (launcher, 0o755)}


def build(dest):
    """Make the plugin in DEST; the folder of the built files."""
    if os.path.realpath(dest) != os.path.realpath(SOURCE):
        shutil.copytree(SOURCE, dest, dirs_exist_ok=True, ignore=shutil.ignore_patterns(sc.HOOK_DIR))
    folder = os.path.join(dest, sc.HOOK_DIR)
    shutil.rmtree(folder, ignore_errors=True)       # bytecode and the interpreter of another build
    os.makedirs(folder)
    for name, (data, mode) in built_files().items():
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, mode)
    return folder


if __name__ == "__main__":
    print(build(os.path.abspath(sys.argv[1]) if sys.argv[1:] else SOURCE))
