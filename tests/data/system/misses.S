// References without a translation, by kind: vectors 0x0c00, 0x1000, 0x1400, and what non-access instructions do.
// No walker. Volume 2, 4.1.1 (TLB misses), 5.5.2 and table 5-1 (non-access instructions), 8.3 (vectors).
#include "system.h"
	.macro DATA name, instruction
	CASE \name
	movl r4 = IN(1, 0x8008)
	mov r5 = 1
	AT \name
	\instruction
	END \name, ISR | IFA | ITIR | IIP
	.endm

	CASE load
	movl r4 = IN(1, 0x8008)
	AT load
	ld8 r8 = [r4]
	END load, ISR | IIP | IFA | ITIR | IIPA
//= load 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 iipa=-010 | volume 2, 8.3, 0x1000
	DATA store, "st8 [r4] = r5"
//= store 1000 isr=0000+w.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x1000
	DATA fetchadd, "fetchadd8.acq r8 = [r4], 1"
//= fetchadd 1000 isr=0000+w+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 3.3.5.2: semaphores set r and w
	DATA exchange, "xchg8 r8 = [r4], r5"
//= exchange 1000 isr=0000+w+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 3.3.5.2
	DATA compare_exchange, "cmpxchg8.acq r8 = [r4], r5, ar.ccv"
//= compare_exchange 1000 isr=0000+w+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 3.3.5.2
	DATA load_float, "ldfd f8 = [r4]"
//= load_float 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x1000
	DATA load_pair, "ldfps f8, f9 = [r4]"
//= load_pair 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x1000
	DATA store_float, "stf.spill [r4] = f8"
//= store_float 1000 isr=0000+w.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x1000; a miss before 0x5a00 in table 5-6
	DATA load_fill, "ld8.fill r8 = [r4]"
//= load_fill 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x1000
	DATA load_advanced, "ld8.a r8 = [r4]"
//= load_advanced 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3: sp only for speculative loads
	DATA load_speculative, "ld8.s r8 = [r4]"
//= load_speculative 1000 isr=0000+r+sp.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 5.5.5.2: DCR.dm 0, not deferred
	DATA load_speculative_advanced, "ld8.sa r8 = [r4]"
//= load_speculative_advanced 1000 isr=0000+r+sp.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 5.5.5.2
	DATA load_check, "ld8.c.clr r8 = [r4]"
//= load_check 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 3, ld: the check missed, so it loads
	DATA prefetch, "lfetch [r4]"
//= prefetch none | volume 3, lfetch: without .fault never a fault
	DATA prefetch_fault, "lfetch.fault [r4]"
//= prefetch_fault 1000 isr=0004+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA flush, "fc r4"
//= flush 1000 isr=0001+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA flush_instructions, "fc.i r4"
//= flush_instructions 1000 isr=0001+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA physical, "tpa r8 = r4"
//= physical 1000 isr=0000+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA probe_read, "probe.r r8 = r4, 0"
//= probe_read 1000 isr=0002+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA probe_write, "probe.w r8 = r4, 0"
//= probe_write 1000 isr=0002+w+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA probe_fault_read, "probe.r.fault r4, 0"
//= probe_fault_read 1000 isr=0005+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA probe_fault_write, "probe.w.fault r4, 0"
//= probe_fault_write 1000 isr=0005+w+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1
	DATA probe_fault_both, "probe.rw.fault r4, 0"
//= probe_fault_both 1000 isr=0005+w+r+na.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, table 5-1

	CASE key_of_nothing
	movl r4 = IN(1, 0x8008)
	AT key_of_nothing
	tak r8 = r4
	END key_of_nothing, R8
//= key_of_nothing none r8=0000000000000001 | volume 3, tak: no translation gives 1, no walk and no miss

	CASE predicated_off
	movl r4 = IN(1, 0x8008)
	cmp.ne p6, p7 = r0, r0
	AT predicated_off
