"""Two programs on the two hardware threads of a core, counted side by side."""

from __future__ import annotations

from copy import deepcopy
from threading import Thread

from pfmon.errors import PfmonError
from pfmon.library.machines import machine_of
from pfmon.library.prepared import Prepared
from pfmon.session.core import Core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pfmon.library.files import Files
    from pfmon.library.options import Options
    from pfmon.library.run import Run
    from pfmon.session.core import ThreadCycles
    from pfmon.session.sampling import Sample

OnSamples = "Callable[[Sequence[Sample]], None] | None"


class CoreRun:
    """What two programs came to on one core. ``threads``: the run of each; ``cycles``: what each had of the core."""

    def __init__(self, threads: tuple[Run, Run], cycles: Sequence[ThreadCycles]) -> None:
        self.threads = threads
        self.cycles = tuple(cycles)

    @property
    def core_cycles(self) -> int:
        """Cycles of the core until both had ended: each was one thread's."""
        return sum(one.active for one in self.cycles)

    def to_dict(self) -> dict[str, Any]:
        """Keys: core (cycles; threads: a dict of ThreadCycles for each), threads (Run.to_dict of each)."""
        return {
            "core": {"cycles": self.core_cycles, "threads": [one._asdict() for one in self.cycles]},
            "threads": [one.to_dict() for one in self.threads],
        }


class PreparedCore:
    """Two programs, or recordings, ready to be run once on the two hardware threads of a core.

    Each has a PMU of its own, which both program in the same way: ``options`` hold for both, but for what ``replays``
    says. Whatever is wrong with them shows when this is made (PfmonError).
    """

    def __init__(
        self,
        options: Options,
        commands: Sequence[Sequence[str]],
        files: Sequence[Files | None] = (None, None),
        replays: Sequence[str] = ("", ""),
        on_notice: Callable[[int, str], None] = lambda thread, text: None,
    ) -> None:
        """``commands``: of thread 0 and thread 1, empty where ``replays`` names a recording; ``on_notice`` gets a
        thread's number and what there is to say while it runs."""
        own = [deepcopy(options), deepcopy(options)]
        for one, replay in zip(own, replays, strict=True):
            one.replay = replay
            if one.pmu_given and one.pmu != "montecito":
                raise PfmonError(f"{one.pmu} has one hardware thread a core: two programs on one need --pmu=montecito")
            one.pmu, one.pmu_given = "montecito", True
        self.core = Core(_figures(own[0]))
        self.threads: list[Prepared] = []
        try:
            for number, command in enumerate(commands):
                self.threads.append(
                    Prepared(
                        *(own[number], command, files[number]),
                        on_notice=lambda text, number=number: on_notice(number, text),  # type: ignore[misc]  # mypy: defaults of lambdas
                        seat=self.core.seats[number],
                    )
                )
        except BaseException:
            self.close()
            raise

    def run(self, on_samples: Sequence[Callable[[Sequence[Sample]], None] | None] = (None, None)) -> CoreRun:
        """Run both to their end, or until `stop`. ``on_samples``: as Prepared.run has it, by thread. Raises what one of
        them raised."""
        runs: list[Run | None] = [None, None]
        errors: list[BaseException] = []

        def run(number: int) -> None:
            try:
                runs[number] = self.threads[number].run(on_samples=on_samples[number])
            except BaseException as error:  # raised below, when the other one has ended
                errors.append(error)
                self.core.abandon(number)
                self.threads[1 - number].stop()

        second = Thread(target=run, args=(1,), name="pfmon thread 1", daemon=True)
        second.start()
        run(0)
        second.join()
        if errors:
            raise errors[0]
        first, other = runs
        assert first and other
        return CoreRun((first, other), self.core.cycles())

    def stop(self, why: str = "stop") -> None:
        """End both soon, with the counts so far: from any thread or a signal handler."""
        for one in self.threads:
            one.stop(why)

    def close(self) -> None:
        """Give back what they hold of the host, when they are not to be run."""
        for one in self.threads:
            one.close()


def _figures(options: Options) -> Any:
    """The machine's figures. PfmonError: it has no second hardware thread."""
    figures = machine_of(options, False)
    if "smt.policy" not in figures:
        raise PfmonError(f"{figures['machine.name']} has one hardware thread a core; montecito has two")
    return figures
