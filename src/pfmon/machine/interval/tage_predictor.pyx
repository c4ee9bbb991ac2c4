"""Branch prediction by path histories of geometric lengths (A. Seznec, P. Michaud, A case for (partially) tagged
geometric history length branch prediction, JILP 8, 2006), which describes what is known of Intel's predictors from
Haswell on.

Directions: a table of two-bit counters by address, and tables of tagged entries, each indexed by the address and the
path: the latest taken branches, their addresses and targets, 93 of them on Skylake (H. Yavarzadeh and others,
Half&Half: Demystifying Intel's Directional Branch Predictors, IEEE S&P 2023). The entry with the longest history
predicts, unless it has proved nothing and such entries have been wrong. A misprediction makes an entry with the next
longer history. Targets of indirect branches: the same with two histories, and the last target instead of counters
(A. Seznec, A 64-Kbytes ITTAGE indirect branch predictor, 2011).
"""

cimport cython
from libc.stdlib cimport calloc, free


cdef list geometric_lengths(shortest, longest):
    """The lengths of the tables' histories."""
    return [round(shortest * (longest / shortest) ** (0.5 * k)) for k in range(TAGGED_TABLES)]


@cython.final
cdef class TagePredictor:
    """``config``: the figures of the table ``predictor``."""

    def __cinit__(self, config):
        entries, indirect = config["predictor.tagged"], max(2, config["predictor.indirect"])
        self.lengths = geometric_lengths(config["predictor.shortest_path"], config["predictor.path"])
        self.base_mask = config["predictor.counters"] - 1
        self.base = counters(self.base_mask + 1)
        self.index_shift, self.alternate = 65 - int(entries).bit_length(), TAGE_ALTERNATE_MAX // 2 + 1
        self.target_shift = 65 - int(indirect).bit_length()
        for k, length in enumerate(self.lengths):
            self.tagged[k] = <uint32_t*>calloc(entries, sizeof(uint32_t))
            if self.tagged[k] == NULL:
                raise MemoryError
            self.path_lengths[k] = length
        for k in range(TARGET_TABLES):
            self.targets[k] = <TargetEntry*>calloc(indirect, sizeof(TargetEntry))
            if self.targets[k] == NULL:
                raise MemoryError
        self.last_mask, self.last_targets = indirect - 1, <uint64_t*>calloc(indirect, sizeof(uint64_t))
        if self.last_targets == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.base)
        for k in range(TAGGED_TABLES):
            free(self.tagged[k])
        free(self.last_targets)
        for k in range(TARGET_TABLES):
            free(self.targets[k])

    cdef void allocate(self, uint32_t** entries, const uint32_t* tags, uint32_t provider, bint taken) noexcept nogil:
        """Enters a branch that was mispredicted into the first table with a longer history whose entry is not useful;
        if all are, they become less so."""
        cdef uint32_t k
        for k in range(provider + 1, TAGGED_TABLES + 1):
            if entries[k][0] >> TAGE_USEFUL_SHIFT & TAGE_USEFUL_MAX == 0:
                entries[k][0] = tags[k] << TAGE_TAG_SHIFT | (4 if taken else 3)
                return
        for k in range(provider + 1, TAGGED_TABLES + 1):
            entries[k][0] -= 1 << TAGE_USEFUL_SHIFT

    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil:
        """Whether the target of an indirect branch was predicted; trains."""
        cdef TargetEntry* entries[TARGET_TABLES]
        cdef uint32_t tags[TARGET_TABLES]
        cdef uint64_t mixed
        cdef int k, provider = -1
        cdef uint64_t* last = &self.last_targets[branch_hash(address) & self.last_mask]
        cdef bint right = last[0] == target
        last[0] = target
        for k in range(TARGET_TABLES):
            mixed = self.folds[k] ^ spread_hash(address)
            entries[k], tags[k] = &self.targets[k][mixed >> self.target_shift], <uint32_t>(mixed >> 16) | TAGE_TAG_VALID
            if entries[k].tag == tags[k]:
                provider = k
        if provider >= 0:
            right = entries[provider].target == target
            if not right and not entries[provider].sure:
                entries[provider].target = target
            entries[provider].sure = right
        if not right and provider + 1 < TARGET_TABLES:
            replace_target(entries[provider + 1], tags[provider + 1], target)
        return right


cdef void replace_target(TargetEntry* entry, uint32_t tag, uint64_t target) noexcept nogil:
    """Enters an indirect branch, unless the entry was right the last time; then the next one."""
    if entry.sure:
        entry.sure = False
    else:
        entry.tag, entry.target = tag, target
