"""Compare a run's counts with a baseline and save them as the new one."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pfmon.cli.output.printing import print_notice, print_text
from pfmon.cli.output.result_output import check_can_be_written, write_output
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.baseline import baseline_of, differences, executed_by, other_engine, read
from pfmon.library.results.run_result import Run
from pfmon.library.results.tolerances import tolerances
from pfmon.pmu.model.generic_events import spelled
from pfmon.report.baseline_table import Change, compare, table

GREW = 3
"""Exit status when a count increased."""


class BaselineOptions:
    """Implements --baseline and --save-baseline for a run."""

    def __init__(self, options: Options, output: OutputOptions, prepared: Prepared) -> None:
        """Check options and files before the program runs. PfmonError: one of them is wrong."""
        self._wanted = output
        self._events = _names(prepared.events)
        self._now = baseline_of(prepared.command, prepared.processor, options, dict.fromkeys(self._events))
        self._tolerance = tolerances("--tolerance", output.tolerance, self._events)
        self._before = read(output.baseline, f"--baseline={output.baseline}") if output.baseline else None
        if output.save_baseline:
            check_can_be_written(output.save_baseline, f"--save-baseline={output.save_baseline}")
        reason = next(differences(self._before, self._now), "") if self._before else ""
        if reason:
            raise self._not_comparable(reason)

    def finish(self, done: Run) -> int:
        """Compare and save; the exit status. LostError: the counts cannot be saved."""
        if done.status or done.stopped:
            print_notice(
                "the program did not succeed: its counts are neither compared with a baseline nor saved as one"
            )
            return done.status
        self._now = executed_by(self._now, done.programming.engine)
        if self._before and (why := other_engine(self._before, self._now)):
            raise self._not_comparable(why)
        counts = dict(zip(self._events, (count.value for count in done.counts), strict=True))
        changes = compare(self._before.counts, counts, self._tolerance.of) if self._before else []
        self._print_changes(changes)
        if self._wanted.save_baseline:
            self._save(self._now._replace(counts=counts).to_text(), changes)
        return GREW if any(change.grew for change in changes) else 0

    def _not_comparable(self, reason: str) -> PfmonError:
        path = self._wanted.baseline
        return PfmonError(f"--baseline={path}: {reason}; --save-baseline={path} makes it anew")

    def _print_changes(self, changes: Sequence[Change]) -> None:
        grown = [change for change in changes if change.grew]
        shrunk = [change for change in changes if change.shrank]
        for verb, some in (("shrank", shrunk), ("grew", grown)):
            if some:
                many = f"{len(some)} of {len(changes)} events" if len(changes) > 1 else "the event"
                print_notice(f"{many} {verb} by more than the tolerance, compared with {self._wanted.baseline}:")
                print_text(table(some, self._wanted.number_style))

    def _save(self, text: str, changes: Sequence[Change]) -> None:
        """Save the counts. A baseline that was compared is replaced only if no count is larger: otherwise a sequence of
        small increases, each within the tolerance, would pass."""
        path = self._wanted.save_baseline
        risen = [change.name for change in changes if change.rose]
        if risen and os.path.realpath(path) == os.path.realpath(self._wanted.baseline):
            print_notice(
                f"{path} stays as it was: {', '.join(risen)} {'is' if len(risen) == 1 else 'are'} more than there"
            )
            return
        write_output(path, text, f"--save-baseline={path}")


def _names(events: Sequence[str]) -> list[str]:
    """Return the events as a baseline names them. PfmonError: one is counted twice."""
    names = [spelled(name) for name in events]
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice:
        raise PfmonError(f"a baseline has each event once, and {twice} is counted twice")
    return names
