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

Reading order: words, texts, rules, records, reading, deciding, rendering, shell, command line.
Everything above "shell" takes values and returns values. Nothing but sys is imported at the top:
the hook runs at every prompt, and re or json alone cost as much as the interpreter's own start,
so each is imported inside the function that has found out that it needs it.
"""
import sys

__version__ = "0.1.0"

# --- words ---------------------------------------------------------------------------------------

NAME = "session-contract"
SCHEMA = 1                      # of contract files; an older one is filled up with defaults on reading
HOLD = 2                        # the only exit status that refuses a Stop (HOST: "Blocking and the cap")

ARMED, PAUSED, MET, SPENT, DISARMED = "armed", "paused", "met", "spent", "disarmed"
LIVE = (ARMED, PAUSED)          # states in which a contract still binds
STATES = (ARMED, PAUSED, MET, SPENT, DISARMED)

OPEN, DONE, WAIVED, ESCALATED, HANDED_OFF = "open", "done", "waived", "escalated", "handed-off"

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
    "mark": 0,                  # transcript size up to which work has been counted
    "calls": [],                # digests of tool calls already counted, newest last
    "message": "",              # digest of the last held message, folded
    "tickets": [],              # background tasks that have excused a Stop since the last work
    "prompt_at": 0, "prompt_mark": 0, "prompt_mode": "",    # the operator's last prompt
    "question": False,          # it was a question, and neither armed nor amended
    "plan_held": False,         # a plan mode that the agent entered by itself has had its one hold
    "told": [],                 # notices that are given once
    "crons": [],                # digests of scheduled prompts: they come back as prompts without a mark
    "keys": {},                 # payload key names by event, for noticing a changed host
}

# What the operator may set in config.json beside the store. The type of the default is the type of the value.
SETTINGS = {
    "stalls": 3,                # holds in a row without work before the gate lets go
    "blocks": 50,               # holds between two prompts of the operator before it lets go
    "wakeup_hours": 12,         # a scheduled wakeup further off is no ticket
}

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
}

OFF_WORDS = ("0", "false", "off", "no")     # spellings of SESSION_CONTRACT that switch the hook off
SESSION_ID = "abcdefghijklmnopqrstuvwxyz0123456789"      # first character; then also . _ -

# UserPromptSubmit also carries text that no person typed (HOST 11).
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
IDLE_COMMANDS = frozenset((":", "echo", "true", "false", "sleep", "pwd", "printf", "date", "wait", "clear", "exit"))

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

HELP = """\
{name} {version}: a Claude Code hook (SessionStart, UserPromptSubmit, Stop) and its command line.

