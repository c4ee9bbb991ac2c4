"""Types of pfmon.engine.ia64._ia64, by file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, final

from pfmon.engine.ia64.translation.decoded_blocks import DecodedBlock
from pfmon.stream._stream import BlockTable, Consumer

# core/processor.pyx

BREAK: int

FAULT: int

STOP: int

PMD: int

@final
class Processor:
    """One IA-64 processor: its registers for the system-call layer, and the loop that drives blocks."""

    memory: AddressSpace
    table: BlockTable
    traced: bool

    def __new__(cls, memory: AddressSpace, *, max_block: int = ..., trace: bool = False) -> Self: ...
    def set_files(self, files: Sequence[tuple[int, int, int]]) -> None: ...
    def run(self, consumer: Consumer) -> int: ...
    def step(self, consumer: Consumer) -> int: ...
    def request_stop(self) -> None: ...
    def stop_when_retired(self, count: int | None) -> None: ...
    def stop_exactly_at(self, count: int | None) -> None: ...
    @property
    def secure(self) -> bool: ...
    def set_secure(self, value: bool) -> None: ...
    def answer_pmd(self, value: int) -> None: ...
    def emit_mark(self, consumer: Consumer, kind: int, value: int) -> None: ...
    def context(self) -> ThreadContext: ...
    def resume(self, context: ThreadContext) -> None: ...
    def begin_stack(self, base: int) -> None: ...
    def set_time(self, instructions: int) -> None: ...
    def set_cpuid(self, values: Iterable[int]) -> None: ...
    def block_count(self) -> int: ...
    def block(self, number: int) -> DecodedBlock: ...
    @property
    def retired(self) -> int: ...
    @property
    def cpuid(self) -> list[int]: ...
    @property
    def unaligned(self) -> tuple[int, int, int]: ...
    @property
    def fault(self) -> int: ...
    @property
    def fault_code(self) -> int: ...
    @property
    def fault_address(self) -> int: ...
    @property
    def fault_info(self) -> int: ...
    def gr(self, number: int) -> int: ...
    def set_gr(self, number: int, value: int, nat: bool = False) -> None: ...
    def nat(self, number: int) -> bool: ...
    def br(self, number: int) -> int: ...
    def set_br(self, number: int, value: int) -> None: ...
    @property
    def pr(self) -> int: ...
    def set_pr(self, value: int) -> None: ...
    def fr_spill(self, number: int) -> bytes: ...
    def set_fr_spill(self, number: int, data: bytes) -> None: ...
    def ar(self, name: str) -> int: ...
    def set_ar(self, name: str, value: int) -> None: ...
    @property
    def cfm(self) -> int: ...
    def set_cfm(self, value: int) -> None: ...
    @property
    def ip(self) -> int: ...
    def set_ip(self, value: int) -> None: ...
    @property
    def um(self) -> int: ...
    def set_um(self, value: int) -> None: ...
    def out_argument(self, number: int) -> int: ...
    def cover_and_flush(self) -> int | None: ...
    def restore_frame(self, address: int, cfm: int) -> bool: ...

BUFFER_WORDS: int

# core/single_step.pyx

def step(
    unit: str,
    encoding: int,
    state: dict[str, Any],
    extension: int = 0,
    bundle_address: int = 0,
    checked: bool = False,
) -> tuple[int, dict[str, Any]]: ...

# floating_point/reciprocal_approximation.pyx

def tables() -> tuple[list[int], list[int]]: ...

# memory/address_space.pyx

@final
class AddressSpace:
    page_size: int
    limit: int
    mapped: int
    def __new__(cls, limit: int = ...) -> Self: ...
    def map(self, address: int, length: int, protection: int, shared: bool = False) -> None: ...
    def unmap(self, address: int, length: int) -> None: ...
    def protect(self, address: int, length: int, protection: int) -> None: ...
    def is_mapped(self, address: int, length: int) -> bool: ...
    def find_free(self, length: int, low: int, high: int) -> int | None: ...
    def regions_map(self) -> list[tuple[int, int, int]]: ...
    def read(self, address: int, length: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...
    def write_initial(self, address: int, data: bytes | memoryview) -> None: ...
    def is_shared(self, address: int) -> bool: ...
    def place(self, address: int) -> int: ...
    def fork(self, lend: bool = False) -> AddressSpace: ...
    def adopt(self, address: int, other: AddressSpace, theirs: int, length: int, protection: int) -> None: ...
    def clear(self) -> None: ...
    def detach(self) -> None: ...

# memory/extents.pyx

@final
class Extent:
    """Addresses [start, end), whole pages."""

    start: int
    end: int
    protection: int
    shared: bool

    def with_protection(self, protection: int) -> Extent: ...

def new_extent(start: int, end: int, protection: int, shared: bool) -> Extent | None: ...

# registers/register_context.pyx

@final
class ThreadContext:
    """The registers of a thread that does not run; made by Processor.context."""

# units/all_rows.pyx

def add_rows() -> None: ...

# units/b.pyx

PREFETCH: dict[int, str]

WHETHER: dict[int, str]

WHETHER_CALL: dict[int, str]

MEANING: dict[str, int]

DEALLOCATE: dict[int, str]

IMPORTANCE: dict[int, str]

def branch_rows(
    layout: str, text: str, run: int, kind: int, branch: int, whether: Mapping[int, str] = ..., **given: Any
) -> None: ...
def b_rows() -> None: ...

# units/floating/f_approximate.pyx

def f_approximate_rows() -> None: ...

# units/floating/f_compare.pyx

def f_compare_rows() -> None: ...

# units/floating/f_convert.pyx

def f_convert_rows() -> None: ...

# units/floating/f_integer.pyx

def f_integer_rows() -> None: ...

# units/floating/f_multiply_add.pyx

def f_multiply_add_rows() -> None: ...

# units/floating/f_parallel.pyx

def f_parallel_rows() -> None: ...

# units/floating/f_status.pyx

def f_status_rows() -> None: ...

# units/fused_pairs.pyx

def fused_pairs_rows() -> None: ...

# units/integer/a.pyx

def a_rows() -> None: ...

# units/integer/a_compare.pyx

def a_compare_rows() -> None: ...

# units/integer/a_parallel.pyx

def a_parallel_rows() -> None: ...

# units/integer/i.pyx

def i_rows() -> None: ...

# units/integer/i_move.pyx

def i_move_rows() -> None: ...

# units/integer/i_parallel.pyx

def i_parallel_rows() -> None: ...

# units/load_store/m_float.pyx

FORMS: dict[int, tuple[str, int]]

FLOAT_STORE_HINTS: dict[int, tuple[str, int]]

def float_load_rows(
    mnemonic: str,
    x6: int,
    plain: int,
    immediate: int,
    register: int,
    *,
    size: int,
    form: int,
    isa_kind: int = 0,
    own: bool = True,
) -> None: ...

SPECULATION: dict[str, tuple[int, tuple[int, int, int], int]]

def m_float_rows() -> None: ...

# units/load_store/m_load.pyx

HINTS: dict[int, tuple[str, int]]

SIZES: tuple[int, ...]

def load_rows(
    mnemonic: str,
    x6: int,
    plain: int,
    immediate: int,
    register: int,
    *,
    size: int,
    isa_kind: int = 0,
    access_flags: int = 0,
    own: bool = True,
    op_x: int = 0,
) -> None: ...
def m_load_rows() -> None: ...

# units/load_store/m_pair.pyx

LINE_HINTS: dict[int, tuple[str, int]]

PAIRS: dict[str, tuple[int, int, int, int]]

def m_pair_rows() -> None: ...

# units/load_store/m_store.pyx

STORE_HINTS: dict[int, tuple[str, int]]

SEMAPHORE_HINTS: dict[int, tuple[str, int]]

def store_rows(
    mnemonic: str,
    x6: int,
    plain: int,
    immediate: int,
    *,
    size: int,
    isa_kind: int = 0,
    access_flags: int = 0,
    nat: str = "consume",
) -> None: ...
def semaphore_rows(layout: str, text: str, run: int, x6: int, size: int, access_flags: int, **given: Any) -> None: ...

SEMAPHORE_ORDERS: dict[str, int]

def m_store_rows() -> None: ...

# units/load_store/m_system.pyx

PRIVILEGED: tuple[tuple[str, str, dict[str, int]], ...]

def m_system_rows() -> None: ...

# units/x.pyx

def x_rows() -> None: ...
