"""A caller of the firmware's procedures with a memory of its own, in place of the entry points' code."""

from pfmon.engine.ia64.system.firmware.firmware_calls import (
    LOAD_BYTE,
    LOAD_WORD,
    STORE_BYTE,
    STORE_WORD,
    WORD,
    Procedure,
    Results,
)


class Memory:
    """Bytes by address; those that were never written are 0."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}
        self.accesses: list[tuple[int, int]] = []
        """How, and where."""

    def read(self, address: int, length: int) -> bytes:
        return bytes(self.bytes.get(address + place, 0) for place in range(length))

    def write(self, address: int, content: bytes) -> bool:
        self.bytes.update(enumerate(content, address))
        return True


def called(procedure: Procedure, memory: Memory) -> Results:
    """The results of a procedure; its accesses are made in the memory."""
    try:
        access = next(procedure)
        while True:
            memory.accesses.append((access.how, access.address))
            size = WORD if access.how in (STORE_WORD, LOAD_WORD) else 1
            assert access.address % size == 0
            if access.how in (STORE_BYTE, STORE_WORD):
                memory.write(access.address, access.value.to_bytes(size, "little"))
            assert access.how in (STORE_BYTE, STORE_WORD, LOAD_BYTE, LOAD_WORD)
            access = procedure.send(int.from_bytes(memory.read(access.address, size), "little"))
    except StopIteration as ended:
        results: Results = ended.value
        return results
