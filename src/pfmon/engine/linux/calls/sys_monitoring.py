"""perf_event_open, which few programs need."""

from __future__ import annotations

from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process


@system_call("perf_event_open")
def perf_event_open(p: Process, attributes: int, task: int, processor: int, group: int, flags: int) -> int:
    from pfmon.engine.linux.perf import perf_open

    return perf_open.perf_event_open(p, attributes, int32(task), int32(processor), int32(group), flags)