As a hook it reads one JSON object from standard input. `{prog} demo` shows what it does.
`{prog} --help` lists the commands."""
HELD = f"{NAME}: turn held."     # opens every hold, and is how our own feedback rows are found in a transcript

# What the operator is told when the contract changes.
CHANGES = {
    "armed": "armed: {condition}{items}. A turn that ends with work owed is held; \"stop\" releases.",
    "amended": "amended, armed: {condition}{items}.",
    "armed already": "armed already: {condition}{items}; the condition stands.",
    "paused": "paused: turns may end. Your next prompt that is no question resumes it; \"stop\" releases.",
    "resumed": "resumed, armed: {condition}{items}.",
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
    "ALLOW-DEGRADED": "degraded: let go after {why}. Still armed: {condition}; work or your next prompt "
                      "engages it again.{ledger}"}

FAULTS = {
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

# pattern, what it sets aside; tried in this order; each is linear
SET_ASIDE = (
    ("comment", "<!--", r"<!--.*?(?:-->|\Z)"),
    ("code", "``", r"``[^\n]{1,400}?``"),
    ("code", "`", r"`[^`\n]+`"),
    ("quoted", "\u201c", r"\u201c[^\u201d\n]{1,400}\u201d"),
    ("quoted", "\u00ab", r"\u00ab[^\u00bb\n]{1,400}\u00bb"),
    ("quoted", "\u300c", r"\u300c[^\u300d\n]{1,400}\u300d"),
    ("quoted", "\"", r"(?<!\w)\"[^\"\n]{1,400}\"(?!\w)"),
    ("quoted", "'", r"(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){1,120}'(?!\w)"),
)

# --- rules: turn-ends -----------------------------------------------------------------------------

FAMILIES = ("continuing", "remaining", "permission", "menu", "your-call", "capacity", "wrap-up", "narration")

# Where a rule looks. A unit is the piece of text one pattern sees, cleaned: lowered, emphasis marks dropped, every run
# of white space one space, ’ turned into ', a span that was set aside (code, quotation) one MARK (\ufffc).
#   final     the closing sentence
#   last      the closing sentence; where a list closes the message also the line that leads in that list
#   closing   each sentence of the closing paragraph, and of the list after it with its lead-in
#   ending    each sentence of the last three paragraphs, the lists and headings between and after them included
#   anywhere  each sentence, list item and heading of the message
#   heading   each heading (a bold line alone is one)
#   lead-in   each heading or line that opens a list
#   list      each list with the line that leads it in, as one unit: "lead-in\n- item\n- item" (items start with their mark)
#   last-list the same, only where the list stands in the ending
#   whole     the message as one unit, if it is short: at most three sentences, 320 characters, no list
# An excuse looks at
#   unit      the unit of the hit
#   near      the unit, the two sentences before it and the one after it
#   list      the list that the unit opens or belongs to, else the paragraph of the unit
#   ending    the last three paragraphs as one unit
#   message   the whole message as one unit
# A rule is excused by each excuse named in its `unless`; a name is a whole id or its part before a dot: "courtesy"
# covers courtesy.any-more and courtesy.zh.

# id, family, scope, needs, pattern, unless, says
RULES = (
    # -- permission: leave is asked for that was given before
    ("permission.want-me-to", "permission", "ending",
     ("want me", "like me to", "want us to", "you like to ", "prefer me", "prefer i ", "prefer that i"),
     r"\b(?:you(?: also)? want|want|you(?: also)? like|you prefer|you rather)(?: for)? (?:me|us|i|that i)\b[^?]{0,500}\?|\bwould you like to"
     r" (?:proceed|continue|go|move|start|begin|see|review|implement|have)\b[^?]{0,300}\?",
     ("courtesy", "gated", "public"), "asks whether it should do the next piece of work"),
    ("permission.should-i", "permission", "ending",
     ("shall i", "should i ", "may i ", "can i ", "could i ", "mind if i", "shall we", "should we", "ok to ", "okay to ", "ok if i",
      "okay if i", "is it ok", "can we ", "safe to "),
     r"\b(?:shall|should|may|can|could) (?:i|we)\b[^?]{0,400}\?|\b(?:mind|ok|okay|alright) if (?:i|we)\b[^?]{0,300}\?"
     r"|\b(?:ok|okay|fine|safe|alright) to \w[^?]{0,300}\?",
     ("courtesy", "gated", "public"), "asks whether it may do the next piece of work"),
    ("permission.proceed", "permission", "closing",
     ("proceed", "go ahead", "move on", "good to go", "ready to", "ready for", "look good", "looks good", "sound good", "sounds good",
      "look right", "make sense", "approve", "work for you", "happy with", "objection", "agree", "all right with"),
     r"\b(?:proceed|go ahead|move on|good to go|ready (?:to|for)|looks? (?:good|right|ok)|sounds? (?:good|right|ok)"
     r"|make sense|approved?|works? for you|happy with|objections?|agree)\b[^?]{0,200}\?",
     ("courtesy", "gated", "public", "your-hands"), "asks whether it may proceed"),
    ("permission.want-it", "permission", "closing", ("want ", "keep going", "continue", "go on", "more of", "push on"),
     r"(?:^|[^a-z ] |[^a-z ])(?:so |then |do you |you )?(?:want|keep going|continue|go on|push on)\b[^?]{0,300}\?$",
     ("courtesy", "gated", "public", "your-hands", "asks-facts"), "offers the next piece of work as a question"),
    ("permission.say-the-word", "permission", "closing",
     ("say the word", "just say", "say so", "say go", "say which", "say if", "tell me which", "say \ufffc", "say yes", "give me the", "let me know and", "tell me to", "a nod",
      "reply with", "reply \ufffc", "on your word", "on your go", "your signal", "your go"),
     r"\bsay (?:the word|so|go|yes|\ufffc)[^.?]{0,60}\b(?:and|i'll|i will|first|to)\b|\bsay (?:which|if)\b[^.?]{0,60}\b(?:first|next)\b|\btell me which[^.?]{0,40} and i|\b(?:just|simply) say\b"
     r"|\bgive me (?:the|a) (?:word|go|green|nod|thumbs|ok)|\blet me know and i(?!.*\binstead\b)|\btell me to \w+"
     r"|\breply (?:with )?(?:\ufffc|yes|ok|go)|\bon your (?:word|go|signal|nod|ok)",
     ("gated", "public"), "will go on when it is told to"),
    ("permission.awaits-nod", "permission", "closing",
     ("your go", "your approval", "your confirmation", "your ok", "your sign", "your review", "go-ahead", "your decision", "your call",
      "your answer", "your input", "your feedback", "your thoughts", "you approve", "you confirm", "you decide", "you choose", "you pick",
      "you agree", "you're happy", "your word", "confirm and", "your green", "your blessing", "approve "),
     r"\b(?:wait\w*|await\w*|pending|until|need|once|after|when|if|hold\w*|paus\w*|want|for|on)\b[^.?]{0,40}\b(?:your (?:go|approval"
     r"|confirmation|ok|sign|review|decision|call|answer|input|feedback|thoughts|word|green|blessing)|(?:the|a) go-ahead"
     r"|you (?:approve|confirm|decide|choose|pick|agree|'re happy))|\b(?:confirm|approve)\b[^.?]{0,40}\band i",
     ("gated", "public", "past-call"), "waits for a go-ahead"),
    ("permission.if-yes", "permission", "closing", ("if yes", "if so", "if that", "if you'", "if you ", "if approved", "if this"),
     r"\bif (?:yes|so|approved|(?:that|this|it) (?:works|sounds|looks|is (?:ok|fine|right|good))\b[^.?]{0,30}|you"
     r"(?:'re (?:happy|ok|fine|good)| agree| approve| confirm)\b[^.?]{0,30})[,:]? (?:then )?(?:next )?(?:i'll|i will|i can|we'll|we can|please)\b",
     ("gated", "public"), "makes the next step wait for a yes"),
    ("permission.if-you-want", "permission", "closing", ("if you",),
     r"\bif you(?:'d)? (?:want|like|prefer|wish)\b[^.?]{0,80}(?:\bi'll\b|\bi will\b|\bnext i\b|\bi can (?:next|now|also start|start|continue|proceed|go)"
     r"|\bnext,? (?:i|we)\b)", ("gated", "public"), "makes the next step wait for a wish"),
    ("permission.when-you-are-ready", "permission", "closing", ("when you", "whenever", "when ready", "you're ready", "at your"),
     r"\b(?:ready|start|begin|go|proceed|step|steps|resume|continue|implement|commit|next)\b[^.?]{0,60}\bwhen(?:ever)? (?:you(?:'re| are| want|"
     r" say| like| give)|ready)\b|\bwhen(?:ever)? you(?:'re| are) (?:ready|happy)[^.?]{0,20}\b(?:i|we)(?:'ll| will| can)\b|\bat your (?:command|signal)",
     ("gated", "your-hands", "your-turn", "public"), "stands ready instead of working"),
    ("permission.let-me-know", "permission", "closing", ("let me know", "tell me"),
     r"\b(?:let me know|tell me)[^.?]{0,30}\b(?:if|whether)\b[^.?]{0,20}\b(?:i should|to (?:proceed|continue|go|start|implement)"
     r"|me to (?:proceed|continue|go|start|implement|fix|tackle|build|take|keep|carry|finish|grab|run))\b"
     r"|\b(?:let me know|tell me) when you(?:'re| are) ready\b|\b(?:let me know|tell me) (?:how|which|what|where)\b[^.?]{0,60}\b(?:you'd|you would|you want|you prefer|you like|to|i should|should)\b",
     ("courtesy", "gated", "public"), "asks to be told what it was told"),
    # -- menu: a choice is offered where one is to be made
    ("menu.which", "menu", "closing", ("which ", "what would you", "how would you", "do you prefer", "preference", "where would", "how do you want",
                                       "what should", "where should", "how should", "what do you want"),
     r"\bwhich (?:one|of|approach|option|way|path|route|direction|variant|version should|\w+(?: \w+)? (?:would you|do you (?:want|prefer|like)|should (?:i|we)|shall i|(?:first|next)\b))[^?]{0,200}\?|\b(?:what|how|where) (?:would|do) you (?:like|prefer|want)\b"
     r"|\b(?:what|how|where) should (?:i|we)\b|\bdo you prefer\b|\bpreference\b[^.]{0,120}\?",
     ("courtesy", "gated", "your-words"), "asks the reader to choose"),
    ("menu.or", "menu", "last", (" or ",),
     r"\blet me know [—–:-] [^?]{0,300}\?|\b(?:go|start|begin|do you want|want|prefer|should|shall|ready|fold|keep|leave|stick|ship|fix|implement|move|continue|proceed|stop|pause|option)\b"
     r"[^?]{0,300}\bor\b[^?]{0,300}\?", ("courtesy", "gated", "public", "asks-facts", "your-words"), "asks which of two ways to go"),
    ("menu.list", "menu", "last-list", ("would you", "do you want", "i can", "option", "choose", "pick one", "prefer",
                                        "we could", "we can", "which", "should i", "shall i", "want me", "i could", "two ways", "three ways"),
     r"^(?:[^\n]{0,300}\b(?:would you (?:also |rather )?(?:like|prefer)|next options|do you (?:also )?want|want me|should i|shall i|if you (?:want|like|'d like)[^\n]{0,80}, (?:i|we) (?:can|could)|choose|pick (?:one|a)"
     r"|do you prefer|which (?:one|of|approach|option|way)|^(?:here are )?(?:your|two|three|some|the) options\b|^(?:here are )?(?:the )?(?:two|three|several) ways (?:to (?:go|proceed|continue)|forward)|how would you)\b[^\n]{0,120}"
     r"|(?:i|we) (?:can|could)(?: (?:now|either|next|also))?:)\n",
     ("courtesy", "gated", "your-words"), "offers a list to choose from"),
    # -- your-call: the choice is handed back
    ("your-call.yours", "your-call", "ending",
     ("your call", "up to you", "you decide", "your decision", "your choice", "over to you", "leave it to you", "let you decide",
      "leave that to you", "your preference"),
     r"(?:^|[,—–;:.(-] ?|\b(?:it's|that's|is|are|needs?|needing|what's|waiting on) )your (?:call|decision|choice|preference)\b|\bup to you\b|(?<!help )(?<!helps )(?<!let )(?<!lets )\byou decide\b|\bover to you\b|\bleave (?:it|that|this) to you\b"
     r"|\blet you decide\b", ("past-call", "courtesy", "gated", "public"), "hands the choice back"),
    ("your-call.thoughts", "your-call", "last", ("what do you think", "thoughts", "how does that", "your take", "opinion", "what's your"),
     r"\b(?:what do you think|(?:any )?thoughts|how does (?:that|this) (?:sound|look)|what's your (?:take|opinion|view|preference|call))\b[^?]{0,120}\?",
     ("courtesy",), "asks for an opinion instead of acting on its own"),
    # -- continuing: work goes on, says the message, and the turn ends
    ("continuing.let-me", "continuing", "last", ("let me ", "i'll ", "i will ", "i'm going to", "i am going to", "i need to ", "we'll ", "i'm about to", "i shall "),
     r"\b(?:let me|i'll|i will|i'm (?:now )?going to|i am (?:now )?going to|i need to|we'll|i'm about to|i shall)"
     r" (?:now |also |then |first |next |just |quickly |start by |go ahead and |continue to |try to |have to )?(?!know\b|be\b|keep (?:the|an|it|that|this|in|you)\b"
     r"|have\b|leave\b|wait\b|remember\b|hold\b|stop\b|stay\b|pause\b|note\b|say\b|explain\b|stand\b|report back\b|let you\b|(?:see|ping|tell|update|keep) you\b|get back\b|use\b|never\b|not\b|add that\b)[a-z]",
     ("gated", "handed-over", "offer", "standing"), "announces its next action as its last words"),
    ("continuing.next", "continuing", "closing", ("next", "now ", "then "),
     r"^\W*(?:next,? (?:i|we)(?:'ll| will|'m| am|'d)\b|next(?: up)? (?:is|are|comes?|on|would be|will be)\b|next:|next (?:focus|task|action|priority|item|target|milestone)s?(?: is)?:|next up\b(?! after)|now (?:i'll|i will|i'm|i am|let me|i need|to the|for the|on to)\b"
     r"|(?:phase|stage|step|part|task|batch|milestone|wave|round|chunk)s? [\w.]{1,12} (?:is )?next\b)|[,;—–-] (?:then )?next (?:i'll|i will|is the|are the|come)\b|\bnext i(?:'ll| will)\b",
     ("gated", "handed-over", "offer", "standing"), "names its next action and stops"),
    ("continuing.gerund", "continuing", "closing", ("continu", "proceed", "moving on", "on to ", "onto ", "starting", "picking up", "pressing on", "resuming",
                                             "pushing", "carrying on", "keep going", "turning to", "working through", "kicking off", "getting started"),
     r"^\W*(?:so |now |ok(?:ay)?,? |understood,? |good,? |great,? |will be )?(?:continuing|proceeding|moving on|moving (?:straight )?to|on to\b|onto (?:the|phase|step)|starting (?:with|on|the|now|phase|task|step|in)"
     r"|picking up (?:the|with)|pressing on|pushing (?:on|ahead)|resuming|carrying on|turning to|working through|kicking off|getting started)"
     r"(?![^.]{0,60}\b(?:is|are|was|requires|needs|would|will|where)\b)"
     r"|\bi(?:'ll|'m| will| am)(?: now)? (?:keep |continue |continuing |proceed\w* |press\w* |push\w* |carry\w* )(?:on|going|pushing|working|with|through|down|ahead|to the|until|from|as|in)\b",
     ("gated", "handed-over", "offer", "standing"), "says that work goes on"),
    ("continuing.next-phase", "continuing", "closing", ("phase", "stage", "step", "part", "milestone", "batch", "wave", "task"),
     r"^(?![-*+•]|\d+[.)])\W*(?:from here,? |after that,? |then )?(?:the )?(?:next )?(?:phase|stage|step|part|milestone|batch|wave|task) (?:\d[\w.]*|two|three|four|five)(?: \([^)]{0,60}\))? (?:is (?:the|where|now)|will|covers|comes|would be|can (?:now )?(?:start|begin))\b",
     ("gated", "handed-over", "offer", "standing"), "names the next stage of its own plan and stops before it"),
    # -- narration: the whole message is the line before an action
    ("narration.looking", "narration", "whole", ("ing ", "let me", "i'll", "i need", "first", "more "),
     r"(?:^|[.!:—–] )(?:now |first,? |next,? |ok(?:ay)?,? |good,? |hmm,? |right,? |so,? )?(?:checking|looking|reading|running|searching|inspecting|verifying|tracing|opening|fetching|grepping|scanning|testing|updating|fixing"
     r"|adding|writing|creating|building|investigating|examining|digging|pulling|applying|re-?running|rewriting|rewiring|wiring|implementing)"
     r" (?:at |into |for |up |through |in |on )?(?:the|a|an|all|its?|this|that|these|those|both|each|whether|how|why|what|where|\ufffc|\w+ more|two|three|now|again)\b"
     r"(?![^.]{0,80}\b(?:is|was|are|were|should|would|shows?|works?|passes)\b)[^.!?]{0,200}[.!:…]*$"
     r"|\b(?:one|two|a few|another)(?: more)? (?:more )?(?:thing|place|file|spot|check|caller|case)s? (?:more )?(?:to (?:look|check|read|fix|verify|see|go)|left|first)\b",
     ("gated", "handed-over"), "is the line before an action that never came"),
    ("narration.trailing-colon", "narration", "final", (":",), r"^[^\n]{0,200}\b(?:let me|i'll|i will|now|i need to|going to|first|here goes)\b[^\n]{0,200}:$",
     ("gated",), "ends on a colon with nothing after it"),
    # -- remaining: work is left, and nothing disposes of it
    ("remaining.count", "remaining", "ending", ("still ", "to go", "left to", "not yet", "not done", "not start", "unfinished", "unresolved", "the rest", "rest follow", " of ", "to be "),
     r"\b(?<!\d,)\d[\d,]*(?: \w+){0,4} (?:still (?:need|to\b|have to|fail|broken|miss|pending|unported|untested|undone)|left to \w+|to go\b|(?:(?:are|is) )?(?:unresolved|unfinished"
     r"|not (?:yet )?(?:done|started|migrated|ported|fixed|converted))|(?:remain\w*|left|need|have) to be \w+)"
     r"|\b\d[\d,]* (?:of|/|out of) \d[\d,]*\b[^.]{0,60}\b(?:done|complete|migrated|ported|fixed|converted|finished|in)\b[^.]{0,30}(?:the rest|left|next|follow|to go)",
     ("none-left", "disposed", "reviewed"), "counts work that is not done"),
    ("remaining.bare-count", "remaining", "ending", ("remain", " left", "outstanding", "pending"),
     r"\b(?<!\d,)\d[\d,]*(?: \w+){0,4} (?:remain(?:ing|s)?|left|outstanding|pending)\b(?! (?:unchanged|untouched|the same|available|valid|selected|green|stable|intact|private|in place|to))",
     ("none-left", "disposed", "reviewed"), "counts something that is left"),
    ("remaining.named", "remaining", "ending", ("remain", "still ", "left", "not yet", "outstanding", "next step", "rest "),
     r"^\W*(?:(?:still |what |what's )?(?:remaining|remains)(?: (?:(?:from|in|on|for|after) [^:.]{0,40}|work|tasks?|items?|steps?|todos?|pieces?|before [^:]{0,40}))?(?: is| are)?:"
     r"|what(?:'s| is| remains)(?: still)? (?:left|remaining|missing|open|outstanding)\b|still (?:open|to do|to come|ahead|pending|outstanding|missing|needed|todo|left|unfinished)\b|not (?:yet )?(?:done|implemented|started|finished|ported|wired)(?: yet)?:"
     r"|left to do|outstanding(?: items?)?(?: to [^:]{0,40})?:|next steps?(?: when ready)?:? (?:[^.]{0,10})?(?:continue|proceed|move|start|fix|implement|run|finish|phase|task))"
     r"|\bthe (?:rest|remaining|remainder|other \w+) [^.]{0,60}\b(?:follow|come next|to do|come later|still (?:need|to)|(?:is|are|remains?|stays?) (?:undone|untouched|as analyzed|unfinished|open|next|pending|left))",
     ("none-left", "disposed", "reviewed"), "names work that is left"),
    ("remaining.list", "remaining", "lead-in", ("remain", "left", "still ", "to do", "todo", "outstanding", "not yet", "next up", "unfinished", "missing", "to-do"),
     r"^\W*(?:\d+ )?(?:(?:what |still |what's |the )?(?:remaining|remains|left)\b(?! (?:verticals|categories|values|fields|options))|still (?:open|to do|needed|missing|pending|outstanding|failing|broken|ahead)|left to do|to ?-?do(?: list)?(?: \([^)]*\))?:?$"
     r"|outstanding|not (?:yet )?(?:done|implemented|started|finished|ported)|next up|unfinished|what(?:'s| is) (?:still )?(?:left|missing|next|open|not done))",
     ("none-left", "disposed", "reviewed"), "lists work that is left"),
    ("remaining.next-up", "remaining", "heading", ("next up", "what's next"), r"\bnext up\b(?! after)|^\W*what's next", ("none-left",), "heads the next piece of work and stops"),
    ("remaining.open-boxes", "remaining", "last-list", ("[ ]", "⬜", "☐", "🔲", "⏳"),
     r"\n\W{0,4}(?:\[ \]|⬜|☐|🔲|⏳)", ("reviewed", "disposed"), "shows a to-do list with open boxes"),
    ("remaining.not-done", "remaining", "closing", ("still need", "still have to", "still to be", "not yet ", "unfinished", "haven't yet", "yet to be", "left to do"),
     r"\bstill (?:needs? (?:\w+ing|to be|fixing)|have to|has to|to be (?:done|fixed|ported|written|wired|migrated))\b|\b(?:is|are) (?:not yet|still not|yet to be)"
     r" (?:\w+ )?(?:done|ported|wired|written|migrated|implemented|fixed|converted|finished|covered|tested)\b|\bi haven't yet\b|\bleft to do\b|\bremains? unfinished\b",
     ("none-left", "disposed", "reviewed", "gated", "handed-over"), "says that something is not done yet"),
    # -- capacity and wrap-up
    ("capacity.context", "capacity", "ending", ("context", "token", "budget", "window", "session"),
     r"\b(?:my|i have|i've|i'm|our|this (?:session|conversation)'s|we're|given the)\b[^.]{0,60}\b(?:context (?:window|budget|limit|left|usage|length|remaining|i have)|(?:much|little|limited|remaining|available|enough|low on|most of|full) (?:of (?:my|the) )?(?:context|tokens)|token budget|of my (?:context|window|budget))\b"
     r"|\b(?:running|run) (?:low|out|short) (?:on|of) (?:context|tokens|budget|room|space in)\b|\bcontext (?:is|has) (?:getting|grown|become|nearly|almost|running|filling)",
     ("product", "none-left"), "gives its own context as the reason to end"),
    ("capacity.fresh-session", "capacity", "ending", ("fresh session", "new session", "next session", "another session", "separate session", "later session", "future session",
                                                 "fresh context", "new conversation", "follow-up session", "fresh start", "tomorrow", "fresh eyes"),
     r"\b(?:best|better|pick(?:ed|ing)? (?:it |this |that )?(?:back )?up|continue|resume|left|leave|leaving|hand\w*|defer\w*|sav(?:e|ing)|do|tackle|start|finish|rest|remaining|remainder|handle\w*|take)\b[^.]{0,80}"
     r"\b(?:in|for|by|with|to|from|until)? ?(?:an?|the|another)? ?(?:fresh|new|next|another|separate|later|future|follow-up) (?:session|context|conversation|start)\b|\bpick (?:this|it|up)[^.]{0,30}\btomorrow\b",
     ("product", "disposed"), "leaves the rest to another session"),
    ("capacity.stopping-point", "capacity", "ending", ("stopping point", "place to stop", "point to stop", "place to pause", "point to pause", "good checkpoint", "natural break",
                                                  "break point", "checkpoint", "long session", "handing off", "hand off here"),
     r"\b(?:good|natural|clean|reasonable|sensible|logical|nice|safe|convenient)\b[^.]{0,20}\b(?:stopping point|place to (?:stop|pause|break)|point to (?:stop|pause|break)|checkpoint|break(?:ing)?(?: point)?)\b"
     r"|\b(?:been|was|after) a (?:very )?long session\b|\bhand(?:ing)? off here\b", ("product",), "calls it a good place to stop"),
    ("wrap-up.for-now", "wrap-up", "closing", ("for now", "for today", "stop here", "stopping here", "pause here", "pausing here", "leave it here", "leaving it here",
                                           "leave it there", "wrap up here", "call it"),
     r"\b(?:i'll|i will|i'm|let me|let's|we can|going to|i)\b[^.]{0,20}\b(?:stop|stopping|paus\w+|leav\w+ (?:it|this|things)|wrap\w*(?: it)? up|call\w* it)\b[^.]{0,30}\b(?:here|there|for now|for today|a day)\b"
     r"|^\W*(?:stopping|pausing|wrapping up|leaving it) (?:here|there|for now)\b|\bthat(?:'s| is) (?:it|all|a wrap|enough) for (?:now|today)\b",
     ("gated", "none-left"), "winds down while work is reported unfinished"),
)

# id, kind, scope, needs, pattern, says. Kinds: "excuse" disposes of the hit that names it; "person" does so too, and is
# shown, since only a person can take that step; "blocker" lifts every hit of the families in LIFTED; "waits" lifts nothing.
EXCUSES = (
    ("courtesy", "excuse", "unit", ("else", "other ", "further", "any ", "help", "questions", "like to know", "know more"),
     r"^(?!.*\b(?:commit|or anything else)\b).*(?:\banything else\b|\bany (?:other|further|more|questions|issues|problems|specific|adjustments|changes|clarification)\b|\bhelp (?:you )?with\b"
     r"|\bwhat else\b|\bhave (?:any )?questions\b|\blike to know\b|\bknow more\b|\bsomething else\b)", "is a polite closing"),
    ("your-words", "excuse", "unit", ("clarify", "did you mean", "were you", "your message", "meant", "focus on", "remember"),
     r"\b(?:did you mean|were you (?:going|trying)|your (?:message|question|request)|you meant|to remember|focus on when|like to clarify(?!.*\bwork on))\b", "asks what was meant"),
    ("asks-facts", "excuse", "unit", ("?",),
     r"(?:^|[—–:,] )(?:and |so |but )?(?:does|did|is|are|was|were|has|have|had|how|when|who|why|what (?:is|are|does|did|were|was|happens|error|version|about)|can you|could you|do you (?!want|prefer|like|think|need)\w+|are you)\b"
     r"(?!(?! it).*\b(?:ok|okay|fine|good) (?:to|if|with)\b)", "asks what only the reader knows"),
    ("your-hands", "excuse", "unit", ("test", "try ", "shot", "see ", "check", "look", "verify", "save", "log in", "sign in", "rerun", "restart"),
     r"\b(?:want to|ready to|ready for you to|you can|you(?:'d like)? to) (?:log|sign|re-?run|restart|test|try|see|give|check|have a look|take a look|look|verify|save)\b", "is for the reader's own hands"),
    ("gated", "person", "unit",
     ("you've ", "you have ", "if you ", "after you", "please ", "log in", "paste", "share", "point me", "your end", "you to ", "once you", "let me know once", "when you've",
      "tell me when", "when it's done", "send me", "provide", "when you ", "once the", "after the", "wait for you", "i'll ", "i will ", "i can "),
     r"\b(?:once|after|when|as soon as) (?:the|your) [\w ]{1,30} (?:is|are) (?:in|set|added|configured|live|merged|filled|up)\b|\bwait for you\b"
     r"|^\W*(?:then |now |just )?(?:check|click|open|save|enter|run|restart|reload|refresh|paste|add|set|log|sign|go to|try|put|plug|install|select|enable|tap|press|visit|type|send|share|upload|give|drop)\b[^.?]{0,200}\b(?:and|then) i(?:'ll| will| can)\b"
     r"|\b(?:once|after|when|as soon as) you(?:'ve| have)? (?:\w+ed|done|set|run|put|sent|ran|log\w*|re-?\w+|enter\w*|install\w*|test\w*|add|upload|share|provide|paste|create|finish\w*|upgrade|get)\b"
     r"|\bif you (?:can |could )?(?:share|paste|provide|send|point|give me (?:the|a|your) (?:file|path|log|output|url|key|token)|tell me (?:where|what)|upload|run|grant|have the|see|hit|get|still)\b"
     r"|\bplease (?:log|sign|paste|share|provide|send|run|try|restart|reload|refresh|test|check|upload|enter|clarify|add|open|install|save|let me know (?:what|if it|how it))\b"
     r"|\b(?:paste|send|share) (?:me )?(?:the|your|that|me)\b(?![^()]*\))|\blet me know (?:once|when|what|if it|how it|if (?:the|that|this|you (?:see|hit|still|run|get|success\w+)))\b|\b(?:when it's done|then let me know|tell me when)\b",
     "waits for something that only the reader can do"),
    ("handed-over", "person", "near", ("please ", "you need to", "you'll need to", "you have to", "once you", "after you", "when you", "let me know", "tell me", "can you ",
      "could you ", "if you ", "your turn", "waiting for you", "waiting on you"),
     r"\bplease (?!note|see|find|keep)\w+|\byou(?:'ll)? (?:need|have) to\b|\b(?:once|after|when|as soon as) you(?:'ve| have)? \w+|\b(?:let me know|tell me) (?:once|when|what|if|how|which)\b"
     r"|\b(?:can|could) you \w+[^.]{0,120}\?|\byour turn\b|\bwaiting (?:for|on) you\b|\bif you (?:can|could|paste|share|send|still|get|see|run)\b",
     "follows from a step that the reader must take"),
    ("standing", "excuse", "unit", ("from now on", "whenever", "going forward", "in future", "future", "automatically", "every time", "each time", "always"),
     r"\b(?:from now on|whenever|going forward|in (?:the )?future|future \w+|automatically|(?:every|each) time|always)\b", "promises a habit and no next step"),
    ("your-turn", "excuse", "unit", ("you'll want", "you can", "you may", "you could", "you should", "you will", "you might"),
     r"\byou(?:'ll want| will want| can| may| might| could| should)\b", "tells the reader what to do"),
    ("public", "person", "unit", ("push", "reset", "discard", "publish", "release", "merge", "deploy", "delete", " pr", "pull req", "post ", "send ", "drop ", "wipe", "force", "up.", "tear ", "purchase", "email", "production"),
     r"^(?!.*\b(?:commit|address|fix|implement|redeploy|phase)\w*\b)(?:.*\b(?:push|publish|merge|delete|discard|reset [^?]{0,40}\bto (?:match|remote|origin)|wipe|force-push|tear down|(?:create|raise|open|submit) (?:a|the|another) (?:pr|pull request)|post (?:this|it|that|the|these|a)"
     r"|send (?:this|it|the|that)|drop (?:the|that|it)|deploy (?:it |this |that )?to (?:prod|live)|cut (?:a|the) release|release (?:it|this))\b|.*\bnot pushed\b)", "is public or cannot be undone"),
    ("past-call", "excuse", "unit", ("your call", "your decision", "your choice", "your preference", "your approval", "your go", "your review", "your feedback"),
     r"\b(?:per|following|after|based on|with|matches|from|respects|honou?rs|as) your (?:call|decision|choice|preference|approval|go-ahead|review|feedback)\b|\byour (?:call|decision|choice) (?:on|from|of) (?:mon|tues|wednes|thurs|fri|yesterday|last|earlier)",
     "cites a decision that was made"),
    ("offer", "excuse", "unit", ("if you", "if it", "if that", "if the", "if any", "let me know", "would be", "whenever", "should you", "if more", "if xml"),
     r"\blet me know\b|(?:^|[,—–] )(?:and )?if (?:you|it|that|the|this|any|anything|there)\b|\bshould you\b", "is a conditional offer"),
    ("none-left", "excuse", "unit", ("0 ", "no ", "nothing", "zero", "none", "without"),
     r"(?<![\d.,/])0 (?:of|remain|left|fail|todo|open|pending|out|\w+ remain|\w+ left)|\b(?:no|zero|without(?: any)?) (?:\w+ ){0,3}(?:remain\w*|left|outstanding|pending|todos?|open)\b|\bnothing (?:\w+ )?(?:remain\w*|left|pending|outstanding|open|to do)\b|\bnone (?:\w+ )?(?:remain|left)",
     "says that nothing is left"),
    ("disposed", "excuse", "list",
     ("out of scope", "outside", "as agreed", "tracked", "deferred", "on main", "pre-existing", "preexisting", "unrelated", "known", "by design", "intentional", "deliberate", "follow-up", "#",
      "already", "not part of", "someone else", "owned by", "assigned to", "blocked by", "optional", "teammate", "unchanged", "kept for", "don't fail", "below threshold", "for later", "backlog"),
     r"\b(?:out of scope|outside (?:this|the|of)|as (?:you )?agreed|tracked (?:in|as|under|by|separately)|(?:deferred|moved|filed) (?:to|as|in|under) (?:#|\ufffc|issue|ticket|the backlog)|(?:also )?(?:fails?|failing|present|happens?) on main"
     r"|(?:pre-?existing|unrelated|known (?:issue|failure|flake)|by design|intentional|deliberate)|not part of|someone else|owned by|assigned to|blocked by|kept for|don't fail|below (?:the )?threshold|logged as|in the backlog)",
     "disposes of what is left"),
    ("reviewed", "excuse", "list", ("review", "flagged", "raised", "found", "pr #", "author", "reviewer", "requested", "audit", "if you still", "selected", "placeholders"),
     r"\b(?:i flagged|i raised|(?:posted|left) (?:to|on|a)|requesting changes|requested changes|(?:the|his|her|their) (?:author|reviewer)|review (?:posted|comment|pass|complete|of)|pr #?\d+|'s (?:pr|review)|if you still)\b", "reviews someone else's work"),
    ("product", "excuse", "unit", ("summari", "model", "user", "api", "prompt", "truncat", "chunk", "request", "config", "support", "endpoint", "provider", "login", "session token", "expire", "cookie"),
     r"\b(?:summari[sz]er|model's|the model|users?|api|endpoint|provider|truncat\w+|chunk\w*|max_tokens|cookies?|log ?in|expir\w+|auth\w*|jwt|react|provider)\b", "speaks of the product"),
    # -- only a person can lift these
    ("blocker.credentials", "blocker", "near", ("password", "credential", "api key", "token", "secret", "2fa", "log in", "login", "sign in", "access to", "permission", "sudo", "otp", "account"),
     r"\b(?:i (?:can't|cannot|don't have|have no|am unable|couldn't|lack|need you to|need your|need the)|you(?:'ll| will)? need to|only you can|requires? you|needs? your|please)\b[^.]{0,80}\b(?:passwords?|credentials?|api keys?|secrets?|2fa|log ?in|sign ?in|access|permissions?|sudo|otp|account)\b",
     "needs credentials or access that a person holds"),
    ("blocker.hands", "blocker", "near", ("device", "phone", "plug", "browser", "gui", "physical", "screen", "manually", "your machine", "by hand", "dashboard", "emulator"),
     r"\b(?:i (?:can't|cannot|have no way|am unable|couldn't)|you(?:'ll| will)? (?:need|have) to|only you can|requires? you|please|can you|could you)\b[^.]{0,80}\b(?:device|phone|plug|browser|gui|physical\w*|screen|manually|your machine|by hand|dashboard|emulator)\b",
     "needs a person's hands"),
    ("blocker.cannot-be-undone", "blocker", "near", ("irreversible", "can't be undone", "cannot be undone", "production", "permanent", "data loss", "yes or no before"),
     r"\b(?:need|want|wait\w*|ask\w*|confirm\w*|until|before)\b[^.]{0,80}\b(?:irreversible|(?:can't|cannot) be undone|in production|prod(?:uction)? (?:data|database)|permanent(?:ly)?|data loss)\b|\b(?:irreversible|(?:can't|cannot) be undone|permanently)\b[^?]{0,200}\?",
     "asks before something that cannot be undone"),
    ("blocker.missing-facts", "blocker", "near", ("i need you to", "please provide", "please share", "please paste", "could you share", "can you share", "could you paste", "can you paste", "send me", "please clarify",
                                                "please send", "could you provide", "can you provide", "cut off", "don't see any", "please add", "could you please", "can you open"),
     r"\b(?:i need you to|please (?:provide|share|paste|send|clarify|add)|(?:could|can) you (?:please )?(?:share|paste|provide|send|add|open|upload|confirm (?:whether|which|what))|send me|message (?:got|was) cut off)\b",
     "needs facts that only a person has"),
    # -- it says that it waits for something that runs
    ("waits.running", "waits", "ending", ("waiting", "running", "background", "notif", "in progress", "reports back", "finish", "complete", "returns", "report", "wake", "check back", "lands", "still "),
     r"\b(?:waiting (?:on|for) (?!you)|still (?:running|working|going|in progress|executing|building|processing|ahead)|(?:is|are|now) (?:running|in progress|building|working)|in the background|[—–|:] running\b|(?:be )?notif(?:y|ied|ication)|reports? back|check(?:ing)? back|wak(?:e|es|ing) (?:me|up))\b"
     r"|\b(?:once|when|until|after|as soon as|as) (?:\w+ ){1,6}(?:finish\w*|complet\w*|reports?|returns?|lands?|comes? (?:back|in)|done|passes|exits?|respond\w*)\b",
     "waits for something that runs"),
)
# Rules of low confidence: logged and counted, never a reason to hold.
ADVISORY = ("remaining.bare-count",)
# What a blocker lifts, and what it does not: an announced next step stays a contradiction.
LIFTED = ("permission", "menu", "your-call", "remaining")
READ_AT_MOST = 65536     # the ending of a longer message is read, so that any size is judged in bounded time
UNIT_AT_MOST = 1500      # a longer sentence is no sentence; its end is looked at
NOT_AN_END = ("e.g.", "i.e.", "vs.", "cf.", "approx.", "no.", "fig.", "incl.", "z.b.", "d.h.", "bzw.", "p.ej.", "т.е.")
ITEM = r"(?:[-*+•·▪◦–]|\d{1,3}[.)、]|\(?[a-z0-9][.)]|[☐☑☒⬜🔲])[ \t]+|\d{1,2}\ufe0f?\u20e3[ \t]*|\d{1,2}、"
SENTENCE_END = r"[.!?…:;][\"')\]*_”»\ufffc]{0,4}(?=\s|\Z)|[。！？]+[”」』）)*]{0,3}"

# --- rules: turn-ends in other languages ----------------------------------------------------------

# An ask gives way to a courtesy, a step that the person must take, a question of fact, and a risk that is theirs to take.
_ASK = ("courtesy", "gated", "fact", "irreversible")
_OWED = ("disposed", "gated", "theirs")
_NEXT = ("gated", "theirs")

RULES_OTHER = (
    # --- Chinese, both scripts. A question is known by its particle or mark; who acts is mostly left unsaid.
    ("zh.permission.want-me-to", "permission", "ending", ("吗", "嗎", "？", "?"),
     r"(?:要不要|需不需要|用不用|该不该|該不該|是否|可否|能否|可以|想让|想讓|想要|希望|需要|要)[^。！？?\n]{0,12}"
     r"(?:我|[继繼][续續]|[开開]始|[执執]行|[实實]施|[进進]行|直接|立即|[马馬]上|先|一[并併起])[^。！？?\n]{0,60}(?:[吗嗎么麼呢]|[？?])",
     _ASK, "asks in Chinese for leave it already has"),
    ("zh.permission.say-so", "permission", "ending", ("我",),
     r"(?:同意|认可|認可|[没沒]有?[问問][题題]|[确確][认認]|可以|ok|[说說]一[声聲]|一句[话話]|点[头頭]|你[说說])"
     r"(?:的话|的話|后|後|之后|，|,| )[^。\n]{0,8}我(?:就|再|来|來|[会會]|[将將]|[马馬]上|立即|立刻|[开開]始|[继繼][续續]|[帮幫])",
     _ASK, "waits in Chinese for a yes it already has"),
    ("zh.your-call.question", "your-call", "closing", ("？", "?"),
     r"[一-鿿][^。！？?\nぁ-ヿ가-힣]{0,20}[？?]\W{0,8}$", _ASK, "closes with a question to the reader in Chinese"),
    ("zh.your-call.tell-me", "your-call", "ending",
     ("告诉我", "告訴我", "请", "請", "等", "决定", "決定", "你选", "你選", "你觉得", "你覺得", "你看", "您"),
     r"(?:告[诉訴]我|回[复覆]|[请請]|等待?)[^。！？?\n]{0,12}(?:[选選][择擇]|偏好|指示|[决決]定|[选選]哪|哪[个個种種一]|方向|[优優]先)"
     r"|[你您](?:来|來|自己)?(?:[决決]定|[选選]一|拍板)|由[你您][^。\n]{0,6}定|[你您](?:觉得|覺得|看)(?:呢|如何|怎[么麼])",
     _ASK, "hands the choice back in Chinese"),
    ("zh.continuing.now-i", "continuing", "last", ("现在", "現在", "接下", "下面", "马上", "馬上", "我", "继续", "繼續", "开始", "開始", "这就"),
     r"^(?:[^，。,]{0,30}[，,；]){0,2}(?:好的?|那[么麼])?(?:(?:现在|現在|接下[来來]|下面|[马馬]上|[这這]就|随后|隨後|然[后後])(?:我[们們]?)?(?:[来來就先再要]|[会會]|[将將])?"
     r"|(?:我[们們]?|[让讓]我[们們]?)(?:现在|現在|先|再|[来來]|[会會]|[将將]|[马馬]上|接[着著]|[准準][备備]|[这這]就|要|去){1,2}|(?=[继繼][续續]|[开開]始|着手))"
     r"(?:[继繼][续續]|[开開]始|着手|[处處]理|[执執]行|修[复復]|[实實][现現施]|[检檢]查|查看|看|[读讀]|[运運]行|[测測][试試]|更新|[创創]建|[编編]?[写寫]|[输輸]出"
     r"|整理|整合|分析|搜[索尋]|添加|完善|[迁遷]移|[验驗][证證]|修改|改|重[构構]|[补補]|生成|做|跑)"
     r"(?![^\n]{0,60}(?:[了吗嗎？?]|完成|完[毕畢]|即可|就行|[你您]|以下命令))[^。！？?\n]{0,60}(?:[：:。…]|\.{1,3})?$",
     _NEXT, "announces in Chinese work that did not come"),
    ("zh.remaining.list", "remaining", "last-list", ("待", "未", "剩", "还", "還", "下一步", "后续", "後續", "接下"),
     r"^[^\n]{0,30}(?:待(?:完成|[实實][现現]|[办辦做]|[处處]理|修[复復]|解[决決]|[迁遷]移)|未(?:完成|[实實][现現]|解[决決]|[处處]理)"
     r"|剩[余餘下]|尚未|[还還][没沒需要]|下一步|[后後][续續]|接下[来來])[^\n]{0,20}\n",
     _OWED, "lists in Chinese what is still to do"),
    ("zh.remaining.still", "remaining", "ending", ("还", "還", "剩", "尚", "仍", "未"),
     r"(?:[还還]有|[还還]剩|剩下|剩[余餘]|仍有|尚有|尚未|仍未|仍需|[还還]需|[还還]差|[还還][没沒])"
     r"[^。！？\n]{0,24}(?:\d|[一二两三四五六七八九十几幾])[^。！？\n]{0,24}(?:完成|[实實][现現]|[处處]理|做|修|[迁遷]移|改|[跑测測][试試]?|[写寫])",
     _OWED, "says in Chinese that work is left"),
    ("zh.capacity.context", "capacity", "ending", ("上下文", "会话", "會話", "对话", "對話", "token", "/compact"),
     r"(?:上下文|token)[^。！？\n]{0,12}(?:不足|快[满滿要用]|即[将將]|有限|[剩余餘]|耗[尽盡]|[压壓][缩縮])|[压壓][缩縮]上下文|/compact"
     r"|(?:新的?|下[个一]?)(?:[会會][话話]|[对對][话話])[^。！？\n]{0,6}(?:[继繼][续續]|再|[处處]理|完成)",
     ("product",), "gives its own capacity as the reason, in Chinese"),
    ("zh.wrap-up.here", "wrap-up", "ending", ("先到这", "先到這", "告一段落", "今天就", "下次", "改天", "明天"),
     r"先到[这這](?:里|裡|儿)?|告一段落|今天就(?:到|先)|(?:下次|改天|明天)(?:再|[继繼][续續])",
     _NEXT, "winds down in Chinese"),
    # --- Japanese
    ("ja.permission.shall-i", "permission", "ending", ("か？", "か。", "か?", "か"),
     r"(?:ましょうか|(?:進め|始め|続け|[しみきりけえげてせめれい])ますか|(?:よろしい|良い|いい|よい|構わない|かまわない)(?:です|でしょう)か"
     r"|(?:ほしい|欲しい|希望|必要)(?:です|でしょう)か)(?:[？?。]|\W{0,4}$)",
     _ASK, "asks in Japanese for leave it already has"),
    ("ja.permission.say-so", "permission", "ending", ("ば", "なら", "たら", "れば"),
     r"(?:必要|希望|要望|よろしければ|よければ|良ければ|問題なければ|指示|承認|ok|了承|お知らせ|教えて|言って|選んで)[^。？\n]{0,60}"
     r"(?:します|できます|可能です|進めます|始めます|着手|実装|対応|行います|入ります|いたします|サポート)",
     _ASK, "waits in Japanese for a word it does not need"),
    ("ja.your-call.which", "your-call", "closing", ("どちら", "どれ", "どの", "いかが", "ください", "待ち", "お任せ"),
     r"(?:どちら|どれ|どの[^。\n]{0,16})(?:に|を|が|で|から|へ)[^。\n]{0,30}(?:か|ください)|いかがでしょうか|いかがですか"
     r"|(?:選んで|選択して|お選び|決めて|ご?判断|ご?指示|ご?指定|お?教えて|お知らせ|ご?承認)[^。\n]{0,6}(?:ください|くださいませ|お願い|待ち)",
     _ASK, "hands the choice back in Japanese"),
    ("ja.continuing.next", "continuing", "last", ("ます", "です"),
     r"^(?:では|それでは|次は|次に|続けて|続いて|引き続き|これから|今から|まず|まずは|さらに|残り)[^。？\n]{0,60}"
     r"(?:します|進めます|始めます|行います|続けます|移ります|確認します|着手します|対応します|直します|見ます|いきます)\W{0,3}$",
     _NEXT, "announces in Japanese work that did not come"),
    ("ja.remaining.list", "remaining", "last-list", ("残", "未", "次の", "今後", "todo"),
     r"^[^\n]{0,30}(?:残り|残っ|残タスク|残作業|残件|未対応|未実装|未完了|未着手|次のステップ|今後の(?:作業|対応|タスク)|todo)[^\n]{0,20}\n",
     _OWED, "lists in Japanese what is still to do"),
    ("ja.remaining.still", "remaining", "ending", ("残", "まだ", "未"),
     r"(?:残り|残って|まだ|未だ)[^。？\n]{0,40}(?:\d[^。\n]{0,24}(?:残|未|です|あります)|いません|できていな|終わっていな|残って|未対応|未実装|未完了|これから)",
     _OWED, "says in Japanese that work is left"),
    ("ja.capacity.context", "capacity", "ending", ("コンテキスト", "トークン", "セッション", "チャット"),
     r"(?:コンテキスト|トークン)[^。\n]{0,12}(?:残り|限界|不足|上限|少な|逼迫|足り)|(?:新しい|新規|別の|次の)(?:セッション|会話|チャット)[^。\n]{0,8}(?:続|再開|進め|対応|引き)",
     ("product",), "gives its own capacity as the reason, in Japanese"),
    ("ja.wrap-up.here", "wrap-up", "ending", ("ここまで", "一旦", "いったん", "続きは", "区切り", "きりが"),
     r"(?:今回|今日|本日|一旦|いったん|ひとまず)[^。\n]{0,8}(?:ここまで|区切|止め|終わり)|続きは[^。\n]{0,8}(?:次回|後日|明日|別)|(?:区切り|きり)が(?:良|よ|い)",
     _NEXT, "winds down in Japanese"),
    # --- Korean
    ("ko.permission.shall-i", "permission", "ending", ("까요", "까?", "나요", "래요", "니까"),
     r"(?:할|드릴|될|볼|갈|들|[가-힣])까요|(?:원하|필요하|괜찮으)(?:시|십)?(?:나요|니까|세요|신가요|ㄴ가요)|(?:원하십니까|하시겠습니까|하시겠어요|괜찮을까요)",
     _ASK, "asks in Korean for leave it already has"),
    ("ko.permission.say-so", "permission", "ending", ("주시면", "면 ", "시면"),
     r"(?:원하|필요하|괜찮으|말씀해? ?주|알려 ?주|승인해? ?주|선택해? ?주|확인해? ?주|결정해? ?주|지시해? ?주|허락해? ?주)(?:시면|면)[^.?\n]{0,60}"
     r"(?:하겠습니다|드리겠습니다|할게요|드릴게요|진행합니다|시작합니다|시작하겠|진행하겠|수 있습니다|수 있어요)",
     _ASK, "waits in Korean for a word it does not need"),
    ("ko.your-call.which", "your-call", "closing", ("어느", "어떤", "어떻게", "무엇", "선택", "결정", "지시", "말씀", "알려"),
     r"(?:어느|어떤|무엇|어떻게)[^.\n]{0,40}(?:\?|까요|나요|니까|세요)|(?:선택|결정|지시|지정|승인)[^.\n]{0,8}(?:주세요|주십시오|바랍니다|부탁|기다리)"
     r"|(?:말씀해|알려) ?(?:주세요|주십시오)", _ASK, "hands the choice back in Korean"),
    ("ko.continuing.next", "continuing", "last", ("겠습니다", "할게요", "합니다", "볼게요"),
     r"^(?:그럼|그러면|이제|다음은|다음으로|이어서|계속|계속해서|먼저|우선|곧|바로|나머지)[^.?\n]{0,60}(?:겠습니다|게요|진행합니다|시작합니다|계속합니다|들어갑니다)\W{0,3}$",
     _NEXT, "announces in Korean work that did not come"),
    ("ko.remaining.list", "remaining", "last-list", ("남", "미완", "미구현", "다음 단계", "할 일", "대기"),
     r"^[^\n]{0,30}(?:남은|남아|미완료|미구현|미처리|다음 단계|다음 작업|할 일|후속 작업)[^\n]{0,20}\n", _OWED, "lists in Korean what is still to do"),
    ("ko.remaining.still", "remaining", "ending", ("남", "아직"),
     r"\d[^.\n]{0,20}(?:남았|남아|남은)|(?:작업|항목|파일|테스트|단계)[^.\n]{0,12}남(?:았|아 ?있)|아직[^.\n]{0,40}(?:않았|못했|안 ?했|남|안 ?됐|하지)",
     _OWED, "says in Korean that work is left"),
    ("ko.capacity.context", "capacity", "ending", ("컨텍스트", "토큰", "세션", "대화"),
     r"(?:컨텍스트|토큰)[^.\n]{0,14}(?:부족|한계|소진|얼마 남|거의|줄어)|(?:새|새로운|다음) ?(?:세션|대화)[^.\n]{0,8}(?:이어|계속|진행|시작)",
     ("product",), "gives its own capacity as the reason, in Korean"),
    ("ko.wrap-up.here", "wrap-up", "ending", ("여기까지", "다음에", "내일", "마무리"),
     r"(?:오늘은|일단|이번에는|우선)[^.\n]{0,8}(?:여기까지|마무리|멈추)|(?:다음에|내일|나중에)[^.\n]{0,6}(?:이어|계속)", _NEXT, "winds down in Korean"),
    # --- Spanish, Portuguese, French
    ("rom.permission.want-me-to", "permission", "ending", ("?",),
     r"(?:\b(?:quieres|quiere|deseas|desea|prefieres|te gustar[ií]a|quer|deseja|gostaria|prefere)\b|\bte parece\b|\b(?:posso|devo|puedo|debo|deber[ií]a)\b"
     r"|¿(?:contin[uú]o|procedo|sigo|empiezo|avanzo|arranco|lo hago|seguimos|continuamos|empezamos|lanzo|aplico|hago)"
     r"|\b(?:continuo|prossigo|sigo|come[cç]o|avan[cç]o|vamos) (?:com|para|a |em|continuar|seguir|come[cç]ar)|\bpode(?:mos)? (?:ser|continuar|prosseguir|seguir)"
     r"|\b(?:souhaite[sz]?|veux|voulez|dois|puis|pr[ée]f[èe]re[sz]?|aimerai[st]|aimeriez)[- \u2011](?:tu|vous|je)\b|\b(?:tu|vous) (?:veux|voulez|souhaite[sz]?|pr[ée]f[èe]re[sz]?)"
     r"|\best-ce que je\b|\bon (?:continue|passe|y va|lance|part|commence|attaque|garde|encha[iî]ne|fait)\b|\b[cç]a (?:te|vous) (?:va|convient)"
     r"|\bje (?:continue|lance|passe|commence|m'en occupe|fais|poursuis|proc[èe]de|corrige|applique|le fais)\b|\bd'accord pour\b|\bok pour\b)[^?\n]{0,200}\?",
     _ASK, "asks in Spanish, Portuguese or French for leave it already has"),
    ("rom.permission.infinitive", "permission", "closing", ("?",),
     r"^\W{0,3}(?:continuer|passer|lancer|commencer|proc[ée]der|poursuivre|corriger|appliquer|valider|mettre|faire|g[ée]n[ée]rer|ajouter|continuar|seguir"
     r"|proceder|prosseguir|come[cç]ar|empezar|aplicar|implementar|corrigir|executar)\b[^.!?\n]{0,140}\?", _ASK, "asks with a bare infinitive"),
    ("rom.permission.say-so", "permission", "ending",
     ("si tu", "si vous", "si oui", "se quiser", "se você", "caso queira", "si quieres", "si lo deseas", "si te parece", "si est"),
     r"\b(?:si (?:tu|vous) (?:veux|voulez|es d'accord|[eê]tes d'accord|valide[sz]?|souhaite[sz]?|pr[ée]f[èe]re[sz]?)|si oui|se (?:voc[eê] )?(?:quiser|preferir|concordar)"
     r"|caso queira|si (?:quieres|lo deseas|te parece|est[aá]s de acuerdo|prefieres))\b[^.?\n]{0,80}"
     r"\b(?:je (?!t'explique)\w|j'\w|posso|fa[cç]o|sigo|puedo|hago|empiezo|contin[uú]o|implemento|j[aá] )", _ASK, "waits for a yes it already has"),
    ("rom.your-call.choose", "your-call", "ending",
     ("dis-moi", "dis\u2011moi", "dites", "choisis", "avise", "me diga", "me diz", "dime", "avísame", "aguard", "aguardo", "espera", "decis", "decid", "avisa"),
     r"\b(?:dis|dites)[-\u2011 ]moi\b[^.?\n]{0,30}\b(?:si|ce que|quel|lesquel|laquel|par quoi|comment|quand|o[uù])|\bchoisi(?:s|ssez)\b"
     r"|\bme (?:avise|diga|diz|fala|fale)\b|\bdime (?:si|qu[eé]|cu[aá]l|c[oó]mo|y)|\bav[ií]same\b|\baguardando\b[^.\n]{0,12}(?:su[ao]|instru|decis|aprova|confirma|ok)"
     r"|\b(?:fico no aguardo|quedo a la espera|espero tu|espero sus?)\b|\b(?:preciso|necesito|besoin) d[ea] (?:su?a|t[ua]|tu|votre|ta|ton) d[eé]cis"
     r"|\b(?:t[uú] decides|voc[eê] decide|a toi de (?:choisir|d[ée]cider)|[aà] vous de (?:choisir|d[ée]cider))", _ASK, "hands the choice back"),
    ("rom.your-call.question", "your-call", "last", ("?",),
     r"\b(?:quel(?:le)?s?|lequel|laquelle|que (?:dois|veux|souhaite|pr[ée]f)|qual|quais|o que (?:voc[eê]|prefere|fa[cç]o)|cu[aá]l|qu[eé] (?:opci[oó]n|prefieres|hago|quieres))\b"
     r"[^?\n]{0,140}\?", _ASK, "closes with a question of choice"),
    ("rom.continuing.now-i", "continuing", "last",
     ("je ", "j'", "passons", "vou ", "voy a", "vamos a", "vamos ", "continuando", "prosseguindo", "sigo", "continúo", "continuo", "paso a", "passo "),
     r"^(?:\W{0,3}(?:bien|ok|parfait|bon|maintenant|ensuite|[aà] pr[ée]sent|bom|agora|em seguida|a seguir|ahora|a continuaci[oó]n|luego|perfecto|perfeito)[,. !:]{1,3}){0,2}"
     r"(?:je (?:vais|continue|poursuis|passe|lance|commence|m'attaque|reprends|encha[iî]ne|m'occupe|v[ée]rifie|regarde)|passons|vou|voy a|vamos a|continuando|prosseguindo"
     r"|sigo|seguimos|contin[uú]o|continuo|paso a|passo (?:a|para)|procedo)\b[^.?!\n]{0,120}(?:[.:…]|$)", _NEXT, "announces work that did not come"),
    ("rom.remaining.list", "remaining", "last-list", ("reste", "restant", "faire", "étape", "falta", "pendê", "pendie", "pende", "próxim", "suite poss", "fazer", "hacer", "siguientes"),
     r"^[^\n]{0,30}\b(?:reste (?:[aà]|encore)|restante?s?|[aà] faire|prochaines? [ée]tapes?|suite possible|faltan?m?|pend[eê]ncias?|pend(?:i|)entes?|a fazer|por hacer|por fazer"
     r"|pr[oó]ximos pas(?:os|sos)|siguientes pasos)\b[^\n]{0,60}\n", _OWED, "lists what is still to do"),
    ("rom.remaining.still", "remaining", "ending", ("reste", "falta", "ainda", "aún", "todavía", "encore", "quedan", "resta", "queda"),
     r"\b(?:il (?:ne )?reste(?:nt)? (?!rien|aucun)|restent|ainda (?:faltam?|restam?|h[aá])|faltam? (?!nada)\w{0,10} ?|restam|quedan?|(?:a[uú]n|todav[ií]a) (?:faltan?|quedan?|hay))[^.?\n]{0,20}"
     r"(?:\d|[aà] (?:faire|traiter|corriger)|por (?:hacer|fazer|migrar)|tests?|arquivos|archivos|fichiers|etapas?|[ée]tapes?|itens|items|tarefas|tareas|pruebas)",
     _OWED, "says that work is left"),
    ("rom.capacity.context", "capacity", "ending", ("context", "sess", "sesión", "conversa"),
     r"\b(?:contexte?|contexto)\b[^.\n]{0,24}(?:limit|satur|presque|restant|restante|casi|quase|acab|agot|lleno|cheio|plein)"
     r"|\b(?:nouvelle (?:session|conversation)|nova (?:sess[aã]o|conversa)|nueva (?:sesi[oó]n|conversaci[oó]n)|sess[aã]o nova)\b",
     ("product",), "gives its own capacity as the reason"),
    ("rom.wrap-up.here", "wrap-up", "ending", ("arrête", "arret", "aujourd'hui", "por hoje", "por hoy", "por aqui", "por aquí", "parada", "pausa", "pause"),
     r"\bje m'arr[eê]te (?:ici|l[aà])|\b(?:pour aujourd'hui|por hoje|por hoy)\b|\bpar[oa] por aqu[ií]\b|\bbo[am] ponto de parada|\bbuen punto (?:para|de)|\bbon (?:point|moment)"
     r" (?:d'arr[eê]t|pour)|\bfais(?:ons)? une pause", _NEXT, "winds down"),
    # --- German
    ("de.permission.shall-i", "permission", "ending", ("?",),
     r"\b(?:soll(?:en|te|ten)? (?:ich|wir)|m[oö]chte(?:st du|n sie)|willst du|wollen (?:sie|wir)|h[aä]tte(?:st du|n sie) gern|magst du|darf ich|kann ich|passt (?:das|dir)|ist das (?:ok|okay|in ordnung)"
     r"|einverstanden|weiter mit|mache ich|bevorzug(?:st du|en sie))\b[^?\n]{0,160}\?", _ASK, "asks in German for leave it already has"),
    ("de.permission.say-so", "permission", "ending", ("bescheid", "wenn du", "wenn sie", "falls du", "falls gew", "lass mich", "sag "),
     r"\b(?:gib|geben sie|sag|sagen sie) (?:mir |einfach |mir einfach |kurz |mir kurz )?(?:bescheid|ja|ok|wenn|ob|welche)|\blass(?:en sie)? mich wissen"
     r"|\b(?:wenn|falls) (?:du|sie|gew[uü]nscht|das passt)\b[^.?\n]{0,50}\b(?:mache|baue|[uü]bernehme|setze|starte|fange|k[uü]mmere|kann|beginne|lege|ziehe) ich\b",
     _ASK, "waits in German for a word it does not need"),
    ("de.your-call.which", "your-call", "closing", ("welche", "entscheid", "wie soll", "was soll", "deine", "ihre", "warte auf", "lieber"),
     r"\b(?:welche[nrs]?|wie|was)\b[^?.\n]{0,80}\b(?:soll|m[oö]cht|bevorzug|lieber|nehmen|w[aä]hl)[^?.\n]{0,60}\?|\b(?:deine|ihre) (?:entscheidung|wahl)\b|\b(?:entscheidest du|du entscheidest|liegt bei (?:dir|ihnen))"
     r"|\bwarte (?:ich )?auf (?:deine?n?|ihre?n?) (?:ok|entscheidung|freigabe|antwort|r[uü]ckmeldung)", _ASK, "hands the choice back in German"),
    ("de.continuing.next", "continuing", "last", ("ich ", "weiter mit", "weiter geht", "dann ", "jetzt"),
     r"^(?:gut|ok|okay|so|jetzt|nun|dann|danach|als n[aä]chstes|im n[aä]chsten schritt|anschlie[sß]{1,2}end|zuerst)?[,:]? ?"
     r"(?:(?:ich )?(?:mache|fahre|setze|arbeite|gehe|k[uü]mmere|beginne|starte|pr[uü]fe|schaue|werde|baue|nehme|passe|schreibe|ziehe|f[uü]hre)\b[^.?!\n]{0,100}|weiter (?:mit|geht)[^.?!\n]{0,80})[.:…]?$",
     _NEXT, "announces in German work that did not come"),
    ("de.remaining.list", "remaining", "last-list", ("offen", "fehl", "verbleib", "ausste", "nächste", "to-do", "todo"),
     r"^[^\n]{0,30}(?:noch offen|offene (?:punkte|aufgaben)|es fehl|noch fehl|fehlt noch|fehlen noch|verbleib|ausstehend|steht noch aus|n[aä]chste schritte|to-?dos?)[^\n]{0,30}\n",
     _OWED, "lists in German what is still to do"),
    ("de.remaining.still", "remaining", "ending", ("noch", "verbleib", "offen"),
     r"\bnoch (?:\d+|nicht|einige|mehrere|zwei|drei|vier)\b[^.?\n]{0,50}(?:offen|[uü]brig|migriert|umgesetzt|erledigt|fertig|aus\b|fehl)|\b(?:es )?(?:fehlen|fehlt|verbleiben|bleiben) noch\b"
     r"|\b\d+ [^.\n]{0,30}(?:verbleiben|sind noch offen|fehlen noch|stehen noch aus)", _OWED, "says in German that work is left"),
    ("de.capacity.context", "capacity", "ending", ("kontext", "sitzung", "session"),
     r"\bmein(?:em?|en)? kontext|\bkontext(?:fenster)?\b[^.\n]{0,24}(?:knapp|fast|voll|begrenzt|geht|reicht)|\bneue[nr]? (?:sitzung|session)\b", ("product",),
     "gives its own capacity as the reason, in German"),
    ("de.wrap-up.here", "wrap-up", "ending", ("für heute", "feierabend", "guter punkt", "guter zeitpunkt", "höre hier", "stoppe hier", "pausier", "morgen"),
     r"\bf[uü]r heute\b|\bguter (?:punkt|zeitpunkt)\b|\b(?:h[oö]re|stoppe|pausiere|beende) (?:ich )?hier|\bmorgen (?:weiter|geht)", _NEXT, "winds down in German"),
    # --- Russian
    ("ru.permission.shall-i", "permission", "ending", ("?",),
     r"\b(?:хочешь|хотите|хотел(?:а|и)? бы|мне|можно|нужно ли|стоит ли|надо ли|начина|продолжа|дела[юе]|приступа|запуска|давай|начн[её]м|продолжим|сделаем)[^?\n]{0,140}\?"
     r"|^\W{0,3}(?:[а-яё]{1,20} )?[а-яё]{1,20}(?:ать|ить|еть|ять|уть|сти|чь|ыть)(?:ся)?\b[^.?\n]{0,120}\?", _ASK, "asks in Russian for leave it already has"),
    ("ru.permission.say-so", "permission", "ending", ("если ", "скажи", "дай", "как только"),
     r"\bесли (?:хочешь|хотите|нужно|надо|согласен|согласны|ок|устраивает|да)\b[^.?\n]{0,60}\b(?:могу|[а-яё]{3,20}(?:ю|у|усь|юсь))\b|\b(?:скажи(?:те)?),? (?:и |если|когда|слово|да\b|как(?:ой|ую)|с чего)|\bдай(?:те)? знать\b",
     _ASK, "waits in Russian for a word it does not need"),
    ("ru.your-call.which", "your-call", "closing", ("как", "решать", "усмотрен", "жду", "выб", "подтверд"),
     r"\b(?:какой|какую|какое|какие|с чего|что)\b[^?.\n]{0,80}\b(?:выб|предпоч|вариант|подход|делать|делаем|нач)[^?.\n]{0,60}\?|\bкак (?:поступ|лучше|быть|сделать)[^?.\n]{0,60}\?|\b(?:решать|решай(?:те)?) (?:тебе|вам)|\bна (?:твоё|твое|ваше) усмотрен"
     r"|\bжду (?:твоего|вашего|твоих|ваших|решени|подтвержд|указани|ответа)|\bвыб(?:ери|ор за|ирай)|\bподтверди(?:те)?\b", _ASK, "hands the choice back in Russian"),
    ("ru.continuing.next", "continuing", "last", ("ю", "у", "продолж", "перехо"),
     r"^(?:(?:хорошо|ок|отлично|так|теперь|сейчас|далее|дальше|затем|потом|следующим шагом|сначала|давай(?:те)?),? ){0,3}(?:я )?"
     r"(?:продолжаю|перехожу|приступаю|начинаю|запускаю|двигаюсь|иду|берусь|продолжу|перейду|займусь|возьмусь|посмотрю|проверю|исправлю|сделаю|добавлю|обновлю|начну|запущу|посмотрим|проверим)\b[^.?!\n]{0,120}[.:…]?$",
     _NEXT, "announces in Russian work that did not come"),
    ("ru.remaining.list", "remaining", "last-list", ("остал", "следующие шаги", "не сделано", "предстоит", "дальнейш"),
     r"^[^\n]{0,30}(?:осталось|остались|оставшиеся|следующие шаги|не сделано|предстоит|что дальше)[^\n]{0,30}\n", _OWED, "lists in Russian what is still to do"),
    ("ru.remaining.still", "remaining", "ending", ("остал", "остаётся", "остается", "ещё", "еще", "предстоит"),
     r"\bостал(?:ось|ся|ись|ась)\b[^.?\n]{0,40}(?:\d|[а-яё]{2,20}(?:ать|ить|еть|ять|сти|овать)|тест|файл|задач|шаг|пункт)|\b(?:ещё|еще) (?:нужно|надо|предстоит)\b|\b(?:ещё|еще) не (?:сдел|реализ|готов|перен|покры|напис|исправ|мигр|доб|обнов|провер)", _OWED, "says in Russian that work is left"),
    ("ru.capacity.context", "capacity", "ending", ("контекст", "сесси", "чат"),
     r"\bконтекст[а-яё]{0,4}\b[^.\n]{0,24}(?:заканч|исход|почти|мало|переполн|огранич|закончил)|\bнов(?:ой|ую|ом) (?:сесси|чат)", ("product",), "gives its own capacity as the reason, in Russian"),
    ("ru.wrap-up.here", "wrap-up", "ending", ("на сегодня", "остановлюсь", "точка остановки", "прерв", "завтра", "потом продолж"),
     r"\bна сегодня\b|\bостановлюсь (?:здесь|на этом)|\bхорошая точка|\bпрервусь|\bзавтра (?:продолж)", _NEXT, "winds down in Russian"),
)

EXCUSES_OTHER = (
    # A courtesy: anything else, any questions, more detail if wanted.
    ("courtesy.zh", "excuse", "unit", ("其他", "其它", "别的", "別的", "随时", "隨時", "还有什么", "還有什麼", "任何", "详细", "詳細"),
     r"其[他它]|[别別]的|任何|[还還]有(?:什[么麼]|[疑问問]{2})|[随隨][时時][^。\n]{0,6}(?:[说說]|[联聯]|找|告|叫|提)|[详詳][细細](?:解[释釋]|[说說]明|[讲講])", "a courtesy in Chinese"),
    ("courtesy.ja", "excuse", "unit", ("他に", "ほかに", "何か", "あります", "質問", "不明", "詳し", "深掘り", "説明", "場合は"),
     r"(?:他に|ほかに|何か)[^。\n]{0,30}(?:ありま|あれば|ござい)|(?:質問|不明|気になる|知りたい|修正したい)[^。\n]{0,40}(?:あり|あれば|ございま)|詳しく|深掘り|説明(?:し|でき|いた)"
     r"|場合は[^。\n]{0,10}(?:教えて|お知らせ)", "a courtesy in Japanese"),
    ("courtesy.ko", "excuse", "unit", ("다른", "추가로", "더 ", "자세히", "궁금"),
     r"(?:다른|추가로|더) [^.\n]{0,20}(?:있으|있나|있을까|있는|필요하신|궁금)|자세히|궁금", "a courtesy in Korean"),
    ("courtesy.rom", "excuse", "unit",
     ("autre", "outra", "otra", "algo m", "mais algu", "algum", "besoin de quoi", "dúvida", "duda", "question", "expli", "détail", "detal", "ajust"),
     r"\b(?:autre chose|d'autres?\b|outr[ao]s?\b|otr[ao]s?\b|algo m[aá]s|algo mais|mais algum|d[uú]vidas?|dudas?|des questions|alg[uú]n ajuste|algum ajuste|un ajustement"
     r"|(?:t'|vous |te |o |lo |eu )?expli(?:que|quer|car|co)\b|d[ée]taill?er|detall(?:ar|e)|detalh(?:ar|es))", "a courtesy"),
    ("courtesy.de", "excuse", "unit", ("noch etwas", "sonst", "weitere", "fragen", "erklär", "genauer"),
     r"\b(?:noch etwas|sonst (?:noch|etwas)|weitere (?:fragen|w[uü]nsche|anpassungen|hilfe)|fragen (?:hast|haben)|bei fragen|erkl[aä]r|genauer)", "a courtesy in German"),
    ("courtesy.ru", "excuse", "unit", ("что-то", "что-нибудь", "вопрос", "друг", "ещё что", "еще что", "подробн", "объясн"),
     r"ещ[её] что|что-то ещ[её]|что-нибудь|(?:есть|будут|возникнут) (?:какие-то )?вопрос|друг(?:ие|ой) (?:вопрос|задач|правк)|подробн|объясн", "a courtesy in Russian"),
    # A step that only the reader can take comes first.
    ("gated.zh", "excuse", "unit", ("截图", "截圖", "给我", "給我", "发我", "試", "试", "刷新", "重启", "重啟", "扫码", "好后", "完", "登录", "登入", "回答"),
     r"截[图圖]|[发發贴貼][给給]?我|[试試](?:一下|[试試])|刷新|重[启啟]|[扫掃][码碼]|(?:买|買|装|裝|弄|填|配置|[设設]置|[准準][备備]|注册|登[录入錄])(?:好|完|成功)?[^。\n]{0,4}[后後完]|回答[这這以上]", "the reader acts first, in Chinese"),
    ("gated.ja", "excuse", "unit", ("手動", "お手数", "実行し", "ログイン", "再起動", "設定し", "送って", "貼り", "共有"),
     r"手動で|お手数|(?:実行|ログイン|再起動|設定|入力|共有|送付?|貼り付け)(?:っ|し)?て?(?:いただ|ください|くだされば|たら|後)", "the reader acts first, in Japanese"),
    ("gated.ko", "excuse", "unit", ("수동", "하시면", "하신 후", "주시면", "공유", "붙여", "보내", "로그인"),
     r"수동|(?:설정|로그인|설치|입력|준비|공유|붙여 ?넣어|보내|실행)[^.\n]{0,4}(?:하시면|하신|주시면|주세요|되면)", "the reader acts first, in Korean"),
    ("gated.rom", "excuse", "near",
     ("une fois", "quand tu", "quand vous", "envoie", "colle", "depois que", "quando você", "assim que", "envie", "mande", "cuando ", "una vez", "envíame", "pégame", "pásame"),
     r"\b(?:une fois (?:que (?:tu|vous)|connect|install)|quand (?:tu|vous) (?:auras|aurez|as|avez)|(?:envoie|colle|envoyez|collez|partage|montre)[-\u2011 ](?:moi|le|la|les)|(?:depois|assim) que voc[eê]"
     r"|quando voc[eê] (?:tiver|fizer|terminar)|me (?:envie|mande|passe|mostre)\b|cuando (?:hayas|tengas|lo hayas|termines)|una vez que (?:hayas|tengas|lo)|(?:env[ií]a|p[eé]ga|p[aá]sa|m[aá]nda)me)", "the reader acts first"),
    ("gated.de", "excuse", "near", ("sobald du", "sobald sie", "nachdem du", "nachdem sie", "schick", "poste", "teile mir", "wenn du"),
     r"\b(?:sobald|nachdem) (?:du|sie) (?!mir|ja|ok|zustimm)|\b(?:schicke?|poste|teile?|zeige?) (?:mir|sie|es|den|die)\b|\bwenn du [^.\n]{0,50}\b(?:hast|bist)\b", "the reader acts first, in German"),
    ("gated.ru", "excuse", "near", ("как только", "когда ", "после того", "скинь", "пришли", "покажи", "вставь", "уточни", "перезапусти"),
     r"\b(?:как только (?:ты|вы|[а-яё]{2,20}(?:ешь|ете|ишь|ите))|когда (?:сдела|закончи|запусти|настро)[а-яё]*|после того,? как (?:ты|вы)|скинь|пришли|покажи|вставь|уточни|перезапусти)", "the reader acts first, in Russian"),
    # A question of fact that only the reader can answer: what is on the screen, what was meant, what was done.
    ("fact.zh", "excuse", "unit", ("看到", "显示", "顯示", "出现", "報錯", "报错", "收到", "效果", "了吗", "了嗎", "之前", "你是", "您是", "哪个页面"),
     r"^(?![^。\n]{0,40}[要让讓]我(?!们之))(?=[^\n]{0,120}(?:看到|[显顯]示|出[现現]|[报報][错錯]|收到|效果|了[吗嗎]|你是(?:指|[说說]|不是)))|(?:之前|刚才|剛才)[^。\n]{0,8}(?:聊|[说說]|提)", "a question of fact in Chinese"),
    ("fact.ja", "excuse", "unit", ("見え", "表示", "出て", "でした", "ました", "ていますか", "という意味"),
     r"見えますか|表示され[^。\n]{0,6}か|出(?:て|ま)[^。\n]{0,6}か|(?:でした|ました|ていま(?:す|せん))か|という意味", "a question of fact in Japanese"),
    ("fact.ko", "excuse", "unit", ("보이", "나오", "뜨", "하셨", "됐", "인가요", "이었"),
     r"보이(?:나|시나|십)|나오나요|뜨나요|하셨(?:나|습)|됐나요|(?:무엇|뭐|것)(?:인가|이었)", "a question of fact in Korean"),
    ("fact.rom", "excuse", "unit", ("vois", "voyez", "s'affiche", "avez-vous", "as-tu", "aparece", "você vê", "consegue", "ves ", "sale ", "viste", "tens ", "tiene"),
     r"\b(?:vois[-\u2011 ]tu|(?:tu|vous) (?:vois|voyez)|voyez[-\u2011 ]vous|s'affiche|avez[-\u2011 ]vous|as[-\u2011 ]tu|aparece|voc[eê] (?:v[eê]|viu|consegue|j[aá] )|(?:qu[eé]|lo que) ves|te sale|has (?:visto|probado)|viste)\b", "a question of fact"),
    ("fact.de", "excuse", "unit", ("siehst", "sehen sie", "hast du", "haben sie", "angezeigt", "meinst", "meinen"),
     r"\b(?:siehst du|sehen sie|hast du|haben sie|angezeigt|meinst du|meinen sie)\b", "a question of fact in German"),
    ("fact.ru", "excuse", "unit", ("вид", "показыва", "появ", "пишет", "что именно", "ошибк", "другое", "получилось", "работает ли", "имел"),
     r"\b(?:видишь|видите|показывает|появил|появля|пишет|что именно|какая ошибка|что-то другое|получилось|работает ли|имел[аи]? в виду)", "a question of fact in Russian"),
    # What cannot be taken back, or is public, stays the reader's to allow.
    ("irreversible.cjk", "excuse", "unit", ("删除", "刪除", "清空", "强制", "強制", "生产", "正式", "线上", "線上", "不可", "削除", "本番", "삭제", "운영", "되돌릴", "production", "force"),
     r"[删刪]除|清空|(?:[强強]制|force)[^。\n]{0,4}(?:推送|push|プッシュ|푸시)|生[产產](?:[环環]境|[库庫])|正式(?:[环環]境|服)|[线線]上(?:[环環]境|[数數]据|服)|不可(?:逆|恢)|削除|本番(?:環境|db|データ|へ|に)|삭제|운영 ?(?:환경|서버|db)|되돌릴|production", "a risk that is the reader's, in Chinese, Japanese or Korean"),
    ("irreversible.euro", "excuse", "unit",
     ("supprim", "delet", "exclu", "apag", "borr", "elimin", "lösch", "удал", "produc", "produktion", "прод", "force", "irr", "необратим", "écras"),
     r"\b(?:supprim|delet|exclu[ií]|apag(?:ar|o)|borr(?:ar|o)|elimin|l[oö]sch|удал|produ[cç][aã]o|producci[oó]n|produktion|в прод|на прод|force|irr[ée]versible|irrevers[ií]|unwiderruflich|необратим|[ée]craser)", "a risk that is the reader's"),
    # What is owed is disposed of, or the list is the reader's own.
    ("disposed.cjk", "excuse", "near", ("范围", "範圍", "范圍", "可选", "可選", "约定", "已知", "無關", "无关", "範囲外", "対象外", "任意", "既存", "범위", "선택 사항", "별도 이슈"),
     r"(?:不在|超出|不[属屬])[^。\n]{0,10}[范範][围圍]|可[选選]|按[约約]定|[与與和][^。\n]{0,10}[无無][关關]|範囲外|対象外|任意|既存の|범위 ?(?:밖|외)|선택 사항|별도 이슈", "disposed of"),
    ("disposed.euro", "excuse", "near",
     ("hors p", "hors du p", "fora do escopo", "fuera de", "opcion", "option", "recomend", "recommand", "außerhalb", "optional", "вне ", "как договор", "необязат", "comme convenu", "como combinado", "wie vereinbart"),
     r"\bhors (?:du )?p[ée]rim[èe]tre|\bfora do escopo|\bfuera (?:del|de) (?:alcance|esta)|\bop[ct]iona(?:l|is|les)\b|\boptionnel|\brecomend(?:ad[oa]s|aciones)|\brecommand[ée]e?s|\bau[sß]{1,2}erhalb|\bвне (?:рамок|задачи|объ)|\bкак договор|\bнеобязат"
     r"|\bcomme convenu|\bcomo (?:combinado|acordado)|\bwie (?:vereinbart|besprochen)", "disposed of"),
    ("theirs.zh", "excuse", "list", ("你需要", "您需要", "你要", "手动", "手動", "管理员", "人工", "你来", "请你", "你自己"),
     r"[你您](?:还|還)?(?:只)?(?:需要?|要|得|可以|自己)|手[动動]|人工|管理[员員]", "the reader's own steps, in Chinese"),
    ("theirs.ja", "excuse", "list", ("手動", "お手元", "ご自身", "してください", "お願い"), r"手動|お手元|ご自身|(?:して|を)ください|お願い", "the reader's own steps, in Japanese"),
    ("theirs.ko", "excuse", "list", ("수동", "직접", "하세요", "해 주세요"), r"수동|직접|하세요|해 ?주세요", "the reader's own steps, in Korean"),
    ("theirs.euro", "excuse", "list", ("manuel", "manual", "de ton côté", "de votre côté", "do seu lado", "por tu parte", "du musst", "sie müssen", "вручную", "добавь", "запусти", "укажи", "тебе нужно", "вам нужно"),
     r"\b(?:manuellement|manualmente|manuell\b|de (?:ton|votre) c[oô]t[ée]|do seu lado|por tu (?:parte|lado)|du musst|sie m[uü]ssen|вручную|добавь|запусти|укажи|(?:тебе|вам) нужно)", "the reader's own steps"),
    ("product.any", "excuse", "unit", ("模型的", "用户的", "モデルの", "ユーザー", "모델의", "사용자", "modèle", "modelo", "modell", "react", "модел", "пользоват"),
     r"模型的|用[户戶]的|モデルの|ユーザー|모델의|사용자|\b(?:du mod[èe]le|do modelo|del modelo|des modells|react|модели|пользоват)", "a product's limit, not the speaker's"),
    # Only a person can lift it.
    ("person.cjk", "blocker", "near",
     ("密码", "密碼", "密钥", "金鑰", "token", "api key", "账号", "帳號", "用户名", "邮箱", "验证码", "驗證碼", "扫码", "公网", "パスワード", "認証", "権限", "ログイン", "비밀번호", "인증", "권한", "로그인", "계정", "登录", "登入"),
     r"(?:[请請]|提供|[发發][给給]?我|告[诉訴]我|需要[你您]|填)[^。\n]{0,24}(?:密[码碼]|密[钥鑰]|金[鑰钥]|token|api key|[账帳][号號]|用[户戶]名|[邮郵]箱|[验驗][证證][码碼]|[扫掃][码碼]|公网|登[录入錄])"
     r"|(?:密[码碼]|密[钥鑰]|token|[账帳][号號]|[验驗][证證][码碼])[^。\n]{0,12}(?:[发發][给給]?我|告[诉訴]我|提供)"
     r"|(?:パスワード|認証情報|権限|apiキー|トークン|ログイン)[^。\n]{0,16}(?:必要|ください|ありません|いただ|お願い)|(?:비밀번호|인증|권한|계정|로그인|api 키)[^.\n]{0,16}(?:필요|없|주세요|주시)", "only a person can give it"),
    ("person.euro", "blocker", "near",
     ("mot de passe", "identifiant", "senha", "credenci", "contraseña", "passwort", "zugangs", "anmelde", "парол", "токен", "доступ", "логин", "clé api", "chave de api", "clave de api", "api-key", "api-schl", "secrets"),
     r"\b(?:besoin|fournis|donne|envoie|preciso|forne[cç]a|envie|informe|necesito|env[ií]a|proporciona|brauche|schick|gib mir|нужен|нужны|нужна|пришли|укажи|дай)\w{0,4}\b[^.\n]{0,40}"
     r"(?:mots? de passe|identifiants|senha|credenci|contrase[nñ]a|passwort|zugangs|anmelde|парол|токен|доступ|логин|cl[ée] api|chave de api|clave de api|api-(?:key|schl)|secrets)", "only a person can give it"),
    # It waits for something that runs.
    ("waits.cjk", "waits", "near", ("后台", "後台", "背景", "等", "バックグラウンド", "待ち", "待っ", "백그라운드", "기다"),
     r"[后後][台臺][^。\n]{0,12}(?:[运運]行|[执執]行|跑)|(?:在)?背景[^。\n]{0,6}[执執]行|等(?:待|到|它)?[^。\n]{0,16}(?:完成|[结結]束|返回|跑完|[结結]果)|バックグラウンド|(?:完了|終了|結果)[^。\n]{0,8}待|백그라운드|(?:완료|끝)[^.\n]{0,10}기다", "waits for what runs"),
    ("waits.euro", "waits", "near", ("arrière-plan", "segundo plano", "j'attends", "aguardando", "esperando", "espero a que", "hintergrund", "warte", "в фоне", "жду", "дожд"),
     r"\ben arri[èe]re-plan|\b(?:en|em) segundo plano|\bj'attends (?:la fin|le r|que)|\b(?:aguardando|esperando|espero) (?:a que|el resultado|que (?:termine|acabe)|(?:o|a) (?:build|ci|t[ée]rmino|fim|resultado|conclus))|\bim hintergrund"
     r"|\bwarte (?:ich )?(?:auf|bis) (?:de[nr]|das|die) (?:build|lauf|ergebnis|ci|test)|\bв фоне|\b(?:жду|дождусь|дожидаюсь) (?:завершени|окончани|результат|сборк|пока)", "waits for what runs"),
)

# --- rules: prompts -------------------------------------------------------------------------------

# Stands for a character that was set aside. A letter, so that "stop `foo`" still reads as a stop with an object.
SHOWN = "\ua66e"
READ_HEAD, READ_TAIL = 4096, 16384       # of a longer prompt only its two ends are read
CONDITION_MAX = 200
COMMANDS = ("stop", "pause", "status", "away", "back", "arm")

# Wrappers the client puts around text no person typed; and beginnings that mark a whole prompt as such.
MACHINE_TAGS = (
    "task-notification", "system-reminder", "teammate-message", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "command-name", "command-message", "command-args", "command-contents", "bash-input",
    "bash-stdout", "bash-stderr", "user-prompt-submit-hook", "ide_opened_file", "ide_selection", "ide_diagnostics",
)
MACHINE_PREFIXES = (
    "Stop hook feedback", "[Request interrupted by user", "This session is being continued from a previous",
    "Caveat: The messages below were generated",
)

# Named pieces of patterns: "%end%" in a pattern is replaced by its text here.
PIECES = (
    # what may follow a bare imperative: nothing, or punctuation
    ("end", r"(?=\W*$|\s*[.!?,;:)\n\u2026\u3002\u3001]|\s+[-\u2013\u2014]|[\u2013\u2014])"),
    ("until", r"(?:until|untill|till|'?til|unless)\b"),
    ("not", r"(?:do not|don'?t|never|(?:you|we|u) (?:must not|mustn'?t|should not|shouldn'?t|may not|can ?not|can'?t"
            r"|are not (?:allowed )?to|aren'?t (?:allowed )?to)|not to)"),
    ("work", r"(?:keep|continue|carry|go|work|run|do|execute|implement|finish|complete|proceed|process|handle|get|fix"
             r"|migrate|convert|build|port|write|test|iterate|resume|start|begin|push|plow|power|crank|grind|move)"),
    ("done", r"(?:pass(?:es|ed|ing)?|green|done|complete[ds]?|completion|finish(?:ed)?|works?|working|fixed|resolved|"
             r"solved|approved|merged|ready|succeeds?|success(?:ful(?:ly)?)?|clean|satisf\w+|happy|perfect|100 ?%|"
             r"correct|right|zero|no (?:more )?\w+|nothing|everything|every|all|implemented|verified|shipped|"
             r"you(?:'re| are| have|'ve| can| get| see| find| reach| hit)|we(?:'re| are| have|'ve| get| see| reach))"),
    ("any", r"(?:any ?thing(?: else)?|any (?:(?:more|other|further) )?(?:code|files?|changes?|edits?|work)|(?:the )?"
            r"code|(?:code )?changes|coding|implementation|implementing)"),
    ("yet", r"(?:(?:just )?yet|for now|right now|(?:at|in|during) this (?:stage|point|phase|step)|until (?:i|we)\b|"
            r"till i\b|before (?:i|we)\b|without my)"),
    ("now", r"(?:right (?:there|here|now|away)|now|here|there|it|this|that|everything|all of (?:it|this|that)|please|"
            r"pls|plz|for (?:now|today|tonight|a (?:sec|second|moment|minute|bit|while))|immediately|at once|already|"
            r"working|coding|editing|going|what(?:ever)? you(?:'re| are) doing|doing (?:that|this|it|anything|"
            r"everything)|all work|the (?:work|session|task|run)|man|dude|bro|claude|thanks|thank you)"),
)

# Words that may stand before an imperative without changing who is told what.
OPENERS = (
    r"(?:(?:o+k+(?:ay)?|k|please|pls|plz|just|now|then|so|and|but|or|also|yes|yep|yeah|yup|no(?=[\s]*[,.!:\u2026-]|[\s]+(?:please|stop|wait|hold|no)\b)|nope|nah|alright|"
    r"all right|right|great|good|nice|cool|perfect|thanks|thank you|hey|hi|hello|sure|well|actually|again|oh|ah|wow|"
    r"whoa|omg|lol|dude|bro|man|claude|go ahead(?: and)?|for now|let'?s|let us|wait|first|finally|"
    r"(?:we|you|u)(?:'ll| (?:can|should|must|need to|have to|may|might as well|could|will|are to|want to|gotta))(?! not)"
    r"(?: now| also| just| obviously| always| then)?|"
    r"i (?:want|need|expect|would like|'d like) (?:for )?you to|i'd like you to|need you to|(?:make|be) sure (?:to|that you"
    r"|you)|remember to|(?:can|could|would|will) (?:you|u|we)|try to|(?:your|the) (?:task|job|goal) is to|while y?ou'?re"
    r" at it|feel free to|time to|"
    r"bitte|und|aber|jetzt|por favor|y|ahora|s'il (?:te|vous) pla[iî]t|et|mais|ok|bon|e|mas|agora|и|но|а|ну|так|"
    r"пожалуйста|давай|теперь|请|你|那|好的?|그냥|그럼|じゃあ|では)(?:[\s,!.:\u2026\u3001-]+|$))*"
)

# id, intent, scope, needs, pattern, unless (ids of INTENT_EXCUSES), what it reads.
# scope: "whole" the prompt and nothing more; "first" the beginning of the prompt; "start" the beginning of a sentence;
# "clause" the beginning of a clause; "within" anywhere in a sentence. Openers are skipped before all but "within".
# needs: one of these literals must stand in the lower-cased text before the pattern is compiled.
INTENT_RULES = (
    ("arm.dont-stop", "arm", "clause",
     ("n't stop", "nt stop", "not stop", "never stop", "t ever stop", "never pause", "n't pause", "not pause",
      "dont pause", "n't quit", "never quit", "not quit", "give up", "n't halt", "not halt", "end your turn",
      "end the turn", "end this turn", "end the session", "not to stop", "end your session"),
     r"%not%\s+(?:ever |you |dare )?(?:stop(?:ping)?|pause|quit|give up|halt|end (?:your|the|this) (?:turn|session))\b"
     r"(?:%end%|\s+(?:%until%|before\b|for (?:any|no|me\b|my\b|approval|confirmation|questions|input|feedback)|to "
     r"(?:ask|check|confirm|report|wait|summari)|working\b|going\b|now%end%|here%end%|there%end%|early\b|half|mid|in "
     r"(?:the middle|between)|after (?:each|every|one|the first)|and\b|or\b|just\b|even\b|if you\b|while (?:you|there)"
     r"|at any point|iterating|trying|asking\b))",
     ("question", "told", "shown", "log"), "tells the agent not to stop"),
    ("arm.no-stopping", "arm", "clause", ("no stopping", "no pausing", "nonstop", "non-stop", "non stop", "no pauses"),
     r"no (?:stopping|paus(?:ing|es)|breaks)\b(?:%end%| %until%| before\b)|%work%\b[^.\n]{0,40}?\bnon[- ]?stop\b",
     ("question", "told", "shown", "log"), "no stopping"),
    ("arm.keep-going", "arm", "clause",
     ("keep going", "keep at it", "keep working", "keep pushing", "keep on going", "keep moving", "keep on working",
      "keep it going", "keep iterating", "keep grinding", "see it through", "see this through", "work through it"),
     r"(?:keep (?:on )?(?:going|working|pushing|moving|at it|iterating|grinding)(?: (?:please|now|then|with it|on "
     r"(?:it|this|that)))?%end%|keep (?:on )?(?:going|working|at it)\b[^.\n]{0,40}?\bfor (?:\w+ ){1,3}(?:hours?|"
     r"minutes?)|see (?:it|this|that|the \w+) through\b)",
     ("question", "told", "shown", "log"), "tells the agent to keep going"),
    ("arm.until", "arm", "clause", (" until", "until ", " till ", " til ", "'til ", "unless"),
     r"(?:(?:keep (?:on )?\w+ing|keep at it|continue|carry on|go on|go(?= (?:until|till))|work|proceed|loop|iterate|"
     r"repeat|persist|push on|press on|don't rest|stay (?:on|at)|grind)\b[^.\n]{0,160}?\b%until%|"
     r"(?:fix|test|run|re-?run|retry|try|debug|improve|refine|review|implement|execute|build|polish|verify|check|"
     r"monitor|investigate|do|migrate|convert|process|resolve|address|solve|optimi[sz]e|refactor|clean up|resume|"
     r"simulate|search|tune|adjust|move|go|watch|babysit)\b[^.\n]{0,160}?\b%until%[^.\n]{0,60}?\b%done%)",
     ("question", "told", "shown", "log", "person", "clock"), "work until something holds"),
    ("arm.only-stop", "arm", "clause", ("only stop", "stop only", "before you stop", "before you finish",
                                        "before stopping", "before you end"),
     r"(?:only stop|stop only)\b\s+(?:when|once|if|after)\b|[^.\n]{3,120}?(?<!n't )(?<!not )\bbefore (?:you (?:stop|end "
     r"(?:your|the) turn|finish%end%)|stopping)\b",
     ("question", "told", "shown", "log"), "names what must hold before the stop"),
    ("arm.without-asking", "arm", "clause",
     ("without stop", "without paus", "without ask", "without any further", "without wait", "without me", "without my ",
      "without interrupt", "without check", "without confirm", "without human", "without question",
      "without needing", "without prompting"),
     r"%work%\b[^.\n]{0,120}?\bwithout (?:ever )?(?:stopping|pausing|asking|any (?:further )?(?:questions|"
     r"confirmation|interruption|input)|waiting for (?:me|my|approval|confirmation|input)|me%end%|my (?:input|approval|"
     r"confirmation|intervention|help)|interrupt(?:ion|ing)|checking (?:in|with)|confirm\w*|human|questions|needing "
     r"(?:me|my)|prompting me)",
     ("question", "told", "shown", "log", "program"), "work without coming back to ask"),
    ("arm.dont-ask", "arm", "clause",
     ("n't ask", "nt ask", "not ask", "never ask", "no need to ask", "stop asking", "need to ask", "wait for me",
      "wait for my", "n't wait for", "no need to confirm", "no need to wait", "no questions asked"),
     r"(?:(?:%work%|just)\b[^.\n]{0,80}?[\s,]|)(?:%not%|stop|no need to|you (?:don'?t|do not) (?:need|have) to)\s+"
     r"(?:ask(?:ing)?(?: me)?\s*(?:again|for (?:my )?(?:permission|confirmation|approval)|(?:any )?(?:more )?questions|"
     r"anything|to (?:confirm|continue|proceed)|if (?:you|i)|whether|every|each|%end%)|wait for (?:me|my (?:\w+))|"
     r"confirm)(?:(?<=again)|(?=[^.\n]{0,60}\b(?:just|continue|proceed|keep|execute|go|finish|complete|work|do (?:it|"
     r"everything|all))\b))",
     ("question", "told", "shown", "log"), "carry on and do not ask"),
    ("arm.alone", "arm", "clause",
     ("autonomous", "unattended", "on your own", "by yourself", "overnight", "all night", "through the night",
      "can without", "i'm away", "i am away", "im away", "i'll be away", "going to bed", "going to sleep", "i'm asleep",
      "be asleep", "off to bed", "afk", "while i sleep", "while i'm", "while i am"),
     r"(?:(?:keep|continue|carry on|go on|work|run|proceed|operate|execute|act|finish|complete|do|implement|get)\b"
     r"[^.\n]{0,60}?\b(?:autonomously|unattended|on your own|by yourself|overnight|all night|through the night)\b|do "
     r"(?:everything|all|as much as|whatever|what) (?:that )?you can (?:do )?without me\b|(?:i'?m|i am|i(?:'ll| will) "
     r"be)(?: now)? (?:away|afk|asleep|off to bed|going to (?:bed|sleep))\b[^\n]{0,80}?\b(?:keep (?:going|working|at)|"
     r"continue|carry on|finish|work on|work through|get it)|(?:keep|continue|carry on|finish|work)\b[^.\n]{0,60}?\b"
     r"while i(?:'m| am)? (?:sleep|away|asleep|afk|out|gone))",
     ("question", "told", "shown", "log", "program"), "work alone while the person is away"),
    ("arm.to-the-end", "arm", "clause",
     ("all done", "to completion", "to the end", "to the very end", "all the way", "over the line", "start to finish",
      "carry on and", "continue and", "continue to finish", "go on and", "keep going and", "all of it done", "thing done",
      "until the end", "and finish", "finish all", "finish every", "complete all", "complete every", "finish the",
      "complete the rest", "complete the remaining"),
     r"(?:get (?:it|this|that|these|them|everything|the \w+ thing|all of (?:it|this|that|them))(?: all)? "
     r"(?:done|finished|completed|over the line)|(?:carry on|continue|keep going|go on|proceed|resume)\b[^.\n]{0,40}?"
     r"\b(?:and|to|until you) (?:finish|complete)\b|(?:run|work|take|carry|drive|push|bring|execute|implement|"
     r"go|see|continue)\b[^.\n]{0,50}?\b(?:to (?:full )?completion|to the (?:very )?end|all the way(?: (?:through|to the"
     r" end)|%end%)|over the line|start to finish)|(?:finish|complete) (?:all|every|everything|the (?:rest|"
     r"remaining|whole|entire)|it all)(?: (?:of )?(?:the |these |those |your |remaining |open |outstanding |pending |"
     r"other )*(?:to-?dos?|tasks?|items?|phases?|steps?|stories|issues|work|plan|list|milestones?|sprints?|rest|of "
     r"(?:it|them))\b|%end%))",
     ("question", "told", "shown", "log"), "take all of it to its end"),
    ("arm.finish", "arm", "whole", ("finish it", "finish up", "finish every", "finish all", "finish the", "finish what",
                                    "complete it", "complete every", "complete all", "complete the"),
     r"(?:finish|complete) (?:it|up|everything|all|it all|all of it|the (?:job|task|work|rest)|what you started)"
     r"(?: (?:up|now|please|off))*", ("told",), "finish it"),
    ("arm.zh", "arm", "within",
     ("不要停", "别停", "別停", "不准停", "不许停", "不能停", "不要中断", "别中断", "不要暂停", "不間斷", "不间断",
      "直到", "直至", "知道通过", "知道全部", ("继续", "全部"), ("繼續", "全部"), ("继续", "所有"), ("开始", "全部"), ("接着", "全部"),
      ("继续", "剩"), "继续完成", "继续做完", "全部执行", "全部实现", "全部实施", "全部完成", "全部彻底", "全部一", "一次性", "一口气", "不用问我", "不要问我",
      "别问我", "无需确认", "不需要确认", "不用确认", "不要等我"),
     r"(?:(?:^|[,、:\s]|请|你|千万|中途|一直|之前|前|就|都)(?:不要|别|別|不准|不许|不能)(?:再|中途|轻易|擅自)?"
     r"(?:停(?:下来?|止|手)?|中断|暂停)(?=\W|$|直到|直至|工作|来问|做|等我)|"
     r"(?:直到|直至|(?<=[,、\s])知道)[^。\n]{0,40}?(?:通过|成功|完成|完毕|正常|没有\w{0,4}(?:问题|错误|报错)|结束|为止|"
     r"達|达|解决|修复|全绿|无误|可用|跑通|实现|通過|實現|運行)|"
     r"(?:继续|繼續|开始|接着)[^。\n]{0,14}?(?:全部|所有|整个)[^。\n,]{0,8}?(?:完成|实现|实施|执行|做完|搞定|实作|實現|"
     r"執行)|(?:继续|繼續)(?:完成|实现|实施|执行|做完|搞定)[^。\n,]{0,4}?(?:全部|所有|剩)|"
     r"全部(?:彻底|一次性|一口气|连续)地?(?:完成|实现|实施|执行|做完|搞定)|(?:一次性|一口气)[^。\n,]{0,8}?(?:做完|完成|"
     r"实现|执行|搞定|改完|跑完)|全部(?:完成|实现|实施|执行)[^。\n]{0,20}?(?:自我|自己|自行|自动)测试|"
     r"(?:不用|不要|别|无需|不需要)(?:再|每次|停下来)*(?:问我|等我|确认|询问)[^。\n]{0,20}?(?:直接|继续|做完|完成|执行|"
     r"自动|往下)|(?:直接|继续|自动)[^。\n]{0,20}?(?:不用|不要|别|无需|不需要)(?:再|每次|停下来)*(?:问我|等我|确认|询问))",
     ("zh-question", "zh-program", "log"), "Chinese: do not stop, until done, all of it"),
    ("arm.ja", "arm", "within",
     ("まで", "止まら", "止めず", "止めない", "止まるな", "止めるな", "やめない", "やめるな", "中断し", "中断せ", "休まず",
      "確認不要", "確認なし", "確認せず", "聞かずに"),
     r"(?:(?:止ま|とま)(?:らないで|らずに?|るな)|(?:止め|とめ|やめ)(?:ないで|ずに?|るな)|(?:中断|停止)(?:しないで|せずに?|"
     r"するな)|休まず)|(?<![こそどれ今])まで[^。\n]{0,20}?(?:続け|続行|繰り返|進め|やって|やり|直して|修正して|頑張|作業し)|"
     r"(?:確認(?:は|を)?(?:不要|なし|せず|取らず)|聞かずに)[^。\n]{0,16}?(?:進め|続け|やって|完了|実行|最後)",
     ("ja-question", "object-ja", "log"), "Japanese: do not stop, keep on until"),
    ("arm.ko", "arm", "within",
     ("멈추지", "중단하지", "쉬지", "그만두지", "때까지", "끝까지", "묻지", "물어보지"),
     r"(?:멈추지|중단하지|쉬지|그만두지) ?(?:마|말|않고)|때까지[^.\n]{0,30}?(?:계속|반복|진행|작업|수정|해 ?줘|해라|하세요)|"
     r"끝까지 ?(?:진행|해|완료|계속|마무리|작업|구현)|(?:묻지|물어보지) ?(?:말고|마)[^\n]{0,20}?(?:진행|계속|해|완료|끝)|"
     r"계속[^.\n]{0,24}?(?:묻지|물어보지) ?(?:말고|마)",
     ("question", "object-ko", "log"), "Korean: do not stop, keep on until"),
    ("arm.es-pt", "arm", "clause",
     ("no pares", "no te deteng", "no pare", "no paren", "no te interrump", "não pare", "nao pare", "não para", "hasta ",
      "até ", " ate que", " ate tudo", " ate o f", " ate fi", "sin parar", "sin detener", "sin pregunt", "sem parar", "sem pergunt", "sin interrup",
      "sem interrup", "sin paus", "sem paus", "sin pedir", "sem pedir", "não interromp"),
     r"(?:nunca |no |n[ãa]o )(?:te |se )?(?:pares?|paren|para|detengas?|interrump\w+|interromp\w+)\b(?:%end%|\s+(?:hasta|"
     r"at[eé]|antes|por nada|de trabajar|de trabalhar|enquanto|a pregunt|para pergunt|y|e|nem|ni)\b)|"
     r"(?:sigue|sigan?|segu[ií]|contin[uú][ae]|continue|trabaj[ae]|trabalh[ae]|segue|prossiga|repite|repita|itera|itere|"
     r"corrig[ea]|corrija|arregla|prueba|teste|rode|haz|fa[çc]a|implement[ae]|ejecuta|execut[ae]|v[aá]|vai|hazlo)\b"
     r"[^.\n]{0,100}?\b(?:hasta (?:que\b|terminar|acabar|completar|tener|lograr|el final|el fin)|at[eé] (?:que\b|"
     r"terminar|acabar|finalizar|concluir|tudo|tod[oa]s|o fim|o final|passar|funcionar|ficar|estar|conseguir|n[ãa]o))|"
     r"(?:sigue|contin[uú][ae]|trabaj[ae]|trabalh[ae]|siga|segue|haz|hazlo|fa[çc]a|ejecuta|execut[ae]|implement[ae]|"
     r"termina|termine|v[aá]|vai)\b[^.\n]{0,80}?\b(?:sin|sem) (?:parar|detenerte|paus|(?:me )?pergunt|pregunt|interrup"
     r"|pedir|pedir)",
     ("question", "told", "shown", "log"), "Spanish, Portuguese: do not stop, keep on until"),
    ("arm.fr", "arm", "clause",
     ("arrête pas", "arrete pas", "arrêtez pas", "arrête surtout pas", "arrête jamais", "arrêtes pas", "arretes pas",
      "jusqu'", "tant qu", "sans t'arr", "sans s'arr", "sans vous arr", "sans pause", "sans interruption", "sans me dem",
      "sans rien demander", "sans demander", "au bout"),
     r"(?:ne )?(?:t'|vous |n')?arr[eêè]te[sz]? (?:surtout )?(?:pas|jamais)\b(?:%end%|\s+(?:tant|avant|jusqu|de "
     r"travailler|et|ni|en cours|pour)\b)|(?:continue[rz]?|poursui[st]|poursuivez|travaille[rz]?|avance[rz]?|boucle|"
     r"recommence|corrige[rz]?|fai[st]|teste[rz]?|it[eè]re|relance|r[eé]p[eè]te)\b[^.\n]{0,100}?(?:jusqu'(?:[aà] ce "
     r"qu|au bout|[aà] la fin|[aà] ce|[aà] (?:obtenir|avoir|r[eé]ussir))|tant qu)|(?:continue[rz]?|travaille[rz]?|fai"
     r"[st]|avance[rz]?|ex[eé]cute[rz]?|termine[rz]?)\b[^.\n]{0,80}?\bsans (?:t'arr|s'arr|vous arr|pause|interruption|"
     r"(?:me |rien )?demander|attendre)|(?:va|allez) (?:jusqu')?au bout",
     ("question", "told", "shown", "log"), "French: do not stop, keep on until"),
    ("arm.de", "arm", "clause",
     ("nicht auf", "nicht stop", "nicht anhalten", "halte nicht", "halt nicht", "stoppe nicht", "stopp nicht", " bis ",
      "nicht unterbrech", "ohne anzuhalten", "ohne pause", "ohne nachzufragen", "ohne zu fragen", "ohne rückfrage",
      "ohne unterbrechung", "zieh es durch", "zieh das durch"),
     r"(?:h(?:ö|oe)re? (?:bitte |ja )?nicht auf|nicht aufh(?:ö|oe)ren|stopp?e? (?:bitte )?nicht|halte? nicht an|nicht "
     r"(?:anhalten|stoppen|unterbrechen))\b(?:%end%|\s+(?:bis|bevor|ehe|und|solange)\b)|(?:mache?|arbeite?|weiter\w*|"
     r"fahre?|wiederhole?|versuche?|teste?|korrigiere?|repariere?|behebe?|setze?)\b[^.\n]{0,80}?\bbis\b[^.\n]{0,80}?"
     r"\b(?:alle[sr]?|gr(?:ü|ue)n|fertig|durch|l(?:ä|ae)uft|laufen|bestehen|besteht|funktioniert|erledigt|keine?|passt|"
     r"steht|ist|sind)\b|(?:mache?|arbeite?|weiter\w*|fahre?|erledige?|setze?|f(?:ü|ue)hre?)\b[^.\n]{0,80}?\bohne (?:anzu"
     r"halten|pause|nachzufragen|zu fragen|r(?:ü|ue)ckfrage|unterbrechung)|zieh (?:es|das) durch\b",
     ("question", "told", "shown", "log"), "German: do not stop, keep on until"),
    ("arm.ru", "arm", "clause",
     ("останавлива", "не прекраща", "не прерыва", "пока ", "без останов", "без пауз", "без перерыв", "без вопросов",
      "до конца", "до тех пор", "до полного", "не спрашивай"),
     r"не (?:останавлива(?:йся|йтесь|ться)|прекраща(?:й|йте)|прерыва(?:й|йся))\b(?:%end%|\s+(?:пока|до|и|ни|раньше|"
     r"работ)\w*)|(?:продолжа(?:й|йте|ем)|работа(?:й|йте)|дела(?:й|йте)|исправля(?:й|йте)|повторя(?:й|йте)|чини|иди|"
     r"гоняй|тестируй|прогоняй)\b[^.\n]{0,100}?(?:пока\b[^.\n]{0,60}?\bне\b|до (?:конца|тех пор|полного|завершения|упора"
     r")|без (?:останов|пауз|перерыв|вопросов)|не спрашива)|довед(?:и|ите)\b[^.\n]{0,30}?\bдо конца",
     ("question", "told", "shown", "log"), "Russian: do not stop, keep on until"),

    ("disarm.whole", "disarm", "whole",
     ("stop", "halt", "cease", "abort", "cancel", "quit", "enough", "never mind", "nevermind", "nvm", "forget it",
      "drop it", "leave it", "disarm", "no more", "done", "that's all", "thats all", "stand down"),
     r"(?:(?:stop|halt|cease|abort|cancel|quit|end|terminate)(?: %now%)*|stop+|stop(?:\W+stop)+|"
     r"(?:that'?s|this is|it'?s)? ?(?:enough|all)(?: (?:for (?:now|today|tonight)|already|now|thanks|thank you))*|never ?"
     r"mind|nvm|forget (?:about )?(?:it|that|this)|(?:drop|leave|kill) it(?: (?:there|be|at that))?|disarm|no more|"
     r"(?:we(?:'re| are)|i'?m|i am) (?:all )?(?:done|finished)(?: (?:here|now|for (?:now|today|tonight)))?|stand down)"
     r"(?: %now%)*", (), "the prompt is a stop word"),
    ("disarm.stop", "disarm", "start", ("stop", "halt", "abort", "cease"),
     r"(?:stop|halt|abort|cease)\b(?:%end%|(?= %now%(?: %now%)*%end%)|\s+(?:right (?:there|here|now|away)|immediately|at "
     r"once|now|please|everything|for (?:now|today)|it(?=[\s,]+(?:i|we|you|and)\b)|here(?= (?:and|for|we|i)\b)|and "
     r"(?:tell|show|report|summar|wait|give|explain|let|list|answer|read|look|think|listen|talk)|i(?:'m|'ve|'ll)?\b|im "
     r"|we\b|let me|what you|you(?:'re| are) |this is|that is|don'?t\b))",
     ("conditional", "object-stop", "log"), "begins by telling the agent to stop"),
    ("disarm.day", "disarm", "within",
     ("call it a day", "call it a night", "call it quits", "for today", "for tonight", "for the day", "for the night",
      "tomorrow", "stand down", "this session", "the session"),
     r"\bcall it (?:a day|a night|quits)\b|\b(?:stop|done|finished|enough|quit|that'?s (?:it|all)|leave it(?: there)?|"
     r"wrap(?: it)? up|pause) for (?:today|tonight|the (?:day|night))\b|\b(?:let'?s|we(?:'ll| will| can| should)|i(?:'ll| "
     r"will)) (?:continue|pick (?:it|this|that) up|resume|come back to (?:it|this)|finish (?:it|this)|carry on)(?: (?:it|"
     r"this|that|here|again))?(?: from here)? tomorrow\b|\b(?:let'?s|please|i(?:'ll| will)|i want to) (?:close|end) "
     r"(?:this|the) session%end%|^stand down\b",
     ("conditional", "log"), "the day's work is over"),
    ("disarm.enough", "disarm", "start", ("enough", "i'm done", "im done", "we're done", "we are done", "i am done",
                                          "need to keep going", "need to continue", "have to continue",
                                          "have to keep going", "give up", "cancel"),
     r"(?:(?:that'?s|this is) (?:quite )?enough%end%(?! *\?)|enough%end%(?! *\?)|(?:i'?m|i am|we'?re|we are) done(?: (?:here|with (?:you|this"
     r"|it)|for (?:now|today)))?%end%|(?:no|you (?:don'?t|do not)) (?:need|have) to (?:keep going|continue|go on|carry "
     r"on)(?: \w+)?%end%|(?:i|we) give up\b|cancel(?: (?:that|this|it|everything|the (?:task|request|run)))?%end%)",
     ("conditional", "log"), "says that it is enough"),
    ("disarm.cjk", "disarm", "whole",
     ("停", "够了", "夠了", "取消", "中断", "中止", "终止", "別做了", "别做了", "先这样", "到此为止", "不用做了", "不用继续",
      "算了", "止め", "やめ", "ストップ", "終わり", "もういい", "止まって", "ここまで", "멈춰", "멈추", "중지", "그만", "중단", "스톱",
      "스탑", "취소", "정지"),
     r"(?:先|立即|马上|现在|快|赶紧|直接)?(?:停(?:止|下来?|一下|手|吧|工)?|中断|中止|终止|取消)(?:吧|了吧|一切|所有|执行|运行|任务|后台|"
     r"工作|全部|当前)*(?<!止了)|(?:够了|夠了|别做了|別做了|先这样吧?|到此为止吧?|不用(?:再)?(?:做|继续)了?|算了|今天(?:就)?到(?:这|此)\w{0,4})|"
     r"(?:一旦|いったん|もう|今すぐ|作業を)?(?:止めて|やめて|止まって|ストップ|停止(?:して)?|中止(?:して)?|中断(?:して)?|やめろ|止めろ|終わり|もういい|"
     r"今日はここまで|ここまで)(?:ください|下さい|にして|です|で)*|(?:이제 |당장 |잠시 |일단 )?(?:멈춰|멈추세요|멈춰라|중지(?:해)?|그만(?:해|하자)?|중단(?:해)?|"
     r"스톱|스탑|취소(?:해)?|정지)(?: ?(?:줘|주세요|요|라|세요))*", (), "Chinese, Japanese, Korean stop words"),
    ("disarm.cjk-first", "disarm", "first", ("停", "够了", "别做了", "止めて", "やめて", "ストップ", "멈춰", "그만", "중지"),
     r"(?:先|快|赶紧)?(?:停(?:止|下来?|一下|手|吧)?|够了|别做了)(?=\s*[,、。!\n])|(?:止めて|やめて|ストップ)(?:ください)?(?=\s*[,、。!\n])|"
     r"(?:멈춰|그만(?:해)?|중지(?:해)?)(?:줘|주세요|요)?(?=\s*[,.!\n])", ("conditional",), "begins with a stop word"),
    ("disarm.latin", "disarm", "first",
     ("para", "pare", "basta", "det", "alto", "cancela", "chega", "encerra", "arrêt", "arret", "stopp", "halt", "hör",
      "suffit", "genug", "reicht", "abbrech", "abbruch", "aufhören", "annule", "suficiente", "terminamos", "feierabend",
      "laisse tomber", "déjalo"),
     r"(?:(?:para|pare|parem|parar|detente|det[eé]n|deteneos|alto|basta|cancela|cancelar|cancele|chega|encerra|encerrar|"
     r"d[eé]jalo|es suficiente|arr[eêè]te(?:[sz])?(?:[- ](?:toi|tout|[cç]a|vous|l[aà]))*|annule|[cç]a suffit|laisse tomber|"
     r"stopp?|halt|h(?:ö|oe)re? (?:sofort |bitte )?auf|aufh(?:ö|oe)ren|genug|das reicht|es reicht|abbrechen|abbruch|brich "
     r"ab|feierabend)(?: (?:ya|todo|ahora|aqu[ií]|ah[ií]|a[ií]|agora|tudo|por (?:favor|hoy|hoje|ahora|agora|enquanto|el "
     r"momento)|maintenant|ici|l[aà]|pour (?:aujourd'hui|l'instant)|s'il (?:te|vous) pla[iî]t|jetzt|sofort|hier|bitte|"
     r"f(?:ü|ue)r heute|damit|mal|immediatamente|inmediatamente))*%end%)",
     ("conditional", "log"), "Spanish, Portuguese, French, German stop words"),
    ("disarm.ru", "disarm", "first", ("стоп", "останов", "хватит", "прекрати", "отмен", "достаточно", "закончим", "отбой"),
     r"(?:стоп|остановись|остановитесь|останови(?:те)?(?: вс[её])?|остановимся|хватит|прекрати(?:те)?|отмена|отмени|"
     r"достаточно|закончим|отбой)(?: (?:пока|сейчас|вс[её]|на сегодня|тут|здесь|на этом|уже|работу))*%end%",
     ("conditional", "log"), "Russian stop words"),

    ("pause.hold-on", "pause", "first",
     ("hold on", "hold off", "hold it", "hold up", "hang on", "not yet", "stand by", "standby", "one sec", "one moment",
      "one minute", "just a sec", "just a moment", "just a minute", "pause", "freeze", "hold your horses", "hol up"),
     r"(?:hold (?:on(?! to\b)|off|up|it|your horses)|hang on|not (?:yet|now)%end%|stand ?by%end%|(?:one|just (?:a|one)|give me a"
     r") (?:sec|second|moment|minute|min)\b|(?:pause|freeze)(?:%end%| (?:here|there|now|please|for|it%end%|everything|all|work"
     r"|the (?:work|task|session)|and\b|until (?:i|we)\b|before)))",
     ("wait-for-thing", "log"), "asks the agent to hold on"),
    ("pause.wait", "pause", "first", ("wait",),
     r"wait(?:%end%(?![\s,.!\u2026:-]*(?:that'?s|this is|no\b|it'?s|you|use|fix|undo|make|the )[^?]*$)|\s+(?:a (?:sec|"
     r"second|moment|minute|min|bit)|up\b|here\b|there%end%|please%end%|for (?:me|my)\b|(?:until|till) (?:i|we)\b|before (?:"
     r"you|doing|going|we|i)\b|i\b|let me|what\b|why\b|where\b|how\b|who\b|is\b|are\b|did\b|does\b|don'?t\b|do not\b|first"
     r"%end%))",
     ("wait-for-thing", "log"), "asks the agent to wait"),
    ("pause.not-yet", "pause", "clause",
     ("yet", "for now", "right now", "at this", "in this", "during this", "until i", "until we", "before i", "before we",
      "till i", "without my"),
     r"(?:%not%|please no|no)\s+(?:you )?(?:(?:touch|change|edit|modify|do|write|code|implement|start|run|execute|make|"
     r"commit|continue|proceed|go (?:on|ahead|further)|begin|move on|act on|build|apply|add|push|deploy)\b ?)?(?:writing |"
     r"implementing |making )?(?:%any% ?)?(?:%yet%)",
     ("log", "told"), "not yet: code, changes or anything"),
    ("pause.nothing", "pause", "first",
     ("n't do anything", "not do anything", "nt do anything", "n't touch anything", "nt touch anything", "touch anything",
      "n't change anything", "nt change anything", "not change anything", "no coding", "do nothing", "no code"),
     r"(?:%not% (?:do|touch|change) anything(?: else)?%end%|no coding%end%|do nothing%end%|no code%end%)",
     ("log",), "do nothing"),
    ("pause.talk-first", "pause", "first", ("discuss", "talk", "chat", "plan", "first"),
     r"(?:i (?:want|would like|'d like) to|let'?s|we should|let me) (?:discuss|talk|chat|think)\b[^.\n]{0,60}?\b(?:first|before"
     r" (?:we|you|doing|going))\b", ("log",), "talk first"),
    ("pause.cjk", "pause", "first",
     ("等一下", "等等", "等下", "稍等", "等会", "暂停", "暫停", "先别", "先不", "先等", "别动", "慢着", "且慢", "待って", "待て", "お待ち",
      "一時停止", "잠깐", "잠시", "기다려", "대기", "일시정지"),
     r"(?:先)?(?:等一下|等等|等下|稍等(?:一下)?|等会儿?|暂停(?:一下)?|暫停|先等等?|别动|慢着|且慢)(?=\W|$|我|先|吧)|"
     r"先(?:别|不要?|不用)(?:急着)?(?:动|改|写|做|执行|实施|实现|继续|开始|编码|提交|动手)|(?:ちょっと|少し)?(?:待って|待て|お待ち)(?:ください|"
     r"下さい|ね|よ)*|一時停止|(?:잠깐|잠시)(?:만|요|만요|만 ?기다려\w*)?(?=[,.!?~\n]|$| ?사용자| ?대기| ?멈)|(?:잠깐만|잠깐요|잠시만)|기다려\w*%end%|대기(?:해)?%end%",
     ("log",), "Chinese, Japanese, Korean: wait"),
    ("pause.cjk-not-yet", "pause", "clause",
     ("先不", "先别", "先別", "暂时不", "暂不", "不要执行", "不要动手", "まだ", "아직"),
     r"(?:先|暂时|暂)(?:都)?(?:不要?|别|別|不用)(?:急着)?(?:写|改|动|修改|执行|实施|实现|编写|生成|更改|修)(?:任何)?(?:代码|文件|东西|程序|手|码)?%end%|"
     r"不要(?:执行|动手|动代码)%end%|まだ(?:コード|何も|実装|実行|変更|触|書)[^。\n]{0,12}?(?:ないで|しない|するな)|아직[^.\n]{0,20}?(?:하지|작성하지|수정하지|건드리지|"
     r"시작하지) ?(?:마|말)", ("log",), "Chinese, Japanese, Korean: not yet"),
    ("pause.latin", "pause", "first",
     ("espera", "espere", "un momento", "um momento", "um minuto", "un minuto", "aguarda", "aguarde", "pera", "calma",
      "pausa", "attend", "une minute", "une seconde", "un instant", "un moment", "warte", "moment", "einen augenblick",
      "momentito", "patiente"),
     r"(?:espera(?:te)?|esper[ae]|esp[eé]rate|un (?:momento|minuto|segundo)|um (?:momento|minuto|segundo|instante)|aguard[ae]|"
     r"p[eê]ra(?:[ ,]*(?:l[aá]|a[ií]))?|pera[ií]|calma(?: a[ií])?|pausa|attend[sz]?|attendez|une (?:minute|seconde)|un (?:instant|"
     r"moment)|warte(?:n sie)?(?: mal| kurz| noch| bitte)*|moment(?: mal)?|einen (?:moment|augenblick)|momentito|patiente[z]?)"
     r"(?:%end%|(?= (?:no|n[ãa]o|um|un|por|que|antes|pas|avant|je|on|tu|bitte|noch|nicht|a que|ich|mal|pardon|ne)\b))",
     ("wait-for-thing", "log"), "Spanish, Portuguese, French, German: wait"),
    ("pause.latin-not-yet", "pause", "clause",
     ("todavía", "todavia", "aún", "ainda", "por ahora", "por enquanto", "pas encore", "l'instant", "pour le moment",
      "noch nicht", "noch nichts", "noch kein", "no hagas nada", "no toques nada", "não faça nada", "nao faça nada",
      "não mexa", "touche à rien", "fass nichts", "mach nichts", "ne fais rien", "ne touche"),
     r"(?:no|n[ãa]o) (?:hagas|toques|fa[çc]a|mexa|mude|cambies|altere|toque)(?: em)? nada%end%|(?:no|n[ãa]o|ainda n[ãa]o|todav[ií]a no|a[uú]n "
     r"no)\b[^.,\n]{0,40}?(?:c[oó]digo|nada|cambios|mudan[çc]as|implement\w*|escrib\w*|escrev\w*)[^.,\n]{0,20}?\b(?:todav[ií]a|a[uú]n|"
     r"ainda|por (?:ahora|enquanto))|ne (?:touche|fais|change|modifie)[sz]?\b[^.,\n]{0,12}?\brien%end%|(?:pas (?:de code|encore de "
     r"code)|n'(?:[eé]cri\w*|impl[eé]ment\w*) (?:pas|rien))\b[^.,\n]{0,30}?(?:encore|pour (?:l'instant|le moment))|(?:fass|mach|"
     r"[aä]ndere?) (?:bitte |noch )*nichts\b(?: an)?%end%|(?:schreib\w*|implementier\w*|[aä]nder\w*|mach\w*)\b[^.,\n]{0,20}?\bnoch "
     r"(?:nicht|nichts|kein)", ("log",), "Spanish, Portuguese, French, German: not yet"),
    ("pause.ru", "pause", "first", ("подожди", "погоди", "постой", "минут", "секунд", "пауза", "не трогай", "пока не ",
                                    "жди", "ничего не"),
     r"(?:подожди(?:те)?|погоди(?:те)?|постой(?:те)?|(?:одну )?(?:минут(?:у|очку)|секунд(?:у|очку))|пауза|жди%end%)(?!\s+пока "
     r"(?:тест|сборк))\b|(?:пока )?(?:ничего )?не (?:трогай|меняй|делай|пиши)\b[^.\n]{0,20}?(?:ничего|код|пока)|ничего (?:пока )?не "
     r"(?:трогай|меняй|делай|пиши)|пока не (?:пиши|трогай|меняй|делай|начинай|запускай)", ("log",), "Russian: wait, not yet"),
)

# id, needs, where, pattern, why it is no order. where: "before" up to the words, "after" from their end, "line" the
# line they stand on, from its start; "sentence" the sentence with its end mark.
INTENT_EXCUSES = (
    ("question", ("?",), "sentence",
     r"(?!\W*(?:(?:ok|so|and|please|hey)[\s,]+)*(?:can|could|would|will) (?:you|u|we)\b)[^?]*\?", "a question, not an order"),
    ("told", (), "before",
     r"(?:\b(?:i|he|she|they|we|it|who|that|which|users?|people|someone|the \w+|\w+ session) (?:\w+ )?(?:told|tell|tells|said|"
     r"says?|asked|asks?|used|wants?|wrote|typed|means?)\b|\b(?:translate|say|says|said|type|typed|write|wrote|prompt|phrase|"
     r"string|message|text|label|button|title|called|named|log|output|error|reads?|rename|word|example|quote|lyrics?|song|"
     r"sentence|keyword|literally|issue|sample)\b[^:]{0,40}:?\s*$)", "told of somebody, or a wording that is shown"),
    ("shown", (), "after", r"[^.\n]{0,40}?\b(?:is a phrase|is the phrase|as a (?:label|title|name)|arm(?:s|ing)? (?:phrase|"
     r"word)|이라고|라고|believin)", "a wording that is shown"),
    ("log", (), "line",
     r"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\]?[:\s]|\$ |\||at \S+\(|"
     r"file \"|@@ |(?:user|human|assistant|claude|ai|bot|agent|system)\s*:|[\u276f\u23fa\u25cf])", "a pasted log or table line"),
    ("person", (), "after", r"\s*(?:i (?:say|tell)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|next)\b",
     "until a person or a day"),
    ("program", (), "before", r"\b(?:that|which|so it|it (?:will|should|can)|app|script|server|service|worker|user)\s*$",
     "about a program"),
    ("clock", (), "after", r"\s*the (?:api|backend|server) is (?:ready|available)\b", "until a service is there"),
    ("conditional", ("when", "once", "until", "after", "if ", "unless", "as soon", "till", "before", "wenn", "sobald",
                     "cuando", "quando", "quand", "если", "когда"), "sentence",
     r"\W*(?:(?:and|but|then|or|so)\s+)?(?:if|when|whenever|once|after|as soon as|until|unless|wenn|sobald|cuando|si|se|quando|"
     r"quand|если|когда)\b|[^.\n]*?\b(?:stop|halt|stand down|day|quits|for (?:now|today))\b[^.,\n]{0,30}?\b(?:when|once|until|"
     r"after|if|unless|as soon as)\b", "a release with a condition"),
    ("object-stop", ("stop it", "stop this", "stop that", "stop everything", "stop all"), "after",
     r"[^.,\n]{0,12}?\b(?:from|on (?:the|port)|in the)\b", "something else is to be stopped"),
    ("wait-for-thing", (), "after",
     r"\s*(?:for|until|till|on) (?!me\b|my\b|i\b|we\b|a (?:sec|moment|minute|bit)|now|it\b|that\b|this\b)[^.\n]*", "waits for a thing"),
    ("zh-question", ("吗", "?", "么", "是否"), "sentence", r"[^。\n]*(?:吗|\?|了么)", "a question, not an order"),
    ("zh-program", (), "before", r"(?:程序|服务|系统|轮询|循环|进程|脚本|线程|用户|按钮|接口|动画|任务)[^,。\n]{0,6}$", "about a program"),
    ("ja-question", ("?", "か"), "sentence", r"[^。\n]*(?:\?|(?:です|ます|ません)か)\s*[。]?\s*$", "a question, not an order"),
    ("object-ja", ("を",), "before", r"(?<!手)(?<!作業)を\s*$", "something else is not to be stopped"),
    ("object-ko", ("를", "을"), "before", r"(?<!작업)[를을]\s*$", "something else is not to be stopped"),
)

# What joins a condition to an arming clause, and the words after which (or before which) it stands.
CONNECTIVES = (
    (("until", "till", "til ", "unless", "before"), r"\b(?:until+|till|'?til|unless|before)\b(?: (?=such time))?[:\s]*"),
    (("only",), r"\bonly (?:stop )?(?:when|once|if|after)\b\s*"),
    (("tant qu", "jusqu'", "avant"), r"\b(?:tant qu(?:e\s+|')|jusqu'(?:[aà] ce qu(?:e\s+|')|[aà]\s+|au\s+)|avant (?:que?|de)\s+)"),
    (("hasta", "até", "ate ", "antes"), r"\b(?:hasta(?: que)?|at[eé](?: que)?|antes de(?: que)?)\b\s*"),
    ((" bis", "bevor", "solange"), r"\b(?:bis|bevor|solange)\b(?: dass)?\s*"),
    (("пока", "до "), r"\b(?:до тех пор,? пока|пока|до)\b\s*"),
    (("直到", "直至", "知道"), r"(?:直到|直至|知道)\s*"),
)
# The other order: the condition first. Its end, where it stands right before the words that order.
POSTPOSED = ((("まで",), r"(?:する|なる)?まで"), (("때까지",), r"(?:\w )?때까지|까지"), (("之前", "前"), r"之?前"))
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS_MORE = (("a", 1), ("an", 1), ("the next", 1), ("half an", 0.5), ("half", 0.5), ("a couple of", 2), ("fifteen", 15),
                ("twenty", 20), ("thirty", 30), ("forty", 40), ("forty-five", 45), ("fifty", 50), ("sixty", 60),
                ("ninety", 90), ("一", 1), ("两", 2), ("兩", 2), ("三", 3), ("半", 0.5), ("una", 1), ("un", 1), ("une", 1),
                ("uma", 1), ("dos", 2), ("duas", 2), ("deux", 2), ("zwei", 2), ("eine", 1), ("два", 2), ("час", 1))
TIME_WORDS = ("hour", "minute", " min", "hr", "hora", "heure", "stunde", "minut", "час", "минут", "小时", "小時", "分钟",
              "分鐘", "時間", "分間", "시간", "분", "1h", "2h", "3h", "4h", "5h", "6h", "8h", "0m", "5m")
LASTS = (r"(?:\b(?:for|next|durante|por|pendant|in|im|während|в течение|ещё|еще)\s+(?:the next |about |around |at least |"
         r"another |las pr[oó]ximas |)|(?=[\d一两兩三半]))(\d+(?:[.,]\d+)?|half an|a couple of|[\w-]+)\s*(?:more |full |solid |个|個)?"
         r"(h(?:ours?|rs?|oras?|eures?)?|stunden?|час\w*|小时|小時|時間|시간|m(?:inutes?|ins?|inutos?|inuten?)?|минут\w*|分钟|分鐘|"
         r"分間|분)(?![a-z])(?! ago)")
CLOCK = (r"\b(?:until|till?|hasta las?|at[eé] [aà]?s?|jusqu'[aà]|bis|до)\s+(?:(noon|midnight)|(\d{1,2})(?:[:h](\d\d))?\s*"
         r"(am|pm|a\.m\.?|p\.m\.?|o'clock|uhr|h\b)?)(?![\w.])")
ASKS_LEAVE = (r"\W*(?:(?:ok(?:ay)?|so|and|but|hmm+|well|also|wait|hey|hold on|no)[\s,]+)*(?:(?:what|why|how|where|when|which|who|whose|is|are|was|were|"
          r"do|does|did|has|have|should|shall|am)\b|(?:can|could|would|will) (?:i|we|it|this|that|they|there)\b|(?:can|could|"
          r"would|will) (?:you|u) (?:please )?(?:tell|explain|describe|clarify|say|remind|walk me)\b)")
REQUEST = r"\W*(?:(?:ok(?:ay)?|so|and|please|hey|also|now)[\s,]+)*(?:can|could|would|will) (?:you|u|we)\b"
ANY_QUESTION = ("?", "吗", "か", "呢", "까", "what", "why", "how", "where", "when", "which", "who", "is ", "are ", "do",
                "can ", "should")


INTENTS = ("arm", "pause", "disarm")
NOTHING_HEARD = {"intent": "", "rule": "", "condition": "", "items": (), "budget": None, "command": (), "question": False,
                 "start": 0, "end": 0, "excused": ()}
RULE_IDS = frozenset(row[0] for row in RULES + RULES_OTHER + INTENT_RULES)


# --- records -------------------------------------------------------------------------------------

class Record:
    """Named fields with defaults, changed only by `replace`. (typing.NamedTuple costs more than a hook call.)"""

    fields: dict = {}

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
              "own": None, "off": ()}   # phrases of the operator's own; rule ids switched off


class Stop(Record):
    """A Stop payload, read: HOST 1 names the fields."""

    fields = {"message": None,          # last_assistant_message; None or "" leaves the ledger to decide
              "hits": (), "excused": (), "advisory": (), "blocker": "", "waits": False,     # see read_turn
              "mode": "",               # permission_mode
              "active": False,          # stop_hook_active: a hook has held this turn before, no more than that
              "tasks": (), "crons": ()}


class Evidence(Record):
    """What the transcript shows. Sizes and offsets are in bytes; digests are of tool calls."""

    fields = {"readable": False, "size": 0,
              "work": (),               # calls since the mark that are work
              "calls": (),              # all finished calls since the mark
              "answered": True,         # no work since the operator's last prompt
              "turn_calls": None,       # calls since the operator's last prompt, None if unknown
              "text": None,             # last text of the main chain
              "holds": 0, "stalled": 0}     # our own feedback rows since the operator's prompt; since the last work


class Verdict(Record):
    """The decision on one Stop."""

    fields = {"cls": "", "why": "", "rules": (), "owed": (), "progress": False, "tickets": (), "wakes": ()}

    @property
    def holds(self):
        return self.cls in ("BLOCK", "BLOCK-MALFORMED")


class Prompt(Record):
    """A prompt that the operator typed, with what the hook knows beside its words."""

    fields = {"heard": None,            # see read_prompt
              "mode": "", "size": 0, "session": "", "fresh": False}


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
        kinds = (int, float) if type(default) is int else (type(default),)
        if type(contract[name]) not in kinds:
            return f"{name} is {type(contract[name]).__name__}, not {kinds[0].__name__}"
    if contract["session"] != session:
        return "it names another session"
    if contract["state"] not in STATES or contract["mode"] not in MODES:
        return "unknown state or mode"
    for item in contract["items"]:
        if not isinstance(item, dict) or not all(isinstance(item.get(k), str) for k in ("id", "text", "state")):
            return "an item without id, text and state"
    return ""


# --- reading: values -----------------------------------------------------------------------------

class JsonDialect:
    """What the C scanner of the json module asks its caller for (CPython 3.9 to 3.14)."""

    strict, object_hook, object_pairs_hook = True, None, None
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
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, str(error) or type(error).__name__


def dump_json(value):
    """VALUE as one line of ASCII JSON, so that any text can be written in any locale."""
    try:
        import _json
        encode = _json.make_encoder(None, str, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True)
        return "".join(encode(value, 0))
    except Exception:       # as above
        import json
        return json.dumps(value)


def digest(text, length=12):
    """The first LENGTH hex digits of TEXT's SHA-256."""
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256
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


