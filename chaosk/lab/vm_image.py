"""The disk image of virtual machines: built once, named by its content, shared by all labs.

A machine writes to its own file over the image, which never changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from chaosk.core.errors import LabError
from chaosk.lab import preflight, runner, state, vm_plan, vm_recipe
from chaosk.lab.service import HostFile

Say = Callable[[str], object]

MODULES = Path("/usr/lib/uml/modules")
"""Directory of the kernel package's modules, by version."""
ROOM = 2_500_000_000
"""Bytes of free space needed to build an image; half of them stay in use."""

_MIRROR = "http://deb.debian.org/debian"
_LIMIT = 900.0


def ensure(jars: Path, tools: tuple[HostFile, ...], say: Say) -> Path:
    """Return the image for the Kafka of these ``jars`` and ``tools``; the first call builds it. Raises LabError."""
    home = runner.directory(state.state_root() / "images")
    found = tuple(sorted(jars.glob("*.jar")))
    name = f"kafka-{jars.name}-{vm_recipe.digest(tools, found, _kernel())}"
    at = home / f"{name}.ext4"
    if at.is_file():
        return at
    with state.locked(
        home / f".{name}.lock", lambda: say("waiting for another chaosk to build the disk image"), _LIMIT
    ):
        if not at.is_file():
            _build(at, found, tools, say)
    return at


def _kernel() -> str:
    return runner.run([vm_plan.KERNEL, "--version"]).strip()


def _build(at: Path, jars: tuple[Path, ...], tools: tuple[HostFile, ...], say: Say) -> None:
    for leftover in at.parent.glob(f".{at.stem}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    check_room(at.parent)
    say("building the disk image of virtual machines from Debian's packages (once, about two minutes)")
    with tempfile.TemporaryDirectory(prefix=f".{at.stem}-", dir=at.parent, ignore_cleanup_errors=True) as directory:
        root, image = Path(directory) / "root", Path(directory) / "image"
        _alone(vm_recipe.debian(root, mirror(_apt_sources())))
        for file in vm_recipe.files(tools):
            runner.directory((root / file.relative).parent)
            runner.write(root / file.relative, file.text, file.mode)
        for argv in vm_recipe.finish(root, MODULES / _kernel(), jars):
            _alone(argv)
        _add_classes(root, say)
        _alone(vm_recipe.disk(root, image))
        image.rename(at)


def _add_classes(root: Path, say: Say) -> None:
    try:
        for argv in vm_recipe.classes(root):
            _alone(argv, proc=root / "proc")
    except LabError as error:
        say(f"no archive of classes, Kafka starts slower: {error}")


def check_room(home: Path) -> None:
    """Raise LabError unless the disk has room to build an image."""
    disk = os.statvfs(home)
    free = disk.f_bavail * disk.f_frsize
    if free < ROOM:
        raise LabError(
            f"{home}: to build the disk image of virtual machines takes {ROOM / 1e9:.1f} GB, {free / 1e9:.1f} GB are "
            "free; free some space or set CHAOSK_STATE to a directory elsewhere"
        )


def _alone(argv: list[str], proc: Path = Path("/proc")) -> None:
    """Run a command so that its processes and mounts end with this thread; raises LabError."""
    spaces = ["--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={proc}"]
    propagation = "unchanged" if preflight.in_chroot() else "slave"
    wrapped = [*("setpriv", "--pdeathsig", "KILL", "unshare", *spaces, "--propagation", propagation), *argv]
    done = runner.attempt(wrapped, timeout=_LIMIT, environment=_proxies())
    if done.returncode != 0:
        raise LabError(f"the disk image cannot be built: {argv[0]}: {explain(done.stdout + done.stderr)}")


def explain(output: str) -> str:
    """Return one line of a failed program's output: its first error, or otherwise its last line."""
    lines = output.strip().splitlines() or ["no output"]
    return next((line.removeprefix("E: ") for line in lines if line.startswith("E: ")), lines[-1])


def _apt_sources() -> str:
    words = "$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)"
    done = runner.attempt(["apt-get", "indextargets", "--format", words, "Created-By: Packages"])
    return done.stdout if done.returncode == 0 else ""


def mirror(sources: str) -> str:
    r"""Return this machine's Debian mirror, or the default; ``sources``: output of ``apt-get indextargets``.

    >>> mirror("Debian Debian main http://mirror.example/debian/\n")
    'http://mirror.example/debian/'
    """
    for line in sources.splitlines():
        match line.split(" "):
            case ["Debian", "Debian", "main", url] if url.startswith(("http:", "https:")):
                return url
            case _:
                continue
    return _MIRROR


def _proxies() -> dict[str, str]:
    """Return the proxies of the caller, or otherwise of apt; debootstrap does not read apt's settings."""
    done = runner.attempt(["apt-config", "shell", "http_proxy", "Acquire::http::Proxy"])
    settings = [word.partition("=") for word in shlex.split(done.stdout)] if done.returncode == 0 else []
    of_caller = {name: value for name, value in os.environ.items() if "PROXY" in name.upper()}
    return {name: value for name, _, value in settings} | of_caller
