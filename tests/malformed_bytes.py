"""Files that are no document at all: encodings, invisible characters, sizes, depths, bombs, broken syntax."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

INVISIBLE = (
    *range(9), 11, 12, *range(14, 32), *range(127, 160), 0x200B, 0x2060, 0xFEFF, 0x061C, 0x200E, 0x200F, 0x2028, 0x2029,
    *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF,
)  # fmt: skip
"""Code points that nobody sees, or that turn the direction of what follows."""

BROKEN = (
    "name: [a, b", "name: {a: b", 'name: "abc', "name: 'abc", "name: a: b", "name:\n\t- a", "name: @a", "name: `a`",
    'name: "\\q"', "a: 1\n b: 2", "- a\nb: 1", "a\nb: 1", "name: %a", "name: |\n a\n  b\nc", "name: >x\n a", "? ",
    ": a", "- - -\n a: b\n- c", "[a]]", "{a: 1}}", "name: ,a", "name: ]", "name: }", "---\na: 1\n---\nb: 2", "...\na",
    "%YAML 9.9\n---\na: 1", "%TAG ! x\n---\na: 1", "%FOO\n---\na: 1", "name: !<a", "name: &", "name: *", "&a : 1",
    "name: [a\nb: c", "name: {a, b: c, d", "!!map {a", "a: b\n  - c", "a:\n- b\n c", "'a: b", '"a: b', "a: 'b''",
    "a: - b",
)  # fmt: skip
"""No YAML, or none that is read here."""

EMPTY = ("", " ", "\n\n", "# a comment\n", "---\n", "---\n...\n", "~\n", "null\n", "''\n", '""\n', "[]\n", "a\n", "5\n")


def _encodings() -> Iterator[tuple[str, bytes]]:
    text = "name: a\nhypothesis: b\nhosts: {}\n"
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
        yield "encoding", text.encode(name)
    yield "byte order mark", codecs.BOM_UTF8 + text.encode()
    yield "byte order mark", codecs.BOM_UTF16_BE + text.encode()
    yield "byte order mark", text.encode() + codecs.BOM_UTF8
    for wrong in (
        b"\xe9",
        b"\xff",
        b"\x80",
        b"\xc3",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf5\x80\x80\x80",
    ):
        yield "encoding", text.encode() + b"covers: [" + wrong + b"]\n"
    yield "encoding", text.encode("cp037")


def _invisible() -> Iterator[tuple[str, bytes]]:
    for point in INVISIBLE:
        family = "control character" if point < 0x100 else "bidi and zero width"
        yield family, f"name: a\nhypothesis: b{chr(point)}c\n".encode()


def _large() -> Iterator[tuple[str, bytes]]:
    most = 1024 * 1024
    for piece in (b"#", b" ", b"\n", b"name: a\n", b"- a\n", b"[", b"{a: ", b"? ", b"'", b"&a ", b"a", b'"\\u0061'):
        yield "size", piece * (most // len(piece) + 1)
    for piece in (b"- a\n", b"- - a\n", b"- {a: b}\n"):
        yield "too many values", piece * 20_000
    yield "too many values", b"".join(b"a%d: 1\n" % number for number in range(20_000))
    yield "too many values", b"[" + b"a, " * 300_000 + b"a]"
    yield "too long", b"name: " + b"a" * 500_000


def _deep() -> Iterator[tuple[str, bytes]]:
    for level in (33, 100, 5_000, 100_000):
        for opening in ("[", "{a: ", "- ", "? ", "[{"):
            yield "depth", f"{opening * level}".encode()
        yield "depth", f"a: {'[' * level}{']' * level}".encode()
    for level in (40, 300):
        yield "depth", "".join(f"{' ' * at}a:\n" for at in range(level)).encode()


def bombs(document: str) -> Iterator[tuple[str, bytes]]:
    """Aliases that would grow without end, in front of a document that is right."""
    for levels in (2, 5, 10, 30):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
        yield "alias bomb", ("\n".join(lines) + f"\n{document}").encode()
    yield "alias bomb", f"a: &a {{b: *a}}\n{document}".encode()
    yield "alias bomb", f"a: &a [*a, *a]\n{document}".encode()
    yield "merge key", f"a: &a {{b: c}}\nd: {{<<: *a}}\n{document}".encode()
    yield "second document", f"{document}---\n{document}".encode()
    yield "directive", f"%YAML 1.1\n---\n{document}".encode()


RAW: tuple[tuple[str, bytes], ...] = (
    *(("syntax", text.encode()) for text in BROKEN),
    *(("empty", text.encode()) for text in EMPTY),
    *_encodings(),
    *_invisible(),
    *_large(),
    *_deep(),
)
"""Class and bytes; wrong as a scenario and as an inventory."""
