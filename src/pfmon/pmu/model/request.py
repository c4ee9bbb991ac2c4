"""Requests to a PMU: events with their options, before any register is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pfmon.errors import BadValueError

PLM_KERNEL, PLM_USER = 1, 8
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

    `threshold` is Intel's cmask too; `edge` and `invert` are Intel's E and INV.
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
    two_threads: bool = False


def event_requests(events: Iterable[str | EventRequest]) -> tuple[EventRequest, ...]:
    """Return requests from names; `NAME:M:E` or `NAME:ME` gives MESI states after a colon."""
    made = []
    for event in events:
        if isinstance(event, str):
            name, _, states = event.partition(":")
            made.append(EventRequest(name, mesi=states.replace(":", "").upper()))
        else:
            made.append(event)
    return tuple(made)
