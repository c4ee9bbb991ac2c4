// References without translation, attributes by bit 63, addresses with bits that are not implemented (50 bits of physical
// address, as the later Itaniums have; virtual addresses have all 64). Volume 2, 4.2, 4.3, 8.3 (0x5400, 0x5e00).
#include "system.h"
	.set REAL, KPSR & ~PSR_DT
	.set UC, 1 << 63
	.macro PHYSICAL name, instruction, address=PAGE + 8, fields=ISR | IFA, psr=REAL
	CASE \name
	movl r4 = \address
	mov r5 = 1
	mov r8 = 0
	ENTER \psr
	AT \name
	\instruction
	END \name, \fields
	.endm
	STORE PAGE + 8, 0x1122334455667788
	PHYSICAL load, "ld8 r8 = [r4]", PAGE + 8, R8
//= load none r8=1122334455667788 | volume 2, 4.2
	PHYSICAL load_uncacheable, "ld8 r8 = [r4]", UC | PAGE + 8, R8
//= load_uncacheable none r8=1122334455667788 | volume 2, 4.2: bit 63 is the attribute
	PHYSICAL load_level3, "ld8 r8 = [r4]", PAGE + 8, R8, REAL | PSR_CPL(3)
//= load_level3 none r8=1122334455667788 | volume 2, 4.2: no rights
	PHYSICAL load_keys, "ld8 r8 = [r4]", PAGE + 8, R8, (REAL | PSR_PK) & ~PSR_IT
//= load_keys none r8=1122334455667788 | volume 2, 4.2: no keys
	PHYSICAL exchange, "xchg8 r8 = [r4], r5;; xchg8 r8 = [r4], r8", PAGE + 8, R8
//= exchange none r8=0000000000000001 | volume 2, 4.2: cacheable with bit 63 off
	PHYSICAL exchange_uncacheable, "xchg8 r8 = [r4], r5", UC | PAGE + 8
//= exchange_uncacheable 5b00 isr=0000+w+r.0 ifa=8000000000400008 | volume 2, 4.4.9, 8.3, 0x5b00
	PHYSICAL fetchadd_uncacheable, "fetchadd8.acq r8 = [r4], 1", UC | PAGE + 8
//= fetchadd_uncacheable 5b00 isr=0000+w+r.0 ifa=8000000000400008 | volume 2, 4.4.9
	PHYSICAL unaligned, "ld8 r8 = [r4]", PAGE + 1, ISR | IFA, REAL | PSR_AC
//= unaligned 5a00 isr=0000+r.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00

	PHYSICAL beyond_load, "ld8 r8 = [r4]", 1 << 50, ISR | IFA | IIP
//= beyond_load 5400 isr=0030+r.0 iip=+000 ifa=0004000000000000 | volume 2, 4.3.1, 8.3, 0x5400: Unimplemented Data Address has code 3, r and w; IFA by 3.3.5.4
	PHYSICAL beyond_load62, "ld8 r8 = [r4]", 1 << 62, ISR
//= beyond_load62 5400 isr=0030+r.0 | volume 2, 4.3.1
	PHYSICAL beyond_store, "st8 [r4] = r5", UC | 1 << 51
//= beyond_store 5400 isr=0030+w.0 ifa=8008000000000000 | volume 2, 4.3.1: with bit 63 as well
	PHYSICAL beyond_exchange, "xchg8 r8 = [r4], r5", 1 << 50, ISR
//= beyond_exchange 5400 isr=0030+w+r.0 | volume 2, 4.3.1
	PHYSICAL beyond_speculative, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", 1 << 50, R8
//= beyond_speculative none r8=0000000000000001 | volume 2, 5.5.5, table 5-4: deferred always
//ski beyond_speculative: it raises the fault
	PHYSICAL beyond_prefetch, "lfetch [r4]", 1 << 50
//= beyond_prefetch none | volume 3, lfetch
	PHYSICAL beyond_prefetch_fault, "lfetch.fault [r4]", 1 << 50, ISR