(p6)	ld8 r8 = [r4]
(p6)	mov cr.ifa = r0
(p6)	break.m 5
	END predicated_off
//= predicated_off none | volume 1, 3.3: a false predicate faults nowhere

// slots: ISR.ei, IPSR.ri
	CASE slot1
	movl r4 = IN(1, 0x8008)
	.explicit
	AT slot1
	{ .mmi
	nop.m 0
	ld8 r8 = [r4]
	nop.i 0 ;;
	}
	.default
	END slot1, ISR | IIP | IIPA | IPSR
//= slot1 1000 isr=0000+r.1 iip=+000 iipa=+000 ipsr=0000121008022000 | volume 2, 3.3.5.2, 3.3.5.3, 3.3.5.8

	CASE slot1_first
	movl r4 = IN(1, 0x8008)
	.explicit
	AT slot1_first
	{ .mmi
	ld8 r8 = [r4]
	nop.m 0
	nop.i 0 ;;
	}
	.default
	END slot1_first, ISR | IIP | IIPA | IPSR
//= slot1_first 1000 isr=0000+r.0 iip=+000 iipa=-010 ipsr=0000101008022000 | volume 2, 3.3.5.2, 3.3.5.8

// instructions
	CASE instruction
	movl r4 = IN(1, 0xc010)
	;;
	mov b1 = r4
	;;
	ATX instruction, IN(1, 0xc010)
	br.cond.sptk.many b1
	END instruction, ISR | IIP | IFA | ITIR
//= instruction 0c00 isr=0000+x.0 iip=+000 ifa=200000000000c010 itir=0000000000001138 | volume 2, 8.3, 0x0c00

	CASE instruction_iipa
	movl r4 = IN(1, 0xc010)
	;;
	mov b1 = r4
	;;
	AT instruction_iipa
	br.cond.sptk.many b1
	END instruction_iipa, ISR | IIPA
//= instruction_iipa 0c00 isr=0000+x.0 iipa=+000 | volume 2, 3.3.5.8: the branch was the last that executed

	CASE instruction_level3
	LEVEL 3
	movl r4 = IN(5, 0xc010)
	;;
	mov b1 = r4
	;;
	ATX instruction_level3, IN(5, 0xc010)
	br.cond.sptk.many b1
	END instruction_level3, ISR | IIP | IFA | ITIR | IPSR
//= instruction_level3 0c00 isr=0000+x.0 iip=+000 ifa=a00000000000c010 itir=0000000000001538 ipsr=0000101308022000 | volume 2, 8.3, 0x0c00

	CASE instruction_slot2
	CLOSE
	movl r4 = KPSR | PSR_RI(2)
	movl r5 = IN(1, 0xc010)
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	mov cr.ifs = r0
	;;
	rfi
	ATX instruction_slot2, IN(1, 0xc010)
	END instruction_slot2, ISR | IIP | IFA | IPSR
//= instruction_slot2 0c00 isr=0000+x.2 iip=+000 ifa=200000000000c010 ipsr=0000141008022000 | volume 2, 8.3: ei is the slot that PSR.ri says

// PSR.ic off: data nested, and ISR.ni elsewhere; the interruption's registers stay
	.macro NESTED name, instruction
	CASE \name
	movl r4 = IN(1, 0x8008)
	mov r5 = 1
	CLOSE
	movl r6 = 0x20
	movl r7 = 0x7778
	;;
	mov cr.isr = r6
	mov cr.ifa = r7
	mov cr.itir = r0
	mov cr.iim = r6
	movl r6 = at_\name
	;;
	mov cr.iip = r6
	;;
	srlz.d
	;;
	\instruction
	AT \name
	END \name, ISR | IFA | ITIR | IIM | IIP
	.endm
	NESTED nested_load, "ld8 r8 = [r4]"
