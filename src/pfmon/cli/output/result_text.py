"""The text of a run's results: counts, profiles, reports, or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pfmon.cli.output_options import OutputOptions
from pfmon.library.preparing.prepared_run import Prepared
from pfmon.library.results.result_tables import Annotated
from pfmon.library.results.run_result import Run
from pfmon.needed_modules import import_needed
from pfmon.report.count_text import count_lines

if TYPE_CHECKING:
    from pfmon.report.profile_tables import ProfileLine


def import_text_modules(output: OutputOptions, prepared: Prepared) -> None:
    """Import what prints the results that these options ask for, before the program starts."""
    results, plan = prepared.results, prepared.session.plan
    import_needed(
        {
            "pfmon.program.source_texts": results.annotate,
            "pfmon.report.cpi_report": results.report == "cpi",
            "pfmon.report.derived_report": results.report == "derived",
            "pfmon.report.c2c_report": results.report == "c2c",
            "pfmon.report.count_text": plan.controls.true_values or output.show_time,
            "pfmon.report.header": output.with_header,
            "pfmon.report.profile_tables": results.split,
            "pfmon.report.task_report": plan.following or plan.controls.per_thread or plan.controls.tasks_apart,
            "pfmon.report.region_table": plan.controls.per_region,
            "pfmon.report.source_table": results.annotate,
            "pfmon.report.timeline_text": results.timeline,
            "pfmon.report.stat_text": prepared.summary,
            "pfmon.report.csv_counts": output.csv,
            "pfmon.report.repeated_counts": output.repeat > 1,
        }
    )


def result_text(
    output: OutputOptions, done: Run, notes: Sequence[str], prepared: Prepared, earlier: Sequence[Run] = ()
) -> str:
    """Return the results in the requested format; ``notes`` describe the setup; ``earlier``: the runs before it of the
    same command."""
    if output.json:
        return "".join(json.dumps(one.to_dict(_occasion(output))) + "\n" for one in (*earlier, done))
    if output.csv:
        from pfmon.report.csv_counts import csv_counts

        return csv_counts([one.counts for one in (*earlier, done)], prepared.usual, _megahertz(prepared))
    text = ""
    if output.with_header:
        from pfmon.report.header import header

        text += header(done.pmu, done.command, done.programming, notes)
    if output.show_time:
        from pfmon.report.count_text import times_line

        text += times_line(done.times)
    if done.tasks is not None and not output.aggregate_results and not _is_sampled_alone(output, done):
        from pfmon.report.task_report import task_text

        text += task_text(done.tasks, output.number_style)
    if done.threads is not None and not output.aggregate_results:
        from pfmon.report.task_report import thread_text

        text += thread_text(done.threads, output.number_style)
    if done.system_tasks is not None and not output.aggregate_results:
        from pfmon.report.task_report import system_task_text

        text += system_task_text(done.system_tasks, output.number_style)
    if prepared.summary:
        return text + _summary(output, done, prepared, earlier) + _timeline(done)
    true_values = prepared.session.plan.controls.true_values
    return text + counted_text(output, done, prepared.usual, true_values, earlier) + _timeline(done)


def _megahertz(prepared: Prepared) -> int:
    """The machine's clock, 0 where none runs."""
    machine = prepared.session.machine
    return int(machine["machine.frequency"]) if machine else 0


def _summary(output: OutputOptions, done: Run, prepared: Prepared, earlier: Sequence[Run]) -> str:
    """Return the default events as perf stat(1) prints them."""
    from pfmon.report.stat_text import StatMachine, stat_text

    machine = prepared.session.machine
    named = StatMachine(str(machine["machine.name"]), _megahertz(prepared)) if machine else None
    style = "us" if output.number_style == "plain" else output.number_style
    return stat_text(done.command, [one.counts for one in (*earlier, done)], named, done.finding, style)


def _occasion(output: OutputOptions) -> Mapping[str, str] | None:
    """Return the date and the host of --with-header, None without it."""
    if not output.with_header:
        return None
    from pfmon.report.header import occasion

    return occasion()


def _is_sampled_alone(output: OutputOptions, done: Run) -> bool:
    """Whether the samples are all that is shown."""
    return done.sampled and not (output.smpl_print_counts or output.only_exports)


