"""The tiers: what each needs, and what happens where it is missing.

A lab test without root or without its tools is skipped with the reason; a Spark test without Java too. With ``CI`` set
such a skip is a failure: there, a tier that silently did not run would look like one that passed.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

settings.register_profile("all", settings(), deadline=None)  # how long an example takes says nothing about chaosk
settings.register_profile("some", settings.get_profile("all"), max_examples=30)
settings.load_profile("some")

TIERS = ("pure", "spark", "packaging", "lab")
"""Cheapest first; a test has the last that it is marked with."""
USUAL_UMASK = os.umask(0o022)
os.umask(USUAL_UMASK)
SPARK = ("analysis", "truth")
"""Folders whose tests share sessions of Spark: each file has one of two, since one took as long as all other tests."""
FIRST = ("run", "steps", "analysis 0", "analysis 1")
"""Scopes that several processes begin with: the longest of labs, and Spark's."""
LONG = 400.0
"""Seconds that a test may take before it is named: the longest takes some 300."""
STANDBY = "CHAOSK_STANDBY"
OWN = ("tutorial",)
"""Folders whose runs are judged as a user's are, each by an analysis of its own."""
_FOLDER = pytest.StashKey[ExitStack]()
_STANDBY = pytest.StashKey[str]()
TOOLS = {
    "spark": ("java",),
    "lab": ("java", "mvn", "ip", "iptables", "unshare", "nsenter", "sshd", "sudo", "strace"),
}


def lacking(tier: str) -> str:
    """What this machine lacks for a tier, in words; empty if nothing."""
    missing = [tool for tool in TOOLS.get(tier, ()) if shutil.which(tool) is None]
    if tier == "lab" and os.geteuid() != 0:
        missing.insert(0, "root")
    return f"the {tier} tier needs {', '.join(missing)}; ./dev test sets it up" if missing else ""


def in_ci() -> bool:
    """Whether this is a CI run, where nothing may be skipped in silence."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C reach what tests start also where a shell runs them in its background, which has it ignored.

    And keep one analysis for the runs of the labs' tests: one that has judged before takes a third of the time.
    """
    if config.getoption("--all"):
        os.environ["CHAOSK_ALL"] = "1"  # more made-up runs, payloads and commands
        settings.load_profile("all")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Teller(config))
        if config.rootpath == Path(__file__).parents[1] and not lacking("lab"):
            from chaosk.run.standby import standing_by

            stack = ExitStack()
            config.add_cleanup(stack.close)
            log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "standby.log"
            stack.enter_context(standing_by(log))
    config.stash[_STANDBY] = os.environ.get(STANDBY, "")


class _Teller:
    """Says what failed when it does, and what takes long: a run that is ended before its summary has said it then."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._began, self._over = config, dict[str, float](), threading.Event()

    def pytest_sessionstart(self) -> None:
        if getattr(self._config.option, "numprocesses", None):  # a test in this process has taken its streams
            threading.Thread(target=self._watch, daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._began[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._began.pop(nodeid, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(getattr(crash, "message", "") or report.longreprtext).partition("\n")[0]
            self._say(f"{report.nodeid} failed ({report.when}): {why}")

    def _watch(self) -> None:
        said = set[str]()
        while not self._over.wait(LONG / 10):
            for nodeid, began in tuple(self._began.items()):
                if nodeid not in said and time.monotonic() - began > LONG:
                    said.add(nodeid)
                    self._say(f"{nodeid} has been under way for {LONG:g} s")

    def _say(self, line: str) -> None:
        if (terminal := self._config.pluginmanager.get_plugin("terminalreporter")) is not None:
            terminal.write_line(f"\n{line}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all`` runs what takes too many minutes for every CI run as well."""
    parser.addoption("--all", action="store_true", help="run tests that are marked long, and long folders, as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests without a tier as pure; leave long ones to ``--all``, unless the command line names their file.

    Several processes share the tests by folder, since those of a folder share a lab or a session of Spark.
    """
    named = {file_of(word.removeprefix(f"{config.rootpath}/")) for word in config.args}
    if not config.getoption("--all"):
        left = [item for item in items if item.get_closest_marker("long") and file_of(item.nodeid) not in named]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker("pure")
    latest: dict[str, int] = {}
    for item in items:
        latest[folder_of(item.nodeid)] = max(latest.get(folder_of(item.nodeid), 0), TIERS.index(_tier(item)))
    items.sort(key=lambda item: _order(folder_of(item.nodeid), latest))


def file_of(nodeid: str) -> str:
    """The file of a test, below ``tests``."""
    return nodeid.partition("::")[0].removeprefix("tests/")


def folder_of(nodeid: str) -> str:
    """The first folder below ``tests`` that a test is in, or its file; a folder ``on_lab...`` has a lab of its own."""
    file = file_of(nodeid)
    parts = file.split("/")
    if parts[0] in SPARK:
        return f"analysis {crc32(file.encode()) % 2}"
    return "/".join(parts[: 2 if len(parts) > 2 and parts[1].startswith("on_lab") else 1])


def _tier(item: pytest.Item) -> str:
    return next(tier for tier in reversed(TIERS) if item.get_closest_marker(tier))


def _order(folder: str, latest: dict[str, int]) -> tuple[int, int]:
    """Those of ``FIRST``, then the other folders with labs, then the quick ones, which fill up what time is left."""
    return FIRST.index(folder) if folder in FIRST else len(FIRST), -latest[folder]


def _judge_by_whom(item: pytest.Item) -> None:
    os.environ.pop(STANDBY, None)
    if item.get_closest_marker("lab") and folder_of(item.nodeid) not in OWN and (path := item.config.stash[_STANDBY]):
        os.environ[STANDBY] = path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a folder in one process. xdist's own groups (3.8) have no effect with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFolder(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return folder_of(nodeid)

    return ByFolder(config, log)


@pytest.fixture(scope="session")
def while_folder_runs(pytestconfig: pytest.Config) -> Iterator[ExitStack]:
    """What is entered here is left after the last test of the folder: a fixture of the session's stays to its end."""
    with ExitStack() as stack:
        pytestconfig.stash[_FOLDER] = stack
        yield stack


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """After the last test of a folder: leave what was entered for it, above all its lab."""
    result = yield
    if nextitem is not None and folder_of(nextitem.nodeid) != folder_of(item.nodeid) and _FOLDER in item.config.stash:
        item.config.stash[_FOLDER].close()
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tier cannot run here, with the reason; no umask outlives its test.

    Commands that write files for their owner alone set it for their process, which here is that of the tests.
    """
    for tier in TIERS:
        if item.get_closest_marker(tier) and (reason := lacking(tier)):
            pytest.skip(reason)
    _judge_by_whom(item)
    os.umask(USUAL_UMASK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn any skipped test that is not pure into a failed one under CI, whatever skipped it."""
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if in_ci() and report.skipped and not expected_failure and not item.get_closest_marker("pure"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped under CI: {report.longrepr}"
    return report
