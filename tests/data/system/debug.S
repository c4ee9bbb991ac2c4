// Data and instruction breakpoints, and the bits of PSR that hold for one instruction: da, dd, id, ia. Volume 2, 7.1,
// 3.3.2, 8.3 (0x5900).
#include "system.h"
//ski *: it does not look at breakpoints on pages whose access and dirty bits are set, nor at PSR.ia behind the first slot
#define PLACE	IN(1, 0x8000)
	.set READ, 1 << 63
	.set WRITE, 1 << 62
	.set FETCH, 1 << 63
	.set WHOLE, (1 << 56) - 1
#define LEVELS(mask)	((mask) << 56)

	.macro BREAKPOINT file, pair, address, mask
	mov r26 = 2 * \pair
	movl r27 = \address
	;;
	mov \file[r26] = r27
	mov r26 = 2 * \pair + 1
	movl r27 = \mask
	;;
	mov \file[r26] = r27
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm
	.macro WATCH name, mask, psr, instruction, fields=ISR | IFA, address=PLACE + 0x10, pair=0
	CASE \name
	BREAKPOINT dbr, \pair, \address, \mask
	MAP d, PLACE, RWX | PAGE, 12
	movl r4 = PLACE + 0x10
	mov r5 = 1
	ENTER \psr
	AT \name
	\instruction
	END \name, \fields
	UNMAP PLACE, 12
	BREAKPOINT dbr, \pair, 0, 0
	.endm
	WATCH read, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]", ISR | IIP | IFA | IPSR
//= read 5900 isr=0000+r.0 iip=+000 ifa=2000000000008010 ipsr=0000101009022000 | volume 2, 8.3, 0x5900
	WATCH write, WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "st8 [r4] = r5"
//= write 5900 isr=0000+w.0 ifa=2000000000008010 | volume 2, 8.3, 0x5900
	WATCH read_is_not_write, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "st8 [r4] = r5"
//= read_is_not_write none | volume 2, 7.1.1: DBR.w
	WATCH write_is_not_read, WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]"
//= write_is_not_read none | volume 2, 7.1.1: DBR.r
	WATCH exchange_read, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "xchg8 r8 = [r4], r5"
//= exchange_read 5900 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 7.1.1: semaphores do both
	WATCH exchange_write, WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "fetchadd8.acq r8 = [r4], 1"
//= exchange_write 5900 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 7.1.1
	WATCH off, READ | LEVELS(15) | WHOLE, KPSR, "ld8 r8 = [r4]"
//= off none | volume 2, 3.3.2: PSR.db 0
	WATCH level0, READ | LEVELS(14) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]"
//= level0 none | volume 2, 7.1.1: plm has no level 0
	WATCH level3, READ | LEVELS(8) | WHOLE, KPSR | PSR_DB | PSR_CPL(3), "ld8 r8 = [r4]"
//= level3 5900 isr=0000+r.0 ifa=2000000000008010 | volume 2, 7.1.1: plm bit 3
	WATCH level3_not, READ | LEVELS(7) | WHOLE, KPSR | PSR_DB | PSR_CPL(3), "ld8 r8 = [r4]"
//= level3_not none | volume 2, 7.1.1
	WATCH other_address, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]", ISR, PLACE + 0x18
//= other_address none | volume 2, 7.1.1
	WATCH masked, READ | LEVELS(15) | (WHOLE & ~0xfff), KPSR | PSR_DB, "ld8 r8 = [r4]", ISR | IFA, PLACE + 0xff8
//= masked 5900 isr=0000+r.0 ifa=2000000000008010 | volume 2, 7.1.1: mask bits of 0 are not compared
	WATCH masked_not, READ | LEVELS(15) | (WHOLE & ~0xfff), KPSR | PSR_DB, "ld8 r8 = [r4]", ISR, PLACE + 0x1010
//= masked_not none | volume 2, 7.1.1
	WATCH high_bits, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]", ISR, IN(5, 0x8010)
//= high_bits none | volume 2, 7.1.1: bits 63:56 are always compared
	WATCH pair3, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]", ISR | IFA, PLACE + 0x10, 3
//= pair3 5900 isr=0000+r.0 ifa=2000000000008010 | volume 2, 7.1.1
	WATCH inside, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8 r8 = [r4]", ISR | IFA, PLACE + 0x14