def counted_text(
    output: OutputOptions,
    done: Run,
    usual: bool = False,
    true_values: bool = False,
    earlier: Sequence[Run] = (),
) -> str:
    """Return the counts in the requested format; ``usual``: default events, whose ratio is printed too;
    ``true_values``: estimates beside the counts of uninterrupted counting; ``earlier``: the runs before it."""
    text = ""
    if _is_sampled_alone(output, done):
        return text
    if true_values:
        from pfmon.report.count_text import estimate_lines

        text += estimate_lines(done.counts, output.number_style)
    elif earlier:
        text += _repeated([*earlier, done], output.number_style)
    elif done.derived is None:
        text += count_lines(done.counts, output.number_style)
    if usual and len(done.counts) > 1:
        from pfmon.report.count_text import cpi_line

        cycles, instructions = (count.value for count in done.counts)
        text += cpi_line(cycles, instructions, output.number_style)
    return text + _regions(output, done) + _profiles(output, done) + _report(output, done)


def _regions(output: OutputOptions, done: Run) -> str:
    """Return the table of --per-region."""
    if done.regions is None:
        return ""
    from pfmon.report.region_table import region_table

    return f"\n{region_table(done.regions, output.number_style)}"


def _repeated(runs: Sequence[Run], style: str) -> str:
    """Return the means of several runs, and what they have in common."""
    from pfmon.report.repeated_counts import mean_counts, repeats_line, spread_text, spreads

    counts = [one.counts for one in runs]
    means = count_lines(mean_counts(counts), style).splitlines()
    lines = [
        f"{line}{spread_text(share) if share else ''}\n" for line, share in zip(means, spreads(counts), strict=True)
    ]
    return "".join([*lines, f"# {repeats_line(counts)}\n"])


def _lines(rows: Annotated, kept: Mapping[str, str]) -> list[ProfileLine]:
    """Return a function's instructions with the text of their source lines, if available."""
    from pfmon.program.source_texts import SourceTexts
    from pfmon.report.profile_tables import ProfileLine, origin_text

    texts = SourceTexts("", rows.folder, kept=kept)
    return [
        ProfileLine(
            row.address | row.slot,
            row.text,
            row.counts,
            origin_text(row.file, row.line, row.inlined, texts.line(row.file, row.line)),
        )
        for row in rows
    ]


def _report(output: OutputOptions, done: Run) -> str:
    """Return the text of --report."""
    if done.derived is not None:
        from pfmon.report.derived_report import derived_text

        return derived_text(done.derived, output.number_style)
    if done.shared is not None:
        from pfmon.report.c2c_report import c2c_text

        return c2c_text(done.shared)
    if done.cpi is None:
        return ""
    from pfmon.report.cpi_report import cpi_text

    return cpi_text(done.cpi, output.number_style, done.finding)


def _timeline(done: Run) -> str:
    """Return the text of --timeline."""
    if done.timeline is None:
        return ""
    from pfmon.report.timeline_text import timeline_text

    return f"\n{timeline_text(done.timeline)}"


def _profiles(output: OutputOptions, done: Run) -> str:
    """Return the tables of --per-function, --per-block, --per-line and --annotate, separated by empty lines."""
    if all(part is None for part in (done.functions, done.blocks, done.lines, done.annotated, done.source)):
        return ""
    from pfmon.report.profile_tables import (
        annotated,
        block_table,
        function_table,
        line_table,
        python_function_table,
        python_line_table,
    )

    style, tables = output.number_style, []
    if done.python and done.functions is not None:
        tables.append(python_function_table(done.counts.names, done.python.functions, style))
    if done.python and done.lines is not None:
        tables.append(python_line_table(done.counts.names, done.python.lines, style))
    if done.functions is not None:
        tables.append(function_table(done.counts.names, done.functions, style))
    if done.blocks is not None:
        tables.append(block_table(done.counts.names, done.blocks, style))
    if done.lines is not None:
        tables.append(line_table(done.counts.names, done.lines, style))
    if done.annotated is not None:
        tables.append(
            annotated(done.counts.names, done.annotated.function, _lines(done.annotated, done.sources), style)
        )
    if done.source is not None:
        from pfmon.report.source_table import source_table

        tables.append(source_table(done.counts.names, done.source.file, done.source, style))
    return "".join(f"\n{table}" for table in tables)
