"""Conversion of event sets and their qualification into requests to the PMU; no other module does this."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import NamedTuple

from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.library.options.matcher_options import BRANCH_PMUS, MATCHERS
from pfmon.library.options.run_options import instruction_set_named
from pfmon.library.options.set_options import SetOptions
from pfmon.library.resolving.run_parts import Qualification
from pfmon.pmu.capture.branch_captures import branch_registers
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.options import Resolve, branch_filters, event_options, parse_list, parse_range
from pfmon.pmu.model.pmu_model import IA64, PmuModel
from pfmon.pmu.model.request import (
    INTERRUPTS_ALONE,
    INTERRUPTS_EXCLUDED,
    ISM,
    BranchBufferRequest,
    EventRequest,
    IpEarRequest,
    OpcodeMatch,
    RangeRequest,
    Request,
    instruction_set_mask,
    privilege_mask,
)
from pfmon.pmu.qualify.breakpoint_ranges import BUNDLE, checkpoint_range
from pfmon.pmu.qualify.opcodes import parse_opcode_match
from pfmon.program.source_texts import SourceFile

# Compiled on use: every run loads this module.
MNEMONIC = r"(?i:(?:(?P<slots>[mifb]*):)?(?P<name>[a-z][\w.]*))"
"""A matcher given by a mnemonic: br.cloop, or b:br.cloop to match only some slot types."""

YES_NO = {"": False, "n": False, "y": True}


class Symbols(NamedTuple):
    """Resolvers of code and data names; the names whose size has been approximated so far; a function that finds a
    source file by name."""

    code: Resolve
    data: Resolve
    approximated: Set[str]
    source: Callable[[str], SourceFile | None] = lambda name: None


class BuiltRequest(NamedTuple):
    """The request of each event set, the lines with which --verbose repeats its ranges, and what is to be known of them
    anyway."""

    requests: list[Request]
    said: list[list[str]]
    warnings: list[str]


NOWHERE = 0xFFFF_FFFF_FE00_00
"""Start of the placeholder addresses of unresolved ranges and triggers (deferred_symbols.py), which no program
uses. The 56 bits are those that breakpoint registers compare."""


def is_nowhere(address: int) -> bool:
    """Return whether an address is a placeholder."""
    return address >= NOWHERE and not address >> 56


def _no_program(name: str) -> tuple[int, int]:
    """Raise PfmonError for a symbol, as there is no program to look it up in."""
    raise PfmonError(f"{name}: a symbol needs the program that has it; without a program, give ranges as numbers")


NO_SYMBOLS = Symbols(_no_program, _no_program, frozenset())


def request(
    sets: Sequence[SetOptions], of_all: Qualification, model: PmuModel, symbols: Symbols = NO_SYMBOLS
) -> BuiltRequest:
    """Return the PMU request of each event set. Raises PfmonError, naming the option."""
    instruction_sets_are_itaniums(sets, of_all, model)
    branch_filter_is_of_one_event_set(sets)
    asked = BuiltRequest([], [], [])
    for one in sets:
        buffer_options_go_with_events(one, model)
        said: list[str] = []
        asked.requests.append(_request(one, of_all, model, symbols, said, asked.warnings))
        asked.said.append(said)
    return asked


def _request(
    one: SetOptions, of_all: Qualification, model: PmuModel, symbols: Symbols, said: list[str], warnings: list[str]
) -> Request:
    """The request of an event set: its own options, and those of the run."""
    irange = _code_range(one, symbols, said)
    drange = _data_range(one, symbols, said)
    return Request(
        tuple(_events(one, of_all)),
        plm=privilege_mask(of_all.levels or "u"),
        ism=instruction_set_mask(instruction_set_named(of_all.instruction_sets)),
        system_wide=of_all.system_wide,
        interrupts=_interrupts(one),
        check_qualifiers=of_all.check_qualifiers,
        irange=irange,
        drange=drange,
        opcodes=_opcodes(one, model, said, warnings),
        branch_buffer=_branch_buffer(one, model),
        ip_ear=None if one.ip_ear is None else IpEarRequest(one.ip_ear),
        controls=of_all.controls,
        preload=of_all.preload,
        last_branches=tuple(one.branch_filter) if one.branch_filter else None,
    )


def _interrupts(options: SetOptions) -> str:
    """What counts at level 0 (Request.interrupts)."""
    given = set(options.interrupts)
    return INTERRUPTS_EXCLUDED if "excl-intr" in given else INTERRUPTS_ALONE if given - {"exclude-idle"} else ""


def branch_filter_is_of_one_event_set(sets: Sequence[SetOptions]) -> None:
    """A processor has one set of last branch records, which a switch of event sets would have to program anew."""
    if len(sets) > 1 and any(one.branch_filter for one in sets):
        raise RuleError(
            "branch_filter_is_of_one_event_set", "--branch-filter records branches of one event set: give one -e"
        )


def buffer_options_go_with_events(options: SetOptions, model: PmuModel) -> None:
    """The branch buffer, the IP-EAR and the data EAR in TLB and ALAT mode exclude each other (Montecito manual sections
    3.3.9.2, 3.3.9.3 and 3.3.10). This rule names options, the PMU's own rule registers."""
    filters = [f"--{name}" for name in options.branch_filters]
    events = [model.events[name] for name in options.events if name in model.events]
    if options.ip_ear is not None:
        for other in [*filters, *(event.name for event in events if event.branch_buffer)]:
            raise RuleError(
                "ip_ear_excludes_trace_buffer",
                f"--ip-ear={options.ip_ear} does not go with {other}: both use the same registers",
                "Montecito manual section 3.3.10",
            )
    for event in events:
        if filters and _needs_empty_buffer(event, model):
            error = RuleError(
                "data_ear_excludes_branch_buffer",
                f"{filters[0]} does not go with {event.name}, which needs the branch buffer to be off",
                "Montecito manual sections 3.3.9.2 and 3.3.9.3",
            )
            raise model.cited(error)


