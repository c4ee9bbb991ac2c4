"""Triggers: addresses and events that start and stop counting, callees included."""

from __future__ import annotations

from collections.abc import Iterator

from pfmon.errors import BadValueError
from pfmon.library.options.option_values import whole_number
from pfmon.library.resolving.request_builder import is_nowhere
from pfmon.library.resolving.run_parts import TriggerOptions
from pfmon.pmu.model.derived import load_derived
from pfmon.pmu.model.options import Resolve
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.qualify.breakpoint_ranges import BUNDLE
from pfmon.session.run.controls import EventTrigger, Trigger


def triggers(wanted: TriggerOptions, code: Resolve, data: Resolve) -> tuple[Trigger, ...]:
    """The triggers at addresses, those of code first. Raises PfmonError, naming the option."""
    found = [*_whole_calls(list(_of_kind(wanted, "code", code))), *_of_kind(wanted, "data", data)]
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


def _of_kind(wanted: TriggerOptions, kind: str, resolve: Resolve) -> Iterator[Trigger]:
    for what in ("start", "stop"):
        option = f"trigger-{kind}-{what}-addresses"
        for text in wanted.addresses.get(option, []):
            address = _address(option, text, resolve)
            if kind == "code" and address % BUNDLE and wanted.bundles:
                raise BadValueError(
                    f"--{option}: {text} is no bundle's address: a multiple of {BUNDLE} is wanted"
                ).about(f"--{option}")
            yield Trigger(
                option,
                text,
                address,
                starts=what == "start",
                data=kind == "data",
                repeats=f"trigger-{kind}-repeat" in wanted.flags,
                reads="trigger-data-wo" not in wanted.flags,
                writes="trigger-data-ro" not in wanted.flags,
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
