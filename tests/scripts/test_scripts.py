"""The shell scripts that run on hosts."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files

import pytest

from chaosk.hosts.scripts import PARTS, UNPRIVILEGED, part, script

NAMES = sorted(
    path.name.removesuffix(".sh") for path in files("chaosk.hosts.scripts").iterdir() if path.name.endswith(".sh")
)
ACTIONLESS = {"discover", "examine", "state"}
"""They do one thing."""


@pytest.mark.parametrize("name", NAMES)
def test_the_linter_has_nothing_to_say(name: str) -> None:
    """Every script is plain POSIX shell without findings."""
    done = subprocess.run(
        ["shellcheck", "-s", "sh", "-"], input=part(name), capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shell", [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def test_every_shell_can_read_it(name: str, shell: str) -> None:
    """What a host calls `sh` differs."""
    words = [shell, "sh"] if shell == "busybox" else [shell]
    subprocess.run([*words, "-n", "-c", part(name)], check=True)


@pytest.mark.parametrize("name", sorted(PARTS.keys() - ACTIONLESS))
def test_an_unknown_action_is_refused(name: str) -> None:
    """A misspelt action fails rather than doing nothing."""
    done = subprocess.run(
        ["sh", "-c", script(name), "chaosk", "nonsense", "script", "/nonexistent", ""],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no such action: nonsense" in done.stderr


def test_every_file_is_part_of_a_script() -> None:
    """The tests above test something, and nothing lies about: each file is in some script, fail.sh in all."""
    assert {each for parts in PARTS.values() for each in parts} | {"fail", "gate", *UNPRIVILEGED} == set(NAMES)
