"""``./dev``, run for real on a small project of its own whose command line is called ``chaosk`` too."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
BUILD = ("hatchling", "editables", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers")
MORE = "iniconfig"
"""What only development needs here."""
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "chaosk"
version = "1"

[project.scripts]
chaosk = "chaosk:main"
"""
COMMAND = """
import os, sys

def main():
    print(os.getcwd(), sys.argv[1:], os.environ.get("JAVA_HOME", ""))
    sys.exit(3)
"""


def dev(project: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the project's ``./dev``."""
    return subprocess.run(
        [project / "dev", *words], cwd=cwd or project, capture_output=True, text=True, timeout=240, check=False
    )


def bare(folder: Path) -> Path:
    """A project that was never set up: the real ``./dev``, and of the real locks what an installation needs."""
    pins = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    wanted = [pin for pin in pins if pin.partition("==")[0] in BUILD]
    shutil.copy(ROOT / "dev", folder / "dev")
    (folder / "requirements.lock").write_text("\n".join(wanted) + "\n", encoding="utf-8")
    more = [pin for pin in pins if pin.partition("==")[0] == MORE]
    (folder / "requirements-dev.lock").write_text("\n".join(wanted + more) + "\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "chaosk").mkdir()
    (folder / "chaosk" / "__init__.py").write_text(COMMAND, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that ``./dev setup`` has set up; what it said is in the file ``said``."""
    folder = bare(tmp_path_factory.mktemp("project"))
    first = dev(folder, "setup")
    assert first.returncode == 0, first.stderr
    (folder / "said").write_text(first.stderr, encoding="utf-8")
    return folder


def test_help_names_every_command() -> None:
    """What the script's dispatch knows is what its help shows, and help needs no set-up."""
    script = (ROOT / "dev").read_text(encoding="utf-8")
    known = set(re.findall(r"^    ([a-z]+)\) setup|^    (setup)\)", script, re.MULTILINE))
    commands = {name for pair in known for name in pair if name}
    shown = dev(ROOT, "help")
    assert commands == {"run", "test", "chaosk", "bench", "docs", "setup", "lock", "audit"}
    assert set(re.findall(r"^\./dev ([a-z]+)", shown.stdout, re.MULTILINE)) == commands
    assert shown.returncode == 0


def test_an_unknown_command_is_bad_usage(tmp_path: Path) -> None:
    """Exit code 64, the help on standard error, and nothing is set up."""
    answer = dev(bare(tmp_path), "tset")
    assert (answer.returncode, answer.stdout) == (64, "")
    assert "./dev test" in answer.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.packaging
def test_setting_up_says_what_it_does(project: Path) -> None:
    """A person who waits knows what for."""
    said = (project / "said").read_text(encoding="utf-8").splitlines()
    assert [line for line in said if "Debian" not in line] == [
        f"dev: creating {project}/.venv",
        f"dev: installing {len(BUILD) + 1} Python packages (minutes, the first time)",
    ]


@pytest.mark.packaging
def test_what_is_set_up_need_not_be_compiled_at_each_start(project: Path) -> None:
    """There is bytecode of chaosk, also for those whose Python writes none (``PYTHONDONTWRITEBYTECODE``)."""
    assert list((project / "chaosk" / "__pycache__").glob("__init__.*.pyc"))


@pytest.mark.packaging
def test_with_nothing_to_do_it_is_silent_and_quick(project: Path) -> None:
    """The second time it prints nothing; the best of three takes under 0.3 s."""
    durations = []
    for _ in range(3):
        start = time.monotonic()
        again = dev(project, "setup")
        durations.append(time.monotonic() - start)
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert min(durations) < 0.3


@pytest.mark.packaging
def test_the_command_line_gets_words_folder_and_java(project: Path, tmp_path: Path) -> None:
    """Words are not split again, the caller's folder stays, and the exit code is the command's."""
    answer = dev(project, "chaosk", "run", "a b", "*", cwd=tmp_path)
    assert answer.returncode == 3
    assert answer.stdout.startswith(f"{tmp_path} ['run', 'a b', '*'] ")
    assert "java-17" in answer.stdout or "JAVA_HOME" in answer.stderr or not list(Path("/usr/lib/jvm").glob("java-17*"))


@pytest.mark.packaging
def test_a_changed_lock_is_installed(tmp_path: Path) -> None:
    """The stamp holds the lock's contents: another version in it is installed at the next command."""
    folder = bare(tmp_path)
    lock = folder / "requirements-dev.lock"
    assert dev(folder, "setup").returncode == 0
    lock.write_text(re.sub(r"pathspec==.*", "pathspec==0.12.1", lock.read_text(encoding="utf-8")), encoding="utf-8")
    again = dev(folder, "setup")
    assert f"installing {len(BUILD) + 1} Python packages" in again.stderr
    assert list(folder.glob(".venv/lib/python3.11/site-packages/pathspec-0.12.1.dist-info"))


@pytest.mark.packaging
def test_running_needs_less_than_developing(tmp_path: Path) -> None:
    """Whoever only runs chaosk waits for what that needs; the first command for development adds the rest, once."""
    folder = bare(tmp_path)
    there = f".venv/lib/python3.11/site-packages/{MORE}-*"
    assert f"installing {len(BUILD)} Python packages" in dev(folder, "chaosk").stderr
    assert not list(folder.glob(there))
    assert f"installing {len(BUILD) + 1} Python packages" in dev(folder, "setup").stderr
    assert list(folder.glob(there))
    assert [dev(folder, *words).stderr for words in (("chaosk",), ("setup",))] == ["", ""]


@pytest.mark.packaging
def test_a_failed_set_up_is_tried_again(tmp_path: Path) -> None:
    """After a failure there is no stamp, so the next command sets up again instead of running half-made."""
    folder = bare(tmp_path)
    lock = folder / "requirements.lock"
    good = lock.read_text(encoding="utf-8")
    lock.write_text(good + "hatchling==0.0.0\n", encoding="utf-8")
    assert dev(folder, "chaosk").returncode not in {0, 3}
    lock.write_text(good, encoding="utf-8")
    assert dev(folder, "chaosk").returncode == 3


@pytest.mark.packaging
def test_an_interrupted_set_up_leaves_nothing_running(tmp_path: Path) -> None:
    """Ctrl-C ends pip as well, though it runs in the background, and the next command sets up."""
    folder = bare(tmp_path)
    with subprocess.Popen([folder / "dev", "setup"], stderr=subprocess.PIPE, text=True, process_group=0) as first:
        assert first.stderr is not None
        assert any("creating" in line for line in first.stderr)
        while not (folder / ".venv" / "bin" / "python").exists():
            time.sleep(0.01)
        os.killpg(first.pid, signal.SIGINT)
        assert first.wait(10) != 0
    waited = time.monotonic()
    while subprocess.run(["pgrep", "-f", f"{folder}/.venv"], capture_output=True, check=False).returncode == 0:
        assert time.monotonic() - waited < 30
        time.sleep(0.1)
    assert not (folder / ".venv" / "bin" / "pip").exists(), "what made it was not ended, it ended by itself"
    assert dev(folder, "chaosk").returncode == 3


def test_ci_calls_the_command_of_the_readme() -> None:
    """CI runs what a developer runs, and only forbids what would go unseen."""
    words = [line.split() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
    assert words[-1] == ["exec", "./dev", "test", '"$@"']
    assert ["export", "CI=true"] in words
    assert "\n./dev test " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.packaging
def test_a_lock_that_lacks_something_is_named(tmp_path: Path) -> None:
    """Who adds a dependency and forgets the lock is told so, and can still call ``./dev lock``."""
    folder = bare(tmp_path)
    manifest = folder / "pyproject.toml"
    manifest.write_text(PROJECT.replace('version = "1"', 'version = "1"\ndependencies = ["pytest"]'), encoding="utf-8")
    answer = dev(folder, "setup")
    assert answer.returncode == 0
    assert "./dev lock writes it again: chaosk 1 requires pytest, which is not installed." in answer.stderr


def test_what_the_lab_needs_is_installed() -> None:
    """Every Debian package that the lab asks for where it is missing is one that ``./dev`` installs."""
    from chaosk.lab.runner import PACKAGES

    script = (ROOT / "dev").read_text(encoding="utf-8")
    lists = re.findall(r"packages\+?=\(([^)]*)\)", re.sub(r" #.*", "", script))
    installed = {word for words in lists for word in words.split()}
    assert set(PACKAGES.values()) <= installed
    assert len(lists) == 3, "of a run, of the tests, and of virtual machines"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_the_lock_names_no_place(name: str) -> None:
    """Exact versions only: no index, folder or address, so it serves wherever pip gets its packages from."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.lstrip().startswith("#")]
    assert pins
    assert [
        line for line in pins if not re.fullmatch(r"[a-z0-9._-]+(\[[a-z]+\])?==[A-Za-z0-9._+!]+( ;.*)?", line)
    ] == []
    assert not re.search(r"https?:|file:|^--|/(opt|root|home|tmp)/", "\n".join(lines), re.MULTILINE)


def test_the_lock_serves_the_project() -> None:
    """Every requirement of pyproject.toml is pinned, to a version it allows: nobody forgot ``./dev lock``."""
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [each for group in project["dependency-groups"].values() for each in group if isinstance(each, str)]
    assert {"include-group": "docs"} in project["dependency-groups"]["dev"]
    running = project["project"]["dependencies"] + project["dependency-groups"]["install"]
    pins = {name: _pins(name) for name in ("requirements.lock", "requirements-dev.lock")}
    for name, wanted in (("requirements.lock", running), ("requirements-dev.lock", running + groups)):
        needs = map(Requirement, wanted)
        lacking = [str(n) for n in needs if not n.specifier.contains(pins[name].get(n.name.lower(), "0"))]
        assert lacking == []
    assert pins["requirements.lock"].items() <= pins["requirements-dev.lock"].items()


def _pins(name: str) -> dict[str, str]:
    lock = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\n]+)", lock, re.MULTILINE))
