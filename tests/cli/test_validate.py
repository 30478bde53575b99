"""`chaosk validate`: every mistake of every file, and the exit code for bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_documents import INVENTORY, SCENARIO, written
from sample_explore import SPACE

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode

ROOT = Path(__file__).parents[2]


def test_right_files_are_said_to_be_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scenarios, spaces, inventories and lab files, told apart by their keys, a line each."""
    scenario = written(tmp_path, SCENARIO, "scenario.yaml")
    inventory = written(tmp_path, INVENTORY, "inventory.yaml")
    lab = written(tmp_path, "lab: {}\n", "lab.yaml")
    space = written(tmp_path, SPACE, "space.yaml")
    assert main(["validate", str(scenario), str(space), str(inventory), str(lab)]) == ExitCode.PASS
    assert capsys.readouterr().out == f"{scenario}: ok\n{space}: ok\n{inventory}: ok\n{lab}: ok\n"


def test_all_mistakes_of_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One bad file does not hide another: each mistake has its line on stderr, right files are still said to be ok."""
    first = written(tmp_path, SCENARIO.replace("settle: 20s", "settle: 20").replace("at: 10s", "at: 10"), "a.yaml")
    right = written(tmp_path, SCENARIO, "b.yaml")
    second = written(tmp_path, INVENTORY.replace("port: 9093", "port: 0"), "c.yaml")
    assert main(["validate", str(first), str(right), str(second)]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert shown.out == f"{right}: ok\n"
    starts = [line.split(": ")[0] for line in shown.err.splitlines()]
    assert [start.rpartition("/")[2] for start in starts] == ["a.yaml:22:9", "a.yaml:40:9", "c.yaml:19:42"]


def test_set_reaches_the_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A value given on the command line is checked like one in the file."""
    path = str(written(tmp_path, SCENARIO))
    assert main(["validate", path, "--set", "hold=45s"]) == ExitCode.PASS
    assert main(["validate", path, "--set", "hold=45"]) == ExitCode.USAGE
    assert "timeline[0].for: '45' is not a duration" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "hold"], "write --set name=value"),
        (["--set", "=3"], "write --set name=value"),
        (["--set", "hold=1s", "--set", "hold=2s"], "hold is set twice"),
    ],
)
def test_what_is_no_assignment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """One clear message, with the exit code of a wrong command line."""
    assert main(["validate", str(written(tmp_path, SCENARIO)), *arguments]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_missing_file_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there is a mistake like any other; no file at all is a wrong command line."""
    assert main(["validate", str(tmp_path / "none.yaml")]) == ExitCode.USAGE
    assert "none.yaml:1:1: cannot be read: no such file" in capsys.readouterr().err
    assert main(["validate"]) == ExitCode.USAGE


def test_everything_shipped_is_valid() -> None:
    """The scenarios and inventories of this repository."""
    files = sorted(str(path) for folder in ("scenarios", "inventory") for path in (ROOT / folder).rglob("*.yaml"))
    assert len(files) >= 11
    assert main(["validate", *files]) == ExitCode.PASS


def test_it_is_light() -> None:
    """Checking a file needs neither Spark nor SSH nor plots: none of them is even loaded."""
    code = (
        "import sys; from chaosk.cli.main import main; main(['validate', 'scenarios/brokers/kill-the-leader.yaml']);"
        "print(sorted({'pyspark', 'paramiko', 'matplotlib', 'pyarrow', 'kafka'} & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown == "scenarios/brokers/kill-the-leader.yaml: ok\n[]\n"


def test_wrong_client_settings_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Librdkafka itself judges a probe's settings, without a broker: a typing mistake is found before a run."""
    for old, new in (("acks: all", "akcs: all"), ("acks: all", "acks: many"), ("acks: all", "bootstrap.servers: x")):
        assert main(["validate", str(written(tmp_path, SCENARIO.replace(old, new)))]) == ExitCode.USAGE
        shown = capsys.readouterr().err
        assert "probes.writer.produce" in shown
        assert new.split(":")[0] in shown
