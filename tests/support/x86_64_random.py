"""Random x86-64 programs that print the state in which they end: all registers, flags, memory."""

import random
import subprocess
from pathlib import Path

REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsi", "rdi", "rbp", *(f"r{number}" for number in range(8, 16)))
WORDS_32 = ("eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", *(f"r{number}d" for number in range(8, 16)))
CONDITIONS = ("o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g")
MEMORY_BYTES = 4096
FLAGS = 0xCD5
"""The flags that are printed: carry, parity, adjust, zero, sign, direction, overflow."""

PROLOGUE = """
    .bss
    .balign 64
buffer: .skip {bytes}
end_state: .skip 4096
passes: .skip 8
    .text
    .globl _start
_start:
    lea buffer(%rip), %r13
    push %rsp
"""
EPILOGUE = """
    mov %rax, end_state(%rip)
    lea end_state(%rip), %rax
    {stores}
    {vectors}
    pushf
    pop %rcx
    and ${flags}, %rcx
    mov %rcx, 120(%rax)
    mov $1, %eax
    mov $1, %edi
    lea buffer(%rip), %rsi
    mov ${all}, %edx
    syscall
    mov $60, %eax
    xor %edi, %edi
    syscall
function:
    adc $3, %rax
    ret
popping:
    lea 1(%rcx), %rcx
    ret $16
"""


