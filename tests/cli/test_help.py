"""``chaosk --help``: every subcommand, without importing them."""

from __future__ import annotations

import subprocess
import sys

import click

from chaosk.cli.main import Subcommands, cli


def test_the_help_has_every_subcommand_with_the_begin_of_its_own_help() -> None:
    """What is read from the sources is what click says of the commands themselves."""
    text = " ".join(cli.get_help(click.Context(cli, max_content_width=200, terminal_width=200)).split())
    assert isinstance(cli, Subcommands)
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert f" {name} {command.get_short_help_str(40).removesuffix('...')}" in text


def test_the_help_imports_no_subcommand() -> None:
    """It needs neither YAML nor Kafka's client nor numpy, so that it is there at once."""
    program = (
        "import sys; from chaosk.cli.main import main; main(['--help']); "
        "print([name for name in ('yaml', 'numpy', 'pydantic', 'confluent_kafka') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
