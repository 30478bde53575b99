"""``chaosk analyze``: judge a run again, at any time and place, without a cluster."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.core.errors import ExitCode
from chaosk.core.files import keep_private


@click.command()
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option(
    "--master", help="Spark master, like spark://host:7077; default: your Spark configuration, or this machine."
)
@click.pass_context
def command(context: click.Context, run_dir: Path, master: str | None) -> None:
    """Judge the events of RUN_DIR and write verdict.json and evidence/. The same events give the same bytes.

    The exit code is the verdict's.
    """
    from chaosk.analysis.process import judge  # noqa: PLC0415 - Spark is slow to import, and `--help` needs none

    keep_private()
    verdict = judge(run_dir, master)
    click.echo(verdict.summary)
    click.echo(run_dir / "verdict.json")
    if verdict.exit_code is not ExitCode.PASS:
        context.exit(verdict.exit_code)
