"""Texts that describe a PMU, its events and its programming. Every function returns a string; nothing is printed.

The layouts of `event_info` and `range_text` are those of pfmon (its page on Itanium 2, sections 3, 5 and 8).
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import BadValueError
from pfmon.pmu.model.derived import Derived, load_derived
from pfmon.pmu.model.event_table import Event, name_pattern
from pfmon.pmu.model.generic_events import GenericEvent, perf_names
from pfmon.pmu.model.pmu_model import PmuModel, get
from pfmon.pmu.model.programming import Monitor, Programming, RangeProgramming
from pfmon.pmu.model.thread_counters import counters_for_two_threads
from pfmon.pmu.model.unknown_event import UnknownEventError
from pfmon.signals.signal_names import is_produced, never_because

EAR_KINDS = {"iear": "Inst", "dear": "Data"}
EAR_MODES = {"cache": "Cache Mode", "tlb": "TLB Mode", "alat": "ALAT Mode"}
VIRTUAL = {"iear_tlb": 2, "iear_cache": 3, "dear_tlb": 4, "dear_cache": 5, "dear_alat": 6}
TYPES = {"-": 0, "active": 0, "floating": 1, "causal": 2, "self-floating": 3}
GROUPS = {"L1D": "L1D Cache", "L2": "L2 Cache", "L2D": "L2D Cache"}


def event_list(model: PmuModel, pattern: str = "") -> str:
    """The names of the events that match a regular expression, one a line, perf's first (`-l`)."""
    generic = [found.name for found in _generic(model, pattern) if found.is_counted]
    return "\n".join([*generic, *sorted(event.name for event in model.events.matching(pattern))])


def event_table(model: PmuModel, pattern: str = "") -> str:
    """One line an event: name, code, unit mask, counters, fidelity, description; perf's names first, derived events
    last (`-L`)."""
    rows = [f"{found.name:<46} = {found.event}" for found in _generic(model, pattern) if found.is_counted]
    rows += [
        f"{e.name:<46} 0x{e.code:02x} 0x{e.umask:<2x} {_counters(e.counters):<8} {e.fidelity:<10} {e.description}"
        for e in sorted(model.events.matching(pattern))
    ]
    for derived in load_derived(model.name).values():
        if not pattern or _found(pattern, derived.name):
            rows.append(f"{derived.name:<46} = {derived.formula}")
    return "\n".join(rows)


def _generic(model: PmuModel, pattern: str) -> list[GenericEvent]:
    """Return what the names of perf that match a regular expression are on the PMU."""
    found = (model.events.generic(known.name) for known in perf_names().values() if _found(pattern, known.name))
    return [generic for generic in found if generic]


def generic_text(model: PmuModel, generic: GenericEvent) -> str:
    """The PMU's event of a perf name, and its description."""
    lines = [
        f"Name   : {generic.name}",
        f"Event  : {generic.event if generic.is_counted else f'None ({generic.reason})'}",
        f"Desc   : {perf_names()[generic.name.lower()].meaning} (a name of perf)",
        f"Source : {generic.source}",
    ]
    if generic.is_counted:
        lines += ["", event_text(model.events[generic.own_name])]
    return "\n".join(lines)


def _found(pattern: str, name: str) -> bool:
    """Return whether a regular expression matches within a name, ignoring case."""
    return name_pattern(pattern).search(name) is not None


def _counters(numbers: Sequence[int]) -> str:
    """Return `4-15` for adjacent counters, else a list."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


def event_info(model: PmuModel, what: str) -> str:
    """Describe the events given by a name, a code or a regular expression (`-i`)."""
    derived = load_derived(model.name).get(what.upper())
    if derived:
        return derived_text(derived)
    if generic := model.events.generic(what):
        return generic_text(model, generic)
    if what in model.events:
        return event_text(model.events[what])
    if what[:1].isdigit():
        texts = [event_text(event) for event in _by_code(model, what)]
    else:
        texts = [generic_text(model, found) for found in _generic(model, what)]
        texts += [event_text(event) for event in model.events.matching(what)]
        texts += [derived_text(one) for one in load_derived(model.name).values() if _found(what, one.name)]
    if not texts:
        raise UnknownEventError(model.name, what, model.events.all_names())
    return "\n\n".join(texts)


def _by_code(model: PmuModel, what: str) -> list[Event]:
    """Return the events with a code."""
    try:
        return model.events.with_code(int(what, 0))
    except ValueError:
        raise BadValueError(f"bad event code {what!r}", "event_codes_are_numbers") from None


def virtual_code(event: Event) -> int:
    """Return pfmon's VCode: code, EAR or branch-buffer mode in bits 10:8, thread type 12:11, umask from bit 16."""
    mode = VIRTUAL.get(event.ear, 1 if event.branch_buffer else 0)
    return event.code | mode << 8 | TYPES[event.type] << 11 | event.umask << 16


