"""The file of --report=html:FILE."""

from __future__ import annotations

from pfmon.cli.output import check_can_be_written
from pfmon.errors import PfmonError
from pfmon.whole_files import write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pfmon.cli.config import Config
    from pfmon.library.prepared import Prepared
    from pfmon.library.run import Run
    from pfmon.report.html.sampled import SampleTree
    from pfmon.session.sampling import Sample


class HtmlReport:
    """Takes the samples of a run, and writes its page when it has ended. It takes the place of what was there when it
    is whole."""

    def __init__(self, config: Config, prepared: Prepared) -> None:
        """PfmonError when the file could not be written."""
        self._path = config.html_report
        self._option = f"--report=html:{self._path}"
        check_can_be_written(self._path, self._option)
        self._samples = _tree(config, prepared)

    @property
    def takes(self) -> Callable[[Sequence[Sample]], None] | None:
        """What takes the samples of a buffer; None: there are none."""
        return self._samples.take if self._samples else None

    def write(self, done: Run) -> None:
        """PfmonError when it cannot be written."""
        if self._samples and done.samples:  # they were kept
            self._samples.take(done.samples)
        try:
            write_whole(self._path, done.to_html(self._samples))
        except OSError as error:
            raise PfmonError(f"{self._option}: {(error.strerror or str(error)).lower()}") from None


def _tree(config: Config, prepared: Prepared) -> SampleTree | None:
    """What becomes of the samples; None: there are none."""
    session = prepared.session
    if session.plan.sampling is None:
        return None
    from pfmon.report.html.sampled import SampleTree
    from pfmon.session.profile import FunctionNames

    names = FunctionNames(prepared.objects(), config.demangle, session.engine.instruction_set)
    return SampleTree(
        names,
        {
            (number, monitor.pmd): monitor.event.name
            for number, counting in enumerate(session.sets)
            for monitor in counting.programming.monitors
        },
    )
