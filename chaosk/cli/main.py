"""The command ``chaosk``: finds its subcommands by their files, and turns every error into its exit code."""

from __future__ import annotations

import ast
import os
import pkgutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

import chaosk.cli
from chaosk import __version__
from chaosk.core.errors import ChaoskError, ExitCode
from chaosk.core.printable import printable


class Subcommands(click.Group):
    """Every other module of ``chaosk.cli`` is a subcommand; it is imported only on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the subcommands, sorted."""
        names = (info.name for info in pkgutil.iter_modules(chaosk.cli.__path__))
        return sorted(name for name in names if name != "main" and not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand of that name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = import_module(f"chaosk.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"chaosk.cli.{cmd_name}: `command` is no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands from their sources: importing all of them takes most of a second."""
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        helps = [click.Command(name, help=_docstring(name)).get_short_help_str(limit) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(list(zip(names, helps, strict=True)))


def _docstring(name: str) -> str:
    """The docstring of the function ``command`` of a subcommand's module."""
    spec = find_spec(f"chaosk.cli.{name}")
    source = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next((ast.get_docstring(node) or "" for node in functions if node.name == "command"), "")


@click.command(cls=Subcommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chaosk")
def cli() -> None:
    """Inject faults into a Kafka cluster, and judge from recorded events what its clients lost."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code instead of raising it."""
    try:
        result = cli.main(list(arguments) if arguments is not None else None, prog_name="chaosk", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone; avoid another complaint about stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.PASS
    except ChaoskError as error:
        _say(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last handler: a defect of chaosk, reported without a traceback
        _say(f"internal error, a defect of chaosk: {type(error).__name__}: {error}; details in {_keep_traceback()}")
        return ExitCode.INTERNAL
    return result if isinstance(result, int) else ExitCode.PASS


def _say(message: str) -> None:
    lines = "\n".join(map(printable, message.split("\n")))
    click.echo(lines if "\n" in lines else f"chaosk: {lines}", err=True)


def _keep_traceback() -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="chaosk-", suffix=".traceback", delete=False) as file:
        file.write(traceback.format_exc())
    return Path(file.name)
