"""Triggers: addresses and events that start and stop counting, callees included."""

from __future__ import annotations

from collections.abc import Iterator

from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.library.options.option_values import whole_number
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.request_builder import is_nowhere
from pfmon.pmu import IA64
from pfmon.pmu.model.derived import load_derived
from pfmon.pmu.model.options import Resolve
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.qualify.breakpoint_ranges import BUNDLE
from pfmon.session.run.controls import EventTrigger, Trigger

PAIRS = 4
"""Breakpoint register pairs for code, and for data; each holds one trigger."""


def check_triggers(options: Options, asks: bool) -> None:
    """Check the options of triggers. ``asks``: no program is run."""
    if {"trigger-data-ro", "trigger-data-wo"} <= options.trigger_flags:
        raise PfmonError(
            "--trigger-data-ro and --trigger-data-wo exclude each other; without them both kinds trigger"
        ).about("--trigger-data-ro", "--trigger-data-wo")
    for kind in ("code", "data"):
        given = [f"trigger-{kind}-{what}-addresses" for what in ("start", "stop")]
        flags = [flag for flag in sorted(options.trigger_flags) if flag.startswith(f"trigger-{kind}")]
        if flags and not any(name in options.triggers for name in given):
            raise PfmonError(f"--{flags[0]} applies to {kind} triggers: give --{given[0]}=ADDRESS too").about(
                f"--{flags[0]}", f"--{given[0]}"
            )
        if f"trigger-{kind}-repeat" in flags and not all(name in options.triggers for name in given):
            raise PfmonError(f"--trigger-{kind}-repeat wants both --{given[0]} and --{given[1]}").about(
                f"--trigger-{kind}-repeat", f"--{given[0]}", f"--{given[1]}"
            )
        triggers_fit_the_breakpoint_registers(kind, [text for name in given for text in options.triggers.get(name, [])])
    triggers_and_ranges_share_registers(options)
    if options.stop_event and any("start" in name for name in options.triggers):
        raise PfmonError(
            "--stop-event counts from --trigger-event on, or from the beginning: leave it out, or the addresses that "
            "start counting"
        ).about("--stop-event", "--trigger-event")
    if (options.triggers or options.trigger_event or options.stop_event) and not options.events and not asks:
        raise PfmonError("triggers start and stop counting: give -e EVENT,... too").about("--events")


def triggers(options: Options, code: Resolve, data: Resolve) -> tuple[Trigger, ...]:
    """The triggers, those of code first. Raises PfmonError, naming the option."""
    found = [*_whole_calls(list(_of_kind(options, "code", code))), *_of_kind(options, "data", data)]
    for number, one in enumerate(found):
        for other in found[:number]:
            if (one.data, one.address) == (other.data, other.address):
                place = one.text if is_nowhere(one.address) else f"{one.text} is {one.address:#x}, which"
                raise BadValueError(f"--{one.option}: {place} is a trigger already").about(f"--{one.option}")
    return tuple(found)


def _whole_calls(found: list[Trigger]) -> list[Trigger]:
    """Turn an address that both starts and stops counting into a trigger of whole calls: each entry of the function
    starts counting, the return of that call stops it."""
    starts, stops = ({one.address for one in found if one.starts is kind} for kind in (True, False))
    kept = [one for one in found if one.starts or one.address not in starts]
    both = starts & stops
    return [one._replace(whole_call=True, repeats=True) if one.address in both else one for one in kept]


def event_trigger(option: str, text: str, model: PmuModel) -> EventTrigger | None:
    """The event that starts, or stops, counting; "": none does. Raises PfmonError, naming the option."""
    if not text:
        return None
    event, colon, count = text.rpartition(":")
    if not colon:
        raise BadValueError(f"--{option}={text}: EVENT:N is wanted").about(f"--{option}")
    number = whole_number(option, count, 1, (1 << model.bank.width) - 1, given=text)
    if formula := load_derived(model.name).get(event.upper()):
        raise BadValueError(
            f"--{option}={text}: {formula.name} is a formula ({formula.formula}); give an event that is counted"
        ).about(f"--{option}")
    return EventTrigger(model.events[event].name, number, text, option)


def _of_kind(options: Options, kind: str, resolve: Resolve) -> Iterator[Trigger]:
    for what in ("start", "stop"):
        option = f"trigger-{kind}-{what}-addresses"
        for text in options.triggers.get(option, []):
            address = _address(option, text, resolve)
            if kind == "code" and address % BUNDLE and options.pmu in IA64:
                raise BadValueError(
                    f"--{option}: {text} is no bundle's address: a multiple of {BUNDLE} is wanted"
                ).about(f"--{option}")
            yield Trigger(
                option,
                text,
                address,
                starts=what == "start",
                data=kind == "data",
                repeats=f"trigger-{kind}-repeat" in options.trigger_flags,
                reads="trigger-data-wo" not in options.trigger_flags,
                writes="trigger-data-ro" not in options.trigger_flags,
            )


def _address(option: str, text: str, resolve: Resolve) -> int:
    if not text[:1].isdigit():
        return resolve(text)[0]
    try:
        address = int(text, 0)
    except ValueError:
        address = -1
    if not 0 <= address < 1 << 64:
        raise BadValueError(f"--{option}={text}: an address or a symbol is wanted").about(f"--{option}")
    return address


def triggers_fit_the_breakpoint_registers(kind: str, wanted: list[str]) -> None:
    """Code and data have four pairs of breakpoint registers each."""
    if len(wanted) > PAIRS:
        raise RuleError(
            "triggers_fit_the_breakpoint_registers",
            f"{len(wanted)} {kind} triggers: there are {PAIRS} pairs of {kind} breakpoint registers",
            "SDM volume 2, section 7.1",
        )


def triggers_and_ranges_share_registers(options: Options) -> None:
    """Ranges and triggers are held by the same breakpoint registers (pfmon on Itanium 2, section 8)."""
    ranges = {"code": options.gives("irange", "checkpoint_func"), "data": options.gives("drange")}
    names = {"code": "--irange and --checkpoint-func", "data": "--drange"}
    for kind, used in ranges.items():
        trigger = next((name for name in options.triggers if name.startswith(f"trigger-{kind}")), "")
        if used and trigger:
            raise RuleError(
                "triggers_and_ranges_share_registers",
                f"--{trigger} does not go with {names[kind]}: both need the {kind} breakpoint registers",
                "pfmon on Itanium 2, section 8",
            ).about(f"--{trigger}")
