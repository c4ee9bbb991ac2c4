// External interrupts: IRR, IVR, EOI, TPR, priorities, ITV and ITM, and where they are taken. Volume 2, 5.8, 3.3.4.2.
// The interval timer is the source of all of them, with a vector of the case's choice.
#include "system.h"
	.macro PEND vector			// that vector in IRR
	mov r26 = \vector
	mov r28 = 0
	;;
	mov cr.itv = r26
	;;
	srlz.d
	mov r27 = ar.itc
	movl r26 = 2000
	;;
	add r27 = r27, r26
	movl r29 = 10000000
	;;
	mov cr.itm = r27
	;;
	srlz.d
	;;
.Lpend\@:
	.if (\vector) < 64
	mov r28 = cr.irr0
	.elseif (\vector) < 128
	mov r28 = cr.irr1
	.elseif (\vector) < 192
	mov r28 = cr.irr2
	.else
	mov r28 = cr.irr3
	.endif
	adds r29 = -1, r29
	;;
	shr.u r28 = r28, (\vector) & 63
	cmp.eq p8, p9 = 0, r29
	;;
	tbit.nz p6, p7 = r28, 0
(p8)	br.cond.sptk.few .Lpended\@
	;;
(p7)	br.cond.sptk.few .Lpend\@
	;;
.Lpended\@:
	movl r26 = 0x10000
	;;
	mov cr.itv = r26
	;;
	srlz.d
	;;
	.endm
	.macro PASS cycles			// ITC goes by
	mov r27 = ar.itc
	movl r26 = \cycles
	;;
	add r27 = r27, r26
	;;
.Lpass\@:
	mov r26 = ar.itc
	;;
	cmp.ltu p6, p7 = r26, r27
	;;
(p6)	br.cond.sptk.few .Lpass\@
	;;
	.endm
	.macro EOI
	mov cr.eoi = r0
	;;
	srlz.d
	;;
	.endm
	.macro NEXT				// r8: eight bits more, of IVR
	mov r9 = cr.ivr
	shl r8 = r8, 8
	;;
	or r8 = r8, r9
	;;
	.endm
	.macro DRAIN				// nothing pending, nothing in service
	SETCR tpr, 0
	mov r11 = 8
	mov r10 = 15
	;;
1:	EOI
	adds r11 = -1, r11
	;;
	cmp.ne p6, p7 = 0, r11
	;;
(p6)	br.cond.sptk.few 1b
2:	mov r9 = cr.ivr
	;;
	EOI
	cmp.ne p6, p7 = r9, r10
	;;
(p6)	br.cond.sptk.few 2b
	;;
	.endm

	SETCR tpr, 0
	SETCR itv, 0x10000
	CASE spurious
	mov r8 = 0
	NEXT
	AT spurious
	END spurious, R8
//= spurious none r8=000000000000000f | volume 2, 5.8.3.2: 15 with nothing pending
	CASE pending
	PEND 0x45
	mov r8 = cr.irr1
	AT pending
	END pending, R8
//= pending none r8=0000000000000020 | volume 2, 5.8.3.4: a bit of IRR1; PSR.i is 0
	CASE acknowledged
	mov r8 = 0
	NEXT
	AT acknowledged
	END acknowledged, R8
//= acknowledged none r8=0000000000000045 | volume 2, 5.8.3.2
	CASE acknowledged_irr
	mov r8 = cr.irr1
	AT acknowledged_irr
	END acknowledged_irr, R8
//= acknowledged_irr none r8=0000000000000000 | volume 2, 5.8.3.2: reading IVR takes it out of IRR
	CASE in_service
	mov r8 = 0
	NEXT
	AT in_service
	END in_service, R8
	DRAIN
//= in_service none r8=000000000000000f | volume 2, 5.8.3.2
	CASE end_of_nothing
	mov r8 = 0
	EOI
	EOI
	NEXT
	AT end_of_nothing
	END end_of_nothing, R8
//= end_of_nothing none r8=000000000000000f | volume 2, 5.8.3.4: nothing happens
	.macro IRR name, vector, register
	CASE \name
	PEND \vector
	mov r8 = cr.\register
	AT \name
	END \name, R8
	DRAIN
	.endm
	IRR lowest, 16, irr0
//= lowest none r8=0000000000010000 | volume 2, 5.8.3.4
	IRR irr2, 0x80, irr2
//= irr2 none r8=0000000000000001 | volume 2, 5.8.3.4
	IRR highest, 255, irr3
//= highest none r8=8000000000000000 | volume 2, 5.8.3.4

// priority, in service, nesting
	CASE priorities
	PEND 0x45
	PEND 0x85
	PEND 0x65
	mov r8 = 0
	NEXT
	EOI
	NEXT
	EOI
	NEXT
	EOI
	NEXT
	AT priorities
	END priorities, R8
	DRAIN
