// The interval timer as the clock of the machine's cycles: ITC passes as CPU_CYCLES does, and the timer interrupts when
// ITC has reached ITM. Volume 2, 3.3.4.2; volume 1, 3.1.8.10: ITC counts at a fixed relation to the processor's clock.
// CPU_CYCLES is 0x12 on Itanium 2.
//with --guest-pmu --itc=cycles
//ski *: it has no performance monitors
#include "system.h"
#define CYCLES	(0x02000000 | 0x12 << 8 | 1 << 6 | 1)	/* privileged, level 0 */
#define NEAR	64

	.macro BOTH itc, pmd			// the clock and the counter, at the same distance each time
	GO both, b7
	mov \itc = r20
	mov \pmd = r21
	;;
	.endm
	.macro WORK turns			// with misses of the caches, and dependent instructions
	mov r26 = \turns
	movl r27 = PAGE
	mov r28 = 0
	;;
.Lwork\@:
	ld8 r29 = [r27]
	adds r26 = -1, r26
	adds r27 = 40, r27
	;;
	add r28 = r28, r29
	cmp.ne p6, p7 = 0, r26
	;;
(p6)	br.cond.sptk.few .Lwork\@
	;;
	.endm

main:
	mov r26 = 4
	movl r27 = CYCLES
	;;
	mov pmd[r26] = r0
	mov pmc[r26] = r27
	;;
	mov pmc[r0] = r0
	rsm psr.ic
	;;
	ssm psr.pp
	;;
	ssm psr.ic
	;;
	srlz.i
	;;
	BOTH r4, r5				// its code is in the caches
	CASE passes
	BOTH r4, r5
	WORK 3000
	BOTH r6, r7
	sub r4 = r6, r4
	sub r5 = r7, r5
	;;
	sub r8 = r4, r5
	;;
	adds r8 = NEAR / 2, r8
	mov r9 = NEAR
	movl r6 = 3000				// a load, a test and a branch at least
	;;
	cmp.ltu p6, p7 = r8, r9
	cmp.ltu p8, p9 = r4, r6
	;;
(p6)	mov r8 = 0
(p8)	mov r8 = 99
	AT passes
	END passes, R8
//= passes none r8=0000000000000000 | volume 1, 3.1.8.10
	CASE set
	movl r4 = 1 << 50
	;;
	mov ar.itc = r4
	;;
	srlz.d
	;;
	WORK 100
	mov r5 = ar.itc
	;;
	sub r8 = r5, r4
	movl r6 = 100
	movl r7 = 100000
	;;
	cmp.ltu p6, p7 = r6, r8			// goes on from the value
	;;
(p6)	cmp.ltu p6, p7 = r8, r7
	;;
(p6)	mov r8 = 0
	AT set
	END set, R8
//= set none r8=0000000000000000 | volume 2, 3.3.4.2: an ITC that is written goes on from there

	.macro TIMED name, turns, ahead
	CASE \name
	HOOK ticked
	SETCR itv, 0x45
	mov r8 = 0
	mov r4 = ar.itc
	movl r5 = \ahead
	;;
	add r4 = r4, r5
	;;
	mov cr.itm = r4
	;;
	srlz.d
	ssm psr.i
	;;
	AT \name
	WORK \turns
	END \name, R8
	.endm
	TIMED soon, 400, 100
//= soon 3000 r8=0000000000000000 | volume 2, 5.8: the first boundary of instructions at which ITC has reached ITM
	TIMED later, 4000, 5000
//= later 3000 r8=0000000000000000 | volume 2, 5.8
	TIMED much_later, 60000, 70000
//= much_later 3000 r8=0000000000000000 | volume 2, 5.8
	FINISH

both:
	mov r22 = 4
	;;
	srlz.d
	;;
	mov r20 = ar.itc
	;;
	srlz.d
	;;
	mov r21 = pmd[r22]
	;;
	srlz.d
	br.cond.sptk.many b7
	;;
ticked:						// r8: 0 if ITC is just behind ITM
	mov r16 = ar.itc
	mov r17 = cr.itm
	mov r18 = cr.ivr
	movl r19 = 400				// cycles: a miss, the interruption and its recording in memory
	;;
	sub r8 = r16, r17
	mov cr.eoi = r0
	;;
	cmp.ltu p6, p7 = r8, r19
	;;
(p6)	adds r8 = -0x45, r18
	br.cond.sptk.many to_resume
	;;
