from enum import IntFlag

class Failure(IntFlag):
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    TOO_MANY_BLOCKS = 2
    TOO_MANY_MARKS = 3
    TOO_MANY_NOTES = 4
    TOO_MANY_WORDS = 5
    BAD_STREAM = 6
    CANNOT_WRITE = 7
    TOO_MANY_ENTRIES = 8
    BLOCK_TOO_LONG = 9
