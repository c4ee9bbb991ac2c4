"""Options of sampling: events, periods, what is printed (pfmon on Itanium 2, sections 5 and 11)."""

from __future__ import annotations

from typing import Any

from pfmon.errors import BadValueError, UnknownNameError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import FLAG, WORD, as_given, flag, named, not_empty, number, of_command, one_an_event
from pfmon.library.options.option import Kind, Option, Topic, extend, once, one_of, put, same
from pfmon.library.options.program_rows import MAX_SEED
from pfmon.pmu import IA64
from pfmon.pmu.model.branch_filter import check_branch_filter
from pfmon.pmu.targets import having

MAX_SAMPLE_ENTRIES = 1 << 24
"""Samples in a buffer, or rows of a histogram."""
MAX_SKID = 1 << 20
"""Cycles from an overflow to its interrupt."""
SORTS = {"value": "smpl-sort-byvalue", "level": "smpl-sort-bylevel"}
VIEWS = {"inst": "smpl-inst-view", "data": "smpl-data-view", "level": "smpl-level-view"}


def _module(name: str, text: str) -> str:
    from pfmon.report.sampling import MODULES

    if not_empty(name, text) not in MODULES:
        raise BadValueError(
            f"--smpl-module={text}: unknown sampling module {text!r}; there are: {', '.join(MODULES)}"
        ).about("--smpl-module")
    return text


def _export(_: str, text: str) -> tuple[str, str]:
    """Parse FORMAT:FILE."""
    from pfmon.report.exports import EXPORTS

    name, _, path = text.partition(":")
    if name not in EXPORTS:
        raise UnknownNameError("export format", name, EXPORTS)
    if not path:
        raise BadValueError(f"--export={text}: FORMAT:FILE is wanted").about("--export")
    return name, path


def _keep_export(_: Option, __: Any, output: Any, export: tuple[str, str]) -> None:
    output.exports.append(export)


def _registers(name: str, value: object) -> str:
    """All counters without a period, or those of some registers."""
    return "" if value is True else python_values.one_an_event(name, value)


def _last_branch_filters(name: str, value: object) -> list[str]:
    """Return perf's names of branches. RuleError, BadValueError: they record nothing, or do not exist."""
    found = python_values.items(name, value)
    check_branch_filter(found)
    return found


def _view(view: str) -> Option:
    shown = {"inst": "by instruction (default)", "data": "by address of the data"}
    text = shown.get(view, "by latency, or level of the TLB")
    return Option(
        VIEWS[view],
        f"dear-hist: {text}",
        flag(view, one_of(VIEWS)),
        pmus=OF_LOADS,
        field="smpl_view",
        of_output=True,
        needs=("samples",),
    )


OF_LOADS = (*IA64, *having(lambda target: target.load_latency or target.op_sampling))
"""The PMUs whose samples have loads with their address and latency."""
LAST_BRANCHES = having(lambda target: target.last_branches)
LAST_BRANCH_FILTERS = Kind(_last_branch_filters, _last_branch_filters, extend, python_values.is_nested, [])
PERIODS = one_an_event("it takes one list", not_empty)
SHOW_FUNC = Option(
    "smpl-show-func",
    "histograms: by function",
    named(lambda name: f"--{name}", put),
    of_output=True,
    needs=("samples",),
)

