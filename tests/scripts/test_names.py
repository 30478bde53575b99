"""What names a file on a host is a name, not a path; and what a host tells is told letter by letter."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from sample_documents import INVENTORY, SCENARIO, written

from chaosk.core.errors import UsageError
from chaosk.document import load_inventory, load_scenario
from chaosk.hosts import lease
from chaosk.hosts.scripts import script
from chaosk.planning.plan import Plan, make
from chaosk.spec.inventory import Inventory

BAD = ("../../escaped", "..", ".", "a/b", "/etc/passwd", "run/../../escaped")
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the scripts keep what they keep, in place of the host's own folder; deep, so that nothing can get out."""
    place = tmp_path / "a" / "b" / "c" / "chaosk"
    place.mkdir(parents=True)
    return place


def run(home: Path, name: str, *words: str, shell: str = "sh") -> subprocess.CompletedProcess[str]:
    """A script with that home."""
    text = script(name).replace("/var/lib/chaosk", str(home))
    argv = [*(["busybox", "sh"] if shell == "busybox" else [shell]), "-c", text, "chaosk", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30, stdin=subprocess.DEVNULL)


def tree(root: Path) -> set[Path]:
    """All there is below a folder."""
    return set(root.rglob("*"))


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("action", ["arm", "renew", "under", "heal", "disarm", "halt", "undoing"])
def test_a_lease_has_a_name_and_no_path(tmp_path: Path, home: Path, action: str, name: str) -> None:
    """A run directory from elsewhere cannot make root write or remove files that are not chaosk's."""
    precious = home.parent / "escaped"
    precious.write_text("mine")
    before = tree(tmp_path)
    done = run(home, "lease", action, name, "1")
    assert done.returncode == 1
    assert "no such id" in done.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("action", ["take", "keep", "leave"])
def test_a_run_that_holds_the_lock_has_a_name_and_no_path(tmp_path: Path, home: Path, action: str, name: str) -> None:
    """The same for the lock."""
    before = tree(tmp_path)
    done = run(home, "lock", action, name, "1", "me")
    assert done.returncode == 1
    assert "no such id" in done.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", [*BAD, "", "-rf", "a b", "a\nb", "$(id)", "x" * 200])
def test_no_plan_has_such_a_run(tmp_path: Path, name: str) -> None:
    """`chaosk heal RUN_DIR` reads the run's id from a file that anybody may have written."""
    inventory = load_inventory(written(tmp_path, INVENTORY, "inventory.yaml"))
    assert isinstance(inventory, Inventory)
    right = make(load_scenario(written(tmp_path, SCENARIO)), inventory, run_id="run-1.x_Y", seed=7).to_json()
    assert Plan.from_json(right).run_id == "run-1.x_Y"
    with pytest.raises(UsageError, match=r"plan\.json is damaged"):
        Plan.from_json(json.dumps({**json.loads(right), "run_id": name}))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_lease_is_listed_letter_by_letter(home: Path, shell: str) -> None:
    r"""A user called CORP\nina, with quotes in it: one line, and read back as it was. Some shells' echo reads \n."""
    about = {"run": "run-1", "entry": "kill", "targets": 'it\'s "broker 0"', "by": r"CORP\nina\c\0101@desk"}
    folder = home / "leases" / "run-1.kill"
    folder.mkdir(parents=True)
    (folder / "about").write_text(json.dumps(about) + "\nrun-2.cut armed 9.00 {}\n")
    done = run(home, "lease", "list", shell=shell)
    (held,) = lease.held("node1", done.stdout)
    assert (held.id, held.about) == ("run-1.kill", about)


@pytest.mark.parametrize("shell", SHELLS)
def test_who_holds_the_lock_is_told_letter_by_letter(home: Path, shell: str) -> None:
    """To who asks, and to who is refused."""
    holder = r"the run run-1 of CORP\nina\c@desk"
    assert run(home, "lock", "take", "run-1", "30", holder, shell=shell).returncode == 0
    assert run(home, "lock", "show", shell=shell).stdout.endswith(f" {holder}\n")
    assert holder in run(home, "lock", "take", "run-2", "30", "x", shell=shell).stderr
