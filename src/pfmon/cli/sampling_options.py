"""Samples: which events, how often, and what becomes of them (pfmon on Itanium 2, sections 5 and 11)."""

from __future__ import annotations

from pfmon.cli.options import Option
from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.library.options import MOST_ENTRIES
from pfmon.library.values import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.cli.config import Config
    from pfmon.cli.options import Given

TITLE = "Samples (periods: one an event, in their order; an event whose period is left out only counts)"
OPTIONS = [
    Option("long-smpl-periods", "take a sample whenever so many events were counted", "PERIOD,..."),
    Option("short-smpl-periods", "... but for the first sample after a full buffer", "PERIOD,..."),
    Option("smpl-periods-random", "add a random number to each period: its bits within MASK", "MASK:SEED,..."),
    Option("smpl-entries", "samples in a buffer (2048)", "NUMBER"),
    Option("saturate-smpl-buffer", "take no samples when the first buffer is full"),
    Option("reset-non-smpl-periods", "events without a period count from 0 on after every sample"),
    Option(
        "smpl-module", "detailed-ia64 (each sample in words), compact (in columns), inst-hist (how many where)", "NAME"
    ),
    Option("smpl-outfile", "put samples into FILE instead of standard output or --outfile", "FILE"),
    Option("smpl-truth", "inst-hist: how often the event really happened there, and the error of the samples"),
    Option("smpl-stacks", "the calls that the program is in, with each sample; inst-hist: none"),
    Option(
        "export",
        "samples for other tools: collapsed (stacks, for flame graphs), speedscope, firefox, pprof, perf-script, "
        "callgrind, csv, parquet",
        "FORMAT:FILE",
    ),
    Option("smpl-print-counts", "print the counts, too"),
    Option("smpl-show-func", "inst-hist: by function"),
    Option("smpl-show-top", "inst-hist: the first NUMBER rows", "NUMBER"),
    Option("resolve-addresses", "print functions, and source lines where there is DWARF, beside addresses"),
]
FLAGS = {
    "saturate-smpl-buffer": "saturate_smpl_buffer",
    "reset-non-smpl-periods": "reset_non_smpl_periods",
    "smpl-print-counts": "smpl_print_counts",
    "smpl-show-func": "smpl_show_func",
    "smpl-truth": "smpl_truth",
    "smpl-stacks": "smpl_stacks",
    "resolve-addresses": "resolve_addresses",
}
TEXTS = {
    "long-smpl-periods": "long_smpl_periods",
    "short-smpl-periods": "short_smpl_periods",
    "smpl-periods-random": "smpl_periods_random",
    "smpl-outfile": "smpl_outfile",
}
OF_TEXT = {
    "--export": "exports",
    "--smpl-module": "smpl_module",
    "--smpl-outfile": "smpl_outfile",
    "--smpl-print-counts": "smpl_print_counts",
    "--smpl-show-func": "smpl_show_func",
    "--smpl-show-top": "smpl_show_top",
    "--resolve-addresses": "resolve_addresses",
}
"""Options that say how samples are printed, and their fields."""


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    value = given.value or ""
    if given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
    elif given.name == "smpl-entries":
        config.smpl_entries = whole_number(given.name, value, 1, MOST_ENTRIES)
    elif given.name == "smpl-show-top":
        config.smpl_show_top = whole_number(given.name, value, 1, MOST_ENTRIES)
    elif given.name == "export":
        config.exports.append(_export(value))
        config.smpl_stacks = True
    elif not value:
        raise BadValueError(f"--{given.name} wants a value")
    elif given.name == "smpl-module":
        config.smpl_module = _module(value)
    else:
        setattr(config, TEXTS[given.name], value)


def check(config: Config) -> None:
    """PfmonError for options about samples that are not printed."""
    given = [option for option, field in OF_TEXT.items() if getattr(config, field)]
    if given and not config.sampled:
        raise PfmonError(f"{given[0]} is about samples: give --long-smpl-periods=PERIOD,... too")
    given += ["--smpl-truth"] if config.smpl_truth else []
    if given and config.json and config.sampled:
        raise PfmonError(f"{given[0]} is about printed samples: --json has them as they are")


def _module(name: str) -> str:
    from pfmon.report.sampling import MODULES

    if name not in MODULES:
        raise UnknownNameError("sampling module", name, MODULES)
    return name


def _export(text: str) -> tuple[str, str]:
    """Format and file."""
    from pfmon.report.exports import EXPORTS

    name, _, path = text.partition(":")
    if name not in EXPORTS:
        raise UnknownNameError("export format", name, EXPORTS)
    if not path:
        raise BadValueError(f"--export={text}: FORMAT:FILE is wanted")
    return name, path