def event_text(event: Event) -> str:
    """One event in pfmon's layout, with fidelity, signal and source added."""
    kind, _, mode = event.ear.partition("_")
    ear = f"{EAR_KINDS[kind]} ({EAR_MODES[mode]})" if mode else "No (N/A)"
    qualifiers = [
        text
        for text, supported in (
            ("[Instruction Address Range]", event.iar),
            ("[OpCode Match]", event.opc),
            ("[Data Address Range]", event.dar),
        )
        if supported
    ]
    top = event.max_increment - 1
    lines = [
        f"Name   : {event.name}",
        f"VCode  : 0x{virtual_code(event):x}",
        f"Code   : 0x{event.code:x}",
        f"PMD/PMC: [ {' '.join(map(str, event.counters))} ]",
        f"Umask  : {event.umask:04b}",
        f"EAR    : {ear}",
        f"BTB    : {'Yes' if event.branch_buffer else 'No'}",
        f"MaxIncr: {event.max_increment}  (Threshold {f'[0-{top}]' if top > 0 else '0'})",
        f"Qual   : {' '.join(qualifiers) or 'None'}",
        f"Group  : {GROUPS.get(event.group, 'None')}",
        f"Set    : {event.set.partition(':')[2] or 'None'}",
        f"Desc   : {event.description}",
        f"Fidelity: {event.fidelity}" + (f" ({event.reason})" if event.reason != "-" else ""),
    ]
    if event.type != "-":
        right = counters_for_two_threads(event)
        bound = "" if right == event.counters else f"; with two threads on PMD {_counters(right)} alone"
        lines.append(f"Type   : {event.type}" + (", all threads" if event.all else "") + bound)
    if event.mesi:
        lines.append("MESI   : filter required, as in NAME:MESI for all states")
    lines += _special_fields(event)
    lines += [f"Signal : {event.signal}"] if event.signal != "-" else []
    lines += ["Counted: no; the processor's model does not record it"] if not _is_produced(event) else []
    zero = never_because(event.signal)
    lines += [f"Zero   : always; {zero}"] if zero else []
    return "\n".join([*lines, f"Source : {event.source}"])


def _special_fields(event: Event) -> list[str]:
    """The fields of Intel's registers that define an event beside code and unit mask."""
    fields = [f"CMASK {event.cmask}"] * bool(event.cmask) + ["INV"] * event.invert + ["E"] * event.edge
    fields += ["AnyThread"] * event.any_thread + [event.extra.upper().replace("X", "x")] * (event.extra != "-")
    return [f"Fields : {', '.join(fields)}"] if fields else []


def _is_produced(event: Event) -> bool:
    return event.signal == "-" or is_produced(event.signal)


def derived_text(derived: Derived) -> str:
    """One derived event."""
    return "\n".join(
        [
            f"Name   : {derived.name}",
            "Code   : None (derived)",
            f"Formula: {derived.formula}",
            f"Desc   : {derived.description}",
            f"Source : {derived.source}",
        ]
    )


def pmu_info(model: PmuModel) -> str:
    """Describe the PMU (`-I`)."""
    counts = ", ".join(f"{number} {kind}" for kind, number in _by_fidelity(model).items())
    return "\n".join(
        [
            f"PMU model: {model.name}",
            f"counters : {_counters(model.bank.numbers)}, {model.bank.width} bits",
            *_registers(model),
            f"events   : {len(model.events)} ({counts})",
            f"derived  : {len(load_derived(model.name))}",
        ]
    )


