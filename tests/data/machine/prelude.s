# What a row's program may use: zeroed memory at `data`, and chains of pointers in it. rsi holds the address of `data`.
.intel_syntax noprefix
.bss
.balign 1 << 21
data: .skip 160 << 20
.text

# Each of `lines` places (a power of two), `stride` bytes apart, points to another one: one cycle through all of them,
# in the order of a linear congruential generator (1664525 x + 1013904223, Numerical Recipes, modulo `lines`).
.macro chain lines, stride
    xor eax, eax
    mov ecx, \lines
701:
    imul rdx, rax, 1664525
    add rdx, 1013904223
    and rdx, \lines - 1
    imul rbx, rax, \stride
    imul rdi, rdx, \stride
    add rdi, rsi
    mov [rsi + rbx], rdi
    mov rax, rdx
    dec ecx
    jnz 701b
    mov rax, rsi
.endm

# A register at the place `part` / `parts` of the cycle (parts: a power of two).
.macro start register, lines, stride, part, parts
    lea \register, [rsi + \lines / \parts * \part * \stride]
.endm

# A 64-bit pattern in an xmm register.
.macro bits register, value
    movabs rax, \value
    movq \register, rax
.endm
