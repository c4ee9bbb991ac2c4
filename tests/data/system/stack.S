// The register stack under interrupts: recursion that spills and fills, while a timer interrupts it and its handler covers the
// frame, uses registers of its own and returns by rfi. Volume 2, 6.5 to 6.8, 5.8; volume 3, cover, rfi.
#include "system.h"

	br.cond.sptk.many first
	;;
	.align 32
sum:						// of 3 n + 1 for n to 0 (in0, but 1 for 0), with six locals that have to stay
	alloc r34 = ar.pfs, 1, 8, 1, 0
	mov r33 = b0
	cmp.eq p6, p7 = 0, r32
	shladd r35 = r32, 1, r32
	;;
	adds r35 = 1, r35
	adds r36 = 1, r32
	adds r37 = 2, r32
	adds r38 = 3, r32
	adds r39 = 4, r32
	adds r40 = 5, r32
(p6)	mov r8 = 1
(p6)	br.cond.sptk.few 1f
	;;
	adds r41 = -1, r32
	;;
	br.call.sptk.many b0 = sum
	;;
	add r8 = r8, r35
	sub r36 = r36, r37			// -1
	sub r38 = r38, r40			// -2
	sub r39 = r39, r32			// 4
	;;
	add r36 = r36, r38
	;;
	add r36 = r36, r39			// 1
	;;
	adds r36 = -1, r36
	;;
	add r8 = r8, r36			// nothing, if all is well
	;;
1:	mov ar.pfs = r34
	mov b0 = r33
	;;
	br.ret.sptk.many b0
	;;

ticked:						// covers, uses twenty registers, goes back
	mov r20 = cr.ivr
	movl r21 = STATE + S_HOOK
	movl r22 = ticked
	mov r23 = ar.itc
	movl r24 = PERIOD_IN
	mov r25 = ar.pfs
	;;
	st8 [r21] = r22
	ld8 r24 = [r24]
	;;
	add r23 = r23, r24
	;;
	mov cr.itm = r23
	mov cr.eoi = r0
	;;
	srlz.d
	cover
	;;
	alloc r26 = ar.pfs, 0, 20, 0, 0
	;;
	mov r32 = -1
	mov r36 = -1
	mov r40 = -1
	mov r51 = -1
	;;
	alloc r26 = ar.pfs, 0, 0, 0, 0
	;;
	mov ar.pfs = r25
	RETRY

	.set PERIOD_IN, STATE + 0x90
	.macro RECURSION name, depth, rounds, period, rsc, psr
	CASE \name
	STORE PERIOD_IN, \period
	HOOK ticked
	SETCR tpr, 0
	SETCR itv, 0x45
	mov r9 = ar.itc
	movl r10 = \period
	mov r11 = \rsc
	mov r4 = 0
	mov r5 = \rounds
	;;
	mov ar.rsc = r11
	add r9 = r9, r10
	;;
	mov cr.itm = r9
	ENTER \psr
	alloc r2 = ar.pfs, 0, 8, 1, 0
	;;
.Lround_\name:
	mov r40 = \depth
	;;
	br.call.sptk.many b0 = sum
	;;
	add r4 = r4, r8
	adds r5 = -1, r5
	;;
	cmp.ne p6, p7 = 0, r5
	;;
(p6)	br.cond.sptk.few .Lround_\name
	;;
	mov r8 = r4
	mov r9 = cr.iva				// at level 0 here
	rsm psr.i
	;;
	AT \name
	END \name, R8
	mov ar.rsc = r0
	SETCR itv, 0x10000
	mov r9 = cr.ivr
	;;
	mov cr.eoi = r0
	;;
	.endm
first:
	RECURSION quiet, 60, 20, 100000000000, 0, KPSR
//= quiet none r8=000000000001b1ac | volume 2, chapter 6: 20 times 1 + the sum of 3 n + 1 to 60
	RECURSION ticking, 60, 400, 1500, 0, KPSR | PSR_I
//= ticking 3000 r8=000000000021e170 | volume 2, 5.8, 6.7: 400 times
	RECURSION ticking_eager, 60, 400, 1501, 3, KPSR | PSR_I
//= ticking_eager 3000 r8=000000000021e170 | volume 2, 6.1: eager mode changes nothing
	RECURSION ticking_deep, 300, 60, 1777, 0, KPSR | PSR_I
//= ticking_deep 3000 r8=00000000007c48a4 | volume 2, 6.7: 60 times to 300
	FINISH
