// Speculative loads: which faults are deferred, by DCR, ITLB.ed, PSR.ed, PSR.ic and PSR.it. Volume 2, 5.5.5, table 5-4; ISR.ed.
// The code runs in region 1, where the image's pages have ed 1; region 0 is the same without.
#include "system.h"
#define PLACE	IN(2, 0x8000)
	.set DM, 1 << 8
	.set DP, 1 << 9
	.set DK, 1 << 10
	.set DX, 1 << 11
	.set DR, 1 << 12
	.set DA, 1 << 13
	.set DD, 1 << 14
	.set ALL, 0x7f00

	MAP i, IN(1, 0x100000), RWX | ED | 0x100000, 18
	SETPKR 0, 1
	.macro DEFER name, dcr, pte=-1, psr=KPSR, region=1, instruction="ld8.s r8 = [r4]", fields=ISR | IFA | R8, key=0, offset=0
	CASE \name
	.if (\pte) != -1
	MAP d, PLACE, \pte, 12, \key
	.endif
	SETCR dcr, \dcr
	movl r4 = PLACE + \offset
	mov r8 = r0
	ENTERIN \region, \psr
	AT \name
	\instruction
	;;
	ISNAT
	END \name, \fields
	SETCR dcr, 0
	UNMAP PLACE, 12
	.endm
	.macro LOADED name, dcr, pte=-1, psr=KPSR, region=1, instruction="ld8.s r8 = [r4]", fields=ISR | IFA, key=0, offset=0
	DEFER \name, \dcr, \pte, \psr, \region, "\instruction", \fields, \key, \offset
	.endm

	LOADED miss, ALL & ~DM
//= miss 1000 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER miss_deferred, DM
//= miss_deferred none r8=0000000000000001 | volume 2, table 5-4
	LOADED miss_no_recovery, ALL, -1, KPSR, 0
//= miss_no_recovery 1000 isr=0000+r+sp.0 ifa=4000000000008000 | volume 2, 5.5.5: ITLB.ed 0
	LOADED miss_physical, ALL, -1, KPSR & ~PSR_IT, 0
//= miss_physical 1000 isr=0000+r+sp.0 ifa=4000000000008000 | volume 2, 5.5.5: PSR.it 0
	DEFER miss_ed, 0, -1, KPSR | PSR_ED
//= miss_ed none r8=0000000000000001 | volume 2, 5.5.5: PSR.ed defers whatever it is
	DEFER good_ed, 0, RWX | PAGE, KPSR | PSR_ED, 0
//= good_ed none r8=0000000000000001 | volume 2, 5.5.5: even without an exception
	DEFER good, ALL, RWX | PAGE
//= good none r8=0000000000000000 | volume 2, 5.5.5
	DEFER good_ed_once, 0, RWX | PAGE, KPSR | PSR_ED, 0, "ld8.s r8 = [r4];; ld8.s r8 = [r4]"
//= good_ed_once none r8=0000000000000000 | volume 2, 3.3.2: PSR.ed is for one instruction
	DEFER ordinary_ed, 0, RWX | PAGE, KPSR | PSR_ED, 0, "ld8 r8 = [r4]"
//= ordinary_ed none r8=0000000000000000 | volume 2, 3.3.2: other loads do not look at PSR.ed
	LOADED ordinary_miss, ALL, -1, KPSR, 1, "ld8 r8 = [r4]"
//= ordinary_miss 1000 isr=0000+r+ed.0 ifa=4000000000008000 | volume 2, 3.3.5.2: ISR.ed of all data references of the page
	LOADED ordinary_store, ALL, -1, KPSR, 1, "st8 [r4] = r0"
//= ordinary_store 1000 isr=0000+w+ed.0 ifa=4000000000008000 | volume 2, 3.3.5.2
	DEFER prefetch_ed, 0, -1, KPSR | PSR_ED, 1, "lfetch.fault [r4]"
//= prefetch_ed none r8=0000000000000000 | volume 3, lfetch: PSR.ed suppresses it
	LOADED prefetch_fault, ALL, -1, KPSR, 1, "lfetch.fault [r4]"
//= prefetch_fault 1000 isr=0004+r+na+ed.0 ifa=4000000000008000 | volume 3, lfetch: DCR says nothing of it
	LOADED absent, ALL & ~DP, 0
//= absent 5000 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER absent_deferred, DP, 0
//= absent_deferred none r8=0000000000000001 | volume 2, table 5-4
	LOADED key_miss, ALL & ~DK, RWX | PAGE, KPSR | PSR_PK, 1, "ld8.s r8 = [r4]", ISR | IFA, 0x55
//= key_miss 1c00 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER key_miss_deferred, DK, RWX | PAGE, KPSR | PSR_PK, 1, "ld8.s r8 = [r4]", ISR | R8, 0x55
//= key_miss_deferred none r8=0000000000000001 | volume 2, table 5-4
	SETPKR 1, 0x5505
	LOADED key, ALL & ~DX, RWX | PAGE, KPSR | PSR_PK, 1, "ld8.s r8 = [r4]", ISR | IFA, 0x55
