// Overflow interrupts of performance monitors that the code programs itself: the interrupt is taken before the next
// instruction to execute, behind an instruction of each unit and slot, or where it is unmasked. Volume 2, 7.2, 5.8, 5.5.
// IA64_INST_RETIRED is 8 on each Itanium. R8 is PMD4 (16 bits), IVR (16), PMC0 (16).
//with --guest-pmu
//ski *: it has no performance monitors
#include "system.h"
#define VECTOR	0x50
#define OI	(1 << 5)
#define PM	(1 << 6)
#define RETIRED(plm)	(0x02000000 | 0x08 << 8 | OI | (plm))
#define RUNNING	(KPSR | PSR_I | PSR_PP)
#define ALL	(ISR | IIP | IIPA | IPSR | R8)

	.macro SETPM file, number, value
	mov r26 = \number
	movl r27 = \value
	;;
	mov \file[r26] = r27
	;;
	.endm
	.macro MONITOR count, pmc=RETIRED(1) | PM	// overflows behind so many
	SETPM pmd, 4, -(\count)
	SETPM pmc, 4, \pmc
	SETPM pmc, 0, 0
	srlz.i
	;;
	.endm
	.macro OFF
	SETPM pmc, 4, 0
	SETPM pmc, 5, 0
	SETPM pmc, 0, 0
	srlz.i
	;;
	.endm
	.macro RUN psr, address		// monitored from the first instruction there
	rsm psr.ic | psr.i
	movl r26 = \psr
	movl r27 = \address
	;;
	srlz.i
	;;
	mov cr.ipsr = r26
	mov cr.iip = r27
	mov cr.ifs = r0
	;;
	rfi
	;;
	.endm
	.macro AFTER name, slot=0, psr=RUNNING, count=1, pmc=RETIRED(1) | PM, region=0
	CASE \name
	HOOK pmi
	mov r8 = 0
	movl r4 = PAGE
	mov r5 = 0
	cmp.ne p1, p2 = r0, r0			// p1 is false
	MONITOR \count, \pmc
	RUN (\psr) | PSR_RI(\slot), at_\name + IN(\region, 0)
	.explicit
	AT \name
	.endm
	.macro DONE name, fields=ALL
	.default
	END \name, \fields
	.endm
	.macro PEND vector			// that vector in IRR, by the interval timer
	mov r26 = \vector
	mov r27 = ar.itc
	;;
	mov cr.itv = r26
	adds r27 = 500, r27
	;;
	mov cr.itm = r27
	;;
	srlz.d
	adds r27 = 100, r27
	;;
.Lpend\@: mov r26 = ar.itc
	;;
	cmp.ltu p6, p7 = r26, r27
	;;
(p6)	br.cond.sptk.few .Lpend\@
	movl r26 = 0x10000
	;;
	mov cr.itv = r26
	;;
	srlz.d
	;;
	.endm
	.macro DRAIN				// nothing in service
	mov cr.tpr = r0
	;;
	mov cr.eoi = r0
	;;
	mov cr.eoi = r0
	;;
	srlz.d
	;;
	.endm
	br.cond.sptk.many begin_cases
	;;
pmi:						// the interrupt: what it finds, and monitors off
	mov r16 = 0
	mov r17 = 4
	;;
	mov r18 = pmc[r16]
	mov r19 = pmd[r17]
	mov r20 = cr.ivr
	;;
	extr.u r18 = r18, 0, 16
	extr.u r19 = r19, 0, 16
	;;
	dep r18 = r20, r18, 16, 16
	;;
	dep r8 = r19, r18, 32, 16
	mov pmc[r17] = r0
	;;
	mov pmc[r16] = r0
	mov cr.eoi = r0
	;;
	srlz.d
	srlz.i
	;;
	br.cond.sptk.many to_resume
	;;
found:						// the same without an interrupt
	mov r16 = 0
	mov r17 = 4
	;;
	mov r18 = pmc[r16]
	mov r19 = pmd[r17]
	;;
	extr.u r18 = r18, 0, 16
	extr.u r19 = r19, 0, 16
	;;
	dep r8 = r19, r18, 32, 16
	br.cond.sptk.many b6
	;;
begin_cases:
	STORE PAGE, 0x0102030405060708
	SETCR pmv, VECTOR
	SETCR itv, 0x10000
	DRAIN

// every unit and slot
	AFTER m0
	{ .mii
	ld8 r8 = [r4]
	nop.i 0
	nop.i 0 ;;
	}
	DONE m0