//= priorities none r8=000000008565450f | volume 2, 5.8.1: the highest vector first
	CASE masked_by_service
	PEND 0x45
	PEND 0x85
	mov r8 = 0
	NEXT
	NEXT
	EOI
	NEXT
	AT masked_by_service
	END masked_by_service, R8
	DRAIN
//= masked_by_service none r8=0000000000850f45 | volume 2, 5.8.1: lower vectors wait for EOI
	CASE nested
	PEND 0x45
	mov r8 = 0
	NEXT
	PEND 0x85
	NEXT
	EOI
	PEND 0x65
	NEXT
	EOI
	PEND 0x35
	NEXT
	EOI
	NEXT
	AT nested
	END nested, R8
	DRAIN
//= nested none r8=0000004585650f35 | volume 2, 5.8.1: higher vectors nest, EOI ends the highest in service
	CASE same_class
	PEND 0x45
	mov r8 = 0
	NEXT
	PEND 0x46
	NEXT
	EOI
	PEND 0x44
	NEXT
	AT same_class
	END same_class, R8
	DRAIN
//= same_class none r8=000000000045460f | volume 2, 5.8.1: by vector, not by class
	CASE same_vector
	PEND 0x45
	mov r8 = 0
	NEXT
	PEND 0x45
	NEXT
	EOI
	NEXT
	AT same_vector
	END same_vector, R8
	DRAIN
//= same_vector none r8=0000000000450f45 | volume 2, 5.8.1: it may pend again while it is in service

// TPR
	.macro PRIORITY name, tpr, vector
	CASE \name
	PEND \vector
	SETCR tpr, \tpr
	mov r8 = 0
	NEXT
	SETCR tpr, 0
	NEXT
	AT \name
	END \name, R8
	DRAIN
	.endm
	PRIORITY mic_above, 0x90, 0x85
//= mic_above none r8=0000000000000f85 | volume 2, 5.8.3.3: classes up to mic are masked
	PRIORITY mic_equal, 0x80, 0x85
//= mic_equal none r8=0000000000000f85 | volume 2, 5.8.3.3
	PRIORITY mic_below, 0x70, 0x85
//= mic_below none r8=000000000000850f | volume 2, 5.8.3.3
	PRIORITY mic_zero, 0, 0x10
//= mic_zero none r8=000000000000100f | volume 2, 5.8.3.3: 16 to 255 are not masked
	PRIORITY mic_15, 0xf0, 0xff
//= mic_15 none r8=0000000000000fff | volume 2, 5.8.3.3
	PRIORITY mmi, 0x10000, 0xff
//= mmi none r8=0000000000000fff | volume 2, 5.8.3.3: all but NMI

