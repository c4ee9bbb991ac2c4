from collections.abc import Iterable
from enum import IntEnum

class TlbLevel(IntEnum):
    """What served a miss of a first-level TLB."""

    TLB_HIT = 0
    TLB_L2 = 1
    TLB_WALKER = 2
    TLB_FAULT = 3

class FlowKind(IntEnum):
    """What changed the flow of execution."""

    FLOW_RELATIVE = 0
    FLOW_RETURN = 1
    FLOW_INDIRECT = 2
    FLOW_CHECK = 3
    FLOW_EXCEPTION = 4

class Watch:
    """Is told of misses and changes of flow."""

    lost: bool

def watching(watches: Iterable[Watch]) -> Watch | None: ...