//= m0 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1: before the next instruction
	AFTER i1, 1
	{ .mii
	nop.m 0
	adds r5 = 1, r5
	nop.i 0 ;;
	}
	DONE i1
//= i1 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER i2, 2
	{ .mii
	nop.m 0
	nop.i 0
	shl r5 = r4, 3 ;;
	}
	DONE i2
//= i2 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1: the next bundle
	AFTER m1, 1
	{ .mmi
	nop.m 0
	st8 [r4] = r5
	nop.i 0 ;;
	}
	DONE m1
//= m1 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER f1, 1
	{ .mfi
	nop.m 0
	fma.d f10 = f1, f1, f0
	nop.i 0 ;;
	}
	DONE f1
//= f1 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226010 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1; 3.3.2: it has set PSR.mfl
	AFTER f2, 2
	{ .mmf
	nop.m 0
	nop.m 0
	fma.d f40 = f1, f1, f0 ;;
	}
	DONE f2
//= f2 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226020 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1; 3.3.2: it has set PSR.mfh
	AFTER before_x
	{ .mlx
	nop.m 0
	movl r5 = 0x123456789abcdef ;;
	}
	DONE before_x
//= before_x 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.2, 3.3.2: a long instruction is slot 1
	AFTER x, 1
	{ .mlx
	nop.m 0
	movl r5 = 0x123456789abcdef ;;
	}
	DONE x
//= x 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1: no slot 2 behind it
	AFTER x_nop, 1
	{ .mlx
	nop.m 0
	nop.x 0 ;;
	}
	DONE x_nop
//= x_nop 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER b0
	{ .bbb
(p1)	br.cond.sptk.few 1f
	nop.b 0
	nop.b 0 ;;
	}
1:	DONE b0
//= b0 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER b1, 1
	{ .bbb
	nop.b 0
(p1)	br.cond.sptk.few 1f
	nop.b 0 ;;
	}
1:	DONE b1
//= b1 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER b2, 2
	{ .mib
	nop.m 0
	nop.i 0
(p1)	br.cond.sptk.few 1f ;;
	}
1:	DONE b2
//= b2 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1

// branches that are taken
	.macro SKIPPED
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	.endm
	AFTER b0_taken
	{ .bbb
	br.cond.sptk.few 1f
	nop.b 0
	nop.b 0 ;;
	}
	SKIPPED
1:	SKIPPED
	DONE b0_taken
//= b0_taken 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1: at the target
	AFTER b1_taken, 1
	{ .bbb
	nop.b 0
	br.cond.sptk.few 1f
	nop.b 0 ;;
	}
	SKIPPED
1:	SKIPPED
	DONE b1_taken
//= b1_taken 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER b2_taken, 2
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.few 1f ;;
	}
	SKIPPED
1:	SKIPPED
	DONE b2_taken
//= b2_taken 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER x_taken, 1
	{ .mlx
	nop.m 0
	brl.cond.sptk.few 1f ;;
	}
	SKIPPED
1:	SKIPPED
	DONE x_taken
//= x_taken 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	AFTER call, 2
	{ .mib
	nop.m 0
	nop.i 0
	br.call.sptk.few b2 = 1f ;;
	}
	SKIPPED
1:	SKIPPED
	DONE call
//= call 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	CASE return
	HOOK pmi
	movl r26 = at_return + 0x20
	mov ar.pfs = r0
	;;
	mov b2 = r26
	MONITOR 1
	RUN RUNNING | PSR_RI(2), at_return
	.explicit
	AT return
	{ .mib
	nop.m 0
	nop.i 0
	br.ret.sptk.few b2 ;;
	}
	SKIPPED
	SKIPPED
	DONE return
//= return 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2, 5.5.1
	CASE return_level3
	HOOK pmi
	movl r26 = at_return_level3 + 0x20
	movl r27 = 3 << 62
	;;
	mov b2 = r26
	mov ar.pfs = r27
	MONITOR 1
	RUN RUNNING | PSR_RI(2), at_return_level3
	.explicit
	AT return_level3
	{ .mib
	nop.m 0
	nop.i 0
	br.ret.sptk.few b2 ;;
	}
	SKIPPED
	SKIPPED
	DONE return_level3
