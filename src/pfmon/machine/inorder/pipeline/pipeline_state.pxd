"""A state of the pipeline between two blocks, independent of the cycle and of the frame's position."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    MAX_STATE_WAITS = 4          # of a state
    BR_READY_SINCE = 5           # maximum age in cycles of a window in the buffer (FrontEnd.fill_buffer)

cdef struct PortUse:             # resources used in the open cycle
    uint8_t m, m01, m0, m23, m2, i, f, f0, b
    uint8_t bundles
    uint8_t before_bbb           # its last bundle is MIB, MFB or MMB: no BBB after it
    uint8_t instructions
    uint8_t slots                # syllables
    uint8_t long_ones            # L+X pairs
    uint8_t skipped              # slots of its first bundle that issued in an earlier cycle

cdef struct PendingWait:         # the front end's delay until a cycle, and its cause
    int64_t until
    uint32_t cause               # Cause
    uint32_t front               # FrontCause

cdef struct OpenPart:            # instructions of the open issue group
    uint64_t code
    uint64_t executed
    uint32_t before
    uint32_t event_log

cdef struct PipelineState:
    uint64_t window              # current fetch window; 0: none
    OpenPart part
    PortUse use
    uint8_t open                 # `part` may be extended
    uint8_t left_over            # Dispersal of the syllables of a bundle that began to issue in an earlier cycle
    uint8_t pending_count
    uint8_t wait_count
    int32_t earliest             # cycles from now on
    int32_t front
    int32_t front_bubbles
    int32_t unat_written         # cycles from now on; 0: it is written
    int32_t spare
    uint8_t br_ready[8]          # by branch register: cycles from now - BR_READY_SINCE until fetch uses its value
    uint32_t front_cause         # of these
    PendingWait waits[MAX_STATE_WAITS]  # until: cycles from now on
    Pending pending[MAX_PENDING_RESULTS]
