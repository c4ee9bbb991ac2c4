"""Reads the worked programmings in `data/` and turns their inputs into calls of `program`."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pfmon import pmu
from pfmon.pmu.model.programming import Programming
from pfmon.pmu.model.request import (
    BranchBufferRequest,
    EarRequest,
    EventRequest,
    IpEarRequest,
    OpcodeMatch,
    RangeRequest,
)

DATA = Path(__file__).parents[1] / "data" / "pmu"
MESI = "ISEM"
EAR_MODES = {0: "cache", 1: "tlb", 2: "alat"}
ALL_THREADS = 2
THRESHOLD_BITS = 7  # libpfm takes wider values and keeps these bits, here and below
EAR_BITS = {
    "iear": {"itanium": 15, "itanium2": 255, "montecito": 255},
    "dear": dict.fromkeys(pmu.IA64, 15),
}


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases for one PMU."""
    with gzip.open(DATA / f"programming-{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            yield json.loads(line)


def _event(given: dict[str, Any]) -> EventRequest:
    return EventRequest(
        given["name"],
        given["plm"] or None,
        given["ism"],
        given["thres"] & THRESHOLD_BITS,
        not given["cflags"] & 1,
        bool(given["cflags"] & ALL_THREADS),
        "".join(MESI[m] if m < 4 else "?" for m in given.get("masks", [])),
    )


def _range(given: dict[str, Any] | None) -> RangeRequest | None:
    if given is None:
        return None
    limits = tuple((int(start, 16), int(end, 16)) for start, end, _ in given["limits"])
    if (0, 0) in limits[1:]:  # libpfm's end of a list
        limits = limits[: limits.index((0, 0), 1)]
    flags = given["flags"]
    plms = tuple(plm for *_, plm in given["limits"])
    return RangeRequest(limits, bool(flags & 1), not flags & 2, bool(flags & 4), bool(flags & 8), plms)


def _opcode(name: str, given: dict[str, Any] | None) -> OpcodeMatch | None:
    if given is None:
        return None
    if "pmc_val" in given:
        return OpcodeMatch("", 0, 0, int(given["pmc_val"], 16))
    slots = "".join(letter for letter in "mifb" if given[letter])
    match, mask = (int(given[k], 16) & (1 << 41) - 1 for k in ("match", "mask"))
    return OpcodeMatch(slots, match, mask)


def _ear(name: str, kind: str, given: dict[str, Any] | None) -> EarRequest | None:
    if given is None:
        return None
    mode = EAR_MODES.get(given["mode"], f"mode {given['mode']}")
    bits = 127 if (kind, mode) == ("iear", "tlb") and name != "itanium" else EAR_BITS[kind][name]
    return EarRequest(mode, given["umask"] & bits, given["plm"], given["ism"])


def _buffer(given: dict[str, int] | None) -> BranchBufferRequest | None:
    if given is None:
        return None
    one_bit = ("tar", "tac", "bac", "ds")
    fields = {name: value & (1 if name in one_bit else 3) for name, value in given.items() if name != "plm"}
    return BranchBufferRequest(fields, given["plm"])


def program(name: str, given: dict[str, Any]) -> Programming:
    """The call that a case stands for."""
    ipear = given.get("ipear")
    return pmu.get(name).program(
        [_event(event) for event in given["events"]],
        plm=given["dfl_plm"],
        system_wide=bool(given["pfp_flags"] & 1),
        unavailable=given.get("unavail", ()),
        check_thresholds=False,
        check_ears=False,
        irange=_range(given.get("irange")),
        drange=_range(given.get("drange")),
        opcodes=(_opcode(name, given.get("opcm1")), _opcode(name, given.get("opcm2"))),
        iear=_ear(name, "iear", given.get("iear")),
        dear=_ear(name, "dear", given.get("dear")),
        branch_buffer=_buffer(given.get("btb")),
        ip_ear=IpEarRequest(ipear["delay"] & 255, ipear["plm"]) if ipear else None,
    )


def expressible(given: dict[str, Any]) -> bool:
    """Whether the input can be said here: libpfm's check of its own argument pointers cannot."""
    ranges = "irange" in given or "drange" in given
    return given["mod_in"] >= given["mod_out"] and not (ranges and not given["mod_out"])


def _without_mask_above_4gb(registers: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Known difference: libpfm keeps 32 bits of a fine-mode mask, pfmon's page and the manual the upper ones
    too.

    Montecito manual table 3-10: the upper bits of both limits have to be equal.
    """
    return [(n, value & ~0x00FFFFFF00000000 if n % 2 else value) for n, value in registers]


def same_registers(name: str, made: Programming, wanted: dict[str, Any]) -> bool:
    """Whether every PMC, IBR and DBR value agrees; counters may be other ones with the same contents."""
    counters = set(pmu.get(name).bank.numbers)
    pmcs = [(number, int(value, 16)) for number, value in wanted["pmcs"]]
    if sorted(v for n, v in pmcs if n in counters) != sorted(v for n, v in made.pmcs.items() if n in counters):
        return False
    others = {n: v for n, v in made.pmcs.items() if n not in counters}
    defaults = {15: 0xFFFFFFFF} if name == "itanium2" else {}
    if defaults | {n: v for n, v in pmcs if n not in counters} != defaults | others:
        return False
    for kind, programmed in (("ibr", made.irange), ("dbr", made.drange)):
        given = wanted.get(kind, {})
        regs = [(index, int(value, 16)) for index, value in given.get("regs", [])]
        got = list(programmed.registers) if programmed else []
        if programmed and programmed.fine:
            regs, got = _without_mask_above_4gb(regs), _without_mask_above_4gb(got)
        if regs != got:
            return False
        off = [(int(a, 16), int(b, 16)) for a, b in given.get("off", [])]
        if programmed and off[: len(programmed.off)] != list(programmed.off):
            return False
    return True
