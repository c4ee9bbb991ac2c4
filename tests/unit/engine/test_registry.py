"""The engine of a program: by its instruction set, the host, and its name."""

from types import SimpleNamespace
from typing import Any

import pytest

from pfmon.engine import registry
from pfmon.engine.registry import MACHINES, EngineRow, check_name, chosen, engine_names
from pfmon.errors import PfmonError
from pfmon.stream._stream import InstructionSet


@pytest.mark.parametrize("instruction_set", set(MACHINES.values()))
@pytest.mark.parametrize("host", ["x86_64", "aarch64"])
def test_usual_engines(instruction_set: InstructionSet, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.os, "uname", lambda: SimpleNamespace(machine=host))
    wanted = {InstructionSet.IA64: "ia64", InstructionSet.X86_64: "x86_64" if host == "x86_64" else "qemu"}
    name = wanted.get(instruction_set, "qemu")
    assert chosen(instruction_set).name == chosen(instruction_set, name).name == name


@pytest.mark.parametrize(("needs", "cpu"), [(["little address space"], ""), ([], "Haswell")])
def test_runs_that_x86_64_does_not_serve_are_qemus(needs: list[str], cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.os, "uname", lambda: SimpleNamespace(machine="x86_64"))
    assert chosen(InstructionSet.X86_64, "", needs, cpu).name == "qemu"
    assert chosen(InstructionSet.X86_64, "x86_64", needs, cpu).name == "x86_64"


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
