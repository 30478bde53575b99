"""Root for the lab: other users run the same command under ``sudo -n``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from chaosk.core.errors import LabError
from chaosk.lab import runner
from chaosk.lab import state as places
from chaosk.spec.lab_layout import LabLayout


def is_root() -> bool:
    """Return whether this process is root."""
    return os.geteuid() == 0


def give_to_caller(path: Path) -> None:
    """Under sudo, give ``path`` to the calling user, so that chaosk can read it without root."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if user.isdecimal() and group.isdecimal():
        os.chown(path, int(user), int(group))


def command(words: Sequence[str]) -> list[str]:
    """Return the command that runs ``chaosk lab WORDS`` as root."""
    return ["sudo", "-n", *here(words)]


def here(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command that runs ``chaosk lab WORDS`` with this chaosk, independent of directory and environment."""
    source = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
    kept = {"PYTHONPATH": source, "CHAOSK_STATE": str(places.state_root())}  # sudo resets the environment
    return ("env", *(f"{name}={value}" for name, value in kept.items()), sys.executable, "-m", "chaosk", "lab", *words)


def as_root(words: Sequence[str], say: Callable[[str], object], stdin: str = "") -> str:
    """Run ``chaosk lab WORDS`` as root, pass its lines to ``say``, and return the last one. Raises LabError."""
    if shutil.which("sudo") is None:
        raise LabError("the lab needs root; run chaosk as root, or do: apt-get install sudo")
    if runner.attempt(["sudo", "-n", "true"]).returncode != 0:
        raise LabError(
            "the lab needs root, and sudo -n is refused; run chaosk as root or allow sudo without a password"
        )
    last = ""
    with subprocess.Popen(
        command(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - asked for above
        process.stdin.write(stdin)
        process.stdin.close()
        for line in process.stdout:
            last = line.rstrip("\n")
            say(last)
        problem = process.stderr.read().strip()
    if process.returncode != 0:
        raise LabError(problem.removeprefix("chaosk: ") or f"{' '.join(words)}: exit status {process.returncode}")
    return last


def up(layout: LabLayout, say: Callable[[str], object]) -> Path:
    """Run :func:`chaosk.lab.up` as root."""
    as_root(["up", "--layout", "-"], say, layout.model_dump_json(exclude_unset=True))
    return places.of(layout.name).inventory
