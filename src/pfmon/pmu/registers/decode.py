"""Description of register values: of one register, or of a dump with the registers' combined effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pfmon.errors import BadValueError
from pfmon.pmu.capture.capture_words import capture_words, setting_words
from pfmon.pmu.model.amd import AmdDecoder, counter_values, event_code
from pfmon.pmu.model.event_table import EventTable
from pfmon.pmu.model.intel import IntelDecoder
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.model.pmu_model import PmuModel, get
from pfmon.pmu.model.powerpc import SPR_NUMBERS
from pfmon.pmu.registers.amd_file import AMD_ADDRESSES, SAMPLING, amd_counter_name, amd_select_register
from pfmon.pmu.registers.ia64_file import TRACE_EXTENSIONS
from pfmon.pmu.registers.msr_file import CONTROL, MSR_ADDRESSES, counter_name, select_register
from pfmon.pmu.registers.register_tables import WORD, Field, Register, RegisterValues
from pfmon.pmu.targets import of_architecture

# Registers named by number in dumps: an MSR's address, an SPR's number.
NUMBERS = {"x86": MSR_ADDRESSES | AMD_ADDRESSES, "ppc": SPR_NUMBERS}
LEVELS = {0: "kernel", 1: "1", 2: "2", 3: "user"}
ISM_WORDS = ("IA-64 and IA-32", "IA-32 only", "IA-64 only", "neither instruction set")
MESI = "ISEM"


def parse_registers(text: str) -> dict[str, int]:
    """Parse register values such as `pmc8=0x...`, separated by white space, commas or lines."""
    values = {}
    for item in re.split(r"[\s,]+", text.strip()):
        name, equals, value = item.partition("=")
        try:
            number = int(value, 0)
        except ValueError:
            number = -1
        if not name or not equals or not 0 <= number <= WORD:
            raise BadValueError(
                f"bad register value {item!r}: the form is pmc8=0x1234, of 64 bits at most",
                "register_values_have_a_form",
            )
        values[name] = number
    return values


def decode_text(model: PmuModel, text: str) -> str:
    """Describe register values (`--decode pmc8=0x...`); of several also their combined effect."""
    values = {named(model, name): value for name, value in parse_registers(text).items()}
    known = {model.registers[name].name: value for name, value in values.items()}
    parts = [register_text(model, name, value, known) for name, value in values.items()]
    if len(values) > 1:
        parts += summary(model, known)
    return "\n".join(parts)


def named(model: PmuModel, name: str) -> str:
    """Return the name of a register given by name or by number, as in dumps: an MSR's address, an SPR's number.
    BadValueError: the PMU has none of that number."""
    try:
        number = int(name, 0)
    except ValueError:
        return name
    known = numbered(model)
    if number not in known:
        form = hex if model.architecture == "x86" else str
        have = ", ".join(f"{form(value)} ({key})" for value, key in sorted(known.items()))
        advice = f"; there are: {have}" if have else f"; {has_number(number)}"
        raise BadValueError(f"{model.name} has no register of number {name}{advice}")
    return known[number]


def has_number(number: int) -> str:
    """Return the advice that names the PMUs with a register of a number."""
    known = of_architecture(*NUMBERS)
    owners = [pmu for pmu in known if number in numbered(get(pmu))]
    return "registers have numbers with --pmu " + ", ".join(owners or known)


def numbered(model: PmuModel) -> dict[int, str]:
    """Return the PMU's registers that have numbers in dumps, by number."""
    return {number: name for name, number in NUMBERS.get(model.architecture, {}).items() if name in model.registers}


def register_text(model: PmuModel, name: str, value: int, values: Mapping[str, int]) -> str:
    """Describe one register of a dump: a line for the whole, one for each field."""
    register = model.registers[name]
    lines = [f"{register.name} = 0x{value:016x}  {register.meaning} ({register.source})"]
    for field in register.fields:
        content = field.get(value)
        words = field_words(model.events, register, field, content)
        if field.name == "umask":
            words = setting_words(model, register.name, value) or words
        lines.append(f"  {field.bits:>5} {field.name:<10} 0x{content:<6x} {words}")
    lines += lost_bits(register, value, kept_bits(model, register, values))
    return "\n".join(lines)


