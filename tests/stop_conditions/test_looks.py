"""Each stop condition holds where it should, and not where it only nearly does."""

from __future__ import annotations

import http.server
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chaosk.cluster.stop_conditions.command import FailingCommand
from chaosk.cluster.stop_conditions.host_unreachable import HostUnreachable
from chaosk.cluster.stop_conditions.offline_partition import OfflinePartition
from chaosk.cluster.stop_conditions.probe_errors import ProbeErrors
from chaosk.cluster.stop_conditions.under_min_isr import UnderMinIsr
from chaosk.cluster.stop_conditions.url import FailingUrl
from chaosk.spec.contracts.stop_condition import OperationCounts, Strained


@dataclass
class Scene:
    """A sight of values."""

    partitions: tuple[Strained, ...] | None = ()
    counts: dict[float, tuple[OperationCounts, ...]] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)

    def strained(self) -> tuple[int, tuple[Strained, ...]] | None:
        """What was set, at 7."""
        return None if self.partitions is None else (7, self.partitions)

    def changes(self, window: float) -> tuple[int, tuple[OperationCounts, ...]] | None:
        """What was set for that window, at 8."""
        return (8, self.counts[window]) if window in self.counts else None

    def unreachable(self, within: float) -> tuple[int, dict[str, str]]:
        """What was set, at 9."""
        return 9, self.silent


def partition(number: int = 0, leader: int = 1, in_sync: int = 2, least: int = 2, offline: float = 0.0) -> Strained:
    """A partition of three replicas."""
    return Strained("payments", number, leader, in_sync, replicas=3, least=least, offline=offline)


def test_an_offline_partition() -> None:
    """Named, at the moment of the sample; one that has a leader, however alone, is not offline."""
    found = OfflinePartition().look(Scene((partition(leader=-1, in_sync=0, offline=2.0), partition(1, in_sync=1))))
    assert found is not None
    assert found.at == 7
    assert "no leader for payments-0," in found.what
    assert OfflinePartition().look(Scene((partition(in_sync=1),))) is None
    assert OfflinePartition().look(Scene(())) is None
    assert OfflinePartition().look(Scene(None)) is None


def test_an_election_takes_its_time() -> None:
    """Without a leader, but not yet for so long as was asked."""
    electing = Scene((partition(leader=-1, offline=1.9),))
    assert OfflinePartition().look(electing) is None
    assert OfflinePartition.model_validate({"lasting": "1900ms"}).look(electing) is not None


def test_many_offline_partitions() -> None:
    """The first ones and how many more."""
    found = OfflinePartition().look(Scene(tuple(partition(n, leader=-1, offline=3.0) for n in range(5))))
    assert found is not None
    assert "payments-0, payments-1, payments-2 and 2 more" in found.what


@pytest.mark.parametrize(
    ("least", "asked", "in_sync", "holds"),
    [
        (2, None, 1, True),
        (2, None, 2, False),
        (1, 2, 1, True),
        (2, 1, 1, False),
        (5, None, 3, False),
        (2, 9, 2, True),
        (2, 9, 3, False),
    ],
)
def test_too_few_in_sync(least: int, asked: int | None, in_sync: int, holds: object) -> None:
    """The topic's own need, or the one that is asked for; never more than there are replicas."""
    found = UnderMinIsr(least=asked).look(Scene((partition(in_sync=in_sync, least=least),)))
    assert (found is not None) is holds
    if found is not None:
        assert f"payments-0 has {in_sync} of 3, needs {min(3, asked or least)}" in found.what


@pytest.mark.parametrize(
    ("ok", "bad", "holds"), [(5, 6, True), (5, 5, False), (4, 5, False), (0, 10, True), (0, 9, False), (100, 0, False)]
)
def test_probe_errors(ok: int, bad: int, holds: object) -> None:
    """More than half of at least ten operations."""
    scene = Scene(counts={5.0: (OperationCounts("reader", 100, 0), OperationCounts("writer", ok, bad))})
    found = ProbeErrors(above=0.5).look(scene)
    assert (found is not None) is holds
    if found is not None:
        assert found.at == 8
        assert found.what.startswith(f"writer: {bad} of {ok + bad} failed within 5 s")


