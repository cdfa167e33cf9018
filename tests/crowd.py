"""Many processes on one store: each plays events and commands of its own through the program, as fast as it can.

    echo JOB | python -c "import crowd; crowd.main()"

The processes live on between their steps, so that most of what they do is to contend for the store.
"""
import json
import mmap
import os
import random
import struct
import sys

import session_contract as sc

OWING = ("225 remain. Continuing.", "40 files remain. Next I will port the exporter.",
         "All ported; the suite is green.")


class Player:
    """One process: what it did, and what came of it."""

    def __init__(self, number, store):
        self.number, self.random = number, random.Random(number)
        self.environ = {"SESSION_CONTRACT_DIR": store, "HOME": "/nonexistent", "CLAUDE_CODE_SESSION_ID": "s1"}
        os.environ.clear()
        os.environ.update(self.environ)
        self.shown = []
        sc.show = lambda text: self.shown.append(text) or True
        self.added, self.done, self.logged, self.odd, self.items = [], [], {"s1": 0, "s2": 0}, [], []

    def hook(self, event, session="s1", **fields):
        payload = {"hook_event_name": event, "session_id": session, "transcript_path": "", "cwd": "/",
                   "permission_mode": "default", "stop_hook_active": False, **fields}
        return sc.run_hook(payload, "", self.environ, 1_800_000_000)

    def step(self):
        """Something that a client, an agent or an operator does."""
        name = self.random.choice(("add", "done", "stop", "stop", "amend", "start", "other", "other stop"))
        code, session, reply = 0, "s1", sc.Reply()
        name = name if self.items or name != "done" else "add"
        if name == "add":
            text = f"item {len(self.added)} of player {self.number}"
            code = sc.run_command(["item", "add", text])
            self.added.append(text)
            self.items.append(self.shown[-1].split()[0])
        elif name == "done":
            item = self.items.pop()
            code = sc.run_command(["item", "done", item, "--evidence", f"note:seen by player {self.number}"])
            self.done.append(item)
        elif name == "stop":
            reply = self.hook("Stop", last_assistant_message=self.random.choice(OWING))
        elif name == "amend":
            reply = self.hook("UserPromptSubmit", prompt=f"don't stop until build {self.random.random()} is green")
        elif name == "start":
            reply = self.hook("SessionStart", source="resume")
            self.logged["s1"] -= 1          # the one step that writes nothing
        elif name == "other":               # another session of the same store is armed
            session, reply = "s2", self.hook("UserPromptSubmit", "s2", 
                                               prompt=f"don't stop until build {self.random.random()} is green")
        else:                               # and released, once or twice
            session, reply = "s2", self.hook("UserPromptSubmit", "s2", prompt="stop")
            self.logged["s2"] -= "released" not in reply.out
        self.logged[session] += 1
        said = json.loads(reply.out or "{}").get("systemMessage", "")
        fault = any(word in said for word in ("cannot", "NOT ", "locked", "error of this program"))
        if code or fault or (reply.code and not reply.err.startswith(sc.HELD)):
            self.odd.append([name, code, reply.code, reply.out, reply.err])


def forked(count, play):
    """PLAY(number) in COUNT processes at once; what each of them returns."""
    children = []
    for number in range(count):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                with os.fdopen(write, "w") as pipe:
                    json.dump(play(number), pipe)
            finally:
                os._exit(0)
        os.close(write)
        children.append((child, read))
    found = []
    for child, read in children:
        with os.fdopen(read) as pipe:
            found.append(json.load(pipe))
        os.waitpid(child, 0)
    return found


def crowd(job):
    """PLAYERS processes of STEPS steps each."""
    def play(number):
        player = Player(number, job["store"])
        for _ in range(job["steps"]):
            player.step()
        return {key: getattr(player, key) for key in ("added", "done", "logged", "odd")}
    return forked(job["players"], play)


def race(job):
    """The operator arms and stops again and again, while others end turn after turn."""
    board = mmap.mmap(-1, 64 * job["players"])      # in the first place the round, twice, and one more once released

    def at(place, value=None):
        if value is not None:
            struct.pack_into("q", board, 64 * place, value)
        return struct.unpack_from("q", board, 64 * place)[0]

    def play(number):
        player, odd, stops = Player(number, job["store"]), [], 0
        if number:
            while at(0) >= 0:
                before = at(0)
                reply = player.hook("Stop", last_assistant_message=OWING[stops % 2])
                stops += 1
                if before % 2 and before == at(0) and (reply.code or reply.out):
                    odd.append([before, reply.code, reply.out])
                at(number, at(number) + 1)
            return {"odd": odd, "stops": stops}
        for turn in range(1, job["rounds"] + 1):
            said = player.hook("UserPromptSubmit", prompt="don't stop until the suite is green").out
            at(0, 2 * turn)
            after = player.hook("UserPromptSubmit", prompt="stop").out
            at(0, 2 * turn + 1)
            if "armed" not in said or "released" not in after:
                odd.append([turn, said, after])
            seen = [at(n) for n in range(1, job["players"])]
            while any(at(n) < count + 2 for n, count in enumerate(seen, 1)):       # whole Stops after the release
                if sc.Store(job["store"]).load("s1").contract["state"] != sc.DISARMED:
                    odd.append([turn, "armed again"])
                    break
        at(0, -1)
        return {"odd": odd, "stops": 0}
    return forked(job["players"], play)


def main():
    job = json.load(sys.stdin)
    sc.LIMITS.update(job.get("limits", {}))
    # What takes most of the time and has nothing to do with who else is at the store.
    parser, sc.fs.fsync = sc.command_parser(), lambda fd: None
    sc.command_parser = lambda: parser
    print(json.dumps({"crowd": crowd, "race": race}[job["play"]](job)))
