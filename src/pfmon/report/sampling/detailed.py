"""detailed-ia64: an entry for each sample, and what the registers in it say (pfmon on Itanium 2, sections 5 and 6)."""

from __future__ import annotations

from pfmon.report.sampling.module import CPU, SamplingModule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.report.sampling.module import Context
    from pfmon.session.sampling import Sample


class Detailed(SamplingModule):
    """A line for a sample, and one below it for each register and each call that the program is in."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._number = 0

    def take(self, samples: Sequence[Sample]) -> str:
        return "".join(map(self._entry, samples))

    def _entry(self, sample: Sample) -> str:
        pid, place = self.context.process_id, self.context.place(sample.iip)
        text = (
            f"entry {self._number} PID:{pid} TID:{pid} CPU:{CPU} STAMP:{sample.stamp:#x} IIP:{sample.iip:#x}"
            f"{f' <{place}>' if place else ''} OVFL:{' '.join(map(str, sample.overflowed))} LAST_VAL:{sample.last} "
            f"SET:{sample.set}\n"
        )
        self._number += 1
        text += "".join(f"        PMD{number:<3}: {value:#018x}\n" for number, value in sample.pmds)
        return text + "".join(f"        called by {self._called(site)}\n" for site in sample.calls)

    def _called(self, site: int) -> str:
        place = self.context.place(site)
        return f"{site:#x}{f' <{place}>' if place else ''}"