//= return_level3 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101308226000 r8=0000000000500011 | volume 2, 7.2.2; volume 3, br.ret: it counts at level 0, and level 3 is interrupted
	CASE promotion
	HOOK pmi
	MAP i, IN(1, 0x100000), P | A | AR(7) | PL(0) | 0x100000, 18
	MONITOR 1, RETIRED(8) | PM
	RUN RUNNING | PSR_CPL(3) | PSR_RI(2), at_promotion + IN(1, 0)
	.explicit
	AT promotion
	{ .mib
	nop.m 0
	nop.i 0
	epc ;;
	}
	SKIPPED
	DONE promotion
	UNMAP IN(1, 0x100000), 18
//= promotion 3000 isr=0000.0 iip=+010 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2; volume 3, epc: it counts at level 3, and level 0 is interrupted
	.macro BY_RFI name, count
	CASE \name
	HOOK pmi
	movl r4 = RUNNING | PSR_CPL(3) | PSR_RI(1)
	movl r5 = at_\name + 0x40
	MONITOR \count
	RUN (RUNNING) & ~(PSR_IC | PSR_I), at_\name
	.explicit
	AT \name
	{ .mii
	mov cr.ipsr = r4
	nop.i 0
	nop.i 0 ;;
	}
	{ .mmi
	mov cr.iip = r5
	mov cr.ifs = r0
	nop.i 0 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	rfi ;;
	}
	SKIPPED
	SKIPPED
	DONE \name, ISR | IIP | IPSR | R8
	.endm
	BY_RFI rfi, 9
//= rfi 3000 isr=0000.1 iip=+040 ipsr=0000121308226000 r8=0000000000500011 | volume 2, 7.2.2; volume 3, rfi: it retires at level 0, what it returns to is interrupted
	BY_RFI rfi_unmasks, 2
//= rfi_unmasks 3000 isr=0000.1 iip=+040 ipsr=0000121308226000 r8=0000000000500011 | volume 2, 5.8: pending since PSR.i was 0, before the first instruction with it
	CASE check_taken
	HOOK pmi
	NAT r4
	MONITOR 1
	RUN RUNNING, at_check_taken
	.explicit
	AT check_taken
	{ .mii
	chk.s.m r4, 1f
	nop.i 0
	nop.i 0 ;;
	}
	SKIPPED
1:	SKIPPED
	DONE check_taken
//= check_taken 3000 isr=0000.0 iip=+020 iipa=+000 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.2; volume 3, chk: it branches

// predicated off, in the middle, at other levels
	AFTER predicated_off
	{ .mii
(p1)	ld8 r8 = [r0]
	nop.i 0
	nop.i 0 ;;
	}
	DONE predicated_off
//= predicated_off 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.3: predicated-off instructions retire
	AFTER predicated_branch, 2, count=4
	{ .mib
	nop.m 0
	nop.i 0
(p1)	br.cond.sptk.few 1f ;;
	}
	{ .mii
	nop.m 0
	nop.i 0
(p1)	adds r8 = 1, r8 ;;
	}
1:	SKIPPED
	DONE predicated_branch
//= predicated_branch 3000 isr=0000.0 iip=+020 iipa=+010 ipsr=0000101008226000 r8=0000000000500011 | volume 2, 7.2.3
	CASE loop
	HOOK pmi
	mov r4 = 999
	;;
	mov ar.lc = r4
	MONITOR 1000
	RUN RUNNING, at_loop
	.explicit
	AT loop
1:	{ .mib
	nop.m 0
	nop.i 0
	br.cloop.sptk.few 1b ;;
	}
	DONE loop
//= loop 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.2: 999 are 333 rounds
	AFTER level3, 1, KPSR | PSR_I | PSR_UP | PSR_CPL(3), 1, RETIRED(8)
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	DONE level3
//= level3 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141308026004 r8=0000000000500011 | volume 2, 7.2.1: a user monitor, by PSR.up
	AFTER level2, 0, RUNNING | PSR_CPL(2), 1, RETIRED(4) | PM
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	DONE level2
//= level2 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121208226000 r8=0000000000500011 | volume 2, 7.2.1

// with other interruptions
	.macro MENDED name, code
	CASE \name
	HOOK mend
	movl r4 = IN(2, 0)
	MONITOR 1
	RUN RUNNING, at_\name
	.explicit
	AT \name
	{ .mii
	\code
	nop.i 0
	nop.i 0 ;;
	}
	DONE \name
	.endm
	MENDED faults_first, "ld8 r5 = [r4]"
	br.cond.sptk.many 2f
	;;
mend:	movl r4 = PAGE
	HOOK pmi
	RETRY
