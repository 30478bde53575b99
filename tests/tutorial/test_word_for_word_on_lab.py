"""The tutorial, done by somebody who types what it says: in a clean clone, on a lab, to its end."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tutorial.page import ROOT, Block, blocks, not_shown

from chaosk import lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

LAB = "tutorial"
COMMAND = "#!{0}/.venv/bin/python\nimport sys\nfrom chaosk.__main__ import main\nsys.exit(main())\n"
STAMP = """
now=$({ echo "$here" && cat "$here"/{dev,pyproject.toml,requirements.lock,requirements-dev.lock}; } | sha256sum)
printf '%s\\n' "$now dev" "$now run"
"""


class Reader:
    """A shell that somebody types into: its folder and its variables last from block to block."""

    def __init__(self, home: Path) -> None:
        self.home, self.at = home, home
        self.typed: list[str] = []
        """Lines that set a variable of the shell."""
        kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        self.settings = kept | git | {"CHAOSK_REPOSITORY": str(ROOT), "COLUMNS": "160"}

    def types(self, block: Block) -> str:
        """The block's commands, one after the other; what they print. Each but the last must end with 0."""
        *first, last = block.text.splitlines()
        said = [self._types(line, 0) for line in first] + [self._types(last, int(block.about or 0))]
        return "".join(said)

    def _types(self, line: str, code: int) -> str:
        script = "\n".join((*self.typed, line, "code=$?", f"pwd >{self.home}/at", "exit $code"))
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.at, env=self.settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"{line}\n{done.stdout}"
        if line.partition("=")[0].isidentifier():
            self.typed.append(line)
        self.at = Path((self.home / "at").read_text("utf-8").strip())
        return done.stdout


def set_up(clone: Path) -> None:
    """What ``./dev`` does first, and other tests let it do: minutes of downloads. Here it is what this machine has."""
    venv.create(clone / ".venv", symlinks=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(clone / ".venv")}))
    (place / "here.pth").write_text(f"{clone}\n{sysconfig.get_path('purelib')}\n", "utf-8")
    command = clone / ".venv/bin/chaosk"
    command.write_text(COMMAND.format(clone), "utf-8")
    command.chmod(0o755)
    said = subprocess.run(
        ["bash", "-c", STAMP], env={**os.environ, "here": str(clone)}, stdout=subprocess.PIPE, check=True
    ).stdout
    (clone / ".venv/.dev-setup").write_bytes(said)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Somebody in an empty folder; the lab that they put up is gone afterwards."""
    lab.down(LAB, print, force=True)
    yield Reader(tmp_path)
    lab.down(LAB, print, force=True)


def test_every_word_of_the_tutorial(reader: Reader, tmp_path: Path) -> None:
    """Each command ends as the page says and prints what the page shows, from the clone to the end of the lab."""
    printed = ""
    for block in blocks():
        if block.kind == "yaml":
            (reader.at / block.about).write_text(block.text, "utf-8")
        elif block.kind == "sh":
            printed = reader.types(block)
            if (tmp_path / "chaosk").is_dir() and not (tmp_path / "chaosk/.venv").exists():
                set_up(tmp_path / "chaosk")
        else:
            assert not_shown(block.text, printed) == [], printed
    assert reader.at == tmp_path / "chaosk"
    assert LAB not in lab.state.names()
