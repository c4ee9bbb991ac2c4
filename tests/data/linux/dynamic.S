// A position-independent program with an interpreter; prints its name and exits with status 5:
//   ia64-linux-gnu-as -o d.o dynamic.S && ia64-linux-gnu-ld -s -pie -dynamic-linker /lib/interpreter -o dynamic d.o
// and without one:
//   ia64-linux-gnu-ld -s -pie --no-dynamic-linker -o position_independent d.o
	.text
	.explicit
	.global _start
	.proc _start
_start:
here:
	alloc r2 = ar.pfs, 0, 0, 6, 0
	mov r20 = ip ;;
	movl r22 = @gprel(here)
	movl r23 = @gprel(name) ;;
	sub r23 = r23, r22 ;;
	add r33 = r20, r23
	mov r32 = 1
	mov r34 = 8
	mov r15 = 1027 ;;
	break.m 0x100000 ;;
	mov r32 = 5
	mov r15 = 1025 ;;
	break.m 0x100000 ;;
	.endp _start
	.align 16
name:	stringz "program\n"
