"""Options of sampling: events, periods, output (pfmon on Itanium 2, sections 5 and 11)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.library.option_values import whole_number
from pfmon.library.run_options import MAX_SAMPLE_ENTRIES, MAX_SEED, MAX_SKID
from pfmon.pmu import IA64

TOPIC = "samples"
TITLE = "Samples (periods: one an event, in their order; an event whose period is left out only counts)"
OPTIONS = [
    Option("long-smpl-periods", "take a sample whenever so many events were counted", "PERIOD,...", of_set=True),
    Option("short-smpl-periods", "... but for the first sample after a full buffer", "PERIOD,...", of_set=True),
    Option(
        "smpl-periods-random", "add a random number to each period: its bits within MASK", "MASK:SEED,...", of_set=True
    ),
    Option("smpl-entries", "samples in a buffer (2048)", "NUMBER"),
    Option("saturate-smpl-buffer", "take no samples when the first buffer is full"),
    Option(
        "reset-non-smpl-periods",
        "counters without a period, or those of these PMDs, count from 0 on after every sample",
        "PMD,PMD-PMD,...",
        optional=True,
        of_set=True,
    ),
    Option(
        "smpl-module",
        "detailed-ia64 or default (each sample in words), compact (in columns), raw (binary), inst-hist (how many "
        "where), dear-hist (misses), btb-hist (branches)",
        "NAME",
    ),
    Option("smpl-outfile", "put samples into FILE instead of standard output or --outfile", "FILE"),
    Option("smpl-eager-save", "... each buffer at once, when it is full"),
    Option("smpl-truth", "inst-hist: how often the event really happened there, and the error of the samples"),
    Option("smpl-stacks", "record the call stack with each sample; not for histograms"),
    Option(
        "export",
        "samples for other tools: collapsed (stacks, for flame graphs), speedscope, firefox, pprof, perf-script, "
        "callgrind, csv, parquet",
        "FORMAT:FILE",
    ),
    Option(
        "smpl-skid", "cycles from an overflow to its interrupt; 0: the sample is of the instruction itself", "CYCLES"
    ),
    Option("extra-smpl-pmds", "further data registers in every sample", "PMD,PMD-PMD,...", of_set=True),
    Option("overflow-block", "the program stands still while a buffer is emptied (it always does)"),
    Option("ear-seed", "seed of the choice that the data EAR makes among loads that overlap (1)", "NUMBER", pmus=IA64),
    Option("smpl-print-counts", "print the counts, too"),
    Option("smpl-show-func", "histograms: by function"),
    Option("smpl-per-function", "the same as --smpl-show-func"),
    Option("smpl-show-top", "histograms: the first NUMBER rows", "NUMBER"),
    Option("smpl-cum-threshold", "histograms: the rows up to the one that reaches so many percent of all", "PERCENT"),
    Option("smpl-inst-view", "dear-hist: by instruction (default)", pmus=IA64),
    Option("smpl-data-view", "dear-hist: by address of the data", pmus=IA64),
    Option("smpl-level-view", "dear-hist: by latency, or level of the TLB", pmus=IA64),
    Option("smpl-sort-byvalue", "dear-hist: sort by address, or by latency, instead of by count", pmus=IA64),
    Option("smpl-sort-bylevel", "dear-hist: sort by what served the misses, what costs most first", pmus=IA64),
    Option("smpl-save-raw", "dear-hist: put the samples into --smpl-outfile as --smpl-module=raw does", pmus=IA64),
    Option("resolve-addresses", "print functions, and source lines where there is DWARF, beside addresses"),
]
FLAGS = {
    "saturate-smpl-buffer": "saturate_smpl_buffer",
    "smpl-eager-save": "smpl_eager_save",
    "smpl-print-counts": "smpl_print_counts",
    "smpl-save-raw": "smpl_save_raw",
    "smpl-truth": "smpl_truth",
    "smpl-stacks": "smpl_stacks",
    "resolve-addresses": "resolve_addresses",
}
SHOW_FUNC = ("smpl-show-func", "smpl-per-function")
SORTS = {"smpl-sort-byvalue": "value", "smpl-sort-bylevel": "level"}
VIEWS = {"smpl-inst-view": "inst", "smpl-data-view": "data", "smpl-level-view": "level"}
OF_SETS = {
    "long-smpl-periods": "long_smpl_periods",
    "short-smpl-periods": "short_smpl_periods",
    "smpl-periods-random": "smpl_periods_random",
    "extra-smpl-pmds": "extra_smpl_pmds",
}
OF_TEXT = {
    "--export": "exports",
    "--smpl-module": "smpl_module",
    "--smpl-outfile": "smpl_outfile",
    "--smpl-eager-save": "smpl_eager_save",
    "--smpl-print-counts": "smpl_print_counts",
    "--smpl-show-top": "smpl_show_top",
    "--smpl-cum-threshold": "smpl_cum_threshold",
    "--smpl-save-raw": "smpl_save_raw",
    "--resolve-addresses": "resolve_addresses",
}
"""Options for printed samples, and their fields."""


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    value = given.value or ""
    if given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
    elif given.name in SHOW_FUNC:
        config.smpl_show_func = f"--{given.name}"
    elif given.name == "smpl-entries":
        config.smpl_entries = whole_number(given.name, value, 1, MAX_SAMPLE_ENTRIES)
    elif given.name == "smpl-show-top":
        config.smpl_show_top = whole_number(given.name, value, 1, MAX_SAMPLE_ENTRIES)
    elif given.name == "smpl-cum-threshold":
        config.smpl_cum_threshold = whole_number(given.name, value, 1, 100)
    elif given.name in SORTS:
        if config.smpl_sort not in ("", SORTS[given.name]):
            raise PfmonError("--smpl-sort-byvalue and --smpl-sort-bylevel exclude each other").about(
                "--smpl-sort-byvalue", "--smpl-sort-bylevel"
            )
        config.smpl_sort = SORTS[given.name]
    elif given.name == "smpl-skid":
        config.smpl_skid = whole_number(given.name, value, 0, MAX_SKID)
    elif given.name == "ear-seed":
        config.ear_seed = whole_number(given.name, value, 1, MAX_SEED)
    elif given.name == "overflow-block":
        config.idle_options.append(given.name)
    elif given.name == "reset-non-smpl-periods":
        config.take_of_set(given, "reset_non_smpl_periods", "one list of registers")
    elif given.name in VIEWS:
        config.smpl_view = _view(config, VIEWS[given.name])
    elif given.name == "export":
        config.exports.append(_export(value))
        config.smpl_stacks = True
    elif not value:
        raise BadValueError(f"--{given.name} wants a value").about(f"--{given.name}")
    elif given.name == "smpl-module":
        config.smpl_module = _module(value)
    elif given.name == "smpl-outfile":
        config.smpl_outfile = value
    else:
        config.take_of_set(given, OF_SETS[given.name], "one list")


def check(config: CommandConfig) -> None:
    """Raise PfmonError for options about samples when none are taken or printed."""
    given = [option for option, field in OF_TEXT.items() if getattr(config, field)]
    given += [config.smpl_show_func] if config.smpl_show_func else []
    given += [f"--smpl-{config.smpl_view}-view"] if config.smpl_view else []
    given += [f"--smpl-sort-by{config.smpl_sort}"] if config.smpl_sort else []
    if given and not config.sampled:
        raise PfmonError(f"{given[0]} applies to samples: give --long-smpl-periods=PERIOD,... too").about(
            given[0], "--long-smpl-periods"
        )
    given += ["--smpl-truth"] if config.smpl_truth else []
    if given and config.json and config.sampled:
        raise PfmonError(f"{given[0]} applies to printed samples: --json has them unformatted").about(
            given[0], "--json"
        )


def _view(config: CommandConfig, view: str) -> str:
    if config.smpl_view not in ("", view):
        raise PfmonError(f"--smpl-{config.smpl_view}-view and --smpl-{view}-view exclude each other").about(
            f"--smpl-{config.smpl_view}-view", f"--smpl-{view}-view"
        )
    return view


def _module(name: str) -> str:
    from pfmon.report.sampling import MODULES

    if name not in MODULES:
        raise BadValueError(
            f"--smpl-module={name}: unknown sampling module {name!r}; there are: {', '.join(MODULES)}"
        ).about("--smpl-module")
    return name


def _export(text: str) -> tuple[str, str]:
    """Parse FORMAT:FILE."""
    from pfmon.report.exports import EXPORTS

    name, _, path = text.partition(":")
    if name not in EXPORTS:
        raise UnknownNameError("export format", name, EXPORTS)
    if not path:
        raise BadValueError(f"--export={text}: FORMAT:FILE is wanted").about("--export")
    return name, path
