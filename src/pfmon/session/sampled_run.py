"""A run whose counters are sampled: they count live."""

from __future__ import annotations

from contextlib import nullcontext

from pfmon.counting.live_unit import LiveUnit
from pfmon.session.counting import Seen
from pfmon.session.monitoring import nothing_is_lost
from pfmon.session.sampling import Sampler
from pfmon.stream.tee import Tee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pfmon.engine.api import Engine
    from pfmon.machine.config import MachineFigures
    from pfmon.pmu.model import PmuModel
    from pfmon.session.counting import Count, Counting
    from pfmon.session.machine_run import MachineRun
    from pfmon.session.sampling import Sample, Sampling
    from pfmon.stream.consumer import Consumer


class SampledRun:
    """Samples one event set. ``consumer`` is for the engine, which runs within ``running``."""

    def __init__(
        self,
        model: PmuModel,
        counting: Counting,
        engine: Engine,
        sampling: Sampling,
        on_samples: Callable[[Sequence[Sample]], None],
        figures: MachineFigures | None,
        traced: bool,
        ear_seed: int = 1,
    ) -> None:
        """``figures``: of the machine that the program runs on, if an event needs one; ``traced``: whether the stream
        has addresses; ``ear_seed``: of the data EAR's choice among loads."""
        self._counting = counting
        self._engine = engine
        self._periods = sampling.periods
        self._tally = counting.unit.tally(engine.table, traced) if sampling.truth else None
        registers = counting.counters.registers
        pmds = [monitor.pmd for monitor in counting.programming.monitors]
        held = sorted({*sampling.extra, *(set(counting.programming.pmds) - set(pmds))})
        periods = dict(zip(pmds, sampling.periods, strict=True))
        self._sampler = Sampler(registers, periods, sampling, on_samples, held)
        self._machine = _machine(figures, engine, counting) if figures else None
        records = self._machine.records() if self._machine else None
        self._unit = LiveUnit(
            *(model, registers, engine.table, traced, self._sampler, records),
            calls=sampling.stacks,
            skid=sampling.skid,
            seed=ear_seed,
        )
        self._sampler.clear = self._unit.clear_captures
        engine.set_monitoring(up=True, secure=True)
        self.consumer: Consumer = self._feed()

    def _feed(self) -> Consumer:
        """What the engine writes to."""
        if self._machine:
            return self._machine.feed(beside=self._tally)
        return Tee(self._unit.consumer, self._tally) if self._tally else self._unit.consumer

    @property
    def running(self) -> AbstractContextManager[object]:
        """The program runs within it."""
        return self._machine or nullcontext()

    def finish(self) -> None:
        """The program has ended: give the last samples away. LostError when some would be missing; raises what
        ``on_samples`` raised."""
        self._unit.finish()
        failures = [self._engine.table.failure, self._unit.consumer.failure]
        failures += [self._tally.failure] if self._tally else []
        nothing_is_lost([*failures, *(self._machine.failures if self._machine else ())])
        self._sampler.finish()

    def exact(self) -> dict[int, int] | None:
        """How often the sampled event happened at each instruction (address | slot); None if nobody asked."""
        if self._tally is None:
            return None
        records = self._machine.records() if self._machine else None
        sink = self._counting.sink(Seen(self._engine.table, self._tally, records), by_place=True)
        place = next(number for number, period in enumerate(self._periods) if period is not None)
        counts = {address: self._counting.ordered(row)[place] for address, row in sink.by_address().items()}
        return {address: count for address, count in counts.items() if count}

    def counts(self) -> list[Count]:
        """What the events came to."""
        return self._counting.counts_of(
            [self._sampler.value(monitor.pmd) for monitor in self._counting.programming.monitors]
        )

    def notes(self) -> list[str]:
        """What there is to say of the samples."""
        lost = self._sampler.lost
        return [f"--saturate-smpl-buffer: {lost} samples more were not taken"] if lost else []


def _machine(figures: MachineFigures, engine: Engine, counting: Counting) -> MachineRun:
    from pfmon.session.machine_run import MachineRun  # exact events do not need it

    return MachineRun(figures, engine.table, counting.unit.data_ranges or ())
