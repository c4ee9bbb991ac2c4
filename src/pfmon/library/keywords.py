"""The options of the library: those of the command line by their names, with underscores and Python's values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.library.checks import check, guest_pmu, report_is_known
from pfmon.library.machines import take_pmu
from pfmon.library.options import MOST_DELAY, MOST_ENTRIES, MOST_PROCESSES, MOST_QUANTUM, MOST_SEED, MOST_SKID, Options
from pfmon.library.values import directory, milliseconds, names, seconds, size, variable, whole_number

Path = str | os.PathLike[str]
Names = str | Sequence[str]
Address = str | int


class Keywords(TypedDict, total=False):
    """What `run` and its relatives take. None, and False, are as if it was not given."""

    pmu: str
    machine: Path
    set: str | Sequence[str] | Mapping[str, object]
    events: Names | Sequence[Sequence[str]]
    event_thresholds: str | Sequence[int]
    invert: str | Sequence[str]
    edge: str | Sequence[str]
    no_qual_check: bool
    all_threads: bool
    controls: Mapping[str, int]
    preload: Mapping[str, int]
    levels: str
    priv_levels: Names
    system_wide: bool
    ia32: bool
    ia64: bool
    insn_sets: Names
    irange: str | tuple[int, int]
    inverse_irange: bool
    irange_demand_fetch: bool
    irange_prefetch_match: bool
    drange: str | tuple[int, int]
    checkpoint_func: Address
    opc_match8: str
    opc_match9: str
    opc_match32: str
    opc_match34: str
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
    long_smpl_periods: str | int | Sequence[int]
    short_smpl_periods: str | int | Sequence[int]
    smpl_periods_random: Names
    smpl_entries: int
    saturate_smpl_buffer: bool
    reset_non_smpl_periods: bool
    smpl_truth: bool
    smpl_stacks: bool
    smpl_skid: int
    extra_smpl_pmds: str | int | Sequence[int]
    ear_seed: int
    btb: Names
    etb: Names
    ip_ear: int
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
"""Puts a value into the options; it gets the option's name as the command line has it, without dashes before it."""


def options_of(keywords: Mapping[str, object], record: str = "", replay: str = "") -> Options:
    """The options that keywords stand for; ``record`` and ``replay`` are files. Raises PfmonError."""
    options = Options()
    options.record, options.replay = record, replay
    for name, value in keywords.items():
        if name not in TAKERS:
            raise UnknownNameError("option", name, TAKERS)
        if value is not None and value is not False:
            TAKERS[name](options, name.replace("_", "-"), value)
    check(options)
    return options


def _field(field: str, convert: Callable[[str, Any], object]) -> Taker:
    """A taker of what is one field: ``convert`` makes its value."""

    def take(options: Options, option: str, value: object) -> None:
        setattr(options, field, convert(option, value))

    return take


def _bad(option: str, value: object, wanted: str) -> BadValueError:
    return BadValueError(f"--{option}={value!r}: {wanted} is wanted")


def _flag(option: str, value: object) -> bool:
    if value is not True:
        raise _bad(option, value, "True or False")
    return True


def _cores(options: Options, option: str, value: object) -> None:
    from pfmon.library.core_checks import number_of_cores  # few runs are of two programs

    options.cores = number_of_cores(option, str(value))


def _unflag(option: str, value: object) -> bool:
    return not _flag(option, value)


def _text(option: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike) or not (text := os.fspath(value)) or not isinstance(text, str):
        raise _bad(option, value, "a text")
    return text


def _items(option: str, value: object) -> list[str]:
    """A text with commas, one thing, or a sequence of things."""
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
    """One value an event, as the command line has it."""
    return value if isinstance(value, str) else ",".join(_items(option, value))


def _range(option: str, value: object) -> str:
    """START-END or a symbol, or two numbers."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, tuple | list) and len(value) == 2 and all(type(limit) is int for limit in value):
        return f"{value[0]:#x}-{value[1]:#x}"
    raise _bad(option, value, "START-END, a symbol, or a pair of addresses")


def _address(option: str, value: object) -> str:
    return f"{value:#x}" if type(value) is int else _text(option, value)


def _number(convert: Callable[[str, str], object]) -> Callable[[str, object], object]:
    """A number, or the command line's text for one."""

    def number(option: str, value: object) -> object:
        if isinstance(value, bool):
            raise _bad(option, value, "a number")
        return convert(option, str(value))

    return number


def _branch_filters(options: Options, option: str, value: object) -> None:
    """Filters of the branch buffer, as the command's options without their beginning: "tm-tk"."""
    options.branch_filters += [f"{option}-{name}" for name in _items(option, value)]


def _pmu(options: Options, option: str, value: object) -> None:
    take_pmu(options, _text(option, value))


def _controls(options: Options, option: str, value: object) -> None:
    """Fields of control registers."""
    _numbers(options.controls, option, value, '{"freeze_perfmon_on_pmi": 1}')


def _preload(options: Options, option: str, value: object) -> None:
    """What counters hold when counting begins."""
    _numbers(options.preload, option, value, '{"pmc1": 0x7ffffc18}')


def _numbers(to: dict[str, int], option: str, value: object, example: str) -> None:
    """Numbers by name, whatever the case of that."""
    if not isinstance(value, Mapping):
        raise _bad(option, value, f"a mapping such as {example}")
    for name, field in value.items():
        to[_text(option, name).lower()] = whole_number(f"{option}={name}", str(field))


