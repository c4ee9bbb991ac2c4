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
    MAX_PATH = 128               # taken branches that are kept; a power of two
    PATH_TURN = 5                # bits by which the fold of a path is rotated for each further branch
    TAGE_TAG_SHIFT = 16          # an entry: tag, useful in bits 3 and 4, a counter of three bits
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
    cdef uint64_t path[MAX_PATH]         # hashes of the latest taken branches, by their number
    cdef uint64_t path_length            # taken branches so far
    cdef uint64_t folds[TAGGED_TABLES]   # of the paths of each table's length
    cdef uint32_t path_lengths[TAGGED_TABLES]
    cdef readonly list lengths           # the same
    cdef uint32_t index_shift, target_shift
    cdef uint32_t alternate      # 8 and more: an entry that has proved nothing is worse than the next shorter history

    cdef void allocate(self, uint32_t** entries, const uint32_t* tags, uint32_t provider, bint taken) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil


cdef inline uint64_t rotated_path(uint64_t bits, uint32_t left) noexcept nogil:
    return bits << (left & 63) | bits >> (-left & 63)


cdef inline uint64_t spread_hash(uint64_t bits) noexcept nogil:
    return bits * <uint64_t>0x9E3779B97F4A7C15


cdef inline uint64_t lengthened(TagePredictor self, int table, uint64_t branch) noexcept nogil:
    """The fold of a table's path with one more branch; the oldest leaves it."""
    cdef uint32_t length = self.path_lengths[table]
    cdef uint64_t oldest = self.path[(self.path_length - length) & (MAX_PATH - 1)]
    return rotated_path(self.folds[table], PATH_TURN) ^ rotated_path(oldest, length * PATH_TURN) ^ branch


cdef inline void lengthen_path(TagePredictor self, uint64_t address, uint64_t target) noexcept nogil:
    """Adds a taken branch to the path: 16 bits of its address, six of its target."""
    cdef uint64_t branch = spread_hash((address & 0xFFFF) << 6 | target & 0x3F)
    self.folds[0], self.folds[1], self.folds[2] = \
        lengthened(self, 0, branch), lengthened(self, 1, branch), lengthened(self, 2, branch)
    self.path[self.path_length & (MAX_PATH - 1)] = branch
    self.path_length += 1


cdef inline uint32_t look_up_path(TagePredictor self, uint32_t k, uint64_t spread, uint32_t** entries,
                             uint32_t* tags) noexcept nogil:
    """Looks a branch up in table k - 1: returns whether it has it as bit k, its direction as bit 16 + k."""
    cdef uint64_t mixed = self.folds[k - 1] ^ spread
    cdef uint32_t* entry = &self.tagged[k - 1][mixed >> self.index_shift]
    entries[k], tags[k] = entry, <uint32_t>(mixed >> 16 & 0xFFFF) | TAGE_TAG_VALID
    return <uint32_t>(entry[0] >> TAGE_TAG_SHIFT == tags[k]) << k | (entry[0] >> 2 & 1) << (16 + k)


cdef inline bint predict_by_path(TagePredictor self, uint64_t hash, bint taken) noexcept nogil:
    """Predicts the direction of a branch, whose address has a hash; trains. Returns whether it was right. The provider
    is the entry with the longest history that has the branch. Branchless as far as it depends on the program."""
    cdef uint32_t* entries[TAGGED_TABLES + 1]
    cdef uint32_t tags[TAGGED_TABLES + 1]
    cdef uint32_t none = 0, found, hits, ways, provider, other, counter, useful
    cdef uint64_t spread = spread_hash(hash)
    cdef uint8_t* base = &self.base[hash & self.base_mask]
    cdef bint way, other_way, unproved, chosen, proved_right, proved_wrong
    entries[0] = &none
    found = look_up_path(self, 1, spread, entries, tags) | look_up_path(self, 2, spread, entries, tags) \
        | look_up_path(self, 3, spread, entries, tags)
    hits, ways = found & 0xFFFF | 1, found >> 16 | base[0] >> 1
    if hits == 1 and base[0] == SATURATED * taken:           # nothing changes
        return True
    provider = highest_bit(hits)
    other = highest_bit((hits ^ <uint32_t>1 << provider) | 1)
    way, other_way = ways >> provider & 1, ways >> other & 1
    counter = entries[provider][0] & TAGE_COUNTER_MAX
    useful = entries[provider][0] >> TAGE_USEFUL_SHIFT & TAGE_USEFUL_MAX
    if (counter == TAGE_COUNTER_MAX * taken) & (provider != 0) & ((way == other_way) | (useful == TAGE_USEFUL_MAX)):
        return True                              # the same
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