//= key 5100 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER key_deferred, DX, RWX | PAGE, KPSR | PSR_PK, 1, "ld8.s r8 = [r4]", ISR | R8, 0x55
//= key_deferred none r8=0000000000000001 | volume 2, table 5-4
	SETPKR 1, 0
	LOADED rights, ALL & ~DR, P | A | D | AR(3) | PAGE, KPSR | PSR_CPL(3)
//= rights 5300 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER rights_deferred, DR, P | A | D | AR(3) | PAGE, KPSR | PSR_CPL(3)
//= rights_deferred none r8=0000000000000001 | volume 2, table 5-4
	LOADED access, ALL & ~DA, P | D | AR(3) | PAGE
//= access 2800 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER access_deferred, DA, P | D | AR(3) | PAGE
//= access_deferred none r8=0000000000000001 | volume 2, table 5-4
	DEFER rights_and_access, DR | DA, P | D | AR(3) | PAGE, KPSR | PSR_CPL(3)
//= rights_and_access none r8=0000000000000001 | volume 2, 5.5.5: both deferred
	LOADED rights_and_access_a, DR, P | D | AR(3) | PAGE, KPSR | PSR_CPL(3)
//= rights_and_access_a 2800 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, 5.5.5: the access bit is not precluded by the rights, whose fault is deferred
	DEFER nat_page, 0, RWX | MA(7) | PAGE
//= nat_page none r8=0000000000000001 | volume 2, table 5-4: always
	DEFER nat_page_region0, 0, RWX | MA(7) | PAGE, KPSR, 0
//= nat_page_region0 none r8=0000000000000001 | volume 2, table 5-4: always
	DEFER unaligned, 0, RWX | PAGE, KPSR | PSR_AC, 1, "ld8.s r8 = [r4]", ISR | R8, 0, 1
//= unaligned none r8=0000000000000001 | volume 2, 5.5.5: with ITLB.ed 1 whatever DCR says
	LOADED unaligned_no_recovery, ALL, RWX | PAGE, KPSR | PSR_AC, 0, "ld8.s r8 = [r4]", ISR | IFA, 0, 1
//= unaligned_no_recovery 5a00 isr=0000+r+sp.0 ifa=4000000000008001 | volume 2, 5.5.5
	LOADED unaligned_ordinary, ALL, RWX | PAGE, KPSR | PSR_AC, 1, "ld8 r8 = [r4]", ISR | IFA, 0, 1
//= unaligned_ordinary 5a00 isr=0000+r+ed.0 ifa=4000000000008001 | volume 2, 3.3.5.2

	movl r2 = 0
	movl r3 = IN(2, 0x8000)
	;;
	mov dbr[r2] = r3
	mov r2 = 1
	movl r3 = 1 << 63 | 15 << 56 | ((1 << 56) - 1)
	;;
	mov dbr[r2] = r3
	;;
	srlz.d
	;;
	LOADED debug, ALL & ~DD, RWX | PAGE, KPSR | PSR_DB
//= debug 5900 isr=0000+r+sp+ed.0 ifa=4000000000008000 | volume 2, table 5-4
	DEFER debug_deferred, DD, RWX | PAGE, KPSR | PSR_DB
//= debug_deferred none r8=0000000000000001 | volume 2, table 5-4

// with PSR.ic 0 all of them
	.macro CLOSED name, pte, psr=KPSR
	CASE \name
	.if (\pte) != -1
	MAP d, PLACE, \pte, 12, 0x55
	.endif
	movl r4 = PLACE
	ENTER (\psr) & ~PSR_IC
	ld8.s r8 = [r4]
	;;
	ISNAT
	AT \name
	END \name, R8
	UNMAP PLACE, 12
	.endm
	CLOSED closed_miss, -1
//= closed_miss none r8=0000000000000001 | volume 2, 5.5.5: always-defer
	CLOSED closed_absent, 0
//= closed_absent none r8=0000000000000001 | volume 2, 5.5.5
	CLOSED closed_key, RWX | PAGE, KPSR | PSR_PK
//= closed_key none r8=0000000000000001 | volume 2, 5.5.5
	CLOSED closed_rights, P | A | D | AR(3) | PAGE, KPSR | PSR_CPL(3)
//= closed_rights none r8=0000000000000001 | volume 2, 5.5.5
	CLOSED closed_access, P | D | AR(3) | PAGE
//= closed_access none r8=0000000000000001 | volume 2, 5.5.5
	CLOSED closed_debug, RWX | PAGE, KPSR | PSR_DB
//= closed_debug none r8=0000000000000001 | volume 2, 5.5.5
	CLOSED closed_good, RWX | (PAGE + 0x2000)
//= closed_good none r8=0000000000000000 | volume 2, 5.5.5
	FINISH