//= inside 5900 isr=0000+r.0 ifa=2000000000008010 | volume 2, 7.1.2: any byte of an aligned reference
	WATCH speculative, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ld8.s r8 = [r4]"
//= speculative 5900 isr=0000+r+sp.0 ifa=2000000000008010 | volume 2, table 5-4: DCR.dd 0
	WATCH probe, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "probe.r r8 = r4, 0"
//= probe none | volume 3, probe: only .fault
	WATCH probe_fault, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "probe.r.fault r4, 0"
//= probe_fault 5900 isr=0005+r+na.0 ifa=2000000000008010 | volume 3, probe
	WATCH prefetch, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "lfetch [r4]"
//= prefetch none | volume 3, lfetch
	WATCH prefetch_fault, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "lfetch.fault [r4]"
//= prefetch_fault 5900 isr=0004+r+na.0 ifa=2000000000008010 | volume 3, lfetch
	WATCH physical, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "tpa r8 = r4"
//= physical none | volume 3, tpa
	WATCH flush, READ | WRITE | LEVELS(15) | WHOLE, KPSR | PSR_DB, "fc r4"
//= flush none | volume 3, fc
	WATCH float, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB, "ldf.fill f8 = [r4]"
//= float 5900 isr=0000+r.0 ifa=2000000000008010 | volume 2, 8.3, 0x5900
	WATCH before_unaligned, READ | LEVELS(15) | (WHOLE & ~0xf), KPSR | PSR_DB | PSR_AC, "adds r4 = 1, r4;; ld8.acq r8 = [r4];;"
//= before_unaligned 5900 isr=0000+r.1 ifa=2000000000008011 | volume 2, table 5-6: debug before alignment
	WATCH dd, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB | PSR_DD, "ld8 r8 = [r4]"
//= dd none | volume 2, 3.3.2: PSR.dd
	WATCH dd_once, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB | PSR_DD, "ld8 r8 = [r4];; ld8 r8 = [r4]", ISR | IIP | IPSR
//= dd_once 5900 isr=0000+r.1 iip=+000 ipsr=0000121009022000 | volume 2, 3.3.2: for one instruction
	WATCH dd_kept, READ | LEVELS(15) | WHOLE, KPSR | PSR_DB | PSR_DD | PSR_AC, "ld8 r8 = [r4];; adds r4 = 1, r4;; ld8 r8 = [r4]", ISR | IPSR
//= dd_kept 5a00 isr=0000+r.0 ipsr=0000101009022008 | volume 2, 3.3.2