TOPIC = Topic(
    "samples",
    "Samples (periods: one an event, in their order; an event whose period is left out only counts)",
    [
        Option(
            "long-smpl-periods",
            "take a sample whenever so many events were counted",
            PERIODS,
            "PERIOD,...",
            of_set=True,
            keyword=True,
            alone=True,
        ),
        Option(
            "short-smpl-periods",
            "... but for the first sample after a full buffer",
            PERIODS,
            "PERIOD,...",
            of_set=True,
            keyword=True,
            alone=True,
        ),
        Option(
            "smpl-periods-random",
            "add a random number to each period: its bits within MASK",
            PERIODS,
            "MASK:SEED,...",
            of_set=True,
            keyword=True,
            needs=("samples of the set",),
        ),
        Option(
            "smpl-entries",
            "samples in a buffer (2048)",
            number(1, MAX_SAMPLE_ENTRIES),
            "NUMBER",
            keyword=True,
            default=2048,
            needs=("samples",),
        ),
        Option(
            "saturate-smpl-buffer",
            "take no samples when the first buffer is full",
            FLAG,
            keyword=True,
            needs=("samples",),
        ),
        Option(
            "reset-non-smpl-periods",
            "counters without a period, or those of these PMDs, count from 0 on after every sample",
            Kind(as_given, _registers, once("it takes one list of registers"), python_values.is_nested_or_flags, None),
            "PMD,PMD-PMD,...",
            optional=True,
            of_set=True,
            keyword=True,
            needs=("samples of the set",),
        ),
        Option(
            "smpl-module",
            "detailed-ia64 or default (each sample in words), compact (in columns), raw (binary), inst-hist (how many "
            "where), dear-hist (misses), btb-hist (branches)",
            of_command(_module),
            "NAME",
            of_output=True,
            hp=("smpl-output-format",),
            needs=("samples",),
        ),
        Option(
            "smpl-outfile",
            "put samples into FILE instead of standard output or --outfile",
            WORD,
            "FILE",
            of_output=True,
            needs=("samples",),
            writes=True,
        ),
        Option("smpl-eager-save", "... each buffer at once, when it is full", FLAG, of_output=True, needs=("samples",)),
        Option(
            "smpl-truth",
            "inst-hist, btb-hist: how often the event, or the branch, really happened, and the error of the samples",
            FLAG,
            keyword=True,
            needs=("samples",),
        ),
        Option(
            "smpl-stacks",
            "record the call stack with each sample; not for histograms",
            FLAG,
            keyword=True,
            needs=("samples",),
        ),
        Option(
            "export",
            "for other tools: all calls with their cycles, or the samples of --long-smpl-periods: collapsed (stacks, "
            "for flame graphs), speedscope, firefox, pprof, perf-data (perf.data), perf-script, callgrind, csv, "
            "parquet, autofdo (of -b)",
            of_command(_export, _keep_export, []),
            "FORMAT:FILE",
            field="exports",
            of_output=True,
        ),
        Option(
            "smpl-skid",
            "cycles from an overflow to its interrupt; 0: the sample is of the instruction itself",
            number(0, MAX_SKID),
            "CYCLES",
            keyword=True,
            needs=("samples",),
        ),
        Option(
            "extra-smpl-pmds",
            "further data registers in every sample",
            PERIODS,
            "PMD,PMD-PMD,...",
            of_set=True,
            keyword=True,
            needs=("samples of the set",),
        ),
        Option(
            "branch-filter",
            "record the last branches with each sample, by perf's names: any, any_call, any_ret, call, cond, ind_call, "
            "ind_jmp, stack (the calls that the program is in), u",
            LAST_BRANCH_FILTERS,
            "NAME,...",
            pmus=LAST_BRANCHES,
            of_set=True,
            keyword=True,
            needs=("samples of the set",),
        ),
        Option(
            "branch-any",
            "as --branch-filter=any",
            named(lambda _: ["any"], extend, []),
            short="b",
            pmus=LAST_BRANCHES,
            of_set=True,
            field="branch_filter",
            needs=("samples of the set",),
        ),
        Option(
            "overflow-block",
            "the program stands still while a buffer is emptied (it always does)",
            named(lambda name: [name], extend, []),
            field="idle_options",
            idle="the program stands still in any case while a buffer of samples is emptied",
        ),
        Option(
            "ear-seed",
            "seed of the choice that the data EAR makes among loads that overlap (1)",
            number(1, MAX_SEED),
            "NUMBER",
            pmus=IA64,
            keyword=True,
            default=1,
        ),
        Option("smpl-print-counts", "print the counts, too", FLAG, of_output=True, needs=("samples",)),
        SHOW_FUNC,
        same("smpl-per-function", SHOW_FUNC),
        Option(
            "smpl-show-top",
            "histograms: the first NUMBER rows",
            number(1, MAX_SAMPLE_ENTRIES),
            "NUMBER",
            of_output=True,
            needs=("samples",),
        ),
        Option(
            "smpl-cum-threshold",
            "histograms: the rows up to the one that reaches so many percent of all",
            number(1, 100),
            "PERCENT",
            of_output=True,
            needs=("samples",),
        ),
        *map(_view, VIEWS),
        Option(
            SORTS["value"],
            "dear-hist: sort by address, or by latency, instead of by count",
            flag("value", one_of(SORTS)),
            pmus=OF_LOADS,
            field="smpl_sort",
            of_output=True,
            needs=("samples",),
        ),
        Option(
            SORTS["level"],
            "dear-hist: sort by what served the misses, what costs most first",
            flag("level", one_of(SORTS)),
            pmus=OF_LOADS,
            field="smpl_sort",
            of_output=True,
            needs=("samples",),
        ),
        Option(
            "smpl-save-raw",
            "dear-hist: put the samples into --smpl-outfile as --smpl-module=raw does",
            FLAG,
            pmus=OF_LOADS,
            of_output=True,
            needs=("samples",),
        ),
        Option(
            "resolve-addresses",
            "print functions, and source lines where there is DWARF, beside addresses",
            FLAG,
            of_output=True,
            needs=("samples",),
        ),
    ],
)
TOPICS = (TOPIC,)
