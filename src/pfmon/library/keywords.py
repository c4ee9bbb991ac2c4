"""The library's options: the command line's, with underscores in their names and Python values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from pfmon.errors import BadValueError, UnknownNameError
from pfmon.library.machine_selection import take_pmu
from pfmon.library.option_checks import check, guest_pmu, report_is_known
from pfmon.library.option_values import (
    MAX_PRELOAD,
    directory,
    milliseconds,
    names,
    seconds,
    size,
    variable,
    whole_number,
)
from pfmon.library.run_options import (
    MAX_IP_EAR_DELAY,
    MAX_PROCESSES,
    MAX_QUANTUM,
    MAX_SAMPLE_ENTRIES,
    MAX_SEED,
    MAX_SKID,
    Options,
)
from pfmon.library.set_options import SetOptions

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
    switch_timeout: float
    true_values: bool
    print_interval: float
    insecure: bool
    dont_start: bool
    unlimited: bool
    per_function: bool
    per_block: bool
    annotate: str
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
    cores: int
    no_smt_rules: bool
    guest_pmu: bool | str
    slow: bool
    partial: bool


Taker = Callable[[Options, str, Any], None]
"""Stores a value in the options; called with the option's name on the command line, without leading dashes."""


def options_of(keywords: Mapping[str, object], record: str = "", replay: str = "") -> Options:
    """Return the options of keyword arguments; ``record`` and ``replay`` are files. Raises PfmonError."""
    options = Options()
    options.record, options.replay = record, replay
    for name, value in sorted(keywords.items(), key=lambda one: one[0] != "events"):  # these make the event sets
        if name not in TAKERS:
            raise UnknownNameError("option", name, TAKERS)
        if value is not None and value is not False:
            TAKERS[name](options, name.replace("_", "-"), value)
    check(options)
    return options


def _field(field: str, convert: Callable[[str, Any], object]) -> Taker:
    """Return a taker that stores ``convert(option, value)`` in one field."""

    def take(options: Options, option: str, value: object) -> None:
        setattr(options, field, convert(option, value))

    return take


def _of_set(field: str, convert: Callable[[str, Any], object], splits: Callable[[object], bool]) -> Taker:
    """A taker of what is a field of an event set: of the first one, or of each, where ``splits`` says that a value is
    the sequence of theirs."""

    def take(options: Options, option: str, value: object) -> None:
        for one, own in _by_set(options, option, value, splits):
            setattr(one, field, convert(option, own))

    return take


def _by_set(
    options: Options, option: str, value: object, splits: Callable[[object], bool]
) -> list[tuple[SetOptions, object]]:
    """The event sets that have a value of their own, with it."""
    if not splits(value):
        return [(options.sets[0], value)]
    assert isinstance(value, Sequence)
    if len(value) > len(options.sets):
        sets = f"{len(options.sets)} event set{'s' * options.several_sets}"
        raise BadValueError(f"--{option}={value!r}: {len(value)} values for {sets}")
    pairs = zip(options.sets, value, strict=False)  # the last ones may have none
    return [(one, own) for one, own in pairs if own is not None and own is not False]


