"""Target and condition expressions: every kind there is reads back, and what is wrong is said with its column."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.target import Target
from chaosk.spec.expression import ExpressionError, conditions, inside, parse_condition, parse_target, render, targets


@pytest.mark.parametrize("kind", targets().values(), ids=targets())
def test_every_target_s_example_reads_back(kind: type[Target]) -> None:
    """The example in the reference parses to that very kind, and its one spelling parses to the same value."""
    target = parse_target(kind.example)
    assert type(target) is kind
    assert parse_target(render(target)) == target


@pytest.mark.parametrize("kind", conditions().values(), ids=conditions())
def test_every_condition_s_example_reads_back(kind: type[Condition]) -> None:
    """The same for conditions."""
    condition = parse_condition(kind.example)
    assert type(condition) is kind
    assert parse_condition(render(condition)) == condition


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("leader(orders, 0)", "  leader ( orders ,0 )  "),
        ("broker(2)", "broker 2"),
        ("zookeeper(leader)", "zookeeper leader"),
        ("everyone_else", "everyone else"),
        ("brokers", "brokers()"),
        ("random(1, brokers)", "random(1)"),
    ],
)
def test_spellings_of_the_same(text: str, same: str) -> None:
    """Spaces, missing parentheses, words instead of underscores and written defaults mean the same."""
    assert parse_target(text) == parse_target(same)


def test_last_tuple_takes_all_arguments() -> None:
    """A condition over some partitions takes as many as are written."""
    condition = parse_condition("preferred_leaders(orders, 0, 2)")
    assert getattr(condition, "partitions") == (0, 2)  # noqa: B009 - the class is found by its name
    assert render(condition) == "preferred_leaders(orders, 0, 2)"


def test_nested_expression_stays_text() -> None:
    """Its owner parses it when it is needed; it is checked all the same."""
    target = parse_target("random(2, followers(orders, 1))")
    assert target.nested() == ("followers(orders, 1)",)


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("", 1, "expected the name of a target"),
        ("   ", 4, "expected the name of a target"),
        ("42", 1, "expected the name of a target"),
        ("leadr(orders, 0)", 1, "did you mean 'leader'?"),
        ("  leadr(orders, 0)", 3, "did you mean 'leader'?"),
        ("leader(orders, zero)", 16, "must be a whole number, not 'zero'"),
        ("leader(orders, 0, 1)", 19, "one argument too many"),
        ("leader(orders)", 14, "'partition' is missing"),
        ("leader(, 0)", 8, "an argument is missing"),
        ("leader(orders,)", 15, "an argument is missing"),
        ("leader(orders, 0", 17, "not closed"),
        ("leader(orders, 0))", 18, "unexpected text"),
        ("leader(orders, 0) and more", 19, "unexpected text"),
        ("leader orders 0", 8, "write arguments as leader(a, b)"),
        ("broker (2", 10, "not closed"),
        ("random(1, leadr(orders, 0))", 11, "did you mean 'leader'?"),
        ("random(1, random(1, leader(orders, x)))", 36, "must be a whole number"),
        ("zookeeper foo", 11, "does not fit"),
    ],
)
def test_mistakes_have_a_column(text: str, column: int, what: str) -> None:
    """What is wrong is said where it is, counted in characters from 1, also inside nested expressions."""
    with pytest.raises(ExpressionError) as caught:
        parse_target(text)
    assert what in caught.value.what
    assert caught.value.column == column
    assert f"column {column}:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("not(isr_ful(orders))", 5, "did you mean 'isr_full'?"),
        ("not not", 7, "'of' is missing; write not(CONDITION)"),
        ("all()", 5, "'of' is missing; write all(CONDITION, …)"),
        ("any(isr_full(orders), r_full(orders))", 23, "did you mean 'isr_full'?"),
        ("all(broker_up(0), not( broker_up(x)))", 34, "must be a whole number"),
        ("all(leader(orders, 0))", 5, "there is no condition 'leader'"),
        ("not(broker_up(0), broker_up(1))", 19, "one argument too many"),
    ],
)
def test_mistakes_in_combined_conditions_have_a_column(text: str, column: int, what: str) -> None:
    """Counted over the whole, also where the part's text stands in another part, too."""
    with pytest.raises(ExpressionError) as caught:
        parse_condition(text)
    assert what in caught.value.what
    assert caught.value.column == column


def test_conditions_are_no_targets() -> None:
    """Each kind has its own names; one in the other's place is not found."""
    with pytest.raises(ExpressionError, match="there is no condition 'leader'"):
        parse_condition("leader(orders, 0)")
    with pytest.raises(ExpressionError, match="there is no target 'isr_full'"):
        parse_target("isr_full(orders)")


@pytest.mark.parametrize("text", ["a" * 5000, "random(1, " * 50 + "brokers" + ")" * 50, "(" * 500])
def test_endless_expressions_are_refused(text: str) -> None:
    """Length and depth are bounded, so no expression can take long or overflow the stack."""
    with pytest.raises(ExpressionError):
        parse_target(text)


_TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True)
_LEADERS = st.builds(lambda topic, number: f"leader({topic}, {number})", _TOPICS, st.integers(0, 10_000))
_NESTED = st.recursive(
    _LEADERS | st.sampled_from(["controller", "brokers", "zookeepers", "broker 1", "everyone else", "minority"]),
    lambda inner: (
        st.builds(lambda count, of: f"random({count}, {of})", st.integers(1, 9), inner)
        | inner.map(lambda of: f"host({of})")
    ),
    max_leaves=5,
)


@given(_NESTED)
def test_spelling_and_parsing_are_inverse(text: str) -> None:
    """Whatever can be said, nested as deep as it may be, is spelled in one way that means the same."""
    target = parse_target(text)
    spelled = render(target)
    assert parse_target(spelled) == target
    assert render(parse_target(spelled)) == spelled


_CONDITIONS = st.recursive(
    st.sampled_from(["isr_full(orders)", "broker_up 1", "zookeeper_quorum", "progress(writer, 9)"]),
    lambda inner: (
        inner.map(lambda of: f"not({of})")
        | st.builds(
            lambda word, parts: f"{word}({', '.join(parts)})",
            st.sampled_from(["all", "any"]),
            st.lists(inner, min_size=1, max_size=3),
        )
    ),
    max_leaves=5,
)


@given(_CONDITIONS)
def test_combined_conditions_are_spelled_in_one_way(text: str) -> None:
    """The same for conditions, and what is inside is all there."""
    condition = parse_condition(text)
    assert parse_condition(render(condition)) == condition
    assert [render(each) for each in inside(condition).values()] == [
        render(parse_condition(each)) for each in dict.fromkeys(condition.nested())
    ]


@given(st.text(max_size=60) | st.text(alphabet="leadr(),012 ", max_size=60))
def test_any_text_is_an_expression_or_refused_in_words(text: str) -> None:
    """No text makes the parser raise anything but an error with a column inside, or just behind, the text."""
    for parse in (parse_target, parse_condition):
        assert 1 <= _column_of_error(parse, text) <= len(text) + 1


def _column_of_error(parse: Callable[[str], object], text: str) -> int:
    try:
        parse(text)
    except ExpressionError as error:
        return error.column
    return 1
