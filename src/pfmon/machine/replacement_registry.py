"""The replacement policies, by the name in a machine's ``CACHE.replacement``."""

from __future__ import annotations

from pfmon.machine.replacement import ReplacementPolicy
from pfmon.machine.replacement_lru import LruPolicy
from pfmon.machine.replacement_nru import NruPolicy
from pfmon.machine.replacement_plru import PlruPolicy
from pfmon.machine.replacement_random import RandomPolicy

REPLACEMENTS: dict[str, type[ReplacementPolicy]] = {
    "lru": LruPolicy,
    "nru": NruPolicy,
    "plru": PlruPolicy,
    "random": RandomPolicy,
}


def replacement_policy(name: str, sets: int, ways: int) -> ReplacementPolicy:
    """A policy for so many sets of so many ways; the loader has checked the name."""
    return REPLACEMENTS[name](sets, ways)
