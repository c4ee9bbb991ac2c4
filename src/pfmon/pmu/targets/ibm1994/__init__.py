"""The general form of event-triggered counting (IBM, IPCOM000113677D, 1994)."""

from __future__ import annotations

from pfmon.pmu.target import Target

TARGET = Target(
    name="ibm1994",
    description="IBM's disclosure of event-triggered counting: four counters of 32 bits, a trigger each",
    architecture="ppc",
    generation=2,
    machines={"ppc64": "ppc604e", "ppc": "ppc604e", "ppc64le": "ppc604e"},
    default_events=("PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"),
    counters=(1, 2, 3, 4),
    width=32,
    counter_source="IPCOM000113677D",
    programmer="pfmon.pmu.model.powerpc.Ibm1994Programmer",
    features=("controls", "preload"),
)
