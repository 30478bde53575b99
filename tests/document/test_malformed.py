"""Every kind of mistake is reported at its place, in words that help, quickly, and never as a traceback."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from malformed_documents import CORPUS, Malformed
from sample_documents import SCENARIO, written

from chaosk.document import DocumentError, load_scenario


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: f"{case.kind}: {case.says}"[:60])
def test_mistake_is_reported_where_it_is(tmp_path: Path, case: Malformed) -> None:
    """Exactly one problem: in the right line, at the right path, saying what is wrong."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, case.document))
    problems = caught.value.problems
    assert len(problems) == 1, str(caught.value)
    assert case.says in problems[0].what
    assert (problems[0].path, problems[0].line) == (case.path, case.line), str(caught.value)


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: f"{case.kind}: {case.says}"[:60])
def test_message_says_what_to_write(tmp_path: Path, case: Malformed) -> None:
    """Each message has the form `file:line:column: path: what is wrong; what to write`, in our own words."""
    path = written(tmp_path, case.document)
    with pytest.raises(DocumentError) as caught:
        load_scenario(path)
    message = str(caught.value)
    problem = caught.value.problems[0]
    assert message.startswith(f"{path}:{problem.line}:{problem.column}: ")
    assert ";" in problem.what or "?" in problem.what
    for foreign in ("pydantic", "Input should", "Traceback", "dict", "NoneType", "tuple", "str'"):
        assert foreign not in problem.what


def test_corpus_is_broad() -> None:
    """The corpus stays what it claims to be: many files, in many classes, each another one."""
    assert len(CORPUS) >= 100
    assert len({case.kind for case in CORPUS}) >= 25
    assert len({case.document for case in CORPUS}) == len(CORPUS)


def test_every_mistake_is_found_quickly(tmp_path: Path) -> None:
    """The whole corpus takes seconds, so no file of it can take long: a mebibyte is refused as fast as a typo."""
    began = time.process_time()  # of this process alone: what else is at work is no part of it
    for case in CORPUS:
        with pytest.raises(DocumentError):
            load_scenario(written(tmp_path, case.document))
    assert time.process_time() - began < 20


def test_sample_is_right(tmp_path: Path) -> None:
    """What the corpus starts from has no mistake: each case differs from a valid file by that one alone."""
    assert load_scenario(written(tmp_path, SCENARIO)).name == "Kill the leader"


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Mistakes of every stage are in one report, in the order of the file."""
    document = (
        SCENARIO.replace("name: Kill the leader", "name: 5")
        .replace("count: 6", "count: 6\n  unused: 1")
        .replace("leader(orders, 0)", "leader(order, 0)")
        .replace("isr_full(orders)", "isr_ful(orders)")
        .replace("settle: 20s", "setle: 20s")
        .replace("recovery: 30s", "recovery: 30")
    )
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, document))
    paths = [problem.path for problem in caught.value.problems]
    assert paths == [
        "name", "variables.unused", "timeline[0].kill_broker.target", "timeline[1].when", "setle", "expect.recovery",
    ]  # fmt: skip


def test_more_mistakes_than_are_told_hide_no_other_from_the_loader(tmp_path: Path) -> None:
    """What lies beyond the most that are told is wrong as well: refused in words, not by a crash."""
    entries = "".join("- {at: 1s, wait: {duration: soon}}\n" for _ in range(250))
    path = tmp_path / "wrong.yaml"
    path.write_text(
        f"name: x\ntimeline:\n{entries}expect: {{unavailability: {{writer: {{min: a, max: b}}}}}}\n", "utf-8"
    )
    with pytest.raises(DocumentError, match="is not a duration"):
        load_scenario(path)
