"""Failures of a reader or writer of the stream: sticky, so that incomplete counts are never shown."""

cpdef enum Failure:
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1            # an array could not grow
    TOO_MANY_BLOCKS = 2          # the block table is full
    TOO_MANY_MARKS = 3           # one block has more marks than there is room for
    TOO_MANY_OCCURRENCES = 4     # more in one cycle than there is room for
    TOO_MANY_WORDS = 5           # a piece of the stream that does not fit into the ring
    BAD_STREAM = 6               # an invalid word
    CANNOT_WRITE = 7             # a recording's file
    TOO_MANY_ENTRIES = 8         # a queue or level of the machine exceeded its capacity
    BLOCK_TOO_LONG = 9           # a block has more instructions or accesses than the machine takes
