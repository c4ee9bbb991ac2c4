"""The records that perf writes into rings (Linux 6.1, <linux/perf_event.h>, PERF_RECORD_SAMPLE)."""

from __future__ import annotations

from struct import Struct

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_ring import RECORD_HEADER

PAIR = Struct("<2I")
RECORD_SAMPLE = 9
USER = 2
"""misc: at privilege level 3."""
CONTEXT_USER = (1 << 64) - 512
"""In a call chain: the following addresses are of level 3."""
IP, TID, TIME, ADDRESS, READ, CALLS, ID, PROCESSOR, PERIOD, STREAM = (1 << place for place in range(10))
WEIGHT, IDENTIFIER, TRANSACTION = 1 << 14, 1 << 16, 1 << 17
SUPPORTED = (
    IP | TID | TIME | ADDRESS | READ | CALLS | ID | PROCESSOR | PERIOD | STREAM | WEIGHT | IDENTIFIER | TRANSACTION
)
"""Supported sample fields. Data addresses and weights are 0: such events have none."""


def sample(event: PerfEvent, task: tuple[int, int], address: int, time: int) -> bytes:
    """The record of an overflow at an instruction (address | slot), at a time in nanoseconds, in a task (process,
    thread), with the period that ended."""
    wanted = event.attributes.sample_type
    fields = (
        (IDENTIFIER, U64.pack(event.id)),
        (IP, U64.pack(address)),
        (TID, PAIR.pack(*task)),
        (TIME, U64.pack(time)),
        (ADDRESS, U64.pack(0)),
        (ID, U64.pack(event.id)),
        (STREAM, U64.pack(event.id)),
        (PROCESSOR, PAIR.pack(0, 0)),
        (PERIOD, U64.pack(event.period)),
        (READ, event.values() if wanted & READ else b""),
        (CALLS, U64.pack(2) + U64.pack(CONTEXT_USER) + U64.pack(address)),
        (WEIGHT, U64.pack(0)),
        (TRANSACTION, U64.pack(0)),
    )
    body = b"".join(data for bit, data in fields if wanted & bit)
    return RECORD_HEADER.pack(RECORD_SAMPLE, USER, RECORD_HEADER.size + len(body)) + body
