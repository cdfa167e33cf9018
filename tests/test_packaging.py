"""The package: what is in it, and that installing by it is installing by the file."""
import email
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

import session_contract as sc
from conftest import ARMING, FILE, OWING, PATIENCE, ROOT, Run, held, told

NEEDED = ("build", "flit_core", "pip")


def run(*line, stdin=b"", cwd=None, **environ):
    done = subprocess.run(line, input=stdin, cwd=cwd, env={**os.environ, **environ}, timeout=3 * PATIENCE, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return Run(done.returncode, done.stdout, done.stderr)


def done(*line, **more):
    """What a command that must succeed has printed."""
    finished = run(*line, **more)
    assert finished.code == 0, finished
    return finished.out.decode()


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """The folder with the sdist, and the wheel that was built from the sdist; a warning on the way is an error."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the package is not built here: no {', '.join(missing)} (pip install -e '.[test]' brings them)")
    folder = tmp_path_factory.mktemp("dist")
    said = run(sys.executable, "-W", "error", "-m", "build", "--no-isolation", "--outdir", str(folder), ROOT)
    assert said.code == 0 and "warning" not in (said.out.decode() + said.err).lower(), said
    return folder


@pytest.fixture(scope="session")
def wheel(dist):
    return zipfile.ZipFile(str(next(dist.glob("*.whl"))))


@pytest.fixture
def package(dist, tmp_path):
    """A venv with nothing but the wheel in it."""
    venv.create(str(tmp_path / "venv"))
    python = str(tmp_path / "venv" / "bin" / "python")
    done(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps",
         "--disable-pip-version-check", str(next(dist.glob("*.whl"))))
    return tmp_path / "venv"


def test_the_wheel_holds_the_module_and_its_description(wheel):
    info = f"session_contract-{sc.__version__}.dist-info"
    assert [name for name in wheel.namelist() if not name.startswith(info)] == ["session_contract.py"]
    assert wheel.read("session_contract.py") == open_bytes(FILE)
    facts = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert (facts["Name"], facts["Version"], facts["License-Expression"]) == ("session-contract", sc.__version__, "MIT")
    assert facts["Requires-Python"] == ">=3.9"
    assert not [need for need in facts.get_all("Requires-Dist") if "extra ==" not in need]
    assert b"session-contract=session_contract:main" in wheel.read(f"{info}/entry_points.txt").replace(b" ", b"")


def open_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_the_version_stands_in_one_place():
    written = [name for name in ("session_contract.py", "pyproject.toml")
               if f'version__ = "{sc.__version__}"'.encode() in open_bytes(os.path.join(ROOT, name))
               or f'version = "{sc.__version__}"'.encode() in open_bytes(os.path.join(ROOT, name))]
    assert written == ["session_contract.py"]


def test_the_sdist_holds_every_file_of_the_tree(dist):
    asked = run("git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    if asked.code != 0 or not os.path.exists(os.path.join(ROOT, ".git")):
        pytest.skip("this tree is no checkout: there is no list to compare with")
    with tarfile.open(str(next(dist.glob("*.tar.gz")))) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()} - {"PKG-INFO"}
    assert names == set(asked.out.decode().split("\n")) - {""}


def files_under(folder):
    """{path: bytes} of an installation; bytecode, which depends on the time, by its name."""
    return {str(path.relative_to(folder)): b"" if path.suffix == ".pyc" else path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("way", ["its script", "a link to its script, as pipx makes one", "python -m"])
def test_installing_by_the_package_is_installing_by_the_file(package, tmp_path, way):
    home = tmp_path / "home"
    (home / ".local" / "bin").mkdir(parents=True)
    script, link = package / "bin" / "session-contract", home / ".local" / "bin" / "session-contract"
    link.symlink_to(script)
    line = {"its script": [str(script)], "python -m": [str(package / "bin" / "python"), "-m", "session_contract"]}.get(
        way, [str(link)])
    clean = {name: "" for name in ("CLAUDECODE", "CLAUDE_CONFIG_DIR", "PYTHONPATH")}
    place = {"HOME": str(home), "cwd": str(home), **clean}
    done(sys.executable, FILE, "install", **place)
    by_file = files_under(home / ".claude")
    done(sys.executable, FILE, "uninstall", **place)
    done(*line, "install", **place)
    by_package = files_under(home / ".claude")
    assert by_package == by_file and len(by_file) > 5
    launcher = home / ".claude" / "session-contract-hook" / "hook"
    python = sc.launcher_python(launcher.read_text())
    assert python and str(package) not in os.path.realpath(python) and str(package) not in launcher.read_text()
    shutil.rmtree(str(package))                                 # the package goes, the hook stays
    payload = b'{"hook_event_name": "%s", "session_id": "s1", "cwd": "/", "%s": "%s"}'
    told(run("sh", str(launcher), stdin=payload % (b"UserPromptSubmit", b"prompt", ARMING.encode()), **place), "armed")
    held(run("sh", str(launcher), stdin=payload % (b"Stop", b"last_assistant_message", OWING.encode()), **place))


def test_the_package_answers_as_the_file_does(package):
    script = str(package / "bin" / "session-contract")
    assert done(script, "--version") == f"session-contract {sc.__version__}\n"
    assert run(script, "nonsense").code == 64
    assert run(script, stdin=b"{}").code == 0


def test_tests_of_the_sdist_pass_where_it_was_unpacked(dist, tmp_path):
    with tarfile.open(str(next(dist.glob("*.tar.gz")))) as packed:
        packed.extractall(str(tmp_path), **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    tree = tmp_path / f"session_contract-{sc.__version__}"
    done(sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "tests/test_docs.py", cwd=str(tree),
         PYTEST_ADDOPTS="", PYTHONPATH="")          # no test at all would be exit 5
    assert (tree / ".ci" / "run").stat().st_mode & 0o111
