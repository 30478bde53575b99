"""``chaosk init``: a folder to start with, made for one cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chaosk.cli._discovery import discovery_options
from chaosk.cli.scenarios import write_all
from chaosk.core.errors import ExitCode, UsageError

INVENTORY, SCENARIOS, GATE = "cluster.yaml", "scenarios", "gate.sh"
_GATE = """\
#!/bin/sh
# All scenarios of this folder on the cluster, as a gate: its exit code decides; docs/gate.md explains more options.
# The first green gate is a baseline for later ones: --baseline reports/gate-...
set -eu
cd "$(dirname "$0")"
exec chaosk gate {scenarios} --inventory {inventory} --keep-going "$@"
"""


@click.command("init")
@discovery_options
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(*, folder: Path, force: bool, **options: Any) -> int:  # noqa: ANN401 - an option of each kind
    """Write a starting set: the inventory of a cluster, as `chaosk discover`, three scenarios that fit it, and a gate.

    The files are cluster.yaml, scenarios/*.yaml and gate.sh in DIR, by default this folder. Options and exit code are
    those of `chaosk discover`.
    """
    from chaosk.cli._discovery import Discovery, examined, progress, searched  # noqa: PLC0415 - loads paramiko
    from chaosk.cli._starting_set import starting_set  # noqa: PLC0415 - loads every step
    from chaosk.document import shipped  # noqa: PLC0415 - loads YAML

    if not force and (folder / INVENTORY).exists():
        path = folder / INVENTORY
        raise UsageError(
            f"{path}: is there already; compare it with: chaosk discover --inventory {path}; or add --force"
        )
    found = searched(Discovery.of(options))
    files = {folder / INVENTORY: found.text}
    cluster = found.inventory()
    if cluster is not None:
        chosen = starting_set(cluster)
        names = {name: folder / SCENARIOS / f"{name.rpartition('/')[2]}.yaml" for name in chosen}
        files |= {names[name]: shipped.text_of(path) for name, path in chosen.items()}
        files[folder / GATE] = _GATE.format(scenarios=SCENARIOS, inventory=INVENTORY)
    write_all(files, force=force)
    if cluster is not None:
        (folder / GATE).chmod(0o755)
    fit = examined(found)
    for path in files:
        click.echo(path)
    if cluster is None:
        path = folder / INVENTORY
        progress(f"answer the questions in {path}, then: chaosk scenarios copy --inventory {path}")
    elif len(files) == 2:
        progress(
            f"none of chaosk's scenarios fits {len(cluster.brokers)} brokers; docs/scenario.md shows how to write one"
        )
    return ExitCode.PASS if fit else ExitCode.PREFLIGHT
