"""Scenarios that come with chaosk: listed, copied, and chosen for a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sample_inventory import INVENTORY

from chaosk.cli._starting_set import starting_set
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode
from chaosk.document import load_variants, shipped
from chaosk.spec.inventory import Inventory

pytestmark = pytest.mark.pure
KRAFT = INVENTORY.model_copy(
    update={
        "zookeepers": {},
        "controllers": Inventory.model_validate(
            {
                **INVENTORY.model_dump(exclude={"zookeepers"}, mode="json"),
                "controllers": {
                    number: {"host": f"node{number - 100}", "port": 9094, "service": {"systemd": "c.service"}}
                    for number in (101, 102, 103)
                },
            }
        ).controllers,
    }
)


def written(folder: Path, cluster: Inventory) -> Path:
    """An inventory as a file."""
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump(cluster.model_dump(mode="json", exclude_unset=True)), "utf-8")
    return file


def test_every_scenario_is_listed_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """By its path without the ending; spaces of sequences are none."""
    assert main(["scenarios", "list"]) == ExitCode.PASS
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(shipped.scenarios()) > 90
    assert "brokers/kill-the-leader" in "\n".join(lines)
    assert not any(line.startswith("explore/") for line in lines)


def test_copies_are_valid_and_never_replace_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy has no link to a schema of the checkout; a second copy is refused as a whole."""
    words = ["scenarios", "copy", "kill-the-leader", "groups", "--to", str(tmp_path)]
    assert main(words) == ExitCode.PASS
    for path in capsys.readouterr().out.splitlines():
        assert load_variants(Path(path))
        assert "yaml-language-server" not in Path(path).read_text("utf-8")
    (tmp_path / "brokers" / "kill-the-leader.yaml").unlink()
    assert main(words) == ExitCode.USAGE
    assert "is there already" in capsys.readouterr().err
    assert not (tmp_path / "brokers" / "kill-the-leader.yaml").exists()


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest ones."""
    assert main(["scenarios", "list", "brokers/kill-the-leadr"]) == ExitCode.USAGE
    assert "brokers/kill-the-leader" in capsys.readouterr().err


def test_only_what_fits_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster with ZooKeeper gets nothing that needs controllers, and the other way round."""
    main(["scenarios", "list", "zookeeper", "controllers", "--inventory", str(written(tmp_path, INVENTORY))])
    out = capsys.readouterr().out
    assert "zookeeper/zookeeper-leader-stop" in out
    assert "controllers/controller-kill" not in out
    main(["scenarios", "list", "zookeeper", "controllers", "--inventory", str(written(tmp_path, KRAFT))])
    out = capsys.readouterr().out
    assert "zookeeper/zookeeper-leader-stop" not in out
    assert "controllers/controller-kill" in out


@pytest.mark.parametrize(
    ("cluster", "names"),
    [
        (INVENTORY, ["brokers/kill-the-leader", "zookeeper/zookeeper-leader-stop", "groups/coordinator-kill"]),
        (KRAFT, ["brokers/kill-the-leader", "controllers/controller-kill", "groups/coordinator-kill"]),
    ],
)
def test_a_starting_set_is_about_brokers_quorum_and_clients(cluster: Inventory, names: list[str]) -> None:
    """By the mode of the cluster."""
    assert [*starting_set(cluster)] == names


def test_a_cluster_with_a_login_for_probes_starts_with_rights() -> None:
    """TLS and a login of the probes' own are what withdrawing rights needs."""
    secured = KRAFT.model_copy(
        update={
            "client": {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"},
            "probe_client": {"sasl.username": "probes"},
            "kafka": KRAFT.kafka.model_copy(update={"client_config": "/etc/client"}),
        }
    )
    assert "clients/rights-withdrawn" in starting_set(secured)


def test_a_cluster_of_two_brokers_gets_only_what_fits() -> None:
    """Three replicas do not fit; the set may be empty."""
    two = INVENTORY.model_copy(update={"brokers": {number: INVENTORY.brokers[number] for number in (0, 1)}})
    for path in starting_set(two).values():
        scenarios = load_variants(path).values()
        assert all(topic.replication_factor <= 2 for each in scenarios for topic in each.topics.values())