def session_file(session):
    """SESSION folded to a file name without its ending, or "" for an id that is not safe to use as one."""
    if not isinstance(session, str) or not 0 < len(session) <= 128 or not session.isascii():
        return ""
    name = session.lower()
    if name[0] in SESSION_ID and all(c in SESSION_ID or c in "._-" for c in name):
        return name
    return ""


# --- reading: the transcript ---------------------------------------------------------------------

ROW_MARKS = (b'"tool_use"', b'"tool_result"', b'"text"', b'"content":"', b'"content": "')


def rows_of(data, start, whole):
    """[(offset, row)] of the JSON lines in DATA, which begins at byte START; WHOLE says that a line begins there."""
    rows, offset = [], start
    for number, line in enumerate(data.split(b"\n")):
        if (whole or number) and any(mark in line for mark in ROW_MARKS):
            row, fault = parse_json(line)
            if not fault and isinstance(row, dict) and not row.get("isSidechain"):
                rows.append((offset, row))
        offset += len(line) + 1
    return rows


def content_of(row):
    """The content blocks of a transcript row; a text content is one text block."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def read_evidence(rows, contract, size):
    """Evidence from ROWS, the tail of a transcript of SIZE bytes, for CONTRACT."""
    mark, prompted = contract["mark"], contract["prompt_mark"]
    known, waiting = set(contract["calls"]), {}
    work, calls, seen_after, turn_calls, text, holds, stalled = [], [], False, 0, None, 0, 0
    for offset, row in rows:
        if is_human(row):
            turn_calls, holds, stalled = 0, 0, 0
        elif is_our_hold(row):
            holds, stalled = holds + 1, stalled + 1
        for block in content_of(row):
            kind = block.get("type")
            if kind == "tool_use" and row.get("type") == "assistant":
                turn_calls += 1
                waiting[block.get("id")] = block
            elif kind == "tool_result" and block.get("tool_use_id") in waiting:
                call = waiting.pop(block["tool_use_id"])
                if failed(block, row):
                    continue
                key = call_key(call)
                counts = is_work(call) and key not in known
                known.add(key)
                if offset >= mark:
                    calls.append(key)
                    work.extend([key] if counts else ())
                if is_work(call):
                    stalled = 0
                    seen_after = seen_after or offset >= prompted
            elif kind == "text" and row.get("type") == "assistant" and isinstance(block.get("text"), str):
                text = block["text"]
    return Evidence(readable=True, size=size, work=tuple(work), calls=tuple(calls), answered=not seen_after,
                    turn_calls=turn_calls, text=text, holds=holds, stalled=stalled)


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
    return any(not is_idle(words) for words in simple_commands(command))


def simple_commands(command):
    """The word lists of a shell line's simple commands, well enough to see which programs it runs."""
    for mark in ("&&", "||", ";", "|", "\n", "&"):
        command = command.replace(mark, "\0")
    return [words for words in (part.split() for part in command.split("\0")) if words]


