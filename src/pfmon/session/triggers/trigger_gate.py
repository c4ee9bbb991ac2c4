"""The gate built from a session's controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pfmon.counting._counting import Gate
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.sampling.timers import Timers
from pfmon.session.triggers.regions import open_regions, region_notes
from pfmon.stream._stream import BlockTable, Consumer, EventSetConsumer

if TYPE_CHECKING:
    from pfmon.session.triggers.event_trigger import EventGate


def gate(
    controls: Controls,
    table: BlockTable,
    traced: bool,
    readers: Sequence[Consumer],
    *,
    witness: Consumer | None = None,
    machine: EventSetConsumer | None = None,
    due: int | None = None,
    on_due: Callable[[], int | None] | None = None,
) -> Gate:
    """Return a gate that passes the stream to the readers according to triggers, PSR.up, regions and turns
    (counting.gate.Gate)."""
    triggers = controls.triggers
    groups = list(dict.fromkeys(one.group for one in triggers))
    return Gate(
        table,
        readers,
        traced=traced,
        code=[one.address for one in triggers if not one.data],
        data=[(one.address, one.reads, one.writes) for one in triggers if one.data],
        actions=[(one.starts, groups.index(one.group), one.repeats) for one in triggers],
        whole_calls=[number for number, one in enumerate(triggers) if one.whole_call],
        on=not any(one.starts for one in triggers) and controls.event_trigger is None,
        up=not controls.dont_start if controls.heeds_psr_up else None,
        witness=witness,
        machine=machine,
        by_thread=controls.per_thread,
        by_task=controls.by_task,
        tasks_apart=controls.tasks_apart,
        without_idle=controls.without_idle,
        regions=open_regions(controls),
        regions_alone=bool(controls.regions),
        regions_apart=controls.per_region,
        due=due,
        on_due=on_due,
    )


def move(gate: Gate, triggers: Sequence[Trigger]) -> None:
    """Set the resolved addresses of triggers, which could not be reached before."""
    gate.set_triggers([one.address for one in triggers if not one.data], [one.address for one in triggers if one.data])


def event_start(
    controls: Controls, model: PmuModel, table: BlockTable, traced: bool, gate: Gate | None, timers: Timers
) -> EventGate | None:
    """The event gate: it opens when the trigger event has occurred often enough, and closes by the event that stops
    counting; None: no event does."""
    if not controls.of_events or gate is None:
        return None
    from pfmon.session.triggers.event_trigger import EventGate

    return EventGate(model, controls, table, traced, gate, timers)


def unreached(controls: Controls, gate: Gate | None) -> list[str]:
    """A note for each trigger and each region that was never reached, and for regions that did not end."""
    found = region_notes(controls, gate.regions) if gate else []
    reached = gate.trigger_hits() if gate else []
    for trigger, hits in zip(controls.triggers, reached, strict=bool(reached)):
        if not hits:
            found.append(f"--{trigger.option}: {trigger.text} was never {'accessed' if trigger.data else 'reached'}")
    return found
