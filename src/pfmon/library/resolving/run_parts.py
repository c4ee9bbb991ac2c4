"""The parts of a run, as its options say, for its program and its processor. Nothing edits them; each reader gets the
part that it is about."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.system_settings import SystemSettings
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.timeline_place import TimelinePlace
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu import get
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.program.image import DebugDirectories
from pfmon.session.run.controls import Controls
from pfmon.session.run.run_plan import FollowOptions
from pfmon.session.sampling.sampling_period import Sampling


class Guest(NamedTuple):
    """A program and the host as it sees it. ``words``: the program and its arguments, after the interpreter of a
    script; ``environment``: NAME=VALUE of each variable; ``memory_limit``: bytes; ``symbol_file``: a file with the
    symbols of a stripped program, "" for none; ``sysmap_file``: one with those of a kernel; ``debug``: where separate
    debug files are; ``engine``: the name of the engine that executes it, "" if the program is not known; ``masked``:
    features of its processor that are masked; ``system``: the system that the program is an image of, None: it runs
    under Linux."""

    words: Sequence[str]
    environment: Sequence[str]
    settings: GuestSettings
    memory_limit: int
    symbol_file: str
    sysmap_file: str
    debug: DebugDirectories
    engine: str
    masked: Sequence[str] = ()
    system: SystemSettings | None = None

    @property
    def arguments(self) -> list[bytes]:
        """The words, as the program gets them."""
        return [os.fsencode(word) for word in self.words]

    @property
    def variables(self) -> list[bytes]:
        """The environment, as the program gets it."""
        return [os.fsencode(entry) for entry in self.environment]


class Processor(NamedTuple):
    """The processor of a run. ``pmu``: the name of its PMU; ``machine``: a machine's name or file, "" for that of the
    PMU; ``settings``: changes of its figures, FIGURE=VALUE; ``ia32``: an Itanium that runs IA-32 code."""

    pmu: str
    machine: str = ""
    settings: Sequence[str] = ()
    ia32: bool = False

    @property
    def model(self) -> PmuModel:
        """The PMU."""
        return get(self.pmu)

    @property
    def machine_name(self) -> str:
        """The name or the file of the machine, also where no option names it."""
        return self.machine or self.model.target.machine(self.ia32)

    def figures(self) -> MachineFigures:
        """Return the figures of the machine. PfmonError: they are wrong."""
        from pfmon.machine.config.machine_config import load

        return load(self.machine_name, self.settings)


class Qualification(NamedTuple):
    """What holds for the events of all sets. ``levels``: letters of privilege levels, "" for user level;
    ``instruction_sets``: ia32, ia64; ``check_qualifiers``: refuse events that ranges and matchers do not constrain;
    ``controls``: fields of control registers (Intel, AMD, PowerPC); ``preload``: initial values of counters
    (PowerPC)."""

    levels: str
    instruction_sets: Set[str]
    system_wide: bool
    all_threads: bool
    check_qualifiers: bool
    controls: Mapping[str, int]
    preload: Mapping[str, int]


class Counting(NamedTuple):
    """What is counted. ``sets``: the event sets, with the names of their events; ``of_all``: what holds for all events;
    ``unlimited``: on as many PMUs as they need; ``usual``: the default events, since none is given; ``summary``: these
    are of the whole run, with the largest cause of stalls."""

    sets: Sequence[SetOptions]
    of_all: Qualification
    unlimited: bool
    usual: bool
    summary: bool

    @property
    def events(self) -> list[str]:
        """Those of all event sets."""
        return [event for one in self.sets for event in one.events]


class TriggerOptions(NamedTuple):
    """What starts and stops counting. ``addresses``: unparsed, by option; ``flags``: the options about them that are
    given; ``bundles``: code has bundles, at whose addresses triggers are; ``start``, ``stop``: EVENT:N, or ""."""

    addresses: Mapping[str, Sequence[str]] = {}
    flags: Set[str] = frozenset()
    bundles: bool = True
    start: str = ""
    stop: str = ""


class Results(NamedTuple):
    """What is to be known after the run. ``report``: cpi, derived, or ""; ``page``: the data of an HTML report;
    ``functions``, ``blocks``, ``lines``: counts split by them; ``annotate``: the function whose instructions are
    listed, or ""; ``demangle``: C++ names as programmers write them; ``timeline``: where the block is of which a
    timeline is shown, None: of none."""

    report: str
    page: bool
    functions: bool
    blocks: bool
    lines: bool
    annotate: str
    demangle: bool
    timeline: TimelinePlace | None

    @property
    def split(self) -> bool:
        """Whether counts are split."""
        return self.functions or self.blocks or self.lines or bool(self.annotate)


class RecordingFiles(NamedTuple):
    """Files of recordings, or "". ``partial``: replay a damaged one as far as it is whole."""

    record: str
    replay: str
    partial: bool


class Execution(NamedTuple):
    """How the program is run. ``slow``: instruction by instruction; ``guest_pmu``: which PMU it has itself, or "";
    ``timeout``: seconds, None: as long as it takes; ``rules_of_two_threads``: those of two threads on one core hold."""

    slow: bool
    guest_pmu: str
    timeout: float | None
    rules_of_two_threads: bool


class Resolved(NamedTuple):
    """The parts of a run. ``command``: the program and its arguments, as given or as recorded; ``controls``: without
    triggers; ``buffer``: how samples are taken, without periods, None: none are; ``following``: what is counted of what
    the program starts, None: nothing; ``notes``: notices about options and the environment; ``whole_system``: what runs
    is a system, or the recording of one, at all privilege levels."""

    command: Sequence[str]
    guest: Guest
    processor: Processor
    counting: Counting
    triggers: TriggerOptions
    controls: Controls
    buffer: Sampling | None
    following: FollowOptions | None
    recordings: RecordingFiles
    results: Results
    execution: Execution
    notes: Sequence[str]
    whole_system: bool = False