def _needs_empty_buffer(event: Event, model: PmuModel) -> bool:
    """Return whether an event selects a mode of the data EAR in which the branch buffer must be off."""
    units, (register, _, mode) = model.target.captures, event.ear.partition("_")
    return register == "dear" and units is not None and mode in units.needs_empty_buffer


def qualifies(wanted: Request) -> bool:
    """Return whether a request does more than count events at user level."""
    return wanted._replace(events=()) != Request(())


def _events(one: SetOptions, of_all: Qualification) -> list[EventRequest]:
    """The events of a set with what the options say about each."""
    number = len(one.events)
    made = event_options(one.events, one.event_thresholds, one.priv_levels, one.insn_sets)
    inverted = _flags(one.invert, number, "--invert")
    edges = _flags(one.edge, number, "--edge")
    if len(of_all.instruction_sets) > 1:
        made = [event if event.ism is not None else event._replace(ism=ISM["both"]) for event in made]
    return [
        event._replace(all_threads=of_all.all_threads, invert=invert, edge=edge)
        for event, invert, edge in zip(made, inverted, edges, strict=True)
    ]


def _flags(text: str, number: int, option: str) -> list[bool]:
    """Parse a list of y and n."""
    items = parse_list(text.lower(), number, option)
    for item in items:
        if item not in YES_NO:
            raise BadValueError(f"{option}={text}: y or n for each event is wanted, not {item!r}")
    return [YES_NO[item] for item in items]


def _code_range(options: SetOptions, symbols: Symbols, said: list[str]) -> RangeRequest | None:
    """--irange or --checkpoint-func."""
    if options.checkpoint_func:
        start = _checkpoint(options.checkpoint_func, symbols, said)
        if not is_nowhere(start):
            said.append(f"checkpoint function at {start:#x}")
        return checkpoint_range(start)
    if not options.irange:
        return None
    limits = _limits("irange", options.irange, "code", symbols, said)
    return RangeRequest(
        (limits,),
        inverse=options.inverse_irange,
        demand_fetch=options.irange_demand_fetch,
        prefetch_match=options.irange_prefetch_match,
    )


def _checkpoint(text: str, symbols: Symbols, said: list[str]) -> int:
    """Return the address of the bundle given as a number or a symbol."""
    if text[:1].isdigit():
        try:
            start = int(text, 0)
        except ValueError:
            raise BadValueError(f"--checkpoint-func={text}: an address or a symbol is wanted") from None
    else:
        start, end = symbols.code(text)
        if is_nowhere(start):
            said.append(f"checkpoint function {text} gets its address when the program maps what it names")
            return start
        said += _symbol_lines(text, "code", (start, end), symbols)
    checkpoint_is_the_address_of_a_bundle(start)
    return start


def _data_range(options: SetOptions, symbols: Symbols, said: list[str]) -> RangeRequest | None:
    """--drange."""
    if not options.drange:
        return None
    return RangeRequest((_limits("drange", options.drange, "data", symbols, said),))


def _limits(option: str, text: str, kind: str, symbols: Symbols, said: list[str]) -> tuple[int, int]:
    """Return start and end of a range; append its description to the lines of --verbose."""
    with _naming(option):
        start, end = parse_range(text, symbols.code if kind == "code" else symbols.data)
    if is_nowhere(start) or is_nowhere(end):
        said.append(f"{option} {text} gets its addresses when the program maps what it names")
        return NOWHERE, NOWHERE + 4 * BUNDLE  # registers hold it exactly, so no approximation is reported
    if "-" not in text or ":" in text:
        said += _symbol_lines(text, kind, (start, end), symbols)
    said.append(f"{option} is [{start:#x}-{end:#x})={end - start} bytes")
    return start, end


