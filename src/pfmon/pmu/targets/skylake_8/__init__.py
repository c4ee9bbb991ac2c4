"""Skylake's PMU where hyper-threading is off: the counters of both threads are the one's (Intel SDM volume 3, section
18.13). Its events are Skylake's."""

from __future__ import annotations

from pfmon.pmu.targets.skylake import TARGET as SKYLAKE

TARGET = SKYLAKE._replace(
    name="skylake_8",
    description="Skylake without hyper-threading: eight general and three fixed-function counters",
    generation=7,
    default_of=(),
    counters=(*range(8), *SKYLAKE.counters[4:]),
    tables=SKYLAKE.name,
)
