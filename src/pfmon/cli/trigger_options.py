"""Addresses that start and stop counting: while it is on, everything counts, callees included."""

from collections.abc import Iterator

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu.options import Resolve
from pfmon.pmu.ranges import BUNDLE
from pfmon.session.controls import Trigger

TITLE = "Triggers (addresses in hexadecimal or decimal, or symbols of the program)"
OPTIONS = [
    Option("trigger-code-start-addresses", "start counting when one of these bundles is executed", "ADDRESS,..."),
    Option("trigger-code-stop-addresses", "stop counting before one of these bundles is executed", "ADDRESS,..."),
    Option("trigger-code-repeat", "start and stop every time, not only once"),
    Option("trigger-code-follow", "in all tasks; a run has one"),
    Option("trigger-data-start-addresses", "start counting when one of these bytes is accessed", "ADDRESS,..."),
    Option("trigger-data-stop-addresses", "stop counting before one of these bytes is accessed", "ADDRESS,..."),
    Option("trigger-data-repeat", "start and stop every time, not only once"),
    Option("trigger-data-follow", "in all tasks; a run has one"),
    Option("trigger-data-ro", "data triggers are for reads"),
    Option("trigger-data-wo", "data triggers are for writes"),
]
PAIRS = 4
"""Breakpoint register pairs for code, and for data; each holds one trigger."""


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.value is None:
        config.trigger_flags.add(given.name)
    elif given.name in config.triggers:
        raise PfmonError(f"--{given.name} is given twice; it takes several addresses, separated by commas")
    else:
        config.triggers[given.name] = [text.strip() for text in given.value.split(",")]
        if not all(config.triggers[given.name]):
            raise BadValueError(f"--{given.name}={given.value}: an address is empty")


def finish(config: Config) -> None:
    """Check what the options say together."""
    if {"trigger-data-ro", "trigger-data-wo"} <= config.trigger_flags:
        raise PfmonError("--trigger-data-ro and --trigger-data-wo exclude each other; without them both kinds trigger")
    for kind in ("code", "data"):
        given = [f"trigger-{kind}-{what}-addresses" for what in ("start", "stop")]
        flags = [flag for flag in sorted(config.trigger_flags) if flag.startswith(f"trigger-{kind}")]
        if flags and not any(name in config.triggers for name in given):
            raise PfmonError(f"--{flags[0]} is about {kind} triggers: give --{given[0]}=ADDRESS too")
        if f"trigger-{kind}-repeat" in flags and not all(name in config.triggers for name in given):
            raise PfmonError(f"--trigger-{kind}-repeat wants both --{given[0]} and --{given[1]}")
        triggers_fit_the_breakpoint_registers(kind, [text for name in given for text in config.triggers.get(name, [])])
    triggers_and_ranges_share_registers(config)
    if config.triggers and not config.events and not config.action:
        raise PfmonError("triggers start and stop counting: give -e EVENT,... too")


def triggers(config: Config, code: Resolve, data: Resolve) -> tuple[Trigger, ...]:
    """The triggers, those of code first. Raises PfmonError, naming the option."""
    found = [*_of_kind(config, "code", code), *_of_kind(config, "data", data)]
    for number, one in enumerate(found):
        for other in found[:number]:
            if (one.data, one.address) == (other.data, other.address):
                raise BadValueError(
                    f"--{one.option}: {one.text} is {one.address:#x}, which is a trigger already; "
                    "--irange counts inside a function"
                )
    return tuple(found)


def _of_kind(config: Config, kind: str, resolve: Resolve) -> Iterator[Trigger]:
    for what in ("start", "stop"):
        option = f"trigger-{kind}-{what}-addresses"
        for text in config.triggers.get(option, []):
            address = _address(option, text, resolve)
            if kind == "code" and address % BUNDLE:
                raise BadValueError(f"--{option}: {text} is no bundle's address: a multiple of {BUNDLE} is wanted")
            yield Trigger(
                option,
                text,
                address,
                starts=what == "start",
                data=kind == "data",
                repeats=f"trigger-{kind}-repeat" in config.trigger_flags,
                reads="trigger-data-wo" not in config.trigger_flags,
                writes="trigger-data-ro" not in config.trigger_flags,
            )


def _address(option: str, text: str, resolve: Resolve) -> int:
    if not text[:1].isdigit():
        return resolve(text)[0]
    try:
        address = int(text, 0)
    except ValueError:
        address = -1
    if not 0 <= address < 1 << 64:
        raise BadValueError(f"--{option}={text}: an address or a symbol is wanted")
    return address


def triggers_fit_the_breakpoint_registers(kind: str, wanted: list[str]) -> None:
    """Code and data have four pairs of breakpoint registers each."""
    if len(wanted) > PAIRS:
        raise RuleError(
            "triggers_fit_the_breakpoint_registers",
            f"{len(wanted)} {kind} triggers: there are {PAIRS} pairs of {kind} breakpoint registers",
            "SDM volume 2, section 7.1",
        )


def triggers_and_ranges_share_registers(config: Config) -> None:
    """Ranges and triggers are held by the same breakpoint registers (pfmon on Itanium 2, section 8)."""
    ranges = {"code": config.irange or config.checkpoint_func, "data": config.drange}
    names = {"code": "--irange and --checkpoint-func", "data": "--drange"}
    for kind, used in ranges.items():
        trigger = next((name for name in config.triggers if name.startswith(f"trigger-{kind}")), "")
        if used and trigger:
            raise RuleError(
                "triggers_and_ranges_share_registers",
                f"--{trigger} does not go with {names[kind]}: both need the {kind} breakpoint registers",
                "pfmon on Itanium 2, section 8",
            )
