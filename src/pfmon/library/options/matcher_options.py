"""Options named after registers that only some PMUs have."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from pfmon.pmu.target import Target
from pfmon.pmu.targets import having, targets


class Matcher(NamedTuple):
    """An opcode matcher option: its PMUs, the matcher's number (of two), the width of match and mask."""

    pmus: tuple[str, ...]
    number: int
    bits: int


def _matchers() -> dict[str, Matcher]:
    """Return the options by name: opc-match and the number of a matcher's PMC."""
    found: dict[str, Matcher] = {}
    for target in targets().values():
        for number, pmc in enumerate(target.matchers.pmcs if target.matchers.bits else ()):
            option = f"opc-match{pmc}"
            others = found[option].pmus if option in found else ()
            found[option] = Matcher((*others, target.name), number, target.matchers.bits)
    return found


def _has_buffer(option: str, target: Target) -> bool:
    return target.captures is not None and target.captures.branches.option == option


MATCHERS = _matchers()

BRANCH_PMUS = {option: having(partial(_has_buffer, option)) for option in ("btb", "etb")}
"""Prefix of branch buffer options -> the PMUs that have the buffer."""

TWO_THREADS = having(lambda target: target.threads == 2)
"""The PMUs of cores with two hardware threads each: Montecito's (Montecito manual 2.4, 2.5)."""
