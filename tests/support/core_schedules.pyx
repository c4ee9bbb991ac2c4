# cython: language_level=3
"""Blocks and schedules of an out-of-order core for Python: what plain_core.py is compared with. Compiled by
core_schedules_build.py."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport (
    CORE_REGISTERS, MAX_RESPONSES, CoreBlock, CoreBlocks, CoreInstruction, OutOfOrderCore, Response, core_accesses_of,
    free_block, instructions_of, uops_of)


@cython.no_gc_clear                # blocks are freed by their numbers
cdef class Schedules:
    """Schedules of one block after the other, from an empty core on; ``timings``: CoreTimings of the machine."""

    cdef CoreBlocks blocks
    cdef OutOfOrderCore core
    cdef dict known

    def __init__(self, table, timings, graphs):
        figures = timings.core_figures()
        self.blocks, self.core, self.known = CoreBlocks(table, timings, figures), OutOfOrderCore(graphs), {}
        self.core.set_figures(figures)

    def __dealloc__(self):
        for block in self.known.values():
            free_block(<CoreBlock*><size_t>block)

    cdef CoreBlock* block(self, uint64_t number) except NULL:
        if number not in self.known:
            self.known[number] = <size_t>self.blocks.make(number)
        return <CoreBlock*><size_t>self.known[number]

    @property
    def ticks(self):
        """Of a cycle."""
        return self.core.figures.ticks

    @property
    def from_graphs(self):
        """Parts that ran by a graph, or would have."""
        return self.core.from_graphs

    def description(self, number):
        """A block as dictionaries: its instructions with their µops and accesses; times are ticks."""
        cdef CoreBlock* block = self.block(number)
        cdef CoreInstruction* one
        found = []
        for i in range(block.length):
            one = &instructions_of(block)[i]
            uops = [[uops_of(block)[one.first_uop + k].port[port] for port in range(uops_of(block)[one.first_uop + k].count)]
                    for k in range(one.uops)]
            lonely = any(core_accesses_of(block)[one.first_access + k].alone for k in range(one.accesses))
            accesses = [(one.first_access + k, bool(core_accesses_of(block)[one.first_access + k].reads),
                         bool(core_accesses_of(block)[one.first_access + k].writes)) for k in range(one.accesses)]
            found.append({
                "slots": one.slots, "kind": one.kind, "divider": one.divider, "busy": one.busy, "uops": uops,
                "accesses": accesses, "lonely": lonely, "address": [one.address[k] for k in range(2) if one.address[k] < CORE_REGISTERS],
                "source": [one.source[k] for k in range(one.sources)],
                "result": [one.result[k] for k in range(one.results)], "latency": one.latency,
                "latency2": one.latency2, "load": one.load_latency, "forward": one.forward, "indexed": one.indexed,
                "vector": one.vector,
                "string_start": one.string_start, "string_cycles": one.string_cycles})
        costs = [[block.cost[taken][source] for source in range(3)] for taken in range(2)]
        return {"number": number, "instructions": found, "cost": costs, "top": block.top}

    def run(self, number, responses, end):
        """Runs a block; ``responses``: access, kind and value of each. The times afterwards, in ticks: of dispatch, the
        front end, retirement and commits, of the registers, and by store of its data and its commit; and the ticks in
        which dispatch waited for the front end, and behind a mispredicted branch."""
        cdef Response given[MAX_RESPONSES]
        cdef CoreBlock* block = self.block(number)
        cdef uint32_t i
        for i, (access, kind, value) in enumerate(responses):
            given[i].access, given[i].kind, given[i].spare, given[i].value = access, kind, 0, value
        self.core.run(block, given, len(responses), end)
        if self.core.times.response != len(responses):
            raise ValueError("a response was given to no access")
        stores = {i: (self.core.times.store[i].ready, self.core.times.store[i].committed)
                  for i in range(block.accesses) if core_accesses_of(block)[i].writes}
        state = self.core.state
        return {"dispatch": state.dispatch, "front end": state.front_end, "retired": state.retired,
                "committed": state.committed, "registers": [state.epoch + state.ready[i] for i in range(CORE_REGISTERS)],
                "stores": stores, "undelivered": self.core.times.undelivered, "mispredicted": self.core.times.mispredicted}
