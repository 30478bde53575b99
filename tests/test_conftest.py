"""The tiers' rules, each seen in a pytest of its own that loads the real conftest."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")

LAB_TEST = """
import pytest

@pytest.mark.lab
def test_lab():
    pass

def test_unmarked():
    pass
"""

MARKERS = "[pytest]\nmarkers =\n    pure\n    spark\n    packaging\n    lab\n    long\n"


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytest in a folder of its own, with the real conftest, outside CI."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:slipcover")  # its end would be that of the outer pytest's coverage
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makeini(MARKERS)
    return pytester


def test_without_its_tools_a_lab_test_is_skipped(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a developer's machine that lacks the lab's tools the other tiers still pass."""
    inner.makepyfile(LAB_TEST)
    monkeypatch.setenv("PATH", "")
    result = inner.runpytest_inprocess("-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*the lab tier needs*java*mvn*"])


@pytest.mark.parametrize(("words", "ran", "left"), [((), 1, 1), (("--all",), 2, 0)])
def test_long_tests_run_only_if_asked_for(inner: pytest.Pytester, words: tuple[str, ...], ran: int, left: int) -> None:
    """They are not skipped, which CI would take for a failure, but left out, and the summary counts them."""
    inner.makepyfile(LAB_TEST.replace("mark.lab", "mark.long"))
    inner.runpytest_inprocess(*words).assert_outcomes(passed=ran, deselected=left)


@pytest.mark.parametrize(("words", "ran"), [((), 0), (("--all",), 1), (("tests/tutorial/test_it.py",), 1)])
def test_a_long_file_runs_if_it_is_named(inner: pytest.Pytester, words: tuple[str, ...], ran: int) -> None:
    """Whoever asks for one file means it; CI, which asks for all, leaves it out."""
    where = inner.path / "tests/tutorial"
    where.mkdir(parents=True)
    (where / "test_it.py").write_text("def test_it():\n    pass\n", "utf-8")
    inner.runpytest_inprocess("--import-mode=importlib", *words).assert_outcomes(passed=ran, deselected=1 - ran)


