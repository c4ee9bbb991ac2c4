// Code at all privilege levels, monitored under each setting of PSR.up, PSR.pp and DCR.pp: levels change by break, rfi, epc,
// br.ret, timer and overflow interrupts; PSR.up and pp by sum, rum, ssm and rsm. Of each setting it prints PMD4 to PMD7, 16
// bits each, and of the interrupts a sum of their places (IIP and ri; 32 bits), the timer's and the overflows (16 each). What
// these are is counted one instruction after the other (tests/support/plain_monitors.py); macros are those of tests/data/system/. It is assembled by
//	python tests/support/system_images.py --folder tests/data/engine privileges
#include "../system/system.h"
#define TIMER	0x45
#define VECTOR	0x50
#define COUNTS	(STATE + 0x400)			/* ticks, overflows, places of all interrupts */
#define OI	(1 << 5)
#define PM	(1 << 6)
#define RETIRED(plm)	(0x02000000 | 0x08 << 8 | (plm))
#define NOPS(plm)	(0x02000000 | 0x50 << 8 | (plm))

	.macro SETPM file, number, value
	mov r26 = \number
	movl r27 = \value
	;;
	mov \file[r26] = r27
	;;
	.endm
	.macro TIME				// the next tick; r26, r27
	movl r27 = tick
	;;
	ld8 r27 = [r27]
	mov r26 = ar.itc
	;;
	add r26 = r27, r26
	;;
	mov cr.itm = r26
	.endm
	.macro RELOAD				// the first monitor; r26, r27
	movl r27 = period
	mov r26 = 4
	;;
	ld8 r27 = [r27]
	;;
	sub r27 = r0, r27
	;;
	mov pmd[r26] = r27
	.endm
	.macro WORK
	{ .mii
	nop.m 0
	nop.i 0
	adds r5 = 1, r5 ;;
	}
	.endm
	.macro BREAK number
	{ .mii
	break.m \number
	nop.i 0
	nop.i 0 ;;
	}
	.endm
	.macro SETTING name, dcr, psr, first, second, third, fourth
	CASE \name
	HOOK again
	SETCR dcr, \dcr
	SETPM pmc, 0, 1
	RELOAD
	SETPM pmd, 5, 0
	SETPM pmd, 6, 0
	SETPM pmd, 7, 0
	SETPM pmc, 4, (\first) | OI
	SETPM pmc, 5, \second
	SETPM pmc, 6, \third
	SETPM pmc, 7, \fourth
	STORE COUNTS, 0
	STORE COUNTS + 8, 0
	STORE COUNTS + 16, 0
	movl r4 = gate + IN(1, 0)
	movl r6 = \psr				// p10: PSR.pp, p12: not PSR.up
	;;
	tbit.nz p10, p11 = r6, 21
	tbit.z p12, p13 = r6, 2
	mov b1 = r4
	SETCR itv, TIMER
	SETPM pmc, 0, 0
	rsm psr.ic | psr.i
	srlz.i
	;;
	TIME
	;;
	movl r26 = KPSR | PSR_I | PSR_CPL(3) | (\psr)
	movl r27 = code
	;;
	mov cr.ipsr = r26
	mov cr.iip = r27
	mov cr.ifs = r0
	srlz.i
	;;
	rfi
	;;
	ATX \name, code
	END \name
	mov r8 = 0
	mov r9 = 7
	CASE \name\()_pmds
1:	mov r10 = pmd[r9]
	cmp.ne p6, p7 = 4, r9
	shl r8 = r8, 16
	;;
	extr.u r10 = r10, 0, 16
	adds r9 = -1, r9
	;;
	or r8 = r8, r10
(p6)	br.cond.sptk.few 1b
	;;
	AT \name\()_pmds
	END \name\()_pmds, R8
	CASE \name\()_taken
	movl r9 = COUNTS
	;;
	ld8 r8 = [r9], 8
	;;
	ld8 r10 = [r9], 8
	shl r8 = r8, 16
	;;
	ld8 r9 = [r9]
	or r8 = r8, r10
	;;
	or r8 = r8, r9
	AT \name\()_taken
	END \name\()_taken, R8
	SETPM pmc, 0, 1
	SETCR itv, 0x10000
	SETCR dcr, 0
	mov r9 = cr.ivr
	;;
	mov cr.eoi = r0
	;;
	mov r9 = cr.ivr
	;;
	mov cr.eoi = r0
	;;
	srlz.d
	;;
	.endm

	SETCR pmv, VECTOR
	SETCR tpr, 0
	MAP i, IN(1, 0x100000), P | A | AR(7) | PL(0) | 0x100000, 18
	br.cond.sptk.many settings
	;;
	.explicit
	.align 16
code:						// begins at level 3
	WORK
	BREAK 5
	WORK
	{ .mmi
	sum PSR_UP ;;
	nop.m 0
	nop.i 0 ;;
	}
	WORK
	{ .mib
	nop.m 0
	nop.i 0
	br.call.sptk.many b2 = b1 ;;
	}
	WORK
	{ .mmi
(p12)	rum PSR_UP ;;
	nop.m 0
	mov r7 = 400 ;;
	}
	WORK
	BREAK 6					// level 1
	{ .mii
	nop.m 0
	nop.i 0
	mov.i ar.lc = r7 ;;
	}
