"""The file of --report=html:FILE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pfmon.cli.output.file_name_templates import name_of_task, names_tasks
from pfmon.cli.output.result_output import check_can_be_written, write_output
from pfmon.cli.output.written_page import PageViewer
from pfmon.cli.output_options import OutputOptions
from pfmon.engine.api import Task
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.run_result import Run
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.run.followed_tasks import TaskCounts
from pfmon.session.sampling.sampling_period import Sample

if TYPE_CHECKING:
    from pfmon.report.html.sample_tree import SampleTree


class HtmlReport:
    """Collects a run's samples and writes its page after the run, atomically."""

    def __init__(self, output: OutputOptions, prepared: Prepared) -> None:
        """PfmonError: the file cannot be written."""
        self._path = output.html_report
        self._option = f"--report=html:{self._path}"
        check_can_be_written(self._path, self._option)
        self._wanted, self._prepared = output, prepared
        self._viewer = PageViewer(output.opens_page, quiet=output.progress is False)
        self._samples = None if prepared.session.plan.following else _tree(output, prepared, prepared.objects)
        self._of_tasks: dict[str, SampleTree] = {}

    @property
    def takes(self) -> Callable[[Sequence[Sample]], None] | None:
        """The function that consumes a buffer of samples; None: there are none."""
        return self._samples.take if self._samples else None

    def begin(self, task: Task, objects: LoadedObjects) -> SampleTree:
        """The consumer of a task's samples."""
        tree = _tree(self._wanted, self._prepared, lambda: objects)
        assert tree
        self._of_tasks[task.name] = tree
        return tree

    def write(self, done: Run) -> None:
        """Write the page, print its path, and open it with --open. LostError when it cannot be written."""
        if done.tasks is not None:
            self._write_tasks(done, done.tasks)
            return
        if self._samples and done.samples:  # they were kept
            self._samples.take(done.samples)
        self._viewer.write(self._path, done.to_html(self._samples), self._option)

    def _write_tasks(self, done: Run, tasks: Sequence[TaskCounts]) -> None:
        if not names_tasks(self._path):
            self._viewer.write(self._path, done.to_html(of_tasks=self._of_tasks), self._option)
            return
        paths = []
        for task in tasks:
            image = int(task.name.partition(":")[2] or 0)
            path = name_of_task(self._path, task.pid, image)
            write_output(path, done.task_to_html(task, self._of_tasks.get(task.name)), self._option)
            paths.append(path)
        if paths:
            self._viewer.show(paths[0], others=len(paths) - 1)


def _tree(output: OutputOptions, prepared: Prepared, objects: Callable[[], LoadedObjects]) -> SampleTree | None:
    """The call tree of the samples; None: there are none."""
    session = prepared.session
    if session.plan.sampling is None:
        return None
    from pfmon.report.html.sample_tree import SampleTree
    from pfmon.session.profile.code_profile import FunctionNames

    names = FunctionNames(objects(), session.plan.demangle, session.engine.instruction_set)
    return SampleTree(
        names,
        {
            (number, monitor.pmd): monitor.event.name
            for number, counting in enumerate(session.sets)
            for monitor in counting.programming.monitors
        },
    )
