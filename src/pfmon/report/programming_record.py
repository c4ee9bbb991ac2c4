"""The programming of a run as a record, printed by --json and --with-header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.pmu import get
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor, Programming, RangeProgramming
from pfmon.pmu.model.request import OpcodeMatch, Request

LEVELS = "k12u"
"""Letters of the privilege levels 0 to 3."""

SETS = ("both", "ia32", "ia64", "none")
"""Names of the contents of PMC.ism."""


class MachineRecord(NamedTuple):
    """The machine of a run: its name or file, and the changes of --set, FIGURE=VALUE."""

    name: str
    changes: Sequence[str]


class EngineRecord(NamedTuple):
    """What executed the program: the engine's name, the model of processor that the program saw ("": the engine's
    own), and the features that the model wanted lacks here (--mask-cpuid)."""

    name: str
    cpu: str
    masked: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return name, cpu and masked."""
        return {"name": self.name, "cpu": self.cpu, "masked": list(self.masked)}


class ProgrammingRecord(NamedTuple):
    """The setting of a run: the request and the programmings of the PMUs of each event set, the machine, the engine
    (None: of a recording)."""

    requests: Sequence[Request]
    sets: Sequence[Sequence[Programming]]
    matchers: tuple[int, int]
    machine: MachineRecord
    engine: EngineRecord | None

    def to_dict(self) -> dict[str, Any]:
        """Return machine (machine_json), engine (EngineRecord.to_dict, or null) and programming (programming_json)."""
        return {
            "machine": machine_json(self.machine),
            "engine": self.engine.to_dict() if self.engine else None,
            "programming": programming_json(self),
        }

    def to_pandas(self) -> Any:
        """Return a DataFrame: a row for each monitor, with the numbers of its event set and of its PMU."""
        from pfmon.session.profile.dataframes import frame

        rows = [
            {"set": one["set"], "pmu": number, **monitor}
            for one in programming_json(self)
            for number, made in enumerate(one["pmus"])
            for monitor in made["monitors"]
        ]
        return frame({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def levels(plm: int) -> str:
    """Return the letters of a privilege mask."""
    return "".join(letter for level, letter in enumerate(LEVELS) if plm >> level & 1)


def programming_json(record: ProgrammingRecord) -> list[dict[str, Any]]:
    """Return an object for each event set: set (its number) and pmus, an object for each PMU that counted in it:
    registers
    (name and value in hexadecimal, in the order of writing), monitors, code_range and data_range (null without one),
    opcode_matchers (null for an unused one)."""
    return [
        {"set": number, "pmus": [_pmu(record, record.requests[number], made) for made in programmings]}
        for number, programmings in enumerate(record.sets)
    ]


def machine_json(machine: MachineRecord) -> dict[str, Any]:
    """Return name, and changes: those of --set, FIGURE=VALUE."""
    return {"name": machine.name, "changes": list(machine.changes)}


def _pmu(record: ProgrammingRecord, request: Request, made: Programming) -> dict[str, Any]:
    return {
        "registers": {name: f"0x{value:016x}" for name, value in made.writes.items()},
        "monitors": [_monitor(get(made.pmu), monitor) for monitor in made.monitors],
        "code_range": _range(made.irange),
        "data_range": _range(made.drange),
        "opcode_matchers": [
            _matcher(number, matcher) for number, matcher in zip(record.matchers, request.opcodes, strict=True)
        ],
    }


def _monitor(model: PmuModel, monitor: Monitor) -> dict[str, Any]:
    return {
        "event": monitor.event.name,
        "pmd": monitor.pmd,
        "register": model.data_name(monitor.pmd),
        "plm": levels(monitor.plm),
        "privileged": monitor.pm,
        "instruction_set": SETS[monitor.ism],
        "threshold": monitor.threshold,
        "all_threads": monitor.all_threads,
        "mesi": "".join(letter for bit, letter in enumerate("ISEM") if monitor.mesi >> bit & 1),
    }


def _range(programmed: RangeProgramming | None) -> dict[str, Any] | None:
    """asked and programmed are [start, end) in hexadecimal; fine: fine mode; pairs: breakpoint pairs of each range."""
    if programmed is None:
        return None
    limits = zip(programmed.limits, programmed.off, strict=True)
    return {
        "asked": [[f"{start:#x}", f"{end:#x}"] for start, end in programmed.limits],
        "programmed": [[f"{start - low:#x}", f"{end + high:#x}"] for (start, end), (low, high) in limits],
        "inverse": programmed.inverse,
        "fine": programmed.fine,
        "pairs": list(programmed.pairs),
    }


def _matcher(number: int, matcher: OpcodeMatch | None) -> dict[str, Any] | None:
    """Return register, slots, and the requested match and mask in hexadecimal."""
    if matcher is None:
        return None
    return {
        "register": f"pmc{number}",
        "slots": matcher.slots,
        "match": f"{matcher.match:#x}",
        "mask": f"{matcher.mask:#x}",
    }


def programming_lines(record: ProgrammingRecord) -> list[str]:
    """Return the record as lines of text."""
    lines = [f"machine: {record.machine.name}"]
    lines += [f"machine change: {change}" for change in record.machine.changes]
    for number, pmus in enumerate(programming_json(record)):
        for replica, one in enumerate(pmus["pmus"]):
            which = f"set {number} " if len(record.sets) > 1 else ""
            which += f"PMU {replica} " if len(pmus["pmus"]) > 1 else ""
            lines += [f"{which}{line}" for line in _pmu_lines(one)]
    return lines


def _pmu_lines(one: Mapping[str, Any]) -> list[str]:
    lines = [_monitor_line(monitor) for monitor in one["monitors"]]
    for kind in ("code_range", "data_range"):
        if made := one[kind]:
            lines.append(
                f"{kind.replace('_', ' ')}: asked {_limits(made['asked'])}, programmed {_limits(made['programmed'])}"
                f"{', inverse' if made['inverse'] else ''}{', fine mode' if made['fine'] else ''}"
            )
    lines += [
        f"opcode matcher {matcher['register']}: {matcher['slots']}:{matcher['match']}:{matcher['mask']}"
        for matcher in one["opcode_matchers"]
        if matcher
    ]
    return [*lines, *(f"{name}: {value}" for name, value in one["registers"].items())]


def _monitor_line(monitor: Mapping[str, Any]) -> str:
    """Return a counter's line: its event, its levels, and its other settings."""
    line = f"{monitor['register']}: {monitor['event']}, plm={monitor['plm']}"
    if monitor["instruction_set"] != "both":
        line += f", {monitor['instruction_set']}"
    if monitor["threshold"]:
        line += f", threshold={monitor['threshold']}"
    if monitor["mesi"]:
        line += f", states={monitor['mesi']}"
    if monitor["privileged"]:
        line += ", privileged"
    return f"{line}, all threads" if monitor["all_threads"] else line


def _limits(ranges: Sequence[Sequence[str]]) -> str:
    return " ".join(f"[{start}-{end})" for start, end in ranges)
