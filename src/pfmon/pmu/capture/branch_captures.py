"""Decoding of branch buffers, and of Montecito's IP-EAR in the same registers: entries, the oldest first (Montecito
manual section 3.3.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.register_tables import Field
from pfmon.pmu.target import BranchRegisters

NOT_TAKEN = 3
"""The slot of a branch that was not taken."""
SECOND_BUNDLE, BACK_END = 1, 2
"""The bits of an entry's extension (table 3-29)."""

EARLY_FREEZE, FLUSH, UPPER_CYCLES = 1, 2, 2
"""An extension in IP-EAR mode: two bits, and the position of the cycles' upper bits (table 3-33)."""
LOWER_CYCLES = Field("cycl", 60, 4, "rw", "lower bits of the cycles since the IP before")
IP = Field("ip", 0, 60, "rw", "IP[63:4]")
FROZEN_IP = Field("ip", 8, 52, "rw", "IP[63:12], of an early freeze")
DELAY = Field("delay", 0, 8, "rw", "remaining delay at an early freeze")
"""An entry in IP-EAR mode (tables 3-31, figures 3-28 and 3-29)."""


class BranchEntry(NamedTuple):
    """One register of a branch buffer. ``source``: the source of a branch, else a target; ``bundle``: as in the
    register; ``slot``: of a source, 3 for a branch that was not taken; ``mp``: the source was mispredicted (in a target
    it marks the entry as valid); ``back_end``: bru, the back end detected the misprediction and flushed the pipeline;
    ``second_bundle``: b1, the branch is 16 bytes after ``bundle``."""

    pmd: int
    value: int
    source: bool
    mp: bool
    slot: int
    bundle: int
    second_bundle: bool
    back_end: bool

    @property
    def valid(self) -> bool:
        """Whether the entry was written."""
        return self.source or self.mp

    @property
    def taken(self) -> bool:
        """Whether this is the source of a taken branch."""
        return self.source and self.slot != NOT_TAKEN

    @property
    def mispredicted(self) -> bool:
        """Whether this is the source of a branch whose path or target was predicted wrongly."""
        return self.source and (self.mp or self.back_end)

    @property
    def address(self) -> int:
        """Bundle | slot of a source, without the slot if it was not taken, as no bit records it; the bundle of a
        target."""
        if not self.source:
            return self.bundle
        return self.bundle + 16 * self.second_bundle | (self.slot if self.taken else 0)


class Branch(NamedTuple):
    """A branch and its target bundle: None if it was not taken, or if the buffer does not record it."""

    source: BranchEntry
    target: int | None


UNKNOWN_TARGET, NO_TARGET = -2, -1
"""Instead of a target: the buffer does not record it; the branch was not taken."""


class CapturedEdge(NamedTuple):
    """A captured branch: the addresses of source and target, or one of the numbers that stand for no target."""

    source: int
    target: int
    mispredicted: bool


def branch_registers(model: PmuModel) -> BranchRegisters:
    """Return the registers of the branch buffer of a PMU that has one."""
    assert model.target.captures
    return model.target.captures.branches


class _Ring:
    """A ring of entries, with their extensions."""

    def __init__(self, model: PmuModel) -> None:
        layout = branch_registers(model)
        index = model.registers[f"pmd{layout.index_register}"]
        self.registers = layout.data
        self.index_register = layout.index_register
        self._entries = layout.entries
        self._next, self._full = index.field(layout.next_entry), index.field("full")
        extensions = model.registers[layout.extensions] if layout.extensions else None
        self._extensions = {
            number: extensions.field(f"pmd{number}ext") if extensions else None for number in layout.entries
        }
        self._extension_register = extensions.number if extensions else -1

    @property
    def has_extensions(self) -> bool:
        """Whether entries have bits beside their registers."""
        return self._extension_register >= 0

    def written(self, pmds: Mapping[int, int]) -> list[int]:
        """Return the registers that were written, the oldest first; without the index register, all registers
        present."""
        order: Sequence[int] = self._entries
        if self.index_register in pmds:
            index, following = pmds[self.index_register], self._next.get(pmds[self.index_register])
            older = self._entries[following:] if self._full.get(index) else ()
            order = (*older, *self._entries[:following])
        return [number for number in order if number in pmds]

    def extension(self, pmds: Mapping[int, int], number: int) -> int:
        """Return the extension of an entry, 0 without one."""
        field = self._extensions[number]
        return field.get(pmds.get(self._extension_register, 0)) if field else 0


