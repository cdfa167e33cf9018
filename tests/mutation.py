"""Mutation testing of the functions that read and decide: mutmut on a copy of the tree under build/, by section.

    python tests/mutation.py                        every section; what has been judged and has not changed stands
    python tests/mutation.py deciding               one; --again judges all of it anew, --left what no test noticed
    python tests/mutation.py --figures              what the last runs found

mutmut starts pytest for every mutant. Most of that time would go into collecting the tests, so they are collected once
here, and each mutant's process begins behind that. What mutmut mutates, runs and records is its own affair.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sys
from collections import Counter

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, "build", "mutation")        # a section's own place is a folder in it
MODULE = "session_contract.py"
SECTIONS = ("records", "reading", "deciding")
# The same told to the real process, what only measures time, waits, starts processes, or looks at the source.
LEFT_OUT = ("not (in_the_process or real_process or in_proportion or megabytes or a_lock_that or foreign_lock "
            "or demonstration or does_not_end or reached_or_named or lock_dies or client_killed)")
TESTS = ["parts", "decide", "reading", "texts", "ledger", "modes", "store", "commands", "hook"]
NOTICED = ("killed", "timeout")

# Mutants that no test can notice: functions ("" any), a pattern of the changed line, why. What no row explains, figures
# names.
SPARES = "a test that only spares work is always made, or never"
NOWHERE = "two places that never fall together"
UNREAD = "a value that is only asked whether it is there"
BOUND = "a bound that nothing reaches"
EQUAL = (
    ("", r"\b(?:and False|or True)\b", SPARES),
    ("", r"XX(?:\\u[0-9a-f]{4}|\\[tnr\"]|[\W\d_])*XX",
     "a capital X among signs that lowered text is searched for, or in a default"),
    ("", r'"UTF-8"', "the coding's name in capitals"),
    ("units_by_scope own_hits judged placed", r"(?:else|return) -2\b", UNREAD),
    ("rule_spans led", r", None\)", UNREAD),
    ("unfenced ran_well", r"\b(?:fence|seen) = None", UNREAD),
    ("dump_json", r"make_encoder|encode", "what the C encoder does not take the json module does"),
    ("one_line", r"rsplit\(None", "white space is single spaces by then"),
    ("span_words", r"seconds / size", "the whole part of a quotient"),
    ("cron_field", r"ValueError\(None", UNREAD),
    ("unfenced", r'""?, 1$', "set before it is read"),
    ("unfenced", r"fence\[1\]", "all signs of a fence are the same"),
    ("read_evidence", r"\], -2,|>= last_work", NOWHERE),
    ("contract_fault", r", 1\)\)", "a default whose type is asked for"),
    ("made_progress", r", 1\) >=|> 1 for", "no time is so early"),
    ("ran_well", r"\[:20\] >= ", "what it is compared with has 19 characters"),
    ("blocks_of", r'\("", [01], [01]\)', UNREAD),
    ("ends_here", r"at - 9", "no abbreviation is so long"),
    ("around", r"s\[1\] >= |a <= span\[1\]", NOWHERE),
    ("looks_other past_mark rule_spans condition_span", r'>= "', "no sign of a language stands there"),
    ("lifted", r"\(1, len", "a message that begins with a table"),
    ("read_turn", r'"waits" or may_fire', SPARES),
    ("human_part judged", r"close (?:<= 0|< 1)", "something stands before it"),
    ("human_part", r'"<" \+ tag, (?:None)?\)', "what stood before has been blanked"),
    ("own_phrases", r"at \+ 2", "a phrase that is told from itself by one character"),
    ("read_command", r":41\]", BOUND),
    ("read_prompt", r"hit\[2:5\]", NOWHERE),
    ("judged", r"missing\.add\(None", SPARES),
    ("find_hits", r"<= p\[1\]|p\[2\]", NOWHERE),
    ("rule_spans", r"<= part\[1\]|part\[2\]", NOWHERE),
    ("rule_spans", r'"(?:WHOLE|XXwholeXX)"', "found from the first sentence on"),
    ("rule_spans", r"range\(51\)|\+ 2$", BOUND),
    ("placed", r"at \+ 13", BOUND),
    ("led", r"at - 91\):|-6:", "no opener has six words, none begins there"),
    ("excuse_of", r"None, start|1, start|else 1 ", "a line's own beginning"),
    ("excuse_of", r"part\[2\]", "the mark behind a sentence holds no words"),
    ("excuse_of", r"a < b or|a <= b|get\(None", SPARES),
    ("terms", r"<= p\[2\]", NOWHERE),
    ("condition_span", r"None, |first, \)|\(low, a, \)|max\(cuts\) (?:>= 0|> 1)|return 1, 0",
     "the text ends there anyway"),
    ("items budget", r"part\[2\]", "the mark behind a sentence holds no words"),
    ("budget", r"else 100\)", BOUND),
    ("budget", r'"XX(?:ap|mм)', "no unit of time and no half of a day begins with a capital X"),
    ("is_question", r"12\]|\[:13\]|None, \)", "the first words are looked at"),
)
FIRST = "test_parts"    # what asks single functions; of these and of the others the quickest come first
MOST = 1000             # tests that a mutant is given: some functions are in every test
ROOM = 4 << 30          # bytes of memory a mutant may take
PATIENCE = 2, 20        # CPU seconds a test may take: so many, and so many times what it took without a mutant


def source():
    with open(os.path.join(ROOT, MODULE), encoding="utf-8") as file:
        return file.read()


def sections():
    """{name: its lines, from 0} of each section that is mutated."""
    lines = enumerate(source().split("\n"))
    heads = [(number, line.strip("# -")) for number, line in lines if line.startswith("# --- ")]
    return {name: range(number, end) for (number, name), (end, _) in zip(heads, heads[1:])
            if name.split(":")[0] in SECTIONS}


def parts(lines, place):
    """{file: text} of the module. Only LINES stand in the file that mutmut reads: it takes long over tables."""
    text = source().split("\n")
    run = "exec(compile(__import__('pathlib').Path({0!r}).read_text('utf-8'), {0!r}, 'exec'))"
    before, after = (os.path.join(place, f"{MODULE}.{name}") for name in ("before", "after"))
    return {before: "\n".join(text[:lines.start]), after: "\n".join(text[lines.stop:]),
            os.path.join(place, MODULE): "\n".join(
                [run.format(before), *text[lines.start:lines.stop], run.format(after), ""])}


def prepare(place, lines):
    """The copy of the tree. A module that has not changed is left as it is, so that mutmut need not read it again."""
    os.makedirs(place, exist_ok=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(os.path.join(ROOT, name), place)
    for name in ("tests", "examples"):
        for folder in (place, os.path.join(place, "mutants")):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, name), os.path.join(place, name),
                        ignore=shutil.ignore_patterns("__pycache__", "client"))
    for path, text in parts(lines, place).items():
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


class Collected:
    """mutmut's runner of tests, with the tests collected once."""

    mutant, failed = False, ""

    def prepare_main_test_run(self):
        self.home = os.getcwd()
        from _pytest.config import _prepareconfig
        from _pytest.main import Session
        import re
        re._MAXCACHE = 1 << 20      # the patterns that are compiled before the mutants' processes begin are theirs too
        os.chdir(os.path.join(self.home, "mutants"))
        config = _prepareconfig([
            "-o", "addopts=", "--basetemp", os.path.join(self.home, "tmp"), "-s", "-p", "no:cacheprovider",
            "-p", "no:terminal", "-p", "no:xdist", "--hypothesis-seed=0", "-k", LEFT_OUT,
            *(f"tests/test_{name}.py" for name in TESTS)], plugins=[self])
        config._do_configure()
        session = Session.from_config(config)
        config.hook.pytest_sessionstart(session=session)
        config.hook.pytest_collection(session=session)
        os.chdir(self.home)
        self.folders = config._tmp_path_factory
        self.folders.getbasetemp()
        self.items = {item.nodeid: item for item in session.items}

    def pytest_runtest_makereport(self, item, call):
        """In a mutant's process the first failure is the end. (To show it, pytest would parse all the mutants.)"""
        import pytest
        if self.mutant and call.excinfo and not call.excinfo.errisinstance(pytest.skip.Exception):
            self.leave(1)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed = report.longreprtext

    def leave(self, status):
        shutil.rmtree(self.place, ignore_errors=True)
        os._exit(status)

    def run(self, names, before=lambda item: None, after=lambda item: None):
        """1 with the first test that fails, else 0."""
        os.chdir(os.path.join(self.home, "mutants"))
        self.failed = ""
        for name in names or self.items:
            before(name)
            item = self.items[name]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            after(name)
            if self.failed:
                print(name, self.failed)
                break
        os.chdir(self.home)
        return int(bool(self.failed))

    def run_stats(self, *, tests):
        from mutmut.state import state
        from time import process_time
        known = state()

        def before(name):
            known._stats.clear()
            known.duration_by_test[name] = -process_time()

        def after(name):
            known.duration_by_test[name] += process_time()
            for function in known._stats:
                known.tests_by_mangled_function_name[function].add(name)

        return self.run(tests, before, after)

    def run_tests(self, *, mutant_name, tests):
        from mutmut.state import state

        def before(name):
            signal.setitimer(signal.ITIMER_PROF, PATIENCE[0] + PATIENCE[1] * state().duration_by_test[name])

        self.mutant = bool(mutant_name)
        if self.mutant:
            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
            signal.signal(signal.SIGPROF, lambda *_: self.leave(36))      # mutmut's status of a timeout
            self.place = os.path.join(self.home, "tmp", str(os.getpid()))
            os.makedirs(self.place)
            self.folders._basetemp = pathlib.Path(self.place)
            self.leave(self.run(sorted(tests, key=lambda name: FIRST not in name)[:MOST], before))
        return self.run(tests)

    def run_forced_fail(self):
        return self.run(())

    def list_all_tests(self):
        from mutmut.runners.harness import ListAllTestsResult
        return ListAllTestsResult(ids=set(self.items))