2:
//= faults_first 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 7.2.3: what faults does not retire, and the handler has PSR.pp 0
	CASE stepped
	HOOK go_on
	MONITOR 1
	RUN RUNNING | PSR_SS, at_stepped
	.explicit
	AT stepped
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	DONE stepped, ISR | IIP | IPSR | COUNT | R8
	br.cond.sptk.many 2f
	;;
go_on:	mov r16 = cr.ipsr
	movl r17 = PSR_SS
	HOOK pmi
	andcm r16 = r16, r17
	;;
	mov cr.ipsr = r16
	;;
	RETRY
2:
//= stepped 3000 isr=0000.1 iip=+000 ipsr=0000121008226000 count=0000000000000002 r8=0000000000500011 | volume 2, table 5-6: the trap first, the interrupt behind its handler

	CASE branch_trapped
	HOOK go_on_branch
	MONITOR 1
	RUN RUNNING | PSR_TB | PSR_RI(2), at_branch_trapped
	.explicit
	AT branch_trapped
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.few 1f ;;
	}
	SKIPPED
1:	SKIPPED
	DONE branch_trapped, ISR | IIP | IPSR | COUNT | R8
	br.cond.sptk.many 2f
	;;
go_on_branch:
	mov r16 = cr.ipsr
	movl r17 = PSR_TB
	HOOK pmi
	andcm r16 = r16, r17
	;;
	mov cr.ipsr = r16
	;;
	RETRY
2:
//= branch_trapped 3000 isr=0000.0 iip=+020 ipsr=0000101008226000 count=0000000000000002 r8=0000000000500011 | volume 2, table 5-6: the trap first, both at the target

// masked, and where it is unmasked
	AFTER not_enabled, 0, KPSR | PSR_PP
	SKIPPED
	.default
	GO found, b6
	DONE not_enabled, R8
	OFF
	mov r9 = cr.ivr
	DRAIN
//= not_enabled none r8=0000000000000011 | volume 2, 7.2.2, 5.8: PSR.i is 0, the monitor is frozen since
	AFTER enabled, 0, KPSR | PSR_PP
	SKIPPED
	{ .mmi
	ssm psr.i ;;
	srlz.d
	nop.i 0 ;;
	}
	SKIPPED
	DONE enabled, IIP | R8
//= enabled 3000 iip=+010 r8=0000000000500011 | volume 3, ssm: at srlz.d at the latest
	CASE priority
	HOOK pmi
	MONITOR 1
	SETCR tpr, VECTOR
	RUN RUNNING, at_priority
	.explicit
	AT priority
	SKIPPED
	{ .mmi
	mov cr.tpr = r0 ;;
	srlz.d
	nop.i 0 ;;
	}
	SKIPPED
	DONE priority, IIP | R8
//= priority 3000 iip=+010 r8=0000000000500011 | volume 2, 5.8.3.3: TPR masks its class, until srlz.d behind its change at the latest
	CASE priority_masks
	HOOK pmi
	mov r8 = 0
	MONITOR 1
	SETCR tpr, VECTOR
	RUN RUNNING, at_priority_masks
	.explicit
	AT priority_masks
	SKIPPED
	SKIPPED
	DONE priority_masks, R8
	OFF
	DRAIN
	mov r9 = cr.ivr
	DRAIN
//= priority_masks none r8=0000000000000000 | volume 2, 5.8.3.3
	CASE lower_priority
	HOOK pmi
	MONITOR 1
	SETCR tpr, VECTOR - 0x10
	RUN RUNNING, at_lower_priority
	.explicit
	AT lower_priority
	SKIPPED
	DONE lower_priority
	DRAIN
//= lower_priority 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 5.8.3.3: TPR masks lower classes
	CASE in_service
	HOOK pmi
	PEND 0x85
	mov r9 = cr.ivr
	MONITOR 1
	RUN RUNNING, at_in_service
	.explicit
	AT in_service
	SKIPPED
	{ .mmi
	mov cr.eoi = r0 ;;
	srlz.d
	nop.i 0 ;;
	}
	SKIPPED
	DONE in_service, IIP | R8
	DRAIN
//= in_service 3000 iip=+010 r8=0000000000500011 | volume 2, 5.8.1: a higher vector is in service until EOI
	CASE lower_in_service
	HOOK pmi
	PEND 0x45
	mov r9 = cr.ivr
	MONITOR 1
	RUN RUNNING, at_lower_in_service
	.explicit
	AT lower_in_service
	SKIPPED
	DONE lower_in_service
	DRAIN
