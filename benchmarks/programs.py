"""The benchmark's programs: arguments that make each run about 100 million instructions or more."""

PROGRAMS: dict[str, list[str]] = {
    "arrays": ["5000"],
    "branchy": ["4000000"],
    "chase": ["64", "36000000"],
    "dispatch": ["200000"],
    "fib": ["33"],
    "hashmap": ["400000"],
    "lz": ["600000"],
    "matmul": ["200"],
    "nbody": ["10000"],
    "noploop": ["20000000"],
    "queens": ["13"],
    "sha256": ["20000"],
    "sort": ["200000"],
    "stream": ["2048", "16"],
    "strings": ["400000"],
}
"""``epic`` is left out: it is a test of a few thousand instructions."""
