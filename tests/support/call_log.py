"""The calls that a program is in at each of its instructions, by an independent log of its calls and returns."""

from functools import cache

from guests import guest, quiet

from pfmon.stream._stream import BranchKind, Recorder

PROGRAMS = {"fib": ["9"], "queens": ["5"], "dispatch": ["30"], "hashmap": ["40"], "epic": []}


@cache
def log(name: str) -> list[tuple[int, tuple[int, ...]]]:
    """Of every instruction that retired: its address, and the calls that had not returned, the latest first."""
    program, recorder = guest(name, PROGRAMS[name]), Recorder()
    with quiet():
        program.run(recorder)
    found: list[tuple[int, tuple[int, ...]]] = []
    calls: tuple[int, ...] = ()
    for word in recorder.words():
        if word >> 63:
            continue
        for ins in program.table.block(word & 0xFFFFFFFF).instructions:
            found.append((ins.address, calls))
            if ins.condition is not None and not word >> 32 + ins.condition & 1:
                continue
            if ins.branch in (BranchKind.DIRECT_CALL, BranchKind.INDIRECT_CALL):
                calls = (ins.address, *calls)
            elif ins.branch == BranchKind.RETURN_BRANCH:
                calls = calls[1:]
    program.close()
    return found
