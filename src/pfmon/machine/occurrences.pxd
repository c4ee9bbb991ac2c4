"""What can happen to an instruction in the machine besides retiring: the raw material of the PMU's events.

Signals are sums of these (signals/machine.csv). Each section belongs to the mechanism that notes it.
"""

cpdef enum Occurrence:
    NOTHING_HAPPENED = 0
    # L1D and data TLBs (memory.pyx)
    L1D_READ                     # integer loads and fills of the register stack engine
    L1D_CHECK_READ               # check loads that found their entry in the ALAT: L1D is read, and nobody wants it
    L1D_READ_MISS
    L1D_FILL_READ_MISS           # those of the register stack engine
    L1D_FORCED_MISS              # of a line on its way, or right behind a store to the same bytes
    L1DTLB_TRANSFER              # in L2 DTLB, not in L1 DTLB, by what reads L1D
    L1DTLB_MISS
    L2DTLB_MISS
    HPW_READ                     # of the VHPT by the page walker
    DTLB_WALKED                  # the walker found the entry
    DTLB_FILLED                  # the operating system put it in
    LFETCH_DROPPED               # no translation
    # L2 (l2.pyx), L3 (l3.pyx), bus (bus.pyx)
    L2_DATA_READ
    L2_DATA_WRITE                # a semaphore is a read and a write
    L2_DATA_HIT                  # on the first look
    L2_DATA_MISS                 # on the first look, lines on their way included
    L2_MISS_SENT                 # of data, to L3
    L2_FETCH_HIT_DEMAND          # L2I, or the unified L2; a line on its way is a hit
    L2_FETCH_HIT_PREFETCH
    L2_FETCH_MISS_DEMAND         # sent to L3
    L2_FETCH_MISS_PREFETCH
    L2_OP_LOAD                   # what the queue issued
    L2_OP_FLOAT_LOAD
    L2_OP_STORE
    L2_OP_SEMAPHORE
    L2_OP_LFETCH
    L2_OP_OTHER
    L2_BYPASS_SHORT              # a hit, nothing in the way
    L2_BYPASS_LONG               # a hit while others wait
    L2_BYPASS_MISS               # straight to L3
    L2_FETCH_BYPASS_SHORT
    L2_FETCH_BYPASS_MISS
    L2_FILL_S                    # lines filled in, by state
    L2_FILL_E
    L2_FILL_M
    L2_WRITE_BACK                # a modified line goes to L3
    L2I_REPLACED
    L2_STORE_HIT_S               # a write of a line that is not its own alone
    L2_RECIRC_FILL_HIT           # data that recirculates, one cause each: its line is on its way
    L2_RECIRC_OZQ_MISS           # ... its line is missing, L3 is not asked yet
    L2_RECIRC_L1W                # ... its line was missed one cycle before
    L2_RECIRC_SAME_INDEX         # ... a miss of its set was before it (Montecito: in the same cycle)
    L2_RECIRC_IPF_MISS           # ... its line is on its way for instruction prefetch
    L2_RECIRC_TAG_NOTOK          # ... a write that hits, behind a miss of its set in the same cycle
    L2_RECIRC_VIC_PEND           # ... its line is on the way out
    L2_RECIRC_VIC_BUF_FULL       # ... its victim finds no buffer
    L2_SMC_HIT                   # its line is on its way for a fetch
    L2_BEHIND_RECIRC             # not the first that waits for the line
    L2_SECONDARY_READ            # of a line that is missing or on its way
    L2_SECONDARY_WRITE
    L2_LOOK_AGAIN                # looks for what was not there
    OZQ_CANCEL_ACQUIRE           # an access that waited for order, one cause each: for an acquire
    OZQ_CANCEL_RELEASE           # ... a release for what is before it
    OZQ_CANCEL_SEMAPHORE         # ... a semaphore for either
    OZQ_CANCEL_LATE_ACQUIRE      # ... of its own cycle
    OZQ_CANCEL_LATE_RELEASE
    OZQ_CANCEL_FENCE             # ... what is behind a fence, for it
    OZQ_CANCEL_BANK              # an access that is issued again, one cause each: a read that met another one in a bank
    OZQ_CANCEL_OVER_SUB          # ... no tag port was free
    OZQ_CANCEL_FILL              # ... a read whose bank a fill wrote
    OZQ_CANCEL_FILL_STORE        # ... a store whose bank a fill wrote
    OZQ_CANCEL_OZDATA            # ... a store beside a fill that took what the data buffer had for its line
    OZQ_CANCEL_WRITE_BACK        # ... whose bank a line on its way out was read from
    L2_FETCH_CONFLICT_DEMAND     # a hit whose line is on its way
    L2_FETCH_CONFLICT_PREFETCH
    L2_FETCH_QUEUED_HIT_DEMAND   # a fetch that waited for room in the queue, and found its line
    L2_FETCH_QUEUED_HIT_PREFETCH
    L2_FETCH_QUEUED_MISS_DEMAND  # ... and did not
    L2_FETCH_QUEUED_MISS_PREFETCH
    L2_FETCH_LOOK_AGAIN          # looks for what was not there
    L2_FILLS_FULL                # a miss that waited for a fill buffer
    L3_REJECT_DATA               # a request that waited for L3's request buffers
    L3_REJECT_FETCH_DEMAND
    L3_REJECT_FETCH_PREFETCH
    L3_DATA_READ_MISS_I          # the order is that of tags.pxd, State
    L3_DATA_READ_HIT_S
    L3_DATA_READ_HIT_E
    L3_DATA_READ_HIT_M
    L3_DATA_WRITE_MISS_I
    L3_DATA_WRITE_HIT_S
    L3_DATA_WRITE_HIT_E
    L3_DATA_WRITE_HIT_M
    L3_FETCH_DEMAND_MISS_I
    L3_FETCH_DEMAND_HIT_S
    L3_FETCH_DEMAND_HIT_E
    L3_FETCH_DEMAND_HIT_M
    L3_FETCH_PREFETCH_MISS_I
    L3_FETCH_PREFETCH_HIT_S
    L3_FETCH_PREFETCH_HIT_E
    L3_FETCH_PREFETCH_HIT_M
    L3_WRITE_BACK_MISS_I
    L3_WRITE_BACK_HIT_S
    L3_WRITE_BACK_HIT_E
    L3_WRITE_BACK_HIT_M
    L3_INSERT_S
    L3_INSERT_E
    L3_INSERT_M
    L3_REPLACED_S
    L3_REPLACED_E
    L3_REPLACED_M
    BUS_READ_DATA                # BRL: a line of data
    BUS_READ_FETCH               # BRL: a line of instructions
    BUS_READ_OWN                 # BRIL
    BUS_INVALIDATE               # BIL
    BUS_WRITE_BACK
    BUS_READ_HIT                 # another core had the line of a BRL, as memory has it
    BUS_READ_HITM                # ... modified
    BUS_READ_OWN_HITM            # ... of a BRIL
    BUS_INVALIDATE_HITM          # ... of a BIL
    BUS_CASTOUT                  # a clean line that goes
    BUS_DATA_CYCLE               # bus clocks with data
    BUS_BACK_TO_BACK             # bus clocks with data right behind another burst
    # instruction fetch (fetch.pyx)
    L1I_READ                     # windows fetched
    L1I_DEMAND_MISS              # in neither L1I nor the streaming buffer, nor on the way: L2 is asked
    L1I_ISB_HIT                  # in the streaming buffer
    L1I_RAB_HIT                  # on the way
    L1I_FILL
    L1I_PURGED                   # entries of the first-level TLB that went, and lines with them
    L1I_SNOOPED                  # fc
    L1I_PREFETCH                 # lines that prefetch looked up
    L1I_STREAM_PREFETCH          # ... those of streams
    L2_PREFETCH_SENT             # ... that were not there: L2 is asked
    PREFETCH_STALL_STREAM        # cycles that a line of a stream waited for a free request
    PREFETCH_STALL_HINT          # cycles that a hint waited for the pipeline or a free request
    PVAB_OVERFLOW                # hints that found no room
    ISB_LINE_IN                  # lines that L2 gave
    ISB_PAIR_IN                  # ... in pairs of bundles
    ITLB1_MISS
    ITLB2_MISS
    ITLB_WALKED                  # the walker found the entry
    ITLB_FILLED                  # the operating system put it in
    # branch prediction (predictor.pyx): each branch is one of the 21 of kind and outcome (order: predictor.pyx)
    PREDICTED_RELATIVE_CORRECT_NOT_TAKEN
    PREDICTED_RELATIVE_CORRECT_TAKEN
    PREDICTED_RELATIVE_WRONG_PATH_NOT_TAKEN
    PREDICTED_RELATIVE_WRONG_PATH_TAKEN
    PREDICTED_RELATIVE_WRONG_TARGET
    PREDICTED_RELATIVE_UNKNOWN_NOT_TAKEN
    PREDICTED_RELATIVE_UNKNOWN_TAKEN
    PREDICTED_RETURN_CORRECT_NOT_TAKEN
    PREDICTED_RETURN_CORRECT_TAKEN
    PREDICTED_RETURN_WRONG_PATH_NOT_TAKEN
    PREDICTED_RETURN_WRONG_PATH_TAKEN
    PREDICTED_RETURN_WRONG_TARGET
    PREDICTED_RETURN_UNKNOWN_NOT_TAKEN
    PREDICTED_RETURN_UNKNOWN_TAKEN
    PREDICTED_INDIRECT_CORRECT_NOT_TAKEN
    PREDICTED_INDIRECT_CORRECT_TAKEN
    PREDICTED_INDIRECT_WRONG_PATH_NOT_TAKEN
    PREDICTED_INDIRECT_WRONG_PATH_TAKEN
    PREDICTED_INDIRECT_WRONG_TARGET
    PREDICTED_INDIRECT_UNKNOWN_NOT_TAKEN
    PREDICTED_INDIRECT_UNKNOWN_TAKEN
    PREDICTED_MULTIWAY_CORRECT_NOT_TAKEN
    PREDICTED_MULTIWAY_CORRECT_TAKEN
    PREDICTED_MULTIWAY_WRONG_PATH_NOT_TAKEN
    PREDICTED_MULTIWAY_WRONG_PATH_TAKEN
    PREDICTED_MULTIWAY_WRONG_TARGET
    PREDICTED_MULTIWAY_UNKNOWN_NOT_TAKEN
    PREDICTED_MULTIWAY_UNKNOWN_TAKEN
    PREDICTED_STAGE1_CORRECT_NOT_TAKEN
    PREDICTED_STAGE1_CORRECT_TAKEN
    PREDICTED_STAGE1_WRONG_PATH_NOT_TAKEN
    PREDICTED_STAGE1_WRONG_PATH_TAKEN
    PREDICTED_STAGE1_WRONG_TARGET
    PREDICTED_STAGE1_UNKNOWN_NOT_TAKEN
    PREDICTED_STAGE1_UNKNOWN_TAKEN
    PREDICTED_STAGE2_CORRECT_NOT_TAKEN
    PREDICTED_STAGE2_CORRECT_TAKEN
    PREDICTED_STAGE2_WRONG_PATH_NOT_TAKEN
    PREDICTED_STAGE2_WRONG_PATH_TAKEN
    PREDICTED_STAGE2_WRONG_TARGET
    PREDICTED_STAGE2_UNKNOWN_NOT_TAKEN
    PREDICTED_STAGE2_UNKNOWN_TAKEN
    PREDICTED_STAGE3_CORRECT_NOT_TAKEN
    PREDICTED_STAGE3_CORRECT_TAKEN
    PREDICTED_STAGE3_WRONG_PATH_NOT_TAKEN
    PREDICTED_STAGE3_WRONG_PATH_TAKEN
    PREDICTED_STAGE3_WRONG_TARGET
    PREDICTED_STAGE3_UNKNOWN_NOT_TAKEN
    PREDICTED_STAGE3_UNKNOWN_TAKEN
    OVERSUBSCRIBED_CORRECT       # IP-relative branches beyond those of a window that the first store keeps
    OVERSUBSCRIBED_WRONG_PATH
    MISPREDICTED_FRAME           # a return to elsewhere than the return stack said, so with another ar.pfs
    MISPREDICTED_ROTATION        # br.ctop, cexit: registers were renamed for the wrong path
    MISPREDICTED_STAGE           # br.wtop, wexit: the stage predicate was not as predicted
    # thread switches (thread_switch.pyx), each noted where its thread goes on
    THREAD_SWITCH_L3             # the order is that of SwitchCause
    THREAD_SWITCH_TIMER
    THREAD_SWITCH_HINT
    THREAD_SWITCH_HELD_BACK      # it was to retire something first
    THREAD_SWITCH_MISSED         # ... and the reason was gone then
    THREAD_SWITCH_STOOD          # it waited until the pipeline did not stand still any more
    THREAD_SWITCH_STALL_4        # ... for 4 to 7 cycles
    THREAD_SWITCH_STALL_8
    THREAD_SWITCH_STALL_16
    THREAD_SWITCH_STALL_32
    THREAD_SWITCH_STALL_64
    THREAD_SWITCH_STALL_128
    THREAD_SWITCH_STALL_256
    THREAD_SWITCH_STALL_512
    THREAD_SWITCH_STALL_1024
    THREAD_SWITCH_STALL_2048
    THREAD_SWITCH_STALL_4096     # or more
    # answers to another core's requests (coherence.pxd)
    SNOOPED_MISS                 # its caches did not have the line
    SNOOPED_HIT
    SNOOPED_HITM                 # ... they had it modified
    SNOOPED_CODE                 # L1I and L2I were asked, too
    SNOOPED_L2I_HIT
    SNOOPED_WRITE                # the line waited before the bus, to be written
    SNOOPED_CASTOUT              # ... clean
    # interruptions (timing.pyx, translation.pyx, fetch.pyx)
    LEVEL_CHANGED                # the privilege level: to 0 and back
    FLOAT_INTERRUPTED            # a floating-point fault or trap
    # out-of-order cores (interval/tallies.pxd, Tally)
    CORE_L1D_READ_MISS
    CORE_L1D_WRITE_MISS
    CORE_L1I_MISS
    CORE_DTLB_MISS               # in no TLB
    CORE_ITLB_MISS
    CORE_LLC_REFERENCE           # asked of the last-level cache by a miss of the caches above it
    CORE_LLC_MISS
    CORE_MISPREDICTED
    CORE_LOAD_MISS_CYCLE         # cycles from a load that missed L1D to its data
    # captured (watch.pxd) by the first PMU; those of the next one come behind, and so on (looks.py)
    DATA_EAR_CAPTURED
    INSTRUCTION_EAR_CAPTURED
    BRANCH_CAPTURED
    OCCURRENCES

cdef enum:
    CYCLE_COUNTED = 512          # from here on: cycles in which a counter's condition held, by PMU and counter
    ROUND_TRIP = 2               # changes of the privilege level by an interruption
