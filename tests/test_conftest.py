"""Under CI nothing is skipped in silence: each rule seen in a pytest of its own that loads the real conftest."""

from __future__ import annotations

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
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makeini(MARKERS)
    return pytester


@pytest.mark.parametrize(("words", "ran", "left"), [((), 1, 1), (("--all",), 2, 0)])
def test_long_tests_run_only_if_asked_for(inner: pytest.Pytester, words: tuple[str, ...], ran: int, left: int) -> None:
    """They are not skipped, which CI would take for a failure, but left out, and the summary counts them."""
    inner.makepyfile(LAB_TEST.replace("mark.lab", "mark.long"))
    inner.runpytest_inprocess(*words).assert_outcomes(passed=ran, deselected=left)


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
    for tool in ("java", "mvn", "ip", "iptables", "unshare", "nsenter", "sshd", "sudo", "strace"):
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
