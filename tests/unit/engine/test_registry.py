"""The engine of a program: by its instruction set, the host, and its name."""

from typing import Any

import pytest

from pfmon.engine import registry
from pfmon.engine.registry import MACHINES, EngineRow, check_name, chosen, engine_names
from pfmon.errors import PfmonError
from pfmon.stream._stream import InstructionSet


@pytest.mark.parametrize("instruction_set", set(MACHINES.values()))
def test_ia64_programs_have_an_engine_of_their_own_and_qemu_runs_the_others(instruction_set: InstructionSet) -> None:
    wanted = "ia64" if instruction_set is InstructionSet.IA64 else "qemu"
    assert chosen(instruction_set).name == chosen(instruction_set, wanted).name == wanted


def test_first_engine_that_runs_on_the_host_is_chosen_and_others_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    x86 = frozenset({InstructionSet.X86_64})
    rows = (
        EngineRow("elsewhere", "", "", x86, frozenset({"no such host"})),
        EngineRow("first", "", "", x86),
        EngineRow("second", "", "", x86),
    )
    monkeypatch.setattr(registry, "ENGINES", rows)
    assert chosen(InstructionSet.X86_64).name == "first"
    assert chosen(InstructionSet.X86_64, "second").name == "second"
    with pytest.raises(PfmonError, match="give --engine=first or --engine=second"):
        chosen(InstructionSet.X86_64, "elsewhere")


@pytest.mark.parametrize("check", [check_name, lambda name: chosen(InstructionSet.IA64, name)])
def test_unknown_name_is_refused_with_those_that_there_are(check: Any) -> None:
    with pytest.raises(PfmonError, match=f"there are: {', '.join(engine_names())}"):
        check("qmu")