class BranchBuffer(_Ring):
    """A branch trace buffer, or Montecito's execution trace buffer."""

    def __init__(self, model: PmuModel, targets: bool = True) -> None:
        """``targets``: entries other than sources are targets, not predictions (ds = 0)."""
        super().__init__(model)
        self.targets = targets
        layout = branch_registers(model)
        entry = model.registers[f"pmd{layout.entries[0]}"]
        self._source = entry.field(layout.source)
        self._mp, self._slot, self._address = (entry.field(name) for name in ("mp", "slot", "addr"))

    def entries(self, pmds: Mapping[int, int]) -> list[BranchEntry]:
        """Return the written entries, the oldest first."""
        return [self._entry(number, pmds[number], self.extension(pmds, number)) for number in self.written(pmds)]

    def _entry(self, number: int, value: int, extension: int) -> BranchEntry:
        return BranchEntry(
            number,
            value,
            bool(self._source.get(value)),
            bool(self._mp.get(value)),
            self._slot.get(value),
            value & self._address.mask,
            bool(extension & SECOND_BUNDLE),
            bool(extension & BACK_END),
        )

    def branches(self, pmds: Mapping[int, int]) -> list[Branch]:
        """Return the branches, the oldest first. A target whose source was overwritten is left out. If the next source
        takes the place of a target (3.3.10: the target's bundles have a branch that retires in the next cycle), its
        register holds the first bundle of the target's window."""
        entries = [entry for entry in self.entries(pmds) if entry.valid]
        return [
            Branch(entry, self._target(entry, following))
            for entry, following in zip(entries, (*entries[1:], None), strict=False)
            if entry.source
        ]

    def edges(self, pmds: Mapping[int, int]) -> list[CapturedEdge]:
        """Return the branches in the registers, the oldest first."""
        return [
            CapturedEdge(
                source.address,
                target if target is not None else UNKNOWN_TARGET if source.taken else NO_TARGET,
                source.mispredicted,
            )
            for source, target in self.branches(pmds)
        ]

    def _target(self, entry: BranchEntry, following: BranchEntry | None) -> int | None:
        if following is None or not entry.taken or not (self.targets or following.source):
            return None
        return following.bundle


class IpEntry(NamedTuple):
    """One register of the IP-EAR: a retired IP, and its ``cycles`` since the previous one (63: or more); ``flush``: the
    pipeline was flushed between them; ``early_freeze``: ``delay`` cycles of the delay were left, and the IP has no bits
    11:4."""

    pmd: int
    value: int
    ip: int
    cycles: int
    flush: bool
    early_freeze: bool
    delay: int | None


class IpEar(_Ring):
    """Montecito's buffer with PMC42.mode = 100."""

    def entries(self, pmds: Mapping[int, int]) -> list[IpEntry]:
        """Return the written entries, the oldest first."""
        return [self._entry(number, pmds[number], self.extension(pmds, number)) for number in self.written(pmds)]

    @staticmethod
    def _entry(number: int, value: int, extension: int) -> IpEntry:
        frozen = bool(extension & EARLY_FREEZE)
        return IpEntry(
            number,
            value,
            (FROZEN_IP.get(value) << 12) if frozen else (IP.get(value) << 4),
            LOWER_CYCLES.get(value) | extension >> UPPER_CYCLES << LOWER_CYCLES.width,
            bool(extension & FLUSH),
            frozen,
            DELAY.get(value) if frozen else None,
        )