def kept_bits(model: PmuModel, register: Register, values: Mapping[str, int]) -> int:
    """Return the bits of a register that mean something beside the other registers of a dump: of Montecito's PMD39 in
    trace mode (PMC42.mode other than 1xx) those of table 3-29; without PMC42 the mode is unknown."""
    if register.name != "pmd39" or "pmc42" not in values or "pmc42" not in model.registers:
        return WORD
    return WORD if model.registers["pmc42"].decode(values["pmc42"])["mode"] >> 2 else TRACE_EXTENSIONS


def lost_bits(register: Register, value: int, kept: int = WORD) -> list[str]:
    """Return a line about bits that the register does not store as written; ``kept``: those that it stores in its
    mode."""
    if value & register.zero:
        return [f"  bits 0x{value & register.zero:x} are reserved: writing them is a general protection fault"]
    held = register.accept(value) & kept
    changed = (held ^ value) & ~register.extended
    if not changed:
        return []
    return [f"  bits 0x{changed:x} do not keep what is written: the register holds 0x{held:x}"]


def field_words(events: EventTable, register: Register, field: Field, content: int) -> str:
    """Describe a field's content: by its own rule, else by the field's meaning."""
    if field.name == "plm":
        return f"privilege levels: {levels(content)}"
    if field.name == "ism":
        return f"instruction sets: {ISM_WORDS[content]}"
    if field.name == "es":
        return f"event code: {', '.join(_events(events, content)) or 'no event has it'}"
    if field.name == "threshold" and register.name.startswith("pmc"):
        return f"counts cycles with more than {content}" if content else "adds up increments"
    if field.name == "mesi":
        states = "".join(letter for bit, letter in enumerate(MESI) if content >> bit & 1)
        return f"line states: {states[::-1] or 'none'}"
    if field.name == "overflow":
        hit = [f"PMD{field.low + bit}" for bit in range(field.width) if content >> bit & 1]
        return f"overflowed: {', '.join(hit) or 'none'}"
    return field.meaning


def levels(mask: int) -> str:
    """Describe the privilege levels of a mask."""
    return ", ".join(word for level, word in LEVELS.items() if mask >> level & 1) or "none: switched off"


def _events(events: EventTable, code: int) -> list[str]:
    """Return the common stems of the events with a code."""
    names = [event.name for event in events if event.code == code and event.alias_of == "-"]
    return names if len(names) <= 3 else [*names[:2], f"... ({len(names)} unit masks)"]


def summary(model: PmuModel, values: Mapping[str, int]) -> list[str]:
    """Describe the combined effect of a dump's registers: lines for each counter, each breakpoint pair, and
    captures."""
    lines = ["together:"]
    amd = issubclass(model.programmer.decoder, AmdDecoder)
    words = amd_words if amd else COUNTER_WORDS[model.architecture]
    lines += [f"  {said}" for number in model.bank.numbers if (said := words(model, number, values))]
    for kind, what in (("ibr", "code"), ("dbr", "data")):
        for pair in range(4):
            address, mask = values.get(f"{kind}{2 * pair}"), values.get(f"{kind}{2 * pair + 1}")
            if address is not None and mask is not None:
                lines.append("  " + pair_words(what, pair, address, mask))
    lines += [f"  {said}" for said in capture_words(model, values)]
    if "pmc0" in values and values["pmc0"] & 1:
        lines.append("  monitoring is frozen (PMC0.fr)")
    return lines if len(lines) > 1 else []


def counter_words(model: PmuModel, number: int, values: Mapping[str, int]) -> str:
    """Describe a counter's configuration, and its value if present."""
    if f"pmc{number}" not in values:
        return ""
    fields = model.registers[f"pmc{number}"].decode(values[f"pmc{number}"])
    if not fields["plm"]:
        return f"PMD{number} is switched off (plm 0)"
    reading = read_counters(model, {name: value for name, value in values.items() if name.startswith("pmc")})
    names = {one.pmd: one.event.name for one in reading.monitors}
    names |= {one.pmd: f"event 0x{one.code:x} umask 0x{one.umask:x} ({one.reason})" for one in reading.unknown}
    name = names[number]
    words = [f"PMD{number} counts {name}", f"at {levels(fields['plm'])}"]
    if fields.get("threshold"):
        words.append(f"in cycles with more than {fields['threshold']}")
    words.append("as a privileged monitor" if fields["pm"] else "as a user monitor")
    if fields["oi"]:
        words.append("with an interrupt at overflow")
    if f"pmd{number}" in values:
        count = values[f"pmd{number}"] & ((1 << model.bank.width) - 1)
        words.append(f"and holds {count}")
    return " ".join(words)


