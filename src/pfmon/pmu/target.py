"""The descriptor of a PMU: `TARGET` in `targets/NAME/__init__.py`, beside the PMU's tables and rules.

===================== =============================================================================================
file of targets/NAME  content
===================== =============================================================================================
__init__.py           TARGET
registers.csv         the registers (register_tables.py)
events.csv            the events (event_table.py)
formulas.csv          the derived events, if there are any (derived.py)
generic_events.csv    the events that perf's generic names stand for (generic_events.py)
programmer.py         the class that programs and decodes the registers, unless that is its family's
===================== =============================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from os.path import dirname, exists, join
from types import MappingProxyType
from typing import NamedTuple

FOLDER = join(dirname(__file__), "targets")
NONE: Mapping[str, str] = MappingProxyType({})
LAST_BRANCH_TOS = 0x1C9
"""MSR_LASTBRANCH_TOS. Data registers of Intel's PMUs that are no counters have their MSR address as number."""


PEBS_DATA_ADDRESS, PEBS_DATA_SOURCE, PEBS_LATENCY, PEBS_EVENTING_IP = 0x98, 0xA0, 0xA8, 0xB0
PEBS_RECORD = (PEBS_DATA_ADDRESS, PEBS_DATA_SOURCE, PEBS_LATENCY, PEBS_EVENTING_IP)
"""Fields of the record of a precise load. They have their offset in it as number (Intel SDM volume 3, tables 18-23 and
18-40)."""

IBS_OP_RIP, IBS_OP_DATA2, IBS_OP_DATA3, IBS_DC_LINADDR = 0xC001_1034, 0xC001_1036, 0xC001_1037, 0xC001_1038
IBS_RECORD = (IBS_OP_RIP, IBS_OP_DATA2, IBS_OP_DATA3, IBS_DC_LINADDR)
"""Registers of a sampled op, AMD's instruction-based sampling. They have their MSR address as number (PPR of Family 19h
Model 21h, section 2.1.13.5)."""


class EarRegisters(NamedTuple):
    """The registers of an event address register.

    ``configuration``: the PMC with mode and unit mask; ``data``: the numbers of its PMDs; ``fields``: role ->
    REGISTER.FIELD, without the roles that it lacks; ``levels``: the levels that serve TLB misses, by the value of the
    role "level", "" for none; ``level_bit``: the position, in the level mask of captures (bit 1: the second-level TLB),
    of the unit mask's bit 0.
    """

    configuration: str
    data: tuple[int, ...]
    fields: Mapping[str, str]
    levels: tuple[str, ...]
    level_bit: int


class BranchRegisters(NamedTuple):
    """The registers of a branch buffer.

    ``option``: the prefix of its options; ``configuration``: its PMC; ``data``: the numbers of all its PMDs;
    ``entries``: those with an entry, in order; ``source``: the field that marks an entry as a branch's address;
    ``index_register``: the PMD with index and full bit; ``next_entry``: its field with the index; ``extensions``: the
    PMD with further bits of the entries, "" for none; ``exceptions``: exceptions and failed checks are captured too.
    """

    option: str
    configuration: str
    data: tuple[int, ...]
    entries: tuple[int, ...]
    source: str
    index_register: int
    next_entry: str
    extensions: str = ""
    exceptions: bool = False


class CaptureUnits(NamedTuple):
    """The capture units of a PMU.

    ``windows``: addresses are those of the first bundle of a dispersal window, with a bit for the second one, and the
    data EAR captures the next load some cycles after one (Montecito manual section 3.3.9.1); ``needs_empty_buffer``:
    modes of the data EAR in which the branch buffer must be off; ``ip_ear``: the configuration register of an IP-EAR in
    the branch buffer's registers, "" for none.
    """

    data: EarRegisters
    instruction: EarRegisters
    branches: BranchRegisters
    windows: bool
    needs_empty_buffer: tuple[str, ...] = ()
    ip_ear: str = ""