def is_idle(words):
    """Does a simple command do nothing that could be work? A redirection writes a file, so it is work."""
    if any(">" in word for word in words) and words[0] in IDLE_COMMANDS:
        return False
    names = [word.strip("\"'").rsplit("/", 1)[-1] for word in words[:4]]
    ours = names[0] == NAME or any(name == "session_contract.py" for name in names[:1] + names[1:4] * (
        names[0].startswith("python")))
    return names[0] in IDLE_COMMANDS or names[0] == "cd" or ours


# --- reading: schedules --------------------------------------------------------------------------

def cron_wait(schedule, now):
    """Seconds from NOW until the five-field cron line SCHEDULE fires (local time), None beyond a day or if unreadable."""
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
        if step and not dash and span != "*":
            end = high
        numbers.update(range(start, end + 1, int(step or 1)))
    return numbers

# --- reading: display text ------------------------------------------------------------------------

def blank(text):
    """The same number of characters, each MARK, lines kept."""
    return "\n".join(MARK * len(line) for line in text.split("\n"))


def display(text):
    """TEXT with fences, block quotes, inline code, quotations, comments and tagged blocks set aside."""
    import re
    lines, fence = text.split("\n"), ""
    for i, line in enumerate(lines):
        bare = line.lstrip(" \t")
        if fence:
            lines[i] = MARK * len(line)
            if bare.startswith(fence) and not bare.rstrip().strip(fence[0]):
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[:len(bare) - len(bare.lstrip(bare[0]))]
            lines[i] = MARK * len(line)
        elif bare.startswith(">"):
            lines[i] = MARK * len(line)
    text = "\n".join(lines)
    for _, cheap, pattern in SET_ASIDE:
        if cheap in text:
            text = re.sub(pattern, lambda m: blank(m.group()), text, flags=re.S)
    return text