def explained(mutants, place):
    """{mutant: why no test can notice it, or ""}, by the difference that mutmut shows."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    home, reasons = os.getcwd(), {}
    os.chdir(place)
    for mutant in mutants:
        name = re.sub(r".*[.\u01c1]x?_?|__mutmut_\d+$", "", mutant)
        diff = [line for line in get_diff_for_mutant(mutant, path=MODULE).split("\n")[2:] if line.startswith("+")]
        reasons[mutant] = next((why for names, pattern, why in EQUAL if name in (names.split() or [name])
                                and any(re.search(pattern, line) for line in diff)), "")
    os.chdir(home)
    return reasons


def found_in(name):
    """{mutant: mutmut's word for what became of it} of a section."""
    from mutmut.stats import status_by_exit_code
    path = os.path.join(PLACE, folder_of(name), "mutants", MODULE + ".meta")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {key: status_by_exit_code[status] for key, status in json.load(file)["exit_code_by_key"].items()}


def folder_of(name):
    return name.replace(": ", "-").replace(" ", "-")


def figures():
    """Print what became of the mutants, by section, and which no test noticed; 0 if nine of ten were noticed."""
    counts, reasons = {}, Counter()
    for name in sections():
        found = found_in(name)
        counts[name] = Counter(found.values())
        unnoticed = [key for key, what in found.items() if what not in NOTICED]
        for key, why in explained(unnoticed, os.path.join(PLACE, folder_of(name))).items() if unnoticed else ():
            reasons[why] += 1
            if not why:
                print(f"{found[key]}: {key}")
    for why, count in reasons.most_common():
        print(f"{count:5}  {why or 'not explained'}")
    counts["all"] = sum(counts.values(), Counter())
    for name, count in counts.items():
        noticed, total = sum(count[what] for what in NOTICED), sum(count.values())
        print(f"{noticed / (total or 1):7.1%}  {name}: " + ", ".join(f"{n} {what}" for what, n in count.most_common()))
    return int(noticed < 0.9 * total)


def judge(name, again, left):
    """Run mutmut on one section, in a process of its own."""
    place = os.path.join(PLACE, folder_of(name))
    if again:
        shutil.rmtree(place, ignore_errors=True)
    prepare(place, sections()[name])
    os.chdir(place)
    import mutmut.__main__ as tool
    from mutmut.workers import isolation
    isolation.PytestRunner = Collected
    tool._run([key for key, what in found_in(name).items() if what not in NOTICED] if left else [], 2)


def main(arguments):
    os.environ["SESSION_CONTRACT_TEST_WITHIN"] = "only"
    names = [name for name in sections() if name in arguments] or list(sections())
    for name in () if "--figures" in arguments else names:
        child = os.fork()
        if not child:
            judge(name, "--again" in arguments, "--left" in arguments)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            return 2
    return figures()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
