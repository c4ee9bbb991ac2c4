// A program interpreter (dynamic linker) that prints its name and goes to the program's own entry, AT_ENTRY:
//   ia64-linux-gnu-as -o i.o interpreter.S && ia64-linux-gnu-ld -s -shared -e _start -o interpreter i.o
// It exits with status 3 if AT_BASE is not where it was loaded, with 4 if the program headers are not at AT_PHDR.
	.text
	.explicit
	.global _start
	.proc _start
_start:
here:
	alloc r2 = ar.pfs, 0, 0, 6, 0
	mov r20 = ip ;;
	adds r14 = 16, r12 ;;
	ld8 r15 = [r14], 16 ;;			// argc; skip argv[0]
	shladd r14 = r15, 3, r14 ;;		// over the arguments and their null pointer
0:	ld8 r16 = [r14], 8 ;;			// over the environment
	cmp.ne p6, p0 = r0, r16 ;;
(p6)	br.cond.sptk 0b ;;
1:	ld8 r16 = [r14], 8 ;;
	ld8 r17 = [r14], 8 ;;
	cmp.eq p6, p0 = 9, r16			// AT_ENTRY
	cmp.eq p7, p0 = 7, r16			// AT_BASE
	cmp.eq p8, p0 = 3, r16			// AT_PHDR
	cmp.ne p9, p0 = r0, r16 ;;
(p6)	mov r18 = r17
(p7)	mov r19 = r17
(p8)	mov r21 = r17
(p9)	br.cond.sptk 1b ;;
	movl r22 = @gprel(here)		// gp is irrelevant: only differences count
	movl r23 = @gprel(name) ;;
	sub r23 = r23, r22 ;;
	add r33 = r20, r23 ;;			// out1
	mov r32 = 1
	mov r34 = 12
	mov r15 = 1027 ;;
	break.m 0x100000 ;;
	movl r24 = ~0xffff ;;
	and r20 = r20, r24			// the text lies in the first 64 KB
	mov r32 = 3 ;;
	cmp.ne p6, p0 = r19, r20 ;;
(p6)	br.cond.spnt bad
	ld4 r16 = [r21]
	mov r32 = 4 ;;
	cmp.ne p6, p0 = 6, r16 ;;		// the first program header is PT_PHDR
(p6)	br.cond.spnt bad
	mov b6 = r18 ;;
	br.cond.sptk b6 ;;
bad:
	mov r15 = 1025 ;;
	break.m 0x100000 ;;
	.endp _start
	.align 16
name:	stringz "interpreter\n"
