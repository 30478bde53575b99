"""What holds for every step there is: its page can be written, and its example can be copied."""

from __future__ import annotations

import pytest
import yaml

from chaosk.core import docstrings
from chaosk.spec.contracts.step import Step
from chaosk.spec.expression import parse_target
from chaosk.spec.scenario import Entry, steps

STEPS = steps()
NEEDED = {
    "stop_broker", "kill_broker", "start_broker", "restart_broker", "pause_broker", "stop_zookeeper", "kill_zookeeper",
    "start_zookeeper", "restart_zookeeper", "cut_network", "elect_leader", "stop_probe", "kill_probe", "start_probe",
    "wait", "lose_packets", "fill_disk", "burn_cpu", "eat_memory", "change_owner", "remount_read_only",
    "reset_connections", "delay_network", "duplicate_packets", "reorder_packets", "limit_bandwidth", "skew_clock",
    "power_off", "reboot", "crash_kernel", "slow_disk", "fail_disk", "revoke_dns", "change_address",
    "pause_zookeeper", "pause_controller", "pause_probe", "reassign_partitions",
    "cancel_reassignment", "create_partitions", "set_topic_config", "set_broker_config", "set_quota", "observe",
    "switch_version", "restore_version", "wipe_disk", "corrupt_log", "recreate_topic", "deny_access",
    "swap_certificate",
}  # fmt: skip


def test_the_steps_that_were_asked_for_are_there() -> None:
    """Each by the name that scenarios use."""
    assert set(STEPS) >= NEEDED


@pytest.mark.parametrize("name", STEPS)
def test_the_example_is_an_entry(name: str) -> None:
    """It reads as one timeline entry with this step, and its targets can be parsed."""
    entry = yaml.safe_load(STEPS[name].example)
    step = STEPS[name].model_validate(entry.pop(name))
    assert set(entry) <= {field.alias or key for key, field in Entry.model_fields.items()}
    for target in step.targets():
        parse_target(target)


@pytest.mark.parametrize("name", STEPS)
def test_a_duration_only_where_something_lasts(name: str) -> None:
    """`for` says when to undo; an example of a step that leaves nothing has none."""
    assert ("for:" in STEPS[name].example) is STEPS[name].lasting


@pytest.mark.parametrize("name", STEPS)
def test_its_page_can_be_written(name: str) -> None:
    """The step and each of its fields say what they are."""
    kind = STEPS[name]
    assert kind.__doc__
    assert kind.__doc__ != Step.__doc__
    assert docstrings.of_fields(kind).keys() >= kind.model_fields.keys()


@pytest.mark.parametrize("name", STEPS)
def test_what_a_step_ends_exists(name: str) -> None:
    """Each of them is a step that lasts."""
    assert all(STEPS[ended].lasting for ended in STEPS[name].ends)


@pytest.mark.parametrize("name", STEPS)
def test_an_unknown_key_is_refused(name: str) -> None:
    """A misspelt key must not be passed over in silence."""
    entry = yaml.safe_load(STEPS[name].example)
    with pytest.raises(ValueError, match="Extra inputs"):
        STEPS[name].model_validate({**entry[name], "tagret": "x"})