class LastBranchRegisters(NamedTuple):
    """Last branch records of a processor. ``depth``: entries; ``sources``, ``targets``, ``infos``: the MSR addresses of
    entry 0's registers, 0: there are none; ``has_select``: ``select`` filters branches; ``has_predictions``: MISPRED
    says whether a branch was mispredicted; ``has_call_stack``: there is a call stack mode; ``enable``: register and
    field that switch recording on; ``stride``: from an entry's registers to the next one's; ``shifts``: entry 0 is the
    latest, and the target's bit 63 says that an entry is valid (AMD), else MSR_LASTBRANCH_TOS is the latest's
    number."""

    depth: int
    sources: int
    targets: int
    infos: int = 0
    has_select: bool = True
    has_predictions: bool = True
    has_call_stack: bool = False
    enable: tuple[str, str] = ("ia32_debugctl", "lbr")
    select: str = "msr_lbr_select"
    stride: int = 1
    shifts: bool = False

    @property
    def registers(self) -> tuple[int, ...]:
        """The numbers of the data registers."""
        firsts = [first for first in (self.sources, self.targets, self.infos) if first]
        entries = (first + self.stride * entry for first in firsts for entry in range(self.depth))
        return tuple(entries) if self.shifts else (LAST_BRANCH_TOS, *entries)


class Matchers(NamedTuple):
    """The two opcode matchers: the numbers of their PMCs, and the bits of an opcode that they see; 0: there are
    none."""

    pmcs: tuple[int, int] = (0, 0)
    bits: int = 0


class Target(NamedTuple):
    """One PMU."""

    name: str
    description: str
    architecture: str
    """That of its processors: ia64, x86, ppc."""
    generation: int
    """The place in lists, among the PMUs of its architecture."""
    machines: Mapping[str, str]
    """Instruction set of a program (ia64, x86_64, i386, ppc64, ppc, ppc64le) -> the machine that such programs run on
    unless --machine selects another; programs of other instruction sets do not run on these processors. The first one
    is the processors' own."""
    default_events: tuple[str, str]
    """The events of cycles and of instructions."""
    counters: tuple[int, ...]
    """Numbers of PMDs, as in the column ``counters`` of the events."""
    width: int
    """Bits of a counter."""
    counter_source: str
    """The section that defines which counters count an event."""
    programmer: str
    """MODULE.CLASS, a `Programmer`, which names the classes of register file, decoder and qualification."""
    default_of: tuple[str, ...] = ()
    """The instruction sets whose programs have this PMU unless --pmu selects another."""
    features: tuple[str, ...] = ()
    """Those of `programmer.FEATURE_NAMES` and `programmer.FEATURES` that it has."""
    event_options: tuple[str, ...] = ()
    """Those of `programmer.EVENT_OPTIONS` that it has."""
    range_filters: tuple[str, ...] = ()
    """Restrictions of code ranges that the PMU has: inverse, demand_fetch, prefetch_match."""
    matchers: Matchers = Matchers()
    captures: CaptureUnits | None = None
    last_branches: LastBranchRegisters | None = None
    load_latency: tuple[int, int] | None = None
    """Code and unit mask of the events of precise loads, Intel's; None: there are none."""
    top_down: bool = False
    """Its events decide level 1 of the top-down method."""
    op_sampling: str = ""
    """The register that lets AMD's instruction-based sampling choose ops; "": there is none."""
    threads: int = 1
    """Hardware threads of a core."""
    citations: Mapping[str, str] = NONE
    """Rule -> section of this PMU's manual, for rules that other PMUs share and that are raised with a section of
    another manual."""
    notes: Mapping[str, str] = NONE
    """Derived event -> what to know about its value."""
    perf_mon_info: tuple[int, ...] = ()
    """The fields of `pal.PerfMonInfo`, of a processor with PAL firmware."""
    tables: str = ""
    """The PMU whose tables it has, but for those in its own folder; of its events the counters that it has."""

    def machine(self, ia32: bool = False) -> str:
        """Return the name of the default machine; ``ia32``: for IA-32 code on an Itanium."""
        return self.machines["i386"] if ia32 else next(iter(self.machines.values()))


def table_path(pmu: str, table: str) -> str:
    """Return the path of a PMU's table (events, registers, formulas, generic_events), "" if it has none."""
    from pfmon.pmu.targets import named

    paths = [join(FOLDER, folder, f"{table}.csv") for folder in (pmu, named(pmu).tables) if folder]
    return next(filter(exists, paths), "")
