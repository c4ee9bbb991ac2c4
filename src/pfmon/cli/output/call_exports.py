"""The files of --export without samples: all calls of a run."""

from __future__ import annotations

from functools import partial

from pfmon.cli.output.export_files import ExportFile
from pfmon.cli.output.result_output import Outputs
from pfmon.cli.output.sample_output import architecture_of
from pfmon.cli.output_options import OutputOptions
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.run_result import Run
from pfmon.program.compilation_units import import_line_reader
from pfmon.report.exports import EXPORTS
from pfmon.report.exports.exact_calls import EVENTS
from pfmon.report.exports.sample_export import ExportSubject
from pfmon.session.profile.code_profile import FunctionNames


class CallExports:
    """Writes the files when the run has ended."""

    def __init__(self, output: OutputOptions, prepared: Prepared) -> None:
        """PfmonError: one cannot be written, or its format needs a library that is missing."""
        import_line_reader()
        subject = _subject(prepared)
        self._files = [
            ExportFile(EXPORTS[name](subject), path, f"--export={name}:{path}") for name, path in output.exports
        ]

    def write(self, done: Run) -> None:
        """Write them all. LostError: one cannot be written."""
        assert done.calls
        outputs = Outputs()
        for file in self._files:
            outputs.write(partial(file.write_calls, done.calls))
        outputs.status(0)


def _subject(prepared: Prepared) -> ExportSubject:
    session = prepared.session
    return ExportSubject(
        FunctionNames(
            *(prepared.objects(), session.plan.demangle, session.engine.instruction_set),
            python=lambda: prepared.session.engine.functions,
        ),
        prepared.command,
        session.plan.settings.process_id,
        {(0, number): event for number, event in enumerate(EVENTS)},
        epoch=session.plan.settings.epoch,
        megahertz=int(prepared.processor.figures()["machine.frequency"]),
        architecture=architecture_of(prepared),
        exact=True,
    )