# --- reading: a turn-end --------------------------------------------------------------------------

def clean(text):
    """TEXT as patterns see it: lowered, without emphasis marks, white space and set-aside spans as one character."""
    text = text[-UNIT_AT_MOST:].lower().replace("\u2019", "'").replace("\u2018", "'").replace("*", "")
    text = text.replace("__", "").replace("\u00a0", " ").replace("\u202f", " ")
    while MARK + MARK in text:
        text = text.replace(MARK + MARK, MARK)
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()


def line_kind(line, item):
    """What one line is: blank, aside (wholly set aside), rule, heading, table, item or prose."""
    bare = line.strip()
    if not bare:
        return "blank"
    if not bare.strip(MARK):
        return "aside"
    if not bare.strip("-*_=─━ "):
        return "rule"
    if bare.startswith("#") and bare.lstrip("#").startswith(" "):
        return "heading"
    if bare.startswith("|"):
        return "table"
    if item.match(bare.lower()):
        return "item"
    if bare.startswith("**") and bare.rstrip(":：").endswith("**") and bare.count("**") == 2 and len(bare) < 120:
        return "heading"
    return "prose"


def blocks_of(text):
    """Blocks (kind, start, end) of a display text; a wrapped item is one block, so is a paragraph."""
    import re
    item, blocks, at, open_block = re.compile(ITEM), [], 0, False
    for line in text.split("\n"):
        kind, end = line_kind(line, item), at + len(line)
        last = blocks[-1] if blocks and open_block else None
        if last and (kind == "prose" and (last[0] == "prose" or last[0] == "item" and line[:1] in " \t")):
            blocks[-1] = (last[0], last[1], end)
        elif last and kind == "table" and last[0] == "table":
            blocks[-1] = ("table", last[1], end)
        elif kind != "blank":
            blocks.append((kind, at, end))
        open_block = kind in ("prose", "item", "table")
        at = end + 1
    return blocks