def _symbol_lines(text: str, kind: str, limits: tuple[int, int], symbols: Symbols) -> list[str]:
    """Return lines with a name's addresses, and whether its size is approximated (pfmon on Itanium 2, section 8.6)."""
    start, end = limits
    name = text.partition("+")[0].strip()
    guess = [_approximation(name)] if name in symbols.approximated else []
    what = "line" if ":" in text else "symbol"
    return [*guess, f"{what} {text} ({kind}): [{start:#x}-{end:#x})={end - start} bytes"]


def _approximation(name: str) -> str:
    if ":" in name:
        return f"the code of {name} is in several places, the range covers all between them"
    return f"using approximation for size of symbol {name}"


def _opcodes(
    options: SetOptions, model: PmuModel, said: list[str], warnings: list[str]
) -> tuple[OpcodeMatch | None, OpcodeMatch | None]:
    """Return the two opcode matchers."""
    found: list[OpcodeMatch | None] = [None, None]
    for option, text in options.opcode_matches.items():
        matcher = MATCHERS[option]
        same = [name for name, other in MATCHERS.items() if model.name in other.pmus]
        option_belongs_to_the_pmu(option, matcher.pmus, model, same)
        with _naming(option):
            named = re.fullmatch(MNEMONIC, text)
            found[matcher.number] = (
                _by_mnemonic(option, matcher.bits, named["slots"] or "", named["name"], said, warnings)
                if named
                else parse_opcode_match(text, matcher.bits)
            )
    return found[0], found[1]


def _by_mnemonic(option: str, bits: int, slots: str, name: str, said: list[str], warnings: list[str]) -> OpcodeMatch:
    """Return a matcher of all instructions of a mnemonic; append a warning if it matches others as well."""
    from pfmon.session.run.opcode_patterns import pattern

    matcher, others, families = pattern(name.lower(), slots.lower(), bits)
    said.append(f"{option} for {name} is {matcher.slots}:{matcher.match:#x}:{matcher.mask:#x}")
    if others:
        warnings.append(f"--{option}={name}: its pattern cannot be exact, it lets pass {families} too")
    return matcher


def _branch_buffer(options: SetOptions, model: PmuModel) -> BranchBufferRequest | None:
    """The branch buffer, when a filter is given; BRANCH_EVENT and ETB_EVENT alone switch it on with none."""
    for option in options.branch_filters:
        same = [f"{prefix}-{option[4:]}" for prefix, pmus in BRANCH_PMUS.items() if model.name in pmus]
        option_belongs_to_the_pmu(option, BRANCH_PMUS[option[:3]], model, same)
    if not options.branch_filters:
        return None
    wanted = branch_filters(option[4:] for option in options.branch_filters)
    branch_filters_exist_on_the_pmu(wanted, model)
    return wanted


@contextmanager
def _naming(option: str) -> Iterator[None]:
    """Prefix errors raised within this context with the option's name."""
    try:
        yield
    except BadValueError as error:
        raise BadValueError(f"--{option}: {error.message}", error.rule) from None


def checkpoint_is_the_address_of_a_bundle(address: int) -> None:
    """A checkpoint is one bundle of 16 bytes (pfmon on Itanium 2, section 8.6)."""
    if address % BUNDLE or address >> 64:
        raise RuleError(
            "checkpoint_is_the_address_of_a_bundle",
            f"--checkpoint-func={address:#x}: a multiple of {BUNDLE} below 2**64 is wanted",
            "pfmon on Itanium 2, section 8.6",
        )


def branch_filters_exist_on_the_pmu(wanted: BranchBufferRequest, model: PmuModel) -> None:
    """Branch types are Itanium 2's and Montecito's; predictors are Itanium's (the manuals' BTB tables)."""
    register = model.registers[branch_registers(model).configuration]
    has = [field.name for field in register.fields]
    for field in wanted.fields:
        if field not in has:
            raise RuleError(
                "branch_filters_exist_on_the_pmu",
                f"{model.name} cannot filter branches by {field}; its branch buffer knows "
                f"{', '.join(name for name in has if name not in ('plm', 'pm'))}",
                register.source,
            )


def option_belongs_to_the_pmu(option: str, pmus: tuple[str, ...], model: PmuModel, same: list[str]) -> None:
    """Some options set registers that only some PMUs have."""
    if model.name not in pmus:
        instead = f"it has {', '.join(f'--{name}' for name in same)}" if same else "it has nothing like it"
        raise RuleError(
            "option_belongs_to_the_pmu", f"--{option} is for {', '.join(pmus)}, not for {model.name}; {instead}"
        )


def instruction_sets_are_itaniums(sets: Sequence[SetOptions], of_all: Qualification, model: PmuModel) -> None:
    """Only the Itaniums run two instruction sets (PMC.ism; Itanium manual section 6.1.3.3)."""
    if model.architecture != "ia64" and (of_all.instruction_sets or any(one.insn_sets for one in sets)):
        raise RuleError(
            "instruction_sets_are_itaniums",
            f"{model.name} has no instruction set mask: --ia32, --ia64 and --insn-sets are for "
            f"{', '.join(IA64[:-1])} and {IA64[-1]}",
        )
