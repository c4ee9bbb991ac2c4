"""PowerPC 604e: the subset of event-triggered counting that it implements."""

from __future__ import annotations

from pfmon.pmu.target import Target

TARGET = Target(
    name="ppc604e",
    description="PowerPC 604e: four counters of 32 bits, one trigger for PMC2 to PMC4",
    architecture="ppc",
    generation=1,
    machines={"ppc64": "ppc604e", "ppc": "ppc604e", "ppc64le": "ppc604e"},
    default_of=("ppc64", "ppc", "ppc64le"),
    default_events=("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
    counters=(1, 2, 3, 4),
    width=32,
    counter_source="PowerPC 604 manual tables 9-2 and 9-3",
    programmer="pfmon.pmu.model.powerpc.PowerPc604eProgrammer",
    features=("controls", "preload"),
)
