"""Markdown as GitHub shows it: a dialect with tables, strikethrough and HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt

GITHUB = MarkdownIt("gfm-like", {"linkify": False, "html": True})


def rendered(text: str) -> str:
    """The page's HTML."""
    shown: str = GITHUB.render(text)
    return shown