def sentences_of(text, start, end):
    """Sentences (start, end) of TEXT between two offsets: by their end marks, and by lines that do not wrap."""
    import re
    cuts, begin = [], start
    for found in re.finditer(SENTENCE_END + r"|\n", text[start:end]):
        stop = start + found.end()
        mark, rest = found.group()[0], text[stop:end].lstrip()[:1] if found.group() == "\n" else ""
        if mark in ":;" or mark == "\n" and rest.islower():
            continue
        if mark == "." and text[max(begin, stop - 8):stop].lower().split()[-1:] and \
                text[max(begin, stop - 8):stop].lower().split()[-1].lstrip("(") in NOT_AN_END:
            continue
        cuts.append((begin, stop))
        begin = stop
    cuts.append((begin, end))
    whole = []
    for begin, stop in cuts:
        piece = text[begin:stop]
        if any(c.isalnum() or c == MARK for c in piece):
            stripped = piece.strip()
            begin += piece.index(stripped[0])
            whole.append((begin, begin + len(stripped)))
    return whole


def structure(text):
    """The shape of a display text: {"blocks": [(kind, start, end)], "sentences": [(start, end, block)],
    "lists": [(first block, last block)], "prose": [block], "from": {scope: first block}}; a list begins with its lead-in."""
    blocks, sentences, lists, prose = blocks_of(text), [], [], []
    for i, (kind, start, end) in enumerate(blocks):
        if kind in ("prose", "item", "heading"):
            sentences.extend((a, b, i) for a, b in sentences_of(text, start, end))
        if kind == "prose":
            prose.append(i)
        if kind == "item":
            if lists and lists[-1][1] == i - 1:
                lists[-1] = (lists[-1][0], i)
            else:
                lists.append((i - 1 if i and blocks[i - 1][0] in ("prose", "heading") else i, i))
    return {"blocks": blocks, "sentences": sentences, "lists": lists, "prose": prose}


def units_by_scope(text, shape):
    """{scope: [(start, end)]} for every scope of the table above."""
    blocks, sentences, prose = shape["blocks"], shape["sentences"], shape["prose"]
    closing, ending = (prose[-1] if prose else 0), (prose[-3] if len(prose) > 2 else 0)
    spans = {"anywhere": [s[:2] for s in sentences]}
    spans["closing"] = [s[:2] for s in sentences if s[2] >= closing]
    spans["ending"] = [s[:2] for s in sentences if s[2] >= ending]
    spans["heading"] = [b[1:] for b in blocks if b[0] == "heading"]
    spans["list"] = [(blocks[a][1], blocks[b][2]) for a, b in shape["lists"]]
    spans["last-list"] = [(blocks[a][1], blocks[b][2]) for a, b in shape["lists"] if b >= ending]
    leads = {a for a, b in shape["lists"] if blocks[a][0] != "item"}
    last_of = {s[2]: s[:2] for s in sentences}
    spans["lead-in"] = [last_of[a] for a in sorted(leads) if a in last_of]
    spans["last"] = [s[:2] for s in sentences[-1:]]
    spans["final"] = spans["last"][:]
    if shape["lists"] and sentences and shape["lists"][-1][1] == sentences[-1][2]:
        lead = shape["lists"][-1][0]
        spans["last"] += [last_of[lead]] if lead in leads and lead in last_of else []
    short = len(text) <= 320 and len(sentences) <= 3 and not shape["lists"]
    spans["whole"] = [(sentences[0][0], sentences[-1][1])] if short and sentences else []
    return spans


def around(span, scope, text, shape, spans):
    """The span that an excuse of SCOPE looks at, for a hit at SPAN."""
    if scope == "message":
        return 0, len(text)
    if scope == "ending":
        return (spans["ending"][0][0], len(text)) if spans["ending"] else span
    if scope == "near":
        inside = [i for i, s in enumerate(shape["sentences"]) if s[0] < span[1] and s[1] > span[0]]
        if inside:
            first, last = max(0, inside[0] - 2), min(len(shape["sentences"]) - 1, inside[-1] + 1)
            return shape["sentences"][first][0], shape["sentences"][last][1]
    if scope == "list":
        for a, b in spans["list"] + [b[1:] for b in shape["blocks"]]:
            if a <= span[0] and span[1] <= b:
                return a, b
    return span


def has(needs, text):
    """Whether one of the literals NEEDS is in TEXT (no needs: yes)."""
    return not needs or any(need in text for need in needs)


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
        """Spans of the units in which a rule's pattern is found."""
        import re
        search = None
        for span in self.spans.get(row[2], ()):
            unit = self.clean(span)
            if has(row[3], unit):
                search = search or re.compile(row[4]).search
                if search(unit):
                    yield span

    def fits(self, excuse, span):
        """Whether EXCUSE holds for a hit at SPAN."""
        import re
        unit = self.clean(around(span, excuse[2], self.text, self.shape, self.spans))
        return has(excuse[3], unit) and re.search(excuse[4], unit) is not None


def named(excuse_id, names):
    """Whether EXCUSE_ID is one of NAMES or belongs to one of them."""
    return excuse_id in names or excuse_id.split(".")[0] in names


def tail_of(message):
    """(offset, text): the part that is read. A fence that is open at the cut is opened again."""
    if len(message) <= READ_AT_MOST:
        return 0, message
    cut = message.find("\n", len(message) - READ_AT_MOST) + 1 or len(message) - READ_AT_MOST
    cut = cut if len(message) - cut > READ_AT_MOST // 2 else len(message) - READ_AT_MOST
    if ("\n" + message[:cut]).count("\n```") % 2:
        return cut - 4, "```\n" + message[cut:]
    return cut, message[cut:]


def judge(reading, rules, calls):
    """(hits, excused, advisory) of RULES over a reading."""
    excuses = EXCUSES + EXCUSES_OTHER
    hits, excused, advisory = [], [], []
    for row in rules:
        for span in reading.find(row):
            by = next((e[0] for e in excuses if named(e[0], row[5]) and reading.fits(e, span)), "")
            if by:
                excused.append((row[0], row[1]) + span + (by,))
            elif row[0] in ADVISORY and not (calls == 0 and row[1] in ("continuing", "narration")):
                advisory.append((row[0], row[1]) + span)
            else:
                hits.append((row[0], row[1]) + span)
    return hits, excused, advisory


def own_hits(reading, own):
    """Hits of the operator's own literal phrases."""
    text = reading.text.lower()
    for family, phrases in (own or {}).items():
        for phrase in phrases:
            at = text.rfind(phrase.lower()) if phrase.strip() else -1
            if at >= 0:
                yield ("own." + family, family, at, at + len(phrase))


def read_turn(message, calls=None, own=None, off=()):
    """What MESSAGE, the last one of a turn, says against its own ending. Pure; see the keys below."""
    result = {"hits": (), "excused": (), "advisory": (), "blocker": "", "waits": False}
    offset, tail = tail_of(message or "")
    low = tail.lower().replace("\u2019", "'")
    rules = [row for row in RULES + RULES_OTHER if row[0] not in off and has(row[3], low)]
    if not rules and not own:
        return result
    reading = Reading(tail)
    hits, excused, advisory = judge(reading, rules, calls)
    hits.extend(own_hits(reading, own))
    if hits:
        marks = [e for e in EXCUSES + EXCUSES_OTHER if e[1] in ("blocker", "waits") and has(e[3], low)]
        whole = (max(0, len(tail) - 1), len(tail))
        found = [e for e in marks if reading.fits(e, reading.spans["last"][0] if reading.spans["last"] else whole)]
        result["waits"] = any(e[1] == "waits" for e in found)
        result["blocker"] = next((e[0] for e in found if e[1] == "blocker"), "")
        if result["blocker"]:
            excused.extend(h + (result["blocker"],) for h in hits if h[1] in LIFTED)
            hits = [h for h in hits if h[1] not in LIFTED]
    if excused and not hits and not result["blocker"]:
        person = [e[0] for e in EXCUSES + EXCUSES_OTHER if e[1] == "person"]
        result["blocker"] = next((e[4] for e in excused if e[4] in person), "")
    for key, rows in (("hits", hits), ("excused", excused), ("advisory", advisory)):
        result[key] = tuple((r[0], r[1], r[2] + offset, r[3] + offset) + r[4:] for r in rows)
    return result

# --- reading: a prompt ----------------------------------------------------------------------------

def human_part(text):
    """TEXT with what the client wrapped around it blanked in place; "" where nothing of a person's is left."""
    if text.lstrip().startswith(MACHINE_PREFIXES):
        return ""
    if "<" not in text:
        return text if text.strip() else ""
    for tag in MACHINE_TAGS:
        start = text.find("<" + tag)
        while start >= 0:
            close = text.find("</" + tag + ">", start)
            end = len(text) if close < 0 else close + len(tag) + 3
            text = text[:start] + spaces(text[start:end]) + text[end:]
            start = text.find("<" + tag, end)
    return text if text.strip() else ""


def spaces(text):
    """As many blanks as TEXT has characters, its lines kept."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def plain(text):
    """Lower case, plain quotes, full-width forms as ASCII: character by character, so that offsets stay true."""
    if text.isascii():
        return text.lower()
    table = {0xff01 + i: 0x21 + i for i in range(94)}
    table.update({0x3000: " ", 0xa0: " ", 0x2019: "'", 0x2018: "'", 0x2bc: "'", ord(MARK): SHOWN})
    text = text.translate(table)
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def may_matter(text, gated, own=None):
    """A cheap test, without re: may TEXT hold an intent that matters (GATED: the session has a contract)?"""
    if "<" in text:
        text = human_part(text)
    low = plain(text)
    if low.lstrip()[:9] in ("contract:", "/contract"):
        return True
    for rule in INTENT_RULES:
        if (gated or rule[1] == "arm") and present(rule[3], low):
            return True
    return any(phrase.lower() in low for intent in own or () if gated or intent == "arm" for phrase in own[intent])


def present(needs, low):
    """True if one of the literals NEEDS, or each of one tuple of them, stands in LOW."""
    return any(n in low if n.__class__ is str else all(word in low for word in n) for n in needs)


def read_prompt(text, gated, own=None, off=()):
    """What TEXT means: a dict of intent, rule, condition, items, budget, command, question, start, end, excused.

    OWN maps an intent to literal phrases of the operator's; OFF holds ids of rules that are switched off.
    """
    answer = {"intent": "", "rule": "", "condition": "", "items": (), "budget": None, "command": (),
              "question": False, "start": 0, "end": 0, "excused": ()}
    text = human_part(text)
    command = read_command(text)
    if command:
        return dict(answer, intent="command", command=command, end=len(text))
    text, moved = ends_of(text)
    low = read_text(text)
    parts = sentences(low)
    hits, excused = find_hits(low, parts, gated, own, off)
    answer["question"] = is_question(low, parts)
    answer["excused"] = tuple((rule, moved(a), moved(b), why) for rule, a, b, why in excused)
    hit = deciding(hits)
    if hit:
        rule, intent, start, end = hit
        answer.update(intent=intent, rule=rule, start=moved(start), end=moved(end))
        if intent == "arm":
            answer.update(terms(text, low, parts, [h for h in hits if h[1] == "arm" and h[2] <= start][::-1]))
    return answer


def read_command(text):
    """The words of a prompt that begins "contract:" or "/contract"; () for any other prompt."""
    bare = text.strip()
    low = plain(bare[:12])
    if low[:9] not in ("contract:", "/contract") or low[0] == "/" and low[9:10].strip(":"):
        return ()
    words = bare[9:].lstrip(":\uff1a ").split("\n")[0].split(None, 1)
    if not words:
        return ("status",)
    verb = plain(words[0]).strip(".!,;:\u3002")
    rest = words[1].strip() if len(words) > 1 else ""
    if verb == "disarm":
        verb = "stop"
    if verb not in COMMANDS:
        return ("?", words[0][:40])
    if verb != "arm":
        return (verb,)
    first = rest.split(None, 1)
    if first and first[0].lower() in ("until", "till", "unless"):
        rest = first[1] if len(first) > 1 else ""
    return ("arm", shortened(rest))


def ends_of(text):
    """The part of TEXT that is read, and a function from its offsets to TEXT's own."""
    if len(text) <= READ_HEAD + READ_TAIL:
        return text, int
    gone = len(text) - READ_HEAD - READ_TAIL - 1
    # A fence that was opened in what is left out still holds at the tail's beginning.
    mark = "`" if text.count("\n```", 0, len(text) - READ_TAIL) % 2 else "\n"
    kept = text[:READ_HEAD] + mark + text[-READ_TAIL:]
    if mark == "`":
        kept = text[:READ_HEAD - 4] + "\n```\n" + text[-READ_TAIL:]
    return kept, lambda at: at if at <= READ_HEAD else at + gone


