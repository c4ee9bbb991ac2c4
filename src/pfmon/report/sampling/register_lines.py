"""The registers of a sample, decoded as pfmon prints them (pfmon on Itanium 2, sections 5 and 6).

A register that its unit's mode leaves undefined is left out: PMD1 in TLB mode, PMD2 in ALAT mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pfmon.pmu.capture.branch_captures import BranchBuffer, BranchEntry, IpEar, IpEntry
from pfmon.pmu.capture.captures import ALAT, DataEar, InstructionEar
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.pmu.capture.precise_loads import PreciseLoads

if TYPE_CHECKING:
    from pfmon.report.sampling.sampling_module import ModuleContext

    Held = Mapping[int, int]
    Show = Callable[[int], str]
    Writer = Callable[[Held, int], list[str]]


DEEPER = " " * 7
"""Additional indentation of an entry's details."""
NO_LEVEL = "N/A"


class RegisterLines:
    """Formats registers of samples according to the PMU's capture units."""

    def __init__(self, context: ModuleContext) -> None:
        data, instruction, branches, ips = context.captures
        self._plain = partial(plain_lines, context.register)
        self._writers: dict[int, Writer] = {}
        if isinstance(data, PreciseLoads):
            self._writers |= dict.fromkeys(data.registers, partial(precise_load_lines, data, context.shown))
        elif data:
            self._writers |= dict.fromkeys(data.registers, partial(data_lines, data, context.shown))
        if instruction:
            self._writers |= dict.fromkeys(
                instruction.registers, partial(instruction_lines, instruction, context.shown)
            )
        if isinstance(branches, LastBranchStack):
            writer = partial(last_branch_lines, branches, context.shown, branches.has_predictions and context.timed)
            self._writers |= dict.fromkeys(branches.registers, writer)
        elif branches:
            self._writers |= dict.fromkeys(branches.registers, partial(branch_lines, branches, context.shown))
        if ips:
            self._writers |= dict.fromkeys(ips.registers, partial(ip_lines, ips, context.shown))

    def lines(self, pmds: Sequence[tuple[int, int]]) -> list[str]:
        """Return the lines of registers, in order; the entries of a branch buffer, oldest first, at its first
        register."""
        held = dict(pmds)
        return [line for number in held for line in self._writers.get(number, self._plain)(held, number)]


def plain_lines(name: Callable[[int], str], held: Held, number: int) -> list[str]:
    """Return the line of an undecoded register."""
    return [f"{name(number):<6}: {held[number]:#018x}"]


def data_lines(ear: DataEar, show: Show, held: Held, number: int) -> list[str]:
    """Return the lines of a data EAR register."""
    found = ear.capture(held)
    if number == ear.address_register:
        return [] if found.address is None else [_line(number, f"miss address={found.address:#x}")]
    if number == ear.instruction_register:
        valid = _letter(found.instruction is not None)
        return [_line(number, f"valid={valid}, instr address={show(ear.instruction(held))}")]
    parts = [f"valid={_letter(found.valid)}"] if ear.says_valid else []
    if ear.mode != ALAT:
        parts += _cause(found.latency, found.overflow, found.level, ear.has_overflow)
    return [_line(number, ", ".join(parts))]


def instruction_lines(ear: InstructionEar, show: Show, held: Held, number: int) -> list[str]:
    """Return the lines of an instruction EAR register."""
    found = ear.capture(held)
    cause = _cause(found.latency, found.overflow, found.level, ear.has_overflow)
    if number == ear.latency_register:
        return [] if found.latency is None else [_line(number, ", ".join(cause))]
    parts = [f"valid={_letter(found.valid)}", f"cache line {show(found.line)}"]
    return [_line(number, ", ".join(parts + cause if found.latency is None else parts))]


def branch_lines(buffer: BranchBuffer, show: Show, held: Held, number: int) -> list[str]:
    """Return the lines of the branch buffer, at its first register."""
    if number != _first(buffer, held):
        return []
    entries = buffer.entries(held)
    return [line for entry in entries for line in _entry_lines(buffer, show, entry)]


