"""The files for CI servers: they keep to the servers' schemas, and their shell commands do what they are there for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from sample_documents import SCENARIO
from sample_gate import gate, measured, unreachable

from chaosk.campaign.gate.choice import choose
from chaosk.campaign.gate.record import NAME, save
from chaosk.core.errors import ExitCode

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "docs" / "ci"
ONE_AT_A_TIME = {"github-actions.yml": "concurrency", "gitlab-ci.yml": "resource_group", "Jenkinsfile": "lock("}


def shells(name: str) -> dict[str, str]:
    """The shell of a file by what it is for: install, gate, halt, and what else there is."""
    text = (FOLDER / name).read_text("utf-8")
    if name == "github-actions.yml":
        steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
        found = [step["run"] for step in steps if "run" in step]
    elif name == "gitlab-ci.yml":
        job = yaml.safe_load(text)["resilience"]
        found = ["\n".join(job[part]) for part in ("before_script", "script", "after_script")]
    else:
        found = re.findall(r"sh '''\n(.*?)'''", text, re.DOTALL)
    marks = {"install": "pip install", "gate": "chaosk gate", "halt": "chaosk halt", "summary": "gate.md"}
    return {what: shell for what, mark in marks.items() for shell in found if mark in shell}


def variables(name: str) -> set[str]:
    """The variables that a file sets for its commands."""
    text = (FOLDER / name).read_text("utf-8")
    return {
        word
        for word in ("SCENARIOS", "INVENTORY", "BASELINE")
        if re.search(rf"^\s+{word}( =|:) ?\S", text, re.MULTILINE)
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository as the files expect it, of a cluster that is nowhere; `chaosk` is installed in it."""
    home = tmp_path / "resilience"
    (home / "scenarios").mkdir(parents=True)
    named = yaml.safe_load(SCENARIO) | {"name": "Kill"}
    (home / "scenarios" / "kill.yaml").write_text(yaml.safe_dump(named), "utf-8")
    unreachable(home).rename(home / "staging.yaml")
    (chosen,) = choose([home / "scenarios"], {}, (), (1, 1))
    save(home, gate(*measured([10.0, 11.0, 12.0, 13.0, 14.0], digest=chosen.scenario.digest)))
    (home / NAME).rename(home / "baseline.json")
    program = tmp_path / ".chaosk" / "bin" / "chaosk"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m chaosk "$@"\n')
    program.chmod(0o755)
    return tmp_path


def test_they_say_the_same() -> None:
    """One gate, one lock against a second one; only what the servers want differs."""
    said = {
        next(line.strip() for line in shells(name)["gate"].splitlines() if "gate" in line) for name in ONE_AT_A_TIME
    }
    assert len(said) == 1, said
    for name, lock in ONE_AT_A_TIME.items():
        assert variables(name) == {"SCENARIOS", "INVENTORY", "BASELINE"}
        assert lock in (FOLDER / name).read_text("utf-8")


def test_the_gate_is_run_as_it_is_written(checkout: Path) -> None:
    """Shell, options and files fit: each of the five runs is refused by its preflight, and the gate ends with that.

    The summary finds its file, and each halt reaches for the cluster and says that it is not healed.
    """
    settings = {
        "PATH": f"{checkout}/.chaosk/bin:{os.environ['PATH']}", "HOME": str(checkout), "CI_JOB_STATUS": "canceled",
        "SCENARIOS": "resilience/scenarios", "INVENTORY": "resilience/staging.yaml",
        "BASELINE": "resilience/baseline.json", "GITHUB_STEP_SUMMARY": str(checkout / "summary"),
    }  # fmt: skip

    def play(what: str, name: str = "github-actions.yml") -> subprocess.CompletedProcess[str]:
        words = ["sh", "-e", "-c", shells(name)[what]]
        return subprocess.run(words, cwd=checkout, env=settings, capture_output=True, text=True, check=False)

    done = play("gate")
    assert done.returncode == ExitCode.PREFLIGHT, done.stdout + done.stderr
    assert "5 of 5: Kill (run 5 of 5)" in done.stdout
    (folder,) = (checkout / "gates").iterdir()
    assert {NAME, "gate.md", "junit.xml"} <= {each.name for each in folder.iterdir()}
    assert play("summary").returncode == 0
    assert (checkout / "summary").read_text("utf-8") == (folder / "gate.md").read_text("utf-8")
    for name in ONE_AT_A_TIME:
        halted = play("halt", name)
        assert (halted.returncode, "node1" in halted.stdout + halted.stderr) == (ExitCode.NOT_HEALED, True)


@pytest.mark.parametrize("name", ONE_AT_A_TIME)
def test_what_is_installed_is_the_wheel(name: str) -> None:
    """The package of the variable, into a folder of the checkout, whose programs come first."""
    shell = shells(name)["install"]
    assert '.chaosk/bin/pip install --quiet "$CHAOSK_WHEEL"' in shell
    done = subprocess.run(["sh", "-n", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\.chaosk/bin[:\"]", (FOLDER / name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "schema"), [("github-actions.yml", "github-workflows"), ("gitlab-ci.yml", "gitlab-ci")]
)
def test_the_servers_would_take_it(name: str, schema: str) -> None:
    """The schema that is published for such files knows every word of it, and refuses one that is not there."""
    check = [shutil.which("check-jsonschema") or "check-jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*check, FOLDER / name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
