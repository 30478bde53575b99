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

import pytest
from hypothesis import settings

settings.register_profile("all", settings(), deadline=None)  # how long an example takes says nothing about chaosk
settings.register_profile("some", settings.get_profile("all"), max_examples=30)
settings.load_profile("some")

TIERS = ("pure", "spark", "packaging", "lab")
USUAL_NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
IDLE_NICENESS = min(USUAL_NICENESS + 10, 19)
"""Of a third process and on, but in tests of a lab: it may have what the other two leave, and delays none of them."""
USUAL_UMASK = os.umask(0o022)
os.umask(USUAL_UMASK)
SPREAD = ("analysis", "truth")
"""Folders whose tests share a session of Spark alone, which each process can have: their files go wherever there is
time."""
SHARED = ("lab", "packaging", "pure", "spark")
"""The order in which several processes share the tiers: a third begins at its end, and so does all of Spark's in one
session; what the first two come to after the labs is quick and in many parts, so that all end at the same time."""
LATE = "gw3"
"""A fourth process, which begins when no test of Spark's waits any more: up to then three leave it no processor."""
LONGEST = (
    "run", "steps", "run/on_lab_losses", "release/on_lab_gate", "probes/on_lab", "run/on_lab_secure", "bench",
    "tutorial",
)  # fmt: skip
"""Folders of five minutes and more, which go first: one that went last would leave the other processes idle."""
LONG_FILES = (
    "analysis/test_aborted_read.py", "analysis/test_against_plain_python.py", "analysis/test_calls.py",
    "analysis/test_classes.py", "analysis/test_client_errors.py", "analysis/test_commit_ahead.py",
    "analysis/test_commit_regression.py", "analysis/test_dead_letters.py", "analysis/test_double_ownership.py",
    "analysis/test_elections.py", "analysis/test_ends_of_logs.py", "analysis/test_eos.py",
    "analysis/test_epochs_and_isr.py", "analysis/test_figures_against_plain_python.py",
    "analysis/test_health_checks.py", "analysis/test_histograms.py", "analysis/test_late_write.py",
    "analysis/test_lifecycle.py", "analysis/test_lost_write.py", "analysis/test_measures.py",
    "analysis/test_predictions.py", "analysis/test_process.py", "analysis/test_readers_that_wait.py",
    "analysis/test_realtime_lag.py", "analysis/test_recovery_bounds.py", "analysis/test_replica_difference.py",
    "analysis/test_reset_jump.py", "analysis/test_rules_log.py", "analysis/test_rules_reading.py",
    "analysis/test_shares.py", "analysis/test_stale_append.py", "analysis/test_standby.py",
    "analysis/test_stillness.py", "analysis/test_streams.py", "analysis/test_stuck_consumer.py",
    "analysis/test_stuck_lso.py", "analysis/test_suspects.py", "analysis/test_swallowed.py", "analysis/test_tallied.py",
    "analysis/test_throughput.py", "analysis/test_topic_made_again.py", "analysis/test_torn_transaction.py",
    "analysis/test_transactions.py", "analysis/test_truncations.py", "analysis/test_uncommitted.py",
    "analysis/test_unnecessary_rebalances.py", "analysis/test_zombie_write.py", "bench/", "cli/test_explore.py",
    "cluster/test_audit_lab.py", "cluster/test_configs_lab.py", "cluster/test_copies_lab.py",
    "cluster/test_foreign_lab.py", "cluster/test_live_lab.py", "cluster/test_markers_lab.py",
    "cluster/test_plan_lab.py", "cluster/test_topics_lab.py", "cluster/test_watcher_lab.py",
    "doctor/test_gate_on_lab.py", "doctor/test_on_lab.py", "explore/on_lab_explore/", "gameday/test_in_a_terminal.py",
    "lab/on_lab_vms/", "lab/test_access.py", "lab/test_archive.py", "lab/test_build.py", "lab/test_chroot.py",
    "lab/test_remove.py", "probes/on_lab/", "release/on_lab_gate/", "release/test_ci_files.py", "run/on_lab_gameday/",
    "run/on_lab_kraft/", "run/on_lab_losses/", "run/on_lab_secure/", "run/test_halt_on_lab.py",
    "run/test_holes_on_lab.py", "run/test_lost_on_lab.py", "run/test_markers_on_lab.py",
    "run/test_own_trouble_on_lab.py", "run/test_pairs_on_lab.py", "run/test_secrets_on_lab.py",
    "run/test_ssh_dropped_on_lab.py", "run/test_stopped_on_lab.py", "run/test_strangers_on_lab.py",
    "run/test_wrapper_on_lab.py", "scripts/test_power.py", "steps/on_lab_vms/", "steps/test_certificate_on_lab.py",
    "steps/test_data_on_lab.py", "steps/test_loss_on_lab.py", "steps/test_partial_cuts_on_lab.py",
    "steps/test_recreate_on_lab.py", "steps/test_rights_on_lab.py", "steps/test_settings_on_lab.py",
    "steps/test_shaping_on_lab.py", "steps/test_two_directories_on_lab.py", "test_audit.py", "test_dev.py", "test_fuzz.py",
    "test_packaging.py", "test_site.py", "transport/test_injection_on_lab.py", "truth/test_glances.py",
    "truth/test_lives.py", "truth/test_reference.py", "truth/test_shrink.py", "tutorial/",
)  # fmt: skip
"""Files and folders that are left to ``--all``, unless the command line names the file: two thirds of the time. Each
shows on one more lab, by one more start of Spark or case by case what a quicker test shows already; what a benchmark
measures; or what pip and Sphinx do."""
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
    """Mark what has no tier as pure, so that ``-m pure`` selects the quick tests; the lab's tests go last.

    In one of several processes the folders whose tests take longest go first.
    """
    given = {file_of(word.removeprefix(f"{config.rootpath}/")) for word in config.args}
    for item in items:
        if (file := file_of(item.nodeid)).startswith(LONG_FILES) and file not in given:
            item.add_marker("long")
    if not config.getoption("--all"):
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker("pure")
    items.sort(key=_lateness)
    if hasattr(config, "workerinput"):
        latest = {folder_of(item.nodeid): SHARED.index(_tier(item)) for item in items}
        items.sort(key=lambda item: latest[folder_of(item.nodeid)])
        items.sort(key=lambda item: _place(folder_of(item.nodeid)))


