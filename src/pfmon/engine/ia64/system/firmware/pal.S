// The entry point of all PAL procedures (volume 2, 11.10): position independent, since callers map it where they like.
//
// The first break has pfmon answer the procedure that GR28 names: results in GR8 to GR11, in GR14 the number of words
// that go to the caller's buffer, in GR3 their address. Each word comes by the second break, in GR2, and is stored by
// the caller's own translations. The other registers stay; these are scratch (table 11-59), and so are p6 to p9.
// Procedures with bit 8 in their index have stacked registers and are called by br.call, the others are branched to
// (11.10.2.1).
//
// Built by tests/support/pal_stubs.py.

	.text
	.explicit
	.global pal_proc
	.align 16
pal_proc:
	{ .mii
	break.m 0x1f50a0
	tbit.nz p6, p7 = r28, 8
	nop.i 0 ;;
	}
	{ .mib
	cmp.eq p8, p9 = r0, r14
	nop.i 0
(p8)	br.cond.sptk.few 2f ;;
	}
1:
	{ .mii
	break.m 0x1f50a1
	adds r14 = -1, r14
	nop.i 0 ;;
	}
	{ .mib
	st8 [r3] = r2, 8
	nop.i 0
	nop.b 0 ;;
	}
	{ .mib
	cmp.ne p8, p9 = r0, r14
	nop.i 0
(p8)	br.cond.sptk.few 1b ;;
	}
2:
	{ .mbb
	nop.m 0
(p6)	br.ret.sptk.many b0
(p7)	br.cond.sptk.many b0 ;;
	}
