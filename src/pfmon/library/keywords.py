"""The library's options: the command line's, with underscores in their names and Python values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from pfmon.errors import BadValueError, UnknownNameError
from pfmon.library.checks.option_checks import check
from pfmon.library.options.option import Option
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import keywords as table

Path = str | os.PathLike[str]
Names = str | Sequence[str]
Address = str | int
Numbers = str | int | Sequence[int | None]
NamesOfSets = Names | Sequence[Names | None]
NumbersOfSets = Numbers | Sequence[Numbers | None]
"""... or those of each event set."""
TextOfSets = str | Sequence[str | None]
Range = str | tuple[int, int]
FlagOfSets = bool | Sequence[bool]


class Keywords(TypedDict, total=False):
    """The keyword arguments of `run` and related functions. None and False mean not given."""

    pmu: str
    machine: Path
    set: str | Sequence[str] | Mapping[str, object]
    events: Names | Sequence[Sequence[str]]
    event_thresholds: NumbersOfSets
    invert: NamesOfSets
    edge: NamesOfSets
    no_qual_check: bool
    all_threads: bool
    controls: Mapping[str, int]
    preload: Mapping[str, int]
    levels: str
    priv_levels: NamesOfSets
    system_wide: bool
    ia32: bool
    ia64: bool
    insn_sets: NamesOfSets
    irange: Range | Sequence[Range | None]
    inverse_irange: FlagOfSets
    irange_demand_fetch: FlagOfSets
    irange_prefetch_match: FlagOfSets
    drange: Range | Sequence[Range | None]
    checkpoint_func: Address | Sequence[Address | None]
    opc_match8: TextOfSets
    opc_match9: TextOfSets
    opc_match32: TextOfSets
    opc_match34: TextOfSets
    trigger_code_start_addresses: Address | Sequence[Address]
    trigger_code_stop_addresses: Address | Sequence[Address]
    trigger_code_repeat: bool
    trigger_data_start_addresses: Address | Sequence[Address]
    trigger_data_stop_addresses: Address | Sequence[Address]
    trigger_data_repeat: bool
    trigger_data_ro: bool
    trigger_data_wo: bool
    region: Names
    per_region: bool
    switch_timeout: float
    true_values: bool
    print_interval: float
    insecure: bool
    dont_start: bool
    unlimited: bool
    per_function: bool
    per_block: bool
    per_line: bool
    annotate: str
    timeline: str | int | bool
    symbol_file: Path
    debug_dir: Path | Sequence[Path]
    no_demangle: bool
    trigger_event: str
    stop_event: str
    long_smpl_periods: NumbersOfSets
    short_smpl_periods: NumbersOfSets
    smpl_periods_random: NamesOfSets
    smpl_entries: int
    saturate_smpl_buffer: bool
    reset_non_smpl_periods: bool | NumbersOfSets
    smpl_truth: bool
    smpl_stacks: bool
    smpl_skid: int
    extra_smpl_pmds: NumbersOfSets
    ear_seed: int
    btb: NamesOfSets
    etb: NamesOfSets
    ip_ear: int | Sequence[int | None]
    branch_filter: NamesOfSets
    report: str
    follow_fork: bool
    follow_exec: bool | str
    follow_pthread: bool
    per_thread: bool
    follow_all: bool
    follow_exec_exclude: str
    follow_limit: int
    sysroot: Path
    confine: bool
    net: bool
    detach_children: bool
    timeout: float
    environment: Sequence[str] | Mapping[str, str | None]
    host_env: bool
    host_clock: bool
    host_random: bool
    host_ids: bool
    seed: int
    quantum: int
    schedule_seed: int
    memory_limit: int | str
    engine: str
    mask_cpuid: bool
    cores: int
    no_smt_rules: bool
    guest_pmu: bool | str
    slow: bool
    system: str
    memory: int | str
    uart: int | str
    itc: str
    processors: int
    cmdline: str
    initrd: Path
    guest_files: str | Sequence[str] | Mapping[str, str]
    guest_outputs: str | Sequence[str] | Mapping[str, str]
    console: bool
    exit_on: str
    sysmap_file: Path
    from_boot: bool
    task: str
    per_task: bool
    per_processor: bool
    cpu_list: str
    task_offsets: str
    snapshot: Path
    snapshot_on: str
    from_snapshot: Path
    partial: bool


KEYWORDS = table()
"""The options by keyword."""


def options_of(
    keywords: Mapping[str, object], record: str = "", replay: str = "", smt_threads: bool = False
) -> Options:
    """Return the options of keyword arguments; ``record`` and ``replay`` are files; ``smt_threads``: of a program whose
    threads run on both hardware threads of a core. Raises PfmonError."""
    options = Options()
    options.record, options.replay, options.smt_threads = record, replay, smt_threads
    for name, value in sorted(keywords.items(), key=lambda one: one[0] != "events"):  # these make the event sets
        if name not in KEYWORDS:
            raise UnknownNameError("option", name, KEYWORDS)
        if value is not None and value is not False:
            _take(KEYWORDS[name], options, name.replace("_", "-"), value)
    check(options.frozen())
    return options


def _take(option: Option, options: Options, name: str, value: object) -> None:
    """Keep a value; ``name``: what errors call the option."""
    kind = option.kind
    owners = _by_set(options, name, value, kind.splits(value)) if option.of_set else [(options, value)]
    for owner, own in owners:
        kind.keep(option, options, owner, kind.accept(name, own))


def _by_set(options: Options, name: str, value: Any, splits: bool) -> list[tuple[Any, object]]:
    """Return the event sets that have a value of their own, with it: the first one, or each of them where ``value`` is
    the sequence of theirs."""
    if not splits:
        return [(options.sets[0], value)]
    if len(value) > len(options.sets):
        sets = f"{len(options.sets)} event set{'s' * options.several_sets}"
        raise BadValueError(f"--{name}={value!r}: {len(value)} values for {sets}")
    pairs = zip(options.sets, value, strict=False)  # the last ones may have none
    return [(one, own) for one, own in pairs if own is not None and own is not False]