def read_text(text):
    """TEXT as it is judged: what is only shown set aside, then folded."""
    bare = text.strip()
    if len(bare) > 2 and len(bare) < 60 and bare[0] in "\"'\u201c\u300c" and bare[1:-1].isalpha():
        # a prompt that is nothing but one quoted word is that word
        at = text.index(bare)
        text = text[:at] + " " + bare[1:-1] + " " + text[at + len(bare):]
    return blank_tags(plain(display(text)))


def blank_tags(low):
    """Blocks in tags of any name set aside: what stands in them was pasted."""
    if "</" not in low:
        return low
    import re
    at, missing = 0, set()
    for m in re.finditer(r"<([a-z][\w-]{0,40})(?: [^<>\n]{0,200})?>", low):
        close = low.find("</" + m[1] + ">", m.end()) if m.start() >= at and m[1] not in missing else -1
        if close < 0:
            missing.add(m[1])
            continue
        inner = low[m.start():close]
        low = low[:m.start()] + "\n".join(SHOWN * len(s) for s in inner.split("\n")) + low[close:]
        at = close
    return low


def sentences(low):
    """(start, end, end with its mark) of each sentence or line that holds a word."""
    import re
    found, at = [], 0
    for m in re.finditer(r"[.!?]+(?=[\s)\"'*]|$|[^\x00-\x7f])|\.\.+|[\u2026\u3002\n;]+|$", low):
        if low[at:m.start()].strip():
            found.append((at, m.start(), m.end()))
        at = m.end()
    return found


def compiled(pattern):
    """PATTERN with its named pieces put in, compiled."""
    import re
    for name, piece in PIECES:
        pattern = pattern.replace("%" + name + "%", piece)
    return re.compile(pattern)


def clause_starts(low, parts):
    """For each sentence the offsets at which an order may begin, openers skipped; the first is the sentence's own."""
    import re
    openers, cut_at = re.compile(OPENERS), re.compile(
        r"[,:(\u3001]\s*|\s[-\u2013\u2014>\u2192]+\s+|[\u2013\u2014]\s*|\b(?:and|but|then|so|or|just|please|und|y|et|e|mas|pero|mais|и|но)\s+")
    lead = re.compile(r"(?:[^\w(]|\d{1,3}[.)]\s)*")
    found = []
    for start, end, _ in parts:
        places = [openers.match(low, lead.match(low, start, end).end(), end).end()]
        for m in cut_at.finditer(low, start, end):
            at = openers.match(low, m.end(), end).end()
            if at > places[-1]:
                places.append(at)
        found.append(places)
    return found


def find_hits(low, parts, gated, own, off):
    """All (rule, intent, start, end) in order, and what looked like one: (rule, start, end, excuse)."""
    rules = [r for r in INTENT_RULES if (gated or r[1] == "arm") and r[0] not in off and present(r[3], low)]
    hits, excused = [], []
    for intent, phrases in (own or {}).items():
        for phrase in phrases:
            at = low.find(plain(phrase)) if phrase.strip() else -1
            if at >= 0 and (gated or intent == "arm"):
                hits.append(("own." + intent, intent, at, at + len(phrase)))
    if rules and parts:
        starts = clause_starts(low, parts)
        excuses = {}
        for rule in rules:
            for n, a, b in rule_spans(rule, low, parts, starts):
                why = excuse_of(rule[5], low, parts[n], a, b, excuses)
                if why:
                    excused.append((rule[0], a, b, why))
                else:
                    hits.append((rule[0], rule[1], a, b))
    return sorted(hits, key=lambda h: (h[2], h[3])), excused


def rule_spans(rule, low, parts, starts):
    """(sentence number, start, end) wherever RULE's pattern holds in its scope."""
    scope, pattern = rule[2], compiled(rule[4])
    if scope == "whole":
        end = len(low.rstrip(" \t\n.!?,;:)*~\u3002\u2026\u3001\u203c\U0001f6d1\u270b\ufe0f"))
        for n, at in [(0, parts[0][0]), (0, starts[0][0])][starts[0][0] == parts[0][0]:]:
            if at < end and end - at < 120 and pattern.fullmatch(low, at, end):
                return [(0, at, end)]
        return []
    found = []
    for n, (start, end, _) in enumerate(parts[:1] if scope == "first" else parts):
        if scope == "within":
            found += [(n, m.start(), m.end()) for m in pattern.finditer(low, start, end)]
            continue
        for at in starts[n] if scope == "clause" else starts[n][:1]:
            m = pattern.match(low, at, end) or scope != "clause" and pattern.match(low, start, end)
            if m:
                found.append((n, m.start(), m.end()))
                break
    return found


def excuse_of(ids, low, part, start, end, cache):
    """The id of the first of the excuses IDS that holds for the words from START to END in the sentence PART."""
    for name, needs, where, pattern, _ in INTENT_EXCUSES:
        if name not in ids or needs and not any(n in low for n in needs):
            continue
        if name not in cache:
            cache[name] = compiled(pattern)
        regex = cache[name]
        if where == "before":
            held = regex.search(low, part[0], start)
        elif where == "after":
            held = regex.match(low, end, part[1])
        elif where == "line":
            held = regex.match(low, low.rfind("\n", 0, start) + 1, start)
        else:
            held = regex.match(low, part[0], part[2])
        if held:
            return name
    return ""


def deciding(hits):
    """The hit that decides: a release that is the whole prompt, else the last one."""
    whole = [h for h in hits if h[0].endswith((".whole", ".cjk")) and h[1] != "arm"]
    return (whole or hits[-1:] or [None])[0]


def terms(text, low, parts, arms):
    """Condition, items and budget of the arming clauses ARMS, the deciding one first."""
    found = {"condition": "", "items": (), "budget": None}
    for _, _, start, end in arms:
        part = next((p for p in parts if p[0] <= start < p[1]), (start, end, end))
        a, b = condition_span(low, part, start, end)
        found["budget"] = found["budget"] or budget(low, part, start)
        found["items"] = found["items"] or items(text, low, part)
        if a < b and not found["condition"] and not is_clock(low[a:b], found["budget"]):
            found["condition"] = shortened(text[a:b])
    return found


def condition_span(low, part, start, end):
    """Where the condition stands that belongs to the arming words from START to END: (a, b), empty if none."""
    import re
    best = None
    for where in ((start, part[1]), (part[0], start)):
        for needs, pattern in CONNECTIVES:
            if any(n in low for n in needs):
                m = re.compile(pattern).search(low, *where)
                if m and (best is None or m.start() < best.start()):
                    best = m
        if best:
            stop = where[1]
            if "\u4e00" <= best.group()[0] <= "\u9fff" or where[1] == start:
                comma = re.compile(r"[,\u3001]").search(low, best.end(), stop)
                stop = comma.start() if comma else stop
            return best.end(), trimmed(low, best.end(), stop)
        for needs, pattern in POSTPOSED if where[0] == start else ():
            m = any(n in low for n in needs) and re.compile(pattern).search(low, part[0], end)
            if m:
                a = max(low.rfind(c, part[0], m.start()) for c in ",\u3001") + 1 or part[0]
                return a + len(low[a:m.start()]) - len(low[a:m.start()].lstrip()), m.start()
    if ".before" in low or " before you stop" in low[start:end]:
        return start, low.rfind(" before ", start, end)
    return 0, 0


def trimmed(low, start, end):
    """END without what belongs to the sentence and not to the condition."""
    import re
    m = re.compile(r"[,\s]+(?:and )?then\b|\s+[-\u2013\u2014]+\s|\s*\b(?:please|ok(?:ay)?|pls|thanks|thank you)\W*$|为止").search(
        low, start, end)
    end = m.start() if m else end
    return start + len(low[start:end].rstrip(" \t,:.!\u3001"))


def shortened(text):
    """TEXT as one line of at most CONDITION_MAX characters, cut at a word."""
    text = " ".join(text.split()).rstrip(" ,:;")
    if len(text) <= CONDITION_MAX:
        return text
    short = text[:CONDITION_MAX - 1]
    return (short[:short.rfind(" ")] if " " in short[100:] else short) + "\u2026"


def items(text, low, part):
    """The entries of a Markdown list that begins right after the sentence PART, if that announces one."""
    if "\n" not in low[part[1] - 1:] or not low[part[0]:part[1]].rstrip().endswith(":"):
        return ()
    import re
    entry, found = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+(\[[ xX]\]\s+)?(\S.*)"), []
    for line in text[part[1]:].split("\n"):
        m = entry.match(line)
        if m:
            found.append(None if m[1] and "x" in m[1].lower() else m[2])
        elif line.strip() and found and line[:1] in " \t":
            found[-1] = found[-1] and found[-1] + " " + line.strip()
        elif line.strip() and (found or line.strip(" :")):
            break
    return tuple(shortened(entry) for entry in found[:100] if entry)


def budget(low, part, start):
    """("for", seconds) or ("until", "HH:MM") if the sentence names how long to work; else None."""
    import re
    span = low[start:part[1]]
    if any(n in span for n in TIME_WORDS):
        m = re.search(LASTS, span)
        number = m and number_of(m[1])
        if number:
            return ("for", int(number * (3600 if m[2][0] in "hsч小時시" else 60)))
    m = (":" in span or "m" in span or "noon" in span or "h" in span) and re.search(CLOCK, span)
    if not m or not (m[1] or m[3] or m[4]):
        return None
    hour = {"noon": 12, "midnight": 0}.get(m[1]) if m[1] else int(m[2])
    if m[4] and m[4][0] in "ap":
        hour = hour % 12 + (12 if m[4][0] == "p" else 0)
    minute = int(m[3] or 0)
    return ("until", "%02d:%02d" % (hour, minute)) if hour < 24 and minute < 60 else None


def number_of(word):
    """The number that WORD writes in digits or letters, or 0."""
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return NUMBERS.index(word) if word in NUMBERS else dict(NUMBERS_MORE).get(word, 0)


def is_clock(words, found):
    """True if the words after "until" are only the time that was read as the budget FOUND."""
    return bool(found and found[0] == "until" and (words[:1].isdigit() or words.startswith(("noon", "midnight"))))


def is_question(low, parts):
    """True if the prompt asks and orders nothing."""
    if not parts or not any(n in low for n in ANY_QUESTION):
        return False
    import re
    start, end, past = parts[-1]
    if re.compile(REQUEST).match(low, start, end) and not re.compile(ASKS_LEAVE).match(low, start, end):
        return False
    if "?" in low[end:past] or low[start:end].rstrip().endswith(("吗", "呢", "ですか", "ますか", "까")):
        return True
    return len(parts) == 1 and bool(re.compile(ASKS_LEAVE).match(low, start, end))


# --- deciding ------------------------------------------------------------------------------------

ASKING = ("permission", "menu", "your-call")    # families that an escalation or a dialogue may excuse


class Case(Record):
    """What a step of the decision looks at."""

    fields = {"contract": None, "stop": None, "evidence": None, "settings": None, "now": 0, "progress": False}


def decide(contract, stop, evidence, settings, now, malformed=""):
    """The Verdict on a Stop of a session whose contract is live. MALFORMED names the fault of an unreadable one.

    The order of the steps is the policy: the first that answers decides, and if none does the turn is held.
    """
    case = Case(contract=contract, stop=stop, evidence=evidence, settings=settings, now=now,
                progress=made_progress(contract, stop, evidence))
    owes, excuses, bounds = MODES[contract["mode"]]
    steps = (bounds,) if malformed else (step_host, step_paused, step_plan, step_budget, owes, excuses, bounds)
    for step in steps:
        found = step(case)
        if found:
            break
    else:
        found = ("BLOCK-MALFORMED" if malformed else "BLOCK", "")
    cls, why = found[:2]
    wakes = found[2] if len(found) > 2 else ()
    return Verdict(cls=cls, why=why, rules=tuple(hit[0] for hit in stop.hits), progress=case.progress,
                   owed=tuple(item["id"] for item in items_in(contract, OPEN)), wakes=tuple(w[1] for w in wakes),
                   tickets=tuple(w[0] for w in wakes if w[0]))


def next_contract(contract, stop, evidence, verdict, now):
    """The contract after VERDICT; CONTRACT itself if nothing changed."""
    after = dict(contract)
    if verdict.progress:
        after.update(streak=0, degraded=False, tickets=[])
    if verdict.progress or verdict.holds or verdict.tickets:
        after.update(mark=evidence.size, calls=(contract["calls"] + list(evidence.calls))[-LIMITS["calls"]:])
    if verdict.holds:
        after.update(streak=after["streak"] + 1, blocks=after["blocks"] + 1, block_at=now,
                     message=digest(fold(stop.message or "")), told=with_told(contract, "policy"))
        if stop.mode == "plan":
            after["plan_held"] = True
    elif verdict.cls == "ALLOW-DEGRADED":
        after["degraded"] = True
    elif verdict.cls == "ALLOW-CLEAN":
        after["told"] = with_told(contract, "clean")
    elif verdict.cls == "ALLOW-BUDGET":
        after.update(state=SPENT, changed_at=now)
    after["tickets"] = after["tickets"] + [t for t in verdict.tickets if t not in after["tickets"]]
    crons = [digest(c["prompt"]) for c in stop.crons if isinstance(c.get("prompt"), str)]
    after["crons"] = [d for d in contract["crons"] if d not in crons][-50:] + crons[-50:]
    return contract if after == contract else after


def with_told(contract, notice):
    return contract["told"] if notice in contract["told"] else contract["told"] + [notice]


def items_in(contract, *states):
    return [item for item in contract["items"] if item["state"] in states]


def made_progress(contract, stop, evidence):
    """Was there work since the last hold? The client's stop_hook_active cannot tell (HOST 3)."""
    if any(item.get("evidence") and item.get("closed_at", 0) >= contract["block_at"] > 0
           for item in items_in(contract, DONE)):
        return True
    if evidence.readable:
        return bool(evidence.work)
    return digest(fold(stop.message or "")) != contract["message"]


def step_host(case):
    """The client's own notice of an error or a limit is the whole message: the model cannot act on a hold."""
    text = fold(case.stop.message or "")
    if len(text) < 300 and text.startswith(HOST_NOTICES):
        return "ALLOW-BLOCKER", "the client reports an error or a limit"
    return None


def step_paused(case):
    return ("ALLOW-PAUSED", "") if case.contract["state"] == PAUSED else None


def step_plan(case):
    """In plan mode only the operator can approve. A mode that the agent entered by itself is held once."""
    if case.stop.mode != "plan":
        return None
    if case.contract["prompt_mode"] == "plan":
        return "ALLOW-PLAN", "the operator's own prompt was in plan mode"
    if case.contract["plan_held"]:
        return "ALLOW-PLAN", "the agent entered plan mode by itself and stays there"
    return "BLOCK", "plan mode was entered by the agent, not by the operator"


def step_budget(case):
    spent = case.contract["spent_at"]
    return ("ALLOW-BUDGET", "") if 0 < spent <= case.now else None


def work_owes(case):
    """Nothing owed: no open item and no contradiction in the message."""
    if items_in(case.contract, OPEN) or case.stop.hits:
        return None
    if case.stop.blocker:
        return "ALLOW-BLOCKER", case.stop.blocker
    wakes = wakes_of(case) if case.stop.waits else ()
    if wakes:
        return "ALLOW-WAITING", "", wakes
    if case.stop.advisory:
        return "ADVISORY", ", ".join(hit[0] for hit in case.stop.advisory)
    return "ALLOW-CLEAN", ""


def work_excuses(case):
    """Owed, but the end is legitimate all the same."""
    owed, stop = items_in(case.contract, OPEN), case.stop
    asks_only = all(hit[1] in ASKING for hit in stop.hits)
    if stop.hits and asks_only and not owed:
        if items_in(case.contract, ESCALATED):
            return "ALLOW-ESCALATED", ", ".join(item["id"] for item in items_in(case.contract, ESCALATED))
        if case.contract["question"] and case.evidence.answered:
            return "ALLOW-DIALOGUE", ""
    if stop.waits:
        wakes = [w for w in wakes_of(case) if case.progress or w[0] not in case.contract["tickets"]]
        if wakes:
            return "ALLOW-WAITING", "", tuple(wakes)
    return None


def bounds_of_work(case):
    """The breaker: a stall, or too many holds for one prompt, ends the holding, visibly."""
    settings, contract = case.settings, case.contract
    if contract["blocks"] >= settings.blocks:
        return "ALLOW-DEGRADED", f"{plural(contract['blocks'], 'hold')} since the operator's last prompt"
    if not case.progress and (contract["degraded"] or contract["streak"] >= settings.stalls):
        return "ALLOW-DEGRADED", f"{plural(contract['streak'], 'hold')} in a row without work between them"
    return None


# mode: what it owes, what excuses an owed end, what bounds its holds. A new mode is one row.
MODES = {"work": (work_owes, work_excuses, bounds_of_work)}


def wakes_of(case):
    """((ticket, words), ...) for each thing the client itself says will wake this session. Schedules need no ticket."""
    wakes = []
    for task in case.stop.tasks:
        if task.get("status", "running") != "running" or (case.settings.print_mode and task.get("type") != "subagent"):
            continue
        name = one_line(str(task.get("description") or task.get("command") or ""), 60)
        wakes.append((str(task.get("id")), f"{task.get('type', 'task')} {task.get('id')} {name}".rstrip()))
    for cron in () if case.settings.print_mode else case.stop.crons:
        wait = cron_wait(cron.get("schedule"), case.now)
        if wait is not None and wait <= case.settings.wakeup_hours * 3600:
            wakes.append(("", f"schedule {cron.get('id')} in {span_words(wait)}"))
    return tuple(wakes)


def hear(contract, prompt, settings, now):
    """(contract, Answer) after a prompt of the operator. CONTRACT is None if there is none or it has ended."""
    heard = prompt.heard
    intent = heard["command"][0] if heard["intent"] == "command" else heard["intent"]
    before = contract
    if contract:
        contract = after_prompt(contract, prompt, now)
    if intent == "arm":
        return arm(contract, prompt, settings, now)
    if heard["intent"] == "command":
        return obey(contract, before, prompt, settings, now)
    if not contract:
        return None, Answer()
    if intent == "disarm":
        return released(contract, now, "the operator's prompt"), Answer(
            system=say("released", contract), context=context("released by the operator; turns end freely again."))
    if intent == "pause":
        return {**contract, "state": PAUSED, "changed_at": now}, Answer(
            system=say("paused", contract), context=context("paused by the operator; turns may end until the next prompt "
                                                            "that is no question."))
    if contract["state"] == PAUSED:
        if heard["question"]:
            return contract, Answer(context=context("paused by the operator; turns may end."))
        resumed = {**contract, "state": ARMED, "changed_at": now}
        return resumed, Answer(system=say("resumed", contract), context=describe(resumed, settings, now, "resumed"))
    return contract, Answer(context=steady(contract))


def after_prompt(contract, prompt, now):
    """The operator has spoken: stalls and bounds begin anew."""
    return {**contract, "streak": 0, "blocks": 0, "degraded": False, "plan_held": False, "prompt_at": now,
            "prompt_mark": prompt.size, "prompt_mode": prompt.mode, "question": prompt.heard["question"]}


def arm(contract, prompt, settings, now):
    """Arm a session, or amend the contract that binds it already."""
    heard, fresh = prompt.heard, contract is None
    if fresh:
        contract = {**CONTRACT, "session": prompt.session, "armed_at": now, "mark": prompt.size,
                    "prompt_at": now, "prompt_mark": prompt.size, "prompt_mode": prompt.mode}
    after = {**contract, "state": ARMED, "changed_at": now, "question": False,
             "condition": one_line(heard["condition"]) or contract["condition"],
             "spent_at": budget_end(heard["budget"], now) or contract["spent_at"]}
    for text in heard["items"]:
        after = add_item(after, text, "prompt", now)[0]
    word = "armed" if fresh else "amended" if after["condition"] != contract["condition"] else "armed already"
    return after, Answer(system=say(word, after, now), context=describe(after, settings, now, word))


def obey(contract, before, prompt, settings, now):
    """The language-free form: `contract: stop`, `pause`, `status`. Answered without a model turn."""
    word = prompt.heard["command"][0]
    if word in ("stop", "disarm") and contract:
        return released(contract, now, "contract: stop"), Answer(halt=say("released", contract))
    if word == "pause" and contract:
        return {**contract, "state": PAUSED, "changed_at": now}, Answer(halt=say("paused", contract))
    if word in ("resume", "continue") and contract:
        return {**contract, "state": ARMED, "changed_at": now}, Answer(halt=say("resumed", contract))
    if word in ("stop", "disarm", "pause", "resume", "continue"):
        return contract, Answer(reply=f"{NAME}: nothing is armed in this session.")
    if word == "status":
        return before, Answer(reply=status_text(before, now))
    return before, Answer(reply=f"{NAME}: `contract:` takes stop, pause, resume, status or arm until ..., "
                                f"not {one_line(' '.join(prompt.heard['command'][1:]) or 'nothing', 40)!r}.")


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
    counts = ((plural(len(items_in(contract, OPEN)), "item") + " open", OPEN),) + tuple(
        (f"{len(items_in(contract, state))} {state}", state) for state in (DONE, WAIVED, ESCALATED, HANDED_OFF))
    return ", ".join(text for text, state in counts if items_in(contract, state))


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
    lines.append(f"Ledger: `{settings.command} item add TEXT`, `item done ID --evidence KIND:VALUE`, "
                 "`item waive ID --reason R`, `item list`.")
    lines.append(f"The operator's policy for forks ({settings.policy_file or 'as shipped'}):\n{settings.policy}")
    return "\n".join(lines)


def item_lines(contract, most):
    owed = items_in(contract, OPEN)
    lines = [f"open {item['id']}: {item['text']}" for item in owed[:most]]
    return lines + ([f"and {len(owed) - most} more open"] if len(owed) > most else [])


def block_text(contract, stop, verdict, settings):
    """The reason for a hold, for the model: the first after arming with the policy, all within their limits."""
    first = "policy" not in contract["told"]
    owed = items_in(contract, OPEN)
    lines = [HELD, "condition: " + cut(quoted(contract), 400 if first else 160)]
    if verdict.why:
        lines.append(f"seen: {cut(verdict.why, 120)}")
    if stop.hits:
        seen = {}
        for rule, family, *_ in stop.hits:
            seen.setdefault(family, []).append(rule)
        lines.append(cut("seen: " + "; ".join(f"{f} ({', '.join(dict.fromkeys(r))})" for f, r in seen.items()), 200))
    room = 180 if first else 120
    lines.extend(cut(line, room) for line in item_lines(contract, 3 if first else 1))
    ways = "ways on: the work itself"
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
    reasons = list(dict.fromkeys(hit[1] for hit in stop.hits)) or ([verdict.why] if verdict.why else [])
    if verdict.owed:
        reasons.append(tally(contract))
    return (f"{NAME}: turn held ({'; '.join(reasons)}). \"stop\" releases, or in another terminal: "
            f"{settings.command} disarm --session {contract['session']}")


def allow_line(contract, verdict):
    """The operator's line for a turn that is let go; "" where the class is silent."""
    rests = tally(contract) and f" Ledger: {tally(contract)}."
    if verdict.cls == "ALLOW-CLEAN" and "clean" in contract["told"] and not items_in(contract, WAIVED, ESCALATED):
        return ""
    text = ALLOWS.get(verdict.cls, "")
    return text and f"{NAME}: " + text.format(condition=quoted(contract), why=verdict.why, ledger=rests,
                                              wakes=", ".join(verdict.wakes))


def fault_line(kind, **facts):
    return f"{NAME}: " + FAULTS[kind].format(**facts)


def status_text(contract, now):
    """One session's contract in a few lines."""
    if not contract:
        return f"{NAME}: nothing is armed in this session."
    lines = [f"  {item['id']} {item['state']}: {item['text']}" for item in contract["items"]]
    # The one line that says it all comes last: typed during a turn, the client shows only that one.
    return "\n".join(lines + [
        f"{NAME}: {contract['state']}, since {span_words(now - contract['armed_at'])}: {quoted(contract)}; "
        f"{tally(contract) or 'no items'}; {plural(contract['blocks'], 'hold')} since your last prompt"
        + ("; degraded" if contract["degraded"] else "")])


def log_record(contract, cls, now, identity, **facts):
    """One line of the log: what was decided or changed, never what was said."""
    return {"time": clock(now), "class": cls, "session": contract["session"], "identity": identity,
            "state": contract["state"], "mode": contract["mode"], "owed": len(items_in(contract, OPEN)),
            "streak": contract["streak"], "blocks": contract["blocks"], **facts}


# --- shell ---------------------------------------------------------------------------------------

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
    home = environ.get("HOME", "")
    if not home.startswith("/") and fs.__name__ == "posix":
        import pwd
        try:
            home = pwd.getpwuid(fs.getuid()).pw_dir
        except KeyError:
            home = ""
    home = home or environ.get("USERPROFILE", "")
    if not home:
        raise StoreError("no home directory is known: HOME is not set")
    return home.rstrip("/") + "/.claude"


def absolute(path, name):
    """PATH without its final slash; StoreError if it depends on the working directory."""
    if fs.__name__ == "posix" and not path.startswith("/"):
        raise StoreError(f"{name} is not an absolute path: {path!r}")
    return path.rstrip("/") or "/"


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
        fs.close(fd)


def write_all(fd, data):
    while data:
        data = data[fs.write(fd, data):]


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

    def load(self, name):
        return load_contract(read_file(self.contract_path(name), LIMITS["contract"]), name)

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
            fs.close(self.lock_fd)
            self.lock_fd = None

    def make(self):
        """The store's directories, private to the operator."""
        for path in (self.contracts, self.logs):
            try:
                fs.stat(path)
            except OSError:
                try:
                    self.make_tree(path)
                except OSError as error:
                    raise StoreError(f"cannot make {path}: {error.strerror}") from None

    def make_tree(self, path):
        try:
            fs.mkdir(path, 0o700)
        except FileExistsError:
            pass
        except FileNotFoundError:
            self.make_tree(path.rpartition("/")[0])
            fs.mkdir(path, 0o700)

    def save(self, contract, durable=False):
        """Write CONTRACT whole or not at all (in the lock). DURABLE waits for the disk: for changes a person made."""
        name = contract["session"]
        path, temporary = self.contract_path(name), f"{self.contracts}/.{name}.tmp"
        data = dump_json({**contract, "revision": contract["revision"] + 1}).encode() + b"\n"
        try:
            fd = fs.open(temporary, fs.O_WRONLY | fs.O_CREAT | fs.O_TRUNC | getattr(fs, "O_NOFOLLOW", 0), 0o600)
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
        aside = f"{path}.broken-{int(now)}"
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
                    fs.replace(path, path[:-len("jsonl")] + "1.jsonl")
                    fs.close(fd)
                    fd, size = fs.open(path, fs.O_RDWR | fs.O_APPEND | fs.O_CREAT, 0o600), 0
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
        """Remove what ended sessions left more than LIMITS["sweep"] seconds ago; armed and paused ones never."""
        for entry in fs.listdir(self.contracts):
            path = f"{self.contracts}/{entry}"
            name = entry[:-len(".json")] if entry.endswith(".json") else ""
            try:
                if now - fs.stat(path).st_mtime < LIMITS["sweep"]:
                    continue
                if name and self.load(name).kind == "ok" and self.load(name).contract["state"] not in LIVE:
                    for path in (path, self.log_path(name), f"{self.logs}/{name}.1.jsonl"):
                        fs.unlink(path)
                elif ".json.broken-" in entry:
                    fs.unlink(path)
            except (OSError, StoreError):
                continue        # another process was faster, or it is not ours to remove


