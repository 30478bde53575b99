"""Descriptions of fields: read from the source, where somebody asks for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

from chaosk.core import docstrings
from chaosk.core.model import Model


class Base(Model):
    """A base."""

    one: int = 1
    """The first."""
    two: int = 2
    bare: int = 3


class Below(Base):
    """Built upon it."""

    two: int = 4
    """The second,

    of several lines.
    """
    three: Base = Base()
    """Another one."""
    given: int = Field(default=5, description="As it is given.")
    """Not this."""

    class Inner(Model):
        """Within."""

        x_: int = Field(default=0, alias="x")
        """Known by another name."""

    #: a comment is none
    other: int = 0


def test_bases_and_inner_classes_have_theirs() -> None:
    """A field has the text below it, of several lines too; without one it has none, whatever stands around it."""
    below = {
        "one": "The first.",
        "two": "The second,\n\nof several lines.",
        "three": "Another one.",
        "given": "Not this.",
    }
    assert docstrings.of_fields(Base) == {"one": "The first."}
    assert docstrings.of_fields(Below) == below
    assert docstrings.of_fields(Below.Inner) == {"x_": "Known by another name."}


def test_classes_in_functions_have_theirs() -> None:
    """Also those of one name in two of them."""

    def made() -> type[Model]:
        class Local(Model):
            here: int = 0
            """In a function."""

        return Local

    class Local(Model):
        here: int = 0
        """In the test."""

    assert docstrings.of_fields(made()) == {"here": "In a function."}
    assert docstrings.of_fields(Local) == {"here": "In the test."}


def test_they_are_in_the_schema() -> None:
    """By the name that is written, beside a reference too; what a field was given goes before."""
    found: dict[str, Any] = Below.model_json_schema()["properties"]
    said = {name: each.get("description") for name, each in found.items()}
    assert said == {
        "one": "The first.", "two": "The second,\n\nof several lines.", "bare": None, "three": "Another one.",
        "given": "As it is given.", "other": None,
    }  # fmt: skip
    assert Below.Inner.model_json_schema()["properties"]["x"]["description"] == "Known by another name."


def test_a_class_that_was_not_written_borrows_them() -> None:
    """Of its lenders, and only for fields that it has; without lenders it has none."""
    fields: dict[str, Any] = {"two": (int, 0), "more": (int, 0)}
    shape = create_model("Shape", __base__=Model, **fields)
    assert docstrings.of_fields(shape) == {}
    docstrings.lend(shape, Base, Below)
    found = shape.model_json_schema()["properties"]
    assert [found[name].get("description") for name in ("two", "more")] == ["The second,\n\nof several lines.", None]


def test_what_has_no_source_has_none(tmp_path: Path) -> None:
    """A class whose file is no Python any more, or has no such class; it has those of the file as it is now."""
    (tmp_path / "gone.py").write_text(
        "from chaosk.core.model import Model\nclass Gone(Model):\n  x: int\n  'Text.'\n", "utf-8"
    )
    look = (
        "import sys, pathlib; sys.path.insert(0, '.'); import gone; from chaosk.core import docstrings\n"
        "pathlib.Path('gone.py').write_text(sys.argv[1]); print(dict(docstrings.of_fields(gone.Gone)))"
    )
    for text, said in (("no ( Python", "{}"), ("", "{}"), ("class Gone:\n  x: int\n  'Other.'\n", "{'x': 'Other.'}")):
        done = subprocess.run(
            [sys.executable, "-c", look, text], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == said
        (tmp_path / "gone.py").write_text(
            "from chaosk.core.model import Model\nclass Gone(Model):\n  x: int\n", "utf-8"
        )
