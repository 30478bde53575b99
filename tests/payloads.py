"""Text that does harm where a shell, a packet filter or a page reads it as anything but text."""

from __future__ import annotations

import os
from itertools import product

CANARY = "canary"
"""Name of the file that a payload makes where it is obeyed."""

_DEEDS = ("$(touch @)", "`touch @`", ";touch @", "|touch @", "&touch @", "&&touch @", "||touch @", "\ntouch @\n",
          ">@", "$(>@)", "${x:-$(touch @)}", "<<E\n$(touch @)\nE\n")  # fmt: skip
_AROUND = (("", ""), ("'", "'"), ('"', '"'), ("\\", ""), ("') ", " ('"), ("a ", " #"))
_ODD = (
    "-j ACCEPT", "--jump ACCEPT", "-F", "--flush", "-A INPUT -j DROP", "--help", "--", "-", "-e", "-n", "-rf /", "*",
    "?", "[a-z]*", "~", "~root", "{a,b}", "!!", "!$", "#", "# x", "$IFS", "${IFS}touch${IFS}@", "$((1/0))", "$@", "$*",
    "$0", "$$", "$?", "%s%n%d", "\\", "\\\\", "\\c", "\\n", "\\0101", "\t", " ", "  a  b  ", "a\r\nb", "\x1b[31m",
    "'", '"', "''", '"\'"\'"', "\u202eevil", "\u2028touch @", "café", "\U0001f525", "a" * 3000, "${!x}", "<(touch @)",
    "eval touch @", "x=$(touch @) y", "touch @", "exec touch @", "\\\ntouch @\n", "\x00touch @", "a\x00b", "../../@",
    "/etc/../@", "{{ 7 * 7 }}", "${7*7}", "<script>", "\x7f", "COMMIT\n*filter\n:INPUT DROP [0:0]\n", "@_self",
)  # fmt: skip
_ACTIVE = (f"{before}{deed}{after}" for (before, after), deed in product(_AROUND, _DEEDS))
SHELL = tuple(dict.fromkeys(text.replace("@", CANARY) for text in (*_ACTIVE, *_ODD)))
"""What a shell would obey, alone or inside of quotes; options; and what is easily quoted wrongly."""

HARMLESS_IN_A_FILE = tuple(text for text in SHELL if "\x00" not in text)
"""Those that can be an argument at all: the kernel ends each at a NUL."""


def some(texts: tuple[str, ...]) -> tuple[str, ...]:
    """All of them with ``--all``, else every thirteenth: of each way to quote and of the odd ones there are some."""
    return texts if "CHAOSK_ALL" in os.environ else texts[::13]
