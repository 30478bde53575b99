"""Which kind of host a lab has, from its layout and from what is on disk of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.lab import kind_selection, lab, runner
from chaosk.lab.kept_hosts import KeptHosts
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import LabState
from chaosk.lab.vm_hosts import VmHosts
from chaosk.spec.lab_layout import LabLayout


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        (LabLayout(), NamespaceHosts),
        (LabLayout(hosts="hosts"), NamespaceHosts),
        (LabLayout(hosts="vms"), VmHosts),
    ],
)
def test_the_layout_says_it(layout: LabLayout, kind: type[KeptHosts], tmp_path: Path) -> None:
    """Also when it is read again, as ``lab down`` and ``lab status`` do."""
    state = LabState(tmp_path, "x")
    assert isinstance(kind_selection.kind_of(lab.describe(layout, state)), kind)
    runner.write(runner.directory(state.directory) / "layout.json", layout.model_dump_json(exclude_unset=True))
    assert isinstance(kind_selection.present(state), kind)


def test_a_lab_that_was_hardly_begun(tmp_path: Path) -> None:
    """Without a layout on disk there is still something that can be taken down."""
    kind_selection.present(LabState(tmp_path, "x")).destroy()


def test_virtual_machines_are_in_the_title() -> None:
    """Whoever asks for the other kind under the same name is told which of the two is up."""
    one = lab.describe(LabLayout(hosts="vms"), LabState(Path("/x"), "x"))
    assert one.title.endswith("Kafka 3.9.2, virtual machines")
    assert {service.start[:2] for service in one.services} == {("systemctl", "start")}
