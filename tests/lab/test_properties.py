"""Properties files that a reader of its own understands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from properties_reader import read_properties

from chaosk.lab.properties import properties

_texts = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\r\\ #!:="))


@given(st.dictionaries(_texts.filter(bool), _texts, max_size=5))
def test_properties_read_back(settings: dict[str, str]) -> None:
    """Any keys and values come back as they were: nothing in a value becomes a setting of its own."""
    assert read_properties(properties(settings)) == settings
