# Runs copies of a block of instructions (measured_blocks.py): the macro `block`, COPIES of them, PASSES times. BHive's initial
# value of registers and memory is 0x2324000, and rsp and rbp point to the middle of a page.
.intel_syntax noprefix
.set VALUE, 0x2324000
.set PAGE, 4096
.set MIDDLE, VALUE + PAGE / 2
.set MXCSR, 0x9FC0              # all exceptions masked, numbers close to 0 are 0

.bss
.balign 16
handler_stack: .skip 16384
passes: .skip 8
behind: .skip 8
page_file: .skip 8

.data
name: .asciz "page"
control: .long MXCSR
alternate: .quad handler_stack, 0, 16384
action: .quad handle, 0x4C000004, leave_handler, 0    # SA_SIGINFO, SA_RESTORER, SA_ONSTACK, SA_NODEFER

.text
.globl _start
_start:
    mov rbx, [rsp]                  # arguments, with the program's name
    mov eax, PASSES
    lea ecx, [eax + eax]
    dec ebx
    test ebx, 1
    cmovnz eax, ecx
    mov passes, rax
    lea rax, few_copies
    lea rcx, many_copies
    test ebx, 2
    cmovnz rax, rcx
    mov behind, rax
    mov eax, 319                    # memfd_create
    lea rdi, name
    xor esi, esi
    syscall
    mov page_file, rax
    mov rdi, rax
    mov eax, 77                     # ftruncate
    mov esi, PAGE
    syscall
    mov edi, VALUE
    call map_page
    mov eax, 131                    # sigaltstack
    lea rdi, alternate
    xor esi, esi
    syscall
    mov eax, 13                     # rt_sigaction of SIGSEGV
    mov edi, 11
    lea rsi, action
    xor edx, edx
    mov r10d, 8
    syscall
    mov eax, 158                    # arch_prctl, ARCH_SET_FS
    mov edi, 0x1002
    mov esi, VALUE
    syscall
    ldmxcsr control

next_pass:
    mov edi, VALUE
    mov eax, VALUE
    mov ecx, PAGE / 8
    cld
    rep stosq
    mov rsp, MIDDLE
    mov ebp, MIDDLE - 16
    .irp register, ecx, edx, ebx, esi, edi, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d
    mov \register, VALUE
    .endr
    mov eax, 0
    sahf
    mov eax, VALUE
    lfence
    jmp qword ptr [behind]
    .balign 64
few_copies:
    .rept COPIES
    block
    .endr
    jmp pass_done
    .balign 64
many_copies:
    .rept 2 * COPIES
    block
    .endr
    jmp pass_done
    .balign 64
pass_done:
    lfence                          # the next pass begins when this one has been executed
    dec qword ptr passes
    jnz next_pass
    xor edi, edi
finish:
    mov eax, 231                    # exit_group
    syscall

# Maps the page of an address (rdi) to the one page of memory, or ends the program.
map_page:
    and rdi, -PAGE
    mov eax, 9                      # mmap
    mov esi, PAGE
    mov edx, 3                      # readable and writable
    mov r10d, 0x11                  # MAP_SHARED, MAP_FIXED
    mov r8, page_file
    xor r9d, r9d
    syscall
    test rax, rax
    js give_up
    ret
give_up:
    mov edi, 1
    jmp finish

handle:
    mov rdi, [rsi + 16]             # siginfo: the address
    test rdi, -PAGE
    jz give_up
    lea rax, _start
    sub rax, rdi
    cmp rax, 1 << 20
    jl map_page_below
    jmp map_page
map_page_below:
    cmp rax, -(1 << 20)
    jg give_up                      # beside this program
    jmp map_page

leave_handler:
    mov eax, 15                     # rt_sigreturn
    syscall
