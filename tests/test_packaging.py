"""The wheel: built from this tree, installed into an empty environment, and used there as a stranger would."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from analysis.history import small_run
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sample_run import sample_run

from chaosk import __version__
from chaosk.core.errors import ExitCode
from chaosk.document import shipped

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]
ROOT = Path(__file__).parents[1]
OURS = {"chaosk", "pydantic-core", "py4j", "-typeshed"}
"""Declared in another way: the package itself, what pydantic and PySpark bring in one exact version, mypy's own."""
SCENARIO = """
name: Kill the leader
hypothesis: Nothing acknowledged is lost.
topics:
  orders: {partitions: 6, replication_factor: 3}
probes:
  writer: {produce: {topic: orders, rate: 500/s, config: {acks: all}}}
timeline:
  - at: 10s
    kill_broker: {target: "leader(orders, 0)"}
    for: 30s
"""


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with none of this environment's Python settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "COV"))}
    return subprocess.run(words, cwd=cwd, env=kept, capture_output=True, text=True, timeout=800, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the build backend that pyproject.toml names."""
    folder = tmp_path_factory.mktemp("dist")
    build = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    assert build.returncode == 0, build.stdout + build.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def chaosk(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``chaosk`` of an empty environment that only the wheel was installed into, its needs as the lock has them."""
    folder = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", folder, cwd=folder).returncode == 0
    pip = (folder / "bin" / "pip", "install", "--quiet", "--use-pep517", "--disable-pip-version-check")
    install = run(*pip, "--constraint", ROOT / "requirements.lock", wheel, cwd=folder)
    assert install.returncode == 0, install.stderr
    return folder / "bin" / "chaosk"


@pytest.mark.packaging
def test_it_names_its_version_and_its_subcommands(chaosk: Path, tmp_path: Path) -> None:
    """The console script is there and finds every subcommand in the installed package."""
    shown = run(chaosk, "--help", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    commands = {path.stem for path in (ROOT / "chaosk" / "cli").glob("[a-z]*.py")} - {"main"}
    listed = shown.stdout.partition("Commands:")[2]
    assert commands
    assert set(re.findall(r"^  ([a-z]\S*)", listed, re.MULTILINE)) == commands
    assert run(chaosk, "--version", cwd=tmp_path).stdout == f"chaosk, version {__version__}\n"


@pytest.mark.packaging
def test_python_dash_m_is_the_same_program(chaosk: Path, tmp_path: Path) -> None:
    """``python -m chaosk`` is there for who has no scripts folder on the path."""
    by_module = run(chaosk.with_name("python"), "-m", "chaosk", "--help", cwd=tmp_path)
    assert by_module.stdout == run(chaosk, "--help", cwd=tmp_path).stdout


@pytest.mark.packaging
def test_it_validates_a_scenario(chaosk: Path, tmp_path: Path) -> None:
    """Steps, probes and targets are found as plugins of the installed package: a good file passes."""
    (tmp_path / "good.yaml").write_text(SCENARIO, encoding="utf-8")
    answer = run(chaosk, "validate", "good.yaml", cwd=tmp_path)
    assert answer.returncode == ExitCode.PASS, answer.stderr


@pytest.mark.packaging
def test_it_refuses_a_wrong_scenario(chaosk: Path, tmp_path: Path) -> None:
    """A misspelt step is answered with its place and the nearest known one, and exit code 64."""
    (tmp_path / "bad.yaml").write_text(SCENARIO.replace("kill_broker", "kil_broker"), encoding="utf-8")
    answer = run(chaosk, "validate", "bad.yaml", cwd=tmp_path)
    said = answer.stdout + answer.stderr
    assert answer.returncode == ExitCode.USAGE
    assert re.search(r"bad\.yaml:10:5: .*kill_broker", said), said
    assert "Traceback" not in said


@pytest.mark.packaging
def test_its_scenarios_travel_with_it(chaosk: Path, tmp_path: Path) -> None:
    """All of them are listed and copied without a checkout, and the copies are valid; so is the example inventory."""
    listed = run(chaosk, "scenarios", "list", cwd=tmp_path)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [*shipped.scenarios()]
    copied = run(chaosk, "scenarios", "copy", "brokers", "zookeeper-leader-stop", "--to", "mine", cwd=tmp_path)
    files = copied.stdout.split()
    assert "mine/brokers/kill-the-leader.yaml" in files
    assert run(chaosk, "validate", *files, cwd=tmp_path).returncode == ExitCode.PASS
    installed = next(chaosk.parents[1].glob("lib/*/site-packages/chaosk/examples/inventory/vms-example.yaml"))
    assert run(chaosk, "validate", installed, cwd=tmp_path).returncode == ExitCode.PASS


@pytest.mark.packaging
@pytest.mark.spark
def test_it_judges_a_recorded_run(chaosk: Path, tmp_path: Path) -> None:
    """A run directory from elsewhere is enough for a verdict: no cluster, no lab, no checkout."""
    run_directory = small_run(tmp_path / "run").root
    first = run(chaosk, "analyze", run_directory, cwd=tmp_path)
    assert first.returncode == ExitCode.PASS, first.stdout + first.stderr
    assert json.loads((run_directory / "verdict.json").read_bytes())["verdict"] == "pass"


@pytest.mark.packaging
def test_it_reports_a_judged_run(chaosk: Path, tmp_path: Path) -> None:
    """The templates are in the wheel: the report of a run that was judged before is one file that needs no network."""
    run_directory = sample_run(tmp_path / "run").root
    answer = run(chaosk, "report", run_directory, cwd=tmp_path)
    assert answer.returncode == ExitCode.PASS, answer.stderr
    page = (run_directory / "report.html").read_text(encoding="utf-8")
    assert "</html>" in page
    assert not re.search(r"""(src|href)=["']?https?:""", page)


@pytest.mark.packaging
def test_the_wheel_holds_the_package_whole(wheel: Path) -> None:
    """Every file of the package that git knows is in it, data and type marker too, and nothing else is."""
    tracked = subprocess.run(["git", "ls-files", "chaosk"], cwd=ROOT, capture_output=True, text=True, check=True)
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert set(tracked.stdout.split()) <= inside
    assert {name for name in inside if not name.startswith("chaosk/")} == set()
    assert "chaosk/py.typed" in inside


def test_every_import_is_a_declared_dependency() -> None:
    """What the package imports is named in pyproject.toml, not only there because something else needs it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    allowed = {canonicalize_name(Requirement(line).name) for line in declared} | OURS
    owners = packages_distributions()
    imported = {name for path in (ROOT / "chaosk").rglob("*.py") for name in imports(path)} - sys.stdlib_module_names
    undeclared = {name for name in imported if not allowed & set(map(canonicalize_name, owners.get(name, [name])))}
    assert undeclared == set()


def imports(path: Path) -> set[str]:
    """The top-level packages that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    relative = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in plain | relative}
