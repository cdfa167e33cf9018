"""What is said in these tests: by the operator, by the model, and by the hook in fragments that outlive rewording."""

# What the operator and the model say.
CONDITION = "the suite is green"
ARM = "Please fix the tests, and don't stop until %s" % CONDITION
UNFINISHED = "225 remain. Continuing."
STATUS = "contract: status"
FINISHED = "All 225 tests pass and the suite is green."
WAITS = "225 tests remain to be fixed. The suite is still running; I will continue when it finishes."
# A prompt that arms nothing.
WORK = "Please fix the tests"

# What the hook says: short pieces that stay when a text is reworded.
HELD = "session-contract: turn held."
HELD_FOR = 'condition: "%s"'
ARMED = 'armed: "%s"'
RELEASED = "released"
DEGRADED = "degraded"
PLAN = "plan"
WAITING = "wait"
INJECTED = "[session-contract] "
NAME = "session-contract"
LET_GO = "let go"
OPEN_ITEM = "open %s: %s"
VERIFIED = "(verified)"
ATTESTED = "(self-attested)"
# The client's own words before a context that SessionStart gave: they tell a restored text from an earlier one.
RESTORED = "SessionStart hook additional context: " + INJECTED


def held(requests):
    """For each request, whether it carries a refusal to end as its newest part."""
    return [HELD in request.news for request in requests]


def until_file(name):
    """A shell command that runs until the test leaves a file of that name in the project, and not for ever."""
    return "for n in $(seq 600); do [ -e %s ] && break; sleep 0.1; done; ls" % name