def test_probe_errors_of_one_probe() -> None:
    """The others may fail; before the window is full nothing is concluded."""
    scene = Scene(counts={5.0: (OperationCounts("writer", 0, 50), OperationCounts("reader", 50, 0))})
    assert ProbeErrors(above=0.5, probe="reader").look(scene) is None
    assert ProbeErrors(above=0.5, probe="writer").look(scene) is not None
    assert ProbeErrors.model_validate({"above": 0.5, "window": "6s"}).look(scene) is None


def test_a_silent_host() -> None:
    """Each with its reason."""
    assert HostUnreachable().look(Scene()) is None
    found = HostUnreachable().look(Scene(silent={"node2": "reset", "node1": "not within 5 s"}))
    assert found is not None
    assert found.what == "node1 does not answer: not within 5 s; node2 does not answer: reset"


def script(text: str, **more: str) -> FailingCommand:
    """A command that runs that Python."""
    return FailingCommand.model_validate({"argv": (sys.executable, "-c", text), **more})


def test_a_command_that_ends_well() -> None:
    """Whatever it says; its arguments are words that no shell has read."""
    assert script("print('trouble')").look(Scene()) is None
    check = FailingCommand(argv=(sys.executable, "-c", "import sys; sys.exit(sys.argv[1] != '$(id); *')", "$(id); *"))
    assert check.look(Scene()) is None


def test_a_command_that_fails() -> None:
    """Its status and its last words, of which the end is shown."""
    found = script("import sys; print('x' * 1000); sys.exit('the shop\\nis closed')").look(Scene())
    assert found is not None
    assert found.what.endswith("x the shop is closed")
    assert "ended with 1" in found.what
    assert len(found.what) < 400


def test_a_command_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    """In time, though its child keeps what it prints to open; the child is gone afterwards, too."""
    sign = tmp_path / "alive"
    child = f"import time; time.sleep(4); open({str(sign)!r}, 'w')"
    text = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    began = time.monotonic()
    found = script(text, timeout="500ms").look(Scene())
    assert time.monotonic() - began < 3
    assert found is not None
    assert "did not end within 0.5 s" in found.what
    time.sleep(4)
    assert not sign.exists()


@pytest.mark.parametrize("argv", [("/no/such/program",), ("/",), ("a\0b",)])
def test_a_command_that_cannot_be_started(argv: tuple[str, ...]) -> None:
    """A watch that is not kept is no watch."""
    found = FailingCommand(argv=argv).look(Scene())
    assert found is not None
    assert "cannot be started" in found.what


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers by the path: a status, a redirection, or in drops."""

    def do_GET(self) -> None:
        """One answer."""
        word = self.path.strip("/")
        if word == "drops":
            self.wfile.write(b"HTTP/1.0 200 OK\r\n")
            for _ in range(40):
                time.sleep(0.1)
                self.wfile.write(b"X: y\r\n")
            return
        self.send_response(302 if word in {"away", "on"} else int(word))
        if word in {"away", "on"}:
            self.send_header("Location", "file:///etc/passwd" if word == "away" else "/200")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    """A server on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    server.handle_error = lambda *words: None  # type: ignore[method-assign] # who hangs up early is no error here
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("word", ["200", "204", "on"])
def test_a_url_that_answers(pages: str, word: str) -> None:
    """Any status from 200 to 299, through a redirection too."""
    assert FailingUrl(url=f"{pages}/{word}").look(Scene()) is None


@pytest.mark.parametrize(("word", "told"), [("404", "status 404"), ("503", "status 503"), ("away", "status 302")])
def test_a_url_that_answers_badly(pages: str, word: str, told: str) -> None:
    """Another status; a redirection to what is not HTTP leads nowhere."""
    found = FailingUrl(url=f"{pages}/{word}").look(Scene())
    assert found is not None
    assert told in found.what


def test_a_url_that_answers_in_drops(pages: str) -> None:
    """Each drop comes in time, the whole does not."""
    began = time.monotonic()
    found = FailingUrl.model_validate({"url": f"{pages}/drops", "timeout": "500ms"}).look(Scene())
    assert time.monotonic() - began < 3
    assert found is not None
    assert "no answer within 0.5 s" in found.what


def test_a_url_where_nobody_listens() -> None:
    """Refused is no answer."""
    found = FailingUrl(url="http://127.0.0.1:1/").look(Scene())
    assert found is not None
    assert "refused" in found.what
