"""Java's properties files."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import UsageError
from chaosk.discovery.java_properties import load, parse

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "key", "value", "line"),
    [
        ("log.dirs=/data1,/data2\n", "log.dirs", "/data1,/data2", 1),
        ("# no\n! no\n\n  node.id : 7  \n", "node.id", "7", 4),
        ("node.id 7", "node.id", "7", 1),
        ("log.dirs=/data1,\\\n    /data2\nnode.id=1", "log.dirs", "/data1,/data2", 1),
        ("a=1\na=2\n", "a", "2", 2),
        (r"path=C\:\\kafka\u0020x", "path", r"C:\kafka x", 1),
        (r"a\=b=c", "a=b", "c", 1),
        ("empty=", "empty", "", 1),
        ('sasl.jaas.config=a.B required \\\n  username="x" \\\n  password="hunter2=";\n', "sasl.jaas.config",
         'a.B required username="x" password="hunter2=";', 1),
        ("# a comment that ends with \\\nnode.id=1\n", "node.id", "1", 2),
    ],
)  # fmt: skip
def test_a_value_and_its_line(text: str, key: str, value: str, line: int) -> None:
    """By the rules of java.util.Properties: separators, continued lines, escapes, comments; the last one counts."""
    found = parse(text)[key]
    assert (found.text, found.line) == (value, line)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """One line says which file, and why."""
    with pytest.raises(UsageError, match=r"server\.properties: cannot be read: no such file or directory"):
        load(tmp_path / "server.properties")