def _is_nested(value: object) -> bool:
    """Whether a value is a sequence of sequences, or of None."""
    return isinstance(value, list | tuple) and all(one is None or isinstance(one, list | tuple) for one in value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_list_of_ranges(value: object) -> bool:
    return isinstance(value, list) and not all(type(one) is int for one in value)


def _is_nested_or_flags(value: object) -> bool:
    """Whether a value is a sequence of sequences, of True, False or None."""
    return isinstance(value, list | tuple) and all(one is None or isinstance(one, bool | list | tuple) for one in value)


def _bad(option: str, value: object, wanted: str) -> BadValueError:
    return BadValueError(f"--{option}={value!r}: {wanted} is wanted")


def _flag(option: str, value: object) -> bool:
    if value is not True:
        raise _bad(option, value, "True or False")
    return True


def _cores(options: Options, option: str, value: object) -> None:
    from pfmon.library.coupled_checks import number_of_cores

    options.cores = number_of_cores(option, str(value))


def _unflag(option: str, value: object) -> bool:
    return not _flag(option, value)


def _text(option: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike) or not (text := os.fspath(value)) or not isinstance(text, str):
        raise _bad(option, value, "a text")
    return text


def _items(option: str, value: object) -> list[str]:
    """Return the items of a comma-separated string, a single value or a sequence."""
    if isinstance(value, str):
        items = value.split(",")
    elif isinstance(value, Iterable):
        items = [_word(option, item) for item in value]
    else:
        items = [_word(option, value)]
    items = [item.strip() for item in items]
    if not items or not all(items):
        raise _bad(option, value, "a name, a number, or a sequence of them")
    return items


def _word(option: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _bad(option, value, "a name, a number, or a sequence of them")
    return value if isinstance(value, str) else str(value)


def _list(option: str, value: object) -> str:
    """One value an event, as the command line has it; None: it is left out."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and None in value:
        return ",".join("" if one is None else _word(option, one) for one in value)
    return ",".join(_items(option, value))


def _range(option: str, value: object) -> str:
    """Return a range given as START-END, a symbol or two numbers."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, tuple | list) and len(value) == 2 and all(type(limit) is int for limit in value):
        return f"{value[0]:#x}-{value[1]:#x}"
    raise _bad(option, value, "START-END, a symbol, or a pair of addresses")


def _address(option: str, value: object) -> str:
    return f"{value:#x}" if type(value) is int else _text(option, value)


def _number(convert: Callable[[str, str], object]) -> Callable[[str, object], object]:
    """Return a converter of numbers, or of their text on the command line."""

    def number(option: str, value: object) -> object:
        if isinstance(value, bool):
            raise _bad(option, value, "a number")
        return convert(option, str(value))

    return number


def _branch_filters(options: Options, option: str, value: object) -> None:
    """Filters of the branch buffer, as the command's options without their beginning: "tm-tk"."""
    for one, own in _by_set(options, option, value, _is_nested):
        one.branch_filters += [f"{option}-{name}" for name in _items(option, own)]


def _pmu(options: Options, option: str, value: object) -> None:
    take_pmu(options, _text(option, value))


def _controls(options: Options, option: str, value: object) -> None:
    """Store fields of control registers."""
    _numbers(options.controls, option, value, '{"freeze_perfmon_on_pmi": 1}')


def _preload(options: Options, option: str, value: object) -> None:
    """Store the initial values of counters."""
    _numbers(options.preload, option, value, '{"pmc1": 0x7ffffc18}', MAX_PRELOAD)


def _numbers(to: dict[str, int], option: str, value: object, example: str, high: int = (1 << 64) - 1) -> None:
    """Store numbers by name, ignoring case."""
    if not isinstance(value, Mapping):
        raise _bad(option, value, f"a mapping such as {example}")
    for name, field in value.items():
        to[_text(option, name).lower()] = whole_number(f"{option}={name}", str(field), 0, high)


def _events(options: Options, option: str, value: object) -> None:
    """Store event names, or several sequences of names: multiplexed event sets."""
    several = not isinstance(value, str) and isinstance(value, Iterable)
    given = list(value) if several and isinstance(value, Iterable) else [value]
    groups = given if given and all(isinstance(one, list | tuple) for one in given) else [value]
    for group in groups:
        if isinstance(group, Sequence) and not group:
            continue
        options.take_events(_items(option, group))


def _settings(options: Options, option: str, value: object) -> None:
    """Store changes of figures: FIGURE=VALUE, a sequence of these, or a mapping."""
    if isinstance(value, Mapping):
        options.machine_settings += [f"{name}={_figure(figure)}" for name, figure in value.items()]
    else:
        options.machine_settings += [value] if isinstance(value, str) else [_text(option, text) for text in _all(value)]


def _figure(value: object) -> str:
    """Return a figure's value in the syntax of --set."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _all(value: object) -> list[object]:
    return list(value) if isinstance(value, Iterable) else [value]


def _insn_set(options: Options, option: str, value: object) -> None:
    if _flag(option, value):
        options.instruction_sets.add(option)


def _matcher(options: Options, option: str, value: object) -> None:
    for one, own in _by_set(options, option, value, _is_list):
        one.opcode_matches[option] = _text(option, own)


def _reset(option: str, value: object) -> str:
    """All counters without a period, or those of some registers."""
    return "" if value is True else _list(option, value)


def _trigger(options: Options, option: str, value: object) -> None:
    given = [value] if isinstance(value, int) else value
    items = names(given) if isinstance(given, str) else [_address(option, one) for one in _all(given)]
    if not items or not all(items):
        raise _bad(option, value, "a name, a number, or a sequence of them")
    options.triggers[option] = items


def _trigger_flag(options: Options, option: str, value: object) -> None:
    if _flag(option, value):
        options.trigger_flags.add(option)


def _levels(option: str, value: object) -> str:
    letters = _text(option, value)
    if set(letters) - set("uk0123"):
        raise _bad(option, value, "letters of u k 0 1 2 3")
    return letters


def _environment(options: Options, option: str, value: object) -> None:
    """Store variables: NAME=VALUE or NAME (the host's value), or a mapping (None: the host's value)."""
    if isinstance(value, Mapping):
        entries = [name if text is None else f"{name}={text}" for name, text in value.items()]
    else:
        entries = [_text("env", entry) for entry in ([value] if isinstance(value, str) else _all(value))]
    options.environment += [variable("env", entry) for entry in entries]


def _take_report(options: Options, option: str, value: object) -> None:
    name = report_is_known(_text(option, value))
    if name == "html":
        options.collect_report = True
    else:
        options.report = name


def _follow_exec(options: Options, option: str, value: object) -> None:
    """Store True, or a regular expression that a program's path must match."""
    from pfmon.library.follow_request import pattern

    options.follow_exec = True
    if value is not True:
        options.follow_exec_only = pattern(option, _text(option, value))


def _follow_exec_exclude(option: str, value: object) -> str:
    from pfmon.library.follow_request import pattern

    return pattern(option, _text(option, value))


def _debug_dir(options: Options, option: str, value: object) -> None:
    given = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(given, list | tuple):
        raise _bad(option, value, "a directory, or several")
    options.debug_dirs += [directory(option, _text(option, one)) for one in given]


def _follow_all(options: Options, option: str, value: object) -> None:
    options.follow_fork = options.follow_exec = options.follow_pthread = _flag(option, value)


FLAGS = (
    *("all_threads", "system_wide"),
    *("follow_fork", "follow_pthread", "per_thread", "confine", "net", "detach_children"),
    *("true_values", "insecure", "dont_start", "unlimited", "per_function", "per_block"),
    *(
        "host_env",
        "host_clock",
        "host_random",
        "host_ids",
        "slow",
        "partial",
        "saturate_smpl_buffer",
        "smpl_truth",
        "smpl_stacks",
    ),
)
"""Boolean options stored in the fields of the same names."""

TAKERS: dict[str, Taker] = {
    **{name: _field(name, _flag) for name in FLAGS},
    **{
        name: _of_set(name, _list, _is_nested)
        for name in (
            *("event_thresholds", "priv_levels", "insn_sets", "invert", "edge"),
            *("long_smpl_periods", "short_smpl_periods", "smpl_periods_random", "extra_smpl_pmds"),
        )
    },
    **{name: _of_set(name, _range, _is_list_of_ranges) for name in ("irange", "drange")},
    **{
        name: _of_set(name, _flag, _is_list)
        for name in ("inverse_irange", "irange_demand_fetch", "irange_prefetch_match")
    },
    "reset_non_smpl_periods": _of_set("reset_non_smpl_periods", _reset, _is_nested_or_flags),
    **{name: _field(name, _text) for name in ("machine", "annotate", "symbol_file")},
    **{name: _field(name, _number(milliseconds)) for name in ("switch_timeout", "print_interval")},
    **{f"opc_match{number}": _matcher for number in (8, 9, 32, 34)},
    **{f"trigger_{kind}_{what}_addresses": _trigger for kind in ("code", "data") for what in ("start", "stop")},
    **{f"trigger_{what}": _trigger_flag for what in ("code_repeat", "data_repeat", "data_ro", "data_wo")},
    "pmu": _pmu,
    "debug_dir": _debug_dir,
    "set": _settings,
    "controls": _controls,
    "preload": _preload,
    "events": _events,
    "no_qual_check": _field("check_qualifiers", _unflag),
    "no_demangle": _field("demangle", _unflag),
    "no_smt_rules": _field("smt_rules", _unflag),
    "cores": _cores,
    "levels": _field("levels", _levels),
    "ia32": _insn_set,
    "ia64": _insn_set,
    "checkpoint_func": _of_set("checkpoint_func", _address, _is_list),
    "trigger_event": _field("trigger_event", _text),
    "stop_event": _field("stop_event", _text),
    "report": _take_report,
    "follow_exec": _follow_exec,
    "follow_all": _follow_all,
    "follow_exec_exclude": _field("follow_exec_exclude", _follow_exec_exclude),
    "follow_limit": _field("follow_limit", _number(lambda option, text: whole_number(option, text, 1, MAX_PROCESSES))),
    "sysroot": _field("sysroot", lambda option, value: directory(option, _text(option, value))),
    "timeout": _field("session_timeout", _number(seconds)),
    "environment": _environment,
    "seed": _field("seed", _number(whole_number)),
    "quantum": _field("quantum", _number(lambda option, text: whole_number(option, text, 1, MAX_QUANTUM))),
    "schedule_seed": _field("schedule_seed", _number(lambda option, text: whole_number(option, text, 0, MAX_SEED))),
    "guest_pmu": _field("guest_pmu", lambda _, value: guest_pmu(None if value is True else str(value))),
    "memory_limit": _field("memory_limit", _number(size)),
    "smpl_entries": _field(
        "smpl_entries", _number(lambda option, text: whole_number(option, text, 1, MAX_SAMPLE_ENTRIES))
    ),
    "btb": _branch_filters,
    "etb": _branch_filters,
    "ip_ear": _of_set(
        "ip_ear", _number(lambda option, text: whole_number(option, text, 0, MAX_IP_EAR_DELAY)), _is_list
    ),
    "smpl_skid": _field("smpl_skid", _number(lambda option, text: whole_number(option, text, 0, MAX_SKID))),
    "ear_seed": _field("ear_seed", _number(lambda option, text: whole_number(option, text, 1, MAX_SEED))),
}
"""Keyword -> the function that stores its value."""
