"""Where samples go while the program runs."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.report.sampling import MODULES
from pfmon.report.sampling.module import Context
from pfmon.session.profile import FunctionNames
from pfmon.whole_files import partial_of, put_in_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pfmon.cli.config import Config
    from pfmon.cli.exports import ExportFile
    from pfmon.cli.output import Results
    from pfmon.library.prepared import Prepared
    from pfmon.session.sampling import Sample


def _exports(config: Config, prepared: Prepared, names: FunctionNames | None) -> list[ExportFile]:
    if not config.exports or names is None:
        return []
    from pfmon.cli.exports import export_files  # few want them

    return export_files(config, prepared, names)


class Samples:
    """Gives samples to a sampling module, and what that says to a file or to where the results go."""

    def __init__(self, config: Config, prepared: Prepared, results: Results) -> None:
        """PfmonError when the file cannot be written."""
        plan = prepared.session.plan
        module = config.smpl_module or next(iter(MODULES))
        for option, used in {
            "--smpl-show-func": config.smpl_show_func,
            "--smpl-show-top": config.smpl_show_top,
            "--smpl-truth": config.smpl_truth,
        }.items():
            if used and not MODULES[module].is_histogram:
                raise PfmonError(f"{option} is about histograms, and {module} is none: --smpl-module=inst-hist is one")
        resolve = config.resolve_addresses or config.smpl_show_func
        names = FunctionNames(prepared.program(), config.demangle) if resolve or config.exports else None
        context = Context(
            plan.settings.process_id,
            names if resolve else None,
            config.smpl_show_func,
            config.smpl_show_top,
        )
        self._module = MODULES[module](context)
        self._exports = _exports(config, prepared, names)
        self._results = results
        self._path = config.smpl_outfile
        self._partial = partial_of(self._path) if self._path else ""
        try:
            self._file = open(self._partial, "w") if self._path else None  # noqa: SIM115 - closed by finish
        except (OSError, ValueError) as error:
            raise self._failed(error) from None

    def take(self, samples: Sequence[Sample]) -> None:
        """The samples of a buffer."""
        for export in self._exports:
            export.take(samples)
        self._write(self._module.take(samples))

    def finish(self, exact: Mapping[int, int] | None) -> None:
        """All samples have come; ``exact``: how often the event happened where. PfmonError when they could not be
        written."""
        self._write(self._module.finish(exact))
        for export in self._exports:
            export.finish()
        try:
            if self._file:
                self._file.close()
                put_in_place(self._partial, self._path)
        except OSError as error:
            raise self._failed(error) from None

    def abandon(self) -> None:
        """The run has failed: there are no exports."""
        for export in self._exports:
            export.abandon()

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._file is None:
            self._results.early(text)
            return
        try:
            self._file.write(text)
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> PfmonError:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        return PfmonError(f"--smpl-outfile={self._path}: {reason}")
