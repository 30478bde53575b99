"""Names of a run's own: seen by those who are told to, by nobody else, and taken away while they run."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chaosk.core.errors import PreflightError
from chaosk.hosts import resolver

pytestmark = pytest.mark.lab
HERE = socket.gethostname()
WATCH = """\
import socket, sys
for _line in sys.stdin:
    try:
        print(socket.getaddrinfo("localhost" if _line == "local\\n" else "named.test", None)[0][4][0], flush=True)
    except OSError as error:
        print(error.errno, flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Files of a run's own, with one name more than the machine knows; where other users may look as well."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        resolver.lay_out(folder)
        for at in (folder, folder / "before"):
            with (at / "hosts").open("a") as file:
                file.write("198.18.0.99 named.test\n")
        yield folder


@pytest.fixture
def silent() -> Iterator[None]:
    """A name server that does not answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind((resolver.NOBODY, 53))
        yield


class Looker:
    """A process that sees the folder and looks a name up whenever it is asked to."""

    def __init__(self, folder: Path) -> None:
        """It runs."""
        self.process = subprocess.Popen(
            resolver.seeing(folder, [sys.executable, "-c", WATCH]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "RES_OPTIONS": "timeout:1"},
        )  # fmt: skip

    def ask(self, what: str = "named") -> str:
        """The address, or the number of the error."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@pytest.fixture
def looker(folder: Path) -> Iterator[Looker]:
    """One such process."""
    one = Looker(folder)
    yield one
    one.process.kill()
    one.process.communicate()


def test_a_process_that_runs_is_told_that_there_is_no_such_name(folder: Path, looker: Looker) -> None:
    """At once, and that there is one again; the name of this machine itself stays."""
    before = Path("/etc/hosts").read_bytes()
    assert looker.ask() == "198.18.0.99"
    resolver.refuse(folder)
    began = time.monotonic()
    assert looker.ask() in {str(socket.EAI_NONAME), str(socket.EAI_AGAIN)}
    assert time.monotonic() - began < 0.9
    assert looker.ask("local") in {"127.0.0.1", "::1"}
    resolver.restore(folder)
    assert looker.ask() == "198.18.0.99"
    assert Path("/etc/hosts").read_bytes() == before


@pytest.mark.usefixtures("silent")
def test_a_process_that_runs_gets_no_answer(folder: Path, looker: Looker) -> None:
    """It waits for its time limit, and does not learn that there is no such name."""
    assert looker.ask() == "198.18.0.99"
    resolver.silence(folder)
    began = time.monotonic()
    assert looker.ask() == str(socket.EAI_AGAIN)
    assert time.monotonic() - began > 0.9
    resolver.restore(folder)
    assert looker.ask() == "198.18.0.99"


def test_a_name_leads_elsewhere(folder: Path, looker: Looker) -> None:
    """To a process that runs: where it was moved and nowhere else, whatever services the machine asks first."""
    for at in (folder, folder / "before"):
        with (at / "hosts").open("a") as file:
            file.write("198.18.0.98 other.test Named.Test # both\n198.18.0.97 third.test\n")
        (at / "nsswitch.conf").write_text("passwd: files\nhosts: dns [!UNAVAIL=return] files\n")
    resolver.restore(folder)
    resolver.move(folder, ["named.test"], "198.18.0.55")
    assert looker.ask() == "198.18.0.55"
    assert resolver.addresses(folder, ["named.test", "other.test", "third.test", "fourth.test"]) == {
        "named.test": ("198.18.0.55",), "other.test": ("198.18.0.98",), "third.test": ("198.18.0.97",),
        "fourth.test": (),
    }  # fmt: skip
    resolver.move(folder, ["third.test"], "fd67::9")
    assert resolver.addresses(folder, ["third.test"]) == {"third.test": ("fd67::9",)}
    resolver.restore(folder)
    for name in resolver.FILES:
        assert (folder / name).read_text() == (folder / "before" / name).read_text()


def test_what_is_unknown(folder: Path) -> None:
    """To those who see the folder; this process never knew."""
    assert resolver.unknown(folder, ["named.test", "localhost", "other.test"]) == ("other.test",)
    assert resolver.unknown(None, ["named.test", "localhost"]) == ("named.test",)
    resolver.refuse(folder)
    assert resolver.unknown(folder, ["named.test", "localhost"]) == ("named.test",)


def test_a_plain_user_has_them_too(folder: Path) -> None:
    """By a user namespace; the account stays what it is."""
    entered = resolver.seeing(folder, ["sh", "-c", "id -u; getent ahostsv4 named.test"])
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *entered],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.stdout.split()[:2] == ["65534", "198.18.0.99"], done.stderr


def test_where_it_cannot_be_had_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is done, with what to do."""
    monkeypatch.setattr(resolver, "FILES", ("hosts", "no-such-file"))
    with pytest.raises(PreflightError, match=r"/etc/no-such-file cannot be read, so probes cannot have another"):
        resolver.lay_out(tmp_path)