//= nested_load 1400 isr=0020.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 iim=0000000000000020 | volume 2, 8.3, 0x1400: nothing is written, ISR neither
	NESTED nested_store, "st8 [r4] = r5"
//= nested_store 1400 isr=0020.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 iim=0000000000000020 | volume 2, 8.3, 0x1400
	NESTED nested_tpa, "tpa r8 = r4"
//= nested_tpa 1400 isr=0020.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 iim=0000000000000020 | volume 2, 8.3, 0x1400
	NESTED nested_probe, "probe.r r8 = r4, 0"
//= nested_probe 1400 isr=0020.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 iim=0000000000000020 | volume 2, 8.3, 0x1400
	NESTED nested_flush, "fc r4"
//= nested_flush 1400 isr=0020.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 iim=0000000000000020 | volume 2, 8.3, 0x1400

	CASE nested_speculative
	movl r4 = IN(1, 0x8008)
	CLOSE
	ld8.s r8 = [r4]
	;;
	ISNAT
	AT nested_speculative
	OPEN
	END nested_speculative, R8
//= nested_speculative none r8=0000000000000001 | volume 2, table 5-4: deferred with PSR.ic 0

	CASE instruction_nested
	movl r4 = IN(1, 0xc010)
	;;
	mov b1 = r4
	CLOSE
	movl r6 = at_instruction_nested
	movl r7 = 0x7778
	;;
	mov cr.iip = r6
	mov cr.ifa = r7
	mov cr.itir = r0
	;;
	AT instruction_nested
	br.cond.sptk.many b1
	END instruction_nested, ISR | IIP | IFA | ITIR
//= instruction_nested 0c00 isr=0000+x+ni.0 iip=+000 ifa=0000000000007778 itir=0000000000000000 | volume 2, 5.5: with PSR.ic 0 only ISR is written

	CASE rights_nested
	MAP d, IN(1, 0x8000), (P | A | D | AR(0)), 14
	movl r4 = IN(1, 0x8008)
	CLOSE
	movl r7 = 0x7778
	;;
	mov cr.ifa = r7
	;;
	AT rights_nested
	st8 [r4] = r0
	END rights_nested, ISR | IFA
	UNMAP IN(1, 0x8000), 14
//= rights_nested 5300 isr=0000+w+ni.0 ifa=0000000000007778 | volume 2, 5.5, 8.3, 0x5300

// a translation serves until it is purged
	CASE mapped
	STORE PAGE + 8, 0x1234
	MAP d, IN(1, 0x8000), (RWX | PAGE), 14
	movl r4 = IN(1, 0x8008)
	AT mapped
	ld8 r8 = [r4]
	END mapped, R8
//= mapped none r8=0000000000001234 | volume 2, 4.1.1

	CASE fetch_is_not_data
	movl r4 = IN(1, 0x8000)
	;;
	mov b1 = r4
	;;
	ATX fetch_is_not_data, IN(1, 0x8000)
	br.cond.sptk.many b1
	END fetch_is_not_data, ISR | IIP
//= fetch_is_not_data 0c00 isr=0000+x.0 iip=+000 | volume 2, 4.1.1.2: itc.d need not enter the instruction TLB, and does not here

	CASE other_region
	movl r4 = IN(2, 0x8008)
	AT other_region
	ld8 r8 = [r4]
	END other_region, ISR | IFA | ITIR
//= other_region 1000 isr=0000+r.0 ifa=4000000000008008 itir=0000000000001238 | volume 2, 4.1.1: the region's identifier is part of the match

	CASE purged
	UNMAP IN(1, 0x8000), 14
	movl r4 = IN(1, 0x8008)
	AT purged
	ld8 r8 = [r4]
	END purged, ISR | IFA
//= purged 1000 isr=0000+r.0 ifa=2000000000008008 | volume 3, ptc.l

	CASE nothing
	AT nothing
	END nothing, ISR
//= nothing none | volume 2, 5.2
	FINISH