//= lower_in_service 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000500011 | volume 2, 5.8.1: higher vectors nest
	CASE vector_masked
	HOOK pmi
	SETCR pmv, 0x10000 | VECTOR
	MONITOR 1
	RUN RUNNING, at_vector_masked
	.explicit
	AT vector_masked
	SKIPPED
	.default
	SETCR pmv, VECTOR
	nop.m 0
	;;
	GO found, b6
	DONE vector_masked, R8
	OFF
	DRAIN
//= vector_masked none r8=0000000000000011 | volume 2, 7.2.2: with PMV.m it is not held pending; the bits of PMC0 are set

	CASE unmaskable
	HOOK pmi
	SETCR pmv, 2
	MONITOR 1
	SETCR tpr, 0x10000
	RUN RUNNING, at_unmaskable
	.explicit
	AT unmaskable
	SKIPPED
	DONE unmaskable
	SETCR pmv, VECTOR
	DRAIN
//= unmaskable 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000000000020011 | volume 2, 5.8.3.3: TPR.mmi does not mask vector 2
	CASE level3_priority
	HOOK pmi
	mov r8 = 0
	MONITOR 1, RETIRED(8) | PM
	SETCR tpr, VECTOR
	RUN RUNNING | PSR_CPL(3), at_level3_priority
	.explicit
	AT level3_priority
	SKIPPED
	.default
	DONE level3_priority, R8
	OFF
	DRAIN
	mov r9 = cr.ivr
	DRAIN
//= level3_priority none r8=0000000000000000 | volume 2, 5.8.3.3: at every level

// freezing, several monitors
	CASE frozen
	HOOK pmi
	MONITOR 2
	SETPM pmc, 0, 1
	srlz.i
	;;
	RUN RUNNING, at_frozen
	.explicit
	AT frozen
	SKIPPED
	.default
	GO found, b6
	DONE frozen, R8
	OFF
//= frozen none r8=0000fffe00000001 | volume 2, 7.2.2: PMC0.fr suspends the monitor
	CASE thawed
	HOOK pmi
	MONITOR 2
	SETPM pmc, 0, 1
	mov r4 = 0
	srlz.i
	;;
	RUN RUNNING, at_thawed
	.explicit
	AT thawed
	SKIPPED
	{ .mmi
	mov pmc[r4] = r0 ;;
	srlz.i
	nop.i 0 ;;
	}
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	DONE thawed, R8
//= thawed 3000 r8=0000000000500011 | volume 2, 7.2.2: it counts again when PMC0.fr is 0 and serialized
	.macro TWO name, second, slot=0
	CASE \name
	HOOK pmi
	SETPM pmd, 5, -(\second)
	SETPM pmc, 5, RETIRED(1) | PM
	MONITOR 2
	RUN RUNNING, at_\name
	.explicit
	AT \name
	.endm
	TWO both, 2
	SKIPPED
	DONE both
	OFF
//= both 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226000 r8=0000000000500031 | volume 2, 7.2.2: both bits of PMC0, one interrupt
	TWO first_of_two, 1
	SKIPPED
	DONE first_of_two
	OFF
//= first_of_two 3000 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008226000 r8=0000ffff00500021 | volume 2, 7.2.2: the first overflow freezes the other monitor
	TWO not_both, 3
	SKIPPED
	DONE not_both
	OFF
//= not_both 3000 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008226000 r8=0000000000500011 | volume 2, 7.2.2

// one interrupt after another: every seventh instruction
	CASE periodic
	HOOK again
	mov r8 = 0
	mov r4 = 11
	;;
	mov ar.lc = r4
	MONITOR 7
	RUN RUNNING, at_periodic
	.explicit
	AT periodic
1:	{ .mib
	nop.m 0
	nop.i 0
	br.cloop.sptk.few 1b ;;
	}
	.default
	DONE periodic, COUNT | R8
	OFF
	br.cond.sptk.many 2f
	;;
again:	mov r16 = cr.ipsr
	mov r17 = cr.ivr
	mov r18 = 4
	mov r19 = -7
	;;
	extr.u r16 = r16, 41, 2
	shl r8 = r8, 4
	mov pmd[r18] = r19
	;;
	or r8 = r8, r16
	mov pmc[r0] = r0
	mov cr.eoi = r0
	;;
	srlz.d
	srlz.i
	HOOK again
	RETRY
2:
//= periodic 3000 count=0000000000000005 r8=0000000000012012 | volume 2, 7.2.2, 7.2.4.1: behind instructions 7, 14, 21, 28, 35 of a loop of three
	FINISH