// taken
	.macro TAKEN name, psr, vector=0x45, tpr=0, fields=ISR | IIP | IPSR, instruction="nop.m 0"
	CASE \name
	movl r4 = IN(2, 0)
	PEND \vector
	SETCR tpr, \tpr
	ENTER \psr
	.explicit
	AT \name
	{ .mii
	\instruction
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END \name, \fields
	DRAIN
	.endm
	TAKEN taken, KPSR | PSR_I
//= taken 3000 isr=0000.0 iip=+000 ipsr=0000101008026000 | volume 2, 8.3, 0x3000
	TAKEN taken_slot1, KPSR | PSR_I | PSR_RI(1)
//= taken_slot1 3000 isr=0000.1 iip=+000 ipsr=0000121008026000 | volume 2, 8.3, 0x3000: ei is the next instruction
	TAKEN taken_slot2, KPSR | PSR_I | PSR_RI(2)
//= taken_slot2 3000 isr=0000.2 iip=+000 ipsr=0000141008026000 | volume 2, 8.3, 0x3000
	TAKEN taken_level3, KPSR | PSR_I | PSR_CPL(3)
//= taken_level3 3000 isr=0000.0 iip=+000 ipsr=0000101308026000 | volume 2, 8.3, 0x3000
	TAKEN not_taken, KPSR
//= not_taken none | volume 2, 5.8: PSR.i 0
	TAKEN not_taken_level3, KPSR | PSR_CPL(3)
//= not_taken_level3 none | volume 2, 5.8: at every level
	TAKEN not_taken_mic, KPSR | PSR_I, 0x45, 0x40
//= not_taken_mic none | volume 2, 5.8.3.3
	TAKEN taken_mic, KPSR | PSR_I, 0x45, 0x30, ISR
//= taken_mic 3000 isr=0000.0 | volume 2, 5.8.3.3
	TAKEN not_taken_mmi, KPSR | PSR_I, 0xff, 0x10000
//= not_taken_mmi none | volume 2, 5.8.3.3
	TAKEN before_fault, KPSR | PSR_I, 0x45, 0, ISR | IIP, "ld8 r8 = [r4]"
//= before_fault 3000 isr=0000.0 iip=+000 | volume 2, table 5-6: interrupts before faults
	TAKEN before_break, KPSR | PSR_I, 0x45, 0, ISR | IIP, "break.m 0x99"
//= before_break 3000 isr=0000.0 iip=+000 | volume 2, table 5-6
	CASE before_fetch
	movl r4 = IN(2, 0x40)
	PEND 0x45
	CLOSE
	movl r5 = KPSR | PSR_I
	;;
	mov cr.ipsr = r5
	mov cr.iip = r4
	mov cr.ifs = r0
	;;
	ATX before_fetch, IN(2, 0x40)
	rfi
	END before_fetch, ISR | IIP
	DRAIN
//= before_fetch 3000 isr=0000.0 iip=+000 | volume 2, table 5-6: before the fetch, too
	CASE enabled
	PEND 0x45
	ssm psr.i
	;;
	srlz.d
	;;
	nop.m 0
	;;
	AT enabled
	END enabled
	DRAIN
//= enabled 3000 | volume 3, ssm: behind srlz.d
	CASE enabled_and_not
	ssm psr.i
	;;
	srlz.d
	;;
	rsm psr.i
	;;
	PEND 0x45
	AT enabled_and_not
	END enabled_and_not
	DRAIN
//= enabled_and_not none | volume 3, rsm
	CASE masked_by_service_taken
	PEND 0x85
	mov r9 = cr.ivr
	PEND 0x45
	ENTER KPSR | PSR_I
	AT masked_by_service_taken
	nop.m 0
	END masked_by_service_taken
	DRAIN
//= masked_by_service_taken none | volume 2, 5.8.1

// the timer
	CASE timer_masked
	SETCR itv, 0x10045
	mov r9 = ar.itc
	mov r10 = 1000
	;;
	add r9 = r9, r10
	;;
	mov cr.itm = r9
	;;
	srlz.d
	PASS 20000
	mov r8 = cr.irr1
	AT timer_masked
	END timer_masked, R8
	DRAIN
//= timer_masked none r8=0000000000000000 | volume 2, 5.8.3.5: with ITV.m the match is lost
//ski timer_masked: it pends the vector all the same
	CASE timer_masked_before
	SETCR itv, 0x45
	PASS 20000
	mov r8 = cr.irr1
	SETCR itv, 0x10000
	AT timer_masked_before
	END timer_masked_before, R8
	DRAIN
//= timer_masked_before none r8=0000000000000000 | volume 2, 3.3.4.2: ITM is behind, and there is no match
	CASE timer_wakes
	HOOK woken
	SETCR itv, 0x45
	mov r8 = 0
	mov r9 = ar.itc
	mov r10 = 2000
	;;
	add r9 = r9, r10
	;;
	mov cr.itm = r9
	ENTER KPSR | PSR_I
	AT timer_wakes
1:	cmp.eq p6, p7 = 0, r8
	;;
(p6)	br.cond.sptk.few 1b
	;;
	nop.m 0
	END timer_wakes, R8
	br.cond.sptk.many 2f
	;;
woken:
	mov r8 = cr.ivr
	;;
	mov cr.eoi = r0
	;;
	srlz.d
	RETRY
2:
	DRAIN
//= timer_wakes 3000 r8=0000000000000045 | volume 2, 5.8: the loop ends by the handler
	CASE timer_and_loop
	HOOK again
	SETCR itv, 0x45
	mov r8 = 0
	movl r11 = 200000
	mov r9 = ar.itc
	mov r10 = 2000
	;;
	add r9 = r9, r10
	;;
	mov cr.itm = r9
	ENTER KPSR | PSR_I
	AT timer_and_loop
1:	adds r8 = 1, r8
	;;
	cmp.ne p6, p7 = r8, r11
	;;
(p6)	br.cond.sptk.few 1b
	;;
	rsm psr.i
	;;
	END timer_and_loop, R8
	br.cond.sptk.many 2f
	;;
again:
	mov r20 = cr.ivr
	movl r21 = STATE + S_HOOK
	movl r22 = again
	mov r23 = ar.itc
	mov r24 = 2000
	;;
	st8 [r21] = r22
	add r23 = r23, r24
	;;
	mov cr.itm = r23
	mov cr.eoi = r0
	;;
	srlz.d
	RETRY
2:
	SETCR itv, 0x10000
	DRAIN
//= timer_and_loop 3000 r8=0000000000030d40 | volume 2, 5.8: nothing is lost between interrupts
	FINISH
