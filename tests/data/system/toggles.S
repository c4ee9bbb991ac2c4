// The same code under another PSR, and at exact instructions: it runs once as it is, and again when a bit, a register or a
// translation has changed. Loops that fault, step and trap again and again. Volume 2, 3.3.2, 5.5, 7.1; 4.1.
#include "system.h"
#define PLACE	IN(1, 0x8000)

	.macro GOTO psr, address		// by rfi
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
	.macro BACK_TO label			// b2
	movl r26 = \label
	;;
	mov b2 = r26
	;;
	.endm
	.macro TWICE name, code, first, second, psr, fields=ISR | IIP	// r9 is first, then second
	CASE \name
	mov r8 = 0
	movl r9 = \first
	BACK_TO .Lonce_\name
	GOTO KPSR, \code
	.align 16
.Lonce_\name:
	movl r9 = \second
	BACK_TO .Ltwice_\name
	GOTO \psr, \code
	.align 16
.Ltwice_\name:
	ATX \name, \code
	END \name, \fields
	.endm
	STORE PAGE, 0x0102030405060708
	br.cond.sptk.many first
	;;
	.explicit
	.align 16
load:	{ .mib
	ld8 r8 = [r9]
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
store:	{ .mib
	st8 [r9] = r8
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
float:	{ .mfb
	nop.m 0
	fma.d f10 = f1, f1, f0
	br.cond.sptk.many b2 ;;
	}
high:	{ .mfb
	nop.m 0
	fma.d f40 = f1, f1, f0
	br.cond.sptk.many b2 ;;
	}
sixty:	{ .mib
	mov r8 = psr
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
timer:	{ .mib
	mov r8 = ar.itc
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
return:	{ .mib
	nop.m 0
	nop.i 0
	br.ret.sptk.many b2 ;;
	}
	.default
first:
	TWICE ac, load, PAGE, PAGE + 1, KPSR | PSR_AC
//= ac 5a00 isr=0000+r.0 iip=+000 | volume 2, 3.3.2: PSR.ac
	TWICE be, load, PAGE, PAGE, KPSR | PSR_BE, R8
//= be none r8=0807060504030201 | volume 2, 3.3.2: PSR.be
	TWICE be_off, load, PAGE, PAGE, KPSR, R8
//= be_off none r8=0102030405060708 | volume 2, 3.3.2
	TWICE dfl, float, 0, 0, KPSR | PSR_DFL
//= dfl 5500 isr=0001.1 iip=+000 | volume 2, 3.3.2: PSR.dfl
	TWICE dfl_not, float, 0, 0, KPSR | PSR_DFH
//= dfl_not none | volume 2, 3.3.2
	TWICE dfh, high, 0, 0, KPSR | PSR_DFH
//= dfh 5500 isr=0002.1 iip=+000 | volume 2, 3.3.2: PSR.dfh
	TWICE level, sixty, 0, 0, KPSR | PSR_CPL(3)
//= level 5400 isr=0010.0 iip=+000 | volume 2, 3.3.2: PSR.cpl
	TWICE si, timer, 0, 0, KPSR | PSR_CPL(3) | PSR_SI
//= si 5400 isr=0020.0 iip=+000 | volume 2, 3.3.2: PSR.si
	TWICE si_level, timer, 0, 0, KPSR | PSR_SI
//= si_level none | volume 2, 3.3.2
	TWICE tb, load, PAGE, PAGE, KPSR | PSR_TB, ISR | IIPA
//= tb 5f00 isr=0004.2 iipa=+000 | volume 2, 3.3.2: PSR.tb
	TWICE ss, load, PAGE, PAGE, KPSR | PSR_SS
//= ss 6000 isr=0008.0 iip=+000 | volume 2, 3.3.2: PSR.ss
	TWICE ss_slot2, load, PAGE, PAGE, KPSR | PSR_SS | PSR_RI(2), ISR | IIPA
//= ss_slot2 6000 isr=0008.2 iipa=+000 | volume 2, 3.3.2
	TWICE miss, load, PAGE, PLACE, KPSR
//= miss 1000 isr=0000+r.0 iip=+000 | volume 2, 4.1
	TWICE physical, load, PAGE, PAGE | 1 << 63, KPSR & ~PSR_DT, R8
//= physical none r8=0102030405060708 | volume 2, 3.3.2: PSR.dt
	TWICE mapped_again, load, PAGE, PAGE | 1 << 63, KPSR
//= mapped_again 1000 isr=0000+r.0 iip=+000 | volume 2, 3.3.2: region 4 with PSR.dt 1
	CASE lp
	movl r9 = 3 << 62
	BACK_TO .Lonce_lp
	mov ar.pfs = r0
	GOTO KPSR | PSR_LP, return
	.align 16
.Lonce_lp:
	movl r9 = 3 << 62
	BACK_TO .Ltwice_lp
	;;
	mov ar.pfs = r9
	GOTO KPSR | PSR_LP, return
	.align 16
.Ltwice_lp:
	ATX lp, return
	END lp, ISR | IIPA
	mov ar.pfs = r0
//= lp 5e00 isr=0002.2 iipa=+000 | volume 2, 3.3.2: PSR.lp, with another PFS.ppl
	CASE ic
	movl r9 = PAGE
	BACK_TO .Lonce_ic
	GOTO KPSR, load
	.align 16
.Lonce_ic:
	movl r9 = PLACE
	BACK_TO .Ltwice_ic
	GOTO KPSR & ~PSR_IC, load
	.align 16
.Ltwice_ic:
	ATX ic, load
	END ic
//= ic 1400 | volume 2, 3.3.2: PSR.ic
	CASE pk
	SETPKR 0, 0
	movl r9 = PAGE
	BACK_TO .Lonce_pk
	GOTO KPSR, load
	.align 16
.Lonce_pk:
	SETPKR 0, 1
	SETPKR 1, 0
	MAP d, PLACE, RWX | PAGE, 12, 0x55
	movl r9 = PLACE
	BACK_TO .Ltwice_pk
	GOTO KPSR | PSR_PK, load
	.align 16
.Ltwice_pk:
	ATX pk, load
	END pk, ISR | IIP
	UNMAP PLACE, 12
//= pk 1c00 isr=0000+r.0 iip=+000 | volume 2, 3.3.2: PSR.pk
	CASE breakpoint
	MAP i, IN(1, 0x100000), P | AR(3) | PL(3) | A | 0x100000, 18
	movl r9 = PAGE
	BACK_TO .Lonce_breakpoint
	GOTO KPSR | PSR_DB, load + IN(1, 0)
	.align 16
.Lonce_breakpoint:
	mov r26 = 0
	movl r27 = load + IN(1, 0)
	;;
	mov ibr[r26] = r27
	mov r26 = 1
	movl r27 = 1 << 63 | 15 << 56 | ((1 << 56) - 1)
	;;
	mov ibr[r26] = r27
	;;
	srlz.i
	BACK_TO .Ltwice_breakpoint
	GOTO KPSR | PSR_DB, load + IN(1, 0)
	.align 16
.Ltwice_breakpoint:
	ATX breakpoint, load
	END breakpoint, ISR | IIP
	mov r26 = 1
	;;
	mov ibr[r26] = r0
	;;
	srlz.i
	UNMAP IN(1, 0x100000), 18
//= breakpoint 5900 isr=0000+x.0 iip=+000 | volume 2, 7.1: set behind the first time
//ski breakpoint: it looks at breakpoints when a translation is inserted
	CASE page_ed
	MAP i, IN(1, 0x100000), P | A | AR(3) | PL(3) | ED | 0x100000, 18
	SETCR dcr, 0x100
	movl r9 = PLACE
	BACK_TO .Lonce_page_ed
	GOTO KPSR, speculative + IN(1, 0)
	.explicit
	.align 16
speculative: { .mib
	ld8.s r8 = [r9]
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
	.default
.Lonce_page_ed:
	BACK_TO .Ltwice_page_ed
	UNMAP IN(1, 0x100000), 18
	MAP i, IN(1, 0x100000), P | A | AR(3) | PL(3) | 0x100000, 18
	GOTO KPSR, speculative + IN(1, 0)
	.align 16
.Ltwice_page_ed:
	ATX page_ed, speculative
	END page_ed, ISR | IIP
	SETCR dcr, 0
	UNMAP IN(1, 0x100000), 18
//= page_ed 1000 isr=0000+r+sp.0 iip=+000 | volume 2, 5.5.5: deferred as long as the page's ed is 1
	CASE deferral_off
	MAP i, IN(1, 0x100000), P | A | AR(3) | PL(3) | ED | 0x100000, 18
	SETCR dcr, 0x100
	movl r9 = PLACE
	BACK_TO .Lonce_deferral
	GOTO KPSR, speculative + IN(1, 0)
	.align 16
.Lonce_deferral:
	SETCR dcr, 0
	BACK_TO .Ltwice_deferral
	GOTO KPSR, speculative + IN(1, 0)
	.align 16
.Ltwice_deferral:
	ATX deferral_off, speculative
	END deferral_off, ISR | IIP
	UNMAP IN(1, 0x100000), 18
//= deferral_off 1000 isr=0000+r+sp+ed.0 iip=+000 | volume 2, 5.5.5: DCR.dm

// pages that come when they are asked for: r8 sums one word of each
	.macro DEMAND name, pages, rounds
	CASE \name
	HOOK demand_handler
	movl r4 = IN(1, 0x100000)
	mov r5 = 0
	mov r8 = 0
	mov r6 = \rounds
	movl r9 = 0x1000
	;;
1:	movl r4 = IN(1, 0x100000)
	movl r5 = \pages
	;;
2:	ld8 r7 = [r4], 8
	;;
	add r8 = r8, r7
	adds r5 = -1, r5
	adds r4 = -8, r4
	;;
	add r4 = r4, r9
	cmp.ne p6, p7 = 0, r5
	;;
(p6)	br.cond.sptk.few 2b
	adds r6 = -1, r6
	;;
	cmp.ne p6, p7 = 0, r6
	;;
(p6)	br.cond.sptk.many 1b
	;;
	AT \name
	END \name, R8
	.endm
	br.cond.sptk.many 1f
	;;
demand_handler:					// maps the page of IFA to PAGE
	movl r17 = STATE + S_HOOK
	movl r18 = demand_handler
	movl r19 = RWX | PAGE
	mov r20 = 12 << 2
	;;
	st8 [r17] = r18
	mov cr.itir = r20
	;;
	itc.d r19
	;;
	srlz.d
	RETRY
1:	STORE PAGE, 1
	DEMAND demand16, 16, 3
//= demand16 1000 r8=0000000000000030 | volume 2, 5.1: the instruction again, with its registers as they were
	DEMAND demand500, 500, 3
//= demand500 1000 r8=00000000000005dc | volume 2, 4.1.1.2: more pages than the cache has entries

// every instruction traps once
	.macro COUNTED name, psr, result
	CASE \name
	HOOK counted_\name
	mov r8 = 0
	mov r9 = 3
	;;
	mov ar.lc = r9
	GOTO \psr, loop_\name
	.explicit
	.align 16
loop_\name:
	{ .mii
	mov r8 = 0
	nop.i 0
	nop.i 0 ;;
	}
1:	{ .mib
	adds r8 = 1, r8
	nop.i 0
	br.cloop.sptk.few 1b ;;
	}
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
end_\name:
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	.default
counted_\name:
	mov r17 = cr.iip
	movl r18 = end_\name
	movl r19 = STATE + S_HOOK
	movl r20 = counted_\name
	;;
	cmp.eq p6, p7 = r17, r18
	;;
(p6)	br.cond.sptk.many to_resume
	;;
	st8 [r19] = r20
	RETRY
	AT \name
	END \name, COUNT | R8
	.endm
	COUNTED stepped, KPSR | PSR_SS
//= stepped 6000 count=0000000000000012 r8=0000000000000004 | volume 2, 3.3.2: 3 + 4 x 3 + 3 instructions, each once
	COUNTED stepped_level3, KPSR | PSR_SS | PSR_CPL(3)
//= stepped_level3 6000 count=0000000000000012 r8=0000000000000004 | volume 2, 3.3.2
	CASE branches
	HOOK branched
	mov r9 = 9
	mov r8 = 0
	;;
	mov ar.lc = r9
	ENTER KPSR | PSR_TB
	.explicit
1:	{ .mib
	adds r8 = 1, r8
	nop.i 0
	br.cloop.sptk.few 1b ;;
	}
	.default
	AT branches
	END branches, COUNT | R8
	br.cond.sptk.many 2f
	;;
branched:
	movl r19 = STATE + S_HOOK
	movl r20 = branched
	;;
	st8 [r19] = r20
	RETRY
2:
//= branches 5f00 count=0000000000000009 r8=000000000000000a | volume 2, 3.3.2: ten rounds, nine taken
	FINISH