@pytest.mark.parametrize("value", ["true", "1"])
def test_under_ci_a_skipped_lab_test_fails(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """CI goes red, not green, on a machine where the lab cannot run."""
    inner.makepyfile(LAB_TEST)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", value)
    result = inner.runpytest_inprocess()
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("tier", ["lab", "spark"])
def test_under_ci_a_test_that_skips_itself_fails(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tier: str
) -> None:
    """A skip inside the test's body is no way around it."""
    for tool in ("java", "mvn", "ip", "iptables", "unshare", "nsenter", "sshd", "sudo"):
        (tmp_path / tool).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    inner.makepyfile(f"import pytest\n@pytest.mark.{tier}\ndef test_it():\n    pytest.skip('not today')")
    inner.runpytest_inprocess().assert_outcomes(failed=1)


def test_under_ci_a_pure_test_may_skip(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the tiers that need a machine are guarded."""
    monkeypatch.setenv("CI", "true")
    inner.makepyfile("import pytest\ndef test_it():\n    pytest.skip('no')")
    inner.runpytest_inprocess().assert_outcomes(skipped=1)


def test_what_is_unmarked_is_pure(inner: pytest.Pytester) -> None:
    """``-m pure`` runs the quick tests without a marker on each of them."""
    inner.makepyfile(LAB_TEST)
    inner.runpytest_inprocess("-m", "pure").assert_outcomes(passed=1, deselected=1)


def test_lab_tests_come_last(inner: pytest.Pytester) -> None:
    """A quick test that fails is seen before the slow ones start."""
    inner.makepyfile(LAB_TEST)
    result = inner.runpytest_inprocess("--collect-only", "-q")
    result.stdout.fnmatch_lines(["*test_unmarked*", "*test_lab*"])


def test_a_folder_stays_in_one_process(inner: pytest.Pytester) -> None:
    """In two processes: what shares a lab is together, the folder that takes longest goes first, no test is lost."""
    inner.makeini(MARKERS + "addopts = --import-mode=importlib -p no:cacheprovider\n")
    test = "def test_{n}():\n    pathlib.Path('{log}').open('a').write(os.environ['PYTEST_XDIST_WORKER'] + '\\n')\n"
    for folder, tier in (("one", "pure"), ("two", "pure"), ("three", "packaging")):
        for part in ("a", "b"):
            path = inner.path / "tests" / folder / f"test_{part}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            tests = "".join(test.format(n=n, log=inner.path / f"{folder}.log") for n in range(4))
            path.write_text(f"import os, pathlib, pytest\npytestmark = pytest.mark.{tier}\n{tests}", "utf-8")
    result = inner.runpytest_subprocess("-n", "2", "--no-loadscope-reorder", "-v")
    result.assert_outcomes(passed=24)
    result.stdout.fnmatch_lines_random(["*scheduling tests via ByFolder*"])
    for folder in ("one", "two", "three"):
        assert len(set((inner.path / f"{folder}.log").read_text("utf-8").split())) == 1, folder


def test_a_third_process_begins_at_the_other_end_and_gives_way(inner: pytest.Pytester) -> None:
    """Two begin with the folders of the labs; the third has the last folder, and a lower priority but for labs' tests.

    Only root can take back the lower priority, and only root has labs.
    """
    inner.makeini(MARKERS + "addopts = --import-mode=importlib -p no:cacheprovider\n")
    log = inner.path / "log"
    said = "f'{os.environ[\"PYTEST_XDIST_WORKER\"]} {os.nice(0)} {__file__}\\n'"
    for folder in "abc":
        path = inner.path / "tests" / folder / "test_it.py"
        path.parent.mkdir(parents=True)
        test = f"def test_{{n}}():\n    time.sleep(0.1)\n    pathlib.Path('{log}').open('a').write({said})\n"
        tests = "".join(test.replace("{n}", str(n)) for n in range(4))
        tests += "@pytest.mark.lab\n" + test.replace("{n}", "in_a_lab")
        path.write_text(f"import os, pathlib, pytest, time\n{tests}", "utf-8")
    inner.runpytest_subprocess("-n", "3", "--no-loadscope-reorder").assert_outcomes(passed=15)
    lines = [line.split() for line in log.read_text("utf-8").splitlines()]
    ran = [(Path(file).parent.name, worker, int(nice)) for worker, nice, file in lines]
    usual = os.nice(0)
    assert {of[1:] for of in ran if of[0] in "ab"} == {("gw0", usual), ("gw1", usual)}
    assert [of[1:] for of in ran if of[0] == "c"] == [*[("gw2", min(usual + 10, 19))] * 4, ("gw2", usual)]


def test_all_of_spark_goes_to_the_third_process(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It begins with it and has one session for it; after the labs the others take what needs none."""
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    inner.makeini(MARKERS + "addopts = --import-mode=importlib -p no:cacheprovider\n")
    test = (
        "def test_{n}():\n    time.sleep({time})\n    pathlib.Path('{log}').open('a').write(os.environ[WHO] + '\\n')\n"
    )
    parts = [("first", "a", "packaging", 0.3), ("first", "b", "packaging", 0.3)]
    parts += [("spark", f"analysis/test_{n}", "spark", 0.0) for n in range(4)]
    parts += [("pure", f"quick{n}", "pure", 0.1) for n in range(8)]
    for log, name, tier, seconds in parts:
        path = inner.path / "tests" / (f"{name}.py" if "/" in name else f"{name}/test_it.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"import os, pathlib, pytest, time\nWHO = 'PYTEST_XDIST_WORKER'\npytestmark = pytest.mark.{tier}\n"
        tests = "".join(test.format(n=n, time=seconds, log=inner.path / log) for n in range(3))
        path.write_text(head + tests, "utf-8")
    inner.runpytest_subprocess("-n", "3", "--no-loadscope-reorder").assert_outcomes(passed=3 * len(parts))
    ran = {log: (inner.path / log).read_text("utf-8").split() for log in ("first", "spark", "pure")}
    assert set(ran["first"]) == {"gw0", "gw1"}
    assert set(ran["spark"]) == {"gw2"}
    assert set(ran["pure"]) == {"gw0", "gw1", "gw2"}


@pytest.mark.parametrize("of_spark", [0, 6])
def test_a_fourth_process_begins_when_spark_is_done(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, of_spark: int
) -> None:
    """As long as a test of Spark's waits it has none, and then it has its share; without any it has it at once."""
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    inner.makeini(MARKERS + "addopts = --import-mode=importlib -p no:cacheprovider\n")
    log = inner.path / "log"
    parts = [("pure", f"quick{n}/test_it.py") for n in range(24)]
    parts += [("spark", f"analysis/test_{n}.py") for n in range(of_spark)]
    for tier, name in parts:
        path = inner.path / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        said = f"f'{tier} {{os.environ[WHO]}}\\n'"
        test = f"    time.sleep(0.1)\n    pathlib.Path('{log}').open('a').write({said})\n"
        head = f"import os, pathlib, pytest, time\nWHO = 'PYTEST_XDIST_WORKER'\npytestmark = pytest.mark.{tier}\n"
        path.write_text(f"{head}\ndef test_a():\n{test}\ndef test_b():\n{test}", "utf-8")
    inner.runpytest_subprocess("-n", "4", "--no-loadscope-reorder").assert_outcomes(passed=2 * len(parts))
    ran = log.read_text("utf-8").splitlines()
    late = [index for index, line in enumerate(ran) if line.endswith("gw3")]
    spark = [index for index, line in enumerate(ran) if line.startswith("spark")]
    assert {ran[index] for index in spark} <= {"spark gw2"}
    assert len(late) > 4
    if spark:
        assert late[0] > spark[-5], "two files are handed out at a time"
    else:
        assert late[0] < 8


def test_what_a_folder_needs_is_gone_after_its_last_test(inner: pytest.Pytester) -> None:
    """Its lab is up for all its tests, of every file, and down before the next folder's tests begin."""
    log = inner.path / "log"
    for folder in ("one", "two"):
        tests = f"def test_{{n}}(lab):\n    open('{log}', 'a').write('{folder} ')\n"
        for part in ("a", "b"):
            path = inner.path / "tests" / folder / f"test_{folder}_{part}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(tests.replace("{n}", str(n)) for n in range(2)), "utf-8")
        path.with_name("conftest.py").write_text(
            "import pytest\n\n@pytest.fixture(scope='session')\ndef lab(while_folder_runs):\n"
            f"    open('{log}', 'a').write('up ')\n"
            f"    while_folder_runs.callback(lambda: open('{log}', 'a').write('down '))\n",
            "utf-8",
        )
    inner.runpytest_subprocess("--import-mode=importlib").assert_outcomes(passed=8)
    assert log.read_text("utf-8").split() == ["up", *["one"] * 4, "down", "up", *["two"] * 4, "down"]


@pytest.mark.parametrize(
    ("nodeid", "folder"),
    [
        ("tests/run/deep/test_a.py::test_b[x/y::z]", "run"),
        ("tests/run/on_lab_deep/test_a.py::test_b", "run/on_lab_deep"),
        ("tests/run/test_on_lab.py::test_b", "run"),
        ("tests/test_a.py::test_b", "test_a.py"),
        ("tests/analysis/test_a.py::test_b", "analysis/test_a.py"),
        ("tests/analysis/deep/test_a.py::test_b", "analysis/deep"),
        ("a/t.py::t", "a"),
    ],
)
def test_the_folder_of_a_test(nodeid: str, folder: str) -> None:
    """The first one below `tests`, or one with a lab of its own in it; the file where there is none."""
    assert runpy.run_path(str(CONFTEST))["folder_of"](nodeid) == folder


def test_the_longest_folders_go_first(inner: pytest.Pytester) -> None:
    """Of several processes the first has them at once, whatever else there is before them in the alphabet."""
    log = inner.path / "log"
    for folder in ("a", "bench", "probes/on_lab"):
        where = inner.path / "tests" / folder
        where.mkdir(parents=True)
        (where / "test_it.py").write_text(f"def test_it():\n    open('{log}', 'a').write('{folder} ')\n", "utf-8")
    inner.runpytest_subprocess("--import-mode=importlib", "--numprocesses=1").assert_outcomes(passed=3)
    assert log.read_text("utf-8").split() == ["probes/on_lab", "bench", "a"]


def test_the_longest_folders_are_there() -> None:
    """A folder that was renamed is not waited for under its old name."""
    assert [name for name in runpy.run_path(str(CONFTEST))["LONGEST"] if not (CONFTEST.parent / name).is_dir()] == []


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_failure_is_said_at_once(inner: pytest.Pytester, processes: str) -> None:
    """Which test it was, and why, stands before what comes next: CI may end the run before its summary."""
    inner.makepyfile(
        "def test_bad():\n    assert 1 == 2, 'not today'\n\ndef test_good():\n    import time; time.sleep(1)\n"
    )
    result = inner.runpytest_subprocess(f"--numprocesses={processes}")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*::test_bad failed (call): AssertionError: not today*", "*100%*", "*= FAILURES =*"])


def test_what_takes_long_is_named_meanwhile(inner: pytest.Pytester) -> None:
    """Once, and only what does: a run that is ended for taking too long has said what it was at."""
    inner.makeconftest(CONFTEST.read_text(encoding="utf-8").replace("LONG = 400.0", "LONG = 0.8"))
    inner.makepyfile("import time\n\ndef test_long():\n    time.sleep(2)\n\ndef test_short():\n    pass\n")
    result = inner.runpytest_subprocess("--numprocesses=2")
    result.assert_outcomes(passed=2)
    said = [line for line in result.outlines if "under way" in line]
    assert [line.rpartition("::")[2] for line in said] == ["test_long has been under way for 0.8 s"]