1:	{ .mib
	adds r5 = 1, r5
	nop.i 0
	br.cloop.sptk.few 1b ;;
	}
	BREAK 7					// level 2
	WORK
	{ .mmi
	sum PSR_UP ;;
	nop.m 0
	mov.i ar.lc = r7 ;;
	}
1:	{ .mfb
	nop.m 0
	fma.d f40 = f1, f1, f0
	br.cloop.sptk.few 1b ;;
	}
	BREAK 5
	BREAK 8					// level 3
	{ .mii
	nop.m 0
	nop.i 0
	mov.i ar.lc = r7 ;;
	}
1:	{ .mlx
	nop.m 0
	movl r5 = 0x123456789 ;;
	}
	{ .mib
	nop.m 0
	adds r5 = 1, r5
	br.cloop.sptk.few 1b ;;
	}
	{ .mii
	break.m 0x777
	nop.i 0
	nop.i 0 ;;
	}
	.align 16
gate:						// in region 1: level 3 becomes 0
	{ .mib
	nop.m 0
	nop.i 0
	epc ;;
	}
	WORK
	{ .mmi
	ssm PSR_PP ;;
	nop.m 0
	nop.i 0 ;;
	}
	WORK
	{ .mmi
	rsm PSR_UP ;;
	adds r5 = 1, r5
	nop.i 0 ;;
	}
	{ .mmi
	rsm PSR_PP ;;
	nop.m 0
	nop.i 0 ;;
	}
	{ .mmi
	ssm PSR_UP ;;
	nop.m 0
	nop.i 0 ;;
	}
	{ .mib
(p10)	ssm PSR_PP
	nop.i 0
	br.ret.sptk.many b2 ;;
	}
	.default
again:						// breaks are gone by, and may change the level; interrupts are counted
	HOOK again
	movl r16 = STATE
	movl r17 = COUNTS
	mov r19 = 0x3000
	;;
	ld8 r18 = [r16]
	mov r20 = cr.ipsr
	mov r21 = cr.iip
	;;
	cmp.eq p6, p7 = r18, r19
	;;
(p6)	br.cond.sptk.few 2f
	;;
	mov r22 = cr.iim
	adds r21 = 16, r21
	;;
	mov cr.iip = r21
	adds r22 = -5, r22
	;;
	cmp.lt p8, p9 = 0, r22
	;;
(p8)	dep r20 = r22, r20, 32, 2
	;;
	mov cr.ipsr = r20
	br.cond.sptk.few 4f
	;;
2:	movl r24 = COUNTS + 16			// shifted and added: IIP and ri
	extr.u r23 = r20, 41, 2
	;;
	ld8 r25 = [r24]
	add r23 = r23, r21
	mov r22 = cr.ivr
	;;
	shl r23 = r23, 32
	shladd r25 = r25, 2, r25
	;;
	add r25 = r23, r25
	mov r23 = TIMER
	;;
	st8 [r24] = r25
	cmp.eq p8, p9 = r22, r23
	;;
(p9)	adds r17 = 8, r17
	;;
	ld8 r18 = [r17]
	;;
	adds r18 = 1, r18
	;;
	st8 [r17] = r18
(p9)	br.cond.sptk.few 3f
	;;
	TIME
	;;
	mov cr.eoi = r0
	;;
	srlz.d
	br.cond.sptk.few 4f
	;;
3:	mov cr.eoi = r0
	RELOAD
	mov r18 = 0
	;;
	mov pmc[r18] = r0
	;;
	srlz.i
	;;
4:	RETRY
settings:
#define SOME(dcr, psr)	dcr, psr, RETIRED(15), RETIRED(1) | PM, NOPS(8), NOPS(15) | PM
#define EACH(dcr, psr)	dcr, psr, RETIRED(9) | PM, RETIRED(6), RETIRED(4) | PM, NOPS(1)
	SETTING none_0, SOME(0, 0)
	SETTING up_0, SOME(0, PSR_UP)
	SETTING pp_0, SOME(0, PSR_PP)
	SETTING both_0, SOME(0, PSR_UP | PSR_PP)
	SETTING none_1, SOME(1, 0)
	SETTING up_1, SOME(1, PSR_UP)
	SETTING pp_1, SOME(1, PSR_PP)
	SETTING both_1, SOME(1, PSR_UP | PSR_PP)
	SETTING each_up_0, EACH(0, PSR_UP)
	SETTING each_pp_0, EACH(0, PSR_PP)
	SETTING each_pp_1, EACH(1, PSR_PP)
	SETTING each_none_1, EACH(1, 0)
	FINISH
	.section .rodata, "a"
	.align 8
	stringz "periods"			// a test writes others behind it
period:	data8 701
tick:	data8 900