def _events(options: Options, option: str, value: object) -> None:
    """Names, or several sequences of names: event sets that take turns."""
    several = not isinstance(value, str) and isinstance(value, Iterable)
    given = list(value) if several and isinstance(value, Iterable) else [value]
    groups = given if given and all(isinstance(one, list | tuple) for one in given) else [value]
    for group in groups:
        if isinstance(group, Sequence) and not group:
            continue
        names = _items(option, group)
        options.events += names
        options.set_sizes.append(len(names))


def _settings(options: Options, option: str, value: object) -> None:
    """Changes of figures: FIGURE=VALUE, a sequence of such texts, or a mapping."""
    if isinstance(value, Mapping):
        options.machine_settings += [f"{name}={_figure(figure)}" for name, figure in value.items()]
    else:
        options.machine_settings += [value] if isinstance(value, str) else [_text(option, text) for text in _all(value)]


def _figure(value: object) -> str:
    """A figure as --set writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _all(value: object) -> list[object]:
    return list(value) if isinstance(value, Iterable) else [value]


def _insn_set(options: Options, option: str, value: object) -> None:
    if options.insn_set not in ("both", option):
        raise PfmonError("--ia32 and --ia64 exclude each other; both sets are counted without them")
    options.insn_set = option if _flag(option, value) else options.insn_set


def _matcher(options: Options, option: str, value: object) -> None:
    options.opcode_matches[option] = _text(option, value)


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
    """NAME=VALUE or NAME (the host's value), or a mapping (None: the host's value)."""
    if isinstance(value, Mapping):
        entries = [name if text is None else f"{name}={text}" for name, text in value.items()]
    else:
        entries = [_text("env", entry) for entry in ([value] if isinstance(value, str) else _all(value))]
    options.environment += [variable("env", entry) for entry in entries]


def _take_report(options: Options, option: str, value: object) -> None:
    name = report_is_known(_text(option, value))
    if name == "html":
        options.survey = True
    else:
        options.report = name


def _follow_exec(options: Options, option: str, value: object) -> None:
    """True, or a regular expression that the path of a program must match."""
    from pfmon.library.following import pattern  # as the command does

    options.follow_exec = True
    if value is not True:
        options.follow_exec_only = pattern(option, _text(option, value))


def _follow_exec_exclude(option: str, value: object) -> str:
    from pfmon.library.following import pattern

    return pattern(option, _text(option, value))


def _debug_dir(options: Options, option: str, value: object) -> None:
    given = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(given, list | tuple):
        raise _bad(option, value, "a directory, or several")
    options.debug_dirs += [directory(option, _text(option, one)) for one in given]


def _follow_all(options: Options, option: str, value: object) -> None:
    options.follow_fork = options.follow_exec = options.follow_pthread = _flag(option, value)


FLAGS = (
    *("all_threads", "system_wide", "inverse_irange", "irange_demand_fetch", "irange_prefetch_match"),
    *("follow_fork", "follow_pthread", "per_thread", "confine", "net"),
    *("true_values", "insecure", "dont_start", "unlimited", "per_function", "per_block"),
    *(
        "host_env",
        "host_clock",
        "host_random",
        "host_ids",
        "slow",
        "partial",
        "saturate_smpl_buffer",
        "reset_non_smpl_periods",
        "smpl_truth",
        "smpl_stacks",
    ),
)
"""Options that are fields of their names, on or off."""

TAKERS: dict[str, Taker] = {
    **{name: _field(name, _flag) for name in FLAGS},
    **{name: _field(name, _list) for name in ("event_thresholds", "priv_levels", "insn_sets", "invert", "edge")},
    **{
        name: _field(name, _list)
        for name in ("long_smpl_periods", "short_smpl_periods", "smpl_periods_random", "extra_smpl_pmds")
    },
    **{name: _field(name, _range) for name in ("irange", "drange")},
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
    "checkpoint_func": _field("checkpoint_func", _address),
    "trigger_event": _field("trigger_event", _text),
    "report": _take_report,
    "follow_exec": _follow_exec,
    "follow_all": _follow_all,
    "follow_exec_exclude": _field("follow_exec_exclude", _follow_exec_exclude),
    "follow_limit": _field("follow_limit", _number(lambda option, text: whole_number(option, text, 1, MOST_PROCESSES))),
    "sysroot": _field("sysroot", lambda option, value: directory(option, _text(option, value))),
    "timeout": _field("session_timeout", _number(seconds)),
    "environment": _environment,
    "seed": _field("seed", _number(whole_number)),
    "quantum": _field("quantum", _number(lambda option, text: whole_number(option, text, 1, MOST_QUANTUM))),
    "schedule_seed": _field("schedule_seed", _number(lambda option, text: whole_number(option, text, 0, MOST_SEED))),
    "guest_pmu": _field("guest_pmu", lambda _, value: guest_pmu(None if value is True else str(value))),
    "memory_limit": _field("memory_limit", _number(size)),
    "smpl_entries": _field("smpl_entries", _number(lambda option, text: whole_number(option, text, 1, MOST_ENTRIES))),
    "btb": _branch_filters,
    "etb": _branch_filters,
    "ip_ear": _field("ip_ear", _number(lambda option, text: whole_number(option, text, 0, MOST_DELAY))),
    "smpl_skid": _field("smpl_skid", _number(lambda option, text: whole_number(option, text, 0, MOST_SKID))),
    "ear_seed": _field("ear_seed", _number(lambda option, text: whole_number(option, text, 1, MOST_SEED))),
}
"""Keyword -> what takes its value."""
