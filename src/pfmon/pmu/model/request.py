"""Requests to a PMU: events with their options, before any register is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pfmon.errors import BadValueError

PLM_KERNEL, PLM_USER, PLM_ALL = 1, 8, 15
INTERRUPTS_ALONE, INTERRUPTS_EXCLUDED = "alone", "excluded"
ISM = {"both": 0, "ia32": 1, "ia64": 2, "none": 3}
PLM_LETTERS = {"k": 1, "0": 1, "1": 2, "2": 4, "3": 8, "u": 8}


def privilege_mask(plm: int | str) -> int:
    """Return a privilege level mask from an integer or from letters: u or 3, k or 0, 1, 2 (such as `uk`, `03`).

    >>> privilege_mask("uk")
    9
    """
    if isinstance(plm, str):
        unknown = set(plm) - set(PLM_LETTERS)
        if unknown or not plm:
            raise BadValueError(
                f"bad privilege levels {plm!r}: use k or 0, 1, 2, u or 3", "privilege_levels_must_exist"
            )
        mask = 0
        for letter in plm:
            mask |= PLM_LETTERS[letter]
        return mask
    if not 0 <= plm <= 15:
        raise BadValueError(f"privilege level mask {plm} is not within 0-15", "privilege_levels_must_exist")
    return plm


def instruction_set_mask(ism: int | str) -> int:
    """Return the ism field: 0 both, 1 IA-32 only, 2 IA-64 only, 3 neither; or from these as names."""
    if isinstance(ism, str):
        if ism not in ISM:
            raise BadValueError(f"bad instruction set {ism!r}: use {', '.join(ISM)}", "instruction_sets_must_exist")
        return ISM[ism]
    if not 0 <= ism <= 3:
        raise BadValueError(f"instruction set mask {ism} is not within 0-3", "instruction_sets_must_exist")
    return ism


class EventRequest(NamedTuple):
    """One event to count. `plm` None means the request's; `mesi` is a string of the letters M E S I.

    `threshold` is Intel's cmask too; `edge` and `invert` are Intel's E and INV, AMD's Edge and Inv.
    """

    name: str
    plm: int | None = None
    ism: int | None = None
    threshold: int = 0
    check_qualifiers: bool = True
    all_threads: bool = False
    mesi: str = ""
    edge: bool = False
    invert: bool = False


class RangeRequest(NamedTuple):
    """Address ranges [start, end) that qualify events.

    Instruction ranges only: `inverse` counts outside, `fine` False forbids fine mode, `demand_fetch` and
    `prefetch_match` select the prefetcher's addresses that Montecito compares. `plms`: privilege masks of the ranges;
    0, or none, means the request's. `option`: the user's option.
    """

    limits: tuple[tuple[int, int], ...]
    inverse: bool = False
    fine: bool = True
    demand_fetch: bool = False
    prefetch_match: bool = False
    plms: tuple[int, ...] = ()
    option: str = "--irange"


class OpcodeMatch(NamedTuple):
    """One opcode matcher: slot types out of "mifb", bits to match, and mask (a 1 ignores the bit).

    `raw`, if given, is the whole value of PMC8 or PMC9 (Itanium and Itanium 2).
    """

    slots: str
    match: int
    mask: int
    raw: int | None = None


class EarRequest(NamedTuple):
    """An event address register: mode `cache`, `tlb` or `alat`, with its latency or TLB unit mask."""

    mode: str
    umask: int
    plm: int = 0
    ism: int = 0


class BranchBufferRequest(NamedTuple):
    """The branch trace buffer's filters, as the fields of its configuration register (3 of each: all)."""

    fields: Mapping[str, int] = {}
    plm: int = 0


class IpEarRequest(NamedTuple):
    """Montecito's IP-EAR with the delay of its freeze in cycles."""

    delay: int
    plm: int = 0


