"""Causes of lost cycles in the back end (nothing retired) and in the front end (nothing delivered), and of
syllables."""

cpdef enum Cause:                # Montecito manual 4.6; the order is that of the events' tables, not of priority
    XPN = 0                      # BE_FLUSH_BUBBLE.XPN
    BRU                          # BE_FLUSH_BUBBLE.BRU
    L1D_FULLSTBUF                # BE_L1D_FPU_BUBBLE ...
    L1D_DCURECIR                 # Itanium 2; Montecito has L1D_PIPE_RECIRC instead
    L1D_FILLCONF
    L1D_L2BPRESS
    L1D_TLB
    L1D_HPW
    L1D_NATCONF
    L1D_LDCONF
    L1D_LDCHK
    L1D_PIPE_RECIRC
    GRALL                        # BE_EXE_BUBBLE: a general register loaded from memory
    GRGR                         # ... written by another operation
    FRALL
    PR
    ARCR
    RSE_AR_DEP                   # BE_RSE_BUBBLE ...
    RSE_OVERFLOW
    RSE_UNDERFLOW
    RSE_LOADRS
    FE_FEFLUSH                   # BACK_END_BUBBLE.FE, by the cause in the front end
    FE_TLBMISS
    FE_IMISS
    FE_BRANCH
    FE_FILL_RECIRC
    FE_BUBBLE
    WINDOW_L2                    # of out-of-order cores (outoforder/scheduler.pxd, DelayCause)
    WINDOW_L3
    WINDOW_MEMORY
    WINDOW_DTLB
    WINDOW_STORES
    REFILL_BRANCH
    REFILL_REDIRECT
    FETCH_L1I
    FETCH_ITLB
    CORE_DISPATCH
    CORE_LATENCY
    CORE_PORT
    CORE_DIVIDER
    LOAD_L1D
    LOAD_FORWARDED
    LOAD_BLOCKED
    LOAD_SPLIT
    CORE_LOCKED_ACCESS
    CORE_SERIALIZED
    BUFFER_FULL
    CORE_DECODE
    THREAD_SWITCH                # the other hardware thread had the core: until the first issue after the switch
    KERNEL                       # the operating system ran, at privilege level 0: counted by no event at user level
    CAUSES

cpdef enum FrontCause:           # front-end causes, highest priority first
    FRONT_FEFLUSH = 0
    FRONT_TLBMISS
    FRONT_IMISS
    FRONT_BRANCH                 # branch interlock: a target in a register or on the return stack
    FRONT_FILL_RECIRC
    FRONT_BUBBLE                 # branch resteer
    FRONT_IBFULL
    FRONT_PLP                    # perfect loop predictor: a counted loop predicted late
    FRONT_BI                     # branch initialisation: a branch predicted only by its hint
    FRONT_BRQ                    # branch retirement queue full
    FRONT_UNREACHED              # a bundle of the window that control never reached
    FRONT_CAUSES

cpdef enum Dispersal:            # syllables of a cycle, by reason: first bit of each field (records.pxd, Part)
    DISPERSAL_EXPLICIT = 0       # not dispersed: a stop
    DISPERSAL_IMPLICIT = 3       # ... no port, or a rule of the ports
    DISPERSAL_FRONT_END = 6      # ... not fetched yet
    DISPERSAL_LONG = 9           # MLX
    DISPERSAL_OVER_EXPLICIT = 12 # counted twice: after stops of both kinds
    DISPERSAL_OVER_IMPLICIT = 14
    DISPERSAL_DISPERSED = 16
    DISPERSAL_END = 19
