"""A reader of Java's properties files that shares nothing with what writes them."""

from __future__ import annotations


def read_properties(text: str) -> dict[str, str]:
    """A reader of properties files of its own, by the grammar of java.util.Properties, for what the lab writes."""
    found = {}
    for line in text.split("\n")[:-1]:
        fields, current, escaped = [""], 0, False
        for char in line:
            if escaped:
                fields[current] += {"n": "\n", "r": "\r"}.get(char, char)
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == "=" and current == 0:
                fields.append("")
                current = 1
            else:
                fields[current] += char
        found[fields[0]] = fields[1]
    return found