class Request(NamedTuple):
    """The complete request of one programming of a PMU. ``ia32_program``: an Itanium executes IA-32 code;
    ``whole_system``: what runs is a whole processor's code, at all privilege levels (system mode);
    ``interrupts``: at level 0 what handlers of interruptions execute alone counts, or all but that; "": all;
    ``two_threads``: both hardware threads of a core run, and events use only counters that are correct then."""

    events: tuple[EventRequest, ...]
    plm: int = PLM_USER
    ism: int = 0
    system_wide: bool = False
    unavailable: frozenset[int] = frozenset()
    check_qualifiers: bool = True
    check_thresholds: bool = True
    irange: RangeRequest | None = None
    drange: RangeRequest | None = None
    opcodes: tuple[OpcodeMatch | None, OpcodeMatch | None] = (None, None)
    iear: EarRequest | None = None
    dear: EarRequest | None = None
    branch_buffer: BranchBufferRequest | None = None
    ip_ear: IpEarRequest | None = None
    controls: Mapping[str, int] = {}
    check_ears: bool = True
    preload: Mapping[str, int] = {}
    """Initial values of counters, by their names in lower case."""
    ia32_program: bool = False
    whole_system: bool = False
    interrupts: str = ""
    two_threads: bool = False
    last_branches: tuple[str, ...] | None = None
    """perf's names of the branches to record (branch_filter.py)."""


MODIFIERS = frozenset("ukhGHp")
"""Letters behind an event's name and a colon that are perf's modifiers (perf-list(1)); others are line states."""
MOST_PRECISE = 3
LINE_STATES = "MESI"


class NameParts(NamedTuple):
    """An event as it is written: its name with perf's modifiers, the privilege levels that these choose (None: the
    request's), and the line states."""

    name: str
    plm: int | None = None
    states: str = ""


def name_parts(text: str) -> NameParts:
    """Split `NAME`, `NAME:uk` (perf's modifiers), `NAME:MESI` or `NAME:M:E` (line states).

    >>> name_parts("cycles:u"), name_parts("l3_reads_all_hit:M:E").states
    (NameParts(name='cycles:u', plm=8, states=''), 'ME')
    """
    name, _, behind = text.partition(":")
    parts = behind.split(":")
    modifiers = "".join(part for part in parts if MODIFIERS.issuperset(part))
    states = "".join(part for part in parts if not MODIFIERS.issuperset(part)).upper()
    letters_behind_an_event_mean_something(name, states)
    modifiers_can_be_had(name, modifiers)
    levels = "".join(letter for letter in modifiers if letter in "uk")
    return NameParts(f"{name}:{modifiers}" if modifiers else name, privilege_mask(levels) if levels else None, states)


def letters_behind_an_event_mean_something(name: str, states: str) -> None:
    """Behind a colon are perf's modifiers or line states; perf's other modifiers (S, D, W, e, P) choose how the kernel
    shares counters and builds groups of events, which pfmon has none of."""
    if unknown := set(states) - set(LINE_STATES):
        raise BadValueError(
            f"{name}:{''.join(sorted(unknown))}: perf's modifiers are u, k, H and p here, line states M, E, S and I",
            "letters_behind_an_event_mean_something",
        )


def modifiers_can_be_had(name: str, modifiers: str) -> None:
    """Programs run at level 3 of a host, and each occurrence is sampled where it happens: u, k, H and p up to three
    times can be had, h and G would count nothing (perf-list(1), event modifiers)."""
    if "h" in modifiers:
        reason = "nothing runs at a hypervisor's level; u and k are the levels that there are"
    elif "G" in modifiers:
        reason = "the program runs on no virtual machine of the host's; leave G out"
    elif modifiers.count("p") > MOST_PRECISE:
        reason = f"p may stand there {MOST_PRECISE} times at most"
    else:
        return
    raise BadValueError(f"{name}:{modifiers}: {reason}", "modifiers_can_be_had")


def is_precise(name: str) -> bool:
    """Return whether an event's name has perf's modifier p: its samples must not have a skid."""
    return "p" in name.partition(":")[2]


def event_requests(events: Iterable[str | EventRequest]) -> tuple[EventRequest, ...]:
    """Return requests from names; after a colon there may be perf's modifiers or MESI states (`name_parts`)."""
    made = []
    for event in events:
        if isinstance(event, str):
            parts = name_parts(event)
            made.append(EventRequest(parts.name, parts.plm, mesi=parts.states))
        else:
            made.append(event)
    return tuple(made)
