"""Machines that stand for a PMU have that PMU in their files, and every PMU has a name."""

from pfmon import pmu
from pfmon.machine.config import machine_config
from pfmon.pmu.processor_names import MACHINES, processor_names, shown_name


def test_each_machine_has_the_pmu() -> None:
    assert {name: str(machine_config.load(name)["machine.pmu"]) for name in MACHINES} == MACHINES
    others = [name for name in machine_config.FILES if name not in MACHINES]
    assert not {str(machine_config.load(name)["machine.pmu"]) for name in others} & {*MACHINES.values()}


def test_each_pmu_is_called_by_a_name_that_is_taken() -> None:
    known = processor_names()
    assert {shown_name(name) for name in pmu.names()} <= {*known}
    assert {MACHINES.get(name, name) for name in known} == {*pmu.names()}
    assert shown_name("intel_v2", "nehalem") == "nehalem" and shown_name("intel_v2", "skylake") == "core2"