def read_tail(path, limit, start=0):
    """(bytes, offset, size) of the end of PATH, at most LIMIT bytes and not before START; bytes is None if unreadable."""
    try:
        fd = fs.open(path, fs.O_RDONLY | getattr(fs, "O_NONBLOCK", 0) | getattr(fs, "O_BINARY", 0))
    except (OSError, ValueError):
        return None, 0, 0
    try:
        status = fs.fstat(fd)
        if status.st_mode & 0o170000 != 0o100000:       # a fifo or a device would never end
            return None, 0, 0
        size = status.st_size
        start = max(start if start <= size else 0, size - limit)      # one that shrank is read anew
        fs.lseek(fd, start, 0)
        data = b""
        while len(data) < size - start:
            piece = fs.read(fd, size - start - len(data))
            if not piece:
                break
            data += piece
        return data, start, size
    except OSError:
        return None, 0, 0
    finally:
        fs.close(fd)


def file_size(path):
    """The size of a transcript in bytes, 0 if there is none yet."""
    try:
        return fs.stat(path).st_size if isinstance(path, str) and path else 0
    except (OSError, ValueError):
        return 0


def transcript_evidence(path, contract):
    """Evidence from the end of the transcript at PATH, as far back as the contract's marks and the bound reach."""
    if not isinstance(path, str) or not path:
        return Evidence()
    start = max(0, min(contract["mark"], contract["prompt_mark"]))
    data, offset, size = read_tail(path, LIMITS["transcript"], start)
    if data is None:
        return Evidence()
    if size < start:
        contract = {**contract, "mark": 0, "prompt_mark": 0}
    rows = rows_of(data, offset, offset == start or offset == 0)
    if data and not rows and offset > start:
        return Evidence()                       # one line longer than the bound: nothing can be said
    return read_evidence(rows, contract, size)


class Reply(Record):
    """What a run prints and how it exits."""

    fields = {"code": 0, "out": "", "err": ""}


def tell(text, cls=0, **answer):
    """A Reply that carries TEXT to the operator."""
    body = {**({"systemMessage": text} if text else {}), **answer}
    return Reply(out=dump_json(body) if body else "")


class Hook:
    """One hook call: the payload, the store, the clock and the operator's settings."""

    def __init__(self, payload, environ, now):
        self.payload, self.environ, self.now = payload, environ, now
        self.observe = environ.get("SESSION_CONTRACT", "").strip().lower() == "observe"
        self.name = session_file(payload.get("session_id"))
        self.notes = []

    def run(self):
        """Dispatch on the event. Whatever this program cannot answer is let go and said."""
        event = self.payload.get("hook_event_name")
        if self.payload.get("agent_id"):
            return Reply()                      # a subagent: its turns are its caller's business
        if event not in EVENTS:
            return Reply() if event in QUIET_EVENTS else tell(fault_line("event", why=one_line(repr(event), 60)))
        try:
            self.store = Store(store_dir(self.environ))
            return getattr(self, EVENTS[event])()
        except StoreError as error:
            return tell(fault_line("store", why=error, then="Let go." if event == "Stop" else "Not gated."))

    def settings(self):
        """The operator's settings; what is wrong with their file is told and the defaults stand."""
        values = {"observe": self.observe, "command": own_command(), "print_mode": self.environ.get(
            "CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk") or self.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"}
        for name, read in (("config.json", read_config), ("phrases.json", read_phrases), ("policy.md", read_policy)):
            path = f"{self.store.path}/{name}"
            try:
                data = read_file(path, 1 << 20)
                if data is not None:
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

    # -- SessionStart

    def on_start(self):
        """Give the description back after a resume or a compaction. Never arms."""
        if not self.name:
            return Reply()
        loaded = self.store.load(self.name)
        if loaded.kind not in ("none", "ok"):
            return tell(self.fault_of(loaded))
        if not loaded.contract or loaded.contract["state"] not in LIVE:
            return Reply()
        contract, settings = loaded.contract, self.settings()
        age = span_words(self.now - contract["armed_at"])
        text = describe(contract, settings, self.now, f"{contract['state']} {age} ago")
        return self.answer("SessionStart", Answer(context=text, system=(
            f"{NAME}: {contract['state']} since {age}: {quoted(contract)}"
            f"{tally(contract) and ' (' + tally(contract) + ')'}. \"stop\" releases.")))

    # -- UserPromptSubmit

    def on_prompt(self):
        """Hear the operator. Exit 0 whatever happens: exit 2 here would erase the prompt."""
        text = self.payload.get("prompt")
        if not isinstance(text, str) or not text:
            return Reply()
        loaded = self.store.load(self.name) if self.name else Loaded()
        gated = loaded.kind == "malformed" or (loaded.kind == "ok" and loaded.contract["state"] in LIVE)
        if not gated and not may_matter(text, False):
            return Reply()
        words = self.operator_words(text, loaded.contract)
        settings = self.settings()
        heard = read_prompt(words, gated, settings.own, settings.off) if words else None
        if not heard or not (gated or heard["intent"]):
            return Reply()
        if not self.name:
            return tell(fault_line("session", why=one_line(repr(self.payload.get("session_id")), 60)))
        if loaded.kind in ("foreign", "newer"):
            return tell(self.fault_of(loaded))
        if loaded.kind == "malformed":
            return self.on_broken(loaded, heard, settings)
        return self.change(heard, settings)

    def operator_words(self, text, contract):
        """The part of a prompt that the operator typed, "" if a machine wrote it."""
        source = self.payload.get("source")
        if source is not None and source not in OPERATOR_SOURCES:
            return ""
        if contract and source is None and digest(text) in contract["crons"]:
            return ""           # a scheduled prompt comes back without any mark (HOST 11)
        return human_part(text)

    def change(self, heard, settings):
        """Apply what was heard, under the lock, and answer."""
        try:
            with self.store.locked():
                loaded = self.store.load(self.name)
                contract = loaded.contract if loaded.kind == "ok" and loaded.contract["state"] in LIVE else None
                prompt = Prompt(heard=heard, mode=str(self.payload.get("permission_mode") or ""), session=self.name,
                                size=file_size(self.payload.get("transcript_path")))
                after, answer = hear(contract, prompt, settings, self.now)
                if after is not None and after != contract:
                    after = self.with_keys(after)
                    changed = contract is None or after["state"] != contract["state"] or answer.system
                    self.store.save(after, durable=bool(changed))
                    if changed:
                        self.log_change(after, heard)
                if contract is None and after is not None:
                    self.store.sweep(self.now)
        except StoreError as error:
            what = {"arm": "NOT ARMED", "disarm": "NOT RELEASED", "pause": "NOT PAUSED"}.get(heard["intent"], "not saved")
            return tell(fault_line("store", why=f"{what}: {error}", then="This session is as it was before."))
        return self.answer("UserPromptSubmit", answer)

    def log_change(self, contract, heard):
        rule = heard["rule"] or heard["intent"]
        self.store.log(log_record(contract, "CHANGE", self.now, self.identity(), event="UserPromptSubmit", rules=[rule]))

    def on_broken(self, loaded, heard, settings):
        """A prompt while the contract file is malformed: a release sets the file aside."""
        words = heard["command"] or (heard["intent"],)
        if words[0] not in ("disarm", "stop"):
            return self.answer("UserPromptSubmit", Answer(system=self.fault_of(loaded)))
        with self.store.locked():
            aside = self.store.set_aside(self.name, self.now)
            ended = {**CONTRACT, "session": self.name, "state": DISARMED}
            self.store.log(log_record(ended, "CHANGE", self.now, self.identity(), event="UserPromptSubmit",
                                      rules=[heard["rule"]]))
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
        malformed = loaded.why if loaded.kind == "malformed" else ""
        if malformed:
            last = self.store.last_record(self.name)
            if last.get("state") in STATES and last["state"] not in LIVE:
                return tell(fault_line("ended", path=self.store.contract_path(self.name), why=malformed))
        return self.judge(malformed)

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
        evidence = transcript_evidence(self.payload.get("transcript_path"), contract)
        stop, fault = self.read_stop(evidence, contract, settings)
        if fault and not items_in(contract, OPEN) and not malformed:
            verdict = Verdict(cls="ALLOW-FAULT", why=fault)
            return self.spoken(contract, contract, stop, verdict, settings, self.recorded(contract, verdict, stop, evidence))
        try:
            with self.store.locked():
                fresh = self.contract_now(malformed)
                if fresh["state"] not in LIVE:
                    return Reply()              # released in the meantime: that is the last word
                if (fresh["mark"], fresh["prompt_mark"]) != (contract["mark"], contract["prompt_mark"]):
                    evidence = transcript_evidence(self.payload.get("transcript_path"), fresh)
                contract = fresh
                verdict = decide(contract, stop, evidence, settings, self.now, malformed)
                if settings.observe:
                    first = {**contract, "streak": 0, "blocks": 0, "degraded": False}
                    verdict = decide(first, stop, evidence, settings, self.now, malformed)
                    verdict = verdict.replace(cls="WOULD-BLOCK") if verdict.holds else verdict
                after = contract if settings.observe and verdict.cls == "WOULD-BLOCK" else next_contract(
                    contract, stop, evidence, verdict, self.now)
                after = self.with_keys(after)
                if after != contract and not malformed:
                    self.store.save(after, durable=after["state"] != contract["state"])
                self.log_verdict(after, verdict, stop, evidence)
        except StoreError as error:
            verdict = unsaved(decide(contract, stop, evidence, settings, self.now, malformed), evidence, stop, settings)
            return self.spoken(contract, contract, stop, verdict, settings, f"{error}; the decision is not on record.")
        return self.spoken(contract, after, stop, verdict, settings, "")

    def contract_now(self, malformed):
        """The contract to judge by. For a malformed file: a blank one that counts on from the log."""
        loaded = self.store.load(self.name)
        if loaded.kind == "ok":
            return loaded.contract
        if not malformed:
            return {**CONTRACT, "session": self.name, "state": DISARMED}        # gone since it was first looked for
        last = self.store.last_record(self.name)
        counts = {k: last[k] for k in ("streak", "blocks", "mark") if type(last.get(k)) is int}
        return {**CONTRACT, "session": self.name, **(counts if last.get("class") == "BLOCK-MALFORMED" else {})}

    def read_stop(self, evidence, contract, settings):
        """(Stop, fault): the payload read, the message from the transcript where the host left it out."""
        payload, fault = self.payload, ""
        message = payload.get("last_assistant_message")
        if "last_assistant_message" not in payload:
            message = evidence.text
            if message is None:
                fault = "the Stop carried no last_assistant_message and the transcript shows none"
        message = message if isinstance(message, str) else ""
        seen = read_turn(message, evidence.turn_calls, settings.own, settings.off) if message else {}
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

    def log_verdict(self, contract, verdict, stop, evidence):
        self.store.log(log_record(
            contract, verdict.cls, self.now, self.identity(), event="Stop", rules=list(verdict.rules),
            why=verdict.why, digest=digest(stop.message or ""), mark=evidence.size,
            **({"advisory": [hit[0] for hit in stop.advisory]} if stop.advisory else {})))

    def spoken(self, before, after, stop, verdict, settings, fault):
        """The Reply for a decision. A systemMessage goes with every hold: without it the client lets some go (HOST 12)."""
        notes = [f"{NAME}: {note}" for note in self.notes] + ([f"{NAME}: {fault}"] if fault else [])
        if verdict.holds:
            text = block_text(before, stop, verdict, settings)
            line = "\n".join([hold_line(before, stop, verdict, settings), *notes])
            return Reply(code=HOLD, out=dump_json({"systemMessage": line}), err=text)
        if verdict.cls == "ALLOW-FAULT":
            notes.insert(0, f"{NAME}: let go: {verdict.why}. Still armed: {quoted(before)}.")
        line = allow_line(before, verdict)
        return tell("\n".join([line] * bool(line) + notes))

    # -- all events

    def with_keys(self, contract):
        """CONTRACT with the payload's key names of this event, recorded once a session."""
        event = self.payload["hook_event_name"]
        if event in contract["keys"]:
            return contract
        return {**contract, "keys": {**contract["keys"], event: sorted(str(k)[:40] for k in self.payload)[:40]}}

    def fault_of(self, loaded):
        return fault_line(loaded.kind, path=self.store.contract_path(self.name), why=loaded.why)

    def answer(self, event, answer):
        """ANSWER as the JSON that EVENT understands."""
        if answer.reply:
            return tell("", decision="block", reason=answer.reply, hookSpecificOutput={
                "hookEventName": event, "suppressOriginalPrompt": True})
        if answer.halt:
            return tell("", **{"continue": False, "stopReason": answer.halt})
        system = "\n".join([answer.system] * bool(answer.system) + [f"{NAME}: {note}" for note in self.notes])
        more = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": answer.context}} if answer.context else {}
        return tell(system, **more)


EVENTS = {"SessionStart": "on_start", "UserPromptSubmit": "on_prompt", "Stop": "on_stop"}
QUIET_EVENTS = ("SessionEnd", "SubagentStop", "SubagentStart", "StopFailure", "PreToolUse", "PostToolUse",
                "PostToolUseFailure", "PreCompact", "PostCompact", "Notification", "PermissionRequest")


def unsaved(verdict, evidence, stop, settings):
    """VERDICT where the counters cannot be written: our own feedback in the transcript counts instead."""
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


def own_command():
    """How a shell calls this file: one word of an installed command, or the interpreter and the file."""
    import shlex
    return " ".join(shlex.quote(part) for part in (sys.executable or "python3", __file__))


def read_config(data, path):
    """Settings from config.json. ValueError with one line says what is wrong."""
    value, fault = parse_json(data)
    if fault or not isinstance(value, dict):
        raise ValueError(fault or "it is no JSON object")
    for name, given in value.items():
        if name not in SETTINGS:
            raise ValueError(f"unknown setting {name!r}; known are {', '.join(sorted(SETTINGS))}")
        if type(given) is not type(SETTINGS[name]) or (isinstance(given, int) and given < 1):
            raise ValueError(f"{name} must be a {type(SETTINGS[name]).__name__} of at least 1, not {given!r}")
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
    unknown = [rule for rule in value.get("off", ()) if rule not in RULE_IDS]
    if unknown:
        raise ValueError(f"off names no rule {unknown[0]!r}")
    return {"own": {name: given for name, given in value.items() if name != "off"}, "off": tuple(value.get("off", ()))}


def read_policy(data, path):
    text = data.decode("utf-8", "replace").strip()
    return {"policy": text, "policy_file": path} if text else {}


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


def run_hook(environ):
    """One hook call, from the environment and standard input to a Reply. The one place where failures end."""
    switch = environ.get("SESSION_CONTRACT", "").strip().lower()
    if switch in OFF_WORDS:
        return Reply()
    try:
        import time
        payload, fault = read_stdin()
        if fault:
            return tell(fault_line("payload", why=one_line(fault)))
        return Hook(payload, environ, int(time.time())).run()
    except Exception as error:      # fail open, and say so: an error of ours must never hold a turn or eat a prompt
        return tell(fault_line("program", why=one_line(f"{type(error).__name__}: {error}")))


def put(fd, text):
    """TEXT to FD in UTF-8, whatever the locale; a closed or full stream does not change the exit status."""
    try:
        write_all(fd, text.encode("utf-8", "replace"))
    except OSError:
        pass


# --- command line --------------------------------------------------------------------------------
# Off the hook path: these functions import what they like.

OPERATOR_VERBS = ("arm", "disarm", "pause")
ESCALATIONS = ("irreversible", "missing-requirement", "unresolvable-blocker")


class Refusal(Exception):
    """A command that cannot be carried out: one line with what, why and what to do. Exit status 1."""


def main(argv=None):
    """Without arguments: the hook. With arguments: a command. Never returns from a hook call."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments:
        return run_command(arguments)
    if fs.isatty(0):
        put(1, HELP.format(name=NAME, version=__version__, prog=own_command()) + "\n")
        return 0
    reply = run_hook(environment())
    put(1, reply.out)
    put(2, reply.err)
    fs._exit(reply.code)        # past the interpreter's own shutdown, which costs a sixth of its start and can change the status


def run_command(arguments):
    """Carry out one command; its exit status: 0 done, 1 refused or failed, 64 wrong usage."""
    import os
    import time
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
    parser = argparse.ArgumentParser(prog=NAME, description="Hold a Claude Code turn open while work is owed.")
    parser.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", required=True)

    def verb(name, run, text, session=True):
        sub = verbs.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        if session:
            sub.add_argument("--session", help="session id (default: CLAUDE_CODE_SESSION_ID)")
            sub.add_argument("--last", action="store_true", help="the session whose contract changed last")
        return sub

    sub = verb("status", cmd_status, "show the contract of a session")
    sub.add_argument("--all", action="store_true", help="every session in the store")
    sub.add_argument("--json", action="store_true")
    sub = verb("log", cmd_log, "show what was decided and why")
    sub.add_argument("--json", action="store_true")
    sub = verb("arm", cmd_arm, "arm a session (operator)")
    sub.add_argument("condition", nargs="*", help="what must hold before the session may stop")
    verb("disarm", cmd_disarm, "release a session (operator)")
    verb("pause", cmd_pause, "let turns end until the next prompt (operator)")
    verb("policy", cmd_policy, "print the decision policy in force", session=False)
    sub = verb("explain", cmd_explain, "show how a message or a prompt is read, rule by rule", session=False)
    sub.add_argument("file", nargs="?", default="-", help="a file, or - for standard input")
    sub.add_argument("--prompt", action="store_true", help="read it as the operator's prompt, not as a turn's end")
    item_parser(verb("item", None, "the ledger of what is owed", session=False))
    verb("demo", cmd_demo, "play an arming, a hold, an honest end and a release in a scratch folder", session=False)
    return parser


def item_parser(parser):
    verbs = parser.add_subparsers(dest="item_verb", metavar="COMMAND", required=True)

    def verb(name, run, text, *arguments):
        sub = verbs.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        for argument in arguments:
            sub.add_argument(argument, **({"required": True} if argument.startswith("--") else {}))
        sub.add_argument("--session", help="session id (default: CLAUDE_CODE_SESSION_ID)")
        sub.add_argument("--last", action="store_true", help="the session whose contract changed last")
        return sub

    verb("add", cmd_item_add, "add one unit of work", "text")
    verb("done", cmd_item_done, "close an item with evidence", "id").add_argument(
        "--evidence", action="append", required=True, metavar="KIND:VALUE", help="command:, file:, url: or note:")
    verb("waive", cmd_item_waive, "give an item up, with the reason", "id", "--reason")
    verb("escalate", cmd_item_escalate, "name an item that only the operator can lift", "id", "--reason").add_argument(
        "--class", dest="kind", choices=ESCALATIONS, required=True)
    verb("list", cmd_item_list, "show the ledger")


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


def contracts_in(store):
    """Every readable contract in the store."""
    import os
    try:
        names = sorted(os.listdir(store.contracts))
    except OSError:
        return []
    loaded = [store.load(name[:-len(".json")]) for name in names if name.endswith(".json") and not name.startswith(".")]
    return [found.contract for found in loaded if found.kind == "ok"]


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
        raise Refusal(f"{verb} is the operator's: type it as a prompt (`contract: {verb}`) or run it in another terminal")


def change_contract(args, environ, now, change, what):
    """Apply CHANGE(contract) to a session's contract under the lock, on record; the contract after it."""
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    with store.locked():
        before = live_contract(store, name)
        after = change(before)
        if after != before:
            store.save(after, durable=True)
            hook = Hook({}, environ, now)
            store.log(log_record(after, "CHANGE", now, hook.identity(), event="command", rules=[what]))
    return after


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
        print(json.dumps(found, indent=1))
    elif not found:
        print(f"{NAME}: no contract ({store.path})")
    for contract in () if args.json else found:
        print(f"session {contract['session']}\n{status_text(contract, now)}")


def cmd_log(args, environ, now):
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    for path in (f"{store.logs}/{name}.1.jsonl", store.log_path(name)):
        for line in (read_file(path, 16 << 20) or b"").split(b"\n"):
            record, fault = parse_json(line) if line else (None, "empty")
            if fault or not isinstance(record, dict):
                continue
            if args.json:
                print(dump_json(record))
            else:
                rules = ", ".join(record.get("rules") or ()) or record.get("why") or "-"
                print(f"{record.get('time')}  {record.get('class', '?'):18} owed {record.get('owed')}  "
                      f"streak {record.get('streak')}  {record.get('state')}  {rules}")


def cmd_arm(args, environ, now):
    only_operator(environ, "arm")
    store = Store(store_dir(environ))
    name = session_of(args, environ, store)
    hook = Hook({}, environ, now)
    hook.store = store
    settings = hook.settings()
    heard = {**NOTHING_HEARD, "intent": "arm", "rule": "command", "condition": " ".join(args.condition)}
    with store.locked():
        loaded = store.load(name)
        if loaded.kind not in ("ok", "none"):
            raise Refusal(fault_line(loaded.kind, path=store.contract_path(name), why=loaded.why))
        live = loaded.contract if loaded.kind == "ok" and loaded.contract["state"] in LIVE else None
        after, answer = hear(live, Prompt(heard=heard, session=name), settings, now)
        after = {**after, "origin": "command"}
        store.save(after, durable=True)
        store.log(log_record(after, "CHANGE", now, hook.identity(), event="command", rules=["arm"]))
    print(answer.system)


def cmd_disarm(args, environ, now):
    only_operator(environ, "disarm")
    print(say("released", change_contract(args, environ, now, lambda c: released(c, now, "command"), "disarm")))


def cmd_pause(args, environ, now):
    only_operator(environ, "pause")
    print(say("paused", change_contract(
        args, environ, now, lambda c: {**c, "state": PAUSED, "changed_at": now}, "pause")))


def cmd_policy(args, environ, now):
    hook = Hook({}, environ, now)
    hook.store = Store(store_dir(environ))
    settings = hook.settings()
    print(f"# {settings.policy_file or 'as shipped'}\n{settings.policy}")
    for note in hook.notes:
        print(f"# {note}")


def cmd_explain(args, environ, now):
    data = sys.stdin.buffer.read() if args.file == "-" else read_file(args.file, LIMITS["payload"])
    if data is None:
        raise Refusal(f"no such file: {args.file}")
    hook = Hook({}, environ, now)
    hook.store = Store(store_dir(environ))
    settings, text = hook.settings(), data.decode("utf-8", "replace").replace("\r\n", "\n")
    rows = explain_prompt(text, settings) if args.prompt else explain_message(text, settings)
    for row in rows + [f"note: {note}" for note in hook.notes]:
        print(row)


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


def cmd_item_add(args, environ, now):
    made = {}

    def change(contract):
        after, made["item"] = add_item(contract, args.text, "command", now)
        return after

    if not one_line(args.text):
        raise Refusal("an item needs a text")
    change_contract(args, environ, now, change, "item add")
    print(f"{made['item']['id']} open: {made['item']['text']}")


def close_command(args, environ, now, state, **facts):
    def change(contract):
        try:
            return close_item(contract, args.id, state, now, **facts)
        except KeyError:
            known = ", ".join(item["id"] for item in contract["items"]) or "none"
            raise Refusal(f"no item {args.id}; the ledger has {known}") from None
        except ValueError as error:
            raise Refusal(f"{error}; nothing changed") from None

    change_contract(args, environ, now, change, f"item {state}")
    print(f"{args.id} {state}")


def cmd_item_done(args, environ, now):
    evidence = []
    for given in args.evidence:
        kind, colon, value = given.partition(":")
        if kind not in ("command", "file", "url", "note") or not value.strip():
            raise Refusal(f"evidence {given!r} is not KIND:VALUE; kinds are command, file, url, note")
        evidence.append({"kind": kind, "value": one_line(value)})
    close_command(args, environ, now, DONE, evidence=evidence)


def reason_of(args):
    reason = one_line(args.reason)
    if not any(c.isalnum() for c in reason):
        raise Refusal("the reason is empty; say why in a few words")
    return reason


def cmd_item_waive(args, environ, now):
    close_command(args, environ, now, WAIVED, reason=reason_of(args))


def cmd_item_escalate(args, environ, now):
    close_command(args, environ, now, ESCALATED, reason=reason_of(args), escalation=args.kind)


def cmd_item_list(args, environ, now):
    store = Store(store_dir(environ))
    contract = live_contract(store, session_of(args, environ, store))
    for item in contract["items"]:
        facts = [f"{e['kind']}:{e['value']}" for e in item.get("evidence", ())] + [item.get("reason", "")]
        print(f"{item['id']}  {item['state']:10} {item['text']}" + "".join(f"  [{fact}]" for fact in facts if fact))
    if not contract["items"]:
        print("no items")


DEMO = (
    ("the operator types", "UserPromptSubmit", {"prompt": "Port the exporters, don't stop until the suite is green."}),
    ("the agent ends its turn", "Stop", {"last_assistant_message": "40 of 265 are ported, 225 remain. Continuing."}),
    ("the agent ends its turn", "Stop", {"last_assistant_message": "All 265 exporters are ported; the suite is green."}),
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
            print(f"--- {who}: {next(iter(fields.values()))}")
            print(f"{event}: exit {run.returncode}")
            for name, text in (("stdout", run.stdout), ("stderr", run.stderr)):
                if text:
                    print(f"{name}: {text.decode('utf-8', 'replace').rstrip()}")


if __name__ == "__main__":
    sys.exit(main())
