"""Properties of an instruction set that tools ask for without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple, Protocol

from pfmon.stream._stream import InstructionSet

MODULES = {InstructionSet.IA64: "pfmon.isa.ia64.opcode_masks"}
"""The module with its instructions' properties, by instruction set."""


class MnemonicPattern(NamedTuple):
    """The opcode bits of a mnemonic: slot types, value and mask (bits that are 1 are compared), and the mnemonics of
    other instructions with these bits."""

    slots: str
    value: int
    mask: int
    others: tuple[str, ...]


class Instructions(Protocol):
    """Properties of an instruction set, known without a run."""

    def pattern(self, name: str, slots: str, available: int) -> MnemonicPattern:
        """The bits of a mnemonic with all its completers, limited to ``available``; ``slots``: only in slots of these
        types (none: all). Raises UnknownNameError, and BadValueError when no such slot takes it."""

    def families(self, mnemonics: Iterable[str], name: str) -> str:
        """Mnemonics as short text: without completers unless these distinguish them from ``name``."""

    def listing(self, read: Callable[[int], bytes], first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code; ``read`` returns 16 bytes at an address."""


def properties(instruction_set: InstructionSet) -> Instructions:
    """The properties of an instruction set that has them (MODULES)."""
    module: Instructions = import_module(MODULES[instruction_set])
    return module
