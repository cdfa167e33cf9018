#!/usr/bin/env python3
"""session-contract: a Claude Code hook that keeps a turn open while work is owed.

The operator types "don't stop until the suite is green". From then on a Stop whose last
message contradicts itself ("225 remain. Continuing.") or that leaves ledger items open is
refused, with the reason and a decision policy the operator wrote in advance. "stop" ends it.

    event              exit   stdout                             stderr
    SessionStart       0      nothing, or one JSON object        nothing
    UserPromptSubmit   0      nothing, or one JSON object        nothing
    Stop, let go       0      nothing, or {"systemMessage": ..}  nothing
    Stop, held         2      {"systemMessage": ..}              the reason, for the model
    anything else      0      nothing, or {"systemMessage": ..}  nothing

No contract: silent, nothing written. A malformed armed contract: held, with a bound. A fault of
disk or program: let go, and said. Three holds without work between them: let go, and said.

Reading order: words; front (what every call does, and all that most calls do); texts; rules;
records; reading; deciding; rendering; shell; command line. From texts to rendering everything is
data, or takes values and returns values. Nothing but sys is imported at the top: the hook runs at
every prompt, and re or json alone cost as much as the interpreter's own start, so each is imported
inside the function that has found out that it needs it.

Where things are: a rule on turn-ends is a row of RULES, one on prompts a row of INTENT_RULES; a
verdict is made by `decide`, whose steps are in MODES; bytes of the store are written by Store.write
and Store.log; each event is answered by a method of Hook; each command is a row of COMMAND_ROWS.
"""
import sys

__version__ = "0.1.0"


# --- words ---------------------------------------------------------------------------------------

NAME = "session-contract"
SCHEMA = 1                      # of contract files; an older one is filled up with defaults on reading
# What is said of the client here and below was seen on Claude Code 2.1.332.
HOLD = 2                        # the only exit status that refuses a Stop

ARMED, PAUSED, MET, SPENT, DISARMED = "armed", "paused", "met", "spent", "disarmed"
LIVE = (ARMED, PAUSED)          # states in which a contract still binds
STATES = (ARMED, PAUSED, MET, SPENT, DISARMED)

ESCALATIONS = ("irreversible", "missing-requirement", "unresolvable-blocker")      # by consequence, not by doubt
EVIDENCE = ("command", "file", "url", "note")       # the first two are verified, the others are what the agent says

OPEN, DONE, WAIVED, ESCALATED, HANDED_OFF = "open", "done", "waived", "escalated", "handed-off"
ITEM_STATES = (OPEN, DONE, WAIVED, ESCALATED, HANDED_OFF)

# Every decision on a Stop is logged under one of these names.
CLASSES = (
    "BLOCK", "WOULD-BLOCK", "BLOCK-MALFORMED", "ADVISORY", "ALLOW-CLEAN", "ALLOW-MET", "ALLOW-PAUSED",
    "ALLOW-PLAN", "ALLOW-DIALOGUE", "ALLOW-BUDGET", "ALLOW-WAITING", "ALLOW-ESCALATED", "ALLOW-BLOCKER",
    "ALLOW-DEGRADED", "ALLOW-PRESENT", "MATERIAL-ALLOW", "CLEAN-TERMINAL-ALLOW", "ALLOW-FAULT")

# A contract as it stands in its file: field, default. The type of the default is the type of the field.
CONTRACT = {
    "schema": SCHEMA, "session": "", "revision": 0,
    "state": ARMED, "mode": "work", "condition": "", "origin": "prompt",
    "armed_at": 0, "changed_at": 0,   # seconds since the epoch, as all times here
    "spent_at": 0,              # end of the time budget, 0 is none
    "items": [], "next_item": 1,
    "streak": 0,                # holds in a row without work between them
    "blocks": 0,                # holds since the operator's last prompt
    "degraded": False,          # let go after a stall, until work or the operator's next prompt
    "block_at": 0,              # time of the last hold
    "work": 0,                  # work since the last hold, ticket or prompt of the operator
    "worked": False,            # there was work since the operator's last prompt
    "message": "",              # digest of the last message that was held or let go by a ticket, folded
    "transcript": "", "read_to": 0,     # its path, and the byte up to which it has been read
    "calls": [],                # digests of tool calls already seen, newest last
    "tickets": [],              # background tasks that have excused a Stop since the last work
    "waiting": {},              # what the last Stop waits for: what, at, until (0 if no time is known)
    "wakeup": 0,                # when the wakeup fires that the agent scheduled last
    "wait_for": "",             # the agent's own `wait --for`, until the next Stop
    "claim": {},                # the agent's `met`: evidence, verified, at
    "check": "",                # a shell command of the operator's: exit 0 is met
    "checking": 0,              # since when it runs; still there later if the client has killed the hook
    "prompt_at": 0, "prompt_mark": 0, "prompt_mode": "",    # the operator's last prompt
    "question": False,          # it was a question, and neither armed nor amended
    # of the modes beside work
    "run": {},                  # run: file, field, terminal
    "wanted": [],               # artifact: classes that count, of ARTIFACTS
    "artifacts": [],            # artifact: what was shipped since the boundary, as "class key"
    "shipped": [],              # artifact: what has let a Stop go already
    "boundary_at": 0, "boundary_blocks": 0,     # artifact: its time, and the holds since
    "pid": "",                  # the client process that was last seen with it: a cleared session has the same one
    "armed_mark": 0,            # transcript size at arming
    "host_run": 0,              # holds in a row without any tool call: the client's own cap counts these
    "owed": "",                 # fingerprint of the owed set at the last hold
    "standing": "",             # away: working, waiting, or stopped with work owed
    "plan_held": False,         # a plan mode that the agent entered by itself has had its one hold
    "pins": {},                 # digests of the operator's files at arming
    "told": [],                 # notices that are given once
    "crons": [],                # digests of scheduled prompts: they come back as prompts without a mark
    "keys": {},                 # payload key names by event, for noticing a changed host
}

# What the operator may set in config.json beside the store. The type of the default is the type of the value.
SETTINGS = {
    "stalls": 3,                # holds in a row without work before the gate lets go
    "blocks": 50,               # holds between two prompts of the operator before it lets go
    "wakeup_hours": 12,         # a scheduled wakeup further off is no ticket
    "todo": True,               # the client's own to-do list counts as items
    "claim": "off",             # once, strict: a clean end of a pinned condition wants `met`
    "evidence": "any",          # verified: url: and note: close nothing
    "checks_from_prompts": False,   # "until `CMD` passes" in a prompt runs CMD
    "check_seconds": 120,
    "notify": "",               # a shell command that is run at each of NOTICES
    "notify_seconds": 10,
}
# Occasions on which the operator's `notify` runs: the class of the decision, the word for it.
NOTICES = {"ALLOW-DEGRADED": "degraded", "ALLOW-MET": "met", "ALLOW-BUDGET": "spent", "ALLOW-WAITING": "waiting",
           "BLOCK": "stopped"}      # a hold only if it is the last one of an absence
CHOICES = {"claim": ("off", "once", "strict"), "evidence": ("any", "verified")}

LIMITS = {
    "payload": 64 << 20,        # bytes of standard input
    "contract": 4 << 20,        # bytes of a contract file
    "transcript": 4 << 20,      # bytes read back from a transcript's end
    "log": 256 << 10,           # bytes of a log before it is rotated; one older log is kept
    "lock": 2.0,                # seconds to wait for the store's lock
    "line": 200,                # characters of a condition or an item
    "first": 1500, "later": 600, "steady": 200,     # bytes of injected text
    "calls": 256,               # digests of tool calls kept
    "sweep": 30 * 86400,        # seconds until an ended session is swept
    "swept": 200,               # files of each kind that one arming looks at for that
    "kin": 64,                  # contracts, of those that changed last, that a cleared session looks at for its own
    "ticked": 200,              # entries of the client's to-do list that stay in the ledger once completed
}

ARTIFACTS = ("pr", "review")
# Shell commands and client tools that ship an artifact, and the words without which they do not.
SHIPPING = (            # class, how the command begins, one of these words in it (none: any)
    ("pr", ("gh", "pr", "create"), ()), ("pr", ("glab", "mr", "create"), ()), ("pr", ("hub", "pull-request"), ()),
    ("review", ("gh", "pr", "review"), ("--approve", "-a", "--request-changes", "-r")),
    ("review", ("glab", "mr", "approve"), ()))
SHIPPING_TOOLS = {"create_pull_request": "pr", "create_merge_request": "pr", "create_pull_request_review": "review",
                  "submit_pending_pull_request_review": "review", "approve_merge_request": "review"}
DRY = ("--dry-run", "--help", "-h", "--web", "-w")
HOOK_DIR, LAUNCHER = "session-contract-hook", "hook"     # where an installed copy lives, under the client's folder
HOST_CAP = 8                    # holds in a row without a tool call that the client honours

EVENTS = {"SessionStart": "on_start", "UserPromptSubmit": "on_prompt", "Stop": "on_stop"}      # and who answers them

OFF_WORDS = ("0", "false", "off", "no")     # spellings of SESSION_CONTRACT that switch the hook off
SESSION_ID = "abcdefghijklmnopqrstuvwxyz0123456789"      # first character; then also . _ -
# How a prompt for the hook itself begins. A plugin's command arrives as typed, with the plugin's name or without.
CALLS = ("contract:", "/contract", f"/{NAME}:contract")
DEVICES = ("con", "prn", "aux", "nul", *(port + digit for port in ("com", "lpt") for digit in "123456789"))    # Windows

# UserPromptSubmit also carries text that no person typed.
OPERATOR_SOURCES = ("user", "sdk")

# Whole messages that the client wrote itself, after which the model cannot act.
HOST_NOTICES = (
    "api error", "context limit reached", "prompt is too long", "credit balance is too low",
    "invalid api key", "failed to authenticate", "usage limit reached", "5-hour limit reached",
    "request timed out", "conversation too long")

# Tool calls that are no work: the to-do tools, waiting, and the modes of the conversation itself.
IDLE_TOOLS = frozenset((
    "TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "ScheduleWakeup",
    "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion"))
IDLE_COMMANDS = frozenset((
    ":", "echo", "true", "false", "sleep", "pwd", "printf", "date", "wait", "clear", "exit", "cd"))
FILTERS = frozenset((           # no work behind an idle command
    "head", "tail", "grep", "cat", "wc", "sort", "uniq", "jq", "less", "tee"))

# What a prompt must hold before a rule that arms is tried: literals parted by "|", those that must all be there by "&".
# They stand here, apart from their rules, because they are all that most prompts are ever looked at for.
ARMING = {
    "arm.dont-stop":
        "t bail|t stop|dare stop|ever stop|t quit|never quit|never pause|t pause|give up|t halt|t come back|end th|"
        "hand |return c|no st|pausi|not to|end y|end e|nish your t|nish the t",
    "arm.keep-going":
        "till &keep |until &keep |keep at it|keep o|keep p|keep g|chug|crank|keep ite|keep wo|keep m",
    "arm.hours":
        " for & hour| for & minutes|all day|rest o",
    "arm.spend":
        "spend &hour|take the next|use the next|use the full|use the whole|use the entire|take the full|"
        "take the whole|spend &minute|spend &night|spend &day|spend &evening|spend &afternoon|spend &weekend|"
        "use the &night|take the &night|use all|take all",
    "arm.until":
        " until| till | til |'til |\nuntil| unless ",
    "arm.until-done":
        " until| till | til |'til ",
    "arm.only-stop":
        "only stop|stop only|stop when&keep|stop when&work|stop when&continue|stop once&keep|only come back|"
        "only report|only ping|back only when|only return to me",
    "arm.not-done":
        "ends when|end when|ends once|is over when|is done when|ends only|as long as&keep|as long as&continue|"
        "as long as&carry|re done once|done means|finished means|exit only|quit only|return only|ot done|ot finished|"
        "t done |t finished |t complete |t over |it as done|declare |consider it|re fini|only fini|only done|hear |"
        "it don|done wh",
    "arm.before-stop":
        "before you're|before you are|before you stop|come b|before you r|you f|you cal|you han|you end",
    "arm.dont-ask":
        "t ask|ever ask|to ask|t wait for m|need to|stop asking|t need m|t check in|t bother me|t ping me|"
        "no check|more q|no q|pausi|stop st|stop wa|no nee|no paus|no stop|no break",
    "arm.alone":
        "without stop|without paus|without wait|without m|without inter|without human|without superv|"
        "without quest|without need|without a|without break|nonstop|non-stop|on your own|by yourself|while i|"
        "it takes|without c|nigh|unat|without fu|can wi|auton|uninter",
    "arm.to-the-end":
        "completion|to the end|all the way|until the end|and finish|to finish|and complete|all done|"
        "get to the e|thing done|get that done|very e|over th|get thi|it don|t in full|straight th|top to b",
    "arm.all":
        "finish all|finish every|finish up|finish it all|finish them all|complete it all|complete all|complete every|"
        "finish the r|finish the w|finish the e|continue&all |continue&everything|proceed&all|carry on&all |"
        "go on&all |this through|it through|implement all|get it all d|get all of|get everyth|get the whole|"
        "get the entire|get this all|get them all|to zero|to 0|complete the|implement t|implement e|do ev|build ev",
    "arm.finish":
        "finish it|finish up|finish every|finish the|finish what|complete it|do everything|do it all|do all|"
        "do them all|do the rest|finish all|complete all",
    "arm.cues":
        "t ask|be asked|stop asking|to ask|re on your own|ur on your own|no confirm|status rep|status upd|"
        "progress rep|interruptions|make me |e automatically|i won't |for approv|no approv|my approv|permission|"
        "hear from|offline|to bed|to sleep|asleep|by morning|the morning|i wake|get back|i'm back|be away|i'm away|"
        "i'm off|be back|on a plane|decisions|decide yours|decide for y|autonom|undone|unfin|for later|assume yes|"
        "yes to |push through|power through|trust you|nobody|no one |not reading|user inter|no question|any question|"
        "more question|with question|your question|t need me|t bother|check-in|consult|t wait|relentless|"
        "be persistent|be stubborn|giving up|neither is ask|one by one|see you |have to type|have to say|"
        "t want to type|t want to say|no summar|when i land|when i arr|end to end|t need up|t need any up|t answer|"
        "t reply|t respond|able to answer|able to reply|in meetings|in a meeting|to wake up to|come back to a|"
        "make a d|make a c|make the c|pick one|just decide|no breaks|no pauses|no excuses|wait for me|waiting for me|"
        "me only|only aft|only whe|only onc|only wak|only pin|only cal|only bot|only int|only con|only mes|only pag|"
        "you dec|i'll l|i'll c|i'll r|i'll s|i'm out|cut it|cut this|no partial|any partial|a partial|as needed|"
        "as often|one after|on to the next|in one go|in this turn|early|, repeat|how long|it takes|no matter|"
        "judgment|judgement|halfway|half meas|half done|half fin|half-|to rep|to back|check with|only then",
    "arm.cues-cjk":
        "用问|再问|要问|别问|来问|别老|别总|必问|一步都|无需确认|需我确认|用确认|要确认|等我|请示|自主|自动跑|全自动|全程自动|无人值守|不间断|一口气|干完|去睡|睡觉|睡了|我不在|出门|离开|"
        "下班|明早|醒来|要结束|再汇报|再叫我|再告诉我|看着办|反复|許可は|確認は|確認不要|確認なし|質問|任せ|判断|自律|ノンストップ|休みなく|寝る|寝ま|外出|席を外|朝まで|묻지|확인|"
        "알아서|자러|퇴근|판단|自己|물어|聞か",
    "arm.cues-abroad":
        "pregunt|pergunt|demand|вопрос|спраш|chamar|decide t|decide voc|selbst|сам|dormir|schlafen|спать|"
        "confirm|permis|autoris|erlaubnis|frag|aprova|aproba|freigabe|одобр|разреш",
    "arm.zh-stop":
        "不要停|别停|別停|不准停|不许停|不能停|前不要|前别|前都不|前都别|前不许|前不准|不要中断|别中断|不要暂停|中途停|不停|不罢休",
    "arm.zh":
        "完成剩|完成全部剩|完成所有剩|做完剩|完成其余|直到|直至|就一直|就继续|就接着|知道通过|知道全部|继续&全部|繼續&全部|继续&所有|开始&全部|接着&全部|接着&所有|继续&剩|全部执行|全部实现|全部实施|全部完成|全部彻底|全部一|全部开始|一次性|一口气|"
        "一直&为止|一直&完成|一直&通过|修到|跑到|做到|改到|测到|调到|为止|剩余&都|剩下&都|后面&都|其余&都|剩余&全|剩下&全|后面&全|其余&全|去睡|睡觉|睡了|我不在|我出门|我离开|下班了",
    "arm.ja":
        "休まず|確認不要|確認なし|確認は|確認せず|確認を取らず|聞かず|質問せず|まで&続|まで&やっ|まで&進め|まで&繰り返|まで&やり|まで&直して|一気に|最後まで|やめ|止め|止ま|中断",
    "arm.ko":
        "남은&전부|남은&모두|멈추지|중단하지|쉬지|그만두지|때까지&계속|때까지&반복|때까지&진행|때까지&작업|때까지&해|때까지&고|끝까지|묻지|물어보지|알아서|확인 없이|나머지&전부|나머지&모두|나머지&다",
    "arm.abroad-stop":
        "no pare|te pas|tez pas|tes pas|erst auf|que quand|só pare|so pare|доведи|доводи|доделай|доделыв|nicht |no te |"
        "pas la main|dich erst|komm erst|m bitte erst|no vuel|no me v|no me av|solo avis|solo av|só me|só avis|só vol|solo vuel|ne rev|ne me pr|не воз|"
        "не пре|não pa|nao pa|surt|не ос|ferm|cuan|lorsq|te j|stoppe |não i",
    "arm.abroad":
        "hasta |até |que falta|que queda|sin p|sin det|sin int|no preg|não p|jusqu|tant qu|sans t|sans s|sans p|sans in|sans me|"
        "sans r|sans d|sans v|sans at| bis |ohne |пока |без |до конца|до тех|до полного|не спраш| ate|sem |"
        "frag |reste|restant|вопр|nao p|qued|no me|falt",
}


# --- front ---------------------------------------------------------------------------------------
# What each call does, and all that most calls do: read the payload, look for a contract and for words that could arm
# one, leave. Nothing here uses what stands below, so that an installed copy loads the rest only when it is needed.

try:
    import posix as fs          # built in; os takes a sixth of an interpreter start to import
except ImportError:             # not a POSIX system
    import os as fs


class StoreError(Exception):
    """The store could not be read or written; the text says what and why."""


def environment():
    """The environment as a dict of texts, without importing os."""
    if "os" in sys.modules:
        return dict(sys.modules["os"].environ)
    coding = sys.getfilesystemencoding()
    return {k.decode(coding, "surrogateescape"): v.decode(coding, "surrogateescape") for k, v in fs.environ.items()}


def config_dir(environ):
    """The client's configuration directory, absolute; StoreError if none can be found."""
    path = environ.get("CLAUDE_CONFIG_DIR", "")
    if path:
        return absolute(path, "CLAUDE_CONFIG_DIR")
    name = "HOME" if fs.__name__ == "posix" else "USERPROFILE"      # there a shell may set HOME too
    home = slashed(environ.get(name, ""))
    if not home.startswith("/") and name == "HOME":
        import pwd
        try:
            home = pwd.getpwuid(fs.getuid()).pw_dir
        except KeyError:
            home = ""
    if not home:
        raise StoreError(f"no home directory is known: {name} is not set")
    return home.rstrip("/") + "/.claude"


def absolute(path, name):
    """PATH without its final slash; StoreError if it depends on the working directory."""
    path = slashed(path)
    if not path.startswith("/") and (fs.__name__ == "posix" or path[1:3] != ":/"):
        raise StoreError(f"{name} is not an absolute path: {path!r}")
    return path.rstrip("/") or "/"


def slashed(path):
    """PATH with the slashes that all systems and the client's shell take: to sh a backslash is a quote."""
    return path if fs.__name__ == "posix" else path.replace("\\", "/")


def store_dir(environ):
    path = environ.get("SESSION_CONTRACT_DIR", "")
    return absolute(path, "SESSION_CONTRACT_DIR") if path else config_dir(environ) + "/" + NAME


def read_file(path, limit):
    """The bytes of PATH, None if there is no such file; StoreError if it cannot be read or is no regular file."""
    try:
        fd = fs.open(path, fs.O_RDONLY | getattr(fs, "O_NONBLOCK", 0) | getattr(fs, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    try:
        if fs.fstat(fd).st_mode & 0o170000 != 0o100000:
            raise StoreError(f"cannot read {path}: it is no regular file")
        data = b""
        while len(data) <= limit:
            piece = fs.read(fd, 1 << 20)
            if not piece:
                return data
            data += piece
        raise StoreError(f"cannot read {path}: it is larger than {limit} bytes")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    finally:
        close(fd)


def close(fd):
    """Close what was only read or locked: nothing is lost if that fails, and the descriptor is gone all the same."""
    try:
        fs.close(fd)
    except OSError:
        pass


class JsonDialect:
    """What the C scanner of the json module asks its caller for (CPython 3.9 to 3.15)."""

    strict = False      # a raw control character is no reason to lose a line
    object_hook, object_pairs_hook, array_hook = None, None, None       # the last since 3.15
    parse_float, parse_int, parse_constant = float, int, None


def parse_json(data):
    """(value, "") of DATA, UTF-8 JSON in bytes, or (None, what is wrong). Invalid UTF-8 is replaced, not refused."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff").strip(" \t\r\n")
    try:
        import _json        # the json module imports re and takes 1.2 interpreter starts; its C scanner takes none
        value, end = _json.make_scanner(JsonDialect)(text, 0)
        if end == len(text):
            return value, ""
    except Exception:       # StopIteration, ValueError, TypeError, SystemError, no _json: the json module decides
        pass
    try:
        import json
        return json.loads(text, strict=False), ""
    except (ValueError, RecursionError) as error:
        return None, str(error) or type(error).__name__


def session_file(session):
    """SESSION folded to a file name without its ending, or "" for an id that is not safe to use as one."""
    if not isinstance(session, str) or not 0 < len(session) <= 128 or not session.isascii():
        return ""
    name = session.lower()
    if fs.__name__ != "posix" and name.partition(".")[0] in DEVICES:
        return ""
    if name[0] in SESSION_ID and all(c in SESSION_ID or c in "._-" for c in name):
        return name
    return ""


def write_all(fd, data):
    while data:
        data = data[fs.write(fd, data):]


def read_stdin():
    """(payload, fault) from standard input, read until its JSON is complete or the stream ends, however slowly."""
    data = bytearray()
    while True:
        try:
            piece = fs.read(0, 1 << 16)
        except OSError as error:
            return None, f"standard input: {error.strerror}"
        data += piece
        if not piece or data[-64:].rstrip().endswith(b"}"):
            value, fault = parse_json(data) if data.strip() else (None, "standard input was empty")
            if not fault and isinstance(value, dict):
                return value, ""
            if not piece:
                return None, fault or "it is no JSON object"
        if len(data) > LIMITS["payload"]:
            return None, f"it is larger than {LIMITS['payload']} bytes"


def exists(path):
    """Whether PATH is there. A path that cannot be looked at counts as there: the fault is for others to tell."""
    try:
        fs.stat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


def nothing_to_do(payload, environ):
    """Whether neither a contract nor a word that could arm one concerns this call. In doubt, no."""
    event, name = payload.get("hook_event_name"), session_file(payload.get("session_id"))
    if not isinstance(event, str) or event not in EVENTS or not name or payload.get("agent_id"):
        return False
    try:
        store = store_dir(environ)
    except StoreError:
        return False
    if exists(f"{store}/contracts/{name}.json") or exists(f"{store}/phrases.json") or exists(f"{store}/presence.json"):
        return False
    if event == "Stop":
        return not exists(f"{store}/logs/{name}.jsonl")     # a log whose contract has vanished
    if event == "SessionStart":
        return payload.get("source") == "startup" or not exists(f"{store}/contracts")
    prompt = payload.get("prompt")
    low = prompt.lower().lstrip() if isinstance(prompt, str) else ""
    return not (low[1:9] == "contract" or low.startswith(CALLS) or any(
        all(word in low for word in words.split("&")) for needs in ARMING.values() for words in needs.split("|")))


GATE_OFF = ('{"systemMessage": "session-contract: gate off: session_contract.py cannot be loaded. '
            'Nothing is held; install it again."}')


def gate(hold=HOLD):
    """One hook call, from the environment and standard input to the exit status, which is HOLD for a refused Stop."""
    environ = environment()
    if environ.get("SESSION_CONTRACT", "").strip().lower() not in OFF_WORDS:
        payload, fault = read_stdin()
        if fault or not nothing_to_do(payload, environ):
            import gc
            import time
            gc.disable()        # a short life: what it would collect costs less than looking for it
            try:
                whole = globals() if "run_hook" in globals() else vars(__import__("rest"))     # of an installed copy
            except Exception:       # gone, or cut off
                put(1, GATE_OFF)
                fs._exit(0)
            reply = whole["run_hook"](payload, fault, environ, int(time.time()))
            put(1, reply.out)
            put(2, reply.err)
            fs._exit(hold if reply.code == HOLD else 0)
    fs._exit(0)         # past the interpreter's own shutdown: a sixth of its start, and it can change the status


def status_line():
    """Answer the client's status line: a segment on the session of the payload, nothing if none is armed. Exit 0."""
    try:
        environ = environment()
        payload, store = read_stdin()[0] or {}, store_dir(environ)
        name = session_file(payload.get("session_id"))
        if name and exists(f"{store}/contracts/{name}.json"):
            import time
            whole = globals() if "segment" in globals() else vars(__import__("rest"))
            text = whole["segment"](whole["Store"](store).load(name), environ, int(time.time()))
            put(1, text and text + "\n")
    except Exception as error:      # a line that fails is blank, which reads as "not armed"
        put(1, f"contract: status line failed ({type(error).__name__})\n")
    fs._exit(0)


def put(fd, text):
    """TEXT to FD in UTF-8, whatever the locale; whether it arrived. A closed stream does not change the exit status."""
    try:
        write_all(fd, text.encode("utf-8", "replace"))
    except OSError:
        return False
    return True


# --- texts ---------------------------------------------------------------------------------------

POLICY = """\
1. What this project's documents or this session already answer is answered.
2. A documented process decides its own next step.
3. New work is scope, not a question: in the way or the cause, it is handled now; beside it, it is recorded.
4. Among paths the one wins that treats the root cause, defers no correctness and fits local conventions; \
that it takes longer is no counter-argument. Ties are the agent's to break.
5. Three questions, one yes fails an option: is it the symptom and not the cause? was a cleaner path skipped \
for its length? is safety, correctness or clean-up put off?
6. An objection is checked before it is used to defer.
7. Each resolved fork is recorded in one line.
8. The operator is interrupted only where being wrong cannot be undone."""

# Texts for the model state facts and where they come from; they give no orders and claim no authority.
ABOUT = (
    "A Stop hook that the operator configured refuses a turn-end that announces or leaves work, and lets a finished "
    "one go. The operator's word \"stop\" releases it.")
COMMANDS = """\
In the shell: `{cmd} item add TEXT`, `item done ID --evidence command:CMD|file:PATH|url:URL|note:TEXT`, `item list`.
What only the operator can lift: `item escalate ID --class {classes} --reason R`; given up: `item waive ID --reason R`.
`wait --for WHAT` before a wait that the client reports; `decide --fork F --rule N --path P --reason R` for a fork; \
`met --evidence KIND:VALUE` claims the condition."""

HELP = """\
{name} {version}: a Claude Code hook (SessionStart, UserPromptSubmit, Stop) and its command line.

As a hook it reads one JSON object from standard input. `{prog} demo` shows what it does.
`{prog} --help` lists the commands."""
HELD = f"{NAME}: turn held."     # opens every hold, and is how our own feedback rows are found in a transcript

# What the operator is told when the contract changes.
CHANGES = {
    "armed": "armed: {condition}{items}. A turn that ends with work owed is held; \"stop\" releases.",
    "amended": "amended, armed: {condition}{items}.",
    "observing": "observing, armed: {condition}{items}. Each end of a turn is judged and recorded, none is held.",
    "armed already": "armed already: {condition}{items}; the condition stands.",
    "paused": "paused: turns may end. Your next prompt that is no question resumes it; \"stop\" releases.",
    "resumed": "resumed, armed: {condition}{items}.",
    "away": "armed for your absence: {condition}{items}. A turn ends only for a wake that the client reports; "
            "any prompt of yours ends the absence.",
    "back": "you are back: {condition}{items}.",
    "released": "released; turns end freely again."}

# What the operator is told when a turn is let go. A class that is missing here is silent.
ALLOWS = {
    "ALLOW-CLEAN": "let go: nothing contradicts the end. Still armed: {condition}; \"stop\" releases.{ledger}",
    "ALLOW-MET": "let go and done: {condition}. {why}{ledger}",
    "ALLOW-PAUSED": "let go: paused. Your next prompt that is no question resumes it.",
    "ALLOW-PLAN": "let go: {why}. Still armed: {condition}; a plan waits for your approval.",
    "ALLOW-DIALOGUE": "let go: it answers your question. Still armed: {condition}.",
    "ALLOW-BUDGET": "let go: the time budget is spent, the contract has ended: {condition}.{ledger}",
    "ALLOW-WAITING": "let go: it waits, and {wakes} wakes it. Still armed: {condition}.{ledger}",
    "ALLOW-ESCALATED": "let go: it asks you about {why}. Still armed: {condition}.{ledger}",
    "ALLOW-BLOCKER": "let go: only you can lift what stands in the way ({why}). Still armed: {condition}.{ledger}",
    "ALLOW-PRESENT": "let go: you are present. {owes}Still armed: {condition}.",
    "MATERIAL-ALLOW": "let go: shipped {why}. Still armed: {condition}.{ledger}",
    "CLEAN-TERMINAL-ALLOW": "let go without an artifact: every item has its next actor ({why}). "
                            "Still armed: {condition}.",
    "ALLOW-DEGRADED": "degraded: let go after {why}. Still armed: {condition}; work or your next prompt "
                      "engages it again.{ledger}"}

FAULTS = {
    "ancestor": "this session is not armed. The one before it, {old}, is: {condition}. To carry the contract over: "
                "{command} arm --from {old} --session {new}",
    "vanished": "the contract file of this session has vanished: {why}. Not gated any more.",
    "foreign": "{path} is not ours ({why}). Not gated; move it away to use this session id.",
    "newer": "{path} was written by a newer version ({why}). Not gated; update session_contract.py.",
    "malformed": "{path} cannot be read as a contract ({why}). \"stop\" sets it aside; or repair or remove it.",
    "ended": "{path} cannot be read as a contract ({why}); the log says that it had ended. Let go.",
    "session": "the payload has no session id that can name a file ({why}). Not gated.",
    "store": "{why}. {then}",
    "payload": "the payload could not be read ({why}). Nothing was decided.",
    "event": "event {why} is not one that this hook answers. Nothing was decided.",
    "program": "an error of this program ({why}). Nothing was decided; please report it."}


# --- rules: set aside -----------------------------------------------------------------------------

MARK = "\ufffc"      # stands for one character that was set aside; offsets into the text stay true

# Words of a line that ends in a colon and leads in a text for somebody else; between rules that text is set aside.
DRAFTS = ("draft", "message", "e-mail", "email", "mail to", "reply", "announcement", "release note", "comment", "post")

# What it sets aside, marks of which one must be there, the pattern. Tried in this order; linear: gaps are bounded.
SET_ASIDE = (
    ("comment", "-->", r"<!--.{0,2000}?-->"),
    ("code", "``", r"``[^\n]{1,400}?``"),
    ("code", "`", r"`[^`\n]+`"),
    ("quoted", "\u201c", r"\u201c[^\u201d\n]{1,400}\u201d"),
    ("quoted", "\u00ab", r"\u00ab[^\u00bb\n]{1,400}\u00bb"),
    ("quoted", "\u300c", r"\u300c[^\u300d\n]{1,400}\u300d"),
    ("quoted", "\"", r"(?<![A-Za-z0-9_])\"[^\"\n]{1,400}\"(?![A-Za-z0-9_])"),
    ("quoted", " '|('|\n'|*'|:'", r"(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){1,120}'(?!\w)"),
)


# --- rules: turn-ends -----------------------------------------------------------------------------

FAMILIES = ("continuing", "remaining", "permission", "menu", "your-call", "capacity", "wrap-up", "narration")

# Where a rule looks. A unit is the piece of text one pattern sees, cleaned: lowered, emphasis marks and the bullet or
# heading mark before it dropped, each run of white space one space, \u2019 turned into ', a span that was set aside
# (code, quotation) one MARK (\ufffc). "^" is the first word. A list unit keeps its lines and their marks.
#   final      the closing sentence
#   last       the closing sentence; where a list closes the message also the line that leads in that list
#   paragraph  each sentence of the closing paragraph
#   closing    the same, and the items of the list after it
#   ending     each sentence of the last three paragraphs, the lists and headings between and after them included
#   anywhere   each sentence, list item and heading of the message
#   heading    each heading (a bold line alone is one)
#   lead-in    each heading or line that opens a list
#   list       each list with the line that leads it in, as one unit: "lead-in\n- item\n- item"
#   last-list  the same, only where the list stands in the ending
#   parts      each list or table of the message, as one unit
#   whole      the message as one unit, if it is short: at most three sentences, 320 characters, no list
# A scope followed by "?" takes only the units that hold a question mark.
# An excuse looks at
#   unit       the unit of the hit
#   near       the unit, the two sentences before it and the one after it
#   list       the list that the unit opens or belongs to, else the paragraph of the unit
#   ending     the last three paragraphs as one unit (the last 1,500 characters of it)
#   message    the whole message as one unit (the same)
# What a row looks for: cues, each (literals, pattern). Literals are parted by "|" ("&" asks for one of each side); if
# one is in the unit, the pattern is tried; an empty pattern means that the literal is enough. Compiling costs more than
# all the rest, so the literals are rare.
# A rule is excused by each excuse named in its `unless`; a name is a whole id or its part before a dot: "courtesy"
# covers courtesy and courtesy.zh.

# id, family, scope, cues, unless, says
RULES = (
    # -- permission: leave is asked for that was given before
    ("permission.want-me-to", "permission", "ending?", (
        ("want me|want us to|like me to|like us to|prefer me|prefer that i|rather i ", ""),
        ("would you like to ", r"like to (?:proceed|continue|go|move|start|begin|see|review|implement|have)\b"),
        ("want ", r"(?:^|[^a-z] ?|\b(?:so|then|you) )want\b"),
        ("continue?|keep going|go on?|push on", r"(?:^|[^a-z ] |[^a-z ])(?:continue|keep going|go on|push on)\b"),
    ), "courtesy gated public your-hands asks-facts", "asks whether it should do the next piece of work"),
    ("permission.should-i", "permission", "ending?", (
        ("shall i|shall we|should we |mind if i|ok if i|okay if i|alright if i", ""),
        ("should i |should i?|may i |can i |could i |can we |could we ", r"\b(?:should|may|can|could) (?:i|we)\b"),
        ("ok to |okay to |fine to |safe to |alright to ", ""),
    ), "courtesy gated public answered", "asks whether it may do the next piece of work"),
    ("permission.proceed", "permission", "closing?", (
        ("ready to |ready for |agree?|ok?|okay?", r"\b(?:ready (?:to|for)|agree|ok|okay)\b"),
        ("proceed|go ahead|move on|good to go|look good|looks good|look right|looks right|sound good|sounds good"
         "|make sense|approve|work for you|works for you|happy with|objection|on board|agreed?|deal?", ""),
    ), "courtesy gated public your-hands", "asks whether it may proceed"),
    ("permission.question", "permission", "final?", (
        ("?", r"\?\W{0,8}$|\?[^?]{0,40}\)"),
    ), "courtesy gated public your-hands your-words asks-facts", "ends on a question it could settle"),
    ("permission.say-the-word", "permission", "closing", (
        ("just say|simply say|whichever you|choose one|tell me to ", ""),
        ("say the word", r"the word[^.?]{0,60}\b(?:and|i'll|i will|first|to)\b"),
        ("say ",
         r"(?:^|\b(?:just|simply|only|please|to|you|and) |[,:;] ?)say (?:\ufffc|go|yes|so|[b-d1-4]\b"
         r"|a (?:or|and|for)\b)[^.?]{0,60} (?:and|or|i'll|i will|first|to) "
         r"|\bsay (?:which|if)\b[^.?]{0,60} (?:first|next)\b"),
        ("give me ", "give me (?:the|a|your) (?:word|go|green|nod|thumbs|ok|hint|steer|sign|shout(?! (?:if|with)))"),
        ("let me know and i", r"(?:^|[.:;!—–-] ?|please |just )let me know and i(?![^\n]{0,200} instead)"),
        ("tell me which", r"tell me which(?! (?:\w+ ){1,3}(?:was|is|were|are|did|does)\b)[^.?]{0,40}(?: and i|$|[.])"),
        ("tell me ", r"tell me (?:\d|[a-d])\b[^.?]{0,20} (?:or|and)\b"),
        ("reply |type |answer ",
         r"\b(?:reply|type|answer) (?:with )?(?:(?:\ufffc|yes|ok|go)(?: to| and|[.,])|[b-d1-9]\b"
         r"|a (?:or|and|for)\b)"),
        ("on your ", r"on your (?:word|go|signal|nod|ok)\b"),
        ("pick |choose |decide|select ",
         r"^pick (?:\w+ or \w+|an? (?:letter|number|option|direction)\b)"
         r"|^(?:please|just) (?:pick|choose|decide|select)\b"
         r"|^(?:pick|choose|decide|take) (?:one|any|between|which(?:ever)?|what(?:ever)?|whether)\b"
         r"|\b(?:please|you) (?:decide|choose|pick)\W?$"),
    ), "gated public", "will go on when it is told to"),
    ("permission.awaits-nod", "permission", "closing", (
        ("your |go-ahead&go|approv|confirm|ok|sign|review|decision|call|answer|input|feedback|thought|word|green"
         "|bless|yes|choice|pick|opinion|view|take|judg|prefer|verdict|steer|guidance|consent|nod|reply|response"
         "|instruction",
         r"\b(?:wait|await|pending|until|need|once|after|when|if|hold|paus|want|love|like|appreciate|for|on|as|get"
         r"|hear|interested|follow|have|without)\w*\b[^.?]{0,40} (?<!that's )(?:(?:the|a) go-ahead"
         r"|your (?:go\b|go-ahead|approval|confirmation|ok\b|okay|sign|review\b|decision|call\b|answer|input"
         r"|feedback|thoughts|word\b|green|blessing|yes\b|choice|pick\b|opinion|view\b|take\b|judg|preference"
         r"|verdict|steer|guidance|consent|nod\b|reply|response|instruction))"),
        ("hear from you|hear back|you say|you repl|you respond|you answer|you get back|you weigh in|you tell me"
         "|you object",
         r"\b(?:i|i'll|i'm|i've|nothing|no \w+)\b[^?]{0,90}\b(?:until|till|before|unless|once|when"
         r"|as soon as) (?:i hear|you)\b"),
        ("you approve|you confirm|you decide|you choose|you pick|you agree|you're happy|you give",
         r"\b(?:until|once|after|when|if|as soon as) you(?:'re happy"
         r"| (?:\w+ )?(?:approve|confirm|decide|choose|pick|agree|give))\b(?:[^.?]{0,80}\bi(?:'ll| will| can)\b"
         "|[^,.?]{0,60}$)"),
        ("approval|confirmation|go-ahead|green light|please confirm",
         "^(?:i'm |now |currently )?(?:awaiting|pending|waiting for|waiting on) (?:the |an? )?(?:approval"
         r"|confirmation|go-ahead|green light)\W?$|^please confirm\W?$"),
        ("approve to|approve this|approve the|approve it|confirm to",
         r"^(?:please |just )?(?:approve|confirm)(?: (?:it|this|the \w+))? to (?:start|begin|proceed|continue|go"
         r"|have|let)\b"),
        ("approve and i|confirm and i|please approve|if approved|otherwise i'll start|otherwise i'll go"
         "|otherwise i'll proceed|otherwise i'll begin", ""),
        ("if yes|if so", r"\bif (?:yes|so)[,:] (?:then )?(?:i|we|please)\b"),
        ("if you're |if you are ",
         r"\bif you(?:'re| are) (?:fine|ok|okay|happy|good|cool|alright|comfortable"
         r"|on board)\b[^?]{0,60}, (?:then )?(?:i|we)(?:'ll| will| can)\b"),
        ("if that|if this|if it ",
         r"\bif (?:that|this|it)(?:'s| is|(?: \w+)? (?:works|sounds|looks|suits|fits))\b[^.?]{0,40}, (?:then )?(?:i"
         r"|we)(?:'ll| will| can)\b"),
    ), "gated public past-call", "waits for a go-ahead"),
    ("permission.if-you-want", "permission", "closing", (
        ("if you",
         r"\bif you(?:'d)? (?:want|like|prefer|wish)\b[^.?]{0,80}\b(?:i'll|i will|next,? (?:i|we)"
         r"|i can (?:next|now|start|continue|proceed))\b"),
        ("happy to |glad to ",
         r"\b(?:happy|glad) to (?:continue|start|begin|proceed|go (?:on|ahead)|take (?:it|this|that|on)|tackle"
         r"|do (?:that|it|this)|implement|keep|carry|finish)\b"),
        ("i can ",
         r"\bi can (?:start|begin|proceed|go ahead|continue|implement"
         r"|do (?:that|it|this))\b[^.?]{0,60} if you(?:'d)? (?:like|want|wish)"
         r"|\bi can\b[^.?]{0,60} if you(?:'d)? (?:like|want) me to\b"),
    ), "gated public", "makes the next step wait for a wish"),
    ("permission.ready", "permission", "closing", (
        ("when you|whenever|when ready",
         r"\b(?:ready|start|begin|go|proceed|steps?|resume|continue|implement|commit"
         r"|next)\b[^.?]{0,60}\bwhen(?:ever)? (?:you(?:'re| are| want| say| like| give| approve| confirm| agree)"
         r"|ready)\b|\bwhen(?:ever)? you(?:'re| are) (?:ready|happy)[^.?]{0,20}\b(?:i|we)(?:'ll| will| can)\b"),
        ("ready to |ready for ",
         r"\b(?:i'm|i am|we're) ready\b|^(?:all )?ready (?:to|for) (?:begin|start|implement|build|proceed|continue"
         "|the next|phase|step|task)"),
    ), "gated your-hands your-turn public", "stands ready instead of working"),
    ("permission.let-me-know", "permission", "ending", (
        ("me know if|me know whether|tell me if |tell me whether",
         r"(?:know|tell me) (?:if|whether)\b[^.?]{0,30}\b(?:i should"
         r"|you want me to (?:commit|start|go|do|continue|proceed)\b"
         "|(?:that|this|it)(?:'s| is| looks| seems| sounds| works)? (?:ok|okay|fine|good|right|alright|acceptable)"
         r"|(?:this|that|the) (?:plan|approach|design)|(?:works|suits|fits|helps)\b[^.?]{0,30} and i(?:'ll| will"
         "| can)|works for you|sounds|to (?:proceed|continue|go|start|implement|fix|tackle|build|take|keep|carry"
         r"|finish|grab|run))\b"),
        ("me know when|tell me when",
         r"when (?:you(?:'re| are) ready|you(?:'d like| want| would like)\b|i (?:should|can)"
         r"|to (?:start|begin|proceed|continue|go)\b)"),
        ("let me know your|tell me your",
         "know your (?:preference|choice|decision|pick|answer)|tell me your (?:pref|choice|decision|pick)"),
        ("please tell|please let|please say|please confirm|please indicate",
         r"\bplease (?:tell me|let me know|say|confirm|indicate)\b[^.?]{0,20}\b(?:whether|if|that|which|how"
         r"|what)\b[^.?]{0,80}\b(?:should|right|ok|okay|direction|you want|prefer|keep|go ahead|to do)\b"),
        ("by you|with you",
         r"\b(?:want|like|need|going|wanted|should|must|better|let me) (?:to )?(?:first )?(?:run|check|confirm"
         r"|clear|discuss|align) (?:\w+ ){0,3}(?:by|with) you\b"),
        ("me know how|me know which|me know what|me know where|tell me how|tell me which|tell me what|tell me where",
         r"(?:know|tell me) (?:how|which|what|where)\b[^.?]{0,60}\b(?:you'd|you would|you want|you prefer|you like"
         r"|to|should)\b"),
    ), "courtesy gated public", "asks to be told what it was told"),
    # -- menu: a choice is offered where one is to be made
    ("menu.which", "menu", "anywhere?", (
        ("which ",
         r"\bwhich (?:(?:one|of|approach|option|way|path|route|direction|variant|would)\b|do you"
         r"|(?:\w+ ){1,2}(?:would you|do you (?:want|prefer|like)|should (?:i|we)|shall i|first\b|next\b))"),
        ("what would you |how would you |where would you ", r"(?:what|how|where) would you (?:like|prefer|want)\b"),
        ("do you want|should ", r"\b(?:what|how|where) (?:do you want|should (?:i|we))\b"),
        ("do you prefer|preference|what's next on|i haven't decided|i'm undecided|i can't decide", ""),
        ("do we ", "(?:^|[.:;,—–] )(?:so |and )?do we (?!have|know|see)"),
        ("(1)|(a)|(i)", r"\((?:1|a|i)\)[^?]{0,200}\((?:2|b|ii)\)[^?]{0,200}\bor\b"),
    ), "courtesy gated your-words asks-facts", "asks the reader to choose"),
    ("menu.list", "menu", "list", (
        ("would you|do you |want me|should |shall |do we |which ",
         r"^[^\n]{0,300}\b(?:would you (?:also |rather )?(?:like|prefer)|do you (?:also )?(?:want|prefer)|want me"
         r"|(?:should|shall) i|which (?:one|of|approach|option|way))\b[^\n]{0,120}\n"
         r"|^(?:[^\n]{0,200}[.!:;,—–-] )?(?:so |and |but )?(?:should(?! (?:be|have|also|not)\b)|shall|do we"
         r"|which)\b[^\n]{0,120}[:?]\n"),
        ("i can|i could|we can|we could",
         r"^(?:[^\n]{0,200}(?:if you(?:'d)? (?:want|like)[^\n]{0,80}, |[.!] ))?(?:i|we) (?:can"
         r"|could)(?: (?:now|either|next|also|do either))?:\n"
         r"|^[^\n]{0,200}if you(?:'d)? (?:want|like)[^\n]{0,80}, (?:i|we) (?:can|could)\b[^\n]{0,80}\n"),
        (" or&?", r"\bor\n[^\n]{0,300}\?\W{0,4}(?:\n|$)"),
        ("choose|pick ", r"^[^\n]{0,200}\b(?:choose|pick (?:one|a))\b[^\n]{0,80}\n"),
        ("options|ways |paths|choices|alternatives|approaches|routes|possibilities|directions",
         r"^[^\n]{0,120}\? (?:the |my |your )?options\b[^\n]{0,20}:\n"
         "|^(?:(?:so|then|now|from here|i (?:can )?see|there are|there're|we have|i have|you have|we've got"
         "|here are|possible|your|the|my|a few|several|some|two|three|four|next) ){1,4}(?:options|choices"
         r"|alternatives|possibilities|(?:\w+ )?(?:paths|routes|directions|approaches)"
         "|ways (?:to (?:go|proceed|continue|fix|solve|handle|approach|resolve|address)|forward|out|ahead"
         r"|around))\b(?! (?:were|are|have|that (?:work|were)|worth|made|taken|behind|explained|along"
         r"|i (?:made|took)|to (?:know|note|mention)))[^\n]{0,60}\n"),
    ), "gated your-words", "offers a list to choose from"),
    # -- your-call: the choice is handed back
    ("your-call.yours", "your-call", "ending", (
        ("your call|your decision|your choice|your preference",
         r"(?:^|[,—–;:.(-] ?|\b(?:it's|that's|is|are|needs?|needing|what's|waiting on) )your (?:call|decision"
         r"|choice|preference)\b"),
        ("either|any |both|all of",
         r"\b(?:any|either|both|all)\b[^.?]{0,30}\b(?:for|by|with) me\b"
         r"|\beither (?:one |way |of (?:them|these|the two) )?(?:is|works|would be) (?:fine|ok|okay|good)(?:\W?$"
         r"| (?:with|by) me)|\b(?:i(?:'m| am|'d be| can| could)|happy)\b[^.?]{0,20}\b(?:with|do|go) (?:any|both"
         r"|either)\b(?: of (?:them|these|the \w+)| options?| ways?| one)?\W?$"),
        ("to you|suits you|in mind|with you|yours|for you to",
         r"\b(?:what|which|how|whether)\b[^.?]{0,50}\b(?:matters? (?:more |most )?to you|suits you|you have in mind"
         r"|is important to you)\b|\bleav(?:e|ing)\b[^.?]{0,40}\bto you\b|\b(?:up|over) to you\b"
         r"|\byours (?:to|alone)\b|\b(?:decision|choice|call|ball|pick|verdict)\b[^.?]{0,30}\b(?:yours|with you)\b"
         r"|\bfor you to (?:decide|choose|pick|judge|settle)\b|\b(?:defer|leave)\b[^.?]{0,40} with you\b"),
        ("let you decide|in your court|please advise|your pick|only you can |without you|a preference"
         "|any preference|let's discuss|let's talk",
         r"your pick|let you decide|in your court|please advise|\bonly you can (?:say|decide|tell|judge|answer)\b"
         r"|\bi (?:don't|didn't|won't|wouldn't)\b[^.?]{0,60}\bwithout you\b"
         r"|\bif you have (?:a|any) (?:\w+ )?preference|let's (?:discuss|talk)"),
        ("i'd |i would |i lean|i'm lean|i'm incl|i am lean|i am incl",
         r"\bi(?:'m| am) (?:leaning|inclined) (?:to|towards?)\b"
         r"|\bi(?:'d| would)? (?:lean|go with|pick|choose|take|recommend|suggest|vote"
         r"|prefer)\b[^.?]{0,40}\b(?:option |the )?(?:\d|[a-d]|first|second|third|former|latter)\W?$"),
        ("need|want|like|welcome|have you&decision|ruling|steer|verdict|your |you to |have you |you make|you choose"
         "|you decide|you pick",
         r"\b(?:need|want|like|welcome|appreciate)s? (?:a (?:decision|ruling|steer|verdict)"
         r"|your (?:input|opinion|take|view|steer|guidance|ruling|verdict|preference))\b"
         r"|\b(?:rather have|needs?|want|like) you (?:to )?(?:make|take|pick|choose|decide|settle|say|weigh"
         r"|confirm)\b"),
        ("whichever|whatever|depends on",
         r"\b(?:whichever|whatever)(?: \w+)? you(?:'d)? (?:prefer|like|want|choose|pick|think)\b"
         r"|\bdepends on (?:what|which|how|whether) you(?:'d)? (?:prefer|want|like)\b"),
        ("need to know",
         r"\bi need to know (?:which (?:one|of|option|way|approach)\b|whether (?:i|you want)|what you want"
         "|how you want)"),
        ("not sure |didn't want to",
         r"\bnot sure (?:if|whether|which|what|how) you(?:'d)? (?:want|prefer|like)\b"
         r"|\bi didn't want to (?:choose|decide|pick|assume|guess)"),
        ("you choose|you pick|you decide",
         r"(?:^|[,;:—–] )you (?:choose|pick)\W?$|(?<!help )(?<!helps )(?<!let )(?<!lets )(?<!once )\byou decide\b"),
    ), "past-call courtesy gated public", "hands the choice back"),
    ("your-call.thoughts", "your-call", "final?", (
        ("what do you think|thoughts?|your take|your opinion|your view", ""),
        ("how does ", "how does (?:that|this) (?:sound|look)"),
    ), "courtesy", "asks for an opinion instead of acting on its own"),
    # -- continuing: work goes on, says the message, and the turn ends
    ("continuing.let-me", "continuing", "last", (
        ("let me |i'll |i will |i'm going to|i'm now going to|i am going to|i need to |i'm about to|i shall ", ""),
        ("i'm |i am ",
         r"(?:^|[,;:—–-] |\b(?:so|and|then|now|here|that|which) )i(?:'m| am) (?:now |also |just |already )?(?!wait"
         "|hold|leav|keep|assum|us(?:ing|ed)|look|not|happ|hop|stand|refer|talk|think|guess|see|miss|hav|get|treat"
         "|count|ask|report|say|mention|flag|point|inclin|lean|propos|suggest|recommend|paus|stop|fac|sitt|being"
         r"|confid|show|clos|nothing|rais|want)\w+ing\b"),
        ("can now|should now|could now|must now",
         r"\b(?:i|we) (?:can|should|could|must) now (?!see|use|run|be\b|say)\w+"),
        ("off to |'s turn|turn now|turn next|after this|after that|next commit|next message|next reply|next pr",
         r"\bi(?:'m| am) off to\b|^now it's\b[^.?]{0,40}\bturn\b|\bturn (?:now|next)\W?$"
         r"|^after (?:this|that)(?: one)?,? (?:comes?|i'll|we'll|it's)\b"
         r"|\bnext (?:commit|message|reply|response|turn|pr) (?:will|brings|contains|covers)\b"),
        ("first thing|first up|then the |then come|doing so|on it",
         r"^(?:so )?first (?:thing|up)\b|^then (?:the (?:\w+ ){0,2}\w+(?:,|\W?$)|comes?\b)"
         r"|^(?:doing so|(?:\w+[,.:] )?(?:i'm )?on it(?: now)?)\W?$"),
        ("i can |we can ", r"\b(?:i|we) can (?:start (?:on|with)|begin (?:on|with)|move on)\b"),
        ("will |going to |about to ",
         r"^(?:will|gonna|going to|about to) (?!be\b|not\b|never\b|need|work|make|you|it|this|that|they|the"
         r"|do\W?$)\w+"),
        (" next| now| turn| message| reply| response| pass",
         r"\b(?:i|we)(?:'ll| will)? (?:\w+ )?(?:turn|take|do|tackle|go|handle|move|attack|start|begin|get"
         r"|pick)\b[^.?]{0,40}\b(?:next|now|in the (?:next|following|coming) \w+)\W?$"),
    ), "stative gated handed-over offer standing", "announces its next action as its last words"),
    ("continuing.next", "continuing", "paragraph", (
        ("next, |next i|next we", r"(?:^|[,;—–-] (?:then )?)next,? (?:i|we|let)\b"),
        ("next is|next up|next are|next comes|next would be|next will be|next on |up next|next:",
         r"^next(?: up)? (?:is|are|comes|on|would be|will be)\b|^(?:up next|next up|next)(?::|,)"
         r"|^next up\b(?! after)|[,;—–-] (?:then )?next (?:is|are) the"),
        ("next session|next turn|next time|next sitting", "^next (?:session|turn|time|sitting)(?:,|:)"),
        ("next ",
         "^(?:the |my |our )?next (?:focus|task|action|priority|item|target|milestone|step|phase|batch|thing|piece"
         r"|move|stop|up|one)s?(?: to \w+)?(?:(?: is| would be"
         r"| will be)\b(?! (?:for you|not|yours|scheduled|planned))|:(?! ?$))"),
        (" next",
         r"^(?:\w+ )?(?:phase|stage|step|part|task|batch|milestone|wave|round"
         r"|chunk)s? [\w.]{1,12}(?: \([^)]{0,60}\))? (?:is |comes )?next\b"
         r"|\bcomes? (?:next|after (?:this|that))\W?$|\b(?:will|comes?|follows?)\b[^.]{0,40} in (?:the"
         r"|a) next (?:step|phase|round|pass|batch|iteration)\b"),
        ("now i|now let me|now to the|now for the|now on to|now we|now back|now over",
         "^now (?:i'll|i will|i'm|i am|i need|let me|to the|for the|on to|back to|over to|we'll)"
         "|[;—–] now (?:for|to|on to|back to|over to) the (?!first|last|moment)"),
        ("then i'll", r"^(?:and )?then i'll\b"),
        ("more to come|after that i|plan from here|back to ",
         r"\bmore to come|^after that i(?:'ll| will|'m)\b|^plan from here|^(?:\w+[,.:] )?back to (?:the|work|it)\b"),
        ("follows", r"^(?:phase|stage|step|part|pass|batch|milestone|wave|round) \w{1,5}\b[^.?]{0,100}\bfollows\W?$"),
        ("now to |follows now|follow now|follows next|follow next",
         r"^now to (?:find|see|check|fix|write|port|test|run|look|do|get|make|build|add)\b"
         r"|\bfollows? (?:now|next)\W?$"),
        ("now the |now, the ",
         r"^now,? the (?!.*\b(?:is|are|has|have|was|pass\w*|works?|runs?|builds?|fails?|shows?|do(?:es)?|can|will"
         r"|uses?|returns?|reads?|gets?|loads?)\b)[^.?!,]{3,50}[.:…]{0,3}$"),
        (" next",
         r"\b(?:is|are) (?:the |up )?next(?: (?:piece|step|item|thing|task|part|one|stage|phase|up|in line"
         r"|on (?:the|my) list))?(?:,|\W?$)"),
        (" next|will be ",
         r"^(?:the |then |and |\ufffc)[^,.?]{0,50} next(?:, (?:then|and|followed)[^.]{0,60})?\W?$"
         r"|\bwill be (?:done|handled|added|tackled|addressed|next|ported|covered) (?:next|in the next|after|soon"
         "|shortly)"),
        (" shortly| moment| minute|right away|straight away| soon|in a bit",
         r"\b(?:i|i'll|you'll|coming|follows?|up)\b[^.?]{0,80}\b(?:shortly|soon|right away|straight away"
         r"|in a (?:moment|minute|bit))\W?$"),
    ), "gated handed-over offer standing", "names its next action and stops"),
    ("continuing.gerund", "continuing", "paragraph", (
        ("^continuing.|^continuing with |^continuing down |^continuing on |^continuing to the |^continuing now"
         "|^proceeding.|^proceeding with ", ""),
        ("continuing|proceeding",
         r"^(?:\w+[,.:] |now |so |then |will be )?(?:continuing|proceeding)(?:\W?$|[.,!:…] "
         r"| (?:with|down|on|to the|from|through|until|as|now|in|by|here|work)\b)"
         r"|(?:[;:—–]|\b(?:remain\w*|left|to go|still|so far|done|more|open|missing|ok|okay|understood|noted|right"
         r"|sure)\b[^,]{0,30},) ?(?:now |still )?(?:continuing"
         r"|proceeding)(?: (?:now|on|with (?:it|them|those|the rest)))?\W?$"
         r"|[;—–] (?:now )?(?:continuing|proceeding) (?:with|to|on|through|down)\b"),
        ("carrying on|pressing on|pushing on|going on|moving on|work continues|work goes on|work resumes",
         r"(?:[;—–]|\b(?:remain\w*|left|to go|to do|so far|more),) (?:now )?(?:carry|press|push|go|mov)ing on\W?$"
         r"|[;—–] (?:now )?(?:carry|press|push|go|mov)ing on (?:with|to)\b"
         r"|^(?:the )?work (?:continues|goes on|resumes)\W?$"),
        ("moving |on to |onto |onward|on with |heading ",
         r"^(?:\w+[,.:] |now |so |then )?(?:moving (?:straight )?(?:on|ahead|along|over|to)|on ?to"
         r"|on with (?:the|it)|onwards? (?:to|with)|heading (?:over |back |on )?(?:to|into|for))\b"),
        ("starting |picking up ",
         r"^(?:\w+[,.:] |now |so |then )?(?:starting (?:with|on|the|now|phase|task|step|in)"
         r"|picking up (?:the|with))\b"),
        ("pressing on|pushing on|pushing ahead|carrying on|resuming|kicking off|getting started|working through"
         "|turning to|working on|diving |digging ",
         r"^(?:\w+[,.:] |now |so |then )?(?:still )?(?:press|push|carry|resum|kick|gett|work|turn|div|digg)ing\b"),
        ("time to ", r"^time to \w+ (?:the|it|up|this|on|all)\b"),
        ("i'm ", r"\bi'm (?:now )?(?:starting|moving|beginning|turning|working) (?:on|to|with)\b"),
        ("let's ",
         r"\blet's (?:now |also |first )?(?:move|continue|tackle|start|check|trace|inspect"
         r"|see (?:what|who|which|where)\b(?!.*\bsay)|proceed|keep|do|look|fix|build|implement|go|get|add|wire|run"
         r"|finish|turn|take)\b"),
        ("keep |continu|proceed|press|push|carry",
         r"\bi(?:'ll|'m| will| am)(?: now)? (?:keep|continu\w+|proceed\w*|press\w*|push\w*|carry\w*) (?:on|going"
         r"|pushing|working|with|through|down|ahead|to the|until|from|as|in)\b"),
    ), "subject gated handed-over offer standing", "says that work goes on"),
    ("continuing.next-phase", "continuing", "paragraph", (
        ("phase |stage |step |part |milestone |batch |wave |task ",
         r"^(?:\w+ \w+, |then )?(?:the )?(?:next )?(?:phase|stage|step|part|milestone|batch|wave|task) (?:\d[\w.]*"
         r"|two|three|four|five)(?: \([^)]{0,60}\))? (?:is (?:the|where|now)|will|covers|comes|brings|adds"
         r"|introduces|handles|takes|tackles|starts|begins|would be|can (?:now )?(?:start|begin))\b"),
    ), "gated handed-over offer", "names the next stage of its own plan and stops before it"),
    ("continuing.intent", "continuing", "closing", (
        ("i plan to|i intend to|i'd start |i'd begin |i would start |my plan is to|the plan is to|first step is"
         "|first step will be", ""),
    ), "gated handed-over offer", "tells a plan that it did not begin"),
    # -- narration: the closing line stands before an action that never came
    ("narration.doing", "narration", "final", (
        ("ing ",
         r"^(?!\w+ing (?:the|an?) \w+ \w+s (?:all|the|an?|its?|every)\b)(?:\w+[,.:] |now |so "
         "|then )?(?!(?:str|spr|even|morn|dur|us|includ|accord|noth|everyth|someth|anyth|follow|regard|be|hav|leav"
         r"|keep|depend|assum|wait|hold|stand|gett|know)ing\b)\w{2,12}ing (?:at |into |for |up |through |in |on "
         r"|out )?(?:the|a|an|all|it|its|this|that|these|those|both|each|whether|how|why|what|where|\ufffc|two"
         r"|three|now|again)\b"),
        ("ing it|ing that|ing them|ing this", r"[;—–] (?:now )?\w+ing (?:it|that|them|this)(?: now)?\W?$"),
        ("one more |two more |another |a few more ",
         r"\b(?:more|another) (?:thing|place|file|spot|check|caller"
         r"|case)s? (?:to (?:look|check|read|fix|verify|see|go)|left|first)\b"),
        ("looking.|checking.|reading.|searching.|investigating.|looking…|checking…|reading…",
         r"^(?:\w+[,.:] )?(?:look|check|read|search|investigat)ing[.…]{1,3}$"),
        ("first, the ", r"^first, the [^.?!,:]{3,40}\W?$"),
        ("quick |need to |want to ",
         r"^(?:\w+[,.:] )?(?:a |one )?quick (?:look|check|peek|glance) (?:at|into|over"
         r"|through)\b(?!.*(?::|\b(?:show|confirm|found|say|is|was|turn|reveal)))"
         r"|(?:^|\bi (?:still |also )?)(?:need|want) to (?:look|check|see|read|verify|trace|dig|inspect)\b"),
    ), "subject gated handed-over offer", "is the line before an action that never came"),
    ("narration.colon", "narration", "final", (
        ("let me|i'll|i will|now|i need to|going to|first|here goes", ":$"),
    ), "gated", "ends on a colon with nothing after it"),
    # -- remaining: work is left, and nothing disposes of it
    ("remaining.count", "remaining", "ending", (
        ("still need|still to |still have|still fail|still broken|still miss|still pending|still un|to go|left to "
         "|not yet|not done|not started|unfinished|unresolved|to be ",
         r"(?<![\w,.]){num}(?: \w+){0,4} (?:still (?:need|to\b|have|fail|broken|miss|pending|un\w+ed)|left to \w+"
         r"|to go\b|(?:are |is )?(?:unresolved|unfinished|not (?:yet )?{done})"
         r"|(?:remain\w*|left|need|have) to be \w+)"),
        ("fail|error",
         r"(?<![\w,.])\d[\d,]* (?:\w+ )?(?:failures?|failing(?: tests?)?|errors?|tests? fail\w*) (?:left"
         r"|remain\w*)\b"),
        ("remain| left&task|step|phase|stage|todo|item|thing|piece|part| of ",
         r"(?<![\w,.])(?:one|{num}) (?:\w+ ){0,2}(?:tasks?|steps?|phases?|stages?|todos?|items?|things?|pieces?"
         r"|parts?) (?:still )?(?:remains?\b|(?:is |are )?left\b)"
         r"|(?<![\w,./])(?:one|{num}) (?:of|out of) (?:the )?\d(?![^.?]*\b(?:how|what)\b)[^.?]{0,40} (?:remain"
         r"|left)\b"),
    ), "none-left disposed reviewed", "counts work that is not done"),
    ("remaining.bare-count", "remaining", "ending", (
        ("remain| left|outstanding|pending",
         r"(?<![\d,])\d[\d,]*(?: [a-z]+){0,4} (?:remain|left\b|outstanding|pending)"),
    ), "none-left disposed reviewed unchanged", "counts something that is left"),
    ("remaining.named", "remaining", "ending", (
        ("remaining|remains",
         "^(?:what |still )?(?:remaining|remains)(?: (?:(?:from|in|on|for|after|before) [^:.]{0,40}|{work}))?(?: is"
         r"| are)?:|^(?:the )?remaining (?:\w+ )?(?:work|tasks?|steps?|pieces?|parts?) (?:is|are)\b"
         r"|^what(?:'s| is)? (?:still )?remains?\b(?! of)"),
        ("left",
         r"^{work} left(?: to do)?:|^what(?:'s| is)(?: still)? left\b(?:(?! (?:in|of) )| in [^.?]{0,40} are\b)"
         r"|^left(?: to \w+| over:|:)"),
        ("what's |what is |what i ",
         r"^what(?:'s| is)(?: still)? (?:missing|open|outstanding|needed)\b"
         "|^what i (?:haven't|have not|didn't|left out|skipped)"),
        ("lacks:|lacks: ", r"\b(?:this|it) (?:still )?lacks:"),
        ("weren't |wasn't |were not |was not ",
         r"\b(?:were|was)(?:n't| not) (?:reached|finished|completed"
         r"|started)\b(?!.*\b(?:before|because|when|until)\b)"),
        ("that leaves|that just leaves|that only leaves|todo:|todos:|still to come", "^(?:that|todos?:|still)"),
        ("still ",
         r"^still (?:carrying|lacking|missing|failing|needing|using)\b[^.?]{0,40}:"
         r"|^still (?:open|to do|to \w+:|ahead|pending|outstanding|missing|needed|todo|left|unfinished)(?!\w)"),
        ("not ",
         r"^not (?:yet )?{done}(?: yet)?(?::| is\b| are\b)|^not (?:begun|started|touched|implemented)(?: yet)?\W?$"),
        ("open |missing |outstanding", "^(?:open|missing|outstanding)(?: ends| {work})?(?: to [^:]{0,40})?:"),
        ("to finish|to complete|to wrap|to be complete",
         r"^to (?:finish|complete|wrap|be complete)\b(?!.*\byou\b)[^.?]{0,60}\b(?:needs?|must|ha(?:s|ve) to"
         r"|remains?)\b"),
        ("next step",
         "^next steps?(?: when ready)?:? (?:[^.]{0,10})?(?:continue|proceed|move|start|fix|implement|run|finish"
         r"|phase|task)\b"),
        ("the rest|the others|the remain|the other ",
         r"\bthe (?:rest|remainder|others|remaining \w+|other (?:\w+ )?\w+)(?: (?:of|in|on"
         r"|from) [^.,]{0,30})? (?:(?:can |could |will |should |to )?(?:follow|come|wait(?! (?:on|for)\b)"
         r"|be done)s?\b|still (?:need|to\b|ha|use the old)|(?:is|are|remains?"
         "|stays?) (?:not (?!affected|needed|changed|relevant|used|touched by)"
         r"|still (?:to|open|un\w+|missing|pending|on|in|waiting|ahead|left|broken|red|failing|outstanding|not)\b"
         r"|still\W?$|next|to\b|open|waiting|queued|better|routine|mechanical|straightforward|similar"
         r"|un(?!chang|affect|touch|relat|modif)\w+ed|undone|pending|left)|(?:is|are|has|have)n't|has not|have not"
         r"|will (?:need|take|get)|needs? (?!no\b))"),
        ("the second |the last |the third |the next |half |part ",
         "^(?:and )?the (?:second|other|next|last|remaining|third) (?:half|part|third|batch|stage|phase|chunk|piece"
         r"|portion)\b[^.?]{0,80}\b(?:is (?:where|next|not|still|to\b|what)|will|comes|needs|follows|remains|isn't"
         r"|hasn't|waits)\b|\bthe (?:last|other|remaining|next) [^.?]{0,60}\bwill (?:need|require|follow)\b"
         r"|\bthe \w+ half remains as"),
    ), "none-left disposed reviewed", "names work that is left"),
    ("remaining.list", "remaining", "lead-in", (
        ("remain| left",
         r"^(?:\d+ )?(?:{work} (?:remaining|left)|(?:what |still |what's |the )?(?:remaining|remains"
         r"|left)\b(?! (?:verticals|categories|values|fields|options)))"),
        ("still |what's |what is ",
         "^(?:still (?:open|to do|needed|missing|pending|outstanding|failing|broken|ahead)"
         "|what(?:'s| is) (?:still )?(?:left|missing|next|open|not done))"),
        ("to do|todo|to-do", r"^(?:left )?to ?-?do(?: list)?(?: \([^)]*\))?:?$"),
        ("so far|half|in progress|partly|partial|incomplete|underway|under way",
         r"^(?:[^\n]{0,40} so far:?$|(?:about |roughly )?half-?(?: ?way)?\b|(?:still |work )?in progress|partly"
         r"|partial(?:ly)?|incomplete|under ?way)\W*(?:there|done|complete|finished)?\W*$"),
        ("outstanding|not |next up|unfinished|open |missing ",
         "^(?:outstanding|not (?:yet )?{done}|next up|unfinished|(?:open|missing) (?:ends|{work}))"),
    ), "none-left disposed reviewed", "lists work that is left"),
    ("remaining.next-up", "remaining", "heading", (
        ("next up|up next|what's next", r"(?:next up|up next)\b(?! after)|^what's next"),
    ), "none-left", "heads the next piece of work and stops"),
    ("remaining.open-boxes", "remaining", "last-list", (
        ("[ ]|⬜|☐|🔲|⏳", r"\n\W{0,4}(?:\[ \]|⬜|☐|🔲|⏳)"),
    ), "reviewed disposed", "shows a to-do list with open boxes"),
    ("remaining.part-done", "remaining", "ending", (
        ("half|third|quarter|part",
         r"\b(?:half|third|quarter|part) of the way\b|\bhalf (?:of the {work}|{done}|follows)\b"
         r"|\b(?:only|just)\b[^.]{0,40}\bhalf\b|^(?:we're |about )*half ?way\b"
         "|^(?:about |roughly |around |the first )?(?:half|(?:a|one|two) thirds?"
         r"|(?:a|one|three) quarters?) (?:of )?[^.?]{0,60}\b(?:now|already|use[sd]?|{done})\b"),
        ("so far", r"\d[^.]{0,40}\bso far\b|\bso far\b[^.]{0,40} (?:of|only) "),
        ("%",
         r"^(?:status|progress|state)\b[^\n]{0,60}(?<!\d)\d?\d%"
         r"|^(?:progress: )?(?:[^:%]{0,40} (?:is|are|at) )?(?:about |around |roughly )?\d\d?% (?:of the way"
         r"|{done})\b"),
        ("commented out|disabled|skipped|confined|restricted|limited",
         r"\b(?:(?:commented out|skipped|left out) (?:until|till|for now)|disabled for now)\b"
         r"|\bi(?:'ve| have)? (?:confined|restricted|limited) (?:myself|this|it) to\b"),
        ("get to|to be continued|more work|more to follow|more follow|scratched the",
         r"\bdid(?:n't| not) get to|to be continued|more work is needed|more (?:to )?follow|scratched the surface"),
        (" follow", r"\b(?:will|'ll|to) follow(?: (?:in|with|next|soon|later|shortly|separately)\b|\W?$)"),
        ("dumm|stub|placeholder|hard-coded|hardcoded|mocked",
         r"\b(?:(?:is|are|remains?|stays?) (?:only |just )?(?:a )?|still |currently )(?:a )?(?:dumm(?:y|ies)"
         r"|stub(?:s|bed)?|placeholders?|mocked|hard-?coded)(?:\W?$"
         r"|\b[^.?]{0,60}\b(?:for now|so far|yet|at the moment|currently))"),
        ("later|afterwards|follow-up|for now",
         r"\b(?:can|could|should|will|would|to) (?:still )?(?:be )?(?:{done}|follow|come)\b[^.?]{0,30}\b(?:later"
         r"|afterwards|in a (?:later|follow-up|second) \w+)\b"
         r"|\bi(?:'ve| have)? (?:left|left out|skipped|postponed|parked|put off)\b[^.?]{0,60}\bfor (?:now|later"
         r"|(?:a|the) (?:next|follow-up|later))\b"),
        ("nothing so far|nothing yet", r"(?:^|[:—–,-] ?)nothing (?:so far|yet)\b"),
        ("planned|scheduled|slated|earmarked",
         r"\b(?:planned|scheduled|slated|earmarked) for (?:the|a) (?:second|next|later|other|following|last)\b"),
        ("for the next|for a later|for the second|for the following",
         r"\bfor (?:the|a) (?:next|second|later|following) {turn}\b"),
        ("everything |all |every &but |except|apart from|other than",
         r"\b(?:everything|all (?:of \w+|the )?\w+|every \w+) (?:but|except(?: for)?|apart from"
         r"|other than)\b[^.?]{0,60}\b(?:{done}|compiles?|works?|pass|passes|green)\b"),
        ("not everything|not all", r"\bnot (?:everything|all)\b[^.?]{0,30}\b{done}\b"),
        (" of |/&iteration |step |part |phase |batch |round |epoch |stage |chapter |task |section |page ",
         r"^(?:iteration|step|part|phase|batch|round|epoch|stage|chapter|task|section|page) (\d+) ?(?:of"
         r"|/) ?(?!\1\b)\d"),
        (" of |/&done|complete|finished|ported|migrated|converted|implemented|written|fixed|translated|covered"
         "|processed|handled|updated|tested|checked",
         r"(?<![\w,./])(?!one\b)(\d+|{num}) ?(?:of|/|out of) ?(?:the )?(?!\1\b){num}\b[^.]{0,30}\b{done}\b"
         r"|\b(?:i|we)(?:'ve| have)? {done} (?:about |around |the first )?(?<![\d.,/])(\d+) (?:of|out of) (?:the "
         r"|all )?(?!\2\b)\d"),
    ), "asked none-left disposed reviewed unchanged", "reports a part of the work as done"),
    ("remaining.not-done", "remaining", "ending", (
        ("still ",
         r"\b(?:i|we)(?:'d| would)? still (?:(?:need|have|like|want|plan) to|owe)\b"
         r"|\bstill (?:out of date|outdated|lacks?|miss(?:es|ing)?|requires?|needs? (?:\w+ing|its|their)\b"
         r"|needs to be|has to|have to|to be {done})\b|\b(?:is|are) still (?:open|pending|untouched|un\w+ed|missing"
         r"|to do|red|broken)\b(?! until)|^{plain}[^?]{0,150}\bstill (?:\w+n't|(?:do(?:es)?|is|are|ha(?:s|ve)) not"
         r"|fails?\b|crash|break|hang|(?!pass)(?:\w+ )?(?:the|an|in the|on the|from the) old)"),
        ("yet",
         r"\b(?:is|are|has|have) (?:\w+ )?yet to \w+|\b(?:is|are) not yet (?:\w+ )?{done}\b"
         r"|^{plain}[^?]{0,150}(?:(?:n't|\bnot) (?:been |yet )?(?:\w+ )?{done}\b[^.?]{0,60}\byet\b"
         r"|\b(?:(?:is|are|do|does)(?:n't| not) (?!have\b|exist|defined|planned|scheduled|known|decided|released)"
         r"|there(?:'s| is| are) no )[^.?]{0,40}\byet\W?$)"),
        ("need",
         r"(?<!anything )(?<!neither )(?<!nothing )(?<!none )\bneeds? (?:(?:fix|port|updat|convert|rewrit|handl"
         r"|migrat|translat|adjust|wir|do|clean|finish)ing\b"
         r"|(?:\w+ )?(?:more work|another (?:pass|round)|to be {done})"
         r"|(?:the|a|an) (?:\w+ )?(?:change|update|fix|rewrite|treatment|migration|adjustment)s?\b)"
         r"|\b(?:that|which) (?:i|we) (?:still )?(?:need|have) to\b"),
        ("have to |has to |need to ",
         r"\b(?:those|these|they|the others?) (?:still )?(?:have|has|need|needs) to (?:be(?:come)?|follow|move|get"
         r"|wait)\b(?! (?:able|aware))"),
        (" not.|n't.",
         r"\b{done}\b[^.?]{0,60}\b(?:isn't|aren't|hasn't|haven't|not)\W?$"
         r"|\bthere\b[^.?]{0,60}\b(?:isn't|aren't)\W?$"),
        ("i haven't|i have not|i didn't|i did not|i couldn't|i could not|i wasn't|i was not|i was unable",
         r"\bi ha(?:ven't|ve not) (?:yet )?(?:looked|gone|dealt|got|gotten|started|begun|finished|tackled"
         r"|reached)\b|\bi (?:(?:did|could)(?:n't| not)|was(?:n't| not) able to"
         r"|was unable to) (?:yet )?(?:get (?:to|around|as far)|finish|manage|complete|start)\b"),
        ("only ",
         r"\b(?:is|are|exists?) only (?:\w+ )?(?:bullet points|outlined?|sketch\w*|stubs?|draft\w*|headings|half)"
         r"|^(?:so far |for now |for the moment |currently |at the moment )?only\b[^.?]{0,60}\b(?:is|are|has"
         "|have) (?:been )?(?:implemented|there|done|in|ported|working|supported|converted|finished|written"
         r"|migrated)\b"),
        ("there are |there is |there's ",
         r"\bthere(?: are| is|'s) (?:still )?(?:a handful of|some|one|another|{num}) [^.?]{0,60}\b(?:still\b"
         r"|haven't|aren't|to (?:go|port|fix|convert)\b)"),
        ("outstanding", r"\b(?:is|are) (?:still )?outstanding\W?$"),
        (" red| failing| broken",
         r"(?<![\w,.])(?!0)(?:{num}) (?:\w+ ){0,2}(?:tests?|specs?|suites?)\b[^.?]{0,40}\b(?:are"
         r"|is) (?:still )?(?:red|failing|broken)|\btests?: [^.?]{0,30}\b[1-9]\d* (?:failing|red)\b"),
        ("n't been |not been ",
         r"^{plain}[^?]{0,200}\b(?:has|have)(?:n't| not) been (?!touched|changed|modified|altered|edited)(?:{done}"
         r"|looked at|run)\b"),
        ("at the moment|at this point|for the moment|so far|at present|as of now",
         r"^{plain}(?!.*(?:needed|necessary|required|problem|issue|error|complaint))[^?]{0,200}(?:n't\b|\bnot\b"
         r"|\bno\b|\bonly\b|\bun\w+ed\b)[^.?]{0,60}\b(?:at the moment|at this point|for the moment|so far"
         "|at present|as of now)"),
    ), "asked none-left disposed reviewed gated handed-over", "says that something is not done yet"),
    ("remaining.part-way", "remaining", "ending", (
        ("checkpoint|progress|so far|status|update|nearly|almost|of the way|halfway|half way",
         r"\b(?:checkpoint|(?:good |some |nice )?progress|status|update|so far)\b[^\n]{0,120}?\b(\d+) (?:of|out of"
         r"|/) (?:the )?(?!\1\b)\d+\b|\b(\d+) (?:of|out of) (?:the )?(?!\2\b)\d+\b[^.?\n]{0,60}\bso far\b"
         r"|\b(?:half|thirds?|quarters?|most|\d+ ?%) of the way\b|\bhalf ?way (?:through|there|done)\b"
         r"|^(?:good|great|solid|nice|steady|decent) progress\b(?! (?:bar|report))"
         "|^(?:so |and )?(?:we|i|it|this|that)(?:'re|'m|'s| are| am| is)(?: now)? (?:nearly|almost) (?:there|{done}"
         r"|finished|ready|through)\b|^(?:nearly|almost) (?:there|{done}|finished)\b"),
    ), "none-left disposed reviewed", "reports a part of the way"),
    ("remaining.stub", "remaining", "ending", (
        ("stub|placeholder|hard-cod|hardcod|not implemented|mocked|left as a todo|left as todo",
         r"\b(?:left|leav\w+|put in) (?:\w+ ){0,2}(?:stubs?|placeholders?)\b"
         r"|\b(?:is|are) (?:currently |still |just |only |for now |now )(?:an? )?(?:\w+ )?(?:stub(?:bed|s)?"
         r"|placeholders?|hard-?coded|mocked|not implemented)\b"
         r"|\bleft (?:as|with) (?:an? )?(?:\w+ )?(?:todos?|stubs?|exercise)\b"
         r"|\bexcept (?:for )?[^.?]{0,80}\b(?:stub|placeholder|not implemented)"),
    ), "asked none-left disposed reviewed", "hands over a stub as the work"),
    ("remaining.unsolved", "remaining", "ending", (
        ("investigat|more work|further work|more debugging|further debugging",
         r"\b(?:further|more|additional|some more) (?:investigation|work|debugging|digging|testing) (?:is|will be"
         r"|would be|are) (?:required|needed|necessary)\b|\bneeds? (?:further|more|additional) (?:investigation"
         r"|work|debugging)\b"),
        ("couldn't|could not|wasn't able|not been able|haven't been able|didn't manage|haven't managed",
         r"\bi (?:couldn't|could not|wasn't able to|(?:have not|haven't) been able to|didn't manage to"
         r"|haven't managed to) (?:yet )?(?:get [^.?]{1,60} to (?:pass|work|run|compile|build|start)\b|fix\b"
         r"|solve\b|resolve\b)"),
    ), "asked none-left disposed reviewed gated handed-over", "reports what it did not solve"),
    ("remaining.status", "remaining", "parts", (
        ("todo|to do|not started|not touched|not begun|not done|not yet|not there|not ported|not migrated"
         "|not converted|not implemented|not written|pending|in progress|half|nothing |untouched|unstarted|stubbed"
         "|⏳|🔲|⬜|☐",
         r"(?s)^(?=.*(?:✅|✔|☑|\b(?:{done}|works?|pass)\b)).*(?:\|"
         r"|\n[^\n|]{2,80}(?:[:—–-]|\()) ?(?:[^\w|]{1,3} ?)?(?:not (?:yet )?(?:there|{done})|nothing (?:so far|yet)"
         r"|(?:about |only )?half\w*(?: way| done)?|untouched|unstarted|stubbed|in progress|to ?-?do|pending"
         r"|[⏳🔲⬜☐])[^\n\w|]{0,4}(?:\([^\n|]{0,40})?(?:\n|\||$)"),
    ), "reviewed disposed", "shows parts that are done beside parts that are not begun"),
    # -- capacity and wrap-up
    ("capacity.context", "capacity", "ending", (
        ("context",
         r"\b(?:my|i have|i've|i'm|our|we're|given the|this session's)\b[^.]{0,60}\bcontext (?:window|budget|limit"
         r"|left|usage|length|remaining|i have)\b|\b(?:much|little|limited|remaining|enough|low on|out of"
         r"|most of) (?:of (?:my|the) )?context\b|\b(?:within|in) this context\b"
         r"|\bcontext (?:window )?(?:is|has|was)\b[^.?]{0,25}\b(?:getting|grown|become|nearly|almost|running"
         r"|filling|full|long|large|big|used|low|tight|heavy)\b"),
        ("token|budget|window|my time|my turn|context&my |low |out |due to|given|because|consider|used|spent|burn"
         "|eaten",
         r"\b(?:low|out|short) (?:on|of) (?:tokens|budget)|\b(?:due to|given|because of|considering|my) (?:the |my "
         r"|our )?token budget|\bmy (?:own )?(?:token|output) (?:limit|allowance|window)\b"
         r"|\bof my (?:context )?window|\b(?:used|spent|burn\w*|eaten|consumed)\b[^.?]{0,20}\b(?:most|much|all|half"
         r"|up|lot)\b[^.?]{0,20}\b(?:my|the|this) (?:\w+ )?(?:budget|tokens?|turn|time|window|context)\b"),
        ("reply|response|message|answer|session|one go|this turn|conversation| chat |thread|sitting|one pass"
         "&room|space|fit|exceed|too |already|limit|more than|enough|all for|it for|hit|reached|keep|own |sessions"
         "|length|long|large|big|full",
         r"^(?!if\b|when\b|each\b)[^?]{0,200}\b(?:room|space|fits?|exceed\w*|too (?:long|much|big|large)"
         "|already (?:long|quite|very|getting)|limit|more than|enough|all|it|hit|reached"
         r"|keep\w*)\b[^.?]{0,60}\b(?:this|one|a single|my) {turn}\b(?! (?:file|test|page))"
         r"|\b(?:(?:this|my) {turn}|the (?:conversation|chat|session|thread)) (?:is|has|was"
         r"|would)\b[^.?]{0,25}\b(?:long|large|big|full)\b|\b(?:deserves?|warrants?|needs?|merits?) (?:its"
         r"|their) own {turn}\b|\b(?:several|multiple|many|a few|more) (?:more |further )?sessions\b"
         r"|\b(?:length of th|'s length)"),
        ("run",
         r"\b(?:running|run|ran) (?:out of|low on|short (?:on|of)) (?:time|steps|turns|room|space|tokens|output"
         r"|budget|calls)\b"),
        ("have enough|have the|no longer have",
         r"\bi (?:(?:don't|do not|no longer) have (?:the|enough) (?:room|space|budget|capacity|tokens))\b"),
        ("limit|maximum|quota",
         r"\bmy (?:output|response|turn|message|step)[\w -]{0,12} (?:limit|budget|quota)"
         r"|\blimits? (?:to|on|of) (?:how much|what) i\b|\b(?:stay|keep)(?:ing)? within (?:the "
         r"|my )?limits?\b[^.?]{0,20}\bi\b|\b(?:hit|reached) (?:my\b"
         r"|the (?:\w+ )?(?:maximum|limit)\b[^.?]{0,40}\b{turn})"),
        ("kept this|kept it|ones first|brevity i|reasons of|lack of|deep in|long run|long session|deserve"
         "|what's left of my|separate task|separate step|so i did|so i only|fresh eyes|as much as i|as far as i",
         r"\bkept (?:this|it) (?:to|short|brief)\b|^(?:as|since|because|given|considering)\b[^.?]{0,40}\b(?:long"
         r"|big|large|huge|size)\b[^.?]{0,20}, i(?:'ve| have)? (?:dealt|{done}|did|limited|restrict\w*|only|took)\b"
         r"|\bbrevity|\b(?:reasons|lack) of (?:space|length|time)\b[^.?]{0,20}\bi\b|\bhas been a long "
         r"|\bdeserves? (?:a|its own|more)\b[^.?]{0,20}\b(?:start|attention|session|time|turn)\b|\bleft of my"
         r"|\bas a separate (?:task|step)\b|\bdeep in(?:to)? this|\bwould (?:take|be|need)\b[^.?]{0,40}\bso i"
         r"|\bfresh eyes|\bthat(?:'s| is)\b[^.?]{0,20}\bas (?:much|far) as i\b"),
        ("pick this up|pick it up|come back to this|come back to it|return to this",
         r"\bwhen (?:we|you|i) (?:next )?(?:pick (?:this|it) up|come back to (?:this|it)"
         r"|return to (?:this|it))\b(?! (?:from|in) the)"),
        ("another day|another time|next time|tomorrow|later|rush|at once|in one|separately|split"
         "&leave|save|keep|postpone|defer|do |continue|resume|finish|pick|return|rush|too |suggest|recommend"
         "|propose|better|best|rather|let's",
         r"^(?!.*\byou can\b)[^?]*\b(?:leave|save|keep|postpone|defer|do|continue|resume|finish|pick\w*"
         r"|return to (?:it|this))\b(?! with\b)[^.?]{0,60}\b(?:another day|another time|next time|tomorrow"
         r"|a later (?:time|day|date))|^(?!.*\byou can\b)[^?]{0,120}\b(?:resume|continue) later\b"
         r"|\b(?:rather|not|instead|without|don't want)\b[^.?]{0,20}\brush(?:ing)?\b"
         r"|\btoo (?:large|long|big|much|many)\b[^.?]{0,60}\b(?:at once|in one go)\b"
         r"|\b(?:suggest|recommend|propose|better|best|rather|let's)\b[^.?]{0,90}\b(?:separately"
         r"|split (?:it|this|the \w+) (?:here|there))"),
    ), "product none-left", "gives its own context as the reason to end"),
    ("capacity.fresh-session", "capacity", "ending", (
        ("session|conversation|fresh context|fresh start|chat|new thread",
         r"\b(?:best|better|pick\w*|continue|resume|lea\w+|hand(?:s|ed|ing)? (?:it|this|the|off|over)|defer\w*"
         r"|sav(?:e|ing)|do|tackle|start\w*|suggest\w*|recommend\w*|finish|rest|remain\w+|take"
         r"|let)\b[^.]{0,80} (?:fresh|new|next|another|separate|later|future|follow-up) (?:session|context"
         r"|conversation|chat|thread|start)\b|\b(?:fresh|new|next|another|later) (?:session|conversation|chat"
         "|thread|context) (?:can|could|should|will|to|picks?) (?:then )?(?:pick|continue|resume|take|start|carry"
         r"|finish|up)\b|\b(?:fresh|clean|new) (?:session|conversation|chat|thread|context) would (?:be|do|make"
         r"|serve|suit)\b|\b(?:do|finish|leave|continue|tackle|rather|better"
         r"|best)\b[^.]{0,80} in a clean (?:session|chat|context|conversation)\b"
         r"|\b(?:start|open|begin)\w* a (?:new|fresh) one\b"),
    ), "product disposed", "leaves the rest to another session"),
    ("capacity.stopping-point", "capacity", "ending", (
        ("stopping point|to stop|to pause|a break|to break|to wrap|natural break|checkpoint",
         r"\b(?:good|natural|clean|reasonable|sensible|logical|nice|safe|convenient|decent|obvious"
         r"|right)\b[^.?]{0,20}\b(?:stopping point|break\b|checkpoint"
         "|(?:moment|point|place|spot|time) to (?:stop|pause|break|end|wrap|leave|take a))"),
    ), "product", "calls it a good place to stop"),
    ("wrap-up.for-now", "wrap-up", "ending", (
        (" here|for now|for today|a day|it there|for this",
         r"\b(?:i'll|i will|i'm|let me|let's|we can|going to|i)\b[^.]{0,20}\b(?:stop|stopping|paus\w+"
         r"|leav\w+ (?:it|this|things)|wrap\w*(?: it)? up|call\w* it)\b[^.]{0,30}\b(?:here|there|for now|for today"
         r"|a day)\b|^(?:stopping|pausing|wrapping up) (?:here|there|for now)\b"
         r"|\bthat(?:'s| is) (?:it|all|a wrap|enough) for (?:now|today|this {turn})\b"),
    ), "gated none-left past-call", "winds down while work is reported unfinished"),
)

# id, kind, scope, cues, says. Kinds: "excuse" disposes of the hit that names it; "person" does so too, and
# is shown, since only a person can take that step; "blocker" lifts every hit of the families in LIFTED; "waits" tells
# that the message waits for something that runs, and lifts nothing by itself.
EXCUSES = (
    ("courtesy", "excuse", "unit", (
        ("anything else|any other|any further|any more|any specific|any questions|any issues|any problems"
         "|any adjustments|any changes|any clarification|something else|what else",
         r"^(?!.*\b(?:commit|or anything else)\b)"),
        ("help with|help you with|i help|i assist|have questions|like to know|know more|follow-up questions"
         "|further questions", ""),
        ("shout ", r"\bshout (?:if|with|when)\b"),
        ("explain|elaborate|walk you|deeper",
         r"\b(?:explain (?:any|some|a part|how|why|the|this|it|that)|elaborate|walk you through|go deeper)\b"),
        ("adjust anything|change anything|tweak anything", ""),
        ("make sense| help?|answer your", "^(?:does|do) (?:this|that|it|these) (?:all )?(?:make sense|help|answer)"),
    ), "is a polite closing"),
    ("your-words", "excuse", "unit", (
        ("did you mean|you mean|you meant|referring to|talking about|to remember|focus on when", ""),
        ("like to clarify", r"like to clarify(?!.*\bwork on)"),
        ("were you|your ", r"\bwere you (?:going|trying)\b|\byour (?:message|question|request)\b"),
    ), "asks what was meant"),
    ("asks-facts", "excuse", "unit", (
        ("which |whose ",
         r"^(?:and )?(?:whose \w+|which (?!one\b|of\b|option|approach|way|path|variant|first|next)\w+)(?: \w+)?\?$"
         r"|\bwhich one (?:applies|was|did|came)\b"),
        ("does |did |is |are |was |were |has |have |had ",
         "(?:^|[—–:,] )(?:and |so |but )?(?:does|did|is|are|was|were|has|have"
         r"|had)\b(?!(?: it)?.*\b(?:ok|okay|fine|good) (?:to|if|with)\b)"),
        ("how|when |who|why |what|where |which ",
         "(?:^|[—–:,] )(?:and |so |but )?(?:how(?! (?:should|would|do you want|far))"
         "|where(?! (?:should|would|do you want))|when|who|why|what's (?!next|your|the priority)"
         r"|which (?:\w+ ){1,2}(?:is|was|were|did|does) (?!best|better|next|first|right)"
         r"|what (?:do you (?!want|prefer|like|think)\w+|is|are|does|did|were|was|happens|error|version|about))\b"),
        ("can you|could you|would you|will you|do you |any idea",
         r"\bany idea\b|(?:^|[—–:,] )(?:and |so |but )?(?:can you|could you"
         "|(?:would|will) you (?!also |rather |like|prefer|want|say|be (?:ok|fine|happy))"
         "|do you (?!(?:also |still |really |rather |even )?(?:want|prefer|like|think|need|mind"
         r"|have (?:a|any|some) (?:\w+ )?preference)\b)\w+)"),
        ("which ",
         r"which [^?]{0,60}\b(?:(?:is|are|was|were|has) (?:the|a|an|your|in|on|correct|live|current|used|meant"
         r"|running|it)\b|are you|do you (?!want|prefer|like|think)\w+|did|does)\b"),
    ), "asks what only the reader knows"),
    ("your-hands", "excuse", "unit", (
        ("test|try|learn|another shot|see |check|look|verify|save|log in|sign in|rerun|restart",
         r"^(?!.*\b(?:me to|should i|shall i|i should)\b).*(?:\bmind (?:test|check|try|runn|restart|verify)ing\b"
         r"|\b(?:want to|ready to|ready for you to|you can|you(?:'d like)? to) (?:log|sign|learn|re-?run|restart"
         r"|test|try|see|give|check|have a look|take a look|look|verify|save)\b)"),
    ), "is for the reader's own hands"),
    ("gated", "person", "unit", (
        ("once |after |when |as soon as |wait for you",
         r"\b(?:once|after|when|as soon as) (?:the|your|it|that|they|those)(?: [\w -]{1,30})?(?:'s|'re| is"
         "| are) (?:in|set|added|configured|live|merged|filled|up|there|here|available|back|online|connected"
         r"|plugged|installed|enabled|unlocked|renewed|granted|in place)\b"
         r"|\b(?:once|when|after|as soon as) i(?:'ve got| have| get| receive) (?:it|that|them|those|your|access"
         r"|(?:the|a) (?:new )?(?:key|token|password|file|logs?|details|info|answer|credentials))\b"
         r"|\bwait for you\b"),
        ("and i'll|and i will|and i can|then i'll|then i will",
         "^(?:then |now |just )?(?:check|click|open|save|enter|run|restart|reload|refresh|paste|add|set|log|sign"
         "|go to|try|put|plug|install|select|enable|approve the|accept|unlock|grant|rebuild|reconnect|tap|press"
         "|visit|type|send|share|upload|drop|start|launch|close|turn|switch|boot|quit|attach|ask|download|copy|fill"
         r"|scan)\b"),
        ("once you|after you|when you|as soon as you",
         r"\b(?:once|after|when|as soon as) you(?:'ve| have)? (?!(?:approv|confirm|agre|decid|want|lik|preferr|pick"
         r"|answer|repli)ed)(?:\w+ed|done|set|run|put|sent|ran|plug|connect|enable|log\w*|re-?\w+|enter\w*"
         r"|install\w*|test\w*|add|upload|share|provide|paste|create|finish\w*|upgrade|get)\b"),
        ("if you",
         r"\bif you (?:can |could )?(?:share|paste|provide|send|point|plug|connect|enable|install|add|create|log"
         "|sign|restart|reboot|unlock|attach|rotate|renew|invite"
         "|give me (?!(?:the|a) (?:go|green|word|ok|nod|thumb)|your (?:ok|go|word|blessing))|tell me (?:where|what)"
         r"|upload|run|grant|have the|see|hit|get|still)\b"),
        ("please ",
         r"\bplease (?:log|sign|paste|share|provide|send|run|try|restart|reload|refresh|test|check|upload|enter"
         r"|clarify|add|open|install|save|enable|let me know (?:what|if it|how it))\b"),
        ("paste |send |share ", r"\b(?:paste|send|share) (?:me )?(?:the|your|that|me)\b(?![^()]*\))"),
        ("let me know ",
         "let me know (?:once|when(?! you(?:'re| are| want| would|'d)| i | to )"
         "|what(?! (?:you'd|you want|i should))|if it|how it"
         "|if (?:(?:the|that|this)(?![^.]{0,20}(?:plan|approach|design|direction|order|for you|sounds|suits"
         "|(?:looks?|is|works|seems|'s) (?:good|right|ok|okay|fine|alright|and)))"
         r"|you (?:see|hit|still|run|get|success\w+)))\b"),
        ("with th",
         r"^with (?:that|this|those|these) (?:values?|keys?|tokens?|files?|ids?|logs?|output|info\w*|codes?"
         r"|screenshots?|address|numbers?|paths?|names?|links?),? (?:i'll|i can|i will)\b"),
        ("ping me |shout |holler ",
         r"\b(?:ping me|shout|holler) (?:once|when|as soon as|after)\b(?! you(?:'re| are| want))"),
        ("when it's done|then let me know|tell me when|may i |can i |could i ",
         r"\b(?:may|can|could) i (?:please )?(?:have|get|ask)\b|when it's done|then let me know"
         "|tell me when(?! you)"),
    ), "waits for something that only the reader can do"),
    ("stative", "excuse", "unit", (
        ("know|be |keep |have |leave |wait|remember |hold |stop |stay |pause |note |say |explain|stand |report back"
         "|let you|see you|ping you|tell you|update you|get back|use |never |not |add that|avoid ",
         r"\b(?:let me|i'll|i will|i shall|going to|need to|about to) (?:now |also |then |just |only )?(?:know|be"
         "|keep (?:the|an|it|that|this|in|you)|have|leave|wait|remember|hold|stop|stay|pause|note|say|explain|stand"
         r"|report back|let you|(?:see|ping|tell|update|keep) you|get back|use|never|not|add that|avoid)\b"),
    ), "is a state and no step of work"),
    ("handed-over", "person", "near", (
        (", please",
         r"\b(?:try|run|log|open|check|click|restart|reload|test|send|paste)\b[^.?]{0,80}, please(?:[.!]|$)"),
        ("please ", r"\bplease (?!note|see|find|keep|approve|tell)\w+"),
        ("you need to|you have to|you'll need to|you'll have to|your turn|waiting for you|waiting on you", ""),
        ("once you|after you|when you|as soon as you",
         r"\b(?:once|after|when|as soon as) you(?:'ve)? (?!(?:\w+ )?(?:confirm|approve|agree|decide|choose|pick|say"
         "|give|want|like|prefer|ok|reply|respond|answer|tell)|are (?:ready|happy|ok|fine))"),
        ("let me know|tell me ", r"\b(?:let me know|tell me) (?:once|when|what|if|how|which)\b"),
        ("can you |could you ", r"\b(?:can|could) you \w+[^.]{0,120}\?"),
        ("if you ", r"\bif you (?:can|could|paste|share|send|still|get|see|run)\b"),
    ), "follows from a step that the reader must take"),
    ("subject", "excuse", "unit", (
        ("ing ",
         r"^(?:\w+[,.:]? )?\w+ing\b(?:(?!, (?:which|who|where|as|since)\b)[^.]){0,100}(?<!\bto )\b(?:is|was|are"
         "|were|should|would|will|can|may|must|did|does|shows?|works?|passes|fixe[sd]|makes?|gives?|enables?"
         "|prints?|saves?|returns?|needs?|takes?|avoids?|keeps?|means|helps?|caused?|led|resolve[sd]?|solve[sd]?"
         "|prevents?|allows?|adds?|gets?|didn't|doesn't|isn't|turned|gave|took|had|has|results|yields|raises|throws"
         "|fails|breaks|causes|changes|reduces|cuts|drops|ends|starts|costs|uses|creates|confirms|show(?:ed|n)"
         r"|prove[sd]|brings|brought|removes?|removed|requires?|lets|where)\b"),
    ), "has the word as the subject of a statement"),
    ("standing", "excuse", "unit", (
        ("from now on|whenever|going forward|in future|in the future|automatically|every time|each time|always"
         "|next scheduled|scheduled run", ""),
        ("future ", r"^future \w+"),
    ), "promises a habit and no next step"),
    ("asked", "excuse", "unit", (
        ("?", r"\?\W*$"),
    ), "asks and does not say"),
    ("your-turn", "excuse", "unit", (
        ("you'll want|you will want|you can|you may|you might|you could|you should", ""),
    ), "tells the reader what to do"),
    ("offer", "excuse", "unit", (
        ("let me know|should you |shout if|ping me if", ""),
        ("and i'll|and i will",
         r"^(?:please |just )?(?:confirm|approve|reply|ok it)\b[^.]{0,60}\band i(?:'ll| will)\b"),
        ("if ", r"(?:^|[,—–] )(?:and )?if (?:you|it|that|the|this|any|anything|there)\b"),
    ), "is a conditional offer"),
    ("public", "person", "unit", (
        ("push|publish|merge|delet|wipe|force-push|tear down|not pushed|discard|pull request| pr | pr?|reset |post "
         "|send |drop |deploy |release|rewrit|submit |really want|are you sure|you're sure|explicit",
         r"^(?!.*\b(?:commit|address|fix|implement|redeploy|phase)\w*\b).*\b(?:push|publish|merge"
         "|delet(?:e|ion|ing)|wipe|tear down|discard|not pushed|really want|are you sure|you're sure"
         r"|explicit (?:yes|ok|consent|confirm\w+|approval)|reset [^?]{0,40}\bto (?:match|remote|origin)"
         "|submit (?:it|this|the)|(?:create|raise|open|submit) (?:a|the|another) (?:pr|pull request)"
         r"|post (?:this|it|that|the|these|a)|send (?:this|it|the|that|them|these|those)\b"
         r"|drop (?:the|that) (?:table|database|column|data|branch|schema|stash|index)\w*"
         r"|rewrit\w+ [^.]{0,40}history|deploy (?:it |this |that )?to (?:prod\w*|live)|cut (?:a|the) release"
         r"|release (?:it|this))\b"),
    ), "is public or cannot be undone"),
    ("past-call", "excuse", "unit", (
        ("as requested|as you asked|as you said|as you wanted|as agreed|as instructed", ""),
        ("your call|your decision|your choice|your preference|your approval|your go|your review|your feedback",
         r"\b(?:per|following|after|based on|with|matches|from|respects|honou?rs|as) your\b"
         r"|\byour (?:call|decision|choice) (?:on|from|of) (?:mon|tues|wednes|thurs|fri|yesterday|last|earlier)"),
    ), "cites a decision that was made"),
    ("answered", "excuse", "near", (
        ("?", r"\?[^\w(\[]{0,8}(?:yes|no|nope|sure)\b[,.!;:—– -]"),
    ), "answers the question itself"),
    ("none-left", "excuse", "unit", (
        ("0 ", r"(?<![\d.,/])0 (?:of|remain|left|fail|todo|open|pending|out|\w+ remain|\w+ left)"),
        ("no |zero |without ",
         r"\b(?:no|zero|without(?: any)?) (?:\w+ ){0,3}(?:remain\w*|left|outstanding|pending|todos?|open)\b"),
        ("nothing|none ",
         r"\bnothing (?:needs|has to|(?:is|was) left\b)|\bnothing (?:\w+ )?(?:remain\w*|left|pending|outstanding"
         r"|open|to do)\b|\bnone (?:\w+ )?(?:remain|left)"),
    ), "says that nothing is left"),
    ("none-left.after", "excuse", "near", (
        ("nothing ", r"\bnothing (?:from|more|else|left|further|to do)\b(?! (?:does|is|has|works))"),
    ), "says that nothing follows"),
    ("unchanged", "excuse", "unit", (
        ("the same", r"\bthe same(?:\W?$|[,;.]| (?:as|for|in both|everywhere|way)\b)"),
        ("unchanged|untouched|selected|remain valid|remain available|remain green|remain stable|remain intact"
         "|remain in place|left untouched|left as ", ""),
    ), "says that something stays as it is"),
    ("disposed", "excuse", "list", (
        ("out of scope|on purpose|not part of|someone else|owned by|assigned to|blocked by|kept for|don't fail"
         "|logged as|in the backlog|by design|intentional|deliberate|unrelated|preexisting|pre-existing|known issue"
         "|known failure|known flake|as agreed|as you agreed", ""),
        ("outside", r"\boutside (?:this|the|of)\b"),
        ("as you |as asked|as requested|as instructed|as told",
         r"\b(?:stopped|paused|halted|left)\b[^.\n]{0,30}\bas (?:you )?(?:asked|requested|instructed|told|wanted"
         r"|said)\b"),
        ("tracked", r"\btracked (?:in|as|under|by|separately)\b"),
        ("deferred|moved |filed ",
         r"\b(?:deferred|moved|filed) (?:to|as|in|under) (?:#|\ufffc|issue|ticket|the backlog)"),
        ("on main", r"\b(?:fails?|failing|present|happens?) on main\b"),
        ("threshold", "below (?:the )?threshold"),
    ), "disposes of what is left"),
    ("reviewed", "excuse", "list", (
        ("i flagged|i raised|requesting changes|requested changes|test plan|how to test|if you still|'s pr"
         "|'s review|'s branch", ""),
        ("posted", r"\bposted (?:to|on|a)\b"),
        ("review ", r"\breview (?:posted|comment|pass|complete|of)\b"),
        ("pr ", r"\bpr #?\d+"),
        ("author|reviewer|should-fix|must-fix|nitpick|the contributor|praise", ""),
    ), "reviews someone else's work"),
    ("reviewed.message", "excuse", "message", (
        ("[high]|[medium]|[low]|🔴|the pr is|lgtm|request changes", ""),
    ), "is a review's list of findings"),
    ("product", "excuse", "unit", (
        ("summariser|summarizer|the model|model's|user| api|endpoint|provider|truncat|chunk|max_tokens|cookie|login"
         "|log in|expire|auth|jwt|react", ""),
    ), "speaks of the product"),
    ("blocker.credentials", "blocker", "near", (
        ("password|credential|api key|secret|2fa|log in|login|sign in|access|permission|sudo|otp|account",
         r"\b(?:i (?:can't|cannot|don't have|have no|am unable|couldn't|lack|need you to|need your|need the)"
         "|you(?:'ll| will)? need to|only you can|requires? you|needs? your|needs? an?|tell me (?:the|your)"
         r"|please)\b[^.]{0,80}\b(?:passwords?|credentials?|api keys?|secrets?|2fa|log ?in|sign ?in|access"
         r"|permissions?|sudo|otp|account)\b"),
    ), "needs credentials or access that a person holds"),
    ("blocker.hands", "blocker", "near", (
        ("device|phone|plug|browser|gui|physical|manually|your machine|by hand|dashboard|emulator",
         r"\b(?:i (?:can't|cannot|have no way|am unable|couldn't)|you(?:'ll| will)? (?:need|have) to|only you can"
         r"|requires? you|please|can you|could you)\b[^.]{0,80}\b(?:device|phone|plug|browser|gui|physical\w*"
         r"|manually|your machine|by hand|dashboard|emulator)\b"),
    ), "needs a person's hands"),
    ("blocker.cannot-be-undone", "blocker", "ending", (
        ("cannot be undone|can't be undone|cannot be taken back|can't be taken back|cannot be reversed"
         "|can't be reversed|no undo|no backup|unrecoverable|not recoverable|cannot be recovered|can't be recovered"
         "|cannot be restored|can't be restored|no way back|they're gone|it's gone|gone for good|no soft delete"
         "|no replica|drop table|irreversib|force-push|force push|permanently delete|irrevocab|real money", ""),
        ("production|prod data|live data",
         r"\b(?:drop|delet|wip|overwrit|remov|truncat|eras|destroy)\w*\b[^.]{0,80}\b(?:production|prod|live) ?"),
        ("mail|message|notif|newsletter|invit",
         r"\b(?:e-?mails?|notifications?|messages?|newsletters?|invit\w+) (?:\w+ ){0,4}(?:\d[\d,.]*|all|every|real"
         r"|the) (?:\w+ ){0,2}(?:customers|users|subscribers|people|recipients|members|clients)"),
        ("charge|refund|pay|purchase|buy|transfer|bill ",
         r"\bbill (?:this|it) |\b(?:charge|refund|pay|purchase|buy|transfer)\w*\b[^.?]{0,50}(?:\$|€|£|cards?\b"
         "|customers|money)"),
        ("irreversible|permanent|data loss",
         r"\b(?:need|want|wait\w*|ask\w*|confirm\w*|until|before)\b[^.]{0,80}\b(?:irreversible|permanent(?:ly)?"
         r"|data loss)\b|\bpermanently\b[^?]{0,200}\?"),
    ), "asks before something that cannot be undone"),
    ("blocker.missing-facts", "blocker", "near", (
        ("i need you to|please provide|please share|please paste|please send|please clarify|please add|send me"
         "|was cut off|got cut off|is cut off|ends in the middle|ends mid|breaks off|cut short", ""),
        ("can you |could you ",
         r"\b(?:could|can) you (?:please )?(?:share|paste|provide|send|add|attach|open|upload"
         r"|confirm (?:whether|which|what))\b"),
    ), "needs facts that only a person has"),
    ("waits.running", "waits", "ending", (
        ("waiting ", r"\bwaiting (?:on|for) (?!you)"),
        ("still running|still working|still going|still in progress|still executing|still building|still processing"
         "|in the background|be notified|get notified|will notify|reports back|check back|wake me|wakes me|be woken"
         "|get woken|wakeup|wake-up|is running|are running|now running|is in progress|are in progress|— running"
         "|are working", ""),
        ("notify when|checking back|holding for the ", ""),
        ("being ",
         r"\b(?:is|are) being (?:pushed|built|deployed|rolled|uploaded|processed|indexed|copied|downloaded"
         r"|generated|rendered|trained|measured|imported|exported)\b"),
        ("agent", r"\b(?:sub)?agents? (?:is|are) (?!done|finished|idle)\w+ing\b"),
        ("running",
         r"\b(?:agents?|batch(?:es)?|workers?|jobs?|builds?|tests?|suite|task)(?: \w+)? (?:is |are |now "
         r"|still )?running\b"),
        ("once |as soon as |when |until |as they |after ",
         r"\b(?:once|when|until|after|as soon as|as) (?:(?:the|all|both|its|their|each) )?(?:it|they|these|those|ci"
         r"|\d+|(?!i\b|we\b|you\b)[\w-]+)(?: \w+)?(?:'(?:s|re) (?:done|through|finished)"
         r"| (?:finish\w*|complet\w*|reports?|returns?|lands?|comes? (?:back|in)"
         r"|(?:is|are) (?:done|through|finished)|pass(?:es)?|exits?|responds?|arrives?))\b"),
    ), "waits for something that runs"),
)
# Rules of low confidence: logged and counted, never a reason to hold; but a plan told after no tool call at all holds.
ADVISORY = ("remaining.bare-count", "continuing.intent")
# What a blocker lifts, and what it does not: an announced next step stays a contradiction.
LIFTED = ("permission", "menu", "your-call", "remaining")
READ_AT_MOST = 32768     # of a longer message the ending is read, so that any size is judged in bounded time
UNIT_AT_MOST = 1500      # a longer sentence is no sentence; its end is looked at
COMPILED = {}            # patterns that were used
# One spelling for two: accents are dropped and the traditional script is written in the simplified one.
FOLDED = ("繼續請開執現確認處還驗測試寫讓來會將馬選擇決優後說覺問題沒項條實環報錯顯詳細幫刪強產嗎無關圍進個檔壓縮對話這帳號碼鑰證機訴複復覆貼發聯隨時買設麼聲願準備傾遷辦áàâãäéèêëíìîïóòôõöúùû"
          "üçñё",
          "继续请开执现确认处还验测试写让来会将马选择决优后说觉问题没项条实环报错显详细帮删强产吗无关围进个档压缩对话这账号码钥证机诉复复复贴发联随时买设么声愿准备倾迁办aaaaaeeeeiiiiooooouuu"
          "ucnе")
# Parts that patterns share; "{done}" in a pattern stands for one of them.
SHARED_PARTS = (
    ("{done}", "(?:done|complete|completed|finished|ported|migrated|converted|implemented|written|fixed|translated"
     "|in place|wired|covered|tested|handled|processed|updated|added|moved|replaced|rewritten|adapted|begun|started"
     "|touched|tackled|reviewed|addressed|checked)"),
    ("{num}", r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|several|a few)"),
    ("{work}", "(?:work|tasks?|items?|steps?|todos?|pieces?|parts?|points?|bits?|files|list|way|tests|modules|pages)"),
    ("{turn}", "(?:answer|reply|response|message|turn|session|conversation|chat|thread|go|round|sitting|pass|sprint"
     "|step|time|batch|iteration)"),
    ("{plain}", r"(?!.*\b(?:if|when|because|since|unless|until|while|whether|that|which|who|you|users?|upstream)\b)"))
NOT_AN_END = ("e.g.", "i.e.", "vs.", "cf.", "approx.", "no.", "fig.", "incl.", "z.b.", "d.h.", "bzw.", "p.ej.")
# Words of other languages that English text does not hold; with letters beyond ASCII they open the rules for those
# languages, which would else be compiled for nothing on each English question.
OTHER_WORDS = (
    "¿|¡| que | para | por | los | las | una | con | del | el | la | en | y | se | lo | al | un | de | o | e | os | um "
    "| com | vou | quer | qual | falta| restam| quedan| sigo| posso| puedo| elige| escolha| pronto| listo| tudo "
    "| continuar| je | tu | vous |-tu |-vous|-je | le | les | des | une | pour | est | on valide| valide |reste "
    "|continuer|laquelle|j'attends| und | der | das | die | ein | ist | nicht | mit | ich | wir | noch |welche| soll "
    "| wie | sag | ob | wenn | auf | weiter| du?")
BULLETS = "-*+\u2022\u00b7\u25aa\u25e6\u2013\u2610\u2611\u2612\u2b1c\U0001f532"
CLOSERS = "\"')]*_\u201d\u00bb\u300d\u300f\uff09" + MARK


# --- rules: turn-ends in other languages ----------------------------------------------------------

RULES_OTHER = (
    ("zh.permission.want-me-to", "permission", "ending", (
        ("吗|？|?",
         r"(?:要|是否|可否|能否|可以|想让|希望)[^。\n]{0,12}(?:我|继续|开始|执行|实施|进行|直接|立即|现在|先|应用)[^。\n]{0,60}(?:吗|[？?])\W{0,4}$"
         r"|^要[^。\n]{1,10}吗"),
    ), "courtesy gated asks-facts public", "asks for leave it already has"),
    ("zh.permission.say-so", "permission", "ending", (
        ("的话", r"的话[，,]?[^。\n]{0,4}我(?!的|们的)|(?:没问题|可以|同意|行|好|ok)的话[^。\n]{0,14}我(?!的|们的)"),
        ("如果|如你|若|只要|要是",
         r"(?:如果|如你|若|只要|要是)[^。，\n]{0,6}(?:同意|没问题|没有问题|没问题|确认|确认|可以|愿意|愿意|(?<!不)需要|希望|准备"
         r"|准备)[^。，\n]{0,12}[，,][^。\n]{0,16}我(?!的)|如果[^。，\n]{0,12}[，,]我(?:就|马上|立即|立刻|这就)"),
        ("同意|没问题|确认|可以|ok|一声",
         r"(?:同意|没问题|确认|可以|\bok|一声)(?:之后|以后|后|，|,)[，, ]?[^。\n]{0,16}我(?:就|再|来|会|将|马上|立即|立刻|开始|继续|帮|直接)"),
    ), "courtesy gated asks-facts public", "waits for a yes it already has"),
    ("zh.your-call.tell-me", "your-call", "ending", (
        ("选择|选一|偏好|指示|决定|哪|优先",
         r"(?:告诉我|回复|请|等)[^。\n]{0,12}(?:选择|选一|偏好|指示|决定|哪|优先)|[你您](?:来|自己)?(?:决定|选一)"
         r"|[你您](?:想|要|更|希望|觉得|倾向|打算|喜欢|喜歡|需要|比较)[^。\n]{0,10}哪"),
        ("由你|由您|你来定|您来定", "由[你您](?!自己|们的)|[你您]来定"),
        ("你说", r"你说[^。，\n]{0,6}我[就再]"),
        ("确认|回复", r"等待?[你您][^。\n]{0,6}(?:确认|回复)|请先?(?:确认)[^。\n]{0,4}(?:是否|方案|后|：)"),
    ), "courtesy gated asks-facts public", "hands the choice back"),
    ("zh.continuing.now-i", "continuing", "last", (
        ("我",
         r"^(?![^。\n]{0,20}(?:下次|每次|请|你把|您把|发我|给我))(?:[^，。\n]{0,30}，){0,2}(?:好的?|那么)?(?:现在|接下来|下面)?(?:让我"
         r"|我们?(?:先|再|来|会|将|去|马上|继续|接着|现在|开始|这就))(?![^。\n]{0,60}(?:了|记住|吗|吗|完成(?:，|。|$)|完毕|即可|就行|你|您|以下命令))"),
        ("现在|接下|下面|马上|继续|开始|这就|先从|下一步",
         r"^下一步(?:是|：|:|我|准备|将)(?![^。\n]{0,60}[你您])|^(?:[^，。\n]{0,30}，){0,2}(?:好的?)?(?:现在|接下来|下面|马上|这就)?[去来]?(?:继续"
         r"|开始|进入|处理|实作|实现|修复|验证|检查|测试|更新|重构|先从|写|改)(?![^。\n]{0,60}(?:了|记住|吗|吗|完成(?:，|。|$)|完毕|即可|就行|你|您"
         r"|以下命令))[^\n]{0,80}$"),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("zh.remaining.still", "remaining", "ending", (
        ("还|剩|尚|仍",
         r"(?:还(?:有|剩|需|差|没)|剩下|剩余|剩餘|仍有|仍未|仍需|尚有|尚未)[^。\n]{0,24}(?:\d|\w(?:个|项|处|步|条|张))[^。\n]{0,24}(?:完成|实现|处理|做"
         "|修|迁移|改|跑|测|写)|(?:还没|还未|尚未|仍未)有?(?:开始|完成|实现|做|处理|迁移|动|接|写|改|测|验证|支持|复盖|部署|适配|更新|替换|翻译|补|加)"
         r"|还剩 ?(?:\d+|[二两三四五六七八九十几]+) ?[个项处步条张页]|还有 ?(?:\d+|[二两三四五六七八九十几]+) ?[个项处步条张页][^。，\n]{0,16}(?:$|没|未|需要|待"
         "|失败)|还差"),
        ("剩下|剩余|剩餘|其余|下一批|下一个", r"(?:剩下|剩余|剩餘|其余|下一[批个])[^。\n]{0,20}(?:我会|我将|我再|继续|马上)"),
        ("还在做|还在改|还在写|还在处理", ""),
        ("已", r"[总共][^。\n\d]{0,6}(\d+)(?!\d)[^。\n\d]{0,4}[，,、 ]{1,2}(?:其中|目前)?已\w{1,4} ?(?!\1(?!\d))\d"),
        ("进度", r"(?:进度)[^。\n]{0,6}(?<!\d)\d\d?%"),
        ("只完成|目前完成|只做了|只改了|只迁移|一半|暂时没|暂未",
         "(?:只|仅|目前)(?:完成|做|改|迁移)了(?!全部|所有)|(?:完成|做)了?一半|暂(?:时没有?|未)(?:实现|做|处理|支持|完成)"),
    ), "disposed gated your-turn", "says that work is left"),
    ("ja.permission.shall-i", "permission", "ending", (
        ("ましょうか|ますか", r"(?:ましょうか|\wますか)\W{0,4}$"),
        ("ですか|でしょうか", r"(?:よろしい|いい|よい|良い|わない|しい|必要|大丈夫)(?:です|でしょう)か\W{0,4}$"),
    ), "courtesy gated asks-facts public", "asks for leave it already has"),
    ("ja.permission.say-so", "permission", "ending", (
        ("必要|希望|要望|よろし|よけれ|良けれ|问题な|指示|承认|了承|教えて|言って|选んで",
         r"(?:必要|希望|要望|よろし|[よ良]けれ|问题な|指示|承认|了承|教えて|言って|选んで)[^。\n]{0,12}(?:ば|なら|たら|次第)[^。\n]{0,60}(?:ます|可能です|着手"
         "|サポート)"),
    ), "courtesy gated asks-facts public", "waits for a word it does not need"),
    ("ja.your-call.which", "your-call", "closing", (
        ("いかが", r"いかが[^。\n]{1,9}か"),
        ("ください|お愿い|待ち", r"(?:选んで|选択して|お选び|决めて|判断|指示|指定|教えて|伝え|お知らせ|申し付け|承认)[^。\n]{0,6}(?:ください|お愿い|待ち)"),
    ), "courtesy gated asks-facts public", "hands the choice back"),
    ("ja.continuing.next", "continuing", "last", (
        ("ます|次の|次は",
         r"^次(?:のステップ|の作業)?は[^。\n?？]{0,60}(?:です|予定です|します)\W{0,3}$"
         r"|^(?:では|それでは|次は|次に|続けて|続いて|引き続き|これから|今から|まずは?|さらに|残り|このまま)(?![^。]{0,60}[がは])[^。\n]{0,60}\wます\W{0,3}$"),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("ja.remaining.still", "remaining", "ending", (
        ("次回|后日|后ほど", r"(?:残り|続き|ほか|他)[^。\n]{0,20}(?:次回|后日|后ほど)"),
        ("残り|残って", r"残(?:り|って)[^。\n]{0,40}(?:\d[^。\n]{0,24}(?:残|未|です|あります)|未(?:対応|実装|完了|着手)|これから|います)"),
        ("手つかず|手付かず|手をつけてい", ""),
        ("まだ", r"まだ[^。\n]{0,40}(?:ていませ|ておらず|残って|未(?:対応|実装|完了)|これから)"),
    ), "disposed gated your-turn", "says that work is left"),
    ("ko.permission.shall-i", "permission", "ending", (
        ("까요", r"\w까요"),
        ("나요|니까|요?", r"(?:원하|필요하|괜찮으)(?:시|십)?(?:나요|니까|세요\?)|하시겠(?:습니까|어요|나요)|(?:할래요|드려요)\?"),
    ), "courtesy gated asks-facts public", "asks for leave it already has"),
    ("ko.permission.say-so", "permission", "ending", (
        ("면 |면,",
         r"(?:원하|필요하|괜찮으|맞으|좋으|동의하|(?:말씀|알려|승인|선택|결정|지시|허락)(?:해|만)? ?[주하])\w{0,2}면,?[^.?\n]{0,70}(?:겠습니다|게요|합니다"
         "|수 있습니다|수 있어요)"),
    ), "courtesy gated asks-facts public", "waits for a word it does not need"),
    ("ko.your-call.which", "your-call", "closing", (
        ("주세요|주십시오|바랍니다|부탁|기다리",
         r"(?:선택|결정|지시|지정|승인|골라|정해)[^.\n]{0,8}(?:주세요|주십시오|바랍니다|부탁|기다리)|(?:말씀해?|알려) ?(?:주세요|주십시오)"),
        ("주시면", "(?:선택해|결정해|지정해|골라|정해) ?주시면"),
    ), "courtesy gated asks-facts public", "hands the choice back"),
    ("ko.continuing.next", "continuing", "last", (
        ("겠습니다|게요|합니다|다음 단계",
         r"^다음 (?:단계|작업)[은는] [^.?\n]{0,60}입니다|^(?:그럼|그러면|이제|다음은|다음으로|다음 단계(?:로|는)|이어서|계속|먼저|우선|곧|바로"
         r"|나머지)[^.?\n]{0,60}(?:겠습니다|게요|(?:진행|시작|계속)합니다)\W{0,3}$"),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("ko.remaining.still", "remaining", "ending", (
        ("남았|남아", r"(?:\d|한 |두 |세 |네 |몇 )[^.\n]{0,20}남[았아]|(?:작업|항목|파일|테스트|단계)[^.\n]{0,12}남(?:았|아 ?있)"),
        ("절반| 중 ", r"절반[^.\n]{0,12}(?:완료|끝|했)|\d+개[^.\n]{0,12} 중 \d+개"),
        ("나머지&아직", r"나머지[^.\n]{0,16}아직"),
        ("아직", r"아직[^.\n]{0,30}남아|아직[^.\n]{0,40}(?:않았|못했|안 ?했|남았|안 ?됐)(?:습니다|어요|다)"),
    ), "disposed gated your-turn", "says that work is left"),
    ("rom.permission.say-so", "permission", "ending", (
        ("s que tu|s que vous|m que |en cuanto",
         r"\b(?:des que (?:tu|vous)|assim que (?:voce )?|en cuanto) ?(?:me )?(?:valid|confirm|aprov|aprueb"
         "|donne[sz]? le feu|choisi|autori|des)"),
        ("si tu|si vous|si oui|si ca|quand ",
         r"\b(?:si (?:tu|vous) (?:veux|voulez|es d'accord|etes d'accord|valide|souhaite|prefere)[sz]?|si oui"
         r"|si ca te (?:va|convient)|quand (?:tu veux|vous voulez))\b[^.?\n]{0,80}\b(?:je \w|j'\w)"
         r"|\bje peux\b[^.?\n]{0,60}\bsi (?:tu veux|vous voulez)"),
        ("se quiser|se voce|se preferir|se concordar|se achar|se topar|caso |quando quiser|si quieres|si lo "
         "|si te parece|si me das|si est|si prefieres|cuando quieras",
         r"\b(?:se (?:voce )?(?:quiser|preferir|concordar|achar (?:bom|melhor)|topar)"
         "|caso (?:queira|concorde|prefira|aprove)|quando quiser|cuando quieras"
         "|si (?:quieres|lo (?:deseas|prefieres)|te parece(?: bien)?|estas de acuerdo"
         r"|prefieres))\b[^.?\n]{0,80}\b(?:posso|faco|sigo|puedo|hago|empiezo|continuo|implemento|preparo|ja )"
         "|(?:quieras|quiser|queira|concorde|prefira|aprove|quieres|prefieres|deseas|parece|bien|acuerdo),? (?:eu "
         r"|ya |te |lo |la |tambem |tambien ){0,2}\w{3,14}o\b"
         r"|\b(?:puedo|posso)\b[^.?\n]{0,60}\bs[ie] (?:me das|quieres|quiser|te parece)"),
    ), "courtesy gated asks-facts public", "waits for a yes it already has"),
    ("rom.your-call.choose", "your-call", "ending", (
        ("-moi|‑moi|dis moi",
         r"\b(?:dis|dites)[-\u2011 ]moi\b[^.?\n]{0,30}\b(?:si tu|si je|ce que tu (?:veux|pr)|quel|le ?quel|lesquel"
         r"|laquel|par quoi|tes (?:choix|pr)|ton (?:choix|avis))|\bindique[-\u2011]moi|^confirme"),
        ("choisis|me avise|me avisa|me diga|me diz|me fala|me fale|avisame|fico no aguardo|fico aguardando"
         "|quedo a la espera|tu decides|voce decide|toi de choisir|vous de choisir|toi de decider|vous de decider"
         "|toi de voir|vous de voir|toi de trancher|que tu tranches|que vous tranchiez", ""),
        ("confirm",
         r"\bconfirma(?:me)? (?:y|e)\b|(?<!tu )(?<!vous )\bconfirme[sz]?(?:[-\u2011]moi)? ?(?:si tu|:|,|et je)"),
        ("dime ", r"\bdime (?:si|que|cual|como|y|por d)"),
        ("aguard|espero |j'attends",
         r"\baguardando\b[^.\n]{0,12}(?:su[ao]|instru|decis|aprova|confirma|ok)|\baguardo (?:a )?(?:su|se|tu|te)"
         r"|\bespero (?:tu|su)\b|\bj'attends (?:t[aeo]|vo)"),
        ("elige una opcion|escolha uma opcao|laisse choisir|laisse decider|te dejo elegir|voce escolhe"
         "|cuando me confirmes|cuando me digas|cuando me des|quando confirmar|quando aprovar|quando voce confirmar"
         "|quando voce aprovar", ""),
        ("da sua decisao|tu decision|su decision|ta decision|votre decision", ""),
    ), "courtesy gated asks-facts public", "hands the choice back"),
    ("rom.continuing.now-i", "continuing", "last", (
        ("ensuite|maintenant", r"\bj(?:e |')(?:l[aes]{1,2} )?\w{3,12}e (?:ensuite|maintenant)\b"),
        ("hago ahora|hago en el sig|faco isso agora|faco isso na seq|faco em seguida", ""),
        ("je |on |passons",
         "^(?:(?:bien|ok|parfait|bon|maintenant|a present)[,. !:]{1,3}){0,2}(?:je (?:vais|continue|poursuis|passe"
         "|lance|commence|m'attaque|reprends|enchaine|m'occupe|verifie|regarde)|(?:ensuite|puis),? (?:je|on)"
         r"|passons)\b(?! (?:attendre|a disposition))[^.?!\n]{0,120}(?:[.:…]|$)"),
        ("vou |voy |vamos |continuando|prosseguindo|sigo |seguimos |continuo|paso a|passo |procedo",
         "^(?:(?:bien|ok|bom|agora|em seguida|a seguir|ahora|a continuacion|luego|perfecto"
         "|perfeito)[,. !:]{1,3}){0,2}(?:vou|voy (?:a|con)|vamos (?:a|para)|continuando|prosseguindo"
         "|s(?:igo|eguimos) (?:con|com|adelante|por)|continuo|paso a|passo (?:a|para)"
         r"|procedo)\b(?! (?:esperar|aguardar))[^.?!\n]{0,120}(?:[.:…]|$)"),
        ("paso|passo|etape|depois|luego|ensuite|puis",
         r"^(?:la )?(?:prochaine etape|proximo pass?o|siguiente paso) ?: ?(?!tu|vous|voce)\w"
         "|^(?:o proximo passo|el (?:siguiente|proximo) paso|la prochaine etape|l'etape suivante) (?:e|es|est"
         r"|seri?a|sera|serait|consiste)\b|^(?:depois|luego)(?: disso| de eso)?,? (?!todo|isso|disso|eso|como|solo"
         r"|tudo|esto|nuevo|novo|lo |o )\w{3,}o\b"),
        ("re |rei ",
         r"^(?:ahora|luego|despues|a continuacion|agora|depois|em seguida|a seguir),? \w{3,16}(?:are|ere|ire|arei"
         "|erei|irei) "),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("rom.menu.next-steps", "menu", "last-list", (
        ("etapes|suite poss|proximos|siguientes",
         r"^[^\n]{0,30}(?:prochaines etapes|suite possible|proximos pas(?:os|sos)"
         r"|siguientes pasos)[\s\S]{0,900}?\b(?:je (?:mets|peux|re|fais|pr)|eu posso|puedo|on (?:peut|valide))"),
    ), "courtesy gated asks-facts public", "offers its own next steps"),
    ("rom.remaining.still", "remaining", "ending", (
        ("ainda nao |aun no |todavia no |pas encore",
         r"^(?!.*\b(?:porque|quando|cuando|parce|quand|si|se)\b).*\b(?:ainda nao|aun no|todavia no) (?:he|hemos"
         r"|estan?|se han?|foi|foram|implementei|fiz|migrei|corrigi|testei|criei|comecei|cobre|cubre|funciona)\b"
         r"|l'(?:est|a|ont) pas encore\b|le sont pas encore\b"
         r"|\bpas encore (?:\w+ ){0,2}(?:fait|faite|migr|port|test|implement|commenc|trait|corrig|couvert|converti"
         "|branch|ecrit|touch|support|ger)"),
        ("siguen fallando|sigue fallando|continuam falhando|para la proxima|para a proxima|pour la prochaine", ""),
        ("la mitad de|metade d|la moitie d|avance bien|en bonne voie",
         r"\bavance bien\b|\ben bonne voie\b|\b(?:la mitad del?|metade d[oa]s?"
         r"|la moitie d[eu]s?)\b[^.?\n]{0,40}\b(?:ya|ja|deja|estan?|sont|est|pasan?)\b"),
        ("falta ", r"^(?:me |nos |solo |so )?falta (?:por )?\w+(?:ar|er|ir)\b"),
        ("sin |sem ",
         r"\b(?:sigu?en?|continuan?|estan?|ficam?|ficaram|continuam?|qued[ao]\w*) (?:\w+ )?(?:sin|sem) (?:migr|prob"
         r"|hac|faz|implement|toc|convert|adapt|empez|comec|termin|tradu|test|port|revis|funcion|compil)\w{0,4}r\b"),
        ("/| de | dos | das | sur ",
         r"(?<![\d.,/])(\d+) ?(?:/|de(?: las| los| os| as)?|d[ao]s"
         r"|sur(?: les)?) ?(?!\1\b)\d+\b[^.\n]{0,30}\b(?:hech|migrad|convertid|list[ao]s|pront[ao]s|feit|migre"
         "|converti|fait|porte|traduc|traduz|termin|complet|conclu)"
         r"|\b(?:converti|migrei|fiz|corrigi|traduzi|migre|hice"
         r"|corregi)\b[^.\n]{0,12}(?<![\d.,/])(\d+) d[eao]s?(?: las| los)? (?!\2\b)\d"),
        ("aun falt|todavia falt|ainda falt|ainda rest|aun qued|todavia qued|ficou faltando|falto ", ""),
        ("reste", r"(?<!s')\breste(?:nt)? a \w{3,14}(?:er|ir|re)\b"),
        ("manque ", r"\b(?:il )?(?:me )?manque (?:encore|plus que)\b"),
        ("rest|falta|queda",
         r"(?<!s')(?<!si )(?<!se )\b(?:il (?:ne )?reste (?!rien|aucun)|restent|falta[mn]?|restam"
         r"|quedan?)\b[^.?\n]{0,24}(?:\d|deux|trois|quatre|cinq|plusieurs|dos|tres|dois|duas|cuatro|quatro|varios"
         "|varios|a (?:faire|traiter|corriger|migrer)|por (?:hacer|fazer)|migrar|corregir|corrigir|implementar"
         "|tests?|arquivos|archivos|fichiers|etapes?|etapas?|itens|tarefas|tareas|pruebas)"),
    ), "disposed gated your-turn", "says that work is left"),
    ("de.permission.say-so", "permission", "ending", (
        ("gib |geben sie|sag |sagen sie",
         r"\b(?:gib|geben sie|sag|sagen sie) (?:mir,? |einfach,? |kurz,? |gern ){0,3}(?:bescheid|ja|ok|wenn|ob"
         "|welche)"),
        ("lass mich wissen|lassen sie mich wissen|lass es mich wissen|du entscheidest|liegt bei dir|liegt bei ihnen",
         ""),
        ("wenn |falls |sobald ",
         r"\b(?:wenn|falls|sobald) (?:du (?:zustimm|ja|ok|das freig)"
         r"|(?:du|sie|gewunscht|(?:das|es)(?: so| fur dich)? (?:passt|ok|okay|in ordnung))\b[^.?\n]{0,50}\b(?:mache"
         r"|baue|ubernehme|setze|starte|fange|kummere|kann|beginne|lege|ziehe|erganze) ich\b)"),
        ("deine|ihre",
         r"\bwarte (?:ich )?auf (?:deine?n?|ihre?n?) (?:ok|entscheidung|freigabe|antwort|ruckmeldung)"
         r"|\b(?:deine|ihre) (?:entscheidung|wahl)\b"),
    ), "courtesy gated asks-facts public", "waits for a word it does not need"),
    ("de.continuing.next", "continuing", "last", (
        ("nachste|naechste|danach|den rest",
         r"^(?:als nachstes|danach) (?:kommt|kommen|folgt|folgen|steht|geht)\b|^den rest\b[^.?]{0,30}\bich\b"
         "|^(?:der |mein )?nachste[rs]? (?:schritt|punkt|aufgabe)(?: ist|:| ware)"),
        ("ich |weiter mit|weiter geht",
         "^(?:gut|okay|ok|so|alles klar|perfekt)?[,.:]? ?(?:(?:jetzt|nun|dann|danach|als nachstes"
         r"|im nachsten schritt|anschlie(?:ß|ss)end|zuerst) (?!habe|bin|war|hatte|konnte)[^.?!\n]{0,24}\bich\b"
         "|ich (?:mache|fahre|setze|arbeite|gehe|kummere|beginne|starte|prufe|schaue|werde|baue|passe|schreibe"
         r"|ziehe|fuhre)\b|weiter (?:mit|geht))(?![^.\n]{0,60}(?:warte|bescheid"
         r"|erst\b.{0,20}\bwenn))[^.?!\n]{0,110}[.:…]{0,3}$"),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("de.remaining.still", "remaining", "ending", (
        ("zur halfte", r"\bzur halfte (?:geschafft|fertig|erledigt|umgesetzt|portiert|umgestellt)"),
        ("bisher|bislang|erst |halb|halfte",
         r"\b(?:bisher|bislang) (?:nur|erst|nicht|habe ich|(?:sind|ist) (?:nur|erst|\d)) ?|\berst \d+ (?:von|der)"
         r"|\b(?:etwa |nur )?(?:die halfte (?:der|des|aller)\b[^.?]{0,40}\b(?:ist|sind|habe)\b|halb fertig)"),
        ("noch offen|offen ist|offen sind|noch ausstehend",
         r"^(?:noch offen|noch ausstehend|offen (?:ist|sind))\b[^.\n]{0,20}[: ]"),
        ("noch",
         r"^(?![^\n]{0,300}\bob\b)[^\n]{0,300}(?:\bnoch (?:\d+|nicht|einige|mehrere|zwei|drei"
         r"|vier)\b[^.?\n]{0,50}(?:offen|ubrig|migriert|umgesetzt|umgestellt|angepasst|getestet|implementiert"
         r"|geschrieben|erledigt|fertig|aus\b|fehl|begonnen|angefasst|behandelt|unterstutzt|abgedeckt|konvertiert"
         r"|portiert)|\b(?:fehlen|fehlt|verbleiben|bleiben) noch\b"
         r"|\b(?:\d+|zwei|drei|vier|einige|mehrere) [^.\n]{0,30}(?:sind noch offen|fehlen noch|stehen noch aus))"),
    ), "disposed gated your-turn", "says that work is left"),
    ("ru.permission.say-so", "permission", "ending", (
        ("хоч", r"\bхоч(?:ешь|ите)\b ?[—,-]+ ?\w{3,20}[юу]\b"),
        ("если ",
         r"\bесли (?:хочешь|хотите|нужно|надо|соглас|ок\b|устраивает|да\b"
         r"|все (?:ок|устраивает|верно))[^.?\n]{0,40}?[,—-] ?(?:то |я |могу |сразу |тогда ){0,2}\w{3,20}(?:[юу]"
         r"|[юу]сь|ать|ить)\b"),
        ("скажи", r"\bскажи(?:те)?,? (?:и |когда|слово|да\b|как(?:ой|ую)|с чего|если (?:нужно|хочешь|надо))"),
        ("знать", r"\bдай(?:те)? знать,? (?:если (?:нужно|хо[чт]|надо|дел|продолж)|когда|как|и )"),
        ("реша|жду |выбе|выбо|подтверди|усмотрение|как только",
         r"\bреша(?:ть|й|йте) (?:тебе|вам|сам)|усмотрение|\bжду (?:тво|ваш|решени|подтвержд|указани|ответа)"
         r"|\bвыбери|\bвыбор за|\bподтверди(?:те)?\b|\bкак только (?:подтверд|соглас|одобр)"),
    ), "courtesy gated asks-facts public", "waits for a word it does not need"),
    ("ru.continuing.next", "continuing", "last", (
        ("следующ", "^следующий шаг(?: [—–-]|:| это| будет)"),
        ("ю|у|посмотрим|проверим",
         "^(?:(?:хорошо|ок|отлично|так|теперь|сейчас|далее|дальше|затем|потом|следующим шагом|сначала"
         "|давай(?:те)?)[,.]? ){0,3}(?:я )?(?:(?:продолжаю|перехожу|приступаю|начинаю|запускаю|двигаюсь|иду|берусь"
         "|продолжу|перейду|займусь|возьмусь|посмотрю|проверю|исправлю|сделаю|добавлю|обновлю|начну|запущу"
         r"|посмотрим|проверим|смотрю|проверяю)\b|(?:(?<=сейчас )|(?<=теперь )|(?<=дальше ))\w{2,20}(?:аю|яю|ую|ею"
         r"|рю|лю|жу|шу|щу)\b)[^.?!\n]{0,120}[.:…]{0,3}$"),
    ), "disposed gated your-turn", "announces work that did not come"),
    ("ru.remaining.still", "remaining", "ending", (
        ("оста",
         r"\bоста(?:л(?:ось|ся|ись|ась)|ется|ются)\b(?! ли)[^.?\n]{0,40}(?:\d|\w{2,20}(?:ать|ить|еть|ять|сти)\b"
         "|тест|файл|задач|шаг|пункт)"),
        ("пока|успел| из ",
         r"\bпока (?:не|только) (?:сделан|реализован|готов|перенес|покрыт|написан|исправлен|тронут|начат|поддерж"
         r"|работа)|\bне успел|(?<![\d.,/])(\d+) из (?!\1\b)\d+[^.\n]{0,30}(?:готов|сделан|перенес|переведен"
         r"|обработан)|(?:готов|сделан|перенес|переведен|обработан)\w*:? (\d+) из (?!\2\b)\d"),
        ("еще",
         r"\bеще (?:нужно|надо|предстоит)\b|\bеще не (?:сделан|реализован|готов|перенес|покрыт|написан|исправлен"
         "|мигрирован|добавлен|обновлен|проверен)"),
    ), "disposed gated your-turn", "says that work is left"),
    ("other.remaining.list", "remaining", "lead-in", (
        ("待完成|待实现|待办|待处理|待修|待解决|未完成|未实现|未解决|未处理|剩余|剩餘|剩下|尚未|还没|还需|后续要|后续需要|后续工作|下一步工作|残り|残って|残タスク|残作業|残件|残課题|未対応"
         "|未実装|未完了|未着手|今后の作業|今后の対応|남은|남아|미완료|미구현|할 일|осталось|остались|оставшиеся|остается|не сделано|предстоит",
         r"^[^\n]{0,40}$"),
        ("reste|restant|faire|falta|pend|fazer|hacer",
         r"^[^\n]{0,20}\b(?:reste (?:a|encore)|restante?s?|a faire|faltan?m?|pendencias?|pendi?entes?"
         r"|[ap](?:or)? fazer|por hacer)\b[^\n]{0,30}$"),
        ("offen|fehl|ausste|to-do|todo|zu tun",
         r"^[^\n]{0,20}\b(?:noch offen|offene (?:punkte|aufgaben)|es fehl|noch fehl|fehl(?:t|en) noch|ausstehend"
         r"|steht noch aus|noch zu tun|to-?dos?\b)[^\n]{0,20}$"),
    ), "disposed gated your-turn", "lists what is still to do"),
    ("other.remaining.status", "remaining", "parts", (
        ("✅|✔|完了|済|完成|완료|fertig|erledigt|umgestellt|list|hech|pront|feit|conclu|complet|termin|fait|готов|сделан",
         r"(?s)^(?=.*(?:⏳|🚧|🔄|⬜|🔲|[:：|—–-] ?(?:❌ ?)?(?:未着手|未対応|未完了|未実装|未(?= ?(?:\||\n|$))|作業中|进行中|进行中|未开始|未完成|未实作"
         r"|未实现|미구현|待\w|진행 중|미완료|대기|예정|미착수|(?:noch )?offen|ausstehend|nicht begonnen|in arbeit|fehlt|pendientes?"
         "|sin empezar|en curso|falta|pendentes?|em andamento|nao inicia|por fazer|a faire|en cours|pas commenc"
         r"|не начат|в работе|не готов|не сделан|ожида)\w{0,3} ?(?:\||\n|\(|$))).*(?:✅|✔"
         r"|[:：|—–-] ?(?:完了|\w{0,3}済|完成|已完成|완료|fertig|erledigt|umgestellt|list[oa]s?|hech[oa]|pront[oa]|feit[oa]"
         "|conclu|complet|termin|fait|готов|сделан))"),
    ), "disposed gated your-turn", "shows parts that are done beside parts that are not begun"),
    ("other.permission.shall-i", "permission", "ending?", (
        ("quieres|quiere que|deseas|prefieres|te parece|gostaria|prefere |te gustar|deseja|posso |podemos|puedo "
         "|est-ce que je|souhaite|veux-|voulez-|veux‑|voulez‑|tu veux|on continue|soll ich|sollen wir|mochtest du"
         "|mochten sie|willst du|wollen wir|darf ich|хочешь|хотите|нужно ли|стоит ли|продолжа|продолжи", ""),
    ), "courtesy gated asks-facts public", "asks for leave it already has"),
    ("other.your-call.question", "your-call", "paragraph?", (
        ("?|？", r"[?？]\W{0,16}$"),
    ), "courtesy gated asks-facts public answered your-hands", "asks the reader a question"),
    ("other.your-call.before", "your-call", "ending", (
        ("avant que je|avant de |antes de |bevor ich|прежде чем|之前|る前に|하기 전에",
         r"^(?=[^\n]{0,500}(?:[?？]|confirm|valid|请|确认|确认|ください|bestatig|подтверд|확인))[^\n]{0,200}(?:avant que je"
         "|avant de (?:continu|commenc|pass|lanc|pours)|antes de (?:que (?:yo )?)?(?:continu|seguir|comec|empe"
         "|prosseg|avan)|bevor ich (?:weiter|anfange|beginne|starte|los)|прежде чем (?:я )?(?:продолж|нач|прист)"
         "|(?:继续|开始)之前|(?:进め|始め|続け)る前に|(?:진행|시작|계속)하기 전에)"),
    ), "gated public", "will not go on before it is told to"),
    ("other.menu.lead-in", "menu", "lead-in", (
        ("souhait|veux|voulez|tu pref",
         r"(?:\b(?:souhaite[sz]?|veux|voulez)[-\u2011 ](?:tu|vous)|\btu (?:veux|preferes))\b[^\n]{0,60}:\W{0,4}$"),
        ("quieres|deseas|prefieres|quer que|deseja|voce prefere|mochtest du|mochten sie|soll ich|хочешь|хотите|希望我"
         "|要我|哪个方案|请选|どちら|どれ|어느|선택해|골라|원하시",
         r"[:：]\W{0,4}$"),
    ), "courtesy gated asks-facts public", "offers options and chooses none"),
    ("other.capacity.context", "capacity", "ending", (
        ("篇幅|长度限制", "(?:篇幅|长度)(?:限制|有限|原因)"),
        ("新开|另开|重新开|开一个新|开个新", r"(?:建议|最好|不如|需要|可以|应该)[^。\\n]{0,8}(?:新开|另开|重新开|开一?个新)[^。\n]{0,6}(?:会话|对话|窗口)"),
        ("上下文|token",
         r"上下文[^。\n]{0,12}(?:[比很过太较变越]\w{0,3}长|不足|不够|不夠|快要|快用|快满|即将|有限|耗尽|压缩|剩)|压缩上下文"
         r"|token[^。\n]{0,6}(?:不足|不够|用完|耗尽)"),
        ("コンテキスト|トークン", r"コンテキスト[^。\n]{0,12}(?:残り|限界|不足|上限|少な|足り)|トークン[^。\n]{0,6}(?:残り|不足|足り)"),
        ("컨텍스트|토큰", r"컨텍스트[^.\n]{0,14}(?:부족|한계|소진|얼마 남|거의|줄어)|토큰[^.\n]{0,6}(?:부족|소진)"),
        ("context|kontext|контекст",
         r"[ck]onte?xt\w{0,4}[^.\n]{0,24}(?:limit|satur|presque|restant|casi|quase|acab|agot|lleno|cheio|plein"
         r"|knapp|fast|voll|geht)|контекст\w{0,4}[^.\n]{0,24}(?:заканч|исход|почти|мало|огранич|законч)"),
        ("新会话|新对话|新的会话|新的对话|下一个会话|下个会话|新しいセッション|別のセッション|次のセッション|新しいチャット|新規セッション|새 세션|새로운 세션|다음 세션|새 대화"
         "|nouvelle session|nouvelle conversation|nova sessao|nova conversa|nueva sesion|nueva conversacion"
         "|neue sitzung|neuen sitzung|nachsten sitzung|nachsten session|proxima sesion|proxima sessao"
         "|prochaine session|neuen session|neue session|новой сессии|новую сессию|новом чате",
         r"(?:会话|对话)[^。\n]{0,8}(?:继续|完成)|続|再开|이어|계속|진행|contin|reprend|seguir|retom|weiter|fortsetz|besser|mieux"
         "|melhor|mejor|conviene|продолж|лучше"),
    ), "product", "gives its own capacity as the reason"),
    ("other.wrap-up.here", "wrap-up", "ending", (
        ("先到这|告一段落|今天就到|下次再|下次继续|改天再|明天再|明天继续", ""),
        ("ここまで|区切り", r"(?:今回|今日|本日|一旦|いったん|ひとまず)[^。\n]{0,8}(?:ここまで|区切)"),
        ("続きは次回|続きは后日|続きは明日|区切りが|きりが", ""),
        ("여기까지|마무리", r"(?:오늘은|일단|이번에는|우선)[^.\n]{0,8}(?:여기까지|마무리)"),
        ("je m'arrete ici|je m'arrete la|pour aujourd'hui|por hoje|por hoy|por aqui paro|paro por aqui"
         "|ponto de parada|bon point d'arret|faisons une pause", ""),
        ("fur heute|guter punkt|guter zeitpunkt|hore hier auf|hore ich hier|stoppe hier|pausiere hier|morgen weiter"
         "|на сегодня|остановлюсь здесь|остановлюсь на этом|хорошая точка|прервусь|завтра продолж", ""),
    ), "disposed gated your-turn", "winds down"),
    ("other.narration.look", "narration", "whole", (
        ("现在|先|让我|我来|我去",
         r"^(?:好的?|嗯|明白了?|收到)?[，。]?(?:我先|我来|我来|我去|我再|让我|(?:现在|先)(?:看|检查|检|验证|验|测试|读|跑|改|写|修))(?![^。\n]{0,60}(?:了|记住"
         "|吗|吗|完成(?:，|。|$)|完毕|即可|就行|你|您|以下命令))"),
        ("ます。", r"^(?:[^。\n]{0,8}[、。])?(?:では|それでは|まず|次に|先に|ちょっと)[^。\n]{0,50}(?:确认し|見てみ|調べ|试し|読み|进め|始め)ます。"),
        ("je |voy a|vou |dejame|deix|lass mich|ich ",
         r"^(?:[\w ]{0,20}[,.!:] )?(?:d'abord |primero |primeiro "
         "|zuerst )?(?:je (?:vais(?! attendre)|verifie|regarde|jette|relis|cherche)|voy a (?!esperar)"
         r"|vou (?!aguardar|esperar)|dejame|deix[ae](?: eu|-me)|lass mich|ich (?:schaue|prufe))\b"),
    ), "disposed gated your-turn", "is a line before an action that never came"),
)

EXCUSES_OTHER = (
    ("courtesy.cjk", "excuse", "unit", (
        ("别的|別的|任何|自由に", ""),
        ("도와|도울|手伝|帮", r"(?:무엇|뭘|어떻게|어떤|何|什么)[^?\n]{0,16}(?:도와|도울|手伝|帮)"),
        ("其他|其它", "其[他它](?!文件|模块|接口|页面|测试|表|部分|组件|档案)"),
        ("还有", "还有(?:什么|哪些|哪里|疑问|问题)"),
        ("随时", r"随时[^。\n]{0,6}(?:说|联系|联|找|告|叫|提)"),
        ("详细|帮你", r"详细说|详细解|详细说|让我帮你[^。\n]{0,4}一些"),
        ("他に|ほかに|何か", r"(?:他に|ほかに|何か)[^。\n]{0,30}(?:ありま|あれば|ござい)"),
        ("详しく|深掘り|説明し|説明でき", ""),
        ("あれば|ありま|ございま|出た|出れ", r"(?:質问|不明|気になる|知りたい|修正したい|问题|不具合|エラー)[^。\n]{0,40}(?:ありま|あれば|ございま|出た|出れ)"),
        ("場合は", r"場合は[^。\n]{0,10}(?:教えて|お知らせ)"),
        ("다른|추가로|더 ", r"(?:다른|추가로|더) [^.\n]{0,20}(?:있으|있나|있을까|있는|필요하)"),
        ("자세히|궁금|문제가 있|문제가 생|언제든", ""),
    ), "is a courtesy"),
    ("courtesy.euro", "excuse", "unit", (
        ("autre chose|autres question|autres besoin|autres modif|autre question|outra coisa|outra duvida"
         "|outras duvidas|otra cosa|otras preguntas|otra pregunta|algo mas|algo mais|mais algum|duvida|duda"
         "|des questions|ajustement", ""),
        ("ayudar|ajudar|aider|helfen|помочь",
         r"(?:que|como|comment|en quoi|wie|womit|чем|как)[^?\n]{0,24}(?:ayudar|ajudar|aider|helfen|помочь)"),
        ("otro |otros |outro|otras |algun |algum ",
         r"\b(?:otr|outr|algu)\w{1,2} (?:ajuste|problema|err?or|cambio|consulta|pergunta)"),
        ("si tu as besoin|si vous avez besoin|si tu as des|si vous avez des|explique|expliquer|explicar|explico"
         "|detailler|detallar|detalle|detalhar|detalhes", ""),
        ("si |se ", r"\bs[ie] (?:necesitas|precisar|hay|algo|tienes|tiver|houver|encontra|funciona)"),
        ("noch etwas|sonst noch|sonst etwas|weitere fragen|weitere wunsche|weitere anpassungen|weitere hilfe"
         "|weitere anderungen|fragen hast|fragen haben|bei fragen|erklar|genauer|etwas brauchst|hilfe brauchst", ""),
        ("еще что|что-то еще|что-то не так|что-то пойд|что-нибудь|подробн|объясн|если что |проблем|другие вопрос"
         "|другой вопрос|другие задач|других задач|другие правк", ""),
        ("вопрос", r"(?:есть|будут|возникнут|остались)(?: еще)? (?:ли |какие-\w{2,6} )?вопрос"),
    ), "is a courtesy"),
    ("gated.cjk", "person", "unit", (
        ("刷新", "刷新(?:一下|页面|浏览器|后|试)"),
        ("截图|截圖|试一下|试试|重启|扫码|手動で|お手数|お试し|수동", ""),
        ("说一声|说下|告诉我|叫我|喊我|通知我", "(?:好|完|成)了?(?:之?后)?[，,]?(?:跟我|和我|再)?(?:说一声|说下|告诉我|叫我|喊我|通知我)"),
        ("给我|給我|发我|贴我", r"(?:复制|复製|发|贴|提供|上传|填)[^。，\n]{0,6}[给給]?我"),
        ("看看|看一下|看下", r"[你您](?:再|先|到[^。，\n]{0,6})?看(?:看|一下|下)[^。\n]{0,30}[？?]$"),
        ("确认|检查|核对", r"[你您]再?(?:确认|检查|核对)一?下[^，。\n]{0,8}[？?]"),
        ("后|完|好了", r"(?:买|装|弄|填|配置|设置|注册|登录|登入|授权|创建|建)(?:好|完|成功|完成)?[^。\n]{0,3}(?:后|完|好了)"),
        ("いただ|ください|たら|后", "(?:実行|ログイン|再起動|设定|入力|共有|送付?|贴り付け|贴)(?:っ|し)?て?(?:いただ|ください|くだされば|たら|后)"),
        ("하시면|하신|주시면|주세요|되면", r"(?:설정|로그인|설치|입력|준비|공유|붙여 ?넣어|보내|실행|추가해|설명해|제공해|확인해) ?[^.\n]{0,3}(?:하시면|하신|주시면|주세요|되면)"),
    ), "waits for a step of the reader's"),
    ("gated.euro", "person", "near", (
        ("une fois que tu|une fois que vous|une fois connect|quand tu as|quand tu auras|quand vous aurez"
         "|depois que voce|quando voce tiver|quando voce fizer|quando voce terminar|quando terminar|quando acabar"
         "|quando estiver|cuando este|cuando lo tengas|me env|me mand|me pas|me mostr|enviame|pegame|pasame|mandame"
         "|pruebalo|pruebala|prueba a|cuando hayas|cuando tengas|cuando lo hayas|cuando termines|una vez que"
         "|sobald du das|sobald du die|sobald du den|nachdem du|schick mir|zeig mir|probier es|probier das|teste es"
         "|teste das|как только сдела|как только настро|когда сдела|когда закончи|когда запусти|когда настро"
         "|после того как|после того, как|скинь|скинешь|кидай|пришли|прислать|покажи|вставь|уточни|перезапусти"
         "|попробуй|посмотри,|проверь", ""),
        ("-moi|-le|-la|‑moi|repond",
         r"\b(?:envoie|colle|envoyez|collez|partage|montre|donnez?)[-\u2011](?:moi|le|la|les)\b"
         r"|\brepond(?:s|ez) (?:en|aux|a)"),
        ("puedes|podrias|pode |poderia|peux|pouvez|kannst du|konnen sie|можешь|можете",
         r"(?:puedes|podrias|pode(?:ria)?|peux[- \u2011]tu|pouvez[- \u2011]vous|kannst du|konnen sie|можешь"
         "|можете) (?:me |m'|mir |мне )?(?:compart|env|mand|pass?[ae]|mostr|partag|coll|schick|teil|zeig|die |den "
         "|присл|скин|показ)"),
    ), "waits for a step of the reader's"),
    ("asks-facts.cjk", "excuse", "unit", (
        ("看到|显示|出现|报错|收到|效果|了吗|你是|你说的|你指的|你期望|什么|版本|在哪|多少|知道",
         r"^(?![^。\n]{0,40}(?:要我|让我|的话))(?=[^\n]{0,120}(?:看到|显示|出现|报错|收到|效果|了吗|你是指|你是说|你说的|你指的|你是不是|你期望的|你期望看"
         "|(?:是|有|叫|为)什么|什么内容|什么错误|什么问题|版本|在哪|多少|需要先?知道))"),
        ("之前", r"之前[^。\n]{0,8}(?:聊|说|提)"),
        ("几|有没有", r"(?:是|有|用)几 ?\w|有没有(?:设|装|配|开|报|用)"),
        ("見えますか|でしたか|ましたか|ていますか|ていませんか|という意味|何ですか|どこに|どこで|いつ", ""),
        ("表示され|出て", r"(?:表示され|出て)[^。\n]{0,6}か"),
        ("教え|共有|送っ|贴", r"(?:場所|パス|url|id|キー|コード|名前|バージョン|内容|ログ|メッセージ|情报|环境|番号|画面|値|结果)[^。\n]{0,6}(?:教え|共有|送っ|贴)"),
        ("보이나|보이시나|나오나요|뜨나요|하셨나|하셨습|됐나요|무엇인가|무엇이었|언제|버전", ""),
        ("알려|보내|공유|붙여", r"(?:코드|로그|메시지|버전|값|내용|주소|이름|번호)[^.\n]{0,20}(?:알려|보내|공유해|붙여)"),
        ("어디|인가요|입니까", r"어디(?!서?부터)|(?:무엇|어느|어떤|누구|몇)[^.?\n]{0,16}(?:인가요|입니까)"),
    ), "asks what only the reader knows"),
    ("asks-facts.euro", "excuse", "unit", (
        ("vois-tu|tu vois|vous voyez|voyez-vous|s'affiche|ca marche|ca fonctionne|avez-vous|as-tu|aparece|te sale"
         "|viste|has probado|quis dizer|quieres decir|te refieres|tu entends|vous entendez|veux dire|precis|que ves"
         "|lo que ves|voce ve|voce viu|voce consegue|voce ja ", ""),
        ("ves |ves|vois|voyez|obtien|recibes|usas|tienes|siehst|nutzt|verwendest|использу|получаешь",
         r"\b(?:ves|ves?|vois|voyez|obtienes|recibes|usas|tienes|siehst|nutzt|verwendest|используешь|получаешь)\b"),
        ("est|sont|log|trace| es | son |qual |quais",
         r"\b(?:quel(?:le)?s? (?:est|sont|log|trace)|cual(?:es)? (?:es|son)|qual e (?:o|a|os|as|seu|sua)\b"
         r"|quais sao)\b(?! (?:ton|votre|tu|su|a sua|sua|sus|tes) (?:choix|pr|dec|opc))"),
        ("donde |onde |ou |combien|cuant|quant|pourquoi|por qu",
         r"\b(?:donde (?:est|qued|se )|onde (?:est|fica)|ou (?:est|se)|combien|cuant|quant[ao]s|pourquoi|por que\b)"),
        ("siehst du|sehen sie|hast du|haben sie|angezeigt|meinst du mit|meinst du den|meinst du die|meinst du das"
         "|wie lautet|wie heißt|wo liegt|wo finde", ""),
        ("welche", r"welche (?:\w+-)?(?:version|fehler)"),
        ("видишь|видите|показывает|появил|появля|пишет|что именно|что-то другое|получилось|работает ли|в виду"
         "|где лежит|где находится|сколько|почему", ""),
        ("как",
         r"\bкак(?:ая|ой|ие) (?:ошибка|версия|текст|адрес|порт|путь)|\bкак(?:ой|ая|ое|ие) у (?:тебя|вас)"
         r"|\bкакая версия"),
    ), "asks what only the reader knows"),
    ("public.other", "person", "unit", (
        ("删除", r"删除(?![^。，\n]{0,8}(?:代码|注释|重复|冗余|旧))[^。，\n]{0,12}(?:吗|[？?]$)"),
        ("清空|强制推送|生产环境|生产库|正式环境|线上环境|线上数据|不可逆|不可恢|发布到|削除し|本番环境|本番db|本番データ|本番へ|本番に|삭제할|운영 환경|운영 서버|운영에|되돌릴"
         "|production|force", ""),
        ("producao|produccion|produktion|irreversible|irrevers|unwiderruflich|необратим|ecraser|publicar|publier"
         "|veroffentlich|опубликова|на прод|в прод", ""),
        ("supprim|delet|exclu|apag|borr|elimin|losch|удал",
         r"\b(?:supprim|delet|exclu(?:ir|o|sao)\b|apag|borr|elimin|losch"
         r"|удал)(?![^?\n]{0,40}(?:cod|dupli|import|func|metod|comm?ent|test|код|функц|метод|дубл|тест|импорт))"),
    ), "is public or cannot be taken back"),
    ("disposed.other", "excuse", "near", (
        ("不在|超出|不属", r"(?:不在|超出|不属)[^。\n]{0,10}围"),
        ("可选|按约定|无关|範囲外|対象外|범위 밖|범위 외|선택 사항|별도 이슈|今后|앞으로|이제부터", ""),
        ("任意|既存の", r"任意(?:です|の|対応|項目)|既存の[^。\n]{0,8}(?:失敗|エラー|警告|問題|不具合|バグ|失败|问题)"),
        ("以后", r"(?:^|[，。,\s])以后"),
        ("没有", "没有(?:任何)?(?:剩|待|未|遗)"),
        ("在跑|在运行|运行中", ""),
        ("оста", r"оста\w+ 0\b"),
        ("要求", r"(?:按|照|依)[^。\n]{0,6}要求|[你您]要求的?只"),
        ("no queda|nao resta|nao ha|no hay|ne reste|plus rien|не оста",
         r"\b(?:no quedan?|nao (?:resta|ha)\w*|no hay|ne reste (?:plus|rien|aucun)|plus rien"
         "|(?:ничего|больше) не оста)"),
        ("0", r"(?<![\d.,/])0(?:个|项|件|개| (?:offen|pend|rest|falt|оста))"),
        ("残り", r"残り[^。\n]{0,10}ありません"),
        ("남은", r"남은[^.\n]{0,10}없"),
        ("hors perimetre|hors du perimetre|fora do escopo|fuera del alcance|fuera de esta|fuera de alcance"
         "|optionnel|opcional|optional|recomendad|recommande|außerhalb|вне рамок|вне задачи|как договор|необязат"
         "|comme convenu|como combinado|como acordado|wie vereinbart|wie besprochen|a partir de agora"
         "|a partir de ahora|de ahora en adelante|dorenavant|desormais|ab jetzt|kunftig|впредь|ничего не оста", ""),
        ("nada|nenhum|ningun|rien|aucun|nichts|kein",
         r"\b(?:nada|nenhuma?|ninguna?|aucune?|rien|nichts|keine?) (?:\w+ ){0,2}(?:pend|falt|rest|offen|a faire"
         "|por )"),
    ), "is disposed of"),
    ("your-turn.other", "excuse", "list", (
        ("你|您", "[你您]还?只?(?:需|要|得|可以|自己)"),
        ("手动|手動|人工|管理员|管理員|お手元|ご自身|してください|をください|お愿い|수동|직접|하세요|해 주세요|manuellement|manualmente|manuell |de ton cote"
         "|de votre cote|do seu lado|por tu parte|por tu lado|du musst|sie mussen|вручную|добавь|запусти|укажи"
         "|тебе нужно|вам нужно", ""),
    ), "are the reader's own steps"),
    ("product.other", "excuse", "unit", (
        ("模型的|用户|用戶|モデルの|ユーザー|모델의|사용자|du modele|do modelo|del modelo|des modells|react|модели|пользоват|usuari"
         "|utilisat|nutzer", ""),
    ), "speaks of the product"),
    ("blocker.cjk", "blocker", "near", (
        ("密码|密钥|金钥|token|api key|账号|用户名|邮箱|验证码|扫码|公网|登录|登入|手机",
         r"(?:请(?!求|选|选)|提供|发[给給]?我|告诉我|需要[你您]|填)[^。\n]{0,24}(?:密码|密钥|金钥|token|api key|账号|用户名|邮箱|验证码|扫码|公网|登录|登入"
         r"|手机)|(?:密码|密钥|token|账号|验证码)[^。\n]{0,12}(?:发[给給]?我|告诉我|提供)"),
        ("パスワード|认証情报|権限|apiキー|トークン|ログイン|実机",
         r"(?:パスワード|认証情报|権限|apiキー|トークン|ログイン|実机)[^。\n]{0,16}(?:必要|ください|ありません|いただ|お愿い)"),
        ("비밀번호|인증|권한|계정|로그인|api 키|기기", r"(?:비밀번호|인증|권한|계정|로그인|api 키|기기)[^.\n]{0,16}(?:필요|없|주세요|주시)"),
    ), "only a person can give it"),
    ("blocker.euro", "blocker", "near", (
        ("de passe|identifiants|senha|credenci|contrasena|passwort|zugangs|anmelde|парол|токен|доступ|логин|cle api"
         "|chave de api|clave de api|api-key|api-schl|secrets|gerat|appareil|dispositivo|telefono|movil|celular"
         "|устройств",
         r"\b(?:besoin|fournis|donne|envoie|preciso|forneca|envie|informe|necesito|hace falta|envia|proporciona"
         r"|brauche|schick|gib mir|нужен|нужны|нужна|пришли|укажи|дай)\w{0,4}\b[^.\n]{0,40}(?:de passe|identifiants"
         "|senha|credenci|contrasena|passwort|zugangs|anmelde|парол|токен|доступ|логин|api|secrets|gerat|appareil"
         "|dispositivo|telefono|movil|celular|устройств)"),
    ), "only a person can give it"),
    ("blocker.undo.other", "blocker", "ending", (
        ("不可逆|不可恢复|无法恢复|无法撤销|永久删|彻底删|没有备份|元に戻せ|元には戻|复旧でき|复元でき|取り消せ|失われ|完全に削除|バックアップはあり|되돌릴 수|복구할 수|복구가 불가|복구되지"
         "|영구 삭제|영구적으로", ""),
        ("irrevers|definitiv|sans sauvegarde|no hay vuelta|deshacer|sin copia|nao da para voltar|nao tem volta"
         "|nao existe lixeira|sem backup|desfazer|unwiderruflich|ruckgangig|endgultig|kein backup|необратим"
         "|безвозвратн|навсегда|резервной копии", ""),
    ), "asks before something that cannot be undone"),
    ("waits.other", "waits", "near", (
        ("在后台|后台运行|后台跑|后台执行|バックグラウンド|完了を待|完了まで待|結果を待|백그라운드|완료를 기다|끝나기를 기다|arriere-plan|segundo plano|im hintergrund"
         "|в фоне|j'attends la fin|j'attends le r|j'attends que|esperando a que|espero a que|esperando el resultado"
         "|aguardando o build|aguardando o resultado|aguardando o fim|aguardando o termino|aguardando a conclus"
         "|жду завершени|жду окончани|жду результат|дождусь", ""),
        ("等", r"等[^。\n]{0,16}(?:完成|结束|結束|返回|跑完|结果|結果)"),
        ("warte", r"\bwarte (?:ich )?(?:auf|bis) (?:de[nr]|das|die) (?!deine)"),
        ("正在运行|正在跑|还在跑|还在运行|仍在运行|運行中|运行中|実行中|実行してい|走ってい|실행 중입|실행 중이|실행되고 있|돌고 있|돌아가고 있", ""),
        ("esta ejecut|siguen? corriendo|siguen? ejecut|esta corriendo|esta rodando|estao rodando|ainda rod"
         "|est en cours|sont en cours|toujours en cours|tourne encore|tournent encore|lauft noch|laufen noch"
         "|lauft gerade|laufen gerade|еще идет|еще идут|еще выполня|сейчас выполня|сейчас идет", ""),
    ), "waits for what runs"),
)


# --- rules: prompts -------------------------------------------------------------------------------

SHOWN = "\ua66e"      # a character that was set aside; a letter: "stop `foo`" still reads as a stop with an object
READ_HEAD, READ_TAIL = 4096, 16384       # of a longer prompt only its two ends are read
CONDITION_MAX = 200
CONTRACT_WORDS = ("stop", "pause", "resume", "status", "away", "back", "arm")

# Wrappers the client puts around text no person typed; and beginnings that mark a whole prompt as such.
MACHINE_TAGS = (
    "task-notification|system-reminder|teammate-message|local-command-stdout|local-command-stderr|local-command-caveat|"
    "command-name|command-message|command-args|command-contents|bash-input|bash-stdout|bash-stderr|"
    "user-prompt-submit-hook|ide_opened_file|ide_selection|ide_diagnostics")
MACHINE_PREFIXES = ("Stop hook feedback", "Caveat: The messages below were generated",
                    "This session is being continued from a previous")

# Words that may stand before an imperative without changing who is told what; JOINS also begin a clause.
JOINS = "|and|but|then|so|or|just|please|also|und|y|et|e|mas|pero|mais|и|но|а|"
OPENERS = (
    "|for fucks sake|for fuck's sake|for god's sake|for gods sake|jesus|christ|fuck|damn|shit|ok|okay|okk|k|please|"
    "please to|pls|plz|basically|literally|honestly|um|uh|like|just|now|then|so|and|but|or|also|yes|yep|yeah|yup|no|"
    "nope|nah|alright|all right|right|great|good|nice|cool|perfect|thanks|thank you|hey|hi|hello|sure|well|actually|"
    "again|oh|ah|wow|whoa|woah|i said|omg|lol|haha|dude|bro|man|claude|maybe|go ahead|go ahead and|for now|let's|"
    "lets|let us|let;s|s|this time|first|finally|always|wait|hmm|um|goal|you|you can|you should|you must|you need to|"
    "you have to|you may|you could|you will|you'll|you are to|you can now|you might as well|obviously|definitely|"
    "simply|really|still|u can|u should|we can|we should|we need to|we have to|we must|we'll|we will|we could|"
    "we want to|we are going to|we're going to|i want you to|i need you to|need you to|i expect you to|"
    "i would like you to|i'd like you to|i want to|make sure to|make sure you|make sure that you|be sure to|"
    "remember to|can you|could you|would you|will you|can u|can we|could we|try to|your task is to|the task is to|"
    "your job is to|your goal is to|the goal is to|while you're at it|while youre at it|feel free to|time to|i think|"
    "i guess|guess|think|then we|seriously|ffs|come on|today|tonight|bitte|und|aber|jetzt|nein|du kannst|kannst du|"
    "wir können|lass uns|por favor|y|ahora|vale|bueno|oye|puedes|podemos|ya|s'il te plait|s'il te plaît|"
    "s'il vous plaît|et|mais|bon|tu peux|on peut|allez|stp|c'est bon|e|mas|agora|pode|podes|podemos|vamos|и|но|а|ну|"
    "так|нет|пожалуйста|давай|теперь|можешь|и так|все|всё|")
CJK_OPENERS = "请|請|你|那|那么|好|好的|好了|行|行了|可以了|嗯|就|啊|哎|喂|不是|不对|不|先|现在|都|그냥|그럼|아니|아|어|음|저기|이제|じゃあ|では|いや|あ|あの|いったん|一旦|ちょっと|とりあえず|もう|もういい|もういいです|了解|わかりました|すみません|ごめん"

# Imperatives that order work, by the scope that asks for one of them.
VERBS = (
    ("go", "|continue|carry on|go on|go until|go till|work|proceed|persist|push on|press on|stay on|stay at|grind|"
     "keep going|keep working|keep trying|keep fixing|keep iterating|keep running|keep testing|keep improving|"
     "keep pushing|keep looping|keep hammering|keep digging|keep hunting|keep picking|keep refining|keep rerunning|"
     "keep tweaking|keep fuzzing|keep chipping|stick with|stick at|stay with|hammer away|hammer on|chip away|"
     "keep building|keep adding|keep coding|keep debugging|keep on|keep at|plough on|plow on|"),
    ("work", "|continue|carry|go|work|run|do|execute|implement|finish|complete|proceed|process|handle|get|fix|"
     "migrate|convert|build|port|write|test|iterate|resume|start|begin|push|plow|plough|power|crank|grind|move|"
     "keep going|keep working|keep at|loop|repeat|rerun|re-run|try|retry|debug|improve|refine|review|polish|verify|"
     "check|monitor|investigate|resolve|address|solve|optimize|optimise|refactor|clean|simulate|search|tune|adjust|"
     "watch|babysit|operate|act|take|drive|bring|see|document|upgrade|tackle|knock|chew|hammer|redo|rewrite|update|"
     "apply|profile|cover|"),
    ("abroad", "|sigue|siga|sigan|completa|complete|realiza|resuelve|resolva|procesa|desarrolla|desenvolva|conclua|"
     "seguí|segui|segue|continúa|continua|continúe|continue|trabaja|trabaje|trabalha|trabalhe|prossiga|repite|repita|"
     "itera|itere|corrige|corrija|arregla|prueba|teste|rode|haz|hazlo|faça|faca|faz|implementa|implemente|ejecuta|"
     "executa|execute|termina|termine|terminar|vá|vai|avanza|migra|migre|continuer|continuez|enchaîne|enchaine|"
     "enchaînez|déroule|implémente|implémentez|réalise|effectue|poursuis|poursuit|poursuivez|travaille|travaillez|"
     "avance|avancez|boucle|recommence|corrigez|fais|fait|faites|testez|itère|relance|répète|exécute|exécutez|"
     "terminez|finis|vas-y|va|mach|mache|arbeite|weiter|weiterarbeiten|weitermachen|fahre|fahr|wiederhole|versuche|"
     "versuch|korrigiere|repariere|behebe|setze|erledige|bearbeite|implementiere|baue|migriere|stelle|portiere|teste|"
     "zieh|ziehe|führe|fix|fixe|продолжай|продолжайте|продолжаем|работай|работайте|делай|делайте|исправляй|исправь|"
     "повторяй|чини|иди|гоняй|тестируй|прогоняй|сделай|доделай|доделывай|правь|реализуй|выполни|выполняй|заверши|"
     "почини|мигрируй|перенеси|пройди|"),
)

# Named pieces: "%end%" in a pattern stands for its text here.
PROMPT_PIECES = (
    ("end", r"(?=\W*$|\s*(?:[!?,;:)\u2026\u3002\u3001\u2013\u2014]|\.(?!\w))|\s+-)"),
    ("not", r"(?:do not|don'?t|never|(?:you|we|u)(?:'re| are)? (?:must|should|may|can) ?n[o']?t|not allowed to|i "
     r"don'?t want you to)"),
    ("done", r"(?:pass|green|don|complet|finish|work|fixed|resolved|solved|approved|merged|ready|succe|clean|satisf|"
     r"happy|perfect|\d+ ?%|100|correct|right|zero|no|none|nothing|there|every|all|both|each|implemented|shipped|"
     r"deployed|live|empty|exits?\b|build|compil|stable|cover|match|under|below|above|over|at (?:least|most)|less|"
     r"(?:you|we)(?:'| (?:are|have|can|get|see|find|reach|hit|fix)))"),
    ("all", r"(?:all(?: of)?(?: the| these| those| your| my| open| \d+)* (?:remaining|(?:to-?do|task|item|step|phase|"
     r"stor|ticket|issue|work|test|chapter|part)|(?:of )?(?:it|them)\b)|everything|the (?:rest|remaining|whole|entire)|"
     r"it all|them all)"),
    ("yet", r"(?:yet|for now|right now|(?:at|in|during) this (?:st|ph|po|mo|tu|se)|(?:until|till|before) (?:i|we)\b|"
     r"without my)"),
    ("any", r"(?:(?:any ?|no)thing(?: else)?|any (?:more )?(?:code|files?|changes?)|(?:the |my )?(?:code|files)|coding|"
     r"(?:code )?changes|code ?base)"),
    ("now", r"(?:now|here|there|it|this|that|everything|please|pls|for|today|a|bit|sec|second|moment|minute|of|while|"
     r"immediately|at|once|already|right|away|working|coding|editing|what|you'?re|are|doing|anything|all|them|work|the|"
     r"session|task|run|mission|leave|forget|nonsense|madness|job|stp|man|bro|lol|haha|thanks|then|i|think|guess)"),
    ("zuo", r"(?:完成|实现|实施|执行|搞定|實現|執行|\w{1,2}完(?![整全毕]))"),
)

# id (its family is the intent), scope, needs, pattern, what it reads. scope: where the words must stand, openers
# skipped: "whole" the prompt and nothing more; "first" the prompt's beginning; "start" a sentence's; "clause" a
# clause's; "within" anywhere in a sentence; "prompt" anywhere; "cues" two of the pattern's groups close together; a
# name of VERBS: after such an imperative in the same sentence. needs: "a|b&c": a, or both b and c, must stand in the
# lowered text before the pattern is compiled; "\n" means at a line's beginning.
INTENT_RULES = (
    ("arm.dont-stop", "clause", ARMING["arm.dont-stop"],
     r"(?:%not%|not to|no(?= \w+ing)) (?:ever |(?:yo)?u (?:dare )?|just )?(?:stop(?:ping)?|paus(?:e|ing)|quit"
     "|give up|bail(?: out)?|halt|come back(?: to me)?(?= until| till| before| unless| early| with)"
     r"|hand (?:\w+ ){0,2}?(?:back|over)|return control(?: to me)?|end(?= early)"
     r"|(?:end|finish) (?:your|the|this) (?:turn|session))\b(?:%end%"
     r"| (?:till?\b|un|before\b|for (?!(?:the(?! next)|an?|it|this|that)\b)|to [acmrsw]|work|now\b(?! the)|early"
     r"|half|mid|part|short|(?:in )?(?:the mid|between)|after (?:ea|ev|one|\w+ing|a few)|and\b|or\b|just\b|if you"
     r"|while (?:you|there|any|an?|one|some)|with (?:partial|half|less|anything|questions|excuses)|after \d+|at any"
     "|try|ask|even|no matter|on me))", "tells the agent not to stop"),
    ("arm.keep-going", "clause", ARMING["arm.keep-going"],
     r"(?:until|till) [^.\n]{1,80}?,? (?:please )?keep \w+ing\b"
     "|keep (?!retry|poll|wait|load|fetch|send|read|show|display|render|listen|connect|scroll|play|draw|receiv"
     r"|stream|call|ping|spin|mov|blink|count|track|log)\w+ing\b[^.\n]{0,60}? (?:until|till)\b"
     "|keep (?:on )?(?:going|working|pushing|moving|at it|iterating|grinding|chugging|cranking|hammering|digging"
     r"|plugging)(?: (?:away|please|now|then|with it|on (?:it|this|that)))?(?:%end%| the (?:whole|entire|full)\b"
     "| (?:until|unless|even|no matter|overnight|as long|whil"
     "|through (?:all|every|the (?:rest|remaining|whole|entire))))", "tells the agent to keep going"),
    ("arm.hours", "go", ARMING["arm.hours"], r"(?:for (?!me\b)(?:[\w.]+ ){1,4}(?:hours?|minutes|day|night)|all day)\b",
     "work for so long"),
    ("arm.spend", "clause", ARMING["arm.spend"],
     r"(?:spend|use|take) (?:(?:the|all|this) (?:\w+ ){0,3}?(?:night|day|weekend|evening|afternoon)"
     r"|the (?:next|full|whole|entire) (?:\w+ ){0,2}?(?:hours?|minutes))(?: (?:on|for|with|and|to) |%end%)",
     "work for so long"),
    ("arm.until", "go", ARMING["arm.until"], r"(?:until+|till?|unless)\b", "keep on until something holds"),
    ("arm.until-done", "work", ARMING["arm.until-done"], r"(?:until+|till?)\b[^.\n]{0,60}?\b%done%",
     "do it until it is done"),
    ("arm.only-stop", "prompt", ARMING["arm.only-stop"],
     r"\b((?:only (?:stop|come back|report|ping|return to me)|(?:stop|back) only)(?: back| to me| me)* (?:when|once"
     r"|if|after)\b|(?:keep (?:going|working|at)|continue|carry on"
     r"|work on)\b[^\0]{0,300}?\b(stop (?:only )?(?:when|once)))\b", "names when the agent may stop"),
    ("arm.not-done", "clause", ARMING["arm.not-done"],
     "(?:(?:done|finished) means|(?:the|this|your) (?:job|task|work|session|turn) (?:ends?"
     r"|is (?:done|over|finished)) (?:only )?(?:when|once)\b[^.\n]{0,100}?\bnot (?:earlier|before|sooner)"
     "|your (?:turn|session) ends? (?:only )?(?:when|once)|not (?:done|finished) (?:until|till|unless)"
     r"|(?:as long as|while|so long as)\b[^.\n]{0,80}?\byou(?:(?:'re| are) not (?:done|finished)%end%"
     r"| (?:keep|carry on|continue|go on)\b)|you(?:'re| are) (?:only )?(?:done|finished) (?:when|once)"
     "|(?:exit|stop|return|quit) only (?:when|once)|(?:(?:%not% (?:want to )?hear from you"
     "|(?:you|we|it|this|that|(?:the|this|your|ur) (?:task|job|work))(?:'re| are|'s| is|r)?(?: not| ?isn'?t|n't"
     "| aren't) (?:really )?(?:done|finished|complete|over)"
     r"|%not% (?:call|consider|declare|mark) (?:it|this|that|yourself|the \w+) (?:as )?(?:done|finished"
     r"|complete\w*))) (?:until|unless|before|till))\b", "it is not done until something holds"),
    ("arm.before-stop", "within", ARMING["arm.before-stop"],
     r"\b(?:must|should|needs?|ha(?:s|ve) to|pass\w*|is|are|want|expect|gets?)\b[^.\n]{0,60}?\b(?:when you come back"
     "|before you(?:'re| are) (?:allowed to stop|done%end%|finished%end%)"
     "|before you (?:stop|finish%end%|hand (?:it|this)? ?back|report back|come back|return|call it"
     "|end (?:your|the) turn))", "names what must hold before the stop"),
    ("arm.dont-ask", "clause", ARMING["arm.dont-ask"],
     r"(?:(?:stop (?:pausing|stopping)\b|(?:%not%|no need to|you don'?t need to"
     "|(?:stop|quit)(?= ask| wait| check| conf)) (?:keep )?(?:ask(?:ing)?(?: me"
     "| for)?(?: (?:again|perm|conf|appro|my |any|more |quest|to c|to p|if |wheth|every|each|before|between|at each"
     r"|and|\ua66e)|%end%)|wait for m[ey]\b|confirm(?: with me|%end%)|check in|bother me|ping me))"
     "|(?:you )?(?:do not|don'?t|won'?t) need m[ey] (?:for|to|ok|go|appro|perm|inp|conf|any)"
     "|no (?:more )?questions%end%|no (?:pauses?|stops?|breaks?) (?:between|until|till|in between|before))",
     "carry on and do not come back to ask"),
    ("arm.alone", "work", ARMING["arm.alone"],
     "(?:without (?:(?:ever|any|further|needing|having to|taking|an?|my|human|more) ){0,3}(?:(?:stopping|pausing"
     "|coming back|checking (?:in|back)|reporting back|waiting (?:for|on) m[ey]|asking"
     r"|confirm\w*)\b(?! (?:the|an?|users?|for (?:an?|the))\b)|quest|interven|interaction|supervis|input\b|approv"
     r"|permission|breaks?%end%|m[ey]\b)|non-?stop\b|no questions asked|autonomously|unattended"
     r"|uninterrupted(?:ly)?\b(?! (?:session|supply|power|stream))"
     r"|on your own(?:%end%| (?:until|till|and|while|tonight|now|for)\b)|by yourself|overnight"
     "|(?:all|through the) night|while i(?:'m| am)? (?:sle|away|asl|afk|out|gone|off|travel)"
     "|how(?:ever)? long it takes|(?:as long as|whatever) it takes)", "work alone, however long"),
    ("arm.to-the-end", "work", ARMING["arm.to-the-end"],
     "(?:to (?:full )?completion|(?:through|on|right|straight|until) (?:to )?the (?:very )?end%end%"
     r"|all the way(?: through\b| to the end%end%|%end%)|over the line|start to finish|(?<=it out )in full%end%"
     r"|(?<=get )to the end%end%|straight through\b(?! the)|(?<=through )[^.,\n]{1,40} top to bottom"
     r"|(?:and|to) (?:finish%end%|(?:finish|complete) (?:it|all|every\w*"
     r"|the (?:task|job|rest|work|list|plan|remaining))\b)|(?<=it |em |is |at )all done|(?<=everything )done"
     "|(?<=whole thing )done|(?<=get it )done%end%|(?<=get this )done%end%)", "take it to its end"),
    ("arm.all", "clause", ARMING["arm.all"],
     "(?:(?:finish|complete)(?: up| off)? (?:(?:all|every)%end%"
     "|every (?:open|remaining|last|single|task|item|step|ticket|stor|to)|%all%)"
     r"|(?:continue|proceed|carry on|go on)\b(?: with|[^.\n]{0,120}?\b(?:do|fix|finish|implement|complete"
     r"|build))[^.\n]{0,80}?\b(?:all%end%|all+ (?:of )?(?:the )?(?:\d|rem|rest|steps|phas|task)|everything)"
     "|get (?:it all|all of (?:it|this|that|these|them)|everything|the (?:whole|entire) (?:thing|list|lot)|this all"
     r"|them all) done%end%|get (?:it|this|that|these|them|the \w+) (?:down )?to (?:zero|0)\b"
     r"|(?:implement|build|do) (?:everything|all|the (?:whole|entire))\b[^.\n]{0,80}?(?:\band|,) (?:\w+ )?(?:test"
     "|verify|fix|check|run)|(?<!let me )see (?:it|this|that) through%end%)", "all of it"),
    ("arm.finish", "whole", ARMING["arm.finish"],
     "(?:(?:finish|complete) (?:it|up|everything|it all|all of (?:it|them)|the (?:job|task|work|rest)"
     "|what you started)|do (?:everything|it all|them all|all of (?:it|them|these)|the rest))(?: (?:up|now|please"
     "|too|left))*", "finish it"),
    ("arm.cues", "cues", ARMING["arm.cues"],
     "((?:do not|don'?t|no|zero|without|never|not|stop|quit"
     r"|no need)\b(?! (?:show|display|send|render))[^.,\n]{0,24}?\b(?:ask(?:ed|ing)?(?! (?:the |an? )?users?)"
     r"|permission|approval|questions?|confirmations?\b(?! (?:e?-?mail|dialog|message|screen|page|step|modal|link))"
     "|check-ins?|check(?:ing)? (?:in|with me)|bother(?:ing)?|interruptions?|(?:status|progress) (?:report|update)s?"
     r"|consult\w*|report (?:in|back)|summar\w+|wait(?:ing)? (?:around )?for m[ey]|hear from|need (?:any )?updates"
     r"|need m[ey]|user interaction)\b|i(?:'ll| will|'m| am|m| won'?t) (?:be )?(?:not )?(?:offline"
     "|out (?:for|until|till)|away(?! from)|asleep|afk|gone|reading|around|available|reachable|here"
     "|on a (?:plane|train|flight)|(?:heading|off|going)(?: now)? (?:(?:to|for) (?:bed|sleep|lunch|dinner|work|home)"
     r"|home|out|in(?:to)? (?:a|the|my) (?:meeting|call)))\b|by (?:the )?morning"
     r"|(?:when|before|by the time) i(?:'m| am)? (?:wake|return|land\b|arrive|(?:get |come )?(?:back|home|up)%end%)"
     "|i won'?t (?:look|see|read|check|reply)|you decide|(?:^|(?<=[.!\n] ))(?:heading|off|going) to (?:bed|sleep)"
     r"|i want to (?:wake up|come back|return) to|i(?:'?m| am) in (?:a |the )?meetings?\b"
     "|(?:can'?t|cannot|won'?t be able to) (?:answer|reply|respond)"
     "|just (?:make (?:a|the) (?:call|choice|decision)|pick one|decide)|neither is asking|asking me is(?:n'?t| not)"
     "|i (?:shouldn'?t|won'?t|don'?t want to) (?:have to )?(?:type|say|do|answer) any"
     r"|i(?:'ll| will) (?:look|check|review|read|see)\b[^.,\n]{0,30}? (?:(?:on )?(?:mon|tues|wednes|thurs|fri|satur"
     "|sun)day|tomorrow|in the morning|next week)|(?:only (?:wake|ping|call|bother|interrupt|contact|message"
     r"|page) me|(?:wake|ping|call|bother|interrupt|contact|message|page) me only)(?: up)? (?:if|when|for|in)\b"
     r"|only (?:after|then|when|once)\b[^.,\n]{0,30}? you (?:\w+ )?(?:write|tell|ping|call|report|come|message)\b"
     "|(?:you'?re|you are|ur) on your own|(?:own|best|your) (?:judge?ment|decisions|choices)%end%"
     "|decide (?:for |by )?yourself(?:%end%| if)|(?:make|take) (?:all|any|every) (?:the |of the )?decisions?"
     r"|fully? autonom\w+|autonomously|(?:assume|say|answer is)[^.,\n]{0,20}? yes|yes to (?:all|every)"
     "|(?:you have|my|blanket) (?:full )?(?:permission|approval)|i trust you|make me (?:say|type|ask|poke|repeat)"
     r"|(?:continue|proceed|go on|move on) automatically|(?:nobody|no one)(?:'s| is| will be)? (?:\w+ )?(?:here"
     "|around|there|available|going to|to (?:ask|answer|approve|confirm|reply)))"
     r"|((?:all|every|each)\b(?! (?:time|day|page|user))(?: one)?(?: of)?(?: the| these| those| my| \d+)* \w+"
     r"|everything|the (?:whole|entire|rest|remaining|full|finished|complete)\b"
     r"|from \d+ (?:to|till?|until|through) \d+|(?:phases?|steps?|items?|tasks?) \d+ ?(?:-|to|through) ?\d+"
     r"|each and every|(?:to|at) 100 ?%|all the way|the (?:task|job)\b"
     "|(?:the|this|todo|task|ticket|whole|entire) (?:list|queue)|backlog"
     "|the next (?:task|item|ticket|one|two|three|sprint|phase)|end to end"
     r"|fully (?:working|done|finished|ported|tested))|(repeat\b|again and again|whatever (?:comes up|happens)"
     "|be (?:relentless|persistent|stubborn)|giving up is(?:n'?t| not)|one by one|see you (?:when|once|after)"
     "|(?:no matter|don'?t care) (?:how|what)|however (?:many|long)|as often as|as needed"
     "|as (?:many|long) as it takes|cut (?:it|this|corners) short|skip (?:any|none)"
     r"|(?:leav\w+|nothing|anything)\b[^.,\n]{0,16} (?:unfinished|undone|half ?-?done|for later)"
     "|(?:push|power|plough|plow|grind) through|no (?:breaks|pauses|excuses|partial)|stopping is"
     r"|(?:no|not|never|don'?t|without)\b[^.,\n]{0,30}?\bhalf ?-?(?:measures|way|done|finished|baked)|only then"
     "|(?:no|not|any) partial|one after (?:the other|another)|back to back|(?:on to|then) the next"
     r"|in one (?:go|pass|sitting)|in this turn|(?:quit|stop)\w* (?:early|halfway))\b"
     r"|\b(keep (?:going|working|at|on)|continue|carry (?:on|this)|proceed|until|till|finish\w*|complete|do it"
     r"|work (?:on|through))\b", "two of: nobody is there to ask; all of it; persistence"),
    ("arm.cues-cjk", "cues", ARMING["arm.cues-cjk"],
     r"((?:不用|不要|别|无需|不需要|不必|没必要)[^。\n,]{0,10}?(?:问|确认|请示|等我)|自己(?:看着办|决定|做主|判断|跑|修|处理|解决)|自主|无人值守|全(?:程)?自动"
     "|我[先要就得]?(?:去)?(?:睡|不在|出门|离开|下班)|去睡|下班了|明早|醒来|(?:許可|確認|質問|承認)(?:は|も)?(?:不要|なし|要らない|いらない|せず|しないで|いいから)"
     "|聞か(?:ず|ない)|自律|任せ|自分で判断|寝(?:る|ま)|外出|席を外|朝まで|물어볼 필요|(?:묻지|물어보지) ?(?:말|마|않)|확인 ?(?:없이|필요|안 )|알아서|자러|퇴근|판단해서)"
     "|(全部|所有|整个|剩余|剩下|其余|后面的?|每个|每一|清单|一切|跑完|做完|干完|接着|一路|继续|一口气|一次性|すべて|全て|残り|全件|リスト|続け|片付け|전부|모두|모든|나머지|전체|다 끝|계속)"
     "|(为止|之前不(?:要|许|准)|反复|再(?:汇报|叫|告诉|找|通知)|不间断|最後まで|ノンストップ|休みなく|繰り返|끝까지|멈추지|반복)",
     "two of: nobody is there to ask; all of it; persistence"),
    ("arm.cues-abroad", "cues", ARMING["arm.cues-abroad"],
     r"((?:sin|sem|sans|ohne|без|no|n[ãa]o|ne|не|nicht)\b[^.,\n]{0,24}?(?:pregunt|pergunt|demand|nach(?:zu)?frag"
     "|r(?:ü|ue)ckfrag|frag|вопрос|спраш|chamar|confirm|permis|autoris|erlaubnis|aprova|aprob|freigabe|одобр"
     r"|разреш)\w*|frag\w* (?:mich )?nicht|вопрос\w* не|decide (?:t[uú]|voc[eê])|entscheide? \w*\s?selbst"
     r"|(?:решай|делай)\w*[^.\n]{0,12} сам|(?:a|vou|vais|aller) dormir|schlafen|спать)"
     r"|\b(tod[oa]s?|tudo|toda|tout|toutes?|tous|alle[sn]?|ganzen?|inteir[oa]|enter[oa]|entier|вс[её]|весь|resto"
     r"|reste|rest|остальн\w+|lista|liste|hasta|at[eé]|jusqu\w*|bis|пока|до конца|sigue|segue|continua|continue"
     r"|weiter|дальше|продолжай|termina|termine|fertig|avance)\b",
     "two of: nobody is there to ask; all of it; persistence"),
    ("arm.zh-stop", "within", ARMING["arm.zh-stop"],
     r"(?:^|(?<=[,.!。\u3001:\s请你万途直前就都许]))(?:不要|别|別|不准|不许|不能)(?:再|中途)?(?:停(?:下来?|止|手)?|中断|暂停)(?=\W|$|直[到至]|工作|来问|做"
     r"|等我)|(?:之前|以前)都?(?:不要|别|不许|不准)(?:回来|来?找我|汇报|停|打扰|来?问)|不[^。\n,]{1,8}(?:不罢休|不(?:要|许|准|能)?停(?=\W|$))",
     "Chinese: do not stop"),
    ("arm.zh", "within", ARMING["arm.zh"],
     r"(?:直[到至](?![昨刚今现]) ?\S|没[^。\n,]{0,6}(?:通过|成功|完成|好)就(?:一直|继续|接着)[改修跑做测]"
     r"|(?:(?<=[,\u3001\s])知道|一直[^。\n,]{0,8}?到)[^。\n]{0,40}?(?:通过|成功|完|正常|没有|结束|为止|达|達|超过|可以|解决|修复|全绿|无误|可用|跑通|实现|通過"
     r"|實現|一致|干净|归零))|[修跑做改测调干]到[^。\n,]{0,20}?(?:通过|成功|完成|全绿|为止|跑通|没(?:有)?(?:报错|错误|问题)|无误|绿了?)"
     r"|(?:继续|繼續|开始|接着)[^。\n]{0,14}?(?:全部|所有|整个)[^。\n,]{0,8}?%zuo%|(?:继续|繼續)%zuo%[^。\n,]{0,8}?(?:全部|所有|剩)"
     r"|^全部(?:完成|做完|搞定)$|(?:完成|做完|搞定)(?:所有|全部)?(?:剩余|剩下|其余)|全部(?:彻底|一次性|一口气|连续)地?%zuo%|(?:一次性|一口气)[^。\n,]{0,8}?%zuo%"
     r"|全部(?:%zuo%|开始)[^。\n]{0,20}?(?:测试|修复|验证)|(?:剩余|剩下|其余|后面)[^。\n,]{0,12}(?:都|全)[^。\n,]{0,6}(?:完|搞定)",
     "Chinese: until done, all of it"),
    ("arm.ja", "within", ARMING["arm.ja"],
     "止ま(?:らないで|らずに?|るな)|(?:止め|やめ)(?:ないで|ずに?|るな)|中断(?:しないで|せずに?|するな)|休まず"
     r"|(?<![こそどれ今])まで(?!待)[^。\n]{0,20}?(?:続け|続行|繰り返|進め|やって|やり|直して|頑張)"
     "|(?:一気に|最後まで)(?:全部|すべて)?(?:実装|やって|進め|やり|完成|仕上げ|終わらせ)", "Japanese: do not stop, keep on until"),
    ("arm.ko", "within", ARMING["arm.ko"],
     r"(?:멈추지|중단하지|쉬지|그만두지) ?(?:마|말|않고[^.\n]{0,30}?(?:진행|작업|수정|구현|마무리|완료|끝내|해 ?줘|하세요))"
     r"|때까지(?! ?기다)[^.\n]{0,30}?(?:계속|반복|진행|작업|수정|고쳐|(?<![가-힣])(?:해 ?줘|해라|하세요))|끝까지 ?(?:진행|해|완료|계속|마무리|작업|구현)"
     r"|(?:묻지|물어보지) ?(?:말고|마)[^\n]{0,20}?(?:진행|계속|해|완료|끝)|계속[^\n]{0,40}?(?:때까지|묻지 ?말|묻지 ?마)"
     r"|알아서[^.\n]{0,16}?(?:끝|완료|전부|다 |계속|진행)|(?:나머지|남은)[^.\n]{0,10}?(?:전부|모두|다) ?(?:완료|끝내|구현|처리|마무리|진행)",
     "Korean: do not stop, keep on until"),
    ("arm.abroad-stop", "clause", ARMING["arm.abroad-stop"],
     r"(?:(?:(?:nunca|no|n[ãa]o) (?:te |se )?(?:pares?|paren|para|detengas?|interr\w+)|non fermarti"
     r"|(?:ne )?(?:t'|vous |n')?arr[eêè]te[sz]? (?:surtout )?(?:pas|jamais))\b(?:%end%"
     r"| (?:hasta|at[eé]|antes|por nada|de trab|enquanto|y|e|nem|ni|tant|avant|jusqu|de trav|et|en cours|fin)\b)"
     r"|h(?:ö|oe)re? (?:bitte )?erst (?:dann )?auf\b|(?:melde? dich|komm) (?:bitte )?erst (?:wieder"
     r"|zur(?:ü|ue)ck)?,? ?(?:wenn|sobald)\b|no (?:me )?(?:vuelvas|av[ií]ses)[^.,\n]{0,12}? hasta"
     r"|(?:solo|s[oó]) (?:me )?(?:av[ií]s[ae]me|avise|volte|vuelve)[^.,\n]{0,12}? (?:cuando|quando)"
     r"|ne (?:reviens|me pr[eé]viens) (?:pas avant|que quand|que lorsque)|не возвращайся,? пока\b"
     "|(?:ne )?(?:me )?rend(?:s|ez)? pas la main (?:tant|avant|jusqu)|s[oó] pare quando|(?:para|detente) solo cuando"
     "|(?:ne )?t'arr[eê]te que (?:quand|lorsque)|(?:h(?:ö|oe)re? (?:bitte |ja )?nicht auf"
     r"|nicht (?:aufh(?:ö|oe)ren|anhalten|stoppen|unterbrechen)|stopp?e? (?:bitte )?nicht)\b(?:%end%"
     r"| (?:bis|bevor|ehe|und|solange)\b)|не (?:останавлива(?:йся|йтесь|ться)|прекраща(?:й|йте))\b(?:%end%"
     r"| (?:пока|до|и|ни|раньше|работ))|(?:доведи|доводи|доделай|доделывай)(?:те)?\b[^.\n]{0,30}? (?:до конца"
     "|вс[её]))", "Spanish, Portuguese, French, German, Russian: do not stop"),
    ("arm.abroad", "abroad", ARMING["arm.abroad"],
     r"(?:hasta (?:que\b(?! (?!todo|no|cuando)\w{2,}o\b)|term|acab|compl|tener|lograr|el fin)"
     r"|at[eé] (?:que\b|term|acab|fin|concl|tud|tod|o fi|os? t|os? \w+ (?:pass|fic)|pass|func|ficar|estar|n[ãa]o)"
     "|(?:sin|sem) (?:parar|deten|paus|(?:me )?pr?e[rg]+un?t|interr|pedir)"
     "|jusqu'(?:[aà] ce|au bout|[aà] la fin|[aà] (?:obten|avoir|r[eé]uss))|tant qu"
     "|sans (?:t'arr|s'arr|vous arr|pause|inter|(?:me |rien )?dem|attend)|tout le reste%end%"
     r"|tou(?:te)?s les \w+ restant|t[ou]do (?:lo |o )?que (?:falta|queda)|tout ce qui (?:reste|manque)"
     r"|bis\b[^.\n]{0,80}?\b(?:all|gr(?:ü|ue)n|fertig|durch|l(?:ä|ae)uft|laufen|funktioniert|erledigt|keine?|passt"
     r"|steht|ist|sind)|ohne (?:anzuh|pause|(?:\w+ )?nachzuf|zu frag|r(?:ü|ue)ckf|unterbr)|frag (?:mich )?nicht"
     r"|пока\b[^.\n]{0,60}?\bне\b|до (?:конца|тех пор|полного|завершения)|без (?:остан|пауз|перер|вопр)|не спраш"
     "|вопросов не)", "Spanish, Portuguese, French, German, Russian: keep on until"),
    ("disarm.whole", "whole",
     "stop|halt|cease|abort|cancel|quit|enough|mind|nvm|drop it|leave it|disarm|no more| done|s all|ll do|forg",
     "(?:(?:stop+|halt|cease|abort|cancel|quit(?: it)?|enough|never ?mind|nvm|forget (?:it|that|about it)|drop it"
     "|leave it|disarm|no more)(?:[ ,.!]+(?:stop+|be|%now%))*)", "the prompt is a stop word"),
    ("disarm.stop", "start", "stop|halt|abort|cease|cancel what|cancel everyth|cancel all",
     r"(?:(?:stop+[ ,.!]+)+stop+\b|(?:stop+|halt|abort|cease"
     "|cancel(?= what| everything| all ))(?=(?: %now%){0,5}%end%"
     r"| (?:right (?:there|here|now|away)|immediately|at once|now|please|everything|it[\s,]+(?:i|we|you|and)\b"
     r"|here (?:and|for|we|i)\b|and (?:tell|show|rep|summ|wait|give|expl|let|list|answ|read|look|think|listen|talk)"
     r"|i\b|im |we\b|let me|what you|you(?:'?re| are) |ur |u |this is|that is|don'?t\b)))",
     "begins by telling the agent to stop"),
    ("disarm.there", "clause", "stop|quit it|knock it|cut it",
     r"(?:stop(?=\W*\Z)|(?:stop (?:right )?(?:there|here|now|it|where you(?:'re| are))|quit it|knock it off"
     r"|cut it out)%end%|(?:a )?(?:good )?(?:place|point|time|spot) to stop\b(?! the| using))", "stop there"),
    ("disarm.work", "start", "stop |quit |cease|halt |kill |abort |no more |no further ",
     "(?:(?:stop|quit) (?:working|coding|editing|changing|writing"
     r"|making)(?: on)?(?: (?:this|that|it|files?|code|things|changes|anything|the \w+))?(?: (?:right )?now| please"
     "| immediately| for now)*%end%|(?:cease|stop|halt) work%end%"
     "|(?:stop|cease|halt|kill|abort) (?:all|any|your)(?: (?:the|your|other|current|further|running|ongoing"
     "|background))* (?:action|work|task|agent|subagent|activit|operation|change|edit)"
     "|no (?:more|further) (?:edits|changes|commands|work|actions"
     r"|commits)(?: (?:on|to) (?:it|this|that|the \w+))?%end%)", "stop the work"),
    ("disarm.day", "within",
     "call it|for the day|tomorrow|next week|day|session|myself|by hand|ing off|for to|take |the ni",
     r"\b(?:call it (?:a day|a night|quits|here|done)\b|(?:stop|done|finished|enough|quit|no more|that'?s (?:it|all)"
     "|leave it(?: there| at that)?|wrap(?: it| this| things)? up(?: here)?|pause) for (?:today|tonight"
     r"|(?:the|this) (?:day|night|evening))\b|tomorrow,? (?:i|we)(?:'ll| will| can) (?:continue|go on|finish|pick"
     r"|resume|carry on)\b|(?:let'?s|we(?:'ll| will| can)|i(?:'ll| will)) (?:continue|pick|resume|come back|finish"
     r"|carry on)\b[^.,\n]{0,24}? (?:tomorrow|next week|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
     "|i(?:'ll| will|'m going to| can) (?:take (?:it from here|over)%end%"
     "|(?:do|finish|handle|fix|continue)(?: (?:it|this|that|the rest)(?: of it)?)? (?:myself|by myself|by hand"
     "|on my own)))", "the day's work is over"),
    ("disarm.enough", "start",
     "enough|plenty|m done|re done|am done|keep going|to continue|to finish|to do |cancel|forget |drop |park "
     "|shelve |abandon |scrap |scratch |nix |kill |wrap |stand down|ll do|will do|be all|s all|leave it|leave th"
     "|let it|let this|the rest|t continue|t go |t carry|not p|abort|it done|rest now",
     r"(?:(?:(?:that'?s|this is|that is) )?(?:quite |more than |good )?(?:enough|plenty)%end%(?! *\?)"
     "|that'?s (?:good )?(?:enough|plenty|all) for (?:now|today)"
     r"|(?:i'?m|i am|we'?re|we are|you'?re|you are) done(?: (?:here|with \w+"
     "|for (?:now|today)))*%end%(?!,? (?:let'?s|mov|next|now|start|on to))"
     "|(?:no|you (?:don'?t|do not)) (?:need|have) to (?:(?:keep (?:going|working)|continue|go on"
     "|carry on)(?: (?:any ?more|any longer|any further|with (?:this|that|it)))*%end%"
     r"|(?:finish|do) (?:the (?:rest|others?|remaining)|it|this|that|any more)\b)|cancel%end%"
     r"|(?:(?:cancel|forget|park|shelve|abandon|scrap|scratch|nix|kill) (?:it|everything|the (?:whole|entire) \w+"
     r"|the rest(?: of (?:it|them|the \w+))?|the others|the remaining \w+|(?:all )?(?:of )?(?:that|this|it))"
     "|drop (?:it|that))(?: for (?:now|today))?%end%|(?:stand down|abort(?: mission)?|call it done|rest now)%end%"
     r"|wrap (?:(?:it|this|things) +up\b|up here\b|up(?: now)?%end%)|that(?:'?ll| will) (?:do|be all)%end%"
     "|(?:leave|let) (?:it|this|things|the rest)(?: (?:there|here|at that|be|alone|for (?:now|today)))*%end%"
     "|(?:do not|don'?t) (?:continue(?: with (?:this|that|it))?|(?:go|carry) on"
     "|(?:go|proceed|continue) (?:on )?(?:any )?further)%end%)", "says that it is enough"),
    ("disarm.cjk", "whole",
     "停|住手|够了|夠了|取消|中断|止|做了|先这样|继续|算了|今天|やめ|ストップ|終わり|もういい|ここまで|멈|중지|그만|중단|스톱|스탑|취소|정지|여기까지|改了|做了",
     "(?:先|立即|马上|现在|快|赶紧|直接)?(?:停(?:止|下来?|一下|手|吧|工)?|中断|中止|终止|取消)(?:一下|吧|了吧|一切|所有|执行|运行|任务|后台|工作|全部|当前)*(?<!止了)|停+"
     r"|(?:直接|立即)?(?:停止|中断|终止|取消)(?:你|我让你|我叫你|之前|当前|现在|目前|所有|一切|正在)(?:(?!服务|系统|进程|容器|端口|程序)[^。\n]){0,20}|住手|够了|夠了"
     "|[别別不](?:要|用)?(?:再)?(?:做|改|弄|继续)了?|算了吧?|(?:一旦|いったん|一回|一度|もう|今すぐ|作業を|全部|すぐ)*(?:止めて|やめて|止まって|ストップ|[停中]止(?:して)?"
     "|中断(?:して)?|やめろ|止めろ|終わり|もういい|いい|(?:今日は)?(?:ここまで|おしまい))(?:ください|下さい|にして|にしよう|にしましょう|です|で|よ)*"
     "|(?:이제 |당장 |잠시 |일단 |오늘은 )*(?:멈춰|멈추세요|중지(?:해)?|그만(?:해|하자)?|중단(?:해)?|스톱|스탑|취소(?:해)?|정지"
     "|여기까지)(?: ?(?:만|줘|주세요|요|라|세요|하자|할게))*", "Chinese, Japanese, Korean stop words"),
    ("disarm.cjk-first", "start",
     "여기까지|오늘은|停|够了|夠了|别做了|住手|止めて|やめて|ストップ|中止|멈춰|그만|중지|중단|별再|别再|不用再|不用继续|到此为止|今天就|今天先|ここまで",
     r"(?:先|快|赶紧|立即|马上)?(?:停(?:止|下来?|一下|手|吧|掉)?|够了|夠了|住手|[别不](?:要|用)?再?(?:做|改|弄|继续)了|到此为止|今天[就先]?到(?:这|此)\w{0,4}"
     "|(?:作業を|全部|すべて|今すぐ)?(?:止めて|やめて|ストップ|中止)(?:して)?(?:ください)?|(?:今日は)?ここまで(?:で|に)?(?:いい|して|しよう)?(?:です)?"
     "|여기까지(?: ?하자| ?할게요?| ?해요?| ?합시다)?|오늘은 (?:끝|그만|여기까지)"
     r"|(?:이제 )?(?:그만하고|멈추고|멈춰|그만(?:해)?|중지(?:해)?|중단(?:해)?)(?: ?줘|주세요|요)?)(?=\s*(?:[,\u3001。.!\n]|$)|(?<=고) )",
     "a sentence of stop words"),
    ("disarm.abroad", "start",
     "lo dejamos|por hoje|vamos par|reste l|pour aujourd|das war|reicht|lassen wir|на сегодня|para|pare|basta|deten"
     "|detén|alto|cancela|chega|encerra|arrêt|arret|stopp|halt|hör|hoer|suffit|genug|reicht|annule|déjalo|dejalo"
     "|on cl|brich ab|schluss|no sigas|стоп|останов|хватит|прекрати|отмен|закончим|отбой|fermati|abbr|tomb|sufi|дост"
     "|feie",
     "(?:(?:ya est[aá],? )?lo dejamos(?: aqu[ií])?|por hoje (?:chega|[eé] s[oó]|basta)|vamos parar(?: por aqui)?"
     "|on en reste l[aà]|(?:c'est bon|[cç]a (?:ira|suffit)) pour aujourd'hui|das war'?s(?: f(?:ü|ue)r heute)?"
     "|f(?:ü|ue)r heute reicht(?:'?s| es)?|lassen wir'?s?(?: es)?(?: gut sein)?"
     "|(?:вс[её],? )?на сегодня (?:вс[её]|хватит|закончили|достаточно|закончим))(?: (?:por|hoy|hoje|aqui|f(?:ü|ue)r"
     "|heute))*%end%|(?:(?:pare?|para|parem|parar|pares|detente|detener(?:te)?|det[eé]n|alto|basta|cancelar?|cancele"
     "|chega|encerrar?|d[eé]jalo|es suficiente|no sigas|fermati"
     "|(?:on (?:s')?)?arr[eêè]te[rsz]?(?:[- ](?:toi|tout|de coder|de travailler|[cç]a|vous))*|on cl[oô]ture|annule"
     "|[cç]a suffit|laisse tomber|stopp?|halt|h(?:ö|oe)re?n? (?:sofort |bitte |wir )*auf|aufh(?:ö|oe)ren|genug"
     "|[de]a?s reicht|abbrechen|abbruch|brich ab|feierabend"
     "|schluss)(?: (?:ya|todo|ahora|a[qh]?u?[ií]|agora|tudo|por|favor|hoy|hoje|enquanto|el|momento|maintenant|ici"
     "|l[aà]|pour|aujourd'hui|l'instant|s'il|te|pla[iî]t|jetzt|sofort|hier|bitte|f(?:ü|ue)r|heute|damit|mal|isso|eso"
     "|para|con|ce|soir))*|останов(?:ись|итесь|и|ите|имся)(?: вс[её])?(?: пока| сейчас| на этом| тут)*"
     "|(?:хватит|прекрати(?:те)?|отмена|отмени|достаточно|закончим|отбой"
     r"|стоп)(?: (?:пока|сейчас|вс[её]|на|сегодня|тут|здесь|этом|уже|работу))*)%end%|стоп\b",
     "stop words in other languages"),
    ("pause.hold-on", "first",
     "hold|hang on|not yet|not now|moment|minute|sec|pause|freeze|time out|timeout|hands off|tigh|stand|so f|slow"
     "|stay",
     r"(?:(?:wait[\s,]+)?(?:hold (?:off|up|it|your|everything|all|fire|that thought"
     r"|the (?:implementation|work|changes|migration|merge|release|rollout))\b"
     r"|(?:hold|hang) on(?:%end%| (?:hold on|hang on|some\w*|my|first|let|i|i'?m|we|an?|wait|for (?:an?|me)|what|why"
     r"|how|where|who|is|are|do|did|does|please|now|before|no|you|th\w+|so|but|can|could|should|until (?:i|we)"
     r"|till i|just)\b))|hold(?=\W*$)|put \w+(?: \w+){0,3}? on hold(?:%end%| (?:until|till|for|while)\b)"
     "|(?:not (?:yet|now)|stand ?by|slow down|time ?out|not so fast)%end%"
     r"|hands off(?:%end%| (?:the|my|this|it|until|till|of)\b)"
     "|(?:(?:hang|sit) tight|stay put|stay (?:right )?(?:there|where you are))(?:%end%"
     r"| (?:for|until|till|please|while|now|i)\b)|(?:(?:(?:one|\d+|just (?:a|one)) "
     r"|(?:give me|gimme) (?:\w+ )?)(?:sec|second|moment|minute|min|hour)s?|sec)(?:%end%"
     r"| (?:please|i\b|let|while|before|what|why))|(?:pause|freeze)(?:%end%"
     r"| (?:here|there|now|please|for|everything|all|work|the (?:work|task|session)|and|until (?:i|we)|before)\b))",
     "asks the agent to hold on"),
    ("pause.wait", "first", "wait",
     r"wait(?:[\s,.!\u2026]+wait\b|(?: (?:a (?:sec|second|minute|moment|bit)|up|here|there|please|now))?(?:(?=\W*$)"
     r"|[\s,.!:\u2026-]+(?:for (?:me(?:%end%| to| before)|my\b|(?:further |more |new )?instr)"
     r"|(?:until|till|before) (?:i|we|you|doing|going)\b|[^.:\n]{1,60}? (?:until|till) i(?:'?ve|'?m| have| had| am"
     r"| can| get| look| read| see| check| review)\b|let me\b|let'?s|don'?t|do not "
     r"|i(?:'ll| will| need| have| want| thought| meant?| must|'m)\b|first%end%"
     "|(?:why|where|how|who|what|which|could|are|do|does|(?:can|is|did|should|was)(?:n?'?t)?|wh[oy]|no|but"
     r"|actually)\b)))", "asks the agent to wait"),
    ("pause.not-yet", "clause",
     "no cod| yet&n't| yet&no| yet&dont|for now&n't|for now&no|for now&dont|right now&t |t & this s|t "
     "& this p|until i|until we|before i|before we|till i|without my|t proceed|t continue|t start|t code|no edits"
     "|no impl|t impl|hold o",
     r"(?:do nothing (?:until|till|before) (?:i|we)\b|no (?:more |further |other )*(?:changes|edits|commits|code"
     r"|work)\b[^.,\n]{0,40}? (?:until|till|before) (?:i|we)\b"
     r"|(?:leave|keep) (?:everything|it|this|things|all|the \w+) (?:alone|as (?:it|they) (?:is|are)|as is|untouched"
     r"|unchanged|still)\b[^.,\n]{0,50}? (?:until|till|before) (?:i|we|then)\b"
     r"|(?:%not%|stop(?= \w+ing)|let'?s not|no|i (?:do not|don'?t) want (?:you )?(?:to|any)"
     r"|nothing (?:is|gets)) (?:(?:touch\w*|chang\w+|edit\w*|modif\w+|do|writ\w+|code|coding|implement\w*|start\w*"
     r"|run|execut\w+|make|apply|continue|proceed|go (?:on|ahead)|begin|build|create|commit|push|merge|deploy|delete"
     r"|install) (?:\w+ing |on )?(?:(?:%any% )?%yet%|(?:it|this|that|them) yet\b"
     r"|[^.,\n]{1,50}? (?:until|till|before) (?:i|we)\b)|%any% %yet%)"
     "|(?:still )?no (?:code|coding|edits|implementation|code changes)(?: here)?%end%"
     "|(?:do not|don'?t) (?:proceed|continue|implement|code"
     "|start)(?: (?:it|this|that|them|anything|coding|(?:on )?anything))?%end%"
     "|hold (?:on|off)(?: (?:please|for now))?%end%)", "not yet: code, changes or anything"),
    ("pause.no-edit", "clause",
     "t change|t touch|t edit|t modify|t write|t make|t do |do nothing|without chang|no c|t wan",
     "(?:(?:%not%|without) (?:touch|chang|edit|modify|writ|mak|do)(?:e"
     r"|ing)? ?%any%(?: (?:just|only|here|now|yet|in this \w+))?|do nothing|no (?:code )?changes)%end%",
     "no changes are wanted"),
    ("pause.cues", "cues",
     "no change|no edit|no cod|no impl|t change|t edit|t touch|t write|t impl|t build|t start|t apply|t run |t code"
     "|t make|t do |t fix|nothing is|nothing gets",
     r"((?:do not|don'?t|no|never|not)\b(?: \w+){0,2}? (?:chang|edit|touch|cod(?:e|ing)|writ|implement|build|start"
     r"|apply|run|mak|do|fix)\w*(?: (?:on )?(?:any\w*|the|my|a|it|this|that|them|code|files?|yet|please|here))*%end%"
     r"|nothing (?:is|gets) \w+)|\b((?:only|just) (?:want|need|plan|explain|discuss|analy|brainstorm|explor|tell"
     r"|show|answer|look|read|think|a plan|an? (?:list|plan|opinion|analysis))\w*|(?:plan|analysis) only|what would"
     r"|how would|walk me|your (?:opinion|thoughts|take)|i(?:'ll| will| want to| need to) \w+"
     "|we (?:decide|talk|discuss)|let me|let'?s (?:talk|discuss|plan|think)"
     r"|(?:propose|suggest|outline|describe|explain|list|compare|understand|draft)\b|options)",
     "no changes, and only talk is asked for"),
    ("pause.before-you", "clause",
     "before you |before any|nothing |discuss|talk|chat|let me&first|before c|before w|touchi|doin|before i",
     "(?:(?:let me(?! know| see the)|i(?:'d like|'ll| want| need|'d rather)(?: to)?|discuss|talk"
     r"|chat)\b [^.\n]{0,60}?\b(?:first(?:%end%| before)|before (?:you|we do|we go|we st|doing|going)\b)"
     r"|(?:first )?answer (?:me|my)\b[^.\n]{0,30}?\b(?:first|before)"
     r"|before (?:you |we )?(?:(?:writ|chang|do|touch|implement|cod|start|edit|mak|go|continu|proceed)\w*"
     r"|any (?:code|change|edit))[^.,:\n]{0,40}[,:]? (?:please )?(?:explain|show|tell|let|give|describe|walk|discuss"
     "|i(?:'d| would)? (?:want|like|need|prefer)|we (?:need|should)|wait|ask|check|get my|write|draft|propose|answer"
     r"|summ|list)|nothing (?:should|must|may|gets|is to|is)(?: be| get)? \w+[^.,\n]{0,30}? (?:until|till|before"
     "|without) )", "something comes first"),
    ("pause.cjk", "first", "等我|等一下|等等|等下|稍等|等会|暂停|暫停|先别|先不|先等|别动|慢着|且慢|慢点|待って|待て|お待ち|一時停止|ストップ|잠깐|잠시|기다려|대기|일시정지",
     r"先?(?:等一下|等等|等下|稍等(?:一下)?|等会儿?|暂停(?:一下)?|暫停|先等|别动|慢着|且慢|慢点)(?=\W|$|我|先|吧|你|这)|等我(?!的)[^。\n,]{0,8}再"
     "|先(?:别|不要?|不用)(?:急着?)?(?:动|改|写|做|执行|实施|实现|继续|开始|编码|提交)|(?:ちょっと|少し)?(?:待って|待て|お待ち)(?:ください|下さい|ね|よ)*"
     r"|一時停止(?:して)?%end%|(?:잠깐|잠시)(?:만|요|만요|만 ?기다려\w*)?(?=[,.!?~\n]|$| ?사용자| ?대기| ?멈)|잠깐[만요]|잠시만|기다려\w*%end%"
     "|(?:대기(?:해)?|일시정지)%end%", "Chinese, Japanese, Korean: wait"),
    ("pause.cjk-not-yet", "clause", "先不|先别|先別|暂时不|暂不|别改了|别动|别写|先&我确认|先&我讨论|先&我商量|确认前|确认之前|まだ|変更しない|触らないで|아직|不要|하지",
     "(?:先|暂时?)都?(?:不要?|别|別|不用)(?:急着?)?(?:动手)?(?:写|改|动|修改|执行|实施|实现|编写|生成|更改|修)(?:任何)?(?:代码|文件|东西|程序|手|码)?%end%"
     r"|确认之?前[^。\n,]{0,4}不(?:要|许|准)?(?:改|动|写|做)|不要(?:修改|改动|改|写|动)(?:任何)?(?:代码|文件|东西)%end%|不要(?:执行|动手|动代码|继续)了?%end%"
     r"|别[改动写弄]了?(?:代码|文件)?%end%|[^,。\n]{0,16}?先[跟和与给找]我(?:确认|讨论|商量|沟通)(?:一下)?%end%"
     r"|まだ(?:コード|何も|実装|実行|変更|触|書)[^。\n]{0,12}?(?:ないで|しない|するな)"
     r"|(?:コード|ファイル|何も)[はをも]?(?:まだ)?(?:変更|編集|触|書|実装)[^。\n]{0,3}?(?:ないで|しない)"
     r"|(?:아직|코드)[^.\n]{0,20}?(?:하지|작성하지|수정하지|건드리지|시작하지) ?[마말]", "Chinese, Japanese, Korean: not yet"),
    ("pause.abroad", "first",
     "espere|aguard|pera|calma|pausa|attend|warte|moment|patiente|погоди|минут|секунд|пауза|пока не |жди|ничего|стой"
     "|minu|instan|une |auge|трог",
     "(?:(?:espera(?:te)?|espere|esp[eé]rate|u[nm] (?:momento|minuto|segundo|instante?|moment)|aguard[ae]"
     "|p[eê]ra(?:[ ,]*(?:l[aá]|a[ií]))?|pera[ií]|calma|pausa|attend(?:s|ez)?|une (?:minute|seconde)"
     "|warte(?:n sie)?(?: mal| kurz| noch| bitte)*|moment(?: mal)?|einen (?:moment|augenblick)|patientez?)(?:%end%"
     r"|(?= (?:no|n[ãa]o|u[nm]|por|que|antes|pas|avant|je|on|tu|bitte|noch|nicht|ich|mal|pardon|ne|vamos|aí|lá)\b))"
     "|(?:подожди(?:те)?|погоди(?:те)?|постой(?:те)?|стой%end%|(?:одну )?(?:минут(?:у|очку)|секунд(?:у|очку))|пауза"
     r"|жди%end%)\b(?! назад| пока (?:тест|сборк))|(?:пока )?(?:ничего )?(?:пока )?не (?:трогай|меняй|делай"
     r"|пиши)\b[^.\n]{0,20}?(?:ничего|код|пока)|(?:пока )?ничего (?:пока )?не (?:трогай|меняй|делай|пиши)"
     r"|пока не (?:начинай|запускай|(?:пиши|трогай|меняй|делай)(?:%end%| (?:ничего|код|файл|это\b|и\b|пока))))",
     "wait, in other languages"),
    ("pause.abroad-not-yet", "clause",
     "aún|ainda|le moment|noch |não mexa| rien|cambies|toques|escribas|altere|nur plan|nada|nich|por |modi|todav"
     "|solo|pas e|l'in",
     "(?:n[ãa]?o (?:hagas|toques|fa[çz]a?|mexa|mude|cambies)(?: em)? nada(?: ainda| todav[ií]a| a[uú]n)?%end%"
     r"|n[ãa]?o (?:modifiques|cambies|toques|escribas|altere|mexa|escreva)(?: \w+)? (?:c[oó]digo|archivos?"
     "|arquivos?)%end%|(?:ainda |todav[ií]a )?por (?:ahora|enquanto) n[ãa]?o "
     r"|n[ãa]?o (?:\w+ ){1,4}?(?:todav[ií]a|a[uú]n|ainda|por (?:ahora|enquanto))"
     r"|ne (?:touche|fais|change|modifie|code|lance)[sz]?\b[^.,\n]{0,12}?\brien(?: pour l[e']| encore|%end%)"
     r"|(?:pas (?:encore )?de code|n'(?:[eé]cri|impl[eé]ment)\w* (?:pas|rien))\b[^.,\n]{0,30}?(?:encore|pour l[e'])"
     "|(?:fass|mach|[aä]ndere?) (?:bitte |noch )*nichts(?: an)?%end%|nur planen%end%"
     r"|(?:schreib|implementier|[aä]nder|mach)\w*\b[^.,\n]{0,20}?\bnoch (?:nicht|kein)"
     r"|noch (?:nichts?|keinen? \w+) (?:[aä]ndern|schreib|implementier|anfass|mach))", "not yet, in other languages"),
)

# id, of, needs, where, pattern, why it is no order. of: what the rules' ids begin with. where: "before" in the
# sentence up to the order, "within" from there to the pattern's own words, "upto" from the sentence's start to these,
# "after" from their end, "line" the line they stand on up to them, "list" what stands above the list they are in,
# "sentence" the sentence, "prompt" all of it; needs ("": none) are looked for there, too.
INTENT_EXCUSES = (
    ("arm.question", "arm", "?", "sentence",
     r"(?!\W*(?:(?:ok|so|and|please|hey)[\s,]+)*(?:can|could|would|will) (?:you|u|we)\b)(?![^?]*\b(?:ok(?:ay)?"
     r"|please|alright|understood|got it|clear|deal|yes)\?)[^?]*\?", "a question, not an order"),
    ("arm.told", "arm pause.n pause.c pause.b",
     "told|tell|said|say|ask|use|want|wrote|typed|mean|called|named|titled|phrase|:", "before",
     r"\b(?:i|we|he|she|they|it|who|that|which|users?|people|someone|(?:the|other) \w+) (?:\w+ )?(?:told|tells?"
     r"|asked|asks?|says?|used|(?<!i )(?<!we )wants?|wrote|typed|means?)\b(?! you)|(?<!i )\bsaid\b"
     r"|\b(?:add|append|put|include)\b[^:\n]{0,60}\b(?:to|in|into)\b[^:\n]{0,40}:[^:\n]*$"
     r"|\b(?:translate|summari[sz]e|rephrase|reword|paraphrase|proofread|explain|slogan|rule|say|type|write|prompt"
     "|phrase|string|message|text|label|button|title|log|output|error|reads?|rename|word|example|quote|lyrics?|song"
     r"|sentence|keyword|issue|sample|bug)\b[^:\n]{0,40}:\s*$"
     r"|\b(?:say|says|saying|called|named|titled|phrase|keyword)\s*$", "told of somebody, or a wording that is shown"),
    ("arm.program", "arm",
     "should|must|will |can |could |would |has to|needs to| to |may |if |let |policy:|strategy:|behavio|logic:|mode:",
     "upto",
     r"\blet (?:(?:the|our|an?|each|every) \w+[^.;:\n]*)?$|\b(?:policy|strategy|behaviou?r|logic|mode):[^\n]*$"
     r"|\bi want (?:the|an?|our|my) \w+(?: \w+)? to\b[^.\n]*$"
     r"|\b(?:app|script|server|service|worker|daemon|agent|page|client|model|bot|job|cron|program|process|pipeline"
     "|loop|function|helper|user|hook|system|tool|importer|parser|handler|training|stream|wizard|installer|that"
     r"|which)s? (?:can|should|must|will|may|could|would|has to|needs to|to)\b[^.,;:\n]*$"
     r"|\bif (?:an?|one|any|some) (?:\w+ )?(?:row|record|line|item|entry|request|url|call|chunk|packet|node"
     r"|event)s?\b[^.\n]*$", "about a program"),
    ("arm.spec", "arm", " that | which | so |telling|saying| qui | que | die |котор", "upto",
     r"\b(?:write|draft|add|create|implement|build|make (?!sure)|change|test|check|verify|fix"
     r"|have)\b[^.,;:\n]{0,60}\b(?:that|which|telling|saying|so (?:it|that))\b(?:(?! and )[^.,;:\n])*$"
     r"|\b(?:une?|una|uma?|eine?n?|цикл|скрипт|функци\w*)\b[^.\n]{0,30}\b(?:qui|que|die|der|das|котор\w+)\b"
     r"|\b(?:haz|haga|fa[çz]a|fais|faites) que\b", "what is to be written"),
    ("arm.text", "arm", "translate|shorten|rephrase|proofread|summar|system prompt|wording", "prompt",
     r"\A[^\n]{0,200}\b(?:translate|shorten|rephrase|proofread|summari[sz]e|system prompt"
     r"|wording)\b[^\n]{0,160}:\s*\n", "a text that is to be worked on"),
    ("cue.program", "arm.cues",
     "user|customer|visitor|dialog|popup|button|modal|wizard|bot |弹窗|对话框|按钮|用户|ダイアログ|ボタン|ユーザ|버튼|다이얼로그|팝업|사용자",
     "sentence",
     r"[^.\n。]*(?:\b(?:the|our|a|each|every) (?:\w+ )?(?:bot|wizard|agent|installer|script|app|service) (?:must"
     r"|should|goes|can|will|has)|\b(?:users?|customers?|visitors?|dialogs?|popup|button|modal)\b|弹窗|对话框|按钮|用户|ダイアログ"
     "|ボタン|ユーザ|버튼|다이얼로그|팝업|사용자)", "about a program"),
    ("arm.list", "arm",
     "requirement|behavio|spec|feature|acceptance|criteria|algorithm|flow|logic|rules|implement|write a|build a"
     "|create a|add a|make a|need a|want a", "list",
     r"(?:^|\n)[ #*\d.]*(?:(?:functional |expected |game )?(?:requirements?|behaviou?r|spec\w*|features?|acceptance"
     r"|criteria|algorithm|flow|logic)\b|game rules|(?:\w+ ){0,3}(?:implement|write|build|create|add|make|need"
     r"|want) (?:an?\b|`|\ua66e)[^\n]*:\s*\n)", "an entry of a specification"),
    ("arm.shown", "arm", " phrase| as a |라고", "after",
     r"[^.\n]{0,40}?(?:\bis (?:a|the) phrase|\bas a (?:label|title|name)|라고)", "a wording that is shown"),
    ("arm.asks", "arm", "confirm|approv|with me|ask me|for me|my ok|my go|我", "prompt",
     r"(?<!n't )(?<!nt )(?<!not )(?<!need to )(?<!have to )(?<!sit )(?<!without )\b(?:wait(?:ing)? for (?:me"
     r"|my (?:ok|go|conf|appr)\w*)|ask (?:me (?:first|before)|for (?:my )?(?:conf|appr|perm)\w+ (?:before|after|at))"
     "|check (?:in )?with me (?:before|after|first|at))|(?<!不需要)(?<!不用)(?<!无需)(?<!不必)[给等经跟和由]我的?确认|我确认(?:之?后|再)|先告诉我"
     r"|(?:问题|明白的?|疑问)[^。\n]{0,4}问我", "the person wants to be asked"),
    ("alone", "arm.dont-ask", "", "prompt",
     r"\A(?![\s\S]*\b(?:just|continue|proceed|keep|carry on|execute|implement|finish|complete|work|go ahead"
     "|go through|straight through|end to end|run|do (?:it|every|all|the)|fix|build|migrate|convert|test|process"
     r"|whole|everything|goal|begin)\b)|\banswer (?:my|me|the|what)\b", "nothing is ordered to be done"),
    ("log", "", ":|$ |at |//|err!|@@|[|file \"|❯|⏺|●", "line",
     r"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\]?[:\s]|\$ |\|"
     r'|at \S+\(|(?:npm|yarn|pnpm|pip|make|cargo|docker|go)\b[^\n]{0,12}[!:\]]|file \"|@@ '
     r"|(?:user|human|assistant|claude|ai|bot|agent|system)\s*:|[\u276f\u23fa\u25cf]|[^\n]*(?<!:)//)",
     "a pasted log, table or code line"),
    ("until.person", "arm.until", " i |day| next|eof|end of| now| then", "after",
     r"\s*(?:i (?:say|tell)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next|now\b|then\b"
     r"|(?:the )?(?:eof|end of (?:the )?(?:file|stream|line|input)))\b", "until a person, a day or the file's end"),
    ("until.spec", "arm.until",
     "implement|build|write|start|begin|do a|add|create|make|update| wait|check |over|continue to", "within",
     r".*\bwait(?:s|ing)? $|(?:check (?:whether|if)|(?:loop|iterate) over"
     "|continue to (?:us|support|allow|accept|show|return|serv))"
     "|(?:implement|build|write|start|begin|add|create|make|update|do an?) (?!and|every|all|it|this|th|until"
     r"|(?:\w+ ){0,2}(?:tests?|cases|coverage))", "what is to be built, or waited for"),
    ("release.condition", "disarm", "if|when|once|until|after|unless|soon|wenn|sobald|uando|si|se|quand|если|когда",
     "sentence",
     r"\W*(?:(?:and|but|then|or|so) )?(?:if|when|whenever|once|after|as soon as|until|unless|wenn|sobald|cuando|si"
     r"|se|quando|quand|если|когда)\b|[^.\n]*?\b(?:stop|halt|day|quits|for (?:now|today))\b[^.,\n]{0,30}?\b(?:when"
     r"|once|until|after|if|unless|as soon as)\b", "a release with a condition"),
    ("release.later", "disarm", "then|after", "before", r".*\b(?:then|after that|afterwards)[\s,]*$",
     "a stop after something else"),
    ("object", "disarm.stop", "from|on the|on port|in the", "after",
     r"[^.,\n]{0,24}?\b(?:from|on (?:the|port)|in the)\b", "something else is to be stopped"),
    ("thing", "pause.h pause.w pause.abroad", " for | until | till | on ", "after",
     r"(?<!fire)(?![^.\n]* until (?:i|we)\b)\s*(?:for|until|till|on) (?!m[ey]\b|i\b|we\b|a (?:sec|moment|minute|bit)"
     r"|now|it\b|th(?:at|is)\b|any|all\b|every|cod|impl|making|chang|(?:further |more |new )?instr)",
     "waits for a thing"),
    ("works", "pause.no-edit pause.c",
     "fix|add|update|rename|implement|create|write|remove|delete|move|refactor|build|translate|return|search|实现|修复"
     "|添加|更新|创建|修正|追加", "prompt",
     r"(?:^|[.!\n,;:] *|\band |\bthen )(?:please |just |now )?(?:fix|update|rename|add|implement|create|write"
     "|refactor|remove|delete|move|build|translate|return"
     r"|search)\b(?! (?:up )?(?:an?|the|your) (?:\w+ )?(?:plan|list|summary|report|analysis|review))"
     r"|(?:^|[,。\n:]\s*)(?:请)?(?:实现|修复|添加|更新|创建|修正)", "work is ordered in the same prompt"),
    ("cjk.question", "arm.zh arm.ja arm.ko arm.cues-cjk disarm.cjk-f", "吗|?|么|か", "sentence",
     r"[^。\n]*(?:吗|\?|了么|(?:です|ます|ません)か\s*。?\s*$)", "a question, not an order"),
    ("cjk.spec", "arm.zh arm.ja arm.ko arm.cues-cjk disarm.cjk-f",
     "仕様|ように|関数|処理|機能|コード|ループ|スクリプト|도록|함수|코드|스크립트|로직|脚本|函数|循环|逻辑|需求|修一下", "sentence",
     r"[^。\n]*(?:仕様|ように(?:して|修正|変更|実装|直)|(?:関数|スクリプト|処理|機能|コード|ループ)を?[^。\n]{0,6}?(?:書|作|実装|修正|続)"
     r"|도록[^.\n]{0,24}(?:수정|구현|변경|만들|고쳐|추가|처리|바꿔|짜)|(?:함수|코드|스크립트|로직|반복문)[를을]? ?(?:작성|짜|만들|추가|구현|수정)"
     "|写一?个?(?:函数|脚本|循环)|这个?(?:功能|逻辑|需求)|是需求|修一下)", "about a program"),
    ("cjk.program", "arm.zh arm.ja arm.ko disarm.cjk-f", "", "before",
     r".*(?:(?:轮询|重试|重连|等待|加载|阻塞)[^。\n]{0,30}|(?:程序|服务|系统|轮询|循环|进程|脚本|线程|用户|按钮|接口|动画|任务|列表|页面|表格|组件|弹窗"
     r"|图表)[^,。\n]{0,6}|(?<!手)(?<!作業)を\s*|(?<!작업)[를을]\s*)$", "about a program or another thing"),
)

# What joins a condition to an arming clause, where the condition follows; and where it comes first, what ends it.
CONNECTIVES = (
    ("until|till|til |unless|before", r"\b(?:until+|till?|unless|before)\b[:\s]*"),
    ("stop when|stop only|stop once|only ",
     r"\b(?:(?:stop|exit|quit|return) (?:only )?|only (?:stop|come back|report|ping|return)\b[^.\n]{0,16}? )"
     r"(?:when|once|if|after)\b\s*"),
    ("tant qu|jusqu'|avant",
     r"\b(?:tant qu(?:e\s+|')|jusqu'(?:[aà] ce qu(?:e\s+|')|[aà]\s+|au\s+)|avant (?:que?|de)\s+)"),
    ("hasta|até|ate |antes", r"\b(?:hasta(?: que)?|at[eé](?: que)?|antes de(?: que)?)\b\s*"),
    ("bis|bevor|solange", r"\b(?:bis|bevor|solange)\b\s*"),
    ("пока|до ", r"\b(?:до тех пор,? пока|пока|до)\b\s*"),
    ("直到|直至|知道", r"(?:直到|直至|知道)\s*"),
)
POSTPOSED = (("まで", r"(?<!最後)(?:する|なる)?まで"), ("때까지", r" ?때까지"), ("前", r"之?前"))
TRAILING = ("then| keep | -|\u2013|\u2014|please|ok|pls|thank|为止",
            r"[,\s]+(?:and )?then\b|,? keep \w+ing\b|\s+[-\u2013\u2014]+\s|(?:\s*\b(?:please|pls|thanks|thank you)|,\s*ok(?:ay)?)\W*$|为止")
CJK_TRAILING = (",|\u3001", r"[,\u3001]")
NUMBERS = (
    ("half 半", .5), ("a an one next una un une uma eine 一", 1), ("two couple dos duas deux zwei два 两 兩", 2),
    ("three tres três trois drei три 三", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8),
    ("nine", 9), ("ten", 10), ("twelve", 12), ("fifteen", 15), ("twenty", 20), ("thirty", 30), ("forty-five", 45),
    ("ninety", 90))
TIME_WORDS = "hour|minut| min|hr|hora|heure|stunde|час|минут|小时|小時|分|時間|시간"
LASTS = (
    r"\b(?:for|next|durante|por|pendant)\s+(?:the |a (?=couple)|next |about |around |at least |another )*(half|couple"
    r"|\d+(?:[.,]\d+)?|[a-zà-ÿ-]+)(?:\s+an?\b|\s+of)?\s*(?:more |full )?(h(?:ours?|rs?|oras?|eures?)?|m(?:inutes?|ins?"
    r"|inutos?)?)\b",
    r"(\d+|[一两兩三半]|zwei|eine|два)\s*[个個]?\s*(stunden?|час\w*|小时|小時|時間|시간|minuten?|минут\w*|分钟|分鐘|分間|분)")
CLOCK = (r"\b(?:until|till?|hasta las?|at[eé] [aà]?s?|jusqu'[aà]|bis|до)\s+(?:(noon|midnight)|(\d{1,2})(?:[:h](\d\d))?"
         r"\s*(am|pm|a\.m\.?|p\.m\.?|o'clock|uhr|h\b|(?=\W*$|,))?)(?!\w|\.\d)")
LEAVE = (
    "|what|what's|why|how|where|where's|which|who|whose|is|are|was|were|does|did|has|isn't|aren't|doesn't|didn't|"
    "do you|do we|do i|do they|do the|have you|have we|should i|should we|should it|should the|shall we|shall i|am i|"
    "can i|can we|can it|can this|could i|could we|could it|would it|would that|will it|will this|can you tell|"
    "can you explain|can you describe|can you clarify|could you explain|could you tell|can you please explain|")


INTENTS = ("arm", "pause", "disarm")
NOTHING_HEARD = {"intent": "", "rule": "", "condition": "", "items": (), "budget": None, "command": (),
                 "question": False, "start": 0, "end": 0, "excused": ()}


# --- records -------------------------------------------------------------------------------------

class Record:
    """Named fields with defaults, changed only by `replace`. (typing.NamedTuple costs more than a hook call.)"""

    fields = {}

    def __init__(self, **given):
        for name in given:
            if name not in self.fields:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        self.__dict__.update(self.fields)
        self.__dict__.update(given)

    def replace(self, **changed):
        return type(self)(**{**self.__dict__, **changed})

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


class Settings(Record):
    """What the operator set, and where this process stands."""

    fields = {**SETTINGS,
              "observe": False,         # decide and record, never hold
              "print_mode": False,      # `claude -p`: nothing but a subagent can wake the session
              "command": NAME,          # how a shell calls this program
              "policy": POLICY, "policy_file": "",      # the operator's own policy replaces the shipped one
              "own": None, "off": (),   # phrases of the operator's own; rule ids switched off
              "cap": HOST_CAP,          # holds in a row that the client honours, 0 is no bound
              "pins": {}}               # digests of the operator's files as they are now


class Stop(Record):
    """A Stop payload, read: the fields have the client's own names."""

    fields = {"message": None,          # last_assistant_message; None or "" leaves the ledger to decide
              "hits": (), "excused": (), "advisory": (), "blocker": "", "waits": False,     # see read_turn
              "mode": "",               # permission_mode
              "active": False,          # stop_hook_active: a hook has held this turn before, no more than that
              "tasks": (), "crons": ()}


class Evidence(Record):
    """What the transcript has gained since it was last read, and what a check said. `end` is in bytes."""

    fields = {"readable": False, "end": 0, "anew": False,     # anew: it was replaced by a shorter one
              "unread": 0,              # bytes since the arming that were too far back to be read
              "work": 0,                # calls that are work, since the operator's last prompt
              "calls": (),              # digests of all finished calls
              "todos": (),              # changes made with the client's to-do tools
              "wakeup": None,           # (time of the call, seconds) of the last wakeup that was scheduled
              "turn_calls": None,       # calls of this turn, None if unknown
              "text": None,             # last text of the main chain
              "holds": 0, "stalled": 0,     # our own feedback rows since the operator's prompt; since the last work
              "queued": (),             # (time, text) of prompts typed while a turn ran
              "artifacts": (),          # "class key" of what was shipped since arming
              "run": (None, ""),        # the run's state, and why it could not be read
              "away": False,            # the operator is away from this machine
              "check": None}            # (exit status or None for a timeout, last lines) of the operator's check


class Verdict(Record):
    """The decision on one Stop."""

    fields = {"cls": "", "why": "", "rules": (), "owed": (), "progress": False, "tickets": (), "wakes": (), "waits": "",
              "until": 0, "last": False,        # the hold after which nothing holds any more
              "output": ""}             # the end of what the operator's check printed: shown, and never stored

    @property
    def holds(self):
        return self.cls in ("BLOCK", "BLOCK-MALFORMED")

    @property
    def reason(self):
        """What the reader is told; the log keeps `why` alone."""
        return self.why + (f": {self.output}" if self.output else "")


class Prompt(Record):
    """A prompt that the operator typed, with what the hook knows beside its words."""

    fields = {"heard": None,            # see read_prompt
              "mode": "", "size": 0, "session": "", "away": False}


class Answer(Record):
    """What an event says: to the operator, to the model, or in place of a model turn.

    `reply` is erased from the conversation and gives the typed text back to the input box; `halt` stays in the
    conversation, so that the model learns of a change, and leaves the box empty (both seen on the client).
    """

    fields = {"system": "", "context": "", "reply": "", "halt": ""}


class Loaded(Record):
    """A contract file as found: none, ok, malformed, foreign or newer."""

    fields = {"kind": "none", "contract": None, "why": ""}


def load_contract(data, session):
    """The contract in DATA (bytes of its file, None if there is none), filled up with defaults."""
    if data is None:
        return Loaded()
    value, fault = parse_json(data)
    if fault:
        return Loaded(kind="malformed", why=fault)
    if not isinstance(value, dict) or "schema" not in value:
        return Loaded(kind="foreign", why="it has no schema mark")
    if not isinstance(value["schema"], int) or isinstance(value["schema"], bool):
        return Loaded(kind="malformed", why="schema is no number")
    if value["schema"] > SCHEMA:
        return Loaded(kind="newer", why=f"schema {value['schema']}, this program knows {SCHEMA}")
    contract = {**CONTRACT, **value, "schema": SCHEMA}
    why = contract_fault(contract, session)
    return Loaded(kind="malformed", why=why) if why else Loaded(kind="ok", contract=contract)


def contract_fault(contract, session):
    """What is wrong with a contract's fields, in a few words; "" if nothing is."""
    for name, default in CONTRACT.items():
        if type(contract[name]) is not type(default):
            return f"{name} is {type(contract[name]).__name__}, not {type(default).__name__}"
        if isinstance(default, list) and name != "items" and not is_texts(contract[name]):
            return f"{name} holds what is no text"
    if contract["session"] != session:
        return "it names another session"
    if contract["state"] not in STATES or contract["mode"] not in MODES:
        return "unknown state or mode"
    for item in contract["items"]:
        if not (isinstance(item, dict) and all(isinstance(item.get(k), str) for k in ("id", "text"))
                and item.get("state") in ITEM_STATES and isinstance(item.get("key", ""), str)
                and type(item.get("closed_at", 0)) is int and is_evidence(item.get("evidence", []))):
            return "an item without id, text and state"
    claim, run = contract["claim"], contract["run"]
    if claim and not is_evidence(claim.get("evidence")) or type(contract["waiting"].get("until", 0)) is not int:
        return "a claim or a wait of another form"
    looks = {"run": isinstance(run.get("file"), str) and isinstance(run.get("field"), str)
             and is_texts(run.get("terminal")), "artifact": all(kind in ARTIFACTS for kind in contract["wanted"])}
    return "" if looks.get(contract["mode"], True) else f"mode {contract['mode']} lacks what it looks at"


def is_texts(value):
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def is_evidence(value):
    return isinstance(value, list) and all(
        isinstance(e, dict) and isinstance(e.get("kind"), str) and isinstance(e.get("value"), str) for e in value)


# --- reading: values -----------------------------------------------------------------------------

def dump_json(value):
    """VALUE as one line of ASCII JSON, so that any text can be written in any locale."""
    try:
        import _json
        encode = _json.make_encoder(None, None, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True)
        return "".join(encode(value, 0))
    except Exception:       # as above
        import json
        return json.dumps(value)


SHA256 = "_sha2" if sys.version_info >= (3, 12) else "_sha256"      # built in; hashlib loads OpenSSL


def digest(text, length=12):
    """The first LENGTH hex digits of TEXT's SHA-256."""
    try:
        sha256 = __import__(SHA256).sha256
    except ImportError:
        from hashlib import sha256
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def fold(text):
    """TEXT without differences of case and white space."""
    return " ".join(text.casefold().split())


def one_line(text, limit=LIMITS["line"]):
    """TEXT on one line of at most LIMIT characters, control characters gone and tags broken."""
    text = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text[:4 * limit]).split())
    text = text.replace("<", "\u2039").replace(">", "\u203a")
    if len(text) <= limit:
        return text
    head = text[:limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[limit // 2:] else head) + "\u2026"


def cut(text, size):
    """TEXT cut to SIZE bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= size else data[:size - 3].decode("utf-8", "ignore") + "\u2026"


def plural(count, noun):
    return f"{count} {noun}" + ("" if count == 1 else "s")


def span_words(seconds):
    """A span of time in words, to the largest unit."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return plural(int(seconds // size), unit)
    return "less than a minute"


def clock(seconds, form="%Y-%m-%dT%H:%M:%SZ"):
    """SECONDS since the epoch as a UTC time; any number, also one out of the calendar's range, gives a text."""
    import time
    try:
        return time.strftime(form, time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return "?"


def wakes_at(stamp, delay, now):
    """When a wakeup fires that was scheduled at STAMP, a transcript's UTC time, for DELAY seconds later."""
    from datetime import datetime, timezone
    try:
        return int(datetime.fromisoformat(stamp[:19]).replace(tzinfo=timezone.utc).timestamp() + delay)
    except (ValueError, OverflowError):
        return now + min(delay, 1 << 31)       # a row without a time was written just now


# --- reading: the transcript ---------------------------------------------------------------------

ROW_MARKS = (b'"tool_use"', b'"tool_result"', b'"text"', b'"content":"', b'"content": "', b'"queued_command"')


def rows_of(data, start, whole):
    """([(offset, row)], end): the JSON lines in DATA, which begins at byte START, and where the last whole one ends.

    WHOLE says that a line begins at START. Lines end at \\n alone (JSON may hold U+2028), one still being written
    is left for the next reading, and rows of subagents are not ours.
    """
    rows, offset, lines = [], start, data.split(b"\n")
    for number, line in enumerate(lines[:-1]):
        if (whole or number) and any(mark in line for mark in ROW_MARKS):
            row, fault = parse_json(line)
            if not fault and isinstance(row, dict) and not row.get("isSidechain"):
                rows.append((offset, row))
        offset += len(line) + 1
    return rows, offset


def content_of(row):
    """The content blocks of a transcript row; a text content is one text block."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def calls_in(rows):
    """[(offset, row, call, result row)] of the finished tool calls in ROWS, and where the first one begins that
    may still get its result: one that a later message has passed by never will (a killed client)."""
    finished, waiting = [], {}
    for offset, row in rows:
        for block in content_of(row):
            answered = str(block.get("tool_use_id", ""))        # a result without an id answers no call
            if block.get("type") == "tool_use" and row.get("type") == "assistant":
                waiting[str(block.get("id"))] = (offset, row, block)
            elif block.get("type") == "tool_result" and answered in waiting:
                _, made, call = waiting.pop(answered)
                if not failed(block, row):
                    finished.append((offset, made, call, row))
    last = next((id_of(row) for _, row in reversed(rows) if row.get("type") == "assistant"), None)
    pending = [offset for offset, row, _ in waiting.values() if id_of(row) == last]
    return finished, min(pending, default=None)


def id_of(row):
    """The id of the message that a row is a part of: the client writes one row a content block."""
    return row["message"].get("id") if isinstance(row.get("message"), dict) else None


def read_evidence(rows, contract, end):
    """Evidence from ROWS, what a transcript has gained since it was last read for CONTRACT, up to byte END."""
    finished, unfinished = calls_in(rows)
    known, work, calls, todos, last_work, wakeup = set(contract["calls"]), 0, [], [], -1, None
    for offset, made, call, result in finished:
        key = call_key(call)
        if is_work(call) and key not in known:
            last_work = offset
            work += offset >= contract["prompt_mark"]
        known.add(key)
        calls.append(key)
        todos.extend(todo_changes(call, result))
        if call.get("name") == "ScheduleWakeup" and isinstance(call.get("input"), dict):
            delay = call["input"].get("delaySeconds")
            wakeup = (str(made.get("timestamp") or ""), delay) if type(delay) is int else wakeup
    prompts = [offset for offset, row in rows if is_human(row)]
    holds = [offset for offset, row in rows if is_our_hold(row) and offset >= max(prompts, default=0)]
    made = [offset for offset, row in rows for block in content_of(row) if block.get("type") == "tool_use"]
    texts = [block["text"] for _, row in rows if row.get("type") == "assistant" for block in content_of(row)
             if block.get("type") == "text" and isinstance(block.get("text"), str)]
    return Evidence(
        readable=True, end=end if unfinished is None else unfinished, work=work, calls=tuple(calls), todos=tuple(todos),
        turn_calls=sum(offset >= max(prompts, default=0) for offset in made), text=texts[-1] if texts else None,
        artifacts=tuple(artifacts_in(rows, finished, contract["armed_mark"])), queued=queued_in(rows),
        holds=len(holds), stalled=sum(offset > last_work for offset in holds), wakeup=wakeup)


def artifacts_in(rows, finished, since):
    """"class key" of each pull request opened and formal review submitted after byte SINCE.

    The client's own record comes first; else the call and its successful result. Words about one never count.
    """
    found = []
    for offset, row in rows:
        outcome = row.get("toolUseResult")
        git = outcome.get("gitOperation") if isinstance(outcome, dict) else None
        pr = git.get("pr") if isinstance(git, dict) else None
        if offset >= since and isinstance(pr, dict) and pr.get("action") == "created":
            found.append(f"pr {pr.get('url') or pr.get('number')}")
        elif offset >= since and row.get("type") == "pr-link" and row.get("prUrl"):
            found.append(f"pr {row['prUrl']}")
    for offset, _, call, result in finished:
        kind = shipped_by(call) if offset >= since else ""
        url = pull_url(" ".join(result_texts(result)))
        if kind == "review" or (kind == "pr" and url):
            found.append(f"{kind} {url or call.get('id')}" + (f" {call.get('id')}" if kind == "review" and url else ""))
    return list(dict.fromkeys(found))


def shipped_by(call):
    """The class of artifact that a tool call ships, "" if none."""
    name, given = str(call.get("name")), call.get("input")
    if name.startswith("mcp__") and "git" in name:
        return SHIPPING_TOOLS.get(name.rpartition("__")[2], "")
    command = given.get("command") if name == "Bash" and isinstance(given, dict) else None
    for pipeline in pipelines_in(command) if isinstance(command, str) else ():
        for kind, begins, words in SHIPPING:
            first = pipeline[0]
            if len(pipeline) == 1 and tuple(first[:len(begins)]) == begins and not any(word in DRY for word in first) \
                    and (not words or any(word in words for word in first)):
                return kind
    return ""


def result_texts(row):
    """The texts of a row's tool results."""
    for block in content_of(row):
        content = block.get("content")
        for part in content if isinstance(content, list) else [{"text": content}]:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def pull_url(text):
    """The first address of a pull or merge request in TEXT, "" if there is none."""
    for word in text.split():
        word = word.strip("\"'<>()[],.").partition("?")[0]
        if word.startswith("https://") and "@" not in word and ("/pull/" in word or "/merge_requests/" in word):
            return word
    return ""


def todo_changes(call, result):
    """[(key, text, done)] that a call of the client's to-do tools made; a new list begins with (None, "", False)."""
    given, outcome = call.get("input"), result.get("toolUseResult")
    if not isinstance(given, dict):
        return []
    if call.get("name") == "TodoWrite" and isinstance(given.get("todos"), list):
        entries = [t for t in given["todos"] if isinstance(t, dict) and isinstance(t.get("content"), str)]
        return [(None, "", False)] + [("todo:" + fold(t["content"]), t["content"], t.get("status") == "completed")
                                      for t in entries]
    if call.get("name") == "TaskCreate" and isinstance(outcome, dict) and isinstance(outcome.get("task"), dict):
        return [(f"task:{outcome['task'].get('id')}", str(outcome["task"].get("subject") or ""), False)]
    if isinstance(outcome, dict) and outcome.get("success") is False:
        return []                               # such as an update of a task that is gone
    if call.get("name") == "TaskUpdate" and given.get("status") in ("pending", "in_progress", "completed", "deleted"):
        text = None if given["status"] == "deleted" else str(given.get("subject") or "")
        return [(f"task:{given.get('taskId')}", text, given["status"] == "completed")]
    return []


def queued_in(rows):
    """((time, text), ...) of prompts that a person typed while a turn ran: older clients fire no event for them."""
    queued = []
    for _, row in rows:
        text, extra = row.get("content"), row.get("attachment")
        if row.get("type") == "queue-operation" and isinstance(text, str):
            if row.get("operation") == "enqueue":
                queued.append((str(row.get("timestamp")), text))
            elif row.get("operation") == "remove" and row.get("reason") != "absorbed_mid_turn":
                queued = [entry for entry in queued if entry[1] != text]      # taken back before it was sent
        elif isinstance(extra, dict) and extra.get("type") == "queued_command" and isinstance(extra.get("prompt"), str):
            if not isinstance(extra.get("origin"), dict) or extra["origin"].get("kind") == "human":
                queued.append((str(extra.get("timestamp") or row.get("timestamp")), extra["prompt"]))
    return tuple(queued)


def ran_well(rows, command, since):
    """"" if COMMAND ran as one simple shell command since the time SINCE and its result is no error, else why not."""
    wanted = " ".join(command.split())
    pipelines = pipelines_in(wanted)
    if len(pipelines) != 1 or len(pipelines[0]) != 1 or any(mark in wanted for mark in "<>$`"):
        return "it is no simple command; run it without pipe, redirection or substitution, and name just that"
    words = pipelines[0][0]
    if is_idle(pipelines[0]) or words[0] in FILTERS or "--dry-run" in words:
        return "such a command proves nothing; name the one that does the work or tests it"
    seen = False
    for _, made, call, _ in calls_in(rows)[0]:
        given = call.get("input")
        if call.get("name") != "Bash" or not isinstance(given, dict) or not isinstance(given.get("command"), str):
            continue
        ran = " ".join(given["command"].split())
        if ran == wanted or (ran.startswith("cd ") and ran.partition(" && ")[2] == wanted):
            if str(made.get("timestamp", ""))[:19] >= since[:19] and not given.get("run_in_background"):
                return ""
            seen = True
    return "it ran only before the item was opened, or in the background; run it again" if seen else \
        "the transcript shows no successful run of exactly that command; run it without the pipe, then try again"


def is_human(row):
    """Is this the row of a prompt that the operator typed?"""
    return row.get("type") == "user" and not row.get("isMeta") and row.get("turnOrigin") in ("human", "sdk")


def is_our_hold(row):
    """Is this the row in which the client fed one of our holds back to the model?"""
    return bool(row.get("isMeta")) and row.get("type") == "user" and any(
        HELD in str(b.get("text")) for b in content_of(row))


def failed(result, row):
    """Did a tool result report an error, an interruption or a refusal?"""
    outcome = row.get("toolUseResult")
    return bool(result.get("is_error")) or (isinstance(outcome, dict) and bool(outcome.get("interrupted")))


def call_key(call):
    """A short digest by which a repeated tool call is known."""
    return digest(dump_json([call.get("name"), call.get("input")]), 10)


def is_work(call):
    """Is a finished tool call work: no to-do tool, not waiting, not a command of ours?"""
    if call.get("name") in IDLE_TOOLS:
        return False
    given = call.get("input")
    command = given.get("command") if call.get("name") == "Bash" and isinstance(given, dict) else None
    if not isinstance(command, str):
        return True
    return not all(is_idle(pipeline) for pipeline in pipelines_in(command))


def pipelines_in(command):
    """A shell line as pipelines of simple commands, each a list of words: well enough to see which programs it runs.

    Quotes are respected and dropped; a redirection to a file stays as a word that begins with ">".
    """
    pipelines, words, word, quote, at = [[]], [], None, "", 0
    while at <= len(command):
        c = command[at:at + 1]
        if quote and c:
            quote, word = ("", word) if c == quote else (quote, word + c)
        elif c in ("'", '"'):
            quote, word = c, word or ""
        elif c == "\\":
            at, word = min(at + 1, len(command) - 1), (word or "") + command[at + 1:at + 2]
        elif c == "#" and word is None:
            at = (command + "\n").index("\n", at) - 1
        elif c == "&" and (word or "").endswith(">"):
            word += c                           # 2>&1
        elif c == ">" and word and word.strip("012&>"):
            words, word = [*words, word], c     # a redirection that is glued to the word before it
        elif c in " \t\n;&|()":             # the end is in it too
            words += [word] if word is not None else []
            word = None
            if c not in (" ", "\t"):
                pipelines[-1] += [words] if words else []
                words = []
                if c != "|" or command[at + 1:at + 2] == "|":
                    pipelines += [[]]
        else:
            word = (word or "") + c
        at += 1
    return [pipeline for pipeline in pipelines if pipeline]


OWN_NAMES = (NAME, "session_contract.py", slashed(__file__).rpartition("/")[2])


def is_idle(pipeline):
    """Does a pipeline do nothing that could be work? Writing a file is work."""
    programs = []
    for words in pipeline:
        targets = [word.lstrip("012&>") or following for word, following in zip(words, words[1:] + [""])
                   if word.lstrip("012&").startswith(">")]
        if any(target not in ("", "/dev/null", "/dev/stderr", "/dev/stdout") for target in targets):
            return False
        words = [word for word in words if "=" not in word.partition("/")[0] or word.startswith("-")] or [":"]
        names = [word.rpartition("/")[2] for word in words[:6]]
        ours = any(name in OWN_NAMES for name in (names if names[0].startswith("python") else names[:1])) \
            or words[0].endswith(f"{NAME}-hook/hook")
        programs.append(":" if ours else names[0])
    return programs[0] in IDLE_COMMANDS and all(name in IDLE_COMMANDS or name in FILTERS for name in programs[1:])


# --- reading: schedules --------------------------------------------------------------------------

def cron_wait(schedule, now):
    """Seconds from NOW until the cron line SCHEDULE (local time) fires; None beyond a day or if it is no such line."""
    import time
    try:
        fields = [cron_field(*field) for field in zip(
            schedule.split(), ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7)))]
        minute, hour, day, month, weekday = fields
    except (ValueError, AttributeError):
        return None
    for ahead in range(1, 24 * 60 + 1):
        at = now - now % 60 + 60 * ahead
        t = time.localtime(at)
        if t.tm_min in minute and t.tm_hour in hour and t.tm_mon in month:
            if t.tm_mday in day and ((t.tm_wday + 1) % 7 in weekday or (t.tm_wday == 6 and 7 in weekday)):
                return at - now
    return None


def cron_field(text, bounds):
    """The set of numbers that one field of a cron line names. ValueError if it is none."""
    low, high = bounds
    numbers = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        start, end = (low, high) if span == "*" else (int(first), int(last) if dash else int(first))
        if not low <= start <= end <= high:
            raise ValueError(text)
        if step and not dash and span != "*":
            end = high
        numbers.update(range(start, end + 1, int(step or 1)))
    return numbers


# --- reading: display text ------------------------------------------------------------------------

def filled(text, char=MARK):
    """As many CHARs as TEXT has characters, its lines kept."""
    return "\n".join(char * len(line) for line in text.split("\n"))


def unfenced(text):
    """TEXT with fenced blocks, block quotes and drafts between two rules set aside.

    A bare fence that nothing closes is the second half of a nested one: what follows it is said and stays.
    """
    lines, kept, fence, opened = text.split("\n"), [], "", 0
    draft, lead = False, ""
    for i, line in enumerate(lines):
        bare = line.lstrip(" \t")
        if not fence and bare and not bare.strip("-*_ \r") and len(bare) > 2:     # a rule
            draft = not draft and any(word in lead for word in DRAFTS) and any(
                later.strip() == bare.strip() for later in lines[i + 1:i + 60])
        lead = bare.lower() if bare.rstrip().endswith(":") else lead if not bare.strip() else ""
        aside = bool(fence) or draft or bare.startswith(("```", "~~~", ">"))
        if fence and bare.startswith(fence) and not bare.rstrip().strip(fence[0]):
            fence = ""
        elif not fence and bare.startswith(("```", "~~~")):
            fence, opened = bare[:len(bare) - len(bare.lstrip(bare[0]))], i
        shown = len(line) if not aside and ": > " not in line else 0 if aside else line.index(": > ") + 1
        kept.append(line[:shown] + MARK * (len(line) - shown))      # a quotation may also begin behind a colon
    if fence and not lines[opened].strip().strip(fence[0]):
        kept[opened + 1:] = lines[opened + 1:]
    return "\n".join(kept)


def display(text):
    """TEXT with fences, block quotes, inline code, quotations and comments set aside."""
    text = unfenced(text)
    for _, cheap, pattern in SET_ASIDE:
        if any(mark in "\n" + text for mark in cheap.split("|")):
            import re
            text = re.sub(pattern, lambda m: filled(m.group()), text, flags=re.S)
    return text


# --- reading: a turn-end --------------------------------------------------------------------------

def clean(text):
    """TEXT as patterns see it: lowered, without emphasis marks, white space and set-aside spans as one character."""
    lines = []
    for line in text[-UNIT_AT_MOST:].split("\n"):
        bare = " ".join(line.split())
        if lines and bare[:1].islower() and not is_item(bare):
            lines[-1] += " " + bare
        else:
            lines.append(bare)
    text = "\n".join(lines).strip().lower().replace("\u2019", "'").replace("\u2018", "'").replace("*", "")
    text = (text if text.isascii() else folded(text)).replace("__", "")
    while MARK + MARK in text:
        text = text.replace(MARK + MARK, MARK)
    return text if "\n" in text else " ".join(text.split()).lstrip(BULLETS + "#>\u25b6\u25ba\u2192 ")


def folded(text):
    """TEXT with one spelling for two; as long as before."""
    return text.translate(str.maketrans(*FOLDED))


def is_item(bare):
    """Whether a line opens a list item: a bullet or box, "3." or "a)", or a keycap digit."""
    mark, _, rest = bare.partition(" ")
    mark = mark.strip("*") or mark
    if mark in BULLETS or not rest and "\u3001" not in mark:
        return bool(rest) and len(mark) == 1
    if "\u3001" in mark[:3] or mark.endswith("\u20e3"):
        return mark[0].isdigit()
    core = mark.strip("(").rstrip(".)")
    return mark != core and core.isalnum() and (core.isdigit() and len(core) < 4 or len(core) == 1)


def line_kind(line):
    """What one line is: blank, aside (wholly set aside), rule, heading, table, item or prose."""
    bare = line.strip()
    if not bare:
        return "blank"
    if not bare.strip(MARK):
        return "aside"
    if not bare.strip("-*_=\u2500\u2501 "):
        return "rule"
    if bare.startswith("#") and bare.lstrip("#").startswith(" "):
        return "heading"
    if bare.startswith("|"):
        return "table"
    if bare.startswith("**") and bare.rstrip(":\uff1a").endswith("**") and bare.count("**") == 2 and len(bare) < 120:
        return "heading"
    return "item" if is_item(bare) else "prose"


def blocks_of(text):
    """Blocks (kind, start, end) of a display text; a wrapped item is one block, so is a paragraph."""
    blocks, at, open_block = [], 0, False
    for line in text.split("\n"):
        kind, end = line_kind(line), at + len(line)
        last = blocks[-1] if open_block else ("", 0, 0)
        wraps = kind == "prose" and (last[0] == "prose" or last[0] == "item" and line[:1] in " \t")
        if wraps or kind == last[0] == "table":
            blocks[-1] = (last[0], last[1], end)
        elif kind != "blank":
            blocks.append((kind, at, end))
        open_block = kind in ("prose", "item", "table")
        at = end + 1
    return blocks


def ends_here(text, at, begin, end):
    """The offset after a sentence that ends at TEXT[at], or 0 if none does."""
    char, stop = text[at], at + 1
    if char == "\n":
        return 0 if text[stop:end].lstrip(" \t")[:1].islower() else stop
    if char in "\u3002\uff01\uff1f":
        return stop
    while stop < end and stop < at + 5 and text[stop] in CLOSERS:
        stop += 1
    if stop < end and not text[stop].isspace():
        return 0
    words = text[max(begin, at - 8):at + 1].lower().split()
    return 0 if words and words[-1].lstrip("(") in NOT_AN_END else stop


def sentences_of(text, start, end):
    """Sentences (start, end) of TEXT between two offsets: by their end marks, and by lines that do not wrap."""
    found, begin = [], start
    for at in range(start, end):
        stop = ends_here(text, at, begin, end) if text[at] in ".!?\n\u2026\u3002\uff01\uff1f" else 0
        if stop or at == end - 1:
            piece = text[begin:stop or end]
            bare = piece.strip()
            if any(c.isalnum() or c == MARK for c in bare):
                first = begin + piece.index(bare[0])
                found.append((first, first + len(bare)))
            begin = stop or end
    return found


def structure(text):
    """The shape of a display text: {"blocks": [(kind, start, end)], "sentences": [(start, end, block)],
    "lists": [(first block, last block)], "prose": [block]}; a list begins with the line that leads it in."""
    blocks, sentences, lists, prose = blocks_of(text), [], [], []
    for i, (kind, start, end) in enumerate(blocks):
        if kind in ("prose", "item", "heading"):
            sentences.extend((a, b, i) for a, b in sentences_of(text, start, end))
        if kind == "prose":
            prose.append(i)
        if kind == "item" and lists and lists[-1][1] == i - 1:
            lists[-1] = (lists[-1][0], i)
        elif kind == "item":
            lists.append((i - 1 if i and blocks[i - 1][0] in ("prose", "heading") else i, i))
    return {"blocks": blocks, "sentences": sentences, "lists": lists, "prose": prose}


def units_by_scope(text, shape):
    """{scope: [(start, end)]} for every scope of the table above."""
    blocks, sentences, prose, lists = shape["blocks"], shape["sentences"], shape["prose"], shape["lists"]
    closing, ending = (prose[-1] if prose else 0), (prose[-3] if len(prose) > 2 else 0)
    leads = {a for a, b in lists if blocks[a][0] != "item"}
    last_of = {s[2]: s[:2] for s in sentences}
    final = [s[:2] for s in sentences[-1:]]
    lead = lists[-1][0] if lists and sentences and lists[-1][1] == sentences[-1][2] else -1
    short = len(text) <= 320 and len(sentences) <= 3 and not lists and sentences
    return {
        "final": final,
        "last": final + ([last_of[lead]] if lead in leads and lead in last_of else []),
        "paragraph": [s[:2] for s in sentences if s[2] == closing],
        "closing": [s[:2] for s in sentences if s[2] >= closing],
        "ending": [s[:2] for s in sentences if s[2] >= ending],
        "anywhere": [s[:2] for s in sentences],
        "heading": [b[1:] for b in blocks if b[0] == "heading"],
        "lead-in": [last_of[a] for a in sorted(leads) if a in last_of],
        "list": [(blocks[a][1], blocks[b][2]) for a, b in lists],
        "last-list": [(blocks[a][1], blocks[b][2]) for a, b in lists if b >= ending],
        "parts": [b[1:] for b in blocks if b[0] == "table"] + [(blocks[a][1], blocks[b][2]) for a, b in lists],
        "whole": [(sentences[0][0], sentences[-1][1])] if short else []}


def has(needs, text):
    """Whether a literal of each group, parted by "&", is in TEXT; a group parts its literals by "|".

    A literal that begins with "^" must open TEXT: what is plain enough for that needs no pattern to be compiled.
    """
    for group in needs.split("&"):
        for need in group.split("|"):
            if need in text or need[0] == "^" and text.startswith(need[1:]):
                break
        else:
            return False
    return True


def search(pattern, unit):
    """Whether PATTERN is found in UNIT; it is compiled once, here, since a replay has more of them than re keeps."""
    import re
    if pattern not in COMPILED:
        whole = pattern
        for name, piece in SHARED_PARTS if "{" in pattern else ():
            whole = whole.replace(name, piece)
        COMPILED[pattern] = re.compile(whole).search
    return COMPILED[pattern](unit) is not None


def fires(row, unit):
    """Whether one cue of ROW is found in a cleaned unit."""
    return any(has(needs, unit) and (not pattern or search(pattern, unit)) for needs, pattern in row[3])


def may_fire(row, text):
    """Whether a literal of ROW is anywhere in TEXT: the cheap test that spares the rest."""
    return any(has(needs.replace("^", ""), text) for needs, _ in row[3])      # a unit may begin anywhere in it


class Reading:
    """One message, cut up once; cleaned spans are kept, since many rules look at the same sentence."""

    def __init__(self, message):
        self.text = display(message)
        self.shape = structure(self.text)
        self.spans = units_by_scope(self.text, self.shape)
        self.cleaned = {}

    def clean(self, span):
        """The cleaned text of SPAN."""
        if span not in self.cleaned:
            self.cleaned[span] = clean(self.text[span[0]:span[1]])
        return self.cleaned[span]

    def find(self, row):
        """Spans of the units in which a rule fires, the last ones first."""
        for span in reversed(self.spans.get(row[2].rstrip("?"), ())):
            unit = self.clean(span)
            if (row[2][-1] != "?" or "?" in unit or "\uff1f" in unit) and fires(row, unit):
                yield span

    def around(self, span, scope):
        """The span that an excuse of SCOPE looks at, for a hit at SPAN."""
        if scope == "message":
            return 0, len(self.text)
        if scope == "ending":
            return (self.spans["ending"][0][0], len(self.text)) if self.spans["ending"] else span
        sentences = self.shape["sentences"]
        inside = [i for i, s in enumerate(sentences) if s[0] < span[1] and s[1] > span[0]] if scope == "near" else ()
        if inside:
            return sentences[max(0, inside[0] - 2)][0], sentences[min(len(sentences) - 1, inside[-1] + 1)][1]
        groups = self.spans["list"] + [b[1:] for b in self.shape["blocks"]] if scope == "list" else ()
        return next(((a, b) for a, b in groups if a <= span[0] and span[1] <= b), span)

    def excuse(self, row, span, excuses):
        """The id of the first excuse of a rule that holds for a hit at SPAN, or ""."""
        unless = row[4].split()
        for other in excuses:
            named = other[0] in unless or other[0].split(".")[0] in unless
            if named and fires(other, self.clean(self.around(span, other[2]))):
                return other[0]
        return ""


def looks_other(low):
    """Whether lowered text may be in another language than English."""
    return any(char > "\x7f" and char.isalpha() for char in set(low)) or has(OTHER_WORDS, " " + low)


def tail_of(message):
    """(offset, text): the part that is read. A fence that is open at the cut is opened again."""
    if len(message) <= READ_AT_MOST:
        return 0, message
    cut = len(message) - READ_AT_MOST
    line = message.find("\n", cut, cut + READ_AT_MOST // 2) + 1
    cut = line or cut
    if ("\n" + message[:cut]).count("\n```") % 2:
        return cut - 4, "```\n" + message[cut:]
    return cut, message[cut:]


def own_hits(reading, own):
    """Hits of the operator's own literal phrases: {family: [phrases]}."""
    text = reading.text.lower()
    for family in FAMILIES if own else ():
        for phrase in own.get(family, ()):
            at = text.rfind(phrase.lower()) if phrase.strip() else -1
            if at >= 0:
                yield ("own." + family, family, at, at + len(phrase))


def judge(reading, rules, excuses, calls, whole):
    """(hits, excused, advisory) of RULES over a reading; at most 20 spans a rule.

    Unless the WHOLE reading is wanted, it ends with the first hit that nothing can lift: the turn is held anyway, and
    each further rule may cost a pattern to compile.
    """
    hits, excused, advisory = [], [], []
    for row in rules if whole else sorted(rules, key=lambda row: row[1] in LIFTED):
        if not whole and hits and hits[-1][1] not in LIFTED:
            break
        for count, span in enumerate(reading.find(row)):
            by = reading.excuse(row, span, excuses)
            weak = row[0] in ADVISORY and not (calls == 0 and row[1] == "continuing")
            (excused if by else advisory if weak else hits).append((row[0], row[1]) + span + ((by,) if by else ()))
            if count == 19:
                break
    return hits, excused, advisory


def lifted(reading, hits, excused, excuses):
    """(hits, excused, blocker, waits) after what only a person can lift, and what is waited for, is taken in."""
    at = reading.spans["final"][0] if reading.spans["final"] else (0, len(reading.text))
    kinds = ("blocker", "waits") if hits else ("waits",)
    marks = [e for e in excuses if e[1] in kinds and fires(e, reading.clean(reading.around(at, e[2])))]
    blocker = next((e[0] for e in marks if e[1] == "blocker"), "")
    if blocker:
        excused = excused + [h + (blocker,) for h in hits if h[1] in LIFTED]
        hits = [h for h in hits if h[1] not in LIFTED]
    return hits, excused, blocker, any(e[1] == "waits" for e in marks)


def read_turn(message, calls=None, own=None, off=(), whole=True):
    """What MESSAGE, the last one of a turn, says against its own ending. Pure. WHOLE: look for all that it says.

    {"hits": ((rule id, family, start, end), ...), "excused": ((..., excuse id), ...), "advisory": as hits,
    "blocker": id of what only a person can lift or "", "waits": whether it says that it waits for something running}
    """
    offset, tail = tail_of(message or "")
    low = tail.lower().replace("\u2019", "'").replace("*", "")
    other = looks_other(low)
    low = " ".join((folded(low) if other else low).split())
    rules = [row for row in RULES + (RULES_OTHER if other else ()) if row[0] not in off and may_fire(row, low)]
    excuses = EXCUSES + (EXCUSES_OTHER if other else ())
    if not rules and not own and not any(e[1] == "waits" and may_fire(e, low) for e in excuses):
        return {"hits": (), "excused": (), "advisory": (), "blocker": "", "waits": False}
    reading = Reading(tail)
    hits, excused, advisory = judge(reading, rules, excuses, calls, whole)
    hits.extend(own_hits(reading, own))
    hits, excused, blocker, waits = lifted(reading, hits, excused, excuses)
    if not hits and not blocker:
        person = [e[0] for e in excuses if e[1] == "person"]
        blocker = next((e[4] for e in excused if e[4] in person), "")
    rows = {"hits": hits, "excused": excused, "advisory": advisory}
    result = {key: tuple((r[0], r[1], r[2] + offset, r[3] + offset) + r[4:] for r in rows[key]) for key in rows}
    result.update(blocker=blocker, waits=waits)
    return result


# --- reading: a prompt ----------------------------------------------------------------------------

def human_part(text):
    """TEXT with what the client wrapped around it blanked in place; "" where nothing of a person's is left."""
    if text.lstrip().startswith(MACHINE_PREFIXES):
        return ""
    if text.lstrip().startswith("[Request interrupted by user"):
        text = filled(text[:text.find("]") + 1], " ") + text[text.find("]") + 1:]
    for tag in MACHINE_TAGS.split("|") if "<" in text else ():
        start = text.find("<" + tag)
        while start >= 0:
            close = text.find("</" + tag + ">", start)
            end = len(text) if close < 0 else close + len(tag) + 3
            text = text[:start] + filled(text[start:end], " ") + text[end:]
            start = text.find("<" + tag, end)
    return text if text.strip() else ""


def plain(text):
    """Lower case, plain quotes, full-width forms as ASCII: character by character, so that offsets stay true."""
    if text.isascii():
        return text.lower()
    table = {0xff01 + i: 0x21 + i for i in range(94)}
    table.update({0x3000: " ", 0xa0: " ", 0x2019: "'", 0x2018: "'", 0x2bc: "'", ord(MARK): SHOWN})
    text = text.translate(table)
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def present(needs, low):
    """True if one of the literals of NEEDS ("a|b&c": a, or both b and c) stands in LOW."""
    for need in needs.split("|"):
        if need in low or "&" in need and all(word in low for word in need.split("&")):
            return True
    return False


def candidates(low, gated):
    """The rules that may hold for the text LOW, by their needs alone."""
    low, found = "\n" + low.lstrip(), []
    for rule in INTENT_RULES:
        read = low[:200] if rule[1] in ("whole", "first") else low
        if (gated or rule[0][:3] == "arm") and (rule[1] != "whole" or read == low) and present(rule[2], read):
            found.append(rule)
    return found


def may_matter(text, gated, own=None):
    """A cheap test, without re: may TEXT hold an intent that matters (GATED: the session has a contract)?"""
    low = plain(human_part(text))
    return low.lstrip().startswith(CALLS) or bool(candidates(low, gated) or own_phrases(low, gated, own))


def own_phrases(low, gated, own):
    """The operator's own literal phrases (OWN: intent to phrases) that stand in LOW as whole words, as hits."""
    found = []
    for intent, said in [(i, plain(p.strip())) for i in own or () if gated or i == "arm" for p in own[i] if p.strip()]:
        at = low.find(said)
        while at >= 0 and said.isascii() and any(c.isalnum() for c in low[at - 1:at] + low[at + len(said):][:1]):
            at = low.find(said, at + 1)
        if at >= 0:
            found.append(("own." + intent, intent, at, at + len(said), at))
    return found


def read_prompt(text, gated, own=None, off=()):
    """What TEXT means: a dict of intent, rule, condition, items, budget, command, question, start, end, excused.

    OWN maps an intent to literal phrases of the operator's; OFF holds ids of rules that are switched off.
    """
    answer = dict(NOTHING_HEARD)
    text = human_part(text)
    command = read_command(text)
    if command:
        return dict(answer, intent="command", command=command, end=len(text))
    text, moved = ends_of(text)
    low = judged(text)
    parts = sentences(low)
    hits, excused = find_hits(low, parts, [rule for rule in candidates(low, gated) if rule[0] not in off])
    hits = sorted(hits + own_phrases(low, gated, own), key=lambda hit: hit[2:4])
    answer["question"] = is_question(low, parts)
    answer["excused"] = tuple((rule, moved(a), moved(b), why) for rule, a, b, why in excused)
    if hits:
        rule, intent, start, end, _ = hits[-1]
        answer.update(intent=intent, rule=rule, start=moved(start), end=moved(end))
    if answer["intent"] == "arm":
        answer.update(terms(text, low, parts, [hit for hit in hits[::-1] if hit[1] == "arm"]))
    return answer


def read_command(text):
    """The words of a prompt that begins as one of CALLS; () for any other prompt."""
    bare = text.strip()
    low = plain(bare[:40])
    size = max(low.startswith(head) and len(head) for head in CALLS)
    if not size or low[0] == "/" and low[size:size + 1].strip(": "):
        return ()
    words = bare[size:].lstrip(":\uff1a ").split("\n")[0].split()
    verb = plain(words[0]).strip(".!,;:\u3002") if words else "status"
    if verb == "arm":
        skip = 2 if plain(" ".join(words[1:2])) in ("until", "till", "unless") else 1
        return (verb, shortened(" ".join(words[skip:])))
    verb = "stop" if verb == "disarm" else verb
    return (verb,) if verb in CONTRACT_WORDS else ("?", words[0][:40])


def ends_of(text):
    """The part of TEXT that is read, and a function from its offsets to TEXT's own."""
    if len(text) <= READ_HEAD + READ_TAIL:
        return text, int
    gone = len(text) - READ_HEAD - READ_TAIL
    # A fence that was opened or closed in what is left out, or cut, is put back: the tail is read as it stands.
    joint = "\n```\n" if text.count("\n```", READ_HEAD - 8, len(text) - READ_TAIL + 3) % 2 else "\n" * 5
    return text[:READ_HEAD - 5] + joint + text[-READ_TAIL:], lambda at: at if at < READ_HEAD else at + gone


def judged(text):
    """TEXT as it is judged: what is only shown set aside, then in plain letters. As long as TEXT."""
    bare = text.strip()
    if len(bare) < 60 and bare[:1] in ("\"", "'", "\u201c", "\u300c") and bare[1:-1].isalpha():
        return plain(text.replace(bare, " " + bare[1:-1] + " "))     # nothing but one quoted word: that word
    low = plain(display(text))
    if "\n|" in "\n" + low:
        low = "\n".join(SHOWN * len(line) if line[:1] == "|" else line for line in low.split("\n"))     # a table
    if "</" not in low:
        return low
    import re
    at, missing = 0, set()
    for m in re.finditer(r"<([a-z][\w-]{0,40})(?: [^<>\n]{0,200})?>", low):
        close = low.find("</" + m[1] + ">", m.end()) if m.start() >= at and m[1] not in missing else -1
        if close < 0:
            missing.add(m[1])
        else:
            low, at = low[:m.start()] + filled(low[m.start():close], SHOWN) + low[close:], close
    return low


def sentences(low):
    """(start, end, end with its mark) of each sentence or line that has words of its own. (No re: most need none.)"""
    found, at, here = [], 0, 0
    while here <= len(low):
        stop = past_mark(low, here) if here < len(low) else here
        if stop > here or here == len(low):
            if low[at:here].strip(" \t\r\n" + SHOWN):
                found.append((at, here, stop))
            at = stop
        here = max(stop, here + 1)
    return found


def past_mark(low, at):
    """Where the mark ends that closes a sentence at AT; AT if there is none."""
    marks = next((marks for marks in (".!?", "\u2026\u3002\n", ";") if low[at] in marks), "")
    stop = at
    while stop < len(low) and low[stop] in marks:
        stop += 1
    after = low[stop:stop + 1]
    closes = "\n" in marks or not after or after.isspace() or after > "\x7f" or (marks == ".!?" and after in ")\"'*")
    return stop if closes or low[at:stop].startswith("..") else at


def compiled(pattern):
    """PATTERN with its named pieces put in, compiled."""
    import re
    for name, piece in PROMPT_PIECES if "%" in pattern else ():
        pattern = pattern.replace("%" + name + "%", piece)
    return re.compile(pattern)


def find_hits(low, parts, rules):
    """(rule, intent, start, end, at) for each hit of RULES, and what looked like one: (rule, start, end, excuse)."""
    hits, excused, cache = [], [], {}
    for rule in rules:
        # A second rule of the same intent adds nothing to a sentence, and compiling it is dear.
        intent = rule[0].split(".")[0]
        same = [hit[2] for hit in hits if hit[1] == intent]
        left = [p for p in parts if not any(p[0] <= start < p[1] for start in same)] if same else parts
        if same and not any(present(rule[2], "\n" + low[p[0]:p[2]]) for p in left):
            continue
        for part, start, end, at in rule_spans(rule, low, parts):
            why = excuse_of(rule[0], low, part, (start, at, end), cache)
            if why:
                excused.append((rule[0], start, end, why))
            else:
                hits.append((rule[0], intent, start, end, at))
    return hits, excused


def rule_spans(rule, low, parts):
    """(sentence, start, end, where the pattern begins) for each sentence in which RULE's pattern holds in its scope."""
    scope, edge = rule[1], "" if rule[2][0] > "\u2e80" else r"\b"        # Chinese and its like have no word boundary
    verbs = next((words for name, words in VERBS if name == scope), "")
    if verbs and not any("|" + word.strip(",.:;") in verbs for word in low.split()):
        return []
    pattern = compiled(edge + "(?:" + rule[3] + ")" + (r"(?=\W*\Z)" if scope == "whole" else ""))
    if scope == "cues":
        return cue_spans(pattern, low, parts)
    if scope == "prompt":
        m = pattern.search(low)
        at = m and max(m.start(n) for n in range(pattern.groups + 1))
        return [(part, at, m.end(), at) for part in parts if m and part[0] <= at < part[1]]
    found = []
    for part in parts[:2] if scope in ("whole", "first") else parts:
        at, end = part[0], len(low) if scope == "whole" else part[2]
        for _ in range(50):                            # a sentence that repeats one word is not read to its end
            m = pattern.search(low, at, end)
            if not m:
                break
            start = placed(low, part[0], parts[0][0], m.start(), scope, verbs)
            if start >= 0:
                found.append((part, start, m.end(), m.start()))
                break
            at = m.start() + 1
    return found


def cue_spans(pattern, low, parts):
    """As rule_spans, for a pattern whose groups are kinds of cues: two of different kinds must stand close together."""
    last, found = {}, []
    for m in pattern.finditer(low):
        near = [at for kind, (at, end) in last.items() if kind != m.lastindex and m.start() - end < 200
                and (1 in (kind, m.lastindex) or kind + m.lastindex == 5)]
        if near and not found:
            at = min(near)
            found = [(part, at, m.end(), at) for part in parts if part[0] <= at < part[2]]
        last[m.lastindex] = m.span()
    return found


def placed(low, start, first, at, scope, verbs):
    """Where the order begins whose words stand at AT in the sentence at START, if SCOPE wants them there; else -1."""
    if scope in ("whole", "first", "start", "clause"):
        return at if led(low, first if scope in ("whole", "first") else start, at, scope == "clause") else -1
    place = max(start, at - 160)
    words = [word.rstrip(",") for word in low[place:at + 12].split(" ")]
    for n, word in enumerate(words[:-1] if verbs else ()):
        verb = "|" + word + "|" in verbs or "|" + word + " " + words[n + 1] + "|" in verbs
        if verb and place < at and words[n + 1] != "not":
            if led(low, start, place, True):
                return place
        place += len(word) + 1 + (low[place + len(word):place + len(word) + 1] == ",")
    return -1 if verbs else at


def led(low, start, at, clause):
    """True if only openers stand between START and AT; with CLAUSE, if they reach back to where a clause begins."""
    text, joined = low[max(start, at - 90):at], False
    while True:
        bare = text
        while bare and not bare[-1].isalnum():
            bare = bare[:-1]
        gap = text[len(bare):]
        if not bare:
            return at - 90 <= start
        if clause and (any(mark in gap for mark in ",:(\u3001\u2013\u2014\u2192") or " -" in gap):
            return True
        words = bare.split()[-5:]
        tails = [" ".join(words[n:]) for n in range(len(words))]
        word = next((tail for tail in tails if "|" + tail + "|" in OPENERS and bare.endswith(tail)), "")
        word = word or next((tail for tail in CJK_OPENERS.split("|") if bare.endswith(tail)), "")
        if not word and words[-1].isdigit() and gap.startswith((".", ")")):
            word = words[-1]                           # the number of a list's entry
        if not word:
            return clause and joined
        joined, text = "|" + word + "|" in JOINS, bare[:-len(word)]


def excuse_of(rule, low, part, place, cache):
    """The id of the first excuse for RULE that holds at PLACE in the sentence PART."""
    start, at, end = place
    line = low.rfind("\n", 0, start) + 1
    mark = low[line:start].split(" ")[0].rstrip(".)")
    entry = line if mark.isdigit() or mark in ("-", "*", "+", "\u2022") else 0    # "list": what stands above an entry
    where = {"before": (part[0], start), "within": (start, at), "upto": (part[0], at), "after": (end, part[1]),
             "line": (line, start), "list": (0, entry), "sentence": (part[0], part[2]), "prompt": (0, len(low))}
    for name, of, needs, scope, pattern, _ in INTENT_EXCUSES:
        if rule.startswith(tuple(of.split(" "))):
            a, b = where[scope]
            if a < b and present(needs, low[a:b]):
                regex = cache[name] = cache.get(name) or compiled(pattern)
                if (regex.search if scope in ("before", "upto", "prompt", "list") else regex.match)(low, a, b):
                    return name
    return ""


def terms(text, low, parts, arms):
    """Condition, items and budget of the arming clauses ARMS, the deciding one first."""
    found = {"condition": "", "items": (), "budget": None}
    for _, _, start, end, at in arms:
        part = next((p for p in parts if p[0] <= start < p[2]), (start, end, end))
        a, b = condition_span(low, part, start, end, at)
        found["budget"] = found["budget"] or budget(low, part)
        found["items"] = found["items"] or items(text, low, part)
        timed = low[a:b].startswith(("noon", "midn")) or low[a:a + 1].isdigit()
        if not (timed and found["budget"] and found["budget"][0] == "until"):
            found["condition"] = found["condition"] or shortened(text[a:b])
    return found


def condition_span(low, part, start, end, at):
    """Where the condition stands of the arming clause at START whose pattern spans AT to END: (a, b), empty if none."""
    head, cut, _ = low[at:end].rpartition(" before you ")
    if cut:
        return part[0], at + len(head)
    for first, last in ((at, part[1]), (part[0], start)):
        found = [compiled(pattern).search(low, first, last) for needs, pattern in CONNECTIVES
                 if present(needs, low[first:last])]
        best = min((m for m in found if m), key=lambda m: m.start(), default=None)
        if best:
            a = best.end()
            if last == start:       # put first: it ends where the order begins, behind the last of these
                cuts = [low.rfind(word, a, last) for word in (",", "\u3001", " and ")]
                last = max(cuts) if max(cuts) > 0 else last
            else:
                ends = CJK_TRAILING if best[0] > "\u4e00" else TRAILING
                m = present(ends[0], low[a:last]) and compiled(ends[1]).search(low, a, last)
                last = m.start() if m else last
            return a, a + len(low[a:last].rstrip(" \t,:.!\u3001"))
        for needs, pattern in POSTPOSED:
            m = present(needs, low) and compiled(pattern).search(low, part[0], end)
            if m:
                a = max(low.rfind(c, part[0], m.start()) for c in ",\u3001") + 1 or part[0]
                return m.start() - len(low[a:m.start()].lstrip()), m.start()
    return 0, 0


def shortened(text):
    """TEXT as one line of at most CONDITION_MAX characters, cut at a word."""
    text = " ".join(text.split()).rstrip(" ,:;")
    if len(text) <= CONDITION_MAX:
        return text
    short = text[:CONDITION_MAX - 1]
    return (short[:short.rfind(" ")] if " " in short[100:] else short) + "\u2026"


def items(text, low, part):
    """The open entries of a Markdown list that begins right after the sentence PART, if that ends with a colon."""
    if not low[part[0]:part[1]].rstrip().endswith(":"):
        return ()
    found, entry = [], compiled(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+(\[[ xX]\]\s+)?(\S.*)")
    for line in text[part[1]:].split("\n"):
        m = entry.match(line)
        if m:
            found.append("" if m[1] and "x" in m[1].lower() else m[2])
        elif line.strip() and found and line[0] in " \t":
            found[-1] = found[-1] and found[-1] + " " + line.strip()
        elif line.strip():
            break
    return tuple(shortened(entry) for entry in found[:100] if entry)


def budget(low, part):
    """("for", seconds) or ("until", "HH:MM") if the sentence names how long to work; else None."""
    span = low[part[0]:part[1]]
    for pattern in LASTS if present(TIME_WORDS, span) else ():
        m = compiled(pattern).search(span)
        number = m and number_of(m[1])
        if number:
            return ("for", int(number * (60 if m[2][0] in "mм分분" else 3600)))
    m = ("noon" in span or "midn" in span or any(c.isdigit() for c in span)) and compiled(CLOCK).search(span)
    if not m or not m[1] and not m[3] and m[4] is None:
        return None
    half, minute = (m[4] or "-")[0], int(m[3] or 0)
    hour = {"n": 12, "m": 0}[m[1][0]] if m[1] else int(m[2]) % (12 if half in "ap" else 99) + 12 * (half == "p")
    return ("until", f"{hour:02}:{minute:02}") if hour < 24 and minute < 60 else None


def number_of(word):
    """The number that WORD writes in digits or letters, or 0."""
    if word[0].isdigit():
        return float(word.replace(",", "."))
    return next((n for names, n in NUMBERS if word in names.split()), 0)


def is_question(low, parts):
    """True if the prompt asks and orders nothing."""
    if not parts:
        return False
    start, end, past = parts[-1]
    words = [word.strip(",.!?:") for word in low[start:end].split(None, 12)[:12]]
    while words and "|" + words[0] + "|" in OPENERS:
        words.pop(0)
    asking = any("|" + " ".join(words[:n]) + "|" in LEAVE for n in (1, 2, 3, 4))
    if words and words[0] in ("can", "could", "would", "will") and not asking:
        return False                                   # "can you fix it?" asks for work, not for an answer
    if "?" in low[end:past] or low[start:end].rstrip().endswith(("吗", "呢", "か", "까")):
        return True
    return len(parts) == 1 and asking


# --- deciding ------------------------------------------------------------------------------------

ASKING = ("permission", "menu", "your-call")    # families that an escalation or a dialogue may excuse


class Case(Record):
    """What a step of the decision looks at."""

    fields = {"contract": None, "stop": None, "evidence": None, "settings": None, "now": 0, "progress": False}


def absorb(contract, evidence, settings, now):
    """CONTRACT with what the transcript has gained: work, calls seen, and the client's own to-do list as items."""
    if not evidence.readable:
        return contract
    after = {**contract, "prompt_mark": 0 if evidence.anew else contract["prompt_mark"],
             "read_to": evidence.end, "work": contract["work"] + evidence.work,
             "worked": contract["worked"] or evidence.work > 0,
             "host_run": 0 if evidence.calls else contract["host_run"],
             "wakeup": wakes_at(*evidence.wakeup, now) if evidence.wakeup else contract["wakeup"],
             "artifacts": contract["artifacts"] + [a for a in evidence.artifacts if a not in contract["artifacts"]
                                                   and a not in contract["shipped"]],
             "calls": (contract["calls"] + [call for call in evidence.calls if call not in contract["calls"]]
                       )[-LIMITS["calls"]:]}
    return follow_todos(after, evidence.todos, now) if settings.todo else after


def at_transcript(contract, path):
    """CONTRACT for an event with the transcript at PATH: another one than before has not been read at all."""
    if contract["transcript"] in ("", path) or not isinstance(path, str) or not path:
        return contract
    return {**contract, "transcript": path, "read_to": 0, "prompt_mark": 0}


def follow_todos(contract, changes, now):
    """The client's to-do list in the ledger. An entry that a hold has named stays until it is completed or waived."""
    items, number = list(contract["items"]), contract["next_item"]
    for key, text, done in changes:
        if key is None or text is None:         # a new list, or an entry deleted: what no hold has named goes
            items = [item for item in items if item.get("held") or item["state"] != OPEN
                     or not (item.get("key") == key if key else item.get("key", "").startswith("todo:"))]
            continue
        place = next((i for i, item in enumerate(items) if item.get("key") == key), None)
        if place is not None:
            if done and items[place]["state"] == OPEN:
                ticked = {"kind": "todo", "value": "completed in the client's list", "verified": False}
                items[place] = {**items[place], "state": DONE, "closed_at": now, "evidence": [ticked]}
        elif not done and text:
            items.append({"id": f"i{number}", "text": one_line(text), "state": OPEN, "source": "todo", "key": key,
                          "opened_at": now})
            number += 1
    ticked = [item["id"] for item in items if item["state"] == DONE and not proved(item)][:-LIMITS["ticked"]]
    return {**contract, "items": [item for item in items if item["id"] not in ticked], "next_item": number}


def decide(contract, stop, evidence, settings, now, malformed=""):
    """The Verdict on a Stop of a session whose contract is live. MALFORMED names the fault of an unreadable one.

    The order of the steps is the policy: the first that answers decides, and if none does the turn is held.
    A verdict of class CHECK asks for the operator's check to be run, and for a decision with what it said.
    """
    case = Case(contract=contract, stop=stop, evidence=evidence, settings=settings, now=now,
                progress=made_progress(contract, stop, evidence))
    *steps, bounds = MODES[contract["mode"]]
    steps = (bounds,) if malformed else (step_host, step_paused, step_budget, *steps, bounds)
    found = next(filter(None, (step(case) for step in steps)), None) or Verdict(
        cls="BLOCK-MALFORMED" if malformed else "BLOCK", why=malformed or owed_why(case))
    if found.cls == "BLOCK":
        found = bounds(case) or found           # a step that holds is bounded like any other hold
    return found.replace(rules=tuple(hit[0] for hit in stop.hits), progress=case.progress,
                         owed=tuple(item["id"] for item in items_in(contract, OPEN)))


def next_contract(contract, stop, verdict, now):
    """The contract after VERDICT; CONTRACT itself if nothing changed."""
    after = {**contract, "wait_for": "", "waiting": {}, "checking": 0}
    if verdict.progress:
        after.update(streak=0, degraded=False, tickets=[])
    if verdict.holds or verdict.tickets:
        after.update(work=0, message=digest(fold(stop.message or "")))
    if verdict.holds:
        after.update(streak=after["streak"] + 1, blocks=after["blocks"] + 1, block_at=now,
                     told=with_told(contract, "claim" if verdict.why == UNCLAIMED else "policy"),
                     plan_held=contract["plan_held"] or stop.mode == "plan",
                     items=[{**item, "held": True} if item["state"] == OPEN else item for item in contract["items"]])
        after.update(host_run=after["host_run"] + 1, boundary_blocks=after["boundary_blocks"] + 1,
                     owed=fingerprint(contract))
        if contract["mode"] == "away":
            after["standing"] = "stopped" if verdict.last else "working"
    elif verdict.cls in ENDS:
        after.update(state=ENDS[verdict.cls], changed_at=now)
    elif verdict.cls == "ALLOW-DEGRADED":
        after["degraded"] = True
    elif verdict.cls == "ALLOW-CLEAN":
        after["told"] = with_told(contract, "clean")
    elif verdict.cls in ("MATERIAL-ALLOW", "CLEAN-TERMINAL-ALLOW"):
        after.update(boundary_at=now, boundary_blocks=0, artifacts=[], shipped=(
            contract["shipped"] + contract["artifacts"])[-200:])
    elif verdict.cls == "ALLOW-WAITING":
        after["standing"] = "waiting"
        after["waiting"] = {"what": verdict.waits, "at": now, "until": verdict.until}
    after["tickets"] = after["tickets"] + [t for t in verdict.tickets if t not in after["tickets"]]
    crons = [digest(c["prompt"]) for c in stop.crons if isinstance(c.get("prompt"), str)]
    after["crons"] = [d for d in contract["crons"] if d not in crons][-50:] + crons[-50:]
    return contract if after == contract else after


def notice_of(contract, verdict):
    """The word of NOTICES for VERDICT, given the contract before it; "" where there is none, or it was told already."""
    again = {"ALLOW-DEGRADED": contract["degraded"] and not verdict.progress, "BLOCK": not verdict.last,
             "ALLOW-WAITING": contract["waiting"] and not set(verdict.tickets).difference(contract["tickets"])}
    return "" if contract["state"] not in LIVE or again.get(verdict.cls) else NOTICES.get(verdict.cls, "")


ENDS = {"ALLOW-MET": MET, "ALLOW-BUDGET": SPENT}      # classes after which the contract binds no more


def with_told(contract, notice):
    return contract["told"] if notice in contract["told"] else contract["told"] + [notice]


def items_in(contract, *states):
    return [item for item in contract["items"] if item["state"] in states]


def made_progress(contract, stop, evidence):
    """Was there work since the last hold? The client's stop_hook_active cannot tell."""
    if any(proved(item) and item.get("closed_at", 0) >= contract["block_at"] > 0 for item in items_in(contract, DONE)):
        return True
    if evidence.readable:
        return contract["work"] > 0
    return digest(fold(stop.message or "")) != contract["message"]


def proved(item):
    """Was an item closed with evidence, the client's own tick aside?"""
    return any(e.get("kind") != "todo" for e in item.get("evidence", ()))


def owed_why(case):
    """What a hold says beside the families and items that it names."""
    if case.contract["wait_for"]:
        return f"the wait for {case.contract['wait_for']} is void: the client reports nothing that wakes this session"
    if case.stop.waits:
        return "it waits, and the client reports nothing new that wakes this session; a scheduled wakeup would"
    return ""


def step_host(case):
    """The client's own notice of an error or a limit is the whole message: the model cannot act on a hold."""
    text = fold(case.stop.message or "")
    if len(text) < 300 and text.startswith(HOST_NOTICES):
        return Verdict(cls="ALLOW-BLOCKER", why="the client reports an error or a limit")
    return None


def step_paused(case):
    return Verdict(cls="ALLOW-PAUSED") if case.contract["state"] == PAUSED else None


def step_plan(case):
    """In plan mode only the operator can approve. A mode that the agent entered by itself is held once."""
    if case.stop.mode != "plan":
        return None
    if case.contract["prompt_mode"] == "plan":
        return Verdict(cls="ALLOW-PLAN", why="the operator's own prompt was in plan mode")
    if case.contract["plan_held"]:
        return Verdict(cls="ALLOW-PLAN", why="the agent entered plan mode by itself and stays there")
    return Verdict(cls="BLOCK", why="plan mode was entered by the agent, not by the operator")


def step_budget(case):
    return Verdict(cls="ALLOW-BUDGET") if 0 < case.contract["spent_at"] <= case.now else None


def work_owes(case):
    """Nothing owed: no open item, no contradiction; then the operator's check and the claim have their say."""
    contract, stop, check = case.contract, case.stop, case.evidence.check
    if items_in(contract, OPEN) or stop.hits:
        return None
    if stop.blocker:
        return Verdict(cls="ALLOW-BLOCKER", why=stop.blocker)
    wakes = waits_for(case)
    if wakes:
        return waiting(wakes)
    if contract["check"] and check is None:
        return Verdict(cls="CHECK")
    if contract["check"] and check[0] != 0:
        return Verdict(cls="BLOCK", why=check_why(contract["check"], check[0]), output=check[1])
    if contract["check"]:
        return Verdict(cls="ALLOW-MET", why=f"checked: {contract['check']} exits 0.")
    if contract["claim"]:
        return Verdict(cls="ALLOW-MET", why="claimed with " + evidence_text(contract["claim"]["evidence"]) + ".")
    wanted = case.settings.claim
    if contract["condition"] and (wanted == "strict" or wanted == "once" and "claim" not in contract["told"]):
        return Verdict(cls="BLOCK", why=UNCLAIMED)
    if stop.advisory:
        return Verdict(cls="ADVISORY", why=", ".join(hit[0] for hit in stop.advisory))
    return Verdict(cls="ALLOW-CLEAN", why="" if wanted == "off" or not contract["condition"] else UNCLAIMED)


UNCLAIMED = "nobody has claimed the condition as met"


def check_why(command, status):
    return f"the operator's check {one_line(command, 80)} " + (
        "ran out of time" if status is None else f"exits {status}")


def work_excuses(case):
    """Owed, but the end is legitimate all the same."""
    owed, stop = items_in(case.contract, OPEN), case.stop
    if stop.hits and not owed and all(hit[1] in ASKING for hit in stop.hits):
        escalated = items_in(case.contract, ESCALATED)
        if escalated:
            return Verdict(cls="ALLOW-ESCALATED", why=", ".join(item["id"] for item in escalated))
        if case.contract["question"] and not case.contract["worked"]:
            return Verdict(cls="ALLOW-DIALOGUE")
    wakes = [wake for wake in waits_for(case) if case.progress or wake[0] not in case.contract["tickets"]]
    return waiting(wakes) if wakes else None


def waits_for(case):
    """What wakes the session, if the message or the agent's `wait` says that it waits."""
    return wakes_of(case) if case.stop.waits or case.contract["wait_for"] else ()


def waiting(wakes):
    """The Verdict for a turn that waits for WAKES: ((ticket, name, time or 0, label), ...)."""
    return Verdict(cls="ALLOW-WAITING", wakes=tuple((wake[1] + wake[3]).rstrip() for wake in wakes),
                   waits=", ".join(wake[1] for wake in wakes), until=max(wake[2] for wake in wakes),
                   tickets=tuple(wake[0] for wake in wakes if wake[0]))


def bounds_of_work(case):
    """The breaker: a stall, or too many holds for one prompt, ends the holding, visibly."""
    settings, contract = case.settings, case.contract
    stalls = min(settings.stalls, settings.cap or settings.stalls)      # before the client overrides a hold by itself
    if not case.progress and (contract["degraded"] or contract["streak"] >= stalls):
        return Verdict(cls="ALLOW-DEGRADED", why=f"{plural(contract['streak'], 'hold')} in a row without work between")
    return bounds_of_away(case)


def run_owes(case):
    """run: the state file of the owned run decides alone. What cannot be read has not ended."""
    run, (state, fault) = case.contract["run"], case.evidence.run
    if state in run["terminal"]:
        return Verdict(cls="ALLOW-MET", why=f"the run's {run['field']} is {state}.")
    return Verdict(cls="BLOCK", why=f"the run has not ended: {fault or run['field'] + ' is ' + one_line(state, 60)}, "
                                    f"it ends at {' or '.join(run['terminal'])} ({run['file']})")


def artifact_owes(case):
    """artifact: something shipped since the boundary and a valid end; or, after two holds, each item's next actor."""
    contract, items = case.contract, case.contract["items"]
    if items_in(contract, OPEN) or case.stop.hits:
        return None
    shipped = [a for a in contract["artifacts"] if a.partition(" ")[0] in contract["wanted"]]
    if shipped:
        return Verdict(cls="MATERIAL-ALLOW", why=", ".join(shipped[-3:]))
    passed_on = items_in(contract, ESCALATED, HANDED_OFF)
    if contract["boundary_blocks"] >= 2 and items and len(passed_on) == len(items):
        return Verdict(cls="CLEAN-TERMINAL-ALLOW", why=", ".join(
            f"{item['id']} {item.get('to') or 'the operator'}" for item in passed_on[:5]))
    return Verdict(cls="BLOCK", why=f"unmet: {' or '.join(ARTIFACT_WORDS[c] for c in contract['wanted'])} since "
                                    f"{clock(contract['boundary_at'] or contract['armed_at'])}"
                                    + (f"; {case.evidence.unread >> 20} MB of the transcript are too far back to be "
                                       "read, so none is verified there" if case.evidence.unread else ""))


ARTIFACT_WORDS = {"pr": "pull request opened", "review": "formal review submitted"}


def away_owes(case):
    """away: present lets go; away lets go only for a wake while nothing is owed or nothing has changed."""
    contract, owed = case.contract, items_in(case.contract, OPEN)
    if not case.evidence.away:
        return Verdict(cls="ALLOW-PRESENT")
    wakes = wakes_of(case)
    if wakes and (not (owed or case.stop.hits) or contract["owed"] == fingerprint(contract)):
        return waiting(wakes)
    why = f"the operator is away; next owed: {owed[0]['id']} {cut(owed[0]['text'], 80)}" if owed else (
        "the operator is away; nothing is on the ledger: the next ready item comes first, "
        "a scheduled look only after that")
    last = contract["blocks"] + 1 >= case.settings.blocks or 0 < case.settings.cap <= contract["host_run"] + 1
    return Verdict(cls="BLOCK", why=why, last=last)


def bounds_of_away(case):
    """No stall bound: nobody is there to be told. The client's cap and the bound on holds end it."""
    blocks = case.contract["blocks"]
    over = f"{plural(blocks, 'hold')} since the operator's last prompt"
    return Verdict(cls="ALLOW-DEGRADED", why=over) if blocks >= case.settings.blocks else None


def fingerprint(contract):
    """A digest of the owed set: ids and texts of the open items."""
    return digest(dump_json([[item["id"], item["text"]] for item in items_in(contract, OPEN)]))


# mode: its steps in order, the last being what bounds its holds. A new mode is one row and one function.
MODES = {
    "work": (step_plan, work_owes, work_excuses, bounds_of_work),
    "run": (step_plan, run_owes, bounds_of_work),
    "artifact": (step_plan, artifact_owes, bounds_of_work),
    "away": (away_owes, bounds_of_away)}


def asks_for_artifact(condition):
    """The classes of artifact that CONDITION asks to be opened or submitted; "PR #12's tests pass" asks for none."""
    words = [word.strip(".,;:!\"'()") for word in condition.lower().split()]
    made = any(word.startswith(("open", "submit", "creat", "rais", "fil")) or word in ("up", "posted", "exists")
               for word in words)
    kinds = {"pr": "pr", "prs": "pr", "mr": "pr", "request": "pr", "review": "review", "reviews": "review"}
    named = [kinds[word] for word in words if word in kinds and "#" not in condition]
    return list(dict.fromkeys(named)) if made else []


def wakes_of(case):
    """((ticket, name, time, label), ...) of what the client itself says will wake this session.

    The label is what the agent calls it, or its command: shown, and never stored.
    """
    wakes = []
    for task in case.stop.tasks:
        if task.get("status", "running") != "running" or (case.settings.print_mode and task.get("type") != "subagent"):
            continue
        name = one_line(f"{task.get('type', 'task')} {task.get('id')}", 60)
        wakes.append((one_line(str(task.get("id")), 60), name, 0,
                      " " + one_line(str(task.get("description") or task.get("command") or ""), 60)))
    for cron in () if case.settings.print_mode else case.stop.crons:
        # One without a schedule fires when the agent's call said, which the transcript shows.
        wait = cron_wait(cron["schedule"], case.now) if "schedule" in cron else case.contract["wakeup"] - case.now
        if wait is not None and 0 < wait <= case.settings.wakeup_hours * 3600:
            name = one_line(f"schedule {cron.get('id')}", 60)
            wakes.append(("", f"{name} in {span_words(wait)}", case.now + wait, ""))
    return tuple(wakes)


def hear(contract, prompt, settings, now):
    """(contract, Answer) after a prompt of the operator. CONTRACT is None if there is none or it has ended."""
    heard = prompt.heard
    intent = heard["command"][0] if heard["intent"] == "command" else heard["intent"]
    before = contract
    if contract:
        contract = after_prompt(contract, prompt, now)
    if intent == "arm":
        words = heard["command"][1:]
        return arm(contract, prompt.replace(heard={**heard, "condition": words[0]}) if words else prompt, settings, now)
    if heard["intent"] == "command":
        return obey(contract, before, prompt, now)
    if not contract:
        return None, Answer()
    if intent == "disarm":
        return released(contract, now, "the operator's prompt"), Answer(
            system=say("released", contract), context=context("released by the operator; turns end freely again."))
    if intent == "pause":
        return {**contract, "state": PAUSED, "changed_at": now}, Answer(system=say("paused", contract), context=context(
            "paused by the operator; turns may end until the next prompt that is no question."))
    if contract["state"] == PAUSED:
        if heard["question"]:
            return contract, Answer(context=context("paused by the operator; turns may end."))
        resumed = {**contract, "state": ARMED, "changed_at": now}
        return resumed, Answer(system=say("resumed", contract), context=describe(resumed, settings, now, "resumed"))
    return contract, Answer(context=steady(contract))


def after_prompt(contract, prompt, now):
    """The operator has spoken: stalls and bounds begin anew, and an absence is over."""
    mode = "work" if contract["mode"] == "away" else contract["mode"]
    return {**contract, "mode": mode, "standing": "", "host_run": 0,
            "streak": 0, "blocks": 0, "degraded": False, "plan_held": False, "prompt_at": now,
            "prompt_mark": prompt.size, "prompt_mode": prompt.mode, "question": prompt.heard["question"],
            "work": 0, "worked": False, "waiting": {}, "checking": 0}


def arm(contract, prompt, settings, now):
    """Arm a session, or amend the contract that binds it already."""
    heard, fresh = prompt.heard, contract is None
    if fresh:
        contract = {**CONTRACT, "session": prompt.session, "armed_at": now, "armed_mark": prompt.size, "prompt_at": now,
                    "prompt_mark": prompt.size, "prompt_mode": prompt.mode, "pins": settings.pins}
    after = {**contract, "state": ARMED, "changed_at": now, "question": False,
             "condition": one_line(heard["condition"]) or contract["condition"],
             "spent_at": budget_end(heard["budget"], now) or contract["spent_at"]}
    if after["condition"] != contract["condition"]:
        after["claim"] = {}                     # what was claimed was another condition
        if settings.checks_from_prompts:
            after["check"] = check_in(heard["condition"])
    if prompt.away:
        after["mode"] = "away"
    elif asks_for_artifact(after["condition"]) and after["mode"] == "work":
        after.update(mode="artifact", wanted=asks_for_artifact(after["condition"]))
    for text in heard["items"]:
        after = add_item(after, text, "prompt", now)[0]
    word = "armed" if fresh else "amended" if after["condition"] != contract["condition"] else "armed already"
    if settings.observe or prompt.away:
        word = "observing" if settings.observe else "away"
    return after, Answer(system=say(word, after, now), context=describe(after, settings, now, word))


def obey(contract, before, prompt, now):
    """The language-free form: `contract: stop`, `pause`, `status`. Answered without a model turn."""
    word = prompt.heard["command"][0]
    if word == "stop" and contract:
        return released(contract, now, "contract: stop"), Answer(halt=say("released", contract))
    if word == "pause" and contract:
        return {**contract, "state": PAUSED, "changed_at": now}, Answer(halt=say("paused", contract))
    if word == "resume" and contract:
        return {**contract, "state": ARMED, "changed_at": now}, Answer(halt=say("resumed", contract))
    if word in ("stop", "pause", "resume"):
        return contract, Answer(reply=f"{NAME}: nothing is armed in this session.")
    if word == "status":
        return before, Answer(reply=status_text(before, now))
    if word in ("away", "back"):
        after = contract and {**contract, "mode": "away" if word == "away" else "work", "standing": ""}
        nothing = f"{NAME}: {word}; nothing is armed in this session."
        return after, Answer(halt=say(word, contract) if contract else nothing)
    return before, Answer(reply=f"{NAME}: `contract:` takes stop, pause, resume, status, away, back or arm until ..., "
                                f"not {one_line(prompt.heard['command'][1])!r}.")


def check_in(condition):
    """CMD of a condition of the form "`CMD` passes", "" for any other."""
    parts = condition.strip().split("`")
    known = ("passes", "succeeds", "is green", "exits 0", "is clean", "returns 0")
    return parts[1].strip() if len(parts) == 3 and not parts[0] and parts[2].strip(" .!") in known else ""


def released(contract, now, origin):
    return {**contract, "state": DISARMED, "changed_at": now, "origin": origin}


def budget_end(budget, now):
    """When a time budget is spent: ("for", seconds) from NOW, ("until", "HH:MM") at the next such local time."""
    import time
    if not budget:
        return 0
    if budget[0] == "for":
        return int(now + budget[1])
    hour, minute = (int(part) for part in budget[1].split(":"))
    t = time.localtime(now)
    ahead = ((hour - t.tm_hour) * 60 + minute - t.tm_min) * 60 - t.tm_sec
    return int(now + (ahead if ahead > 0 else ahead + 86400))


def add_item(contract, text, source, now):
    """(contract, item) with TEXT in the ledger; the same open text twice is one item."""
    text = one_line(text)
    for item in items_in(contract, OPEN):
        if fold(item["text"]) == fold(text):
            return contract, item
    item = {"id": f"i{contract['next_item']}", "text": text, "state": OPEN, "source": source, "opened_at": now}
    return {**contract, "items": contract["items"] + [item], "next_item": contract["next_item"] + 1}, item


def evidence_text(evidence):
    """Evidence in words, what was verified apart from what the agent says."""
    said = {True: "verified", False: "self-attested"}
    return ", ".join(f"{e['kind']}:{e['value']} ({said[bool(e.get('verified'))]})" for e in evidence)


def close_item(contract, name, state, now, **facts):
    """CONTRACT with item NAME in STATE; KeyError if it has no such item, ValueError if it is not open."""
    for place, item in enumerate(contract["items"]):
        if item["id"] == name:
            if item["state"] not in (OPEN, ESCALATED):
                raise ValueError(f"item {name} is {item['state']}")
            changed = {**item, "state": state, "closed_at": now, **facts}
            return {**contract, "items": contract["items"][:place] + [changed] + contract["items"][place + 1:]}
    raise KeyError(name)


# --- rendering -----------------------------------------------------------------------------------

def quoted(contract):
    return f"\"{contract['condition']}\"" if contract["condition"] else "no condition pinned"


def tally(contract):
    """The items by state, in words; "" for an empty ledger."""
    owed, done = len(items_in(contract, OPEN)), items_in(contract, DONE)
    sure = sum(verified(item) for item in done)
    counts = [(sure, "done (verified)"), (len(done) - sure, "done (self-attested)")]
    counts += [(len(items_in(contract, state)), state) for state in (WAIVED, ESCALATED, HANDED_OFF)]
    words = [plural(owed, "item") + " open"] * bool(owed)
    return ", ".join(words + [f"{count} {word}" for count, word in counts if count])


def verified(item):
    """Whether an item was closed with evidence that was checked, and not with the agent's word alone."""
    return any(e.get("verified") for e in item.get("evidence", ()))


def say(change, contract, now=0):
    """The operator's line for a CHANGE of the contract."""
    items = tally(contract) and f" ({tally(contract)})"
    text = CHANGES[change].format(condition=quoted(contract), items=items)
    if contract["spent_at"] > now > 0:
        text += f" Until {clock(contract['spent_at'])}."
    return f"{NAME}: {text}"


def context(text):
    """TEXT for the model, marked with where it comes from."""
    return f"[{NAME}] {text}"


def steady(contract):
    """The one short line that goes with an ordinary prompt."""
    return context(f"armed: {quoted(contract)}; {tally(contract) or 'no items'}.")


def describe(contract, settings, now, word):
    """The full description, given when the state changes and after a compaction."""
    lines = [context(f"{word} by the operator: {quoted(contract)}; {tally(contract) or 'no items'}. {ABOUT}")]
    if contract["spent_at"] > now:
        lines.append(f"Time budget: until {clock(contract['spent_at'])}.")
    lines.extend(item_lines(contract, 5))
    if contract["check"]:
        lines.append(f"When nothing else is owed the hook runs the operator's check: {one_line(contract['check'])}")
    lines.append(COMMANDS.format(cmd=settings.command, classes="|".join(ESCALATIONS)))
    lines.append(f"The operator's policy for forks ({settings.policy_file or 'as shipped'}):\n{settings.policy}")
    return "\n".join(lines)


def item_lines(contract, most):
    owed = items_in(contract, OPEN)
    lines = [f"open {item['id']}: {item['text']}" for item in owed[:most]]
    return lines + ([f"and {len(owed) - most} more open"] if len(owed) > most else [])


def block_text(contract, stop, verdict, settings):
    """The reason for a hold, for the model: the first after arming with the policy, all within their limits."""
    first = "policy" not in contract["told"] and verdict.why != UNCLAIMED      # a clean end has no fork to decide
    owed = items_in(contract, OPEN)
    lines = [HELD, "condition: " + cut(quoted(contract), 400 if first else 160)]
    if verdict.why:
        lines.append(f"seen: {cut(verdict.reason, 400 if first else 250)}")
    if stop.hits:
        seen = {}
        for rule, family, *_ in stop.hits:
            seen.setdefault(family, []).append(rule)
        lines.append(cut("seen: " + "; ".join(f"{f} ({', '.join(dict.fromkeys(r))})" for f, r in seen.items()), 200))
    room = 180 if first else 120
    lines.extend(cut(line, room) for line in item_lines(contract, 3 if first else 1))
    ways = "ways on: the work itself"
    if verdict.why == UNCLAIMED:
        ways += f"; `{settings.command} met --evidence KIND:VALUE`"
    if owed:
        ways += f"; `{settings.command} item done ID --evidence KIND:VALUE`, `item waive ID --reason R`"
        ways += f", `item escalate ID --class {'|'.join(ESCALATIONS)} --reason R` for what only the operator can lift"
    lines.append(cut(ways + ".", 420 if first else 330))
    limit = LIMITS["first" if first else "later"]
    if first:
        lines.append(f"policy (the operator's, {cut(settings.policy_file, 120)}): see the session's context"
                     if settings.policy_file else "policy (the operator's, as shipped):\n" + settings.policy)
    return cut("\n".join(lines), limit - 1) + "\n"


def hold_line(contract, stop, verdict, settings):
    """The operator's one line for a hold, with the release that works from any terminal."""
    reasons = list(dict.fromkeys(hit[1] for hit in stop.hits)) or ([verdict.reason] if verdict.why else [])
    if verdict.owed:
        reasons.append(tally(contract))
    return (f"{NAME}: turn held ({'; '.join(reasons)}). \"stop\" releases, or in another terminal: "
            f"{settings.command} disarm --session {contract['session']}")


def allow_line(contract, verdict):
    """The operator's line for a turn that is let go; "" where the class is silent."""
    rests = tally(contract) and f" Ledger: {tally(contract)}."
    rests_on = items_in(contract, WAIVED, ESCALATED, HANDED_OFF) + [
        item for item in items_in(contract, DONE) if not verified(item)]
    if verdict.cls == "ALLOW-CLEAN" and "clean" in contract["told"] and not rests_on and not verdict.why:
        return ""
    text = ALLOWS.get(verdict.cls, "")
    line = text and f"{NAME}: " + text.format(condition=quoted(contract), why=verdict.why, ledger=rests,
                                              wakes=", ".join(verdict.wakes),
                                              owes=tally(contract) and f"Owed: {tally(contract)}. ")
    return line + (f" Unclaimed: {verdict.why}." if verdict.cls == "ALLOW-CLEAN" and verdict.why else "")


def fault_line(kind, **facts):
    return f"{NAME}: " + FAULTS[kind].format(**facts)


def status_text(contract, now):
    """One session's contract in a few lines."""
    if not contract:
        return f"{NAME}: nothing is armed in this session."
    lines = [f"  {item['id']} {item['state']}: {item['text']}" for item in contract["items"]]
    if contract["mode"] != "work":
        lines.append(f"  mode {contract['mode']}" + (f": {contract['standing']}" if contract["standing"] else ""))
    if contract["waiting"]:
        until = contract["waiting"].get("until") or 0
        lines.append(f"  waits for {contract['waiting'].get('what')}" + (f", due {clock(until)}" if until else "")
                     + ("; overdue" if 0 < until < now else ""))
    # The one line that says it all comes last: typed during a turn, the client shows only that one.
    return "\n".join(lines + [
        f"{NAME}: {contract['state']} for {span_words(now - contract['armed_at'])}: {quoted(contract)}; "
        f"{tally(contract) or 'no items'}; {plural(contract['blocks'], 'hold')} since your last prompt"
        + ("; degraded" if contract["degraded"] else "")])


def segment(loaded, environ, now):
    """A session's contract as one short segment of the client's status line; "" where nothing binds."""
    contract, switch = loaded.contract, environ.get("SESSION_CONTRACT", "").strip().lower()
    if loaded.kind != "ok":
        return f"contract: {loaded.kind}"
    if contract["state"] not in LIVE:
        return ""
    owed, waits = len(items_in(contract, OPEN)), contract["waiting"]
    word = ("off" if switch in OFF_WORDS else "observing" if switch == "observe" else
            "degraded" if contract["degraded"] else contract["state"])
    if contract["standing"] == "stopped":
        word = "stopped with work owed"
    facts = [f"{owed} open"] * bool(owed) + [f"held {contract['blocks']}"] * bool(contract["blocks"])
    if waits:
        late = 0 < (waits.get("until") or 0) < now
        facts.append(("overdue: " if late else "waiting: ") + one_line(str(waits.get("what")), 40))
    if contract["spent_at"] > now:
        facts.append(f"{span_words(contract['spent_at'] - now)} left")
    return " | ".join([f"contract: {word}", *facts])


def log_record(contract, cls, now, identity, **facts):
    """One line of the log: what was decided or changed, never what was said."""
    return {"time": clock(now), "class": cls, "session": contract["session"], "identity": identity,
            "state": contract["state"], "mode": contract["mode"], "owed": len(items_in(contract, OPEN)),
            "streak": contract["streak"], "blocks": contract["blocks"], **facts}


# --- shell: the store ----------------------------------------------------------------------------

class Store:
    """One directory: contracts/ID.json, logs/ID.jsonl, and what the operator puts beside them."""

    def __init__(self, path):
        self.path = path
        self.contracts, self.logs = path + "/contracts", path + "/logs"
        self.lock_fd = None

    def contract_path(self, name):
        return f"{self.contracts}/{name}.json"

    def log_path(self, name):
        return f"{self.logs}/{name}.jsonl"

    def old_log_path(self, name):
        """Where a full log goes. No session id begins with a dot, so no name of ours can be another session's."""
        return f"{self.logs}/.{name}.old.jsonl"

    def load(self, name):
        self.check()
        path = self.contract_path(name)
        why = self.distrust(path)
        return Loaded(kind="foreign", why=why) if why else load_contract(read_file(path, LIMITS["contract"]), name)

    def read(self, name, limit):
        """The bytes of a file that the operator put beside the contracts, None if there is none."""
        self.check()
        path = f"{self.path}/{name}"
        why = self.distrust(path)
        if why:
            raise StoreError(f"cannot trust {path}: {why}")
        return read_file(path, limit)

    def check(self):
        """StoreError where another user could put a contract into the store, or lead our writing out of it."""
        for path in (self.path, self.contracts, self.logs):
            why = self.distrust(path) or (path != self.path and is_link(path) and "it is a symbolic link")
            if why:
                raise StoreError(f"cannot trust {path}: {why}; it must be a folder of your own, of mode 700")

    def distrust(self, path):
        """Why PATH may be another user's doing; "" if it is not there, or only the operator or root can have made it.

        A contract holds turns, speaks to the model and runs a check. For root the owner of the folder in which the
        store stands is an operator too, as in a container: that user can have the client run anything as it is.
        """
        if fs.__name__ != "posix":
            return ""                           # Windows has access lists instead, which are not read here
        try:
            me, known = fs.geteuid(), {0, fs.geteuid()}
            for status in (fs.lstat(path), fs.stat(path)):      # a link, and what it leads to
                if me == 0 and status.st_uid:
                    known.add(fs.stat(self.path.rpartition("/")[0] or "/").st_uid)
                if status.st_uid not in known:
                    return f"it belongs to user {status.st_uid}"
        except OSError:
            return ""                           # reading it will say what is wrong
        return "every user can write it" if status.st_mode & 0o002 else ""

    def locked(self):
        """A context in which no other process of ours changes the store. StoreError after LIMITS["lock"] seconds."""
        return self

    def __enter__(self):
        import time
        self.make()
        try:
            import fcntl
        except ImportError:         # Windows: writes stay atomic, but two at once are not kept apart
            return self
        end = time.monotonic() + LIMITS["lock"]
        try:
            # The directory itself is locked: nothing to leave behind, and the lock dies with its process.
            self.lock_fd = fs.open(self.contracts, fs.O_RDONLY)
            while True:
                try:
                    fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return self
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise StoreError(f"{self.contracts} is locked by another process") from None
                    time.sleep(0.01)
        except OSError as error:
            raise StoreError(f"cannot lock {self.contracts}: {error.strerror}") from None

    def __exit__(self, *failure):
        if self.lock_fd is not None:
            close(self.lock_fd)
            self.lock_fd = None

    def make(self):
        """The store's directories, private to the operator."""
        self.check()
        for path in (self.contracts, self.logs):
            try:
                fs.stat(path)
            except OSError:
                try:
                    self.make_tree(path)
                except OSError as error:
                    raise StoreError(f"cannot make {path}: {error.strerror}") from None
                self.check()                    # another process may have been faster

    def make_tree(self, path):
        """PATH and what is missing above it; another process may make the same at the same time."""
        try:
            try:
                fs.mkdir(path, 0o700)
            except FileNotFoundError:
                self.make_tree(path.rpartition("/")[0])
                fs.mkdir(path, 0o700)
        except FileExistsError:
            pass

    def save(self, contract, durable=False):
        """Write CONTRACT whole or not at all (in the lock). DURABLE waits for the disk: for changes a person made."""
        name = contract["session"]
        self.write(self.contract_path(name), f"{self.contracts}/.{name}.tmp",
                   {**contract, "revision": contract["revision"] + 1}, durable)

    def write(self, path, temporary, value, durable):
        """VALUE as JSON to PATH by way of TEMPORARY, which is beside it."""
        data = dump_json(value).encode() + b"\n"
        # What is larger could not be read back; and an armed contract leaves room for its release.
        limit = LIMITS["contract"] - (1 << 16) * (value.get("state") == ARMED)
        if len(data) > limit:
            raise StoreError(f"cannot write {path}: it would be larger than {limit} bytes")
        try:
            if exists(temporary) or is_link(temporary):
                fs.unlink(temporary)            # of a killed process; or a fifo, which would never open
            fd = fs.open(temporary, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL, 0o600)
            try:
                write_all(fd, data)
                if durable:
                    fs.fsync(fd)
            finally:
                fs.close(fd)
            fs.replace(temporary, path)
        except OSError as error:
            try:
                fs.unlink(temporary)
            except OSError:
                pass
            raise StoreError(f"cannot write {path}: {error.strerror}") from None

    def set_aside(self, name, now):
        """Move a contract file that cannot be read out of the way; its new path."""
        path = self.contract_path(name)
        aside = f"{self.contracts}/.{name}.broken-{int(now)}"
        try:
            fs.replace(path, aside)
        except OSError as error:
            raise StoreError(f"cannot move {path}: {error.strerror}") from None
        return aside

    def log(self, record):
        """Append one line to the session's log (in the lock); a full log is put aside, replacing the one before."""
        path = self.log_path(record["session"])
        try:
            fd = fs.open(path, fs.O_RDWR | fs.O_APPEND | fs.O_CREAT | getattr(fs, "O_NOFOLLOW", 0), 0o600)
            try:
                size = fs.fstat(fd).st_size
                if size > LIMITS["log"]:
                    fs.replace(path, self.old_log_path(record["session"]))
                    fs.close(fd)
                    fd, size = fs.open(path, fs.O_RDWR | fs.O_APPEND | fs.O_CREAT | fs.O_EXCL, 0o600), 0
                fs.lseek(fd, max(0, size - 1), 0)
                torn = size and fs.read(fd, 1) != b"\n"       # a killed process leaves half a line at the most
                write_all(fd, (b"\n" if torn else b"") + dump_json(record).encode() + b"\n")
            finally:
                fs.close(fd)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from None

    def last_record(self, name):
        """The last whole line of a session's log, {} if there is none."""
        data = read_tail(self.log_path(name), 8192)[0]
        for line in reversed((data or b"").split(b"\n")):
            value, fault = parse_json(line) if line else (None, "empty")
            if not fault and isinstance(value, dict):
                return value
        return {}

    def sweep(self, now):
        """Remove what ended sessions and killed processes left LIMITS["sweep"] seconds ago; live ones never.

        Only what is named as ours is, and a log only if it is one: the folder may have been somebody's before.
        """
        for folder, forms in ((self.contracts, (("", ".json"), (".", ".tmp"), (".", ".broken-"))),
                              (self.logs, (("", ".jsonl"), (".", ".old.jsonl")))):
            try:
                entries = fs.listdir(folder)
            except OSError:
                continue            # it can wait for the next arming
            # Of a store with thousands of files a part each time, another one each second: an arming must stay quick.
            start = int(now) * LIMITS["swept"] % max(1, len(entries))
            for entry in (entries[start:] + entries[:start])[:LIMITS["swept"]]:
                name, path = name_in(entry, forms), f"{folder}/{entry}"
                try:
                    if not name or now - fs.stat(path).st_mtime < LIMITS["sweep"]:
                        continue
                    found = self.load(name) if folder == self.logs or entry[0] != "." else Loaded()
                    ended = found.kind == "none" or (found.kind == "ok" and found.contract["state"] not in LIVE)
                    if ended and (folder == self.contracts or self.is_log(path, name)):
                        fs.unlink(path)
                except (OSError, StoreError):
                    continue        # another process was faster, or it cannot be read

    def is_log(self, path, name):
        """Whether PATH is an empty file or the log of session NAME."""
        line = read_head(path)[:1]
        return not file_size(path) or bool(line) and line[0].get("session") == name


def name_in(entry, forms):
    """The session id of a file that is named as one of FORMS, (what stands before it, its ending); "" for others."""
    for dot, ending in forms:
        name, mark, tail = entry[len(dot):].rpartition(ending)
        if entry.startswith(dot) and mark and name and name == session_file(name) and (
                tail.isdecimal() if ending[-1] == "-" else not tail):
            return name
    return ""


def is_link(path):
    try:
        return fs.lstat(path).st_mode & 0o170000 == 0o120000
    except OSError:
        return False


def contracts_in(store, newest=0):
    """Every readable contract in the store, or of the NEWEST files alone: those that were written last."""
    try:
        names = sorted(fs.listdir(store.contracts))
    except OSError:
        return []
    if 0 < newest < len(names):
        names = sorted(names, key=lambda name: file_time(f"{store.contracts}/{name}"))[-newest:]
    found = []
    for name in (name_in(entry, (("", ".json"),)) for entry in names):
        try:                        # any other name may not stand in a command that we print
            found += [store.load(name).contract] if name else []
        except StoreError:
            store.check()           # one file that cannot be read does not hide the others
    return [contract for contract in found if contract]


def file_time(path):
    try:
        return fs.stat(path).st_mtime
    except (OSError, ValueError):
        return 0


# --- shell: other files and processes ------------------------------------------------------------

def read_tail(path, limit, start=0, most=float("inf")):
    """(bytes, offset, size) of the end of PATH, or of its first MOST bytes; at most LIMIT bytes, not before START.

    Bytes is None if there is no such file; StoreError if there is one and it cannot be read.
    """
    try:
        fd = fs.open(path, fs.O_RDONLY | getattr(fs, "O_NONBLOCK", 0) | getattr(fs, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None, 0, 0
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    try:
        status = fs.fstat(fd)
        if status.st_mode & 0o170000 != 0o100000:       # a fifo or a device would never end
            return None, 0, 0
        size = min(status.st_size, most)
        start = max(start if start <= size else 0, size - limit)      # one that shrank is read anew
        fs.lseek(fd, start, 0)
        data = b""
        while len(data) < size - start:
            piece = fs.read(fd, size - start - len(data))
            if not piece:
                break
            data += piece
        return data, start, size
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    finally:
        close(fd)


def last_text(path):
    """The last text of the main chain in a transcript's end, None if it shows none."""
    data, offset, _ = read_tail(path, 1 << 20) if isinstance(path, str) and path else (None, 0, 0)
    return read_evidence(rows_of(data, offset, offset == 0)[0], CONTRACT, 0).text if data else None


def read_head(path):
    """The rows in the first 64 KB of a transcript; [] if there is none yet."""
    try:
        data = read_tail(path, 1 << 16, 0, 1 << 16)[0] if isinstance(path, str) and path else None
    except StoreError:
        data = None
    rows = [parse_json(line)[0] for line in (data or b"").split(b"\n")[:-1]]
    return [row for row in rows if isinstance(row, dict)]


def file_size(path):
    """The size of a transcript in bytes, 0 if there is none yet."""
    try:
        return fs.stat(path).st_size if isinstance(path, str) and path else 0
    except (OSError, ValueError):
        return 0


def transcript_evidence(path, contract):
    """Evidence from what the transcript at PATH has gained since it was last read, as far back as the bound reaches."""
    if not isinstance(path, str) or not path:
        return Evidence()
    start = contract["read_to"]
    data, offset, size = read_tail(path, LIMITS["transcript"], start)
    if data is None:
        return Evidence()
    anew = size < start                         # it was replaced by a shorter one: all of it is new
    rows, end = rows_of(data, offset, offset in (0, start))
    if data and end == offset and offset > start:
        return Evidence()                       # one line longer than the bound: nothing can be said
    return read_evidence(rows, {**contract, "prompt_mark": 0} if anew else contract, end).replace(
        anew=anew, unread=max(0, offset - max(start, contract["armed_mark"])))


def run_state(run):
    """(state, fault) of an owned run: one field of its JSON state file. None with the fault if that cannot be read."""
    try:
        data = read_file(run["file"], 1 << 20)
    except StoreError as error:
        return None, str(error)
    if data is None:
        return None, "there is no state file"
    value, fault = parse_json(data)
    for key in [] if fault else run["field"].split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return (None, f"the state file is no JSON: {fault}") if fault else (
        value if isinstance(value, str) else str(value), "")


def client_process(environ):
    """The client process, told apart from another one with the same number by its start; "" if unknown."""
    pid = environ.get("CLAUDE_PID", "")
    if not (pid.isascii() and pid.isdecimal()):
        return ""
    try:
        stat = read_file(f"/proc/{pid}/stat", 4096) or b""
    except StoreError:
        stat = b""
    return pid and f"{pid} {stat.rpartition(b')')[2].split()[19].decode()}" if stat else pid


def run_check(command, cwd, environ, seconds):
    """(exit status or None after SECONDS, last lines) of the operator's check, run by sh with standard input empty.

    The output is read as it comes and only its end is kept; values of secret variables are struck out of it.
    """
    import os
    import select
    import signal
    import subprocess
    import time
    end, kept = time.monotonic() + seconds, b""
    try:
        child = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, cwd=cwd if os.path.isdir(cwd) else None, env=environ,
                                 start_new_session=True)
    except (OSError, ValueError) as error:      # a NUL or a lone surrogate in it is a ValueError
        return 127, str(error)
    with child:
        while time.monotonic() < end:
            ready = select.select([child.stdout], [], [], 0.05)[0]
            piece = os.read(child.stdout.fileno(), 65536) if ready else b""
            kept = (kept + piece)[-4096:]
            if child.poll() is not None and not piece or ready and not piece:
                break
        try:
            status = child.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            status = None
        if status is None:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        child.stdout.close()
    text = kept.decode("utf-8", "replace")
    for name, value in environ.items():
        if len(value) > 7 and any(mark in name.upper() for mark in ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL")):
            text = text.replace(value, "***")
    return status, one_line(" | ".join(line.strip() for line in text.splitlines()[-6:] if line.strip()), 300)


# sh holds the time limit, since not every system has `timeout`: at its end the whole process group goes, itself too.
NOTICE = 'sh -c "$1" & sleep "$2"; kill -s KILL 0'


def start_notice(command, seconds, cwd, **facts):
    """Start the operator's COMMAND, with FACTS in its environment, in a session of its own and without any of our
    streams; what went wrong, else ""."""
    import os
    import subprocess
    told = {f"{NAME}_{fact}".upper().replace("-", "_"): str(value).encode("utf-8", "replace")
            for fact, value in facts.items()}
    try:
        subprocess.Popen(["sh", "-c", NOTICE, "sh", command, str(seconds)], env={**os.environ, **told},
                         cwd=cwd if os.path.isdir(cwd) else None, start_new_session=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, ValueError) as error:
        return str(error)
    return ""


# --- shell: what the operator set ----------------------------------------------------------------

SETTING_KINDS = {int: "a whole number of at least 1", bool: "true or false", str: "a text"}


def read_config(data, path):
    """Settings from config.json. ValueError with one line says what is wrong."""
    value, fault = parse_json(data)
    if fault or not isinstance(value, dict):
        raise ValueError(fault or "it is no JSON object")
    for name, given in value.items():
        if name not in SETTINGS:
            raise ValueError(f"unknown setting {name!r}; known are {', '.join(sorted(SETTINGS))}")
        if type(given) is not type(SETTINGS[name]) or (type(given) is int and given < 1):
            raise ValueError(f"{name} must be {SETTING_KINDS[type(SETTINGS[name])]}, not {given!r}")
        if name == "check_seconds" and given > 140:
            raise ValueError("check_seconds is at most 140: the client ends the hook after 150 seconds")
        if name in CHOICES and given not in CHOICES[name]:
            raise ValueError(f"{name} must be one of {', '.join(CHOICES[name])}, not {given!r}")
    return value


def read_phrases(data, path):
    """Phrases and switched-off rules from phrases.json. ValueError with one line says what is wrong."""
    value, fault = parse_json(data)
    if fault or not isinstance(value, dict):
        raise ValueError(fault or "it is no JSON object")
    for name, given in value.items():
        if name not in INTENTS + FAMILIES + ("off",):
            raise ValueError(f"{name!r} is no intent or family; known are {', '.join(INTENTS + FAMILIES)} and off")
        if not isinstance(given, list) or not all(isinstance(text, str) and text.strip() for text in given):
            raise ValueError(f"{name} must be a list of texts")
    known = {row[0] for row in RULES + RULES_OTHER + INTENT_RULES}
    unknown = [rule for rule in value.get("off", ()) if rule not in known]
    if unknown:
        raise ValueError(f"off names no rule {unknown[0]!r}")
    return {"own": {name: given for name, given in value.items() if name != "off"}, "off": tuple(value.get("off", ()))}


def read_policy(data, path):
    text = data.decode("utf-8", "replace").strip()
    return {"policy": text, "policy_file": path} if text else {}


# A simple command that runs this hook, its words parted by NUL: what may stand before it, the file, no argument.
RUNS_US = (r"(?:^|\0[();|&]+\0)(?:(?:exec|env|command|nohup|then|do|[{!]|uv|run|(?:ba|da)?sh|-[^\0]*|\w+=[^\0]*"
           r"|(?:[^\0]*/)?(?:python|pypy)[^\0/]*)\0)*"
           r"([^\0]*/session-contract-hook/hook|(?:[^\0]*[/\\])?session_contract\.py|[^\0]*import session_contract"
           r"[^\0]*)(?:\0\d+)?(?:$|\0[();<>|&])")


def in_settings(environ, cwd, event):
    """Whether settings register this hook for EVENT, too: a mention does not, nor an entry whose file is gone."""
    folder = f"{cwd}/.claude" if isinstance(cwd, str) else ""
    paths = [f"{config_dir(environ)}/settings.json"] + [f"{folder}/{name}" for name in (
        "settings.json", "settings.local.json") if folder]
    for path in paths:
        try:
            data = read_file(path, 4 << 20) or b""
        except StoreError:
            continue
        if b"session-contract-hook" in data or b"session_contract" in data:
            value = parse_json(data)[0]
            for name, _, group, ours in groups_of(value if isinstance(value, dict) else {}):
                files = [is_ours(group["hooks"][i]) for i in ours if name == event]
                if any(file[0] != "/" or exists(file) for file in files):
                    return True
    return False


def is_ours(hook):
    """The file (or Python code) of this program that a settings file's hook runs, of any shape it had; "" if none."""
    import re
    import shlex
    if not isinstance(hook, dict) or not isinstance(hook.get("command"), str):
        return ""
    words = shlex.shlex(hook["command"], posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    if isinstance(hook.get("args"), list):          # the exec form
        words = [hook["command"], *map(str, hook["args"])]
    try:
        found = re.search(RUNS_US, "\0".join(words))
    except ValueError:      # an open quote
        return ""
    return found[1] if found else ""


def groups_of(value):
    """(event, index, group, indexes of our hooks in it) for each hook group of settings VALUE."""
    hooks = value.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            yield event, index, group, [
                i for i, hook in enumerate(inner if isinstance(inner, list) else ()) if is_ours(hook)]


def own_command():
    """How a shell calls this file: the launcher of an installed copy, else the interpreter and the file."""
    home = slashed(__file__).rpartition("/")[0]
    if home.endswith("/" + HOOK_DIR):
        return shell_word(f"{home}/{LAUNCHER}")
    return f"{shell_word(slashed(sys.executable or 'python3'))} {shell_word(slashed(__file__))}"


def shell_word(text):
    """TEXT as one word of a shell line. (shlex would bring in re, which costs as much as the interpreter's start.)"""
    if text and text.isascii() and all(char.isalnum() or char in "/._-+@%:,=" for char in text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


# --- shell: the hook -----------------------------------------------------------------------------

class Reply(Record):
    """What a run prints and how it exits."""

    fields = {"code": 0, "out": "", "err": ""}


def tell(text, cls=0, **answer):
    """A Reply that carries TEXT to the operator."""
    body = {**({"systemMessage": text} if text else {}), **answer}
    return Reply(out=dump_json(body) if body else "")


AWAY_WORDS = ("i'm away", "i am away", "i'll be away", "i will be away", "i'm afk", "i'm out", "i'll be out", "i'm off",
              "i'm gone", "i\u2019m away", "i\u2019m afk", "going to bed", "off to bed", "away until")

QUIET_EVENTS = ("SessionEnd", "SubagentStop", "SubagentStart", "StopFailure", "PreToolUse", "PostToolUse",
                "PostToolUseFailure", "PreCompact", "PostCompact", "Notification", "PermissionRequest")


class Hook:
    """One hook call: the payload, the store, the clock and the operator's settings."""

    def __init__(self, payload, environ, now):
        self.payload, self.environ, self.now = payload, environ, now
        self.switch = environ.get("SESSION_CONTRACT", "").strip().lower()
        self.name = session_file(payload.get("session_id"))
        self.notes = []

    def run(self):
        """Dispatch on the event. Whatever this program cannot answer is let go and said."""
        event = self.payload.get("hook_event_name")
        if self.payload.get("agent_id"):
            return Reply()                      # a subagent: its turns are its caller's business
        if not isinstance(event, str) or event not in EVENTS:
            return Reply() if event in QUIET_EVENTS else tell(fault_line("event", why=one_line(repr(event), 60)))
        try:
            project = self.environ.get("CLAUDE_PROJECT_DIR") or self.payload.get("cwd")
            if self.environ.get("CLAUDE_PLUGIN_ROOT") and in_settings(self.environ, project, event):
                return Reply()                  # settings register this hook too: one of the two decides
            self.store = Store(store_dir(self.environ))
            return getattr(self, EVENTS[event])()
        except StoreError as error:
            return tell(fault_line("store", why=error, then="Let go." if event == "Stop" else "Not gated."))

    def settings(self):
        """The operator's settings; what is wrong with their file is told and the defaults stand."""
        cap = self.environ.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "")
        printing = (self.environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")
                    or self.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0")
        values = {"cap": int(cap) if cap.isdecimal() and len(cap) < 10 else HOST_CAP, "command": own_command(),
                  "observe": self.switch == "observe", "print_mode": printing}
        pins = values["pins"] = {}
        for name, read in (("config.json", read_config), ("phrases.json", read_phrases), ("policy.md", read_policy)):
            path = f"{self.store.path}/{name}"
            try:
                data = self.store.read(name, 1 << 20)
                if data is not None:
                    pins[name] = digest(data.decode("utf-8", "replace"))
                    values.update(read(data, path))
            except (StoreError, ValueError) as error:
                self.notes.append(f"{path} is not used: {error}")
        return Settings(**values)

    def identity(self):
        given = self.environ.get("SESSION_CONTRACT_IDENTITY", "")
        if given:
            return one_line(given, 80)
        user = self.environ.get("USER") or self.environ.get("LOGNAME") or "?"
        return f"{user}@{fs.uname().nodename if hasattr(fs, 'uname') else '?'}"

    # -- presence: kept for the machine, not for a session

    def presence(self):
        """The operator's absence, {} while present or once its end has come."""
        value = parse_json(self.store.read("presence.json", 1 << 16) or b"{}")[0]
        if not isinstance(value, dict) or not value.get("away"):
            return {}
        until = value.get("until")
        return {} if isinstance(until, int) and 0 < until <= self.now else value

    def set_presence(self, value):
        """Write the operator's absence; {} is a return (in the lock)."""
        # The temporary file lies where the sweep comes by.
        self.store.write(f"{self.store.path}/presence.json", f"{self.store.contracts}/.presence.tmp", value, True)

    def return_text(self):
        """What waited, what stopped and what went on while the operator was away, over all sessions."""
        rows = [f"{c['session'][:8]} {c['standing'] or 'working' if c['state'] in LIVE else c['state']}: {quoted(c)}"
                + (f", waits for {c['waiting'].get('what')}" if c["waiting"] else "")
                + (f", {tally(c)}" if tally(c) else "") for c in contracts_in(self.store) if c["mode"] == "away"]
        return "back: " + ("; ".join(rows) or "no session was held for your absence")

    # -- SessionStart

    def on_start(self):
        """Give the description back after a resume or a compaction. Never arms."""
        if not self.name:
            return Reply()
        loaded = self.store.load(self.name)
        if loaded.kind not in ("none", "ok"):
            return tell(self.fault_of(loaded))
        if not loaded.contract:
            old = self.ancestor()
            return tell(fault_line("ancestor", old=old["session"], condition=quoted(old), command=own_command(),
                                   new=self.name)) if old else Reply()
        if loaded.contract["state"] not in LIVE:
            return Reply()
        contract, settings = loaded.contract, self.settings()
        self.note_killed(contract, settings)
        age = span_words(self.now - contract["armed_at"])
        text = describe(contract, settings, self.now, f"{contract['state']} {age} ago")
        waits = contract["waiting"]
        if waits and (self.payload.get("source") == "resume" or 0 < (waits.get("until") or 0) < self.now):
            self.notes.append(f"the wait for {waits.get('what')} ended unused; "
                              f"{plural(len(items_in(contract, OPEN)), 'item')} open")
        return self.answer("SessionStart", Answer(context=text, system=(
            f"{NAME}: {contract['state']} for {age}: {quoted(contract)}"
            f"{tally(contract) and ' (' + tally(contract) + ')'}. \"stop\" releases.")))

    def ancestor(self):
        """The live contract of the session that this one provably came from, None if nothing proves one."""
        if self.payload.get("source") not in ("clear", "fork", "compact", "resume"):
            return None
        pid, head = client_process(self.environ), read_head(self.payload.get("transcript_path"))
        links = [row.get("forkedFrom") for row in head if isinstance(row.get("forkedFrom"), dict)]
        names = {session_file(row.get("sessionId")) for row in links + head} | {
            session_file(str(self.payload.get("transcript_path")).rpartition("/")[2].partition(".jsonl")[0])}
        if self.payload["source"] == "clear" and pid:
            names |= {c["session"] for c in contracts_in(self.store, LIMITS["kin"]) if c["pid"] == pid}
        found = [self.store.load(name).contract for name in sorted(names - {"", self.name})]
        live = [contract for contract in found if contract and contract["state"] in LIVE]
        return max(live, key=lambda contract: contract["changed_at"]) if live else None

    # -- UserPromptSubmit

    def on_prompt(self):
        """Hear the operator. Exit 0 whatever happens: exit 2 here would erase the prompt."""
        text = self.payload.get("prompt")
        if not isinstance(text, str) or not text:
            return Reply()
        loaded = self.store.load(self.name) if self.name else Loaded()
        away = exists(f"{self.store.path}/presence.json") and self.presence()
        if away and self.operator_words(text, loaded.contract):
            self.notes.append(self.return_text())
            with self.store.locked():
                self.set_presence({})
        gated = loaded.kind == "malformed" or (loaded.kind == "ok" and loaded.contract["state"] in LIVE)
        settings = self.settings() if gated or file_size(f"{self.store.path}/phrases.json") else None
        if not gated and not may_matter(text, False, settings and settings.own):
            return tell("\n".join(f"{NAME}: {note}" for note in self.notes))
        words = self.operator_words(text, loaded.contract)
        settings = settings or self.settings()
        heard = read_prompt(words, gated, settings.own, settings.off) if words else None
        if not heard or not (gated or heard["intent"]):
            return tell("\n".join(f"{NAME}: {note}" for note in self.notes))
        if not self.name:
            return tell(fault_line("session", why=one_line(repr(self.payload.get("session_id")), 60)))
        if loaded.kind in ("foreign", "newer"):
            return tell(self.fault_of(loaded))
        if loaded.kind == "malformed":
            return self.on_broken(loaded, heard, settings)
        if not gated and heard["command"] and heard["command"][0] not in ("arm", "away", "back"):
            # Nothing is armed and nothing will be: answered without writing.
            return self.answer("UserPromptSubmit", hear(None, Prompt(heard=heard), settings, self.now)[1])
        return self.change(heard, settings)

    def operator_words(self, text, contract):
        """The part of a prompt that the operator typed, "" if a machine wrote it."""
        source = self.payload.get("source")
        if source is not None and source not in OPERATOR_SOURCES:
            return ""
        if contract and source is None and digest(text) in contract["crons"]:
            return ""           # a scheduled prompt comes back without any mark
        return human_part(text)

    def change(self, heard, settings):
        """Apply what was heard, under the lock, and answer."""
        try:
            with self.store.locked():
                loaded = self.store.load(self.name)
                contract = loaded.contract if loaded.kind == "ok" and loaded.contract["state"] in LIVE else None
                contract = contract and at_transcript(contract, self.payload.get("transcript_path"))
                away = heard["intent"] == "arm" and fold(self.payload["prompt"]).startswith(AWAY_WORDS)
                prompt = Prompt(heard=heard, away=away, session=self.name,
                                mode="plan" if self.payload.get("permission_mode") == "plan" else "",
                                size=file_size(self.payload.get("transcript_path")))
                if contract:
                    self.note_killed(contract, settings)
                after, answer = hear(contract, prompt, settings, self.now)
                if away or heard["command"][:1] == ("away",):
                    self.set_presence({"away": True, "since": self.now, "until": budget_end(heard["budget"], self.now)})
                if after is not None and after != contract:
                    after = self.with_payload(after, settings)
                    changed = contract is None or after["state"] != contract["state"] or answer.system or answer.halt
                    self.store.save(after, durable=bool(changed))
                    self.noted(lambda: self.log_change(
                        after, heard["rule"] or heard["intent"], "CHANGE" if changed else "PROMPT",
                        bytes=len(answer.context.encode("utf-8", "replace"))))
                if contract is None and after is not None:
                    self.store.sweep(self.now)
        except StoreError as error:
            done = {"arm": "ARMED", "disarm": "RELEASED", "pause": "PAUSED"}.get(heard["intent"], "SAVED")
            fault = fault_line("store", why=f"NOT {done}: {error}", then="This session is as it was before.")
            return tell("\n".join([fault, *(f"{NAME}: {note}" for note in self.notes)]))
        return self.answer("UserPromptSubmit", answer)

    def on_broken(self, loaded, heard, settings):
        """A prompt while the contract file is malformed: a release sets the file aside."""
        words = heard["command"] or (heard["intent"],)
        if words[0] not in ("disarm", "stop"):
            with self.store.locked():
                self.noted(lambda: self.log_change({**CONTRACT, "session": self.name}, words[0], "PROMPT"))
            return self.answer("UserPromptSubmit", Answer(system=self.fault_of(loaded)))
        with self.store.locked():
            aside = self.store.set_aside(self.name, self.now)
            self.noted(lambda: self.log_change({**CONTRACT, "session": self.name, "state": DISARMED}, heard["rule"]))
        return self.answer("UserPromptSubmit", Answer(
            system=f"{NAME}: released; the broken contract file is now {aside}.",
            context=context("released by the operator; turns end freely again.")))

    # -- Stop

    def on_stop(self):
        if not self.name:
            return tell(fault_line("session", why=one_line(repr(self.payload.get("session_id")), 60)))
        loaded = self.store.load(self.name)
        if loaded.kind == "none":
            return self.on_vanished()
        if loaded.kind in ("foreign", "newer"):
            return tell(self.fault_of(loaded))
        if loaded.kind == "ok" and loaded.contract["state"] not in LIVE:
            return Reply()
        if loaded.kind == "ok":
            return self.judge("")
        last = self.store.last_record(self.name)
        if last.get("state") in STATES and last["state"] not in LIVE:
            return tell(fault_line("ended", path=self.store.contract_path(self.name), why=loaded.why))
        return self.judge(FAULTS["malformed"].format(path=self.store.contract_path(self.name), why=loaded.why))

    def on_vanished(self):
        """No contract file. Silent, unless the log's last word says that one should be there."""
        last = self.store.last_record(self.name)
        if last.get("state") not in LIVE:
            return Reply()
        gone = {**CONTRACT, "session": self.name, "state": DISARMED}
        with self.store.locked():
            self.store.log(log_record(gone, "ALLOW-FAULT", self.now, self.identity(), event="Stop", rules=["vanished"]))
        return tell(fault_line("vanished", why=f"the log's last word is {last['state']}"))

    def judge(self, malformed):
        """Read the evidence, decide, and put the decision on record before it is spoken."""
        settings = self.settings()
        contract = self.contract_now(malformed)
        self.note_killed(contract, settings)
        evidence = self.evidence_for(contract)
        stop, fault = self.read_stop(evidence, settings)
        if fault and not items_in(contract, OPEN) and not malformed:
            return self.spoken(contract, stop, Verdict(cls="ALLOW-FAULT", why=fault), settings,
                               self.recorded(contract, Verdict(cls="ALLOW-FAULT", why=fault), stop, evidence))
        check = None
        try:
            while True:
                with self.store.locked():
                    fresh = self.contract_now(malformed)
                    if fresh["state"] not in LIVE:
                        return Reply()          # released in the meantime: that is the last word
                    if (fresh["read_to"], fresh["prompt_mark"]) != (contract["read_to"], contract["prompt_mark"]):
                        contract, evidence = fresh, self.evidence_for(fresh)
                    fresh = self.released_meanwhile(fresh, evidence, settings)
                    before = absorb(fresh, evidence, settings, self.now)
                    verdict = self.decided(before, stop, evidence.replace(check=check), settings, malformed)
                    if before["state"] not in LIVE or verdict.cls != "CHECK":
                        self.settle(fresh, before, stop, verdict, evidence, settings, malformed)
                        break
                    self.mark_checking(fresh)
                cwd = str(self.payload.get("cwd") or ".")
                check = run_check(before["check"], cwd, self.environ, settings.check_seconds)
        except StoreError as error:
            before = absorb(self.released_meanwhile(contract, evidence, settings), evidence, settings, self.now)
            verdict = self.decided(before, stop, evidence.replace(check=check), settings, malformed)
            verdict = unsaved(verdict, evidence, stop, settings)
            return self.spoken(before, stop, verdict, settings, f"{error}; the decision is not on record")
        self.notify(before, stop, verdict, settings)
        return self.spoken(before, stop, verdict, settings, "")

    def mark_checking(self, contract):
        try:
            self.store.save({**contract, "checking": self.now})
        except StoreError:
            pass                    # the check decides all the same; that nothing can be saved is told then

    def note_killed(self, contract, settings):
        """Say that the check before did not end: the client kills a hook at its timeout, and lets that turn go."""
        if 0 < contract["checking"] < self.now - settings.check_seconds:
            self.notes.append(f"the check of {clock(contract['checking'])} did not end; the turn it was for was let go")

    def evidence_for(self, contract):
        """Evidence from the transcript, and from the files that the contract's mode looks at."""
        try:
            evidence = transcript_evidence(self.payload.get("transcript_path"), contract)
        except StoreError as error:
            self.notes.append(f"{error}; the message and the ledger alone decide")
            evidence = Evidence()
        if contract["mode"] == "run":
            evidence = evidence.replace(run=run_state(contract["run"]))
        return evidence.replace(away=bool(self.presence())) if contract["mode"] == "away" else evidence

    def decided(self, contract, stop, evidence, settings, malformed):
        """The Verdict; in observe mode each Stop is judged as a first one and none is held."""
        if contract["state"] not in LIVE:
            return Verdict(cls="ALLOW-CLEAN")
        if settings.observe:
            contract = {**contract, "streak": 0, "blocks": 0, "degraded": False}
        verdict = decide(contract, stop, evidence, settings, self.now, malformed)
        return verdict.replace(cls="WOULD-BLOCK") if settings.observe and verdict.holds else verdict

    def settle(self, fresh, before, stop, verdict, evidence, settings, malformed):
        """Save what the decision changes, and log it (in the lock)."""
        after = next_contract(before, stop, verdict, self.now) if before["state"] in LIVE else before
        after = self.with_payload(after, settings)
        if after != fresh and not malformed:
            self.store.save(after, durable=after["state"] != fresh["state"])
        if not malformed:
            self.noted(lambda: self.log_decision(before, after, stop, verdict, evidence, settings))
        else:
            self.log_decision(before, after, stop, verdict, evidence, settings)     # there the log keeps the counters

    def noted(self, write):
        """WRITE to the log; if that fails, what it is about stands in the contract all the same, and that is said."""
        try:
            write()
        except StoreError as error:
            self.notes.append(f"{error}; the log lacks a line")

    def log_decision(self, before, after, stop, verdict, evidence, settings):
        if before["state"] in LIVE:
            size = len(block_text(before, stop, verdict, settings).encode("utf-8", "replace")) if verdict.holds else 0
            self.log_verdict(after, verdict, stop, evidence, bytes=size)
        else:
            self.log_change(before, "queued")

    def released_meanwhile(self, contract, evidence, settings):
        """CONTRACT after a release or pause that the operator typed while the turn ran, and no event told of."""
        for time, text in evidence.queued:
            words = self.operator_words(text, contract) if time[:19] > clock(contract["prompt_at"])[:19] else ""
            heard = read_prompt(words, True, settings.own, settings.off) if words else NOTHING_HEARD
            word = heard["command"][0] if heard["intent"] == "command" else heard["intent"]
            if word in ("disarm", "stop"):
                self.notes.append("released: \"stop\" was typed while the turn ran")
                return released(contract, self.now, "queued prompt")
            if word == "pause" and contract["state"] == ARMED:
                self.notes.append("paused: it was typed while the turn ran")
                contract = {**contract, "state": PAUSED, "changed_at": self.now, "prompt_at": self.now}
        return contract

    def contract_now(self, malformed):
        """The contract to judge by. For a malformed file: a blank one that counts on from the log."""
        loaded = self.store.load(self.name)
        if loaded.kind == "ok":
            return at_transcript(loaded.contract, self.payload.get("transcript_path"))
        if not malformed:
            return {**CONTRACT, "session": self.name, "state": DISARMED}        # gone since it was first looked for
        last = self.store.last_record(self.name)
        if last.get("class") in ("PROMPT", "CHANGE"):
            last = {"read_to": last.get("read_to")}
        counts = {k: last[k] for k in ("streak", "blocks", "read_to") if type(last.get(k)) is int}
        return {**CONTRACT, "session": self.name, **counts, "message": str(last.get("digest", "")),
                "degraded": last.get("class") == "ALLOW-DEGRADED"}

    def read_stop(self, evidence, settings):
        """(Stop, fault): the payload read, the message from the transcript where the host left it out."""
        payload, fault = self.payload, ""
        message = payload.get("last_assistant_message")
        if "last_assistant_message" not in payload:
            message = evidence.text or last_text(payload.get("transcript_path"))
            if message is None:
                fault = "the Stop carried no last_assistant_message and the transcript shows none"
        message = message if isinstance(message, str) else ""
        seen = read_turn(message, evidence.turn_calls, settings.own, settings.off, False) if message else {}
        return Stop(message=message, mode=str(payload.get("permission_mode") or ""),
                    active=payload.get("stop_hook_active") is True, tasks=dicts_in(payload.get("background_tasks")),
                    crons=dicts_in(payload.get("session_crons")), **seen), fault

    def recorded(self, contract, verdict, stop, evidence):
        """Log VERDICT; the fault if that fails, else ""."""
        try:
            with self.store.locked():
                self.log_verdict(contract, verdict, stop, evidence)
        except StoreError as error:
            return str(error)
        return ""

    def log_verdict(self, contract, verdict, stop, evidence, **facts):
        if stop.advisory:
            facts["advisory"] = [hit[0] for hit in stop.advisory]
        self.store.log(log_record(
            contract, verdict.cls, self.now, self.identity(), event="Stop", rules=list(verdict.rules), why=verdict.why,
            digest=digest(fold(stop.message or "")), read_to=evidence.end, progress=verdict.progress, **facts))

    def log_change(self, contract, rule, cls="CHANGE", **facts):
        event = self.payload.get("hook_event_name", "command")
        self.store.log(log_record(contract, cls, self.now, self.identity(), event=event, rules=[rule], **facts))

    def spoken(self, contract, stop, verdict, settings, fault):
        """The Reply for a decision. A systemMessage goes with every hold: without it the client lets some go."""
        notes = [f"{NAME}: {note}" for note in dict.fromkeys(self.notes)] + ([f"{NAME}: {fault}."] if fault else [])
        if verdict.holds:
            line = "\n".join([hold_line(contract, stop, verdict, settings), *notes])
            return tell(line).replace(code=HOLD, err=block_text(contract, stop, verdict, settings))
        if verdict.cls == "ALLOW-FAULT":
            notes.insert(0, f"{NAME}: let go: {verdict.why}. Still armed: {quoted(contract)}.")
        line = allow_line(contract, verdict) if contract["state"] in LIVE else ""
        return tell("\n".join([line] * bool(line) + notes))

    def notify(self, contract, stop, verdict, settings):
        """Start the operator's `notify` for a decision that is on record, and do not wait for it."""
        event = notice_of(contract, verdict) if settings.notify and not settings.observe else ""
        if event:
            line = hold_line(contract, stop, verdict, settings) if verdict.holds else allow_line(contract, verdict)
            fault = start_notice(settings.notify, settings.notify_seconds, str(self.payload.get("cwd") or "."),
                                 event=event, session=contract["session"], condition=contract["condition"],
                                 open=len(items_in(contract, OPEN)), text=line)
            self.notes.extend([f"notify could not be started: {fault}"] * bool(fault))

    # -- all events

    def with_payload(self, contract, settings):
        """CONTRACT with the transcript's path, and this event's key names once a session, never their values."""
        event, path = self.payload["hook_event_name"], self.payload.get("transcript_path")
        keys = contract["keys"] if event in contract["keys"] else {
            **contract["keys"], event: sorted(str(key)[:40] for key in self.payload)[:40]}
        changed = sorted(name for name in {**contract["pins"], **settings.pins}
                         if contract["pins"].get(name) != settings.pins.get(name))
        if changed:
            self.notes.append(f"changed since this session was armed: {', '.join(changed)}")
        if self.switch not in ("", "1", "observe") and "switch" not in contract["told"]:
            self.notes.append(f"SESSION_CONTRACT={one_line(self.switch, 20)!r} is not 0, 1 or observe; the gate is on")
            contract = {**contract, "told": with_told(contract, "switch")}
        return {**contract, "keys": keys, "pins": settings.pins, "pid": client_process(self.environ),
                "transcript": path if isinstance(path, str) and path else contract["transcript"]}

    def fault_of(self, loaded):
        return fault_line(loaded.kind, path=self.store.contract_path(self.name), why=loaded.why)

    def answer(self, event, answer):
        """ANSWER as the JSON that EVENT understands."""
        notes = [f"{NAME}: {note}" for note in self.notes]
        if answer.reply:
            return tell("", decision="block", reason="\n".join([*notes, answer.reply]), hookSpecificOutput={
                "hookEventName": event, "suppressOriginalPrompt": True})
        if answer.halt:
            return tell("", **{"continue": False, "stopReason": "\n".join([*notes, answer.halt])})
        system = "\n".join([answer.system] * bool(answer.system) + notes)
        if not answer.context:
            return tell(system)
        return tell(system, hookSpecificOutput={"hookEventName": event, "additionalContext": answer.context})


def unsaved(verdict, evidence, stop, settings):
    """VERDICT where the counters cannot be written: our own feedback in the transcript counts instead."""
    if verdict.cls == "CHECK":
        return verdict.replace(cls="ALLOW-FAULT", why="the operator's check was not run")
    if not verdict.holds:
        return verdict
    if evidence.readable:
        over = evidence.stalled >= settings.stalls or evidence.holds >= settings.blocks
        return verdict.replace(cls="ALLOW-DEGRADED", why=f"{plural(evidence.holds, 'hold')} that could not be recorded"
                               ) if over else verdict
    return verdict.replace(cls="ALLOW-FAULT", why="neither store nor transcript can count the holds") if stop.active \
        else verdict


def dicts_in(value):
    return tuple(v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()


def run_hook(payload, fault, environ, now):
    """The Reply to one hook call, whose payload has been read (or not: FAULT). The one place where failures end."""
    if fault:
        return tell(fault_line("payload", why=one_line(fault)))
    try:
        return Hook(payload, environ, now).run()
    except Exception as error:      # fail open, and say so: an error of ours must never hold a turn or eat a prompt
        return tell(fault_line("program", why=one_line(f"{type(error).__name__}: {error}")))


# --- command line --------------------------------------------------------------------------------
# Off the hook path: these functions import what they like.

EVIDENCE_HELP = "command:CMD and file:PATH are verified, url:URL and note:TEXT are your word"
SCOPES = {"user": "settings.json", "project": ".claude/settings.json", "local": ".claude/settings.local.json"}

# Arguments of several commands: the flag, argparse's options.
SESSION = ("--session", {"help": "session id (default: CLAUDE_CODE_SESSION_ID)"})
LAST = ("--last", {"action": "store_true", "help": "the session whose contract changed last"})
ALL = ("--all", {"action": "store_true", "help": "every session in the store"})
JSON = ("--json", {"action": "store_true", "help": "as JSON, for programs"})
PROOF = ("--evidence", {"action": "append", "required": True, "metavar": "KIND:VALUE", "help": EVIDENCE_HELP})
SCOPE = ("--scope", {"choices": tuple(SCOPES), "default": "user", "help": "whose settings.json (default: user)"})
DRY_RUN = ("--dry-run", {"action": "store_true", "help": "show the difference and change nothing"})
NEEDS = {"required": True}

# The commands: name, what it does, its arguments; a list holds arguments of which one at the most may be given.
COMMAND_ROWS = (
    ("status", "show the contract of a session", ALL, JSON, SESSION, LAST),
    ("log", "show what was decided and why", JSON,
     ("--follow", {"action": "store_true", "help": "go on printing lines as they come"}), SESSION, LAST),
    ("report", "count what was caught, and what came of it", ALL,
     [JSON, ("--html", {"metavar": "FILE", "help": "write it to FILE as one page, with each session's timeline"})],
     SESSION, LAST),
    ("arm", "arm a session (operator)",
     ("condition", {"nargs": "*", "help": "what must hold before the session may stop"}),
     ("--from", {"dest": "old", "metavar": "OLD", "default": "", "help": "carry over an earlier session's contract"}),
     ("--check", {"metavar": "CMD", "default": "", "help": "the hook runs it when nothing else is owed; 0 is met"}),
     ("--run-state", {"metavar": "FILE", "default": "", "help": "held until this JSON file's field is terminal"}),
     ("--field", {"default": "state", "help": "field of the state file, dots reach inside (default: state)"}),
     ("--terminal", {"default": "closed", "help": "states that end the run, by commas (default: closed)"}),
     ("--artifact", {"metavar": "CLASSES", "default": "", "help": f"held until one ships: {','.join(ARTIFACTS)}"}),
     ("--while-away", {"action": "store_true", "help": "held without a stall bound while you are away"}),
     SESSION, LAST),
    ("away", "say that you are away from this machine (operator)", ("--until", {"default": "", "help": "HH:MM"})),
    ("back", "say that you are back, and see what happened (operator)"),
    ("disarm", "release a session (operator)", SESSION, LAST),
    ("pause", "let turns end until the next prompt (operator)", SESSION, LAST),
    ("mark-wrong", "record that the last hold was wrong; report counts it (operator)", SESSION, LAST),
    ("item", "the ledger of what is owed"),
    ("met", "claim that the condition holds, with evidence", PROOF, SESSION, LAST),
    ("wait", "say that the next stop waits for something that the client reports",
     ("--for", {"dest": "what", "required": True}), SESSION, LAST),
    ("decide", "record a fork that the policy resolved", ("--fork", NEEDS), ("--rule", NEEDS), ("--path", NEEDS),
     ("--reason", NEEDS), SESSION, LAST),
    ("policy", "print the decision policy in force"),
    ("explain", "show how a message or a prompt is read, rule by rule",
     ("file", {"nargs": "?", "default": "-", "help": "a file, or - for standard input"}),
     ("--prompt", {"action": "store_true", "help": "read it as the operator's prompt, not as a turn's end"})),
    ("replay", "how many turn-ends of past transcripts would have been held",
     ("paths", {"nargs": "+", "help": "transcripts (.jsonl) or folders of them"}), JSON),
    ("statusline", "one segment for the client's status line, whose JSON it reads"),
    ("install", "copy this file, prove it and register it (operator)", SCOPE, DRY_RUN),
    ("uninstall", "take the entries out again (operator)", SCOPE, DRY_RUN),
    ("doctor", "say what is wrong with the installation and how to mend it",
     ("--session", {"help": "has the hook fired there? (default: CLAUDE_CODE_SESSION_ID)"}), JSON),
    ("demo", "play an arming, a hold, an honest end and a release in a scratch folder"))
ITEM_ROWS = (
    ("add", "add one unit of work", ("text", {}), SESSION, LAST),
    ("done", "close an item with evidence", ("id", {}), PROOF, SESSION, LAST),
    ("waive", "give an item up, with the reason", ("id", {}), ("--reason", NEEDS), SESSION, LAST),
    ("escalate", "name an item that only the operator can lift", ("id", {}), ("--reason", NEEDS),
     ("--class", {"dest": "kind", "choices": ESCALATIONS, "required": True}), SESSION, LAST),
    ("hand-off", "pass an item on to its next actor (artifact mode)", ("id", {}), ("--to", NEEDS), SESSION, LAST),
    ("list", "show the ledger", SESSION, LAST))


class Refusal(Exception):
    """A command that cannot be carried out: one line with what, why and what to do. Exit status 1."""


def main(argv=None):
    """Without arguments: the hook. With arguments: a command. Never returns from a hook call."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["statusline"]:
        return status_line()        # many times a minute: without argparse
    if arguments:
        return run_command(arguments)
    if fs.isatty(0):
        put(1, HELP.format(name=NAME, version=__version__, prog=own_command()) + "\n")
        return 0
    return gate()


def show(text):
    """One piece of a command's answer; whether it arrived."""
    return put(1, text + "\n")


def run_command(arguments):
    """Carry out one command; its exit status: 0 done, 1 refused or failed, 64 wrong usage."""
    import os
    import time
    os.umask(os.umask(0o022) | 0o022)       # what a command makes, and what it starts, is for nobody else to write
    parser = command_parser()
    try:
        args = parser.parse_args(arguments)
        return args.run(args, os.environ, int(time.time())) or 0
    except (Refusal, StoreError) as error:
        put(2, f"{NAME}: {error}\n")
        return 1
    except SystemExit as stop:
        return 64 if stop.code == 2 else stop.code      # argparse's 2 means a hold to the client


def command_parser():
    import argparse

    class Parser(argparse.ArgumentParser):
        def _print_message(self, message, file=None):
            put(2 if file is sys.stderr else 1, message or "")      # as all our output: a closed pipe is no error

    parser = Parser(prog=NAME, description="Hold a Claude Code turn open while work is owed.")
    parser.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    add_commands(parser, COMMAND_ROWS, "cmd_")
    return parser


def add_commands(parser, rows, prefix):
    """Give PARSER the commands of these rows. A row's function is named PREFIX and its name."""
    verbs = parser.add_subparsers(dest=prefix, metavar="COMMAND", required=True)
    for name, text, *arguments in rows:
        sub = verbs.add_parser(name, help=text, description=text)
        function = prefix + name.replace("-", "_")
        if name == "item":
            add_commands(sub, ITEM_ROWS, function + "_")
            continue
        sub.set_defaults(run=globals()[function])
        for argument in arguments:
            either = isinstance(argument, list)         # of these, one at the most
            group = sub.add_mutually_exclusive_group() if either else sub
            for flag, options in argument if either else [argument]:
                group.add_argument(flag, **options)


def session_of(args, environ, store):
    """The session a command is about; Refusal if none is named."""
    given = args.session or ("" if args.last else environ.get("CLAUDE_CODE_SESSION_ID", ""))
    if args.last and not given:
        found = sorted(contracts_in(store), key=lambda contract: contract["changed_at"])
        if not found:
            raise Refusal(f"no contract in {store.path}; arm one first")
        return found[-1]["session"]
    if not given:
        raise Refusal("no session named; use --session ID or --last")
    name = session_file(given)
    if not name:
        raise Refusal(f"{given!r} is no session id: letters, digits, '.', '_', '-', at most 128")
    return name


def command_hook(environ, now):
    """The hook's own part for a command: settings, presence, who is at it."""
    hook = Hook({}, environ, now)
    hook.store = Store(store_dir(environ))
    return hook


def live_contract(store, name):
    loaded = store.load(name)
    if loaded.kind not in ("ok", "none"):
        raise Refusal(fault_line(loaded.kind, path=store.contract_path(name), why=loaded.why))
    if loaded.kind == "none" or loaded.contract["state"] not in LIVE:
        raise Refusal(f"nothing is armed in session {name}")
    return loaded.contract


def only_operator(environ, verb):
    """Refuse an operator's verb in the agent's shell."""
    if environ.get("CLAUDECODE"):
        raise Refusal(f"{verb} is the operator's: type it as a prompt (`contract: {verb}`) or use another terminal")


def change_contract(args, environ, now, change, what, cls="CHANGE", **facts):
    """Apply CHANGE(contract) to a session's contract under the lock, on record; the contract after it."""
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    try:
        with store.locked():
            before = live_contract(store, name)
            after = change(before)
            record = log_record(after, cls, now, Hook({}, environ, now).identity(), event="command", rules=[what],
                                **facts)
            if after != before:
                store.save(after, durable=True)
                log_or_tell(store, record)
            else:
                store.log(record)       # the line is all that there is
    except StoreError as error:
        raise Refusal(f"{error}; nothing changed. In a sandboxed shell, allow writing to {store.path} (the sandbox's "
                      "filesystem.allowWrite setting) or set SESSION_CONTRACT_DIR to a writable place") from None
    return after


def log_or_tell(store, record):
    """Log what stands in the contract already; if that fails it stands all the same, and the missing line is told."""
    try:
        store.log(record)
    except StoreError as error:
        put(2, f"{NAME}: {error}; the log lacks a line\n")


# --- command line: looking -----------------------------------------------------------------------

def cmd_status(args, environ, now):
    store = Store(store_dir(environ))
    if args.all:
        found = contracts_in(store)
    else:
        loaded = store.load(session_of(args, environ, store))
        if loaded.kind not in ("ok", "none"):
            raise Refusal(f"{loaded.kind} contract: {loaded.why}")
        found = [loaded.contract] if loaded.contract else []
    if args.json:
        import json
        show(json.dumps(found, indent=1))
    elif not found:
        show(f"{NAME}: no contract ({store.path})")
    for contract in () if args.json else found:
        show(f"session {contract['session']}\n{status_text(contract, now)}")


def cmd_log(args, environ, now):
    import time
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    shown = 0
    while True:
        records = records_of(store, name)
        for record in records[shown:]:
            if not show(dump_json(record) if args.json else log_text(record)):
                return              # nobody reads on
        shown = len(records)
        if not args.follow:
            return
        time.sleep(0.5)


def records_of(store, name):
    """Every line of a session's logs, oldest first."""
    lines = [line for path in (store.old_log_path(name), store.log_path(name))
             for line in (read_tail(path, 16 << 20)[0] or b"").split(b"\n") if line]
    return [record for record, fault in map(parse_json, lines) if not fault and isinstance(record, dict)]


def log_text(record):
    what = ", ".join(record.get("rules") or ()) or "-"
    why = record.get("why") or record.get("reason") or ""
    return (f"{record.get('time')}  {record.get('class', '?'):18} owed {record.get('owed')}  streak "
            f"{record.get('streak')}  {record.get('state')}  {what}  {why}  [{record.get('identity')}]")


REPORT = (          # key, what it counts
    ("sessions", "sessions that were ever armed"), ("hours", "hours under contract"), ("caught", "stops caught"),
    ("resolved", "caught, then work and a clean stop with no prompt between"),
    ("overridden", "caught, then released or paused by the operator"), ("interrupted", "caught, then another prompt"),
    ("degraded", "caught, then let go by the breaker"), ("pending", "caught, outcome still open"),
    ("would", "would have been caught (observe)"), ("wrong", "marked wrong"),
    ("human", "stops that asked for a human decision"),
    ("escalations", "items escalated"), ("waivers", "items waived"), ("forks", "forks recorded"),
    ("bytes", "bytes injected"))


def count_report(logs):
    """The counts of REPORT over LOGS: {session: [record]}. A caught stop counts once, under what became of it."""
    counts = dict.fromkeys((key for key, _ in REPORT), 0)
    counts["sessions"] = sum(map(bool, logs.values()))
    for records in logs.values():
        pending, worked, armed_at = 0, False, None
        for record in records:
            cls, state, what = record.get("class"), record.get("state"), (record.get("rules") or ["", ])[0]
            outcome = ""
            if record.get("event") == "Stop":
                worked = worked or bool(record.get("progress"))
            if cls in ("BLOCK", "BLOCK-MALFORMED"):
                counts["caught"] += 1
                pending, worked = pending + 1, False if not pending else worked
            elif cls in ("ALLOW-CLEAN", "ALLOW-MET", "ADVISORY", "MATERIAL-ALLOW", "CLEAN-TERMINAL-ALLOW"):
                outcome = "resolved" if worked else ""
            elif cls == "ALLOW-DEGRADED":
                outcome = "degraded"
            elif record.get("event") == "UserPromptSubmit" or (cls == "CHANGE" and state not in LIVE):
                outcome = "interrupted" if state == ARMED else "overridden"
            counts["human"] += cls in ("ALLOW-ESCALATED", "ALLOW-BLOCKER", "ALLOW-PLAN")
            counts["would"] += cls == "WOULD-BLOCK"
            counts["wrong"] += cls == "WRONG"
            counts["forks"] += cls == "FORK"
            counts["escalations"] += what == "item escalated"
            counts["waivers"] += what == "item waived"
            counts["bytes"] += record.get("bytes") or 0
            if outcome:
                counts[outcome] += pending
                pending, worked = 0, False
            at = time_of(record.get("time"))
            if armed_at is not None:
                counts["hours"] += (at - armed_at) / 3600
            armed_at = at if state in LIVE else None
        counts["pending"] += pending
    counts["hours"] = round(counts["hours"], 1)
    return counts


def time_of(text):
    """Seconds since the epoch of a log line's time, 0 if it is none."""
    import calendar
    import time
    try:
        return calendar.timegm(time.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0


def cmd_report(args, environ, now):
    import os
    store = Store(store_dir(environ))
    if args.all:
        names = sorted(n[:-len(".jsonl")] for n in (os.listdir(store.logs) if os.path.isdir(store.logs) else ())
                       if n.endswith(".jsonl") and not n.startswith("."))
    else:
        names = [session_of(args, environ, store)]
    logs = {name: records_of(store, name) for name in names}
    counts = count_report(logs)
    if args.json:
        show(dump_json(counts))
    elif args.html is not None:
        conditions = {contract["session"]: contract["condition"] for contract in contracts_in(store)}
        write_whole(args.html, html_report(logs, counts, now, conditions).encode("utf-8", "replace"))
        show(f"{os.path.abspath(args.html)}: {plural(len(names), 'session')}, "
             f"{plural(sum(map(len, logs.values())), 'event')}")
    else:
        for key, text in REPORT:
            show(f"{counts[key]:>8}  {text}")


def cmd_policy(args, environ, now):
    hook = command_hook(environ, now)
    settings = hook.settings()
    show(f"# {settings.policy_file or 'as shipped'}\n{settings.policy}")
    for note in hook.notes:
        show(f"# {note}")


def cmd_statusline(args, environ, now):
    return status_line()


def cmd_explain(args, environ, now):
    data = sys.stdin.buffer.read() if args.file == "-" else read_file(args.file, LIMITS["payload"])
    if data is None:
        raise Refusal(f"no such file: {args.file}")
    hook = command_hook(environ, now)
    settings, text = hook.settings(), data.decode("utf-8", "replace").replace("\r\n", "\n")
    rows = explain_prompt(text, settings) if args.prompt else explain_message(text, settings)
    for row in rows + [f"note: {note}" for note in hook.notes]:
        show(row)


def explain_message(text, settings):
    """How a turn's last message is read: each span that fired or was excused, with its rule and the reason."""
    seen = read_turn(text, None, settings.own, settings.off)
    says = {row[0]: row[-1] for row in RULES + RULES_OTHER + EXCUSES + EXCUSES_OTHER}
    rows = [f"{'HELD' if seen['hits'] else 'let go'}: {plural(len(seen['hits']), 'span')} held, "
            f"{len(seen['excused'])} excused, {len(seen['advisory'])} advisory"]
    for kind in ("hits", "excused", "advisory"):
        for rule, family, start, end, *excuse in seen[kind]:
            rows.append(f"{kind}: {family} {rule}: {says.get(rule, 'a phrase of your own')}\n    "
                        f"{start}-{end}: {one_line(text[start:end], 160)}")
            rows.extend(f"    excused by {name}: {says.get(name, '')}" for name in excuse)
    if seen["blocker"]:
        rows.append(f"blocker: {seen['blocker']}: {says.get(seen['blocker'], '')}")
    return rows + (["waits: let go only while the client reports what it waits for"] if seen["waits"] else [])


def explain_prompt(text, settings):
    """How a prompt is read: fresh and in an armed session."""
    says = {row[0]: row[-1] for row in INTENT_RULES + INTENT_EXCUSES}
    rows = []
    for gated in (False, True):
        heard = read_prompt(human_part(text), gated, settings.own, settings.off)
        rows.append(f"{'armed session' if gated else 'fresh session'}: {heard['intent'] or 'no intent'}"
                    + (f" by {heard['rule']}" if heard["rule"] else "")
                    + (f", condition {heard['condition']!r}" if heard["condition"] else "")
                    + (f", items {list(heard['items'])}" if heard["items"] else "")
                    + (f", budget {heard['budget']}" if heard["budget"] else ""))
        rows.extend(f"    excused: {rule} ({one_line(text[start:end], 80)}) by {name}: {says.get(name, '')}"
                    for rule, start, end, name in heard["excused"])
    return rows


# --- command line: the page of a report ----------------------------------------------------------

PAGE_SESSIONS, PAGE_ROWS, PAGE_STEPS = 24, 120, 500     # drawn at most: sessions, rows of each, places on its axis
PAGE_ENDS = (
    ("resolved", "ended in work and a clean stop"), ("overridden", "released or paused"),
    ("interrupted", "overtaken by a prompt"), ("degraded", "let go by the breaker"), ("pending", "still open"))
LANES = (                       # of a timeline: name, the mark that goes with the colour, the colour's name
    ("armed", "\u25ac", "armed"), ("you", "\u25b2", "you"), ("work", "\u25a0", "work"), ("held", "\u25cf", "held"),
    ("let go", "\u25cb", "go"), ("ledger", "\u25c6", "ledger"))
OPERATORS_VERBS = ("arm", "disarm", "pause")
EVENT_WORDS = {
    "BLOCK": "held", "BLOCK-MALFORMED": "held, the contract is unreadable", "WOULD-BLOCK": "would have been held",
    "ADVISORY": "let go, with a remark", "ALLOW-CLEAN": "let go, a clean end", "ALLOW-PAUSED": "let go, paused",
    "ALLOW-MET": "let go, the condition is met", "ALLOW-PLAN": "let go, a plan", "ALLOW-FAULT": "let go, a fault",
    "ALLOW-DIALOGUE": "let go, it answers you", "ALLOW-BUDGET": "let go, the time is spent",
    "ALLOW-WAITING": "let go, it waits", "ALLOW-ESCALATED": "let go, it asks you",
    "ALLOW-BLOCKER": "let go, only you can lift it", "ALLOW-DEGRADED": "let go by the breaker",
    "ALLOW-PRESENT": "let go, you are present", "MATERIAL-ALLOW": "let go, shipped",
    "CLEAN-TERMINAL-ALLOW": "let go, handed on", "PROMPT": "prompt", "FORK": "fork resolved",
    "WRONG": "hold marked wrong"}
PAGE_STYLE = """
:root{color-scheme:light dark;--paper:#fbfaf6;--ink:#21201d;--soft:#68655d;--line:#dfdbd0;
--armed:#8a8474;--you:#2a5d9f;--work:#6d6a62;--held:#b23a1e;--go:#2a7048;--ledger:#80591a}
@media(prefers-color-scheme:dark){:root{--paper:#17181a;--ink:#e9e6df;--soft:#a5a198;--line:#36373a;
--armed:#77736a;--you:#8ab4ee;--work:#b5b1a7;--held:#f48a6c;--go:#7ecb9c;--ledger:#dcb365}}
*{box-sizing:border-box}body{margin:0 auto;max-width:76rem;padding:2rem 1.25rem 4rem;background:var(--paper);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
code,time{font:.8125rem/1.5 ui-monospace,Menlo,Consolas,monospace;color:var(--soft)}
h1{font-size:1.75rem;line-height:1.2;margin:0}h2{font-size:1.25rem;line-height:1.3;margin:0}p{margin:.25rem 0}
header p,.facts,caption,.rest{color:var(--soft);font-size:.875rem}.lead{font-size:1.125rem;margin:1rem 0 2rem}
table{border-collapse:collapse;width:100%}caption{text-align:left;padding:.25rem 0}
td,th{padding:.375rem 0;border-top:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
thead th{font-size:.8125rem;color:var(--soft)}tbody th[colspan]{padding-top:1rem;font-weight:600}
.totals{font-size:.875rem;margin-bottom:2.5rem}
.totals td{white-space:nowrap;padding-right:1rem;text-align:right;font-variant-numeric:tabular-nums;font-weight:600}
.totals th{width:100%}.totals .none *{color:var(--soft);font-weight:400}.events td:first-child{width:5.5rem}
.events p{margin:0;font-size:.875rem;color:var(--soft)}.events td b{font-weight:600}
section{border-top:2px solid var(--ink);padding-top:.75rem;margin:0 0 3rem}
.lanes{display:grid;grid-template-columns:6.5rem 1fr;margin:1rem 0;font-size:.875rem;line-height:1.5rem}
svg{display:block;width:100%;height:1.5rem;border-bottom:1px solid var(--line)}
path{fill:none;stroke:currentColor;stroke-width:2}
.axis{grid-column:2;display:flex;justify-content:space-between}.axis time{font-size:.75rem;white-space:nowrap}
.armed{color:var(--armed)}.armed path{stroke-width:6}
.you{color:var(--you)}.work{color:var(--work)}.held{color:var(--held)}.go{color:var(--go)}.ledger{color:var(--ledger)}
span.armed{color:var(--soft)}
@media(min-width:64rem){main{display:grid;grid-template-columns:20rem minmax(0,1fr);gap:3rem}}
"""


def html_report(logs, counts, now, conditions=None):
    """The page of `report --html` over LOGS: {session: [record]}, COUNTS of them, and what each session is held to.

    One file that asks for nothing else. What is drawn of it is bounded, and what that leaves out is said.
    """
    from html import escape
    last = {name: str(records[-1].get("time")) if records else "" for name, records in logs.items()}
    names = sorted(logs, key=lambda name: (last[name], name), reverse=True)
    ends = ", ".join(f"{counts[key]:,} {text}" for key, text in PAGE_ENDS if counts[key])
    lead = f"Stops caught: {counts['caught']:,}{ends and '. Of these, ' + ends}." if any(logs.values()) else (
        "Nothing is on record here: no session has been armed.")
    totals = "".join(f"<tr{'' if counts[key] else ' class=none'}><td>{counts[key]:,}</td>"
                     f"<th scope=row>{text}</th></tr>\n" for key, text in REPORT)
    totals = (f"<main>\n<div><table class=totals><caption>Totals of {plural(counts['sessions'], 'session')}</caption>\n"
              f"<tbody>\n{totals}</tbody></table></div>\n<div>\n")
    drawn = "".join(html_session(name, logs[name], (conditions or {}).get(name, "")) for name in names[:PAGE_SESSIONS])
    rest = (f"<p class=rest>{plural(len(names) - PAGE_SESSIONS, 'earlier session')} left out here, counted in the "
            "totals; <code>--session ID</code> draws one.</p>\n" if len(names) > PAGE_SESSIONS else "")
    return ("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
            f"<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>{NAME}: report</title>\n"
            f"<style>{PAGE_STYLE}</style>\n</head>\n<body>\n<header><h1>Turns held and let go</h1>\n"
            f"<p>{NAME} {escape(__version__)}, {clock(now, '%Y-%m-%d %H:%M')} UTC</p></header>\n<p class=lead>{lead}"
            f"</p>\n{f'{totals}{drawn}{rest}</div></main>' if any(logs.values()) else ''}\n</body>\n</html>\n")


def html_session(name, records, condition):
    """One session of the page: what it is held to, its lanes along the time, and its last events as a table."""
    from html import escape
    events, at = [], 0
    for record in records:
        at = max(at, time_of(record.get("time")))
        events.append((at, record, *event_of(record)))
    first = next((at for at, *_ in events if at), 0)
    marks, counts, armed = {}, {}, set()
    wide = (events[-1][0] - first if events else 0) or 1
    for (at, record, lane, *_), (after, *_) in zip(events, events[1:] + events[-1:]):
        x, to = (max(PAGE_STEPS * (each - first) // wide, 0) for each in (at, after))
        for each in [lane] + ["work"] * bool(record.get("progress")):
            marks.setdefault(each, set()).add(x)
            counts[each] = counts.get(each, 0) + 1
        armed |= {(x, to)} if record.get("state") == ARMED and x < to else set()
    paths = {lane: "".join(f"M{x} 5v14" for x in sorted(places)) for lane, places in marks.items()}
    paths["armed"] = "".join(f"M{x} 12H{to}" for x, to in sorted(armed))
    lanes = "".join(f"<span class={css}>{mark} {lane} {counts.get(lane, '')}</span><svg class={css} aria-hidden=true "
                    f"viewBox=\"-4 0 {PAGE_STEPS + 8} 24\" preserveAspectRatio=none><path d=\"{paths[lane]}\" "
                    "vector-effect=non-scaling-stroke></path></svg>\n" for lane, mark, css in LANES if paths.get(lane))
    rows, day = "", ""
    for at, record, lane, words, facts in events[-PAGE_ROWS:]:
        date, hour = clock(at, "%Y-%m-%d"), clock(at, "%H:%M:%S")
        if date != day:
            rows += f"{'</tbody>' * bool(day)}<tbody><tr><th colspan=2 scope=rowgroup>{date}</th></tr>\n"
            day = date
        mark, css = next((mark, css) for name, mark, css in LANES if name == lane)
        rows += (f"<tr><td><time>{hour}</time></td><td><span class={css}>{mark}</span> <b>{escape(words)}</b> "
                 f"<code>{escape(str(record.get('class')))}</code>{facts and f'<p>{escape(facts)}</p>'}</td></tr>\n")
    out = len(events) - PAGE_ROWS
    caption = f"Its last {PAGE_ROWS} events; {out:,} before them are left out here" if out > 0 else "Its events"
    span = " ".join(f"<time>{clock(t, '%Y-%m-%d %H:%M')}</time>" for t in (first, at))
    state = records[-1].get("state") if records else "nothing on record"
    return (f"<section>\n<h2>{escape(condition) or 'No condition pinned'}</h2>\n<p class=facts>{escape(str(state))}, "
            f"{plural(len(events), 'event')}, session <code>{escape(name)}</code></p>\n" + (
                f"<div class=lanes>\n{lanes}<div class=axis>{span}</div></div>\n<table class=events><caption>{caption} "
                "(UTC)</caption>\n<thead><tr><th scope=col>Time</th><th scope=col>Event</th></tr></thead>\n"
                f"{rows}</tbody></table>\n" if events else "") + "</section>\n")


def event_of(record):
    """(lane, words, facts) of a line of the log."""
    cls, what = str(record.get("class")), str((record.get("rules") or [""])[0])
    rules = ", ".join(map(str, record.get("rules") or ()))
    if cls == "FORK":
        text = "{fork} \u2192 {path} (rule {rule}): {reason}"
        return "ledger", EVENT_WORDS[cls], one_line(text.format_map({**dict.fromkeys(
            ("fork", "path", "rule", "reason"), "?"), **record}), 400)
    lane, words = "let go" if record.get("event") == "Stop" else "you", EVENT_WORDS.get(cls, cls)
    if cls in ("BLOCK", "BLOCK-MALFORMED", "WOULD-BLOCK"):
        lane = "held"
    elif cls == "CHANGE" and record.get("event") == "command" and what not in OPERATORS_VERBS:
        lane, words = "ledger", what
    elif cls == "CHANGE":
        lane, words = "you", "released" if record.get("state") == DISARMED else str(record.get("state"))
    facts = [record.get("why"), record.get("item"), record.get("escalation"), record.get("reason"),
             rules if rules != words else "", record.get("progress") and "after work",
             record.get("owed") and f"{record['owed']} open"]
    return lane, words, one_line("; ".join(str(fact).rstrip(".") for fact in facts if fact), 400)


# --- command line: replay ------------------------------------------------------------------------

GO_ON = (           # what a person types after a stop that came too early
    "continue", "go on", "go ahead", "keep going", "yes", "ok", "okay", "proceed", "carry on", "go", "do it", "y",
    "weiter", "continua", "continúa", "continuez", "继续", "続けて", "продолжай", "계속")


def cmd_replay(args, environ, now):
    """Read transcripts row by row, judge each turn's last message, and say what came after it. Nothing is stored."""
    import os
    hook = command_hook(environ, now)
    settings = hook.settings()
    files = [path for given in args.paths for path in transcripts_under(given)]
    if not files:
        raise Refusal(f"no .jsonl transcript under {', '.join(args.paths)}")
    total = {"files": len(files), "turns": 0, "held": 0, "then_continue": 0, "families": {}, "rules": {}}
    telling, terminal = [], os.isatty(2)
    for number, path in enumerate(files, 1):
        if terminal:
            put(2, f"\r{number}/{len(files)} files, {total['turns']} turn-ends, {total['held']} held ")
        for message, prompt, tools in turns_of(path):
            total["turns"] += 1
            hits = read_turn(message, tools, settings.own, settings.off, False)["hits"]
            if not hits:
                continue
            again = fold(prompt).strip(" .!。") in GO_ON
            total["held"] += 1
            total["then_continue"] += again
            for key, values in (("families", {h[1] for h in hits}), ("rules", {h[0] for h in hits})):
                for value in values:
                    total[key][value] = total[key].get(value, 0) + 1
            rule, _, start, end = hits[-1]
            telling.append((again, len({hit[0] for hit in hits}), one_line(message[start:end], 160), rule))
            telling = sorted(telling, key=lambda row: row[:2], reverse=True)[:10]
    if terminal:
        put(2, "\r\033[K")
    if args.json:
        show(dump_json({**total, "telling": [{"then_continue": a, "text": t, "rule": r} for a, _, t, r in telling]}))
        return
    show(f"{total['turns']} turn-ends in {total['files']} files; {total['held']} would have been held; after "
          f"{total['then_continue']} of those the person typed \"continue\" or the like")
    for key in ("families", "rules"):
        for name, count in sorted(total[key].items(), key=lambda pair: -pair[1]):
            show(f"{count:>8}  {name}")
    for again, _, text, rule in telling:
        show(f"{'then continue' if again else '':>13}  {rule}: {text}")


def transcripts_under(path):
    import os
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path)
                  for name in names if name.endswith(".jsonl"))


def turns_of(path):
    """(last message, next prompt or "", tool calls) of each turn of a transcript's main chain, read line by line."""
    message, tools = "", 0
    with open(path, "rb") as lines:
        for line in lines:
            if len(line) > LIMITS["payload"] or not any(mark in line for mark in ROW_MARKS):
                continue
            row, fault = parse_json(line)
            if fault or not isinstance(row, dict) or row.get("isSidechain") or row.get("isMeta"):
                continue
            blocks = content_of(row)
            if row.get("type") == "assistant":
                used = sum(block.get("type") == "tool_use" for block in blocks)
                texts = [block["text"] for block in blocks
                         if block.get("type") == "text" and isinstance(block.get("text"), str)]
                tools, message = tools + used, "" if used else texts[-1] if texts else message
            elif row.get("type") == "user" and any(block.get("type") == "text" for block in blocks):
                prompt = human_part("".join(str(block.get("text")) for block in blocks if block.get("type") == "text"))
                if prompt and message:
                    yield message, prompt, tools
                if prompt:
                    message, tools = "", 0
    if message:
        yield message, "", tools


# --- command line: the operator's verbs ----------------------------------------------------------

def cmd_arm(args, environ, now):
    only_operator(environ, "arm")
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    hook = command_hook(environ, now)
    settings = hook.settings()
    words = " ".join(args.condition)
    heard = {**NOTHING_HEARD, "intent": "arm", "rule": "command",
             "condition": words[len("until "):] if words.lower().startswith("until ") else words}
    chosen = {"check": args.check.strip(), **mode_of(args)}
    with store.locked():
        loaded = store.load(name)
        if loaded.kind not in ("ok", "none"):
            raise Refusal(fault_line(loaded.kind, path=store.contract_path(name), why=loaded.why))
        live = loaded.contract if loaded.kind == "ok" and loaded.contract["state"] in LIVE else None
        old = live_contract(store, session_file(args.old) or "?") if args.old else None
        carried = old and carried_over(old, name, live)
        after, answer = hear(carried or live, Prompt(heard=heard, session=name), settings, now)
        after = {**after, "origin": "command", **{k: v for k, v in chosen.items() if v}}
        store.save(after, durable=True)
        log_or_tell(store, log_record(after, "CHANGE", now, hook.identity(), event="command", rules=["arm"]))
        if carried:                     # last: a process that dies between the two leaves one armed too many, not none
            release_carried(store, old, name, hook)
    show(say("armed", after, now) if carried else answer.system)


def carried_over(old, name, live):
    """The contract OLD for session NAME."""
    if live:
        raise Refusal(f"session {name} is armed already; disarm it first")
    return {**old, "session": name, "revision": 0, "transcript": "", "read_to": 0, "prompt_mark": 0, "armed_mark": 0,
            "calls": [], "keys": {}, "told": []}


def release_carried(store, old, name, hook):
    """Release the session of contract OLD, which session NAME has now (in the lock)."""
    gone = released(old, hook.now, f"carried over to {name}")
    try:
        store.save(gone, durable=True)
    except StoreError as error:
        raise Refusal(f"session {name} is armed, but {gone['session']} could not be released: {error}") from None
    log_or_tell(store, log_record(gone, "CHANGE", hook.now, hook.identity(), event="command",
                                  rules=[f"carried over to {name}"]))


def mode_of(args):
    """The mode that the options of `arm` choose, and what it needs; Refusal for two at once or an unknown class."""
    import os
    given = [name for name in ("run_state", "artifact", "while_away") if getattr(args, name)]
    if len(given) > 1:
        raise Refusal("one mode decides a stop: give one of --run-state, --artifact, --while-away")
    if args.run_state:
        terminal = [state.strip() for state in args.terminal.split(",") if state.strip()]
        run = {"file": os.path.abspath(args.run_state), "field": args.field, "terminal": terminal}
        return {"mode": "run", "run": run}
    if args.artifact:
        wanted = [kind.strip() for kind in args.artifact.split(",") if kind.strip()]
        if not wanted or any(kind not in ARTIFACTS for kind in wanted):
            raise Refusal(f"--artifact takes {' or '.join(ARTIFACTS)}, not {args.artifact!r}")
        return {"mode": "artifact", "wanted": wanted}
    return {"mode": "away"} if args.while_away else {}


def cmd_away(args, environ, now):
    import time
    only_operator(environ, "away")
    hook = command_hook(environ, now)
    try:
        time.strptime(args.until or "00:00", "%H:%M")
    except ValueError:
        raise Refusal(f"--until takes a time as HH:MM, not {args.until!r}") from None
    until = budget_end(("until", args.until), now) if args.until else 0
    with hook.store.locked():
        hook.set_presence({"away": True, "since": now, "until": until})
    end = f" until {args.until}" if until else ""
    show(f"{NAME}: away{end}; sessions armed with --while-away hold on their own")


def cmd_back(args, environ, now):
    only_operator(environ, "back")
    hook = command_hook(environ, now)
    with hook.store.locked():
        hook.set_presence({})
    show(f"{NAME}: {hook.return_text()}")


def cmd_disarm(args, environ, now):
    only_operator(environ, "disarm")
    show(say("released", change_contract(args, environ, now, lambda c: released(c, now, "command"), "disarm")))


def cmd_pause(args, environ, now):
    only_operator(environ, "pause")
    show(say("paused", change_contract(
        args, environ, now, lambda c: {**c, "state": PAUSED, "changed_at": now}, "pause")))


def cmd_mark_wrong(args, environ, now):
    only_operator(environ, "mark-wrong")
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    held = [record for record in records_of(store, name) if record.get("class") in ("BLOCK", "BLOCK-MALFORMED")]
    if not held:
        raise Refusal(f"no hold is on record for session {name}")
    loaded = store.load(name)
    contract = loaded.contract or {**CONTRACT, "session": name, "state": DISARMED}
    hook = Hook({}, environ, now)
    with store.locked():
        store.log(log_record(contract, "WRONG", now, hook.identity(), event="command",
                             rules=held[-1].get("rules") or [], digest=held[-1].get("digest")))
    show(f"marked wrong: the hold of {held[-1].get('time')} by {', '.join(held[-1].get('rules') or ['-'])}")


# --- command line: the ledger --------------------------------------------------------------------

def cmd_item_add(args, environ, now):
    made = {}

    def change(contract):
        after, made["item"] = add_item(contract, args.text, "command", now)
        return after

    if not one_line(args.text):
        raise Refusal("an item needs a text")
    change_contract(args, environ, now, change, "item add")
    show(f"{made['item']['id']} open: {made['item']['text']}")


def cmd_item_list(args, environ, now):
    store = Store(store_dir(environ))
    contract = live_contract(store, session_of(args, environ, store))
    for item in contract["items"]:
        facts = [evidence_text(item.get("evidence", ())), item.get("reason", "")]
        show(f"{item['id']}  {item['state']:10} {item['text']}" + "".join(f"  [{fact}]" for fact in facts if fact))
    if not contract["items"]:
        show("no items")


def cmd_item_done(args, environ, now):
    def change(contract):
        item = next((item for item in contract["items"] if item["id"] == args.id), None)
        evidence = checked_evidence(args, environ, contract, (item or {}).get("opened_at", 0), now)
        return close_or_refuse(contract, args.id, DONE, now, evidence=evidence)

    after = change_contract(args, environ, now, change, "item done")
    item = next(item for item in after["items"] if item["id"] == args.id)
    show(f"{args.id} done: {evidence_text(item['evidence'])}")


def checked_evidence(args, environ, contract, since, now):
    """The evidence given on the command line, checked; Refusal for what does not hold."""
    hook = command_hook(environ, now)
    settings = hook.settings()
    found = []
    for given in args.evidence:
        kind, _, value = given.partition(":")
        value = value.strip()
        if kind not in EVIDENCE or not any(c.isalnum() for c in value):
            raise Refusal(f"evidence {given!r} is not KIND:VALUE; {EVIDENCE_HELP}")
        entry = {"kind": kind, "value": one_line(value), "verified": kind in ("command", "file")}
        if kind == "command":
            why = command_fault(contract, value, since)
            if why:
                raise Refusal(f"command:{one_line(value, 80)} is no evidence: {why}. Nothing changed")
        elif kind == "file":
            entry["digest"] = file_digest(value)
        elif value.isascii() and len(value) < 3 or fold(value).strip(".!") in (
                "done", "n/a", "na", "none", "ok", "yes", "finished", "complete", "completed"):
            raise Refusal(f"evidence {given!r} says nothing; say what shows that the work is done. Nothing changed")
        found.append(entry)
    if settings.evidence == "verified" and not any(entry["verified"] for entry in found):
        raise Refusal("the operator's config wants verified evidence: command:CMD or file:PATH. Nothing changed")
    return found


def command_fault(contract, command, since):
    """Why the session's transcript does not show that COMMAND ran well after SINCE; "" if it does."""
    try:
        data, offset, _ = read_tail(contract["transcript"], LIMITS["transcript"])
    except StoreError as error:
        return str(error)
    if data is None:
        return "no transcript of this session can be read"
    return ran_well(rows_of(data, offset, offset == 0)[0], command, clock(since))


def file_digest(path):
    import hashlib
    import os
    if not os.path.isfile(path):
        raise Refusal(f"file:{path} does not exist or is no file. Nothing changed")
    with open(path, "rb") as stream:
        total = hashlib.sha256()
        for piece in iter(lambda: stream.read(1 << 20), b""):
            total.update(piece)
    return total.hexdigest()[:16]


def close_or_refuse(contract, name, state, now, **facts):
    try:
        return close_item(contract, name, state, now, **facts)
    except KeyError:
        known = ", ".join(item["id"] for item in contract["items"]) or "none"
        raise Refusal(f"no item {name}; the ledger has {known}") from None
    except ValueError as error:
        raise Refusal(f"{error}; nothing changed") from None


def close_command(args, environ, now, state, **facts):
    change_contract(args, environ, now, lambda contract: close_or_refuse(contract, args.id, state, now, **facts),
                    f"item {state}", reason=facts["reason"], item=args.id)
    show(f"{args.id} {state}: {facts['reason']}")


def reason_of(args):
    reason = one_line(args.reason)
    if not any(c.isalnum() for c in reason):
        raise Refusal("the reason is empty; say why in a few words")
    return reason


def cmd_item_waive(args, environ, now):
    close_command(args, environ, now, WAIVED, reason=reason_of(args))


def cmd_item_escalate(args, environ, now):
    close_command(args, environ, now, ESCALATED, reason=reason_of(args), escalation=args.kind)


NO_ACTORS = (
    "me", "myself", "i", "self", "this agent", "the agent", "agent", "claude", "a later session", "later session",
    "the next session", "next session", "a future session", "future session", "another session", "a new session")


def cmd_item_hand_off(args, environ, now):
    to = one_line(args.to, 80)

    def change(contract):
        if contract["mode"] != "artifact":
            raise Refusal("hand-off belongs to artifact mode; here an item is done, waived or escalated")
        if fold(to) in NO_ACTORS or not any(c.isalnum() for c in to):
            raise Refusal(f"{to!r} is no next actor: name a person, a team or a system that is not this agent")
        return close_or_refuse(contract, args.id, HANDED_OFF, now, to=to)

    change_contract(args, environ, now, change, "item handed-off", item=args.id, reason=to)
    show(f"{args.id} handed off to {to}")


def cmd_met(args, environ, now):
    def change(contract):
        owed = items_in(contract, OPEN)
        if owed:
            raise Refusal(f"{plural(len(owed), 'item')} still open ({', '.join(item['id'] for item in owed[:5])}); "
                          "close, waive or escalate them first")
        evidence = checked_evidence(args, environ, contract, contract["armed_at"], now)
        return {**contract, "claim": {"evidence": evidence, "at": now}}

    claim = change_contract(args, environ, now, change, "met")["claim"]
    show(f"claimed: {evidence_text(claim['evidence'])}; it counts at the next stop that nothing contradicts")


def cmd_wait(args, environ, now):
    what = one_line(args.what, 80)
    change_contract(args, environ, now, lambda contract: {**contract, "wait_for": what}, "wait")
    show(f"the next stop waits for {what}, if the client reports what wakes the session")


def cmd_decide(args, environ, now):
    facts = {name: one_line(getattr(args, name)) for name in ("fork", "rule", "path", "reason")}
    if not facts["fork"] or not facts["path"]:
        raise Refusal("a fork and the path taken are needed; say each in a few words")
    change_contract(args, environ, now, lambda contract: contract, "decide", cls="FORK", **facts)
    show(f"recorded: {facts['fork']} -> {facts['path']} (rule {facts['rule']})")


# --- command line: demo --------------------------------------------------------------------------

DEMO = (
    ("the operator types", "UserPromptSubmit", {"prompt": "Port the exporters, don't stop until the suite is green."}),
    ("the agent ends its turn", "Stop", {"last_assistant_message": "40 of 265 are ported, 225 remain. Continuing."}),
    ("the agent ends its turn", "Stop", {"last_assistant_message": "All 265 are ported; the suite is green."}),
    ("the operator types", "UserPromptSubmit", {"prompt": "stop"}),
    ("the agent ends its turn", "Stop", {"last_assistant_message": "225 remain. Continuing."}))


def cmd_demo(args, environ, now):
    """Play DEMO against this very file as the client would, and print what went over the streams."""
    import json
    import subprocess
    import tempfile
    with tempfile.TemporaryDirectory() as scratch:
        env = {**environ, "SESSION_CONTRACT_DIR": scratch, "SESSION_CONTRACT": ""}
        for who, event, fields in DEMO:
            payload = {"hook_event_name": event, "session_id": "demo", "cwd": scratch, "transcript_path": "",
                       "permission_mode": "default", **fields}
            run = subprocess.run([sys.executable, __file__], input=json.dumps(payload).encode(), env=env,
                                 capture_output=True, check=False)
            show(f"--- {who}: {next(iter(fields.values()))}")
            show(f"{event}: exit {run.returncode}")
            for name, text in (("stdout", run.stdout), ("stderr", run.stderr)):
                if text:
                    show(f"{name}: {text.decode('utf-8', 'replace').rstrip()}")


# --- command line: installing --------------------------------------------------------------------
# One folder in the client's configuration directory (a copy, its hook part, bytecode, a launcher), one entry an event.

BOM = "\ufeff"                  # kept where it stands
BLANKS = " \t\r\n"             # between JSON's words
TIMEOUTS = {"SessionStart": 10, "UserPromptSubmit": 10, "Stop": 150}     # seconds; a Stop may run a check of 120
MANAGED = ("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")
PYTHON_HOMES = ("/usr", "/opt/homebrew/opt/python@{}", "/usr/local/opt/python@{}", "/usr/local",
                "/home/linuxbrew/.linuxbrew/opt/python@{}")      # names without a patch version survive an upgrade
OTHER_PYTHONS = "python3 /opt/homebrew/bin/python3 /usr/local/bin/python3 /usr/bin/python3"

CHILD = r'([ \t\r\n]*,?[ \t\r\n]*)(?:("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*)?'        # what stands before a value

# What an event imports is this file up to the first of these banners; that imports the file up to the second one when
# there is something to do. The whole file is for commands: loading it costs a quarter of an interpreter's start.
FRONT_END, HOOK_END = b"\n# --- texts -", b"\n# --- command line -"

# A hold leaves Python as 42 and only here becomes 2: a Python that is too old, a shim or a shell can exit 2 by
# themselves, and 2 at a prompt erases it. Staying alive for that costs 1 % of an interpreter start.
LAUNCHER_TEXT = """\
#!/bin/sh
r=1
trap 'exit $r' EXIT
# Written by session-contract's install: runs the hook; with arguments, one of its commands.
n=$#
case $n$SESSION_CONTRACT in 00|0false|0off|0no) r=0; exit ;; esac
off() {
    case $n in
    0) echo "{\\"systemMessage\\": \\"session-contract: gate off: $1. Nothing is held; install it again.\\"}" ;;
    line) echo "contract: gate off" ;;
    *) echo "session-contract: $1; install it again" >&2; exit ;;
    esac
    r=0; exit
}
f=session_contract
case $n$1 in
    0) if [ -t 0 ]; then set -- --help; n=1; else f=gate; fi ;;
    1statusline) n=line f=gate ;;
esac
d=${0%/*}
[ -r "$d/$f.py" ] || d=@HOME@
[ -r "$d/$f.py" ] || off "$f.py is gone or cannot be read"
c='import sys
if sys.version_info < (3, 9): sys.exit(44)
sys.path.append(sys.argv.pop(1))
try:
    s, a = __import__(sys.argv.pop(1)), sys.argv[1:]
    run = s.status_line if a == ["statusline"] else s.main if a else lambda: s.gate(42)
except Exception:
    sys.exit(43)
sys.exit(run())'
p=@PYTHON@
# A plugin is built for many machines: the interpreter that it finds here stands beside it, so that it is sought once.
k=; [ "$p" ] || { k=$d/python; { read -r p <"$k"; } 2>/dev/null; }
for q in "$p" @OTHERS@; do
    [ "$q" = "$p" ] && [ -x "$p" ] || {
        [ "$("$q" -I -S -c 'import sys; print(sys.version_info >= (3, 9))' 2>/dev/null </dev/null)" = True ] || continue
        [ ! "$k" ] || { "$q" -I -S -c 'import sys; print(sys._base_executable)' </dev/null >"$k"; } 2>/dev/null
    }
    "$q" -I -S -c "$c" "$d" $f "$@"
    s=$?
    case $n-$s in
        *-42) r=2; exit ;;
        *-43) off "$f.py cannot be loaded" ;;
        *-2|*-44|*-126|*-127) ;;
        0-0|line-0|[1-9]*) r=$s; exit ;;
    esac
done
off "no Python 3.9 or later answers"
"""


# --- command line: settings, as text -------------------------------------------------------------

class SettingsFault(ValueError):
    """Settings that are left as they are: what is wrong, and at which line and column (from 1)."""

    def __init__(self, what, text="", at=0):
        before = text[:at].removeprefix(BOM)
        super().__init__(f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}: {what}")


def settings_text(data):
    """The text of a settings file, a byte order mark included; SettingsFault where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsFault(f"byte {data[error.start]:#x} is not UTF-8", data.decode("latin-1"), error.start) from None


def parse_settings(text):
    """(the object, where it opens) of settings TEXT, as strict as the client reads it; a file of blanks is {}."""
    import json

    def constant(name):
        raise json.JSONDecodeError(f"{name} is not JSON", text, text.find(name))

    start = len(text) - len(text.removeprefix(BOM).lstrip(BLANKS))
    try:
        value, end = json.JSONDecoder(parse_constant=constant).raw_decode(text, start) if text[start:] else ({}, start)
        if text[end:].strip(BLANKS):
            raise json.JSONDecodeError("more stands behind the end", text, len(text) - len(text[end:].lstrip(BLANKS)))
    except RecursionError:
        raise SettingsFault("it is nested too deeply") from None
    except ValueError as error:         # without a place: a number of thousands of digits
        at, what = getattr(error, "pos", start), getattr(error, "msg", str(error))
        if text[at:at + 2] in ("//", "/*"):
            what = "a comment, which JSON does not have"
        elif text[at:at + 1] in ("]", "}") and text[:at].rstrip().endswith(","):
            what = "a trailing comma"
        raise SettingsFault(what, text, at) from None
    if not isinstance(value, dict):
        raise SettingsFault("the settings are no object", text, start)
    return value, start


def children(text, at):
    """([(key or index, start, start of the value, end)], end) of the object or array that opens at AT."""
    import json
    import re
    kids, decode, before = [], json.JSONDecoder().raw_decode, re.compile(CHILD)
    found = before.match(text, at + 1)
    while text[found.end()] not in "]}":
        end = decode(text, found.end())[1]
        kids.append((json.loads(found[2]) if found[2] else len(kids), found.end(1), found.end(), end))
        found = before.match(text, end)
    return kids, found.end()


def place_in(text, path):
    """Where the value at PATH (keys and indexes) of valid settings TEXT begins, None if there is none."""
    at = parse_settings(text)[1]
    for key in path:
        found = [child for child in children(text, at)[0] if child[0] == key]
        if len(found) > 1:
            raise SettingsFault(f"\"{key}\" stands twice; the client would use the last", text, found[1][1])
        if not found:
            return None
        at = found[0][2]
    return at


def inserted(text, path, value, key=None):
    """TEXT with VALUE put last into the container at PATH, laid out as its neighbours are."""
    import json

    def indent(at):
        line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1:at]
        return line[:len(line) - len(line.lstrip(" \t"))]

    root, at = parse_settings(text)[1], place_in(text, path)
    tops, (kids, close) = children(text, root)[0], children(text, at)
    first = text[root + 1:tops[0][1]] if tops else "\n  "
    tight = bool(tops) and '": ' not in text and '":' in text
    comma, colon, tail = *((",", ":") if tight else (", ", ": ")), ""
    label = "" if key is None else json.dumps(key) + colon
    if (text[at + 1:kids[0][1]] if kids else first).strip(" \t"):       # each on a line of its own
        line = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
        unit = first[max(first.rfind("\n"), first.rfind("\r")) + 1:] if first.strip(" \t") else "  "
        start = line + (indent(kids[0][1]) if kids else indent(at) + unit)
        new = start + label + json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", start)
        tail = line + indent(at)
    else:
        new = comma[1:] * bool(kids) + label + json.dumps(value, ensure_ascii=False, separators=(comma, colon))
    if kids:
        return text[:kids[-1][3]] + "," + new + text[kids[-1][3]:]
    return text[:at + 1] + new + tail + text[close:]


def removed(text, path):
    """TEXT without what stands at PATH, and without the comma that parted it."""
    at = place_in(text, path[:-1])
    kids, close = children(text, at)
    index = [kid[0] for kid in kids].index(path[-1])
    if len(kids) == 1:
        return text[:at + 1] + text[close:]
    return text[:kids[index - 1][3]] + text[kids[index][3]:] if index else text[:kids[0][1]] + text[kids[1][1]:]


def registrations(text):
    """[(event, hook)] of this program in settings TEXT."""
    return [(event, group["hooks"][i]) for event, _, group, ours in groups_of(parse_settings(text)[0]) for i in ours]


def with_container(text, path, empty):
    """TEXT with EMPTY at PATH where nothing is; SettingsFault if something of another type is."""
    at = place_in(text, path)
    if at is None:
        return inserted(text, path[:-1], empty, path[-1])
    if text[at] != str(empty)[0]:
        raise SettingsFault(f"{'.'.join(path)} is no {'list' if empty == [] else 'object'}", text, at)
    return text


def merge_settings(text, entries):
    """TEXT of a settings file with ENTRIES ({event: group}) registered once each; every other byte stays."""
    if not text.strip(BOM + BLANKS):
        text += "{}\n"
    for event, group in entries.items():
        if [found for name, _, found, ours in groups_of(parse_settings(text)[0]) if ours and name == event] != [group]:
            text = with_container(remove_settings(text, ("hooks", event), event), ("hooks",), {})
            text = inserted(with_container(text, ("hooks", event), []), ("hooks", event), group)
    return text


def remove_settings(text, keep=(), only=""):
    """TEXT without our hooks (ONLY on one event); a container that this empties goes too, unless its key is in KEEP."""
    emptied = []
    for event, index, group, ours in reversed(list(groups_of(parse_settings(text)[0]))):      # what is before stays put
        if ours and only in ("", event):
            path, whole = ("hooks", event, index), len(ours) == len(group["hooks"])
            for place in [path] if whole else [(*path, "hooks", i) for i in reversed(ours)]:
                text = removed(text, place)
            emptied.append(path[:2])
    for path in dict.fromkeys([*emptied, ("hooks",)] if emptied else ()):
        if path[-1] not in keep and not children(text, place_in(text, path))[0]:
            text = removed(text, path)
    return text


def unmerged(text, before):
    """Settings TEXT without us: BEFORE, the text as it was ahead of the install, if nothing else has changed since."""
    entries, keep = {event: {"hooks": [hook]} for event, hook in registrations(text)}, ()
    try:
        if before is not None and not registrations(before):
            if merge_settings(before, entries) == text:
                return before
            keep = ("hooks", *parse_settings(before)[0].get("hooks", ()))
    except SettingsFault:
        pass                        # a backup that says nothing
    return remove_settings(text, keep)


def well_formed(group):
    """Is a hook group of a shape that every client reads?"""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and isinstance(group.get("matcher", ""), str) and all(
        isinstance(hook, dict) and isinstance(hook.get("type"), str)
        and (hook["type"] != "command" or isinstance(hook.get("command"), str))
        and type(hook.get("timeout", 1)) in (int, float) and hook.get("timeout", 1) > 0 for hook in hooks)


# --- command line: files and processes -----------------------------------------------------------

class Place:
    """Where an installation of one scope lies; project and local are those of the working directory."""

    def __init__(self, scope, environ):
        import os
        config = config_dir(environ)
        try:
            self.settings = f"{config if scope == 'user' else slashed(os.getcwd())}/{SCOPES[scope]}"
        except FileNotFoundError:
            raise Refusal("the working directory is gone; go to the project's") from None
        self.home = f"{config}/{HOOK_DIR}"
        self.source, self.backup = os.path.realpath(__file__), f"{self.settings}.session-contract-backup"
        self.module = f"{self.home}/session_contract.py"
        self.gate, self.rest = f"{self.home}/gate.py", f"{self.home}/rest.py"
        self.copies = (self.module, self.gate, self.rest)
        self.launcher, self.register = f"{self.home}/{LAUNCHER}", f"{self.home}/registered"
        # What is registered: the launcher alone. Without it the shell exits 127, which is harmless.
        self.command = shell_word(self.launcher)


def bytes_of(path):
    return read_file(path, LIMITS["payload"])


def hook_entries(command):
    """The group to register for each event. What a Stop shows says who is at it: a check may take minutes."""
    told = {"Stop": {"statusMessage": f"{NAME}: may this turn end?"}}
    return {event: {"hooks": [{"type": "command", "command": command, "timeout": seconds, **told.get(event, {})}]}
            for event, seconds in TIMEOUTS.items()}


def launcher_text(python, home):
    """The launcher for an interpreter and the folder it lies in."""
    text = LAUNCHER_TEXT.replace("@OTHERS@", OTHER_PYTHONS).replace("@HOME@", shell_word(home))
    return text.replace("@PYTHON@", shell_word(slashed(python)))


def launcher_python(text):
    """The interpreter that a launcher names, "" if none can be read."""
    import re
    found = re.search("\np='?((?:[A-Za-z]:)?/.*?)'?\r?\n", text)
    return found[1].replace("'\\''", "'") if found else ""


def parts_of(source):
    """SOURCE, the bytes of this file, as its three installed copies: the whole, the front, all but the commands."""
    return source, source.partition(FRONT_END)[0] + b"\n", source.partition(HOOK_END)[0] + b"\n"


def write_whole(path, data, mode=None):
    """DATA to PATH whole or not at all: a file beside the real target, then renamed. Links and an old mode stay."""
    import os
    import tempfile
    path, temporary = os.path.realpath(path), ""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        old = os.stat(path) if os.path.exists(path) else None
        if old and not old.st_mode & 0o222:
            raise PermissionError(0, "it is read-only; chmod u+w it first")
        fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{NAME}.")
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        if old and fs.__name__ == "posix" and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(temporary, old.st_uid, old.st_gid)     # run by root: the file stays its owner's
        os.chmod(temporary, mode or (old.st_mode & 0o7777 if old else 0o600))
        os.replace(temporary, path)
    except OSError as error:
        quietly(os.unlink, temporary)
        raise Refusal(f"cannot write {path}: {error.strerror}; it is as it was") from None


def quietly(remove, path):
    """os.unlink or os.rmdir where it does not matter that there is nothing to remove, or more than ours."""
    try:
        remove(path)
    except OSError:
        pass


def answers(python):
    """(major, minor) of an interpreter that runs with the launcher's flags, () if it does not."""
    import subprocess
    try:
        run = subprocess.run([python, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"], cwd="/",
                             timeout=20, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return tuple(map(int, run.stdout.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()


def recorded_python(environ):
    """The interpreter for the launcher: no shim and no venv (both can go), and it must answer as what it is."""
    import os
    name = "python{}.{}".format(*sys.version_info)
    base = f"{sys.base_prefix}/bin/{name}"
    real = os.path.realpath(base if os.path.exists(base) else sys.executable or "")
    homes = [home.format(name[6:]) for home in PYTHON_HOMES] + [environ.get("HOME", "") + "/.local", sys.base_prefix]
    for path in [f"{home}/bin/{name}" for home in homes] + [real]:
        if os.path.realpath(path) == real and answers(path) == sys.version_info[:2]:
            return path
    raise Refusal(f"the interpreter {real} does not answer to -I -S -c; run install with another Python")


def prove(command, environ):
    """Run COMMAND through `sh -c` on samples in a scratch store, as the client does; the block it produced.

    Refusal with what came back where a start, or one of DEMO's steps, is not answered as it must be.
    """
    import json
    import os
    import subprocess
    import tempfile
    env = {name: value for name, value in environ.items() if not name.startswith(("SESSION_CONTRACT", "CLAUDE"))}
    steps = [("", "SessionStart", {"source": "startup"}), *DEMO]
    right = (0, ""), (0, "armed"), (HOLD, HELD), (0, ""), (0, "released"), (0, "")
    block = ""
    with tempfile.TemporaryDirectory() as scratch:
        env["SESSION_CONTRACT_DIR"] = os.path.realpath(scratch)
        for (_, event, fields), (status, shown) in zip(steps, right):
            payload = {"hook_event_name": event, "session_id": "proof", "cwd": scratch, "transcript_path": "",
                       "permission_mode": "default", "stop_hook_active": False, **fields}
            try:
                run = subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), env=env, cwd=scratch,
                                     capture_output=True, timeout=60, check=False)
            except (OSError, subprocess.SubprocessError) as error:
                raise Refusal(f"the command for {event} could not be run: {error}") from None
            said = (run.stdout + run.stderr).decode("utf-8", "replace")
            if run.returncode != status or shown not in said:
                raise Refusal(f"the command for {event} failed its proof: exit {run.returncode} where {status} is right"
                              f"{shown and f', with {shown!r}'}; it said: {one_line(said, 300) or 'nothing'}")
            block = block or (run.stderr.decode("utf-8", "replace") if status == HOLD else "")
    return block


# --- command line: install and uninstall ---------------------------------------------------------

def planned(args, environ, place, change):
    """(old bytes or None, new bytes) of a settings file under CHANGE; with --dry-run the difference is shown."""
    import difflib
    old, path = bytes_of(place.settings), place.settings
    try:
        new = change(settings_text(old or b"")).encode("utf-8")
    except ValueError as fault:         # a SettingsFault, or a path that is no Unicode
        raise Refusal(f"{path}, {fault}. Nothing was changed; mend that and try again") from None
    if args.dry_run:
        before, after = (data.decode("utf-8").splitlines() for data in (old or b"", new))
        rows = difflib.unified_diff(before, after, path if old is not None else "/dev/null", path, lineterm="")
        show("\n".join(rows) or f"{path} would stay as it is")
    elif environ.get("CLAUDECODE"):     # what gates the agent is not the agent's to install or remove
        raise Refusal("this is the operator's: run it in a terminal of your own (--dry-run shows what it would do)")
    return old, new


def change_settings(place, old, new, backup=True):
    """Write NEW settings, with a backup of OLD; Refusal if another program wrote the file since it was read."""
    if old is not None and backup:
        write_whole(place.backup, old)
    if bytes_of(place.settings) != old:
        raise Refusal(f"{place.settings} changed while this ran; nothing was written, try again")
    write_whole(place.settings, new)


def put_files(place, python):
    """The copies, their bytecode (without it every event would compile the file), the launcher, who registers it."""
    import subprocess
    for path, data in zip(place.copies, parts_of(bytes_of(place.source))):
        write_whole(path, data, 0o644)
    subprocess.run([python, "-I", "-S", "-m", "py_compile", *place.copies],
                   capture_output=True, check=False, timeout=60)
    write_whole(place.launcher, launcher_text(python, place.home).encode("utf-8"), 0o755)
    settings = sorted({*registered_files(place), place.settings})
    write_whole(place.register, "\n".join(settings).encode("utf-8", "surrogateescape"))


def registered_files(place):
    """The settings files that installs on record have written to."""
    return (bytes_of(place.register) or b"").decode("utf-8", "surrogateescape").splitlines()


def cmd_install(args, environ, now):
    """Copy, prove, then register: what cannot be proved is never registered, and what stood before comes back."""
    import os
    place = Place(args.scope, environ)
    old, new = planned(args, environ, place, lambda text: merge_settings(text, hook_entries(place.command)))
    if args.dry_run:
        return 0
    python = recorded_python(environ)
    before = {path: bytes_of(path) for path in (*place.copies, place.launcher, place.register)}
    try:
        put_files(place, python)
        block = prove(place.command, environ)
        if new != old:
            change_settings(place, old, new)
    except BaseException:
        for path, data in before.items():
            if data is not None:
                write_whole(path, data)
            else:
                quietly(os.unlink, path)
        if before[place.module] is None:
            drop_folder(place)
        raise
    show(f"{place.command}\n  runs {python}\n{place.settings}: one entry each for {', '.join(TIMEOUTS)}"
         + (f"\n  what it was: {place.backup}" if old is not None and new != old else ""))
    show(f"Proved: each command was run on samples. The hold it produced:\n\n{block}\n"
         "Sessions already open are covered too, about two seconds from now. `doctor` checks all of this again.\n"
         "To begin, end a prompt with \"don't stop until the suite is green\"; \"stop\" releases.")
    if args.scope == "project":
        show("The line names a path of this machine: others who check the project out install for themselves.")
    found = settings_findings(environ)[0]
    for name, what, mend in found:
        show(f"{'NOT IN FORCE' if name in INERT else 'WARNING'}: {what}. {mend}.")
    return int(any(name in INERT for name, _, _ in found))


def drop_folder(place):
    """Remove what install put into its folder, and the folder if nothing else is in it."""
    import os
    import shutil
    for path in (place.launcher, *place.copies, place.register):
        quietly(os.unlink, path)
    shutil.rmtree(f"{place.home}/__pycache__", ignore_errors=True)
    quietly(os.rmdir, place.home)


def cmd_uninstall(args, environ, now):
    """Remove our entries, then the folder once no settings file on record registers it; contracts and logs stay."""
    import os
    place = Place(args.scope, environ)
    kept = bytes_of(place.backup)
    before = None if kept is None else kept.decode("utf-8", "replace")
    old, new = planned(args, environ, place, lambda text: unmerged(text, before))
    if args.dry_run:
        return
    changed = new != (old or b"")
    if changed:
        take_out(place, old, new, kept)
    others = [path for path in registered_files(place) if path != place.settings
              for text, _, fault in [read_settings(path)]
              if fault or place.command in [hook["command"] for _, hook in registrations(text)]]
    there = os.path.exists(place.home)
    if not others:
        drop_folder(place)
    show(f"{place.settings}: {'our entries are out' if changed else 'nothing of ours is in it'}\n{place.home}: " + (
        f"stays, {', '.join(others)} still runs it" if others else "removed" if there else "was not there"))
    for contract in contracts_in(Store(store_dir(environ))):
        if contract["state"] in LIVE:
            show(f"still {contract['state']}, and no longer held: session {contract['session']}: {quoted(contract)}")


def take_out(place, old, new, kept):
    """Write settings without us. A file that install made goes again, and so does a backup that says nothing new."""
    import os
    gone = kept is None and new.strip() == b"{}" and not os.path.islink(place.settings)
    change_settings(place, old, new, backup=not gone and new != kept)
    if gone or new == kept:
        quietly(os.unlink, place.settings if gone else place.backup)
    if gone and place.settings.endswith(tuple(SCOPES.values())[1:]):
        quietly(os.rmdir, os.path.dirname(place.settings))      # a project's .claude, if nothing else is in it


# --- command line: doctor ------------------------------------------------------------------------
# What is wrong, as (id, what, mend).

INERT = ("hooks-disabled", "managed-only", "settings-broken", "switched-off")      # whatever is registered
AGAIN, READABLE = "Run `install`", "Mend its path, its type or its permissions"

# Payload fields that decisions rest on.
NEEDED = {
    "UserPromptSubmit": ("prompt", "session_id", "transcript_path"),
    "Stop": ("last_assistant_message", "session_id", "transcript_path", "permission_mode", "background_tasks",
             "session_crons", "stop_hook_active")}


def diagnose(environ, session=""):
    """All that is wrong; the registered command is only run where nothing else is."""
    place = Place("user", environ)
    found, ours, plugin = settings_findings(environ)
    for check, *given in ((entry_findings, ours, place, plugin),
                          (copy_findings, place, ours), (store_findings, environ),
                          (session_findings, environ, session or environ.get("CLAUDE_CODE_SESSION_ID", ""))):
        try:
            found.extend(check(*given))
        except StoreError as error:
            found.append(("unreadable", str(error), READABLE))
    try:
        if not found:
            prove(place.command if ours else own_command(), environ)
    except Refusal as refusal:
        found.append(("proof-failed", str(refusal), "Run `install`; it says more"))
    return list(dict.fromkeys(found))


def settings_findings(environ):
    """(findings, [(path, event, hook)] of ours, our plugin or "") of the settings files that the client reads here."""
    import glob
    plugin = ""
    paths = [path for main in MANAGED for path in (main, *sorted(glob.glob(main[:-len(".json")] + ".d/*.json")))]
    found, ours = list(switch_findings("the environment", environ, environ)), []
    for scope in SCOPES:
        try:
            paths.append(Place(scope, environ).settings)
        except Refusal:
            continue                    # the working directory is gone, and its settings with it
    for path in dict.fromkeys(paths):
        text, value, fault = read_settings(path)
        found.extend([fault] if fault else file_findings(path, text, value, environ))
        ours.extend((path, *row) for row in registrations(text))
        plugins = value.get("enabledPlugins")
        for name in [name for name in plugins if plugins[name]] if isinstance(plugins, dict) else ():
            plugin = name if name.partition("@")[0] == NAME else plugin
    if ours and plugin:
        found.append(("plugin-too", f"settings and the plugin {plugin} both register this program", "Keep one of them"))
    return found, ours, plugin


def read_settings(path):
    """(text, value, None) of a settings file, or ("", {}, finding); what is not there is empty."""
    try:
        text = settings_text(bytes_of(path) or b"")
        value = parse_settings(text)[0]
        if value:
            with_container(text, ("hooks",), {})
        return text, value, None
    except StoreError as error:
        return "", {}, ("unreadable", str(error), READABLE)
    except SettingsFault as fault:
        return "", {}, ("settings-broken", f"{path}, {fault}",
                        "Mend that line: until then the client ignores the whole file")


def file_findings(path, text, value, environ):
    """Faults of one settings file that reach beyond our own entries."""
    if text.startswith(BOM):
        yield "settings-bom", f"{path} begins with a byte order mark, which older clients reject", "Save it without it"
    for event, index in [(event, index) for event, index, group, _ in groups_of(value) if not well_formed(group)]:
        yield ("settings-shape", f"{path}: number {index + 1} of hooks.{event} is skipped by the client, by older ones "
               "with every hook beside it", "Give it the form of the entries that install makes")
    if value.get("disableAllHooks"):
        yield "hooks-disabled", f"disableAllHooks is on in {path}", "Take it out"
    if value.get("allowManagedHooksOnly") and "managed-settings." in path:
        yield "managed-only", f"{path} allows only hooks of the organization", "Ask its administrator"
    if isinstance(value.get("env"), dict):
        yield from switch_findings(path, value["env"], environ)


def switch_findings(where, env, environ):
    """What SESSION_CONTRACT and SESSION_CONTRACT_DIR come to, in the environment or in the "env" of settings."""
    value, folder = (str(env.get(name, "")).strip() for name in ("SESSION_CONTRACT", "SESSION_CONTRACT_DIR"))
    told = f"SESSION_CONTRACT={value} is set in {where}: "
    if value.lower() in OFF_WORDS:
        yield "switched-off", told + "the hook is off", "Take it out there"
    elif value.lower() == "observe":
        yield "observing", told + "nothing is held", "Take it out there"
    elif value not in ("", "1"):
        yield "switch-unknown", told + "no known word, so the hook is on", "Use 0, 1 or observe"
    if folder and folder != environ.get("SESSION_CONTRACT_DIR", "").strip():
        yield "store-elsewhere", f"SESSION_CONTRACT_DIR is set in {where} and not in this shell", "Export it here too"


def entry_findings(ours, place, plugin):
    """Faults of our entries. The same line in several files runs once: only different ones are too many."""
    if not ours and not plugin:
        yield "not-installed", "nothing of this program is registered in any settings file", AGAIN
    for event, seconds in TIMEOUTS.items() if ours else ():
        here = [(path, hook) for path, name, hook in ours if name == event]
        paths = list(dict.fromkeys(path for path, _ in here))
        if not here:
            yield "entry-missing", f"{event} has no entry in {ours[0][0]}", AGAIN
        if len(here) > len(paths) or len({hook["command"] for _, hook in here}) > 1:
            yield ("entry-twice", f"{event} is registered {len(here)} times ({', '.join(paths)})",
                   "Run `install`, `uninstall` for the other scope")
        for path, hook in here:
            if hook["command"] != place.command:
                yield "entry-path", f"{event} in {path} runs {hook['command']}, not {place.command}", AGAIN
            elif hook.get("timeout") != seconds:
                yield "entry-timeout", f"{event} in {path} has a timeout of {hook.get('timeout')}, not {seconds}", AGAIN


def copy_findings(place, ours):
    """Faults of the installed copy, its launcher and the interpreter that the launcher names."""
    import glob
    import os
    source, launcher = bytes_of(place.source), bytes_of(place.launcher)
    if launcher is None and not ours:
        return
    for path, right in zip(place.copies, parts_of(source)):
        data = bytes_of(path)
        if data is None:
            yield "copy-missing", f"{path} is gone", "Run `install` from a fresh session_contract.py"
        elif data != right:
            yield "copy-stale", f"{path} differs from the file that runs now", "Run `install` with the newer of the two"
    if launcher is None:
        yield "launcher-missing", f"{place.launcher} is gone", AGAIN
        return
    if not os.access(place.launcher, os.X_OK):
        yield "launcher-mode", f"{place.launcher} is not executable", f"Run `chmod +x {shell_word(place.launcher)}`"
    python = launcher_python(launcher.decode("utf-8", "replace"))
    if launcher != launcher_text(python, place.home).encode("utf-8"):
        how = " but has CRLF line ends, which no shell can run" if b"\r" in launcher else ""
        yield "launcher-changed", f"{place.launcher} is not as install wrote it{how}", AGAIN
    version = answers(python)
    if len(version) != 2:
        yield "python-gone", f"the recorded interpreter {python} is gone or does not answer", AGAIN
    elif version < (3, 9):
        yield "python-old", "the interpreter {} is Python {}.{}, 3.9 is needed".format(python, *version), AGAIN
    elif not glob.glob(glob.escape(place.home) + "/__pycache__/gate.*{}{}.pyc".format(*version)):
        yield ("bytecode-missing", f"no bytecode of {place.gate}: every event compiles it anew",
               f"See that {place.home} can be written, then run `install`")


def store_findings(environ):
    """Faults of the store and of what the operator put beside it."""
    import glob
    import os
    store = Store(store_dir(environ))
    for path in filter(os.path.lexists, (store.path, store.contracts, store.logs)):
        folder, status = os.path.isdir(path), os.stat(path, follow_symlinks=os.path.exists(path))
        mode, owner = status.st_mode & 0o777, status.st_uid
        private = fs.__name__ != "posix" or mode == 0o700       # Windows has access lists instead
        for wrong, name, what, mend in (
                (os.path.islink(path), "store-link", "is a symbolic link", "Make it a directory of its own"),
                (not folder, "store-kind", "is no directory", "Move it away"),
                (fs.__name__ == "posix" and owner != os.geteuid(), "store-owner", f"belongs to user {owner}",
                 "Run `chown -R` on it"),
                (folder and not private, "store-mode", f"has mode {mode:o}, not 700",
                 f"Run `chmod 700 {shell_word(path)}`"),
                (folder and not os.access(path, 7), "store-denied", "cannot be written", "See where it stands")):
            if wrong:
                yield name, f"the store {path} {what}", mend
    if not os.path.isdir(store.path):
        return
    hook = command_hook(environ, 0)
    hook.settings()
    yield from (("own-file", note, "Mend or remove it") for note in hook.notes)
    for path in sorted(glob.glob(glob.escape(store.contracts) + "/*.json")):
        loaded = store.load(os.path.basename(path)[:-len(".json")])
        if loaded.kind != "ok":
            yield ("contract-broken", f"{path} cannot be read as a contract: {loaded.why}",
                   "Remove it, or type \"stop\" in its session")


def session_findings(environ, session):
    """Has the hook fired in the session at hand, and with the fields that it needs?"""
    if not session:
        return
    import glob
    import re
    name, store = session_file(session) or "?", Store(store_dir(environ))
    loaded = store.load(name)
    keys = loaded.contract["keys"] if loaded.kind == "ok" else {}
    for event in (event for event in NEEDED if event in keys):
        fields = sorted(set(NEEDED[event]).difference(keys[event]))
        if fields:
            yield ("fields-missing", f"the client's {event} lacks {', '.join(fields)}",
                   "Report it with the client's version")
    paths = glob.glob(f"{glob.escape(config_dir(environ))}/projects/*/{glob.escape(session)}.jsonl")
    rows = b"\n".join(read_tail(path, LIMITS["transcript"])[0] or b"" for path in paths)
    # The client's own record lists the commands that ran, also for a Stop that was let go in silence.
    if not (keys or store.last_record(name) or re.search(
            rb'"stop_hook_summary".*(?:session-contract-hook/hook|session_contract\.py)', rows)):
        yield ("not-seen", f"no firing seen in session {session} (its first turn must have ended)",
               "Type `contract: status` there: a hook that fires answers by itself")


def cmd_doctor(args, environ, now):
    """Say what is wrong and how to mend it; 0 if nothing is."""
    try:
        found = diagnose(environ, args.session or "")
    except StoreError as error:         # no home directory: nothing else can be looked at
        found = [("unreadable", str(error), READABLE)]
    if args.json:
        rows = [dict(zip(("id", "what", "mend"), row)) for row in found]
        show(dump_json({"sound": not found, "version": __version__, "findings": rows}))
    elif found:
        show("\n".join(f"{name}: {what}.\n    {mend}." for name, what, mend in found))
    else:
        show(f"{NAME} {__version__}: sound. Every entry was run on samples and held what it must.\n"
             "To see it fire, type `contract: status` in a session: the hook answers by itself.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
