"""dear-hist: a histogram of misses captured by event address registers, with the level that served them (pfmon on
Itanium 2, section 11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.errors import PfmonError
from pfmon.pmu.capture.captures import ALAT, TLB, DataEar, InstructionCapture, InstructionEar
from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.precise_loads import PreciseLoads
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.report.sampling.histogram_shares import COLUMNS, shares
from pfmon.report.sampling.miss_levels import CacheLevels, PreciseLevels, TlbLevels
from pfmon.report.sampling.sampling_module import VIEWS, SamplingModule, other_events
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.sampling.miss_levels import Levels
    from pfmon.report.sampling.sampling_module import ModuleContext


WANTED = ("dear_cache", "dear_tlb", "iear_cache", "iear_tlb")
FURTHER_COLUMNS = f"# {COLUMNS}"
"""Of the views of data and of levels, which the page has so."""
NO_INSTRUCTION = "[no instruction]"
"""The key of RSE accesses, which have no instruction."""

Ear = DataEar | InstructionEar | PreciseLoads
Place = tuple[int, str]
"""An address and its name."""


class DearHist(SamplingModule):
    """A histogram of misses over the addresses of instructions, functions or data, or over latencies and TLB levels."""

    options = (
        *("--smpl-show-func", "--smpl-show-top", "--smpl-cum-threshold", "--smpl-save-raw"),
        *("--smpl-sort-byvalue", "--smpl-sort-bylevel"),
        *(f"--smpl-{view}-view" for view in VIEWS),
    )
    is_of_one_set = True
    is_histogram = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._ear = sampled_ear(context)
        self._view = context.view or VIEWS[0]
        _check_view(self._view, self._ear, context)
        if context.sort == "level" and self._view == "level":
            raise PfmonError(
                "--smpl-sort-bylevel: the rows of --smpl-level-view are levels; --smpl-sort-byvalue sorts them"
            )
        self._levels: Levels = _levels(self._ear, context)
        self._misses: defaultdict[int | str, Counter[str]] = defaultdict(Counter)
        self._samples = 0

    def take(self, samples: Sequence[Sample]) -> str:
        for sample in samples:
            capture = self._ear.capture(dict(sample.pmds))
            self._samples += 1
            if capture.valid:
                self._misses[self._key(capture)][self._levels.level(capture)] += 1
        return ""

    def _key(self, capture: DataCapture | InstructionCapture) -> int | str:
        """Return the key of a capture in the view; 0: an access without an instruction."""
        if self._view == "level":
            return self._levels.level(capture) if capture.latency is None else capture.latency
        if isinstance(capture, InstructionCapture):
            return capture.line
        return (capture.address if self._view == "data" else capture.instruction) or 0

    def finish(self, exact: Mapping[int, int] | None) -> str:
        rows = self._level_rows() if self._view == "level" else self._address_rows()
        return "".join(f"{line}\n" for line in [*self._header(), *rows])

    def _header(self) -> list[str]:
        title = "level" if self._view == "level" else self._title()
        captured = sum(served.total() for served in self._misses.values())
        lines = [
            f"# total_samples {self._samples}",
            f"# {title} view",
            f"# sorted by {self.context.sort or 'count'}",
            f"# showing per {'function histogram' if self.context.by_function else 'distinct value'}",
            *self._levels.header(self._view == "level"),
        ]
        if captured < self._samples:
            lines.append(f"# samples without a capture, which no row has: {self._samples - captured}")
        return lines

    def _title(self) -> str:
        """Return the title of the address column."""
        if self._view == "data":
            return "data addr"
        if self.context.by_function:
            return "function addr"
        return "cache line addr" if isinstance(self._ear, InstructionEar) else "instruction addr"

    def _address_rows(self) -> list[str]:
        """Return the heading, and a line for each address."""
        served: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        for key, levels in self._misses.items():
            served[self._place(int(key))].update(levels)
        names = self._levels.names
        columns = COLUMNS if self._view == "inst" else FURTHER_COLUMNS
        lines = [f"{columns} {' '.join(f'%{name}'.rjust(7) for name in names)} {self._title():>18}"]
        counts = {place: levels.total() for place, levels in served.items()}
        order = {"value": lambda place: place, "level": lambda place: (-self._cost(served[place]), place)}
        for share in shares(counts, self.context.top, self.context.up_to, order.get(self.context.sort)):
            levels, (address, name) = served[share.key], share.key
            columns = " ".join(f"{100 * levels[level] / share.times:6.2f}%" for level in names)
            lines.append(f"{share} {columns} {address:#x} {name}".rstrip())
        return lines

    def _cost(self, served: Counter[str]) -> int:
        """The cycles that misses cost at least, by the level that served them."""
        return sum(self._levels.costs[level] * times for level, times in served.items())

    def _place(self, address: int) -> Place:
        """Return the address and name of a row."""
        names = self.context.names
        if names is None or self._view == "data":
            return address, ""
        if not address:
            return 0, NO_INSTRUCTION
        if self.context.by_function:
            function = names.function(address)
            return function.address, str(function)
        return address, self.context.place(address)

    def _level_rows(self) -> list[str]:
        """The columns, and a line for each latency or TLB level."""
        levels = self._levels
        names = levels.names
        counts = {key: served.total() for key, served in self._misses.items()}
        order = (lambda key: key if isinstance(key, int) else names.index(key)) if self.context.sort else None
        rows = shares(counts, self.context.top, self.context.up_to, order)
        if isinstance(levels, TlbLevels):
            return [f"{FURTHER_COLUMNS}  level", *(f"{share} {share.key:>6}" for share in rows)]
        clock = levels.megahertz
        return [
            f"{FURTHER_COLUMNS} lat(cycles) lat(ns)",
            *(f"{share} {share.key:11} {1000 * int(share.key) / clock:7.0f}" for share in rows),
        ]


def _levels(ear: Ear, context: ModuleContext) -> Levels:
    """Return the levels of an EAR's misses."""
    assert context.machine is not None
    if isinstance(ear, PreciseLoads):
        return PreciseLevels(context.machine())
    if ear.mode == TLB:
        return TlbLevels(ear)
    return CacheLevels(context.machine(), "data" if isinstance(ear, DataEar) else "instruction")