def counted_events(model: PmuModel) -> str:
    """Tell how many of the PMU's events are counted (`-l`)."""
    number = _by_fidelity(model)
    exact, modelled, listed = number["exact"], number["modelled"], len(model.events)
    return (
        f"{exact + modelled} of {listed} events of {model.name} are counted ({exact} exactly, {modelled} modelled); "
        "-i EVENT says why another one is not"
    )


def _by_fidelity(model: PmuModel) -> dict[str, int]:
    """Numbers of events."""
    found = dict.fromkeys(("exact", "modelled", "unmodelled"), 0)
    for event in model.events:
        found[event.fidelity] += 1
    return found


def _registers(model: PmuModel) -> list[str]:
    """The registers: numbers of PMCs and PMDs, or names on processors of other families."""
    if model.architecture != "ia64":
        return [f"registers: {' '.join(model.registers)}"]
    return [f"PMC      : {_numbers(model, 'pmc')}", f"PMD      : {_numbers(model, 'pmd')}"]


def _numbers(model: PmuModel, kind: str) -> str:
    """The numbers of a kind of register as ranges."""
    numbers = sorted(r.number for n, r in model.registers.items() if n.startswith(kind) and n[3:].isdigit())
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return " ".join(f"{low}-{high}" if high > low else str(low) for low, high in ranges)


def range_text(programmed: RangeProgramming) -> str:
    """The breakpoint registers of ranges, in pfmon's layout (section 8.2 and 8.5 of its page)."""
    lines = []
    registers = list(programmed.registers)
    shares = zip(programmed.limits, programmed.off, programmed.pairs, strict=True)
    for (start, end), (low, high), pairs in shares:
        mode = (", fine_mode" if programmed.fine else "") + (", inversed" if programmed.inverse else "")
        lines.append(f"[{start:#x}-{end:#x}): {pairs} register pair(s){mode}")
        lines.append(f"start offset: -{low:#x} end_offset: +{high:#x}")
        for _ in range(pairs):
            (index, address), (_, value) = registers.pop(0), registers.pop(0)
            lines.append(_pair_text(index, address, value, programmed.fine))
    return "\n".join(lines)


def _pair_text(index: int, address: int, value: int, fine: bool) -> str:
    """One breakpoint pair."""
    mask = value & ((1 << 56) - 1)
    name = f"brp{index // 2}:  db{index}: 0x{address:016x} db{index + 1}:"
    line = f"{name} plm={value >> 56 & 15:#x} mask=0x{mask:016x}"
    block_end = address | (~mask & ((1 << 56) - 1))
    return line if fine else f"{line} end=0x{block_end:016x}"


def programming_text(programming: Programming) -> str:
    """All registers of a programming with the meaning of the counters, then its ranges (`--verbose`)."""
    by_pmc = {f"pmc{monitor.pmc}": monitor for monitor in programming.monitors}
    selects = by_pmc if get(programming.pmu).architecture == "ia64" else {}  # on other processors PMCs are counters
    lines = [
        f"[{name}=0x{value:x}{_monitor_text(selects[name]) if name in selects else ']'}"
        for name, value in programming.writes.items()
        if not name.startswith(("ibr", "dbr"))
    ]
    lines += [
        f"{get(programming.pmu).data_name(monitor.pmd)} {monitor.event.name}"
        for name, monitor in by_pmc.items()
        if name not in programming.writes or name not in selects
    ]
    lines += [range_text(r) for r in (programming.irange, programming.drange) if r]
    return "\n".join(lines)


def _monitor_text(monitor: Monitor) -> str:
    """The fields of a counter's configuration."""
    umask = 0 if monitor.event.ear != "-" else monitor.event.umask  # an EAR event's umask is in the EAR's configuration
    return (
        f" plm={monitor.plm:#x} pm={int(monitor.pm)} oi={int(monitor.overflow_interrupt)} ism={monitor.ism}"
        f" thres={monitor.threshold} umask={umask:#x}] PMD{monitor.pmd} {monitor.event.name}"
    )