class Writer:
    """Writes one program; ``changing``: it writes over its code. r13 is the address of the buffer."""

    def __init__(self, seed: int, avx512: bool = False, changing: bool = False) -> None:
        self._random = random.Random(seed)
        self._changing = changing
        self._labels = 0
        self._avx512 = avx512

    def _register(self) -> str:
        return self._random.choice([name for name in REGISTERS if name != "r13"])

    def _word(self) -> str:
        return self._random.choice([name for name in WORDS_32 if name != "r13d"])

    def _place(self) -> str:
        """An operand in the buffer."""
        offset = self._random.randrange(0, MEMORY_BYTES // 2, 8)
        return self._random.choice([f"{offset}(%r13)", f"buffer+{offset}(%rip)", f"{offset % 128}(%r13)"])

    def arithmetic(self) -> str:
        operation = self._random.choice(["add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test", "mov"])
        shape = self._random.randrange(5)
        if shape == 0:
            return f"{operation}q ${self._random.randrange(-99, 99)}, {self._place()}"
        if shape == 1:
            return f"{operation} %{self._register()}, {self._place()}"
        if shape == 2 and operation != "test":
            return f"{operation} {self._place()}, %{self._register()}"
        if shape == 3:
            return f"{operation} %{self._word()}, %{self._word()}"
        return f"{operation} %{self._register()}, %{self._register()}"

    def unary(self) -> str:
        operation = self._random.choice(
            ["inc", "dec", "not", "neg", "bswap", "rol $3,", "shl $1,", "sar $5,", "bt $7,"]
        )
        return f"{operation} %{self._register()}"

    def stack(self) -> str:
        one, other = self._register(), self._register()
        return self._random.choice(
            [
                f"push %{one}; pop %{other}",
                f"pushq {self._place()}; popq {self._place()}",
                "pushq $5; addq $1, (%rsp); popq 8(%r13)",
                "push %rdx; pushq $9; popq (%rsp); pop %rdx",
                f"mov %{one}, -64(%rsp); mov -64(%rsp), %{other}",
                "pushf; popf",
                f"push %rbp; mov %rsp, %rbp; lea -32(%rsp), %rsp; mov %{one}, -8(%rbp); leave",
            ]
        )

    def call(self) -> str:
        one = self._random.choice([name for name in REGISTERS if name not in ("r13", "rax", "rcx")])
        return self._random.choice(
            [
                "call function",
                f"lea function(%rip), %{one}; call *%{one}",
                "lea function(%rip), %rdx; mov %rdx, 512(%r13); call *512(%r13)",
                "lea function(%rip), %rdx; push %rdx; call *(%rsp); pop %rdx",
                "push %rdx; push %rdx; call popping",
            ]
        )

    def select(self) -> str:
        condition = self._random.choice(CONDITIONS)
        return self._random.choice(
            [
                f"cmov{condition} %{self._register()}, %{self._register()}",
                f"set{condition} {self._place()}",
                f"lea (%{self._register()},%{self._register()},4), %{self._register()}",
                f"movzbl {self._place()}, %{self._word()}",
                f"movsxd {self._place()}, %{self._register()}",
                f"imul %{self._register()}, %{self._register()}; cmp %rax, %rdx",
                f"lock xadd %{self._register()}, {self._place()}",
                f"xchg %{self._register()}, {self._place()}",
            ]
        )

    def vector(self) -> str:
        a, b, c = (self._random.randrange(16) for _ in range(3))
        return self._random.choice(
            [
                f"movdqu {self._place()}, %xmm{a}",
                f"movdqu %xmm{a}, {self._place()}",
                f"paddq %xmm{a}, %xmm{b}",
                f"pxor %xmm{a}, %xmm{b}",
                f"movq %{self._register()}, %xmm{a}",
                f"movq %xmm{a}, %{self._register()}",
                f"pmovmskb %xmm{a}, %{self._word()}",
                f"vpaddd %xmm{a}, %xmm{b}, %xmm{c}",
                f"vpxor {self._place()}, %ymm{a}, %ymm{b}",
                f"andn %{self._register()}, %{self._register()}, %{self._register()}",
                f"shlx %{self._register()}, {self._place()}, %{self._register()}",
                f"rorx $5, %{self._register()}, %{self._register()}",
            ]
        )

    def _wide_place(self) -> str:
        """An operand of up to 64 bytes in the buffer, by displacements that EVEX compresses, and by others."""
        offset = self._random.choice([64, 32, 16, 8, 4, 1]) * self._random.randrange(0, 16)
        index = self._random.choice(["rbx", "r8", "r10", "r11", "r15"])
        return self._random.choice(
            [
                f"{offset}(%r13)",
                f"{offset}+1024(%r13)",
                f"buffer+{offset}(%rip)",
                f"{offset}(%r13,%{index},8)",
                f"-{offset}(%r13,%{index},8)",
            ]
        )

    def evex(self) -> str:
        """An instruction of AVX-512; rbx, r8, r10, r11 and r15 may be indices, so that they are set before it."""
        size = self._random.choice("xyz")
        a, b, c = (f"%{size}mm{self._random.randrange(32)}" for _ in range(3))
        k, other = (f"%k{self._random.randrange(1, 8)}" for _ in range(2))
        merge = f"{{{k}}}"
        zero = merge + self._random.choice(["", "{z}"])
        place, word, wide = self._wide_place(), self._word(), self._register()
        code = self._random.choice(
            [
                f"vmovdqu{self._random.choice(['8', '16', '32', '64'])} {place}, {a}{zero}",
                f"vmovdqu{self._random.choice(['8', '16', '32', '64'])} {a}, {place}{merge}",
                f"vmovup{self._random.choice('sd')} {place}, {a}",
                f"vmovup{self._random.choice('sd')} {a}, {place}",
                f"vpadd{self._random.choice('bwdq')} {place}, {a}, {b}{zero}",
                f"vpsub{self._random.choice('bwdq')} {a}, {b}, {c}{zero}",
                f"vpternlogq $0x96, {place}, {a}, {b}{zero}",
                f"vpxord {place}{{1to{ {'x': 4, 'y': 8, 'z': 16}[size] }}}, {a}, {b}{zero}",
                f"vpmullq {place}{{1to{ {'x': 2, 'y': 4, 'z': 8}[size] }}}, {a}, {b}{zero}",
                f"vpmovzxbw {place}, %zmm{self._random.randrange(32)}{zero}",
                f"vpmovsxbq {place}, %zmm{self._random.randrange(32)}{zero}",
                f"vpmovqb {a}, {place}{merge}",
                f"vpmovusdw {a}, {place}{merge}",
                f"vpsllw {place}, {a}, {b}{zero}",
                f"vinserti32x4 $1, {place}, %zmm{self._random.randrange(32)}, %zmm{self._random.randrange(32)}{zero}",
                f"vextracti64x4 $1, %zmm{self._random.randrange(32)}, {place}{merge}",
                f"vbroadcasti32x8 {place}, %zmm{self._random.randrange(32)}{zero}",
                f"vbroadcastf64x2 {place}, %zmm{self._random.randrange(32)}{zero}",
                f"vpcompressd {a}, {place}{merge}",
                f"vpexpandq {place}, {a}{zero}",
                f"vmovss {place}, %xmm{self._random.randrange(32)}{zero}",
                f"vaddsd {place}, %xmm{self._random.randrange(32)}, %xmm{self._random.randrange(32)}{zero}",
                f"vpinsrw $3, {place}, %xmm{self._random.randrange(32)}, %xmm{self._random.randrange(32)}",
                f"vpbroadcastq %{wide}, {a}{zero}",
                f"vpbroadcastd %{word}, {a}{zero}",
                f"vcvtusi2sd %{wide}, %xmm{self._random.randrange(32)}, %xmm{self._random.randrange(32)}",
                f"vpermt2d {a}, {b}, {c}{zero}",
                f"vpermi2w {place}, {b}, {c}{zero}",
                f"vpconflictd {place}, {a}{zero}",
                f"vplzcntq {a}, {b}{zero}",
                f"vpcmpud $1, {place}, {a}, {k}",
                f"vpcmpeqb {place}, {a}, {k}",
                f"vptestmq {a}, {b}, {k}",
                f"vpmovm2b {k}, {a}",
                f"vpmovw2m {a}, {k}",
                f"kmovq %{wide}, {k}",
                f"kmovq {k}, %{wide}",
                f"kmovw {place}, {k}",
                f"kmovd {k}, {place}",
                f"kandnq {k}, {other}, {k}",
                f"kshiftlq $5, {k}, {other}",
                f"kunpckwd {k}, {other}, {k}",
                f"kortestd {k}, {other}; setc 24(%r13)",
                f"kxnorw {k}, {k}, {k}; vpmovzxbd 512(%r13), %zmm30; vpgatherdd 16(%r13,%zmm30,4), %zmm3{merge}",
                f"kxnorw {k}, {k}, {k}; vpmovzxbq 256(%r13), %zmm17; vscatterqpd %zmm9, 64(%r13,%zmm17,8){merge}",
            ]
        )
        names = [name for name in ("rbx", "r8", "r10", "r11", "r15") if f",%{name},8" in code]
        return "; ".join([*(f"mov ${self._random.randrange(128, 192)}, %{name}" for name in names), code])

    def divide(self) -> str:
        """An unsigned division that does not overflow."""
        start = f"mov %{self._register()}, %rcx; or $1, %rcx"
        return self._random.choice([f"{start}; xor %edx, %edx; div %rcx", f"{start}; xor %edx, %edx; div %ecx"])

    def string(self) -> str:
        count = self._random.randrange(0, 40)
        operation = self._random.choice(
            ["rep movsb", "rep movsq", "rep stosl", "repne scasb", "repe cmpsb", "movsl", "stosb"]
        )
        start = "lea 1024(%r13), %rsi; lea 2048(%r13), %rdi"
        return f"{start}; mov ${count}, %ecx; {self._random.choice(['cld', 'std'])}; {operation}; cld"

    def branch(self) -> str:
        """A forward branch over an instruction, of any kind."""
        self._labels += 1
        label, skipped = f"1{self._labels:05}", self.arithmetic()
        condition = self._random.choice(CONDITIONS)
        return self._random.choice(
            [
                f"j{condition} {label}f; {skipped}; {label}:",
                f"jmp {label}f; {skipped}; {label}:",
                f"mov ${self._random.randrange(2)}, %ecx; jrcxz {label}f; {skipped}; {label}:",
                f"mov ${self._random.randrange(1, 4)}, %ecx; {label}: addq %rcx, 8(%r13); loop {label}b",
                f"lea {label}f(%rip), %rdi; jmp *%rdi; {skipped}; {label}:",
            ]
        )

    def change(self) -> str:
        """A store to the immediate operand of an instruction that follows: mov of 32 bits, whose opcode is one byte."""
        self._labels += 1
        label, value = f"1{self._labels:05}", self._random.getrandbits(31)
        word = self._random.choice(["eax", "ecx", "edx", "ebx", "esi", "edi", "ebp"])
        between = self._random.choice(["nop", self.unary(), self.select(), f"jmp {label}f"])
        return f"movl ${value}, {label}f+1(%rip); {between}; {label}: mov $5, %{word}"

    def program(self, length: int, passes: int = 1) -> str:
        """The assembly of a program of about that many instructions, which a loop executes so many times."""
        makers = [self.arithmetic] * 6 + [self.unary, self.stack, self.call, self.select, self.select, self.vector]
        makers += [self.vector, self.string, self.branch, self.branch, self.branch]
        if self._avx512:
            makers += [self.evex] * 12
        makers += [self.change] * 3 if self._changing else []
        makers += [self.divide] if passes > 1 else []
        lines = [f"mov ${self._random.getrandbits(63)}, %{name}" for name in REGISTERS if name != "r13"]
        lines += [f"mov %{name}, {64 * number}(%r13)" for number, name in enumerate(REGISTERS) if name != "r13"]
        body = [self._random.choice(makers)() for _ in range(length)]
        if passes > 1:
            body = [f"movq ${passes}, passes(%rip)", "again:", *body, "decq passes(%rip)", "jnz again"]
        lines += body
        stores = "\n".join(f"mov %{name}, {8 * number}(%rax)" for number, name in enumerate(REGISTERS) if number)
        vectors = "\n".join(f"movdqu %xmm{number}, {128 + 16 * number}(%rax)" for number in range(16))
        if self._avx512:
            vectors = "\n".join(f"vmovdqu64 %zmm{number}, {128 + 64 * number}(%rax)" for number in range(32))
            vectors += "".join(f"\nkmovq %k{number}, {2176 + 8 * number}(%rax)" for number in range(8))
        end = EPILOGUE.format(stores=stores, vectors=vectors, flags=FLAGS, all=MEMORY_BYTES + 4096)
        return PROLOGUE.format(bytes=MEMORY_BYTES) + "\n".join(lines).replace("; ", "\n") + "\n" + end


def random_program(
    seed: int,
    length: int,
    directory: Path,
    *options: str,
    avx512: bool = False,
    changing: bool = False,
    passes: int = 1,
) -> Path:
    """Assemble and link a random program, with instructions of AVX-512 or without; ``options``: of the compiler;
    ``changing``: code and data are in the same pages, and it writes over its code; ``passes``: of a loop over all."""
    source, made = directory / f"random{seed}.s", directory / f"random{seed}"
    source.write_text(Writer(seed, avx512, changing).program(length, passes))
    writable = ["-Wl,-N", "-Wl,--no-warn-rwx-segments"] if changing else []
    command = ["cc", "-nostdlib", "-static", *writable, *options, "-o", made, source]
    subprocess.run(command, check=True)
    return made
