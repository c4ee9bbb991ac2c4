// The entry points of SAL and of EFI's runtime services, and where a kernel begins: position independent, since an
// operating system calls them at addresses of its own (SAL specification 3.2; UEFI specification 2.10, 8.4).
//
// Each entry point puts its number into GR2. The first break has pfmon begin the procedure, with the arguments in GR32
// to GR39 and results in GR8 to GR11. Before it ends it may want the caller's memory, which is accessed by the caller's
// own translations: GR14 says how, at the address in GR3: 1 stores a byte of GR2, 2 loads one to it, 3 stores eight
// bytes, 4 loads them; 0: the procedure has ended. The second break has it go on. These registers, and p6 to p10, are
// scratch (software conventions 3.1).
//
// Built by tests/support/firmware_code.py.

	.text
	.explicit
	.macro ENTRY number
	{ .mib
	adds r2 = \number, r0
	nop.i 0
	br.cond.sptk.few begin ;;
	}
	.endm

	.align 16
	ENTRY 0			// SAL_PROC
	ENTRY 1			// the runtime services, in the order of their table
	ENTRY 2
	ENTRY 3
	ENTRY 4
	ENTRY 5
	ENTRY 6
	ENTRY 7
	ENTRY 8
	ENTRY 9
	ENTRY 10
	ENTRY 11
	ENTRY 12
	ENTRY 13
	ENTRY 14

// A kernel begins: GR2 is the register stack's memory, GR3 the kernel's entry point, GR14 the address of input and
// output ports; GR12 and GR28 are set.
start:
	{ .mii
	alloc r8 = ar.pfs, 0, 0, 0, 0
	mov b7 = r3
	nop.i 0 ;;
	}
	{ .mii
	mov ar.rsc = 0
	nop.i 0
	nop.i 0 ;;
	}
	{ .mmi
	mov ar.bspstore = r2
	mov ar.k0 = r14
	nop.i 0 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b7 ;;
	}

begin:
	{ .mii
	break.m 0x1f50a2
	nop.i 0
	nop.i 0 ;;
	}
1:
	{ .mii
	cmp.eq p6, p0 = r0, r14
	cmp.eq p7, p0 = 1, r14
	cmp.eq p8, p0 = 2, r14
	}
	{ .mib
	cmp.eq p9, p0 = 3, r14
	cmp.eq p10, p0 = 4, r14
	nop.b 0 ;;
	}
	{ .mmb
(p7)	st1 [r3] = r2
(p8)	ld1 r2 = [r3]
(p6)	br.ret.sptk.many b0 ;;
	}
	{ .mmi
(p9)	st8 [r3] = r2
(p10)	ld8 r2 = [r3]
	nop.i 0 ;;
	}
	{ .mib
	break.m 0x1f50a3
	nop.i 0
	br.cond.sptk.few 1b ;;
	}
