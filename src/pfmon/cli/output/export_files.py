"""Files of --export, written while samples arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pfmon.atomic_write import WholeFile
from pfmon.cli.output.file_name_templates import names_tasks
from pfmon.cli.output.result_output import check_can_be_written
from pfmon.errors import LostError, reason
from pfmon.report.exports import EXPORTS
from pfmon.report.exports.sample_export import ExportSubject, SampleExport
from pfmon.session.profile.call_rows import ExactCalls
from pfmon.session.sampling.sampling_period import Sample


class ExportFile:
    """A file in one format, which replaces an existing file when complete."""

    def __init__(self, export: SampleExport, path: str, option: str) -> None:
        """``option``: the option as the user wrote it. PfmonError: the file cannot be written."""
        check_can_be_written(path, option)
        self._export, self._path, self._option = export, path, option
        self._whole: WholeFile | None = None

    def take(self, samples: Sequence[Sample]) -> None:
        """The samples of a buffer. LostError when they cannot be written."""
        if data := self._export.take(samples):
            self._write(data)

    def finish(self) -> None:
        """All samples have come. LostError when they cannot be written."""
        self._write(self._export.finish())
        assert self._whole is not None
        try:
            self._whole.finish()
        except OSError as error:
            raise self._failed(error) from None

    def write_calls(self, calls: ExactCalls) -> None:
        """Write all calls of a run instead of samples. LostError when they cannot be written."""
        try:
            self._write(self._export.take_calls(calls))
            self.finish()
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """There will be no whole file, if there is none yet: what was there stays."""
        if self._whole is not None:
            self._whole.abandon()

    def _write(self, data: bytes) -> None:
        try:
            if self._whole is None:
                self._whole = WholeFile(self._path)
            self._whole.file.write(data)
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> LostError:
        return LostError(f"{self._option}: {reason(error)}")


class JoinedExport:
    """A task's part of a file of all tasks."""

    def __init__(self, export: SampleExport, add: Callable[[bytes], None]) -> None:
        self._export, self._add = export, add

    def take(self, samples: Sequence[Sample]) -> None:
        """The samples of a buffer."""
        self._add(self._export.take(samples))

    def finish(self) -> None:
        """All samples of the task have come."""
        self._add(self._export.finish())

    def abandon(self) -> None:
        """There will be no file."""


def joins(name: str, path: str) -> bool:
    """Whether an export of tasks is one file of all of them: its name does not tell them apart, and need not."""
    return EXPORTS[name].joins and not names_tasks(path)


def export_files(
    wanted: Sequence[tuple[str, str]],
    subject: ExportSubject,
    name_of: Callable[[str], str],
    add: Callable[[str, bytes], None] | None,
) -> list[ExportFile | JoinedExport]:
    """Return the exports of samples, which ``wanted`` has by format and file. ``name_of``: the name of a file that a
    task has for itself; ``add`` gets what goes to one of all tasks, None: it is of no task. PfmonError: one cannot be
    made."""
    made: list[ExportFile | JoinedExport] = []
    for name, path in wanted:
        option = f"--export={name}:{path}"
        if add and joins(name, path):
            made.append(JoinedExport(EXPORTS[name](subject._replace(of_task=True)), partial(add, option)))
        else:
            made.append(ExportFile(EXPORTS[name](subject), name_of(path), option))
    return made
