from collections.abc import Iterable
from enum import IntEnum

class TlbLevel(IntEnum):
    """Level that served a miss of a first-level TLB."""

    TLB_HIT = 0
    TLB_L2 = 1
    TLB_WALKER = 2
    TLB_FAULT = 3

class FlowKind(IntEnum):
    """Kind of a change of control flow."""

    FLOW_RELATIVE = 0
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2
    FLOW_CHECK = 3
    FLOW_EXCEPTION = 4

class CaptureListener:
    """Listener for misses and branches."""

    lost: bool

def watching(listeners: Iterable[CaptureListener]) -> CaptureListener | None: ...