// instructions
	.macro STOP_AT name, mask, psr, fields=ISR | IIP, offset=0, first="nop.m 0"
	CASE \name
	BREAKPOINT ibr, 0, at_\name + \offset + IN(1, 0), \mask
	MAP i, IN(1, 0x100000), RWX | 0x100000, 18
	ENTERIN 1, \psr
	.explicit
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	AT \name
	{ .mii
	\first
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END \name, \fields
	BREAKPOINT ibr, 0, 0, 0
	UNMAP IN(1, 0x100000), 18
	.endm
	STOP_AT fetched, FETCH | LEVELS(15) | WHOLE, KPSR | PSR_DB, ISR | IIP | IIPA
//= fetched 5900 isr=0000+x.0 iip=+000 iipa=-010 | volume 2, 8.3, 0x5900
	STOP_AT fetched_off, FETCH | LEVELS(15) | WHOLE, KPSR
//= fetched_off none | volume 2, 3.3.2
	STOP_AT fetched_x, LEVELS(15) | WHOLE, KPSR | PSR_DB
//= fetched_x none | volume 2, 7.1.1: IBR.x
	STOP_AT fetched_level, FETCH | LEVELS(8) | WHOLE, KPSR | PSR_DB
//= fetched_level none | volume 2, 7.1.1: plm
	STOP_AT fetched_level3, FETCH | LEVELS(8) | WHOLE, KPSR | PSR_DB | PSR_CPL(3), ISR | IIP | IPSR
//= fetched_level3 5900 isr=0000+x.0 iip=+000 ipsr=0000101309022000 | volume 2, 8.3, 0x5900
	STOP_AT fetched_mask, FETCH | LEVELS(15) | (WHOLE & ~0xf), KPSR | PSR_DB, ISR | IIP, 8
//= fetched_mask 5900 isr=0000+x.0 iip=+000 | volume 2, 7.1.1
	STOP_AT fetched_low_bits, FETCH | LEVELS(15) | WHOLE, KPSR | PSR_DB, ISR | IIP, 7
//= fetched_low_bits 5900 isr=0000+x.0 iip=+000 | volume 2, table 7-1: bits 3:0 of an IBR are ignored
	STOP_AT fetched_first, FETCH | LEVELS(15) | WHOLE, KPSR | PSR_DB, ISR | IIP, 0, "break.m 0x99"
//= fetched_first 5900 isr=0000+x.0 iip=+000 | volume 2, table 5-6: before the instruction's own faults
	.macro RESUME_AT name, psr, fields=ISR | IIP
	CASE \name
	BREAKPOINT ibr, 0, at_\name + IN(1, 0), FETCH | LEVELS(15) | WHOLE
	MAP i, IN(1, 0x100000), RWX | 0x100000, 18
	ENTERIN 1, \psr
	.explicit
	AT \name
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END \name, \fields
	BREAKPOINT ibr, 0, 0, 0
	UNMAP IN(1, 0x100000), 18
	.endm
	RESUME_AT fetched_id, KPSR | PSR_DB | PSR_ID, ISR | IIP | IPSR
//= fetched_id 5900 isr=0000+x.1 iip=+000 ipsr=0000121009022000 | volume 2, 3.3.2: PSR.id is for one instruction; the next slot is one of its own
	RESUME_AT fetched_slot2, KPSR | PSR_DB | PSR_RI(2), ISR | IIP | IPSR
//= fetched_slot2 5900 isr=0000+x.2 iip=+000 ipsr=0000141009022000 | volume 2, 8.3, 0x5900
	RESUME_AT fetched_slot2_id, KPSR | PSR_DB | PSR_RI(2) | PSR_ID
//= fetched_slot2_id none | volume 2, 3.3.2

// da: dirty and access bits of one instruction; ia: the instruction access bit of one
	.macro ONE_SHOT name, psr, pte, instruction, fields=ISR | IFA
	CASE \name
	MAP d, PLACE, \pte, 12
	movl r4 = PLACE + 0x10
	mov r5 = 1
	ENTER \psr
	AT \name
	\instruction
	END \name, \fields
	UNMAP PLACE, 12
	.endm
	ONE_SHOT da_access, KPSR | PSR_DA, P | D | AR(3) | PAGE, "ld8 r8 = [r4]"
//= da_access none | volume 2, 3.3.2: PSR.da
	ONE_SHOT da_dirty, KPSR | PSR_DA, P | A | AR(3) | PAGE, "st8 [r4] = r5"
//= da_dirty none | volume 2, 3.3.2
	ONE_SHOT da_both, KPSR | PSR_DA, P | AR(3) | PAGE, "st8 [r4] = r5"
//= da_both none | volume 2, 3.3.2
	ONE_SHOT da_rights, KPSR | PSR_DA, P | AR(0) | PAGE, "st8 [r4] = r5"
//= da_rights 5300 isr=0000+w.0 ifa=2000000000008010 | volume 2, 3.3.2: nothing else is suppressed
	ONE_SHOT da_once, KPSR | PSR_DA, P | D | AR(3) | PAGE, "ld8 r8 = [r4];; ld8 r8 = [r4]", ISR | IPSR
//= da_once 2800 isr=0000+r.1 ipsr=0000121008022000 | volume 2, 3.3.2
	.macro ONE_FETCH name, psr, pte, fields=ISR | IIP
	CASE \name
	MAP i, IN(1, 0x100000), \pte | 0x100000, 18
	ENTERIN 1, \psr
	.explicit
	AT \name
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END \name, \fields
	UNMAP IN(1, 0x100000), 18
	.endm
	ONE_FETCH ia_off, KPSR, P | AR(3) | PL(3)
//= ia_off 2400 isr=0000+x.0 iip=+000 | volume 2, 8.3, 0x2400
	ONE_FETCH ia_once, KPSR | PSR_IA, P | AR(3) | PL(3), ISR | IIP | IPSR
//= ia_once 2400 isr=0000+x.1 iip=+000 ipsr=0000121008022000 | volume 2, 3.3.2: PSR.ia is for one instruction
	FINISH
