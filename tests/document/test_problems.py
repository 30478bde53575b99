"""Problems: how they are written, ordered and counted."""

from __future__ import annotations

from pathlib import Path

from chaosk.core.errors import ExitCode, UsageError
from chaosk.document.problems import DocumentError, Problem, unreadable


def test_a_problem_reads_like_a_compiler_s() -> None:
    """File, line and column in the form that editors jump to; then the path, what is wrong, what to write."""
    problem = Problem("a.yaml", 3, 7, "topics.orders", "is wrong; write it right")
    assert str(problem) == "a.yaml:3:7: topics.orders: is wrong; write it right"
    assert str(Problem("a.yaml", 1, 1, "", "the file is empty")) == "a.yaml:1:1: the file is empty"


def test_problems_stand_in_the_order_of_the_file_each_once() -> None:
    """However they were found: by line, then by column, without repetition."""
    late, early, same_line = (Problem("a", 10, 1, "", "x"), Problem("a", 9, 5, "", "x"), Problem("a", 9, 12, "", "x"))
    error = DocumentError([late, same_line, early, late])
    assert error.problems == (early, same_line, late)
    assert str(error) == "a:9:5: x\na:9:12: x\na:10:1: x"


def test_it_is_bad_input() -> None:
    """Whoever catches usage errors catches it, and the program ends with their code."""
    error = DocumentError([Problem("a", 1, 1, "", "x")])
    assert isinstance(error, UsageError)
    assert error.exit_code is ExitCode.USAGE


def test_exactly_as_many_as_are_shown() -> None:
    """Fifty are shown; only the fifty-first is counted instead."""
    fifty = [Problem("a", line, 1, "", "x") for line in range(1, 51)]
    assert "more" not in str(DocumentError(fifty))
    assert str(DocumentError([*fifty, Problem("a", 51, 1, "", "x")])).endswith("… and 1 more; fix these first")


def test_a_file_that_cannot_be_read() -> None:
    """The system's reason in a sentence, also where it has no words."""
    error = unreadable(Path("x.yaml"), FileNotFoundError(2, "No such file or directory"))
    assert str(error) == "x.yaml:1:1: cannot be read: no such file or directory; name a file that you may read"
    assert "cannot be read: broken" in str(unreadable(Path("x.yaml"), OSError("broken")))


def test_a_terminal_obeys_nothing_of_it() -> None:
    """What a file says of itself is shown, on one line: colours, line ends and invisible characters as escapes."""
    told = str(Problem("a.yaml", 1, 2, "topics.a\x1b[31m", "there is no 'b\r\n\u202e'; write c"))
    assert told == r"a.yaml:1:2: topics.a\x1b[31m: there is no 'b\r\n\u202e'; write c"
