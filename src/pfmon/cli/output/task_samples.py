"""The samples of followed tasks: each has a sampling module, exports and files of its own.

They come from the threads that read the tasks' streams. Output without a file of a task's own is kept until all tasks
have ended, and is then written task by task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from tempfile import TemporaryFile, gettempdir
from threading import Lock

from pfmon.atomic_write import WholeFile
from pfmon.cli.output.file_name_templates import name_of_task, names_tasks
from pfmon.cli.output.result_output import Outputs
from pfmon.cli.output.sample_module import check_module
from pfmon.cli.output.sample_output import Owner, SampleOutput
from pfmon.cli.output_options import OutputOptions
from pfmon.engine.api import Task
from pfmon.errors import LostError, PfmonError, reason
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.run_result import Run
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.task_report import task_line
from pfmon.session.run.followed_tasks import Taker, TaskCounts


def files_are_of_tasks(output: OutputOptions) -> None:
    """PfmonError for a file that only one task can have."""
    joined = _joined(output)
    exports = {f"--export={name}:{path}": path for name, path in output.exports}
    paths = {option: path for option, path in exports.items() if option not in joined}
    if output.smpl_eager_save or output.smpl_save_raw or output.smpl_module == "raw":
        paths |= {f"--smpl-outfile={output.smpl_outfile}": output.smpl_outfile}
    for option, path in paths.items():
        if path and not names_tasks(path):
            raise PfmonError(f"{option}: each task has a file of its own: put %p, its process id, into the name")


class _Kept:
    """The output of all tasks, in one unnamed file. ``names``: option -> name of its output in errors; "": the samples,
    which stay up to an error."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close
        self._lock = Lock()
        self._names = names
        self._pieces: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._end = 0
        self.lost: dict[str, LostError] = {}
        """Why an option's output is not complete."""

    def add(self, task: str, option: str, data: bytes) -> None:
        """Append to a task's output for an option. LostError: there is no room; from then on nothing more is appended
        to the option's output."""
        with self._lock:
            if option in self.lost:  # which has been said
                return
            try:
                self._write(data)
            except OSError as error:
                where = f"in {gettempdir()}, where the output of tasks is kept until all have ended"
                rest = "" if option else "; there are samples up to there"
                self.lost[option] = LostError(f"{self._names[option]}: {reason(error)} {where}{rest}")
                raise self.lost[option] from None
            self._pieces.setdefault((task, option), []).append((self._end, len(data)))
            self._end += len(data)

    def _write(self, data: bytes) -> None:
        done = 0
        while done < len(data):
            done += os.pwrite(self._file.fileno(), data[done:], self._end + done)

    def of(self, task: str, option: str) -> Iterator[bytes]:
        """Yield a task's output for an option. OSError."""
        for place, length in self._pieces.get((task, option), ()):
            yield os.pread(self._file.fileno(), length, place)

    def close(self) -> None:
        """Discard it."""
        self._file.close()


class TaskSamples:
    """Makes what takes the samples of each task."""

    def __init__(self, output: OutputOptions, prepared: Prepared, print_early: Callable[[str], object]) -> None:
        """PfmonError for what cannot be made, before the program starts."""
        self._wanted, self._prepared, self._print_early = output, prepared, print_early
        files_are_of_tasks(output)
        check_module(output, prepared)
        self._joined = _joined(output)
        self._kept = _Kept({"": _samples_of(output), **{option: option for option in self._joined}})
        self._open: dict[str, SampleOutput] = {}
        self._outputs = Outputs()
        own = output.smpl_outfile if names_tasks(output.smpl_outfile) else ""
        self._own = output.replaced(smpl_outfile=own)

    def begin(self, task: Task, objects: LoadedObjects) -> Taker:
        """A task begins: what takes its samples."""
        add = partial(self._kept.add, task.name)
        owner = Owner(
            *(task.command, task.pid, lambda: objects),
            *(lambda path: name_of_task(path, task.pid, task.image), add),
        )
        silent = self._wanted.only_exports
        samples = SampleOutput(self._own, self._prepared, lambda text: add("", _bytes(text)), owner, silent)
        self._open[task.name] = samples

        def ended(exact: Mapping[int, int] | None, edges: Mapping[tuple[int, int], int] | None) -> None:
            self._outputs.write(lambda: samples.ended(exact, edges))
            del self._open[task.name]

        return Taker(samples.take, ended)

    def finish(self, done: Run) -> None:
        """All have ended: show what they say. LostError when it cannot be written; the other files are written."""
        try:
            self._finish(done, self._outputs)
        finally:
            self._kept.close()
        self._outputs.status(0)

    def _finish(self, done: Run, outputs: Outputs) -> None:
        tasks, output = done.tasks or (), self._wanted
        if output.smpl_outfile and not names_tasks(output.smpl_outfile):
            option = f"--smpl-outfile={output.smpl_outfile}"
            outputs.write(partial(self._write, tasks, output.smpl_outfile, "", option))
        elif not (output.smpl_outfile or output.only_exports):
            outputs.write(partial(self._print, tasks))
        for option, path in self._joined.items():
            if option not in self._kept.lost:  # what was there stays
                outputs.write(partial(self._write, tasks, path, option, option))

    def _print(self, tasks: Sequence[TaskCounts]) -> None:
        """Print the samples of all tasks, each below a line of its own."""
        try:
            for task in tasks:
                self._print_early(task_line(task))
                for piece in self._kept.of(task.name, ""):
                    self._print_early(piece.decode(errors="surrogateescape"))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise LostError(f"{_samples_of(self._wanted)}: {reason(error)}") from None

    def _write(self, tasks: Sequence[TaskCounts], path: str, kept: str, option: str) -> None:
        """Write one file of all tasks, each below a line of its own except in exports."""
        try:
            whole = WholeFile(path)
        except OSError as error:
            raise LostError(f"{option}: {reason(error)}") from None
        try:
            for task in tasks:
                whole.file.write(b"" if kept else _bytes(task_line(task)))
                whole.file.writelines(self._kept.of(task.name, kept))
            whole.finish()
        except OSError as error:
            whole.abandon()
            raise LostError(f"{option}: {reason(error)}") from None

    def abandon(self) -> None:
        """The run has failed: of samples there is what was written."""
        for samples in self._open.values():
            samples.abandon()
        self._kept.close()


def _joined(output: OutputOptions) -> dict[str, str]:
    """Return the exports that are one file of all tasks: option -> path."""
    from pfmon.cli.output.export_files import joins

    return {f"--export={name}:{path}": path for name, path in output.exports if joins(name, path)}


def _samples_of(output: OutputOptions) -> str:
    """The name of the samples of all tasks in an error."""
    return f"--smpl-outfile={output.smpl_outfile}" if output.smpl_outfile else "samples"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
