#!/usr/bin/env python3
"""Draw examples/held-turn.svg, the picture in README: python3 examples/picture.py (needs `pip install rich`, and tmux).

What it shows is a real run: the real client of the tests in a terminal, in an empty home into which `install` has put
the hook, with examples/policy.md as the operator's policy. Only the model is scripted, so that it ends its turn too
early; what is held, said and let go is the program's doing. The screen is taken from tmux with its colours, from the
prompt to the end of the turn. Nothing of it is changed but two things: the temporary home's path is ~, and the corner
that the client draws with a sign which many fonts lack is drawn with one that they have.
"""
import io
import json
import os
import re
import shutil
import sys

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests"))

from client import fetch                    # noqa: E402
from client.api import call, say            # noqa: E402
from client.driver import Client            # noqa: E402

WIDTH, HEIGHT = 98, 60
PROMPT = "Port the exporters, don't stop until the suite is green."
TURNS = (
    call("Bash", command="ls exporters | wc -l", description="Count the exporters"),
    say("40 of 265 are ported, 225 remain. Continuing."),
    call("Bash", command="python3 port.py --rest", description="Port the rest and run the suite"),
    say("All 265 exporters are ported; the suite is green."))

INK = [(36, 41, 51), (226, 104, 95), (126, 190, 120), (222, 178, 92),
       (106, 160, 232), (190, 134, 214), (92, 188, 196), (200, 204, 212)]
THEME = TerminalTheme((24, 26, 31), (214, 218, 226), INK, INK)
# Rich's own frame names fonts of another host; this one asks for nothing.
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-labelledby="t">
<title id="t">A turn that ends too early is held in the client's terminal, and let go when the work is done</title>
<style>.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
white-space: pre; }}
{styles}</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#181a1f"/>
<g transform="translate({terminal_x}, 16)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def held_turn():
    """The terminal's text, colours included, of a turn that was held once and then let go."""
    with Client(fetch.binary(), {}, TURNS) as it:
        it.size = WIDTH, HEIGHT
        os.mkdir(os.path.join(it.project, "exporters"))
        for number in range(265):
            it.leave(os.path.join("exporters", "e%03d.py" % number))
        it.leave("port.py", "print('265 ported, 0 left; 265 passed')\n")
        os.makedirs(it.store)
        shutil.copy(os.path.join(HERE, "policy.md"), it.store)      # the shipped one takes ten lines of a first hold
        with open(os.path.join(it.config, "settings.json"), "w") as out:
            json.dump({"permissions": {"allow": ["Bash"]}}, out)
        it.operate("install")
        it.open("--permission-mode", "default")
        it.ask(PROMPT)
        it.wait_for("let go")
        return it.screen("-e").replace(it.home, "~").replace("\u23bf", "\u2514")


def cropped(screen):
    """From the prompt to the end of its turn, without the input box below and blank lines at the ends of lines."""
    lines = [line.rstrip() for line in screen.split("\n")]
    bare = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines]
    first = next(at for at, line in enumerate(bare) if PROMPT[:30] in line)
    last = max(at for at, line in enumerate(bare) if "let go" in line)
    last = next(at for at in range(last, len(bare)) if not bare[at + 1].strip())
    return "\n".join(lines[first:last + 1])


def main():
    text = Text.from_ansi(cropped(held_turn()))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(text, no_wrap=True, crop=False)
    path = os.path.join(HERE, "held-turn.svg")
    with open(path, "w", encoding="utf-8") as out:
        out.write(console.export_svg(theme=THEME, code_format=FRAME, unique_id="turn"))
    print(path)


if __name__ == "__main__":
    main()
