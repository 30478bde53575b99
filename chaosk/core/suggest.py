"""The nearest known name to one that is not known, for messages that help."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_WORDS = re.compile(r"[a-z0-9]+")
_AT_MOST = 12
"""More names than this are no help in one line."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like ``word``, whatever its case; None if none is alike.

    One that has all the words of it and more (``realtime_lag_max`` for ``lag_max``) goes before one of like letters.
    """
    names = {name.lower(): name for name in sorted(known, reverse=True)}
    words = set(_WORDS.findall(word.lower()))
    if len(words) > 1 and (longer := [name for name in names if words <= set(_WORDS.findall(name))]):
        return names[min(longer, key=lambda name: (len(name), name))]
    found = get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def instead(word: str, known: Iterable[str]) -> str:
    """What to write instead of ``word``: the nearest known name, or all of them, as the second half of a message."""
    names = sorted(set(known))
    alike = nearest(word, names)
    if alike is not None:
        return f"did you mean {alike!r}?"
    if not names:
        return "there is none to choose from"
    more = f", … ({len(names)} in all)" if len(names) > _AT_MOST else ""
    return f"write one of {', '.join(names[:_AT_MOST])}{more}"
