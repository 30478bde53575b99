"""Suggestions for an unknown name: the nearest known one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_WORDS = re.compile(r"[a-z0-9]+")
_AT_MOST = 12
"""The most names that one line lists."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to ``word``, ignoring case; None if none is similar.

    A name that contains all words of ``word`` (``realtime_lag_max`` for ``lag_max``) takes precedence over similar
    letters.
    """
    names = {name.lower(): name for name in sorted(known, reverse=True)}
    words = set(_WORDS.findall(word.lower()))
    if len(words) > 1 and (longer := [name for name in names if words <= set(_WORDS.findall(name))]):
        return names[min(longer, key=lambda name: (len(name), name))]
    found = get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def instead(word: str, known: Iterable[str]) -> str:
    """Return the second half of a message about an unknown ``word``: the nearest known name, or all names."""
    names = sorted(set(known))
    alike = nearest(word, names)
    if alike is not None:
        return f"did you mean {alike!r}?"
    if not names:
        return "there is none to choose from"
    more = f", … ({len(names)} in all)" if len(names) > _AT_MOST else ""
    return f"write one of {', '.join(names[:_AT_MOST])}{more}"
