// A system image that prints a line by simulator calls (31) and ends with status 3 (66), with PAL's entry point in GR4. It
// needs no privileged instruction.
//
//     ia64-linux-gnu-as -o greeting.o greeting.S
//     ia64-linux-gnu-ld -static -nostdlib -z max-page-size=4096 -Ttext 0x100000 -o greeting greeting.o

	.text
	.explicit
	.global _start
	.type _start, @function
	.proc _start
_start:
	{ .mlx
	alloc r3 = ar.pfs, 0, 3, 0, 0
	movl r5 = text ;;
	}
	{ .mmi
	adds r4 = 0, r34
	adds r15 = 31, r0
	nop.i 0 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	br.sptk.many put ;;
	}
	.endp _start
	.global put
	.type put, @function
	.proc put
put:
	{ .mmi
	ld1 r32 = [r5], 1 ;;
	cmp.eq p6, p7 = r0, r32
	nop.i 0 ;;
	}
	{ .bbb
(p6)	br.cond.spnt.few end
	nop.b 0
	nop.b 0 ;;
	}
	{ .mib
	break.m 0x80001
	nop.i 0
	br.sptk.few put ;;
	}
	.endp put
	.global end
	.type end, @function
	.proc end
end:
	{ .mii
	adds r15 = 66, r0
	adds r32 = 3, r0
	nop.i 0 ;;
	}
	{ .mii
	break.m 0x80001
	nop.i 0
	nop.i 0 ;;
	}
	.endp end

	.section .rodata
text:	stringz "hello\n"