//= beyond_prefetch_fault 5400 isr=0034+r+na.0 | volume 3, lfetch
	PHYSICAL beyond_flush, "fc r4", 1 << 50, ISR
//= beyond_flush 5400 isr=0031+r+na.0 | volume 3, fc
	PHYSICAL beyond_unaligned, "ld8 r8 = [r4]", 1 << 50 | 1, ISR, REAL | PSR_AC
//= beyond_unaligned 5400 isr=0030+r.0 | volume 2, table 5-6
	PHYSICAL beyond_level3, "ld8 r8 = [r4]", 1 << 50, ISR, REAL | PSR_CPL(3)
//= beyond_level3 5400 isr=0030+r.0 | volume 2, 4.3.1: at every level
	PHYSICAL virtual_high, "ld8 r8 = [r4]", IN(1, 1 << 60), ISR | IFA, KPSR
//= virtual_high 1000 isr=0000+r.0 ifa=3000000000000000 | volume 2, 4.3.2: all virtual addresses are implemented

// instructions that translate whatever PSR.dt says
	PHYSICAL tpa_mapped, "tpa r8 = r4", PAGE + 8, R8
//= tpa_mapped none r8=0000000000400008 | volume 3, tpa: the data TLB even with PSR.dt 0
	PHYSICAL tpa_missing, "tpa r8 = r4", IN(1, 0x8000)
//= tpa_missing 1000 isr=0000+na.0 ifa=2000000000008000 | volume 3, tpa
	PHYSICAL tak_missing, "tak r8 = r4", IN(1, 0x8000), R8
//= tak_missing none r8=0000000000000001 | volume 3, tak
	PHYSICAL probe_missing, "probe.r r8 = r4, 0", IN(1, 0x8000)
//= probe_missing 1000 isr=0002+r+na.0 ifa=2000000000008000 | volume 3, probe: the data TLB even with PSR.dt 0
	PHYSICAL probe_mapped, "probe.r r8 = r4, 3", PAGE + 8, R8
//= probe_mapped none r8=0000000000000001 | volume 3, probe

// the walker needs PSR.dt
	CASE walker_off
	movl r2 = TABLE + (0x30000 >> 14 << 3)
	movl r3 = RWX | PAGE
	;;
	st8 [r2] = r3
	SETRR 1, RRV(1, 14, 1)
	SETCR pta, TABLE | 20 << 2 | 1
	MAP d, IN(1, TABLE), RWX | TABLE, 20
	movl r4 = IN(1, 0x30008)
	ENTER REAL
	AT walker_off
	tpa r8 = r4
	END walker_off, ISR | IFA
	SETCR pta, 15 << 2
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, TABLE), 20
//= walker_off 1000 isr=0000+na.0 ifa=2000000000030008 | volume 2, 4.1.7

	CASE virtual_branch
	movl r4 = IN(1, 1 << 60)
	;;
	mov b1 = r4
	;;
	AT virtual_branch
	br.cond.sptk.many b1
	END virtual_branch, ISR | IFA
//= virtual_branch 0c00 isr=0000+x.0 ifa=3000000000000000 | volume 2, 4.3.2

// PSR.it off alone: code is at its physical addresses
	CASE code_physical
	ENTER KPSR & ~PSR_IT
	AT code_physical
	break.m 0x99
	END code_physical, IIP | IPSR
//= code_physical 2c00 iip=+000 ipsr=0000100008022000 | volume 2, 4.2
	CASE all_physical
	ENTER PSR_BN | PSR_IC
	movl r4 = PAGE + 8
	;;
	st8 [r4] = r0
	;;
	ld8 r8 = [r4]
	AT all_physical
	break.m 0x99
	END all_physical, IIP | IPSR | R8
//= all_physical 2c00 iip=+000 ipsr=0000100000002000 r8=0000000000000000 | volume 2, 4.2
	FINISH
