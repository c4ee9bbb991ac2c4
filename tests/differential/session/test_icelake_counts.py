"""Events that Ice Lake's PMU has beside Skylake's, counted for a program whose counts are plain from its text."""

from pathlib import Path

from qemu_guests import assemble
from x86_64_host import AVX512, MARKS

import pfmon

pytestmark = [*MARKS, AVX512]

FP = "FP_ARITH_INST_RETIRED."
TIMES = 1000
PROGRAM = f"""
_start:
    mov ${TIMES}, %ecx
    kxnorb %k1, %k1, %k1
1:  vaddpd %zmm1, %zmm2, %zmm3
    vfmadd231pd %zmm1, %zmm2, %zmm4
    vmulps %zmm1, %zmm2, %zmm5{{%k1}}
    vaddps %ymm17, %ymm18, %ymm19
    vsqrtpd %xmm17, %xmm18
    vaddsd %xmm17, %xmm18, %xmm20
    vpaddd %zmm1, %zmm2, %zmm6
    test $1, %cl
    jz 2f
    inc %edx
2:  dec %ecx
    jnz 1b
    mov $60, %eax
    xor %edi, %edi
    syscall
"""
EXPECTED = {
    "INST_RETIRED.ANY": 11 * TIMES + TIMES // 2 + 5,
    "BR_INST_RETIRED.COND": 2 * TIMES,
    "BR_INST_RETIRED.COND_TAKEN": TIMES // 2 + TIMES - 1,
    "BR_INST_RETIRED.COND_NTAKEN": TIMES // 2 + 1,
    f"{FP}512B_PACKED_DOUBLE": 3 * TIMES,
    f"{FP}512B_PACKED_SINGLE": TIMES,
    f"{FP}256B_PACKED_SINGLE": TIMES,
    f"{FP}128B_PACKED_DOUBLE": TIMES,
    f"{FP}SCALAR_DOUBLE": TIMES,
    f"{FP}8_FLOPS": 4 * TIMES,
    f"{FP}4_FLOPS": 0,
    f"{FP}VECTOR": 6 * TIMES,
}
"""vfmadd231pd counts twice; the branch behind the test is taken for even numbers."""


def counts(events: list[str], directory: Path) -> dict[str, int]:
    """The counts of the program on Ice Lake."""
    found = pfmon.run([str(assemble(directory, PROGRAM))], events=events, machine="icelake", unlimited=True)
    return {count.name: count.value for count in found.counts}


def test_instructions_of_avx512_and_directions(tmp_path: Path) -> None:
    assert counts([*EXPECTED], tmp_path) == EXPECTED


def test_mispredictions_are_those_of_both_directions(tmp_path: Path) -> None:
    taken, not_taken, both = (f"BR_MISP_RETIRED.{one}" for one in ("COND_TAKEN", "COND_NTAKEN", "COND"))
    found = counts([taken, not_taken, both], tmp_path)
    assert found[taken] + found[not_taken] == found[both] > 0


def test_slots_are_five_in_a_cycle(tmp_path: Path) -> None:
    found = counts(["TOPDOWN.SLOTS", "CPU_CLK_UNHALTED.THREAD"], tmp_path)
    assert found["TOPDOWN.SLOTS"] == 5 * found["CPU_CLK_UNHALTED.THREAD"] > 0