def file_of(nodeid: str) -> str:
    """The file of a test, below ``tests``."""
    return nodeid.partition("::")[0].removeprefix("tests/")


def _lateness(item: pytest.Item) -> int:
    return TIERS.index(_tier(item))


def _tier(item: pytest.Item) -> str:
    return next(tier for tier in reversed(TIERS) if item.get_closest_marker(tier))


def _place(folder: str) -> int:
    return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)


def folder_of(nodeid: str) -> str:
    """The first folder below ``tests`` that a test is in, or its file; a folder ``on_lab...`` has a lab of its own.

    Of folders that are ``SPREAD`` the file or folder below.
    """
    parts = nodeid.partition("::")[0].removeprefix("tests/").split("/")
    below = parts[0] in SPREAD or (len(parts) > 2 and parts[1].startswith("on_lab"))
    return "/".join(parts[: 2 if below else 1])


def _make_way(item: pytest.Item) -> None:
    """A third process gets out of the way of the first two, but for tests of a lab: those have time limits, too."""
    if _helps(getattr(item.config, "workerinput", {}).get("workerid", "")):
        in_time = item.get_closest_marker("lab") and os.geteuid() == 0
        os.setpriority(os.PRIO_PROCESS, 0, USUAL_NICENESS if in_time else IDLE_NICENESS)


def _judge_by_whom(item: pytest.Item) -> None:
    os.environ.pop(STANDBY, None)
    if item.get_closest_marker("lab") and folder_of(item.nodeid) not in OWN and (path := item.config.stash[_STANDBY]):
        os.environ[STANDBY] = path


def _helps(worker: str) -> bool:
    return worker not in {"", "gw0", "gw1"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a folder in one process: they share a lab, or the Spark session.

    Two processes begin with the labs' tests, which mostly wait; others with those that need a processor. Once Spark is
    done with, there is time left for a fourth.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFolder(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return folder_of(nodeid)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            super().mark_test_complete(node, item_index, duration)
            for other in self.nodes:
                if other.gateway.id == LATE and not self._pending_of(self.assigned_work[other]):
                    self._reschedule(other)

        def _assign_work_unit(self, node: Any) -> None:
            if node.gateway.id == LATE and any(scope.split("/")[0] in SPREAD for scope in self.workqueue):
                return
            if _helps(node.gateway.id):
                self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

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
    """Skip a test whose tier cannot run here, with the reason; who only helps makes way; no umask outlives its test.

    Commands that write files for their owner alone set it for their process, which here is that of the tests.
    """
    for tier in TIERS:
        if item.get_closest_marker(tier) and (reason := lacking(tier)):
            pytest.skip(reason)
    _make_way(item)
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
