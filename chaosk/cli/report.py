"""``chaosk report``: rewrite the reports of a judged run."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.core.files import keep_private
from chaosk.rundir.paths import existing

FORMATS = ("html", "markdown", "junit")


@click.command("report")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="Write this format; may be repeated. Default: all.",
)
def command(run_dir: Path, formats: tuple[str, ...]) -> None:
    """Rewrite the reports of RUN_DIR from its verdict.json and events.

    Prints the summary, which ends with the path of report.html. Does not judge the run; `chaosk analyze` does.
    """
    # matplotlib and pyarrow take a second to load, which `chaosk --help` need not spend
    from rich.console import Console  # noqa: PLC0415

    from chaosk.report.files import write_all  # noqa: PLC0415
    from chaosk.report.source import read_verdict  # noqa: PLC0415
    from chaosk.report.terminal import summary  # noqa: PLC0415

    keep_private()
    run = existing(run_dir)
    written = write_all(run, formats or FORMATS)
    if run.html in written:
        Console().print(summary(read_verdict(run), run), soft_wrap=True)
    else:
        click.echo("\n".join(str(path) for path in written))
