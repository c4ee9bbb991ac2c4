from enum import IntFlag

class Way(IntFlag):
    NOT_HERE = 0
    OCCURRENCES = 1
    CYCLES = 2
    BUBBLES = 3
    DISPERSAL = 4
    SUMS = 5
