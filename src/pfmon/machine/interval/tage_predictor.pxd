"""Direction and indirect targets by path histories of several lengths (TAGE): see tage_predictor.pyx."""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t

cdef extern from *:
    """
    #define pfmon_highest_bit(bits) (31 - __builtin_clz(bits))
    """
    int highest_bit "pfmon_highest_bit"(uint32_t) nogil


cdef enum:
    TAGGED_TABLES = 3
    PATH_WORDS = 3               # of 64 bits: two for each taken branch
    TAGE_TAG_SHIFT = 16               # an entry: tag, useful in bits 3 and 4, a counter of three bits
    TAGE_TAG_VALID = 0x8000
    TAGE_USEFUL_SHIFT = 3
    TAGE_USEFUL_MAX = 3
    TAGE_COUNTER_MAX = 7
    TAGE_ALTERNATE_MAX = 15
    TARGET_TABLES = 2

cdef struct TargetEntry:         # of an indirect branch
    uint64_t target
    uint32_t tag                 # 0: free
    uint32_t sure                # it was right the last time


@cython.final
cdef class TagePredictor:
    cdef uint32_t* tagged[TAGGED_TABLES]
    cdef uint8_t* base           # two-bit counters by address
    cdef TargetEntry* targets[TARGET_TABLES]
    cdef uint64_t* last_targets  # of indirect branches by address
    cdef uint64_t base_mask, last_mask
    cdef uint64_t path[PATH_WORDS]       # the latest taken branch in the lowest bits
    cdef uint64_t masks[TAGGED_TABLES][PATH_WORDS]   # the bits of a table's history
    cdef uint64_t folds[TAGGED_TABLES]               # these bits folded
    cdef readonly list lengths           # taken branches in the history of each table
    cdef uint32_t index_shift, target_shift
    cdef uint32_t alternate      # 8 and more: an entry that has proved nothing is worse than the next shorter history

    cdef void allocate(self, uint32_t** entries, const uint32_t* tags, uint32_t provider, bint taken) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil


cdef inline uint64_t path_hash(uint64_t fold, uint64_t address) noexcept nogil:
    return (fold ^ address * <uint64_t>0x9E3779B97F4A7C15) * <uint64_t>0xD6E8FEB86659FD93


cdef inline uint64_t rotated_path(uint64_t bits, int left) noexcept nogil:
    return bits << left | bits >> (64 - left)


cdef inline uint64_t fold_path(TagePredictor self, int table) noexcept nogil:
    """Folds the bits of the path in a table's history to one word."""
    cdef const uint64_t* mask = self.masks[table]
    return (self.path[0] & mask[0] ^ rotated_path(self.path[1] & mask[1], 23)
            ^ rotated_path(self.path[2] & mask[2], 46))


cdef inline void lengthen_path(TagePredictor self, uint64_t address, uint64_t target) noexcept nogil:
    """Adds a taken branch to the path: it moves by two bits, and 16 bits of the branch's address and six of its target
    are added to the lowest."""
    cdef uint64_t* path = self.path
    path[2] = path[2] << 2 | path[1] >> 62
    path[1] = path[1] << 2 | path[0] >> 62
    path[0] = path[0] << 2 ^ (address & 0xFFFF) ^ (target & 0x3F) << 2
    self.folds[0], self.folds[1], self.folds[2] = fold_path(self, 0), fold_path(self, 1), fold_path(self, 2)


cdef inline uint32_t look_up_path(TagePredictor self, uint32_t k, uint64_t hash, uint32_t** entries,
                             uint32_t* tags) noexcept nogil:
    """Looks a branch up in table k - 1: returns whether it has it as bit k, its direction as bit 16 + k."""
    cdef uint64_t mixed = path_hash(self.folds[k - 1], hash)
    cdef uint32_t* entry = &self.tagged[k - 1][mixed >> self.index_shift]
    entries[k], tags[k] = entry, <uint32_t>(mixed >> 16 & 0xFFFF) | TAGE_TAG_VALID
    return <uint32_t>(entry[0] >> TAGE_TAG_SHIFT == tags[k]) << k | (entry[0] >> 2 & 1) << (16 + k)


cdef inline bint predict_by_path(TagePredictor self, uint64_t hash, bint taken) noexcept nogil:
    """Predicts the direction of a branch, whose address has a hash; trains. Returns whether it was right. The provider
    is the entry with the longest history that has the branch. Branchless as far as it depends on the program."""
    cdef uint32_t* entries[TAGGED_TABLES + 1]
    cdef uint32_t tags[TAGGED_TABLES + 1]
    cdef uint32_t none = 0, found, hits, ways, provider, other, counter, useful
    cdef uint8_t* base = &self.base[hash & self.base_mask]
    cdef bint way, other_way, unproved, chosen, proved_right, proved_wrong
    entries[0] = &none
    found = look_up_path(self, 1, hash, entries, tags) | look_up_path(self, 2, hash, entries, tags) \
        | look_up_path(self, 3, hash, entries, tags)
    hits, ways = found & 0xFFFF | 1, found >> 16 | base[0] >> 1
    provider = highest_bit(hits)
    other = highest_bit((hits ^ <uint32_t>1 << provider) | 1)
    way, other_way = ways >> provider & 1, ways >> other & 1
    counter, useful = entries[provider][0] & TAGE_COUNTER_MAX, entries[provider][0] >> TAGE_USEFUL_SHIFT & TAGE_USEFUL_MAX
    unproved = (provider != 0) & (useful == 0) & ((counter == 3) | (counter == 4))
    chosen = way ^ (way ^ other_way) & unproved & (self.alternate > TAGE_ALTERNATE_MAX // 2)
    proved_right, proved_wrong = (way == taken) & (other_way != taken), (way != taken) & (other_way == taken)
    self.alternate += unproved & proved_wrong & (self.alternate < TAGE_ALTERNATE_MAX)
    self.alternate -= unproved & proved_right & (self.alternate > 0)
    entries[provider][0] += (
        (<uint32_t>(proved_right & (useful < TAGE_USEFUL_MAX)) << TAGE_USEFUL_SHIFT)
        - (<uint32_t>(proved_wrong & (useful > 0)) << TAGE_USEFUL_SHIFT)
        + <uint32_t>(taken & (counter < TAGE_COUNTER_MAX)) - <uint32_t>((not taken) & (counter > 0)))
    base[0] ^= (base[0] ^ stepped(base[0], taken)) & (0 - <uint8_t>(provider == 0))
    if chosen != taken and provider < TAGGED_TABLES and not (unproved and way == taken):
        self.allocate(entries, tags, provider, taken)
    return chosen == taken
