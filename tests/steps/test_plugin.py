"""A new step is one file and one test: the example of docs/extending.md, added from outside by an entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/extending.md").read_text(encoding="utf-8"), re.DOTALL)
SCENARIO = """
name: Shrink the MTU of a broker's host
hypothesis: Records are only late.
topics: {orders: {}}
probes: {writer: {produce: {topic: orders, rate: 100/s}}}
timeline:
  - at: 10s
    shrink_mtu: {target: "leader(orders, 0)", mtu: MTU}
    for: 20s
"""


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    """A folder with an installed package of somebody else's, that brings the step and its test."""
    (step,) = [block for block in BLOCKS if "class ShrinkMtu" in block]
    (test,) = [block for block in BLOCKS if "def test_" in block]
    package, info = tmp_path / "acme_chaos", tmp_path / "acme_chaos-1.0.dist-info"
    for folder in (package, info):
        folder.mkdir()
    (package / "__init__.py").touch()
    (package / "shrink_mtu.py").write_text(step)
    (tmp_path / "test_shrink_mtu.py").write_text(test.replace("chaosk.steps.shrink_mtu", "acme_chaos.shrink_mtu"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-chaos\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[chaosk.steps]\nshrink_mtu = acme_chaos.shrink_mtu\n")
    return tmp_path


def python(site_packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with that package installed."""
    path = os.pathsep.join([str(site_packages), str(ROOT / "tests")])
    # The pytest below is another one, of which nobody wants the coverage
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLIPCOVER")}
    env = {**kept, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, *arguments], env=env, cwd=site_packages, capture_output=True, text=True, check=False
    )


def validate(site_packages: Path, mtu: str) -> subprocess.CompletedProcess[str]:
    """Validate a scenario that uses the step."""
    file = site_packages / "scenario.yaml"
    file.write_text(SCENARIO.replace("MTU}", f"{mtu}}}"))
    return python(site_packages, "-m", "chaosk", "validate", str(file))


def test_the_test_shown_passes(site_packages: Path) -> None:
    """The test of that page tests its step."""
    done = python(
        site_packages, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(site_packages),
        str(site_packages / "test_shrink_mtu.py"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9] passed", done.stdout)


def test_the_step_is_listed_and_described(site_packages: Path) -> None:
    """Its name is its file's name, its keys are its fields, its text is its docstring."""
    assert "shrink_mtu" in python(site_packages, "-m", "chaosk", "list", "steps").stdout
    page = python(site_packages, "-m", "chaosk", "list", "steps", "shrink_mtu").stdout
    assert "mtu" in page
    assert "at: 10s" in page


def test_a_scenario_may_use_it(site_packages: Path) -> None:
    """Accepted where it is right, refused with place and reason where not, like a step of chaosk's own."""
    good = validate(site_packages, "600")
    assert good.returncode == 0, good.stderr
    bad = validate(site_packages, "60")
    assert bad.returncode == 64
    assert re.search(r"scenario.yaml:\d+:\d+: .*mtu", bad.stdout + bad.stderr)


def test_without_the_package_the_step_is_unknown(site_packages: Path) -> None:
    """It is the entry point that brings it, and nothing else."""
    (site_packages / "acme_chaos-1.0.dist-info" / "entry_points.txt").unlink()
    bad = validate(site_packages, "600")
    assert bad.returncode == 64
    assert "shrink_mtu" in bad.stdout + bad.stderr


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("class NoStep: pass\n", "acme_chaos.shrink_mtu: defines 0 classes that are a Step"),
        ("import no_such_module\n", "acme_chaos.shrink_mtu: the plugin cannot be imported: ModuleNotFoundError"),
        ("def broken(:\n", "acme_chaos.shrink_mtu: the plugin cannot be imported: SyntaxError"),
    ],
)
def test_a_plugin_that_fits_no_contract_stops_the_program(site_packages: Path, damage: str, said: str) -> None:
    """With its name, and no traceback."""
    (site_packages / "acme_chaos" / "shrink_mtu.py").write_text(damage)
    done = python(site_packages, "-m", "chaosk", "list", "steps")
    assert done.returncode == 64, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plugin_cannot_take_the_name_of_another_step(site_packages: Path) -> None:
    """Two steps of one name would make a scenario mean either."""
    (site_packages / "acme_chaos" / "shrink_mtu.py").rename(site_packages / "acme_chaos" / "wait.py")
    entry_points = site_packages / "acme_chaos-1.0.dist-info" / "entry_points.txt"
    entry_points.write_text("[chaosk.steps]\nwait = acme_chaos.wait\n")
    done = python(site_packages, "-m", "chaosk", "list", "steps")
    assert done.returncode == 64
    assert "acme_chaos.wait: there is a 'wait' already" in done.stderr