def sampled_ear(context: ModuleContext) -> Ear:
    """Return the event address register whose event has the period, or what decodes precise loads. PfmonError: there is
    not exactly one such event."""
    data, instruction, *_ = context.captures
    if context.model and context.model.architecture == "x86":
        return _precise_loads(data, context.model, context)
    if context.model and len(context.events) == 1:
        kind = context.model.events.ear_kind(context.events[0].code)
        ear = {"dear": data, "iear": instruction}.get(kind)
        if ear and ear.mode != ALAT:
            return ear
    raise other_events("dear-hist", _wanted(context.model), context)


def _precise_loads(data: DataEar | PreciseLoads | None, model: PmuModel, context: ModuleContext) -> PreciseLoads:
    selected = model.target.load_latency
    if model.target.op_sampling:
        ops = [event.name for event in model.events if event.extra.startswith(model.target.op_sampling)]
        if len(context.events) == 1 and context.events[0].extra.startswith(model.target.op_sampling) and data:
            assert isinstance(data, PreciseLoads)
            return data
        raise other_events("dear-hist", ops, context)
    if selected is None:
        raise PfmonError(
            f"--smpl-module=dear-hist: {model.name} takes no samples of loads with address and latency; "
            "Intel's processors do (PEBS load latency), from Nehalem on, and AMD's (IBS_OP of zen3)"
        ).about("--smpl-module")
    sampled = [(event.code, event.umask) for event in context.events]
    if sampled == [selected] and isinstance(data, PreciseLoads):
        return data
    wanted = [event.name for event in model.events if (event.code, event.umask) == selected]
    raise other_events("dear-hist", [wanted[0].rpartition("_")[0] + "_*"], context)


def _wanted(model: PmuModel | None) -> list[str]:
    """Return a PMU's EAR events: their names without the mode."""
    stems: dict[str, None] = {}
    for event in model.events if model else ():
        if event.ear in WANTED:
            mode = event.ear.partition("_")[2].upper()
            stems[f"{event.name.partition(mode)[0]}{mode}_*"] = None
    return list(stems)


def _check_view(view: str, ear: Ear, context: ModuleContext) -> None:
    if view == "data" and isinstance(ear, InstructionEar):
        raise PfmonError(f"--smpl-data-view: {context.events[0].name} captures no addresses of data")
    if view == "data" and context.by_function:
        raise PfmonError(
            "--smpl-data-view is of data, which no function has: leave out --smpl-show-func (--smpl-per-function)"
        )