def intel_words(model: PmuModel, number: int, values: Mapping[str, int]) -> str:
    """Describe a general or fixed-function counter of Intel's architectural monitoring."""
    select = select_register(number)
    if select not in values:
        return ""
    enables = sum(1 << one for one in model.bank.numbers)
    known = dict(values)
    if CONTROL in model.registers:
        known.setdefault(CONTROL, enables)
    defined = {register: value & model.registers[register].writable for register, value in known.items()}
    reading = IntelDecoder(model.events, model.bank.numbers, RegisterValues(model.registers, defined))
    name, at = counter_name(number).upper(), reading.levels(number)
    if not at:
        return f"{name} is switched off"
    fields, found = reading.values.fields(select), reading.event(number)
    event = found.name if found else f"event 0x{fields['event']:x} umask 0x{fields['umask']:x} (none)"
    return f"{name} counts {event} at {levels(at)}"


def amd_words(model: PmuModel, number: int, values: Mapping[str, int]) -> str:
    """Describe one of AMD's core counters."""
    known = counter_values(values)
    if amd_select_register(number) not in known:
        return ""
    kind = model.programmer.decoder
    assert issubclass(kind, AmdDecoder)
    decoder = kind(model.events, model.bank.numbers, RegisterValues(model.registers, known))
    name, at = amd_counter_name(number).upper(), decoder.levels(number)
    if decoder.extends(number):
        return f"{name} extends {amd_counter_name(number - 1).upper()}"
    if not at:
        return f"{name} is switched off"
    fields, found = decoder.fields(number), decoder.event(number)
    if number in SAMPLING:
        return f"{name} samples {found.name if found else 'nothing that is an event'}"
    event = found.name if found else f"event 0x{event_code(fields):x} umask 0x{fields['umask']:x} (none)"
    return f"{name} counts {event} at {levels(at)}"


def powerpc_words(model: PmuModel, number: int, values: Mapping[str, int]) -> str:
    """Describe a counter of the PowerPC."""
    register = "mmcr0" if number < 3 else "mmcr1"
    if register not in values:
        return ""
    code = model.registers[register].decode(values[register])[f"pmc{number}select"]
    found = [event.name for event in model.events if event.code == code and number in event.counters]
    if not code:
        return f"PMC{number} counts nothing"
    state = model.registers["mmcr0"].decode(values.get("mmcr0", 0))
    if state["dis"] or (state["dp"] and state["du"]):
        return f"PMC{number} is switched off"
    where = "user state" if state["dp"] else "supervisor state" if state["du"] else "any state"
    return f"PMC{number} counts {found[0] if found else f'event 0x{code:x} (none)'} in {where}"


COUNTER_WORDS: Mapping[str, Callable[[PmuModel, int, Mapping[str, int]], str]] = {
    "ia64": counter_words,
    "x86": intel_words,
    "ppc": powerpc_words,
}
"""The functions that describe counters, by family."""


def pair_words(what: str, pair: int, address: int, mask_register: int) -> str:
    """Describe the block of addresses of a breakpoint pair."""
    mask = mask_register & ((1 << 56) - 1)
    end = address | (~mask & ((1 << 56) - 1))
    start = address & ~(~mask & ((1 << 56) - 1))
    adjacent = (~mask & ((1 << 56) - 1)) + 1
    shape = "" if adjacent & (adjacent - 1) == 0 else " (mask with gaps)"
    use = "a debug breakpoint" if mask_register >> 62 else "free for monitoring"
    at = levels(mask_register >> 56 & 15)
    return f"{what} pair {pair} matches 0x{start:016x}-0x{end:016x}{shape} at {at}, {use}"