def last_branch_lines(buffer: LastBranchStack, show: Show, predicted: bool, held: Held, number: int) -> list[str]:
    """Return the lines of last branch records, at their first register."""
    if number != next(number for number in held if number in buffer.registers):
        return []
    return [
        f"{buffer.name}_{one.number}: {show(one.source)} -> {show(one.target)}"
        + (f" mispredicted={_letter(one.mispredicted).lower()}" if predicted else "")
        + (f" cycles={one.cycles}" if predicted and one.cycles is not None else "")
        for one in buffer.entries(held)
    ]


def precise_load_lines(loads: PreciseLoads, show: Show, held: Held, number: int) -> list[str]:
    """Return the line of a precise load, at its first field."""
    if number != next(number for number in held if number in loads.registers):
        return []
    found = loads.capture(held)
    if not found.valid or found.instruction is None:
        return ["load: none"]
    snoop = loads.snoop(held)
    more = f" snoop={snoop}" * bool(snoop) + " TLB:walk" * loads.walked(held) + " locked" * loads.locked(held)
    place = f"address={found.address:#x} latency={found.latency} cycles level={found.level}{more}"
    return [f"load: {place} instr address={show(found.instruction)}"]


def _entry_lines(buffer: BranchBuffer, show: Show, entry: BranchEntry) -> list[str]:
    extension = f" bru={entry.back_end:d} b1={entry.second_bundle:d}" if buffer.has_extensions else ""
    bits = f"b={entry.source:d} mp={entry.mp:d}{extension} valid={_letter(entry.valid).lower()}"
    lines = [_line(entry.pmd, f"{entry.value:#018x} {bits}")]
    if entry.source:
        outcome = f"taken={_letter(entry.taken).lower()} prediction={_prediction(buffer, entry)}"
        lines += [_deeper(f"source addr={show(entry.address)}"), _deeper(outcome)]
    elif entry.valid:
        lines.append(_deeper(f"target addr={show(entry.address)}" if buffer.targets else "prediction data"))
    return lines


def _prediction(buffer: BranchBuffer, entry: BranchEntry) -> str:
    """Return whether the branch was predicted correctly, or else the pipeline end that detected the misprediction;
    unknown without extensions."""
    if entry.mp:
        return "FE failure" if buffer.has_extensions else "failure"
    return "BE failure" if entry.back_end else "success"


def ip_lines(buffer: IpEar, show: Show, held: Held, number: int) -> list[str]:
    """Return the lines of the IP-EAR, at its first register."""
    if number != _first(buffer, held):
        return []
    return [line for entry in buffer.entries(held) for line in _ip_entry_lines(show, entry)]


def _ip_entry_lines(show: Show, entry: IpEntry) -> list[str]:
    bits = f"cycles={entry.cycles} flush={_letter(entry.flush).lower()} ef={_letter(entry.early_freeze).lower()}"
    delay = f" delay={entry.delay}" if entry.early_freeze else ""
    return [_line(entry.pmd, f"{entry.value:#018x} {bits}{delay}"), _deeper(f"addr={show(entry.ip)}")]


def _first(buffer: BranchBuffer | IpEar, held: Held) -> int:
    """Return the first register of a buffer, at which all its lines are printed."""
    return next(number for number in held if number in buffer.registers)


def _cause(latency: int | None, overflow: bool, level: str, has_overflow: bool) -> list[str]:
    """Return the latency of a cache miss, or the level that served a TLB miss."""
    if latency is None:
        return [f"TLB:{level or NO_LEVEL}"]
    return [f"latency={latency} cycles", *([f"latency overflow={_letter(overflow)}"] if has_overflow else ())]


def _line(number: int, text: str) -> str:
    return f"PMD{number:<3}: {text}"


def _deeper(text: str) -> str:
    return DEEPER + text


def _letter(flag: bool) -> str:
    return "Y" if flag else "N"
