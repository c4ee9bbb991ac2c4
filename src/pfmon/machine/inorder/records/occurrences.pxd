"""Occurrences: events of instructions in the machine besides retiring, from which the PMU's events are made.

Signals are sums of these (signals/machine.csv). Each section belongs to the mechanism that records it.
"""

cpdef enum Occurrence:
    NOTHING_HAPPENED = 0
    # L1D and data TLBs (data_memory.pyx)
    L1D_READ                     # integer loads and fills of the register stack engine
    L1D_CHECK_READ               # check loads that hit the ALAT: L1D is read, but the data is not used
    L1D_READ_MISS
    L1D_FILL_READ_MISS           # those of the register stack engine
    L1D_FORCED_MISS              # of a line in flight, or right after a store to the same bytes
    L1DTLB_TRANSFER              # hit in L2 DTLB, missed L1 DTLB, by readers of L1D
    L1DTLB_MISS
    L2DTLB_MISS
    HPW_READ                     # of the VHPT by the page walker
    DTLB_WALKED                  # the walker found the entry
    DTLB_FILLED                  # the operating system inserted it
    LFETCH_DROPPED               # no translation
    UNCACHEABLE_LOAD             # of a page whose attribute is uncacheable
    UNCACHEABLE_STORE
    # L2 (l2.pyx), L3 (l3.pyx), bus (bus.pyx)
    L2_DATA_READ
    L2_DATA_WRITE                # a semaphore is a read and a write
    L2_DATA_HIT                  # on the first lookup
    L2_DATA_MISS                 # on the first lookup, lines in flight included
    L2_MISS_SENT                 # of data, to L3
    L2_FETCH_HIT_DEMAND          # L2I, or the unified L2; a line in flight is a hit
    L2_FETCH_HIT_PREFETCH
    L2_FETCH_MISS_DEMAND         # sent to L3
    L2_FETCH_MISS_PREFETCH
    L2_OP_LOAD                   # issued from the queue
    L2_OP_FLOAT_LOAD
    L2_OP_STORE
    L2_OP_SEMAPHORE
    L2_OP_LFETCH
    L2_OP_OTHER
    L2_BYPASS_SHORT              # a hit without conflicts
    L2_BYPASS_LONG               # a hit while others wait
    L2_BYPASS_MISS               # straight to L3
    L2_FETCH_BYPASS_SHORT
    L2_FETCH_BYPASS_MISS
    L2_FILL_S                    # lines filled, by state
    L2_FILL_E
    L2_FILL_M
    L2_WRITE_BACK                # a modified line written to L3
    L2I_REPLACED
    L2_STORE_HIT_S               # a write to a line in state S
    L2_RECIRC_FILL_HIT           # data that recirculates, one cause each: its line is in flight
    L2_RECIRC_OZQ_MISS           # ... its line missed, the request to L3 is still due
    L2_RECIRC_L1W                # ... its line was missed one cycle before
    L2_RECIRC_SAME_INDEX         # ... after a miss of its set (Montecito: in the same cycle)
    L2_RECIRC_IPF_MISS           # ... its line is in flight for instruction prefetch
    L2_RECIRC_TAG_NOTOK          # ... a write that hits, after a miss of its set in the same cycle
    L2_RECIRC_VIC_PEND           # ... its line is being evicted
    L2_RECIRC_VIC_BUF_FULL       # ... no buffer is free for its victim
    L2_SMC_HIT                   # its line is in flight for a fetch
    L2_BEHIND_RECIRC             # not the first that waits for the line
    L2_SECONDARY_READ            # of a line that missed or is in flight
    L2_SECONDARY_WRITE
    L2_LOOK_AGAIN                # repeated lookups after a miss
    OZQ_CANCEL_ACQUIRE           # an access delayed by ordering, one cause each: by an acquire
    OZQ_CANCEL_RELEASE           # ... a release, by accesses before it
    OZQ_CANCEL_SEMAPHORE         # ... a semaphore, by either
    OZQ_CANCEL_LATE_ACQUIRE      # ... of its own cycle
    OZQ_CANCEL_LATE_RELEASE
    OZQ_CANCEL_FENCE             # ... an access after a fence, by the fence
    OZQ_CANCEL_BANK              # a reissued access, one cause each: a read, by a bank conflict with another read
    OZQ_CANCEL_OVER_SUB          # ... no tag port was free
    OZQ_CANCEL_FILL              # ... a read whose bank a fill wrote
    OZQ_CANCEL_FILL_STORE        # ... a store whose bank a fill wrote
    OZQ_CANCEL_OZDATA            # ... a store beside a fill that took what the data buffer had for its line
    OZQ_CANCEL_WRITE_BACK        # ... whose bank a line on its way out was read from
    L2_FETCH_CONFLICT_DEMAND     # a hit whose line is on its way
    L2_FETCH_CONFLICT_PREFETCH
    L2_FETCH_QUEUED_HIT_DEMAND   # a fetch that waited for room in the queue, and hit
    L2_FETCH_QUEUED_HIT_PREFETCH
    L2_FETCH_QUEUED_MISS_DEMAND  # ... and missed
    L2_FETCH_QUEUED_MISS_PREFETCH
    L2_FETCH_LOOK_AGAIN          # repeated lookups after a miss
    L2_FILLS_FULL                # a miss that waited for a fill buffer
    L3_REJECT_DATA               # a request that waited for L3's request buffers
    L3_REJECT_FETCH_DEMAND
    L3_REJECT_FETCH_PREFETCH
    L3_DATA_READ_MISS_I          # the order is that of tag_store.pxd, LineState
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
    BUS_READ_HIT                 # another core had the line of a BRL, unmodified
    BUS_READ_HITM                # ... modified
    BUS_READ_OWN_HITM            # ... of a BRIL
    BUS_INVALIDATE_HITM          # ... of a BIL
    BUS_CASTOUT                  # a clean line cast out
    BUS_DATA_CYCLE               # bus clocks with data
    BUS_BACK_TO_BACK             # bus clocks with data right after another burst
    BUS_READ_PARTIAL             # BRP: less than a line, of uncacheable memory
    BUS_WRITE_PARTIAL            # BWP
    # instruction fetch (fetch.pyx)
    L1I_READ                     # windows fetched
    L1I_DEMAND_MISS              # in neither L1I nor the streaming buffer, nor in flight: requested from L2
    L1I_ISB_HIT                  # in the streaming buffer
    L1I_RAB_HIT                  # in flight
    L1I_FILL
    L1I_PURGED                   # evicted entries of the first-level TLB, with their lines
    L1I_SNOOPED                  # fc
    L1I_PREFETCH                 # lines that prefetch looked up
    L1I_STREAM_PREFETCH          # ... those of streams
    L2_PREFETCH_SENT             # ... those that missed: requested from L2
    PREFETCH_STALL_STREAM        # cycles that a line of a stream waited for a free request
    PREFETCH_STALL_HINT          # cycles that a hint waited for the pipeline or a free request
    PVAB_OVERFLOW                # hints dropped for lack of room
    ISB_LINE_IN                  # lines received from L2
    ISB_PAIR_IN                  # ... in pairs of bundles
    ITLB1_MISS
    ITLB2_MISS
    ITLB_WALKED                  # the walker found the entry
    ITLB_FILLED                  # the operating system inserted it
    # branch prediction (predictor.pyx): each branch is one of the 21 combinations of kind and outcome (order:
    # predictor.pyx)
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
    OVERSUBSCRIBED_CORRECT       # IP-relative branches of a window beyond the capacity of the first store
    OVERSUBSCRIBED_WRONG_PATH
    MISPREDICTED_FRAME           # a return not to the address that the return stack predicted, so with another ar.pfs
    MISPREDICTED_ROTATION        # br.ctop, cexit: registers were renamed for the wrong path
    MISPREDICTED_STAGE           # br.wtop, wexit: the stage predicate differed from the prediction
    # thread switches (thread_switch.pyx), each recorded when its thread resumes
    THREAD_SWITCH_L3             # the order is that of SwitchCause
    THREAD_SWITCH_TIMER
    THREAD_SWITCH_HINT
    THREAD_SWITCH_LOW_POWER      # of a whole system
    THREAD_SWITCH_GATED_BY_LOW_POWER
    THREAD_SWITCH_HELD_BACK      # delayed until it retires an instruction
    THREAD_SWITCH_MISSED         # ... and the reason was gone by then
    THREAD_SWITCH_STOOD          # delayed until the pipeline stall ended
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
    # snoop responses to another core's requests (coherence.pxd)
    SNOOPED_MISS                 # its caches did not have the line
    SNOOPED_HIT
    SNOOPED_HITM                 # ... they had it modified
    SNOOPED_CODE                 # L1I and L2I were snooped, too
    SNOOPED_L2I_HIT
    SNOOPED_WRITE                # the line waited for the bus, to be written
    SNOOPED_CASTOUT              # ... clean
    # interruptions (timing.pyx, data_translation.pyx, fetch.pyx)
    LEVEL_CHANGED                # the privilege level: to 0 and back
    FLOAT_INTERRUPTED            # a floating-point fault or trap
    # marks of instructions that issue (pipeline.pyx), for events with a maximum in a cycle
    CHECK_FAILED                 # chk.a or ld.c of a general register without an ALAT entry
    FLOAT_CHECK_FAILED
    TINY_FLUSHED                 # a result that flush-to-zero mode replaced
    TINY_KEPT                    # ... would have replaced
    # out-of-order cores (interval/event_tallies.pxd, Tally)
    CORE_L1D_READ_MISS
    CORE_L1D_WRITE_MISS
    CORE_L1I_MISS
    CORE_LOAD_WALK               # data whose translation is in no TLB, of loads
    CORE_STORE_WALK              # ... of stores
    CORE_ITLB_MISS
    CORE_LLC_REFERENCE           # references to the last-level cache after misses of the caches above it
    CORE_LLC_MISS
    CORE_MISPREDICTED_NOT_TAKEN  # branches, the order is that of BranchClass: conditional ones that were not taken
    CORE_MISPREDICTED_TAKEN      # ... and those that were
    CORE_MISPREDICTED_CALL
    CORE_MISPREDICTED_RETURN
    CORE_MISPREDICTED_JUMP       # other unconditional ones
    CORE_LOAD_MISS_CYCLE         # cycles from a load that missed L1D to its data
    # ... of an out-of-order core with a table of instructions (interval/core_events.pxd, CoreEvent)
    CORE_LOAD_IN_FLIGHT          # instructions that load, once each by the level that had the data: its line was under way to L1D,
    CORE_LOAD_L2                 # ... L2 had it,
    CORE_LOAD_L3                 # ... L3, and no other core was asked,
    CORE_LOAD_MEMORY             # ... only memory; locked ones are not among them
    CORE_LOAD_WALKED             # instructions that load, once each: no TLB had the translation
    CORE_STORE_WALKED            # ... that store
    CORE_LOAD_SPLIT              # instructions that load, once each: from two lines of L1D
    CORE_STORE_SPLIT             # ... that store
    CORE_LOCK_SPLIT              # ... that are locked
    CORE_LOAD_PAGE_SPLIT         # ... that load: from two pages
    CORE_LOAD_SNOOP_MISS         # instructions that load, once each: L3 had it, and another core that was asked had not,
    CORE_LOAD_SNOOP_HIT          # ... had it unmodified,
    CORE_LOAD_SNOOP_HITM         # ... or modified; locked ones are not among them
    CORE_LOAD_SECOND_TLB         # accesses whose translation the second-level TLB had, of loads
    CORE_STORE_SECOND_TLB        # ... of stores
    CORE_LOAD_WALK_CYCLE         # cycles of page walks
    CORE_STORE_WALK_CYCLE
    CORE_LOAD_BLOCKED            # by a store that cannot forward
    CORE_LOAD_ALIASED            # 4 KB behind a store
    CORE_LOAD_FORWARDED          # whose data a store that is not in L1D yet forwards
    CORE_READ_L2                 # lines requested by loads that missed L1D, by the level that had them
    CORE_READ_L3
    CORE_READ_MEMORY
    CORE_OWN_L2                  # ... by stores and locked accesses
    CORE_OWN_L3
    CORE_OWN_MEMORY
    CORE_FETCH_L2                # ... by fetches that missed L1I
    CORE_FETCH_L3
    CORE_FETCH_MEMORY
    CORE_SOFTWARE_L2             # ... by prefetch instructions that missed L1D
    CORE_SOFTWARE_L3
    CORE_SOFTWARE_MEMORY
    CORE_PREFETCH_HIT            # prefetches of data beside a miss that looked into L2, and hit
    CORE_PREFETCH_L3             # ... and got the line from L3,
    CORE_PREFETCH_MEMORY         # ... from memory
    CORE_CODE_PREFETCH_HIT       # ... of instructions
    CORE_CODE_PREFETCH_L3
    CORE_CODE_PREFETCH_MEMORY
    CORE_READ_CYCLE              # cycles from a miss of L2 to the data, of loads
    CORE_OWN_CYCLE               # ... of stores and locked accesses
    CORE_FETCH_CYCLE             # ... of fetches
    CORE_READ_MEMORY_CYCLE       # ... of loads that missed L3, too
    CORE_L2_DROPPED              # lines evicted from L2 unmodified
    CORE_L2_WRITTEN              # ... modified
    CORE_FETCH_SECOND_TLB        # fetches whose translation the second-level TLB had
    CORE_FETCH_WALK_CYCLE        # cycles of page walks of fetches
    CORE_FETCH_TRANSLATION_CYCLE # cycles in which fetch waited for a translation
    CORE_FETCH_LINE_CYCLE        # ... for a line of instructions
    CORE_REDIRECTED              # taken branches whose target was known at decode
    CORE_DECODED_SLOT            # micro-operations by where they come from (CodeSource), microcode aside: the decoders,
    CORE_CACHED_SLOT             # ... the micro-operation cache,
    CORE_LOOPED_SLOT             # ... the loop buffer
    CORE_DECODED_INSTRUCTION     # by the decoders
    CORE_CACHE_LEFT              # blocks from the decoders behind one from the micro-operation cache
    CORE_FULL_CYCLE              # cycles in which dispatch waited for a buffer,
    CORE_STORES_FULL_CYCLE       # ... for the store buffer
    CORE_UNDELIVERED_SLOT        # micro-operations that could have dispatched while it waited for the front end
    CORE_UNDELIVERED_CYCLE       # whole cycles of that
    # ... that follow from executions
    CORE_LOAD_HIT                # the other instructions that load, and prefetches
    CORE_SLOT                    # micro-operations that dispatched and retired
    CORE_UOP                     # ... that executed
    CORE_DIVIDER_CYCLE           # cycles in which the divider was occupied
    CORE_FUSED                   # micro-operations of two instructions
    CORE_MICROCODE_SLOT          # micro-operations of microcoded instructions
    CORE_INTEGER_DIVIDER_CYCLE   # cycles in which the divider was occupied by an instruction without floating-point registers
    # captures (capture_listener.pxd) of the first PMU, followed by those of the others (record_query.py)
    DATA_EAR_CAPTURED
    INSTRUCTION_EAR_CAPTURED
    BRANCH_CAPTURED
    OCCURRENCES

cdef enum:
    CYCLE_COUNTED = 512          # followed by cycles in which a counter's condition held, by PMU and counter
    ROUND_TRIP = 2               # changes of the privilege level by an interruption
