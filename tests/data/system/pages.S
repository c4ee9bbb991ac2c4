// Faults of a page whose translation is there: present, NaT page, key miss, key permission, access rights, dirty and
// access bits, by kind of reference. Volume 2, 4.1.1.5 and 4.1.1.6 (fields, keys), 5.5.2, 8.3.
#include "system.h"
#define PLACE	IN(1, 0x8000)
	.set ABSENT, 0				// all other fields are ignored
	.set NO_A, P | D | PL(3) | AR(3) | PAGE
	.set NO_D, P | A | PL(3) | AR(3) | PAGE
	.set NO_AD, P | PL(3) | AR(3) | PAGE
	.set READ_ONLY, P | A | D | AR(0) | PAGE
	.set NAT_PAGE, P | A | D | PL(3) | AR(3) | MA(7) | PAGE
	.set KERNEL, P | A | D | AR(3) | PAGE

	.macro PAGED name, pte, instruction, fields=ISR | IFA, key=0
	CASE \name
	MAP d, PLACE, \pte, 12, \key
	movl r4 = PLACE + 8
	mov r5 = 1
	AT \name
	\instruction
	END \name, \fields
	UNMAP PLACE, 12
	.endm

	.macro FETCHED name, pte, fields=ISR | IFA, key=0
	CASE \name
	MAP i, PLACE, \pte, 12, \key
	movl r4 = PLACE + 0x20
	;;
	mov b1 = r4
	;;
	ATX \name, PLACE + 0x20
	br.cond.sptk.many b1
	END \name, \fields
	UNMAP PLACE, 12
	.endm

// present bit
	PAGED absent_load, ABSENT, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR
//= absent_load 5000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x5000: ITIR from the region register, not the page
	PAGED absent_store, ABSENT, "st8 [r4] = r5"
//= absent_store 5000 isr=0000+w.0 ifa=2000000000008008 | volume 2, 8.3, 0x5000
	PAGED absent_fetchadd, ABSENT, "fetchadd4.rel r8 = [r4], -1"
//= absent_fetchadd 5000 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x5000
	PAGED absent_speculative, ABSENT, "ld8.s r8 = [r4]"
//= absent_speculative 5000 isr=0000+r+sp.0 ifa=2000000000008008 | volume 2, table 5-4: DCR.dp 0
	PAGED absent_tpa, ABSENT, "tpa r8 = r4"
//= absent_tpa 5000 isr=0000+na.0 ifa=2000000000008008 | volume 3, tpa; volume 2, table 5-1
	PAGED absent_tak, ABSENT, "tak r8 = r4", R8
//= absent_tak none r8=0000000000000001 | volume 3, tak: 1 for a page that is not present
	PAGED absent_probe, ABSENT, "probe.w r8 = r4, 3"
//= absent_probe 5000 isr=0002+w+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED absent_probe_fault, ABSENT, "probe.rw.fault r4, 3"
//= absent_probe_fault 5000 isr=0005+w+r+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED absent_flush, ABSENT, "fc r4"
//= absent_flush 5000 isr=0001+r+na.0 ifa=2000000000008008 | volume 3, fc
	PAGED absent_prefetch, ABSENT, "lfetch [r4]"
//= absent_prefetch none | volume 3, lfetch
	PAGED absent_prefetch_fault, ABSENT, "lfetch.fault.excl [r4]"
//= absent_prefetch_fault 5000 isr=0004+r+na.0 ifa=2000000000008008 | volume 2, table 5-1: r even for .excl
	FETCHED absent_fetch, ABSENT, ISR | IIP | IFA | ITIR
//= absent_fetch 5000 isr=0000+x.0 iip=+000 ifa=2000000000008020 itir=0000000000001138 | volume 2, 8.3, 0x5000

// NaT pages
	PAGED nat_load, NAT_PAGE, "ld8 r8 = [r4]"
//= nat_load 5600 isr=0020+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600: code 2 in bits 7:4
	PAGED nat_store, NAT_PAGE, "st8 [r4] = r5"
//= nat_store 5600 isr=0020+w.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	PAGED nat_exchange, NAT_PAGE, "xchg4 r8 = [r4], r5"
//= nat_exchange 5600 isr=0020+w+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	PAGED nat_tpa, NAT_PAGE, "tpa r8 = r4"
//= nat_tpa 5600 isr=0020+na.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	PAGED nat_probe, NAT_PAGE, "probe.r r8 = r4, 3"
//= nat_probe 5600 isr=0022+r+na.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	PAGED nat_flush, NAT_PAGE, "fc r4"
//= nat_flush 5600 isr=0021+r+na.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	PAGED nat_prefetch, NAT_PAGE, "lfetch.fault [r4]"
//= nat_prefetch 5600 isr=0024+r+na.0 ifa=2000000000008008 | volume 2, 8.3, 0x5600
	CASE nat_speculative
	MAP d, PLACE, NAT_PAGE, 12
	movl r4 = PLACE
	;;
	ld8.s r8 = [r4]
	;;
	ISNAT
	AT nat_speculative
	END nat_speculative, R8
	UNMAP PLACE, 12
//= nat_speculative none r8=0000000000000001 | volume 2, 5.5.5: deferred whatever the DCR says
	FETCHED nat_fetch, NAT_PAGE
//= nat_fetch 5600 isr=0020+x.0 ifa=2000000000008020 | volume 2, 8.3, 0x5600

// access bit
	PAGED access_load, NO_A, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR
//= access_load 2800 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x2800
	PAGED access_store, NO_A, "st8 [r4] = r5"
//= access_store 2800 isr=0000+w.0 ifa=2000000000008008 | volume 2, 8.3, 0x2800
	PAGED access_speculative, NO_A, "ld8.s r8 = [r4]"
//= access_speculative 2800 isr=0000+r+sp.0 ifa=2000000000008008 | volume 2, table 5-4: DCR.da 0
	PAGED access_probe, NO_A, "probe.r r8 = r4, 3", R8
//= access_probe none r8=0000000000000001 | volume 3, probe: only .fault looks at the bit
	PAGED access_probe_fault, NO_A, "probe.r.fault r4, 3"
//= access_probe_fault 2800 isr=0005+r+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED access_tpa, NO_A, "tpa r8 = r4", R8
//= access_tpa none r8=0000000000400008 | volume 3, tpa
	PAGED access_flush, NO_A, "fc r4"
//= access_flush none | volume 3, fc
	PAGED access_prefetch, NO_A, "lfetch.fault [r4]"
//= access_prefetch 2800 isr=0004+r+na.0 ifa=2000000000008008 | volume 3, lfetch
	FETCHED access_fetch, NO_A, ISR | IIP | IFA | ITIR
//= access_fetch 2400 isr=0000+x.0 iip=+000 ifa=2000000000008020 itir=0000000000001138 | volume 2, 8.3, 0x2400

// dirty bit
	PAGED dirty_load, NO_D, "ld8 r8 = [r4]"
//= dirty_load none | volume 2, 4.1.1.5: loads do not need it
	PAGED dirty_store, NO_D, "st8 [r4] = r5", ISR | IIP | IFA | ITIR
//= dirty_store 2000 isr=0000+w.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x2000
	PAGED dirty_fetchadd, NO_D, "fetchadd8.acq r8 = [r4], 1"
//= dirty_fetchadd 2000 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x2000
	PAGED dirty_probe, NO_D, "probe.w r8 = r4, 3", R8
//= dirty_probe none r8=0000000000000001 | volume 3, probe
	PAGED dirty_probe_fault, NO_D, "probe.w.fault r4, 3"
//= dirty_probe_fault 2000 isr=0005+w+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED dirty_probe_both, NO_D, "probe.rw.fault r4, 3"
//= dirty_probe_both 2000 isr=0005+w+r+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED dirty_before_access, NO_AD, "st8 [r4] = r5"
//= dirty_before_access 2000 isr=0000+w.0 ifa=2000000000008008 | volume 2, table 5-6: Data Dirty Bit before Data Access Bit
	PAGED dirty_and_access_load, NO_AD, "ld8 r8 = [r4]"
//= dirty_and_access_load 2800 isr=0000+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x2800
	FETCHED dirty_fetch, NO_AD
//= dirty_fetch 2400 isr=0000+x.0 ifa=2000000000008020 | volume 2, 8.3, 0x2400

// access rights
	PAGED rights_store, READ_ONLY, "st8 [r4] = r5", ISR | IIP | IFA | ITIR
//= rights_store 5300 isr=0000+w.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x5300
	PAGED rights_fetchadd, READ_ONLY, "fetchadd8.acq r8 = [r4], 1"
//= rights_fetchadd 5300 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x5300
	PAGED rights_probe, READ_ONLY, "probe.w r8 = r4, 0", R8
//= rights_probe none r8=0000000000000000 | volume 3, probe
	PAGED rights_probe_fault, READ_ONLY, "probe.w.fault r4, 0"
//= rights_probe_fault 5300 isr=0005+w+na.0 ifa=2000000000008008 | volume 3, probe
	PAGED rights_probe_level, READ_ONLY, "probe.r.fault r4, 1"
//= rights_probe_level 5300 isr=0005+r+na.0 ifa=2000000000008008 | volume 3, probe
	FETCHED rights_fetch, READ_ONLY, ISR | IIP | IFA | ITIR
//= rights_fetch 5200 isr=0000+x.0 iip=+000 ifa=2000000000008020 itir=0000000000001138 | volume 2, 8.3, 0x5200
	CASE rights_level3
	MAP d, PLACE, KERNEL, 12
	LEVEL 3
	movl r4 = PLACE + 8
	AT rights_level3
	ld8 r8 = [r4]
	END rights_level3, ISR | IIP | IFA | IPSR
//= rights_level3 5300 isr=0000+r.0 iip=+000 ifa=2000000000008008 ipsr=0000101308022000 | volume 2, 4.1.1.6, table 4-4
	CASE rights_speculative
	LEVEL 3
	movl r4 = PLACE + 8
	AT rights_speculative
	ld8.s r8 = [r4]
	END rights_speculative, ISR | IFA
//= rights_speculative 5300 isr=0000+r+sp.0 ifa=2000000000008008 | volume 2, table 5-4: DCR.dr 0
	CASE rights_prefetch
	LEVEL 3
	movl r4 = PLACE + 8
	AT rights_prefetch
	lfetch.fault [r4]
	END rights_prefetch, ISR | IFA
//= rights_prefetch 5300 isr=0004+r+na.0 ifa=2000000000008008 | volume 3, lfetch
	CASE rights_flush
	LEVEL 3
	movl r4 = PLACE + 8
	AT rights_flush
	fc r4
	END rights_flush, ISR | IFA
//= rights_flush 5300 isr=0001+r+na.0 ifa=2000000000008008 | volume 3, fc: as a read of one byte but at level 0
	CASE rights_probe_level3
	LEVEL 3
	movl r4 = PLACE + 8
	AT rights_probe_level3
	probe.r r8 = r4, 0
	END rights_probe_level3, R8
	UNMAP PLACE, 12
//= rights_probe_level3 none r8=0000000000000000 | volume 3, probe: the level is the lower privileged of the operand's and PSR.cpl
	PAGED rights_flush_level0, (P | A | D | AR(7) | PL(3) | PAGE), "fc r4"
//= rights_flush_level0 none | volume 3, fc

// keys: a register for the image's own pages, whose key is 0, and key 0x55 by turns
	.macro KEYED name, pkr, pte, instruction, fields=ISR | IFA, ps=12
	CASE \name
	SETPKR 0, 1
	SETPKR 1, \pkr
	MAP d, PLACE, \pte, 12, 0x55
	ENTER KPSR | PSR_PK
	movl r4 = PLACE + 8
	mov r5 = 1
	AT \name
	\instruction
	END \name, \fields
	UNMAP PLACE, 12
	.endm
	.macro KEYED_FETCH name, pkr, pte, fields=ISR | IFA
	CASE \name
	SETPKR 0, 1
	SETPKR 1, \pkr
	MAP i, PLACE, \pte, 12, 0x55
	movl r4 = PLACE + 0x20
	;;
	mov b1 = r4
	ENTER KPSR | PSR_PK
	ATX \name, PLACE + 0x20
	br.cond.sptk.many b1
	END \name, \fields
	UNMAP PLACE, 12
	.endm
	.set KEY, 0x5501
	KEYED key_miss_load, 0, RWX | PAGE, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR | IPSR
//= key_miss_load 1c00 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 ipsr=000010100802a000 | volume 2, 8.3, 0x1c00
	KEYED key_miss_store, 0x5500, RWX | PAGE, "st8 [r4] = r5"
//= key_miss_store 1c00 isr=0000+w.0 ifa=2000000000008008 | volume 2, 4.1.3: the register is not valid
	KEYED key_miss_fetchadd, 0x5401, RWX | PAGE, "fetchadd8.acq r8 = [r4], 1"
//= key_miss_fetchadd 1c00 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x1c00
	KEYED key_miss_speculative, 0, RWX | PAGE, "ld8.s r8 = [r4]"
//= key_miss_speculative 1c00 isr=0000+r+sp.0 ifa=2000000000008008 | volume 2, table 5-4: DCR.dk 0
	KEYED key_miss_probe, 0, RWX | PAGE, "probe.r r8 = r4, 0"
//= key_miss_probe 1c00 isr=0002+r+na.0 ifa=2000000000008008 | volume 3, probe
	KEYED key_miss_probe_fault, 0, RWX | PAGE, "probe.w.fault r4, 0"
//= key_miss_probe_fault 1c00 isr=0005+w+na.0 ifa=2000000000008008 | volume 3, probe
	KEYED key_miss_flush, 0, RWX | PAGE, "fc r4"
//= key_miss_flush none | volume 3, fc: no key checks at any level
	KEYED key_miss_prefetch, 0, RWX | PAGE, "lfetch.fault [r4]"
//= key_miss_prefetch 1c00 isr=0004+r+na.0 ifa=2000000000008008 | volume 3, lfetch
	KEYED key_miss_tpa, 0, RWX | PAGE, "tpa r8 = r4", R8
//= key_miss_tpa none r8=0000000000400008 | volume 3, tpa
	KEYED key_miss_tak, 0, RWX | PAGE, "tak r8 = r4", R8
//= key_miss_tak none r8=0000000000005500 | volume 3, tak
	KEYED_FETCH key_miss_fetch, 0, RWX | PAGE, ISR | IIP | IFA | ITIR
//= key_miss_fetch 1800 isr=0000+x.0 iip=+000 ifa=2000000000008020 itir=0000000000001138 | volume 2, 8.3, 0x1800
	KEYED key_load, KEY | 2 | 8, RWX | PAGE, "ld8 r8 = [r4]"
//= key_load none | volume 2, 4.1.3: writes and fetches are disabled
	KEYED key_load_disabled, KEY | 4, RWX | PAGE, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR
//= key_load_disabled 5100 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 | volume 2, 8.3, 0x5100
	KEYED key_store_disabled, KEY | 2, RWX | PAGE, "st8 [r4] = r5"
//= key_store_disabled 5100 isr=0000+w.0 ifa=2000000000008008 | volume 2, 8.3, 0x5100
	KEYED key_store, KEY | 4 | 8, RWX | PAGE, "st8 [r4] = r5"
//= key_store none | volume 2, 4.1.3
	KEYED key_fetchadd_w, KEY | 2, RWX | PAGE, "fetchadd8.acq r8 = [r4], 1"
//= key_fetchadd_w 5100 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 4.1.3
	KEYED key_fetchadd_r, KEY | 4, RWX | PAGE, "fetchadd8.acq r8 = [r4], 1"
//= key_fetchadd_r 5100 isr=0000+w+r.0 ifa=2000000000008008 | volume 2, 4.1.3
	KEYED key_probe_w, KEY | 2, RWX | PAGE, "probe.w r8 = r4, 0", R8
//= key_probe_w none r8=0000000000000000 | volume 3, probe
	KEYED key_probe_r, KEY | 2, RWX | PAGE, "probe.r r8 = r4, 0", R8
//= key_probe_r none r8=0000000000000001 | volume 3, probe
	KEYED key_probe_fault, KEY | 2, RWX | PAGE, "probe.w.fault r4, 0"
//= key_probe_fault 5100 isr=0005+w+na.0 ifa=2000000000008008 | volume 3, probe
	KEYED key_speculative, KEY | 4, RWX | PAGE, "ld8.s r8 = [r4]"
//= key_speculative 5100 isr=0000+r+sp.0 ifa=2000000000008008 | volume 2, table 5-4: DCR.dx 0
	KEYED_FETCH key_fetch, KEY | 8, RWX | PAGE, ISR | IIP | IFA | ITIR
//= key_fetch 5100 isr=0000+x.0 iip=+000 ifa=2000000000008020 itir=0000000000001138 | volume 2, 8.3, 0x5100
	KEYED key_order, KEY | 4, NO_A, "ld8 r8 = [r4]"
//= key_order 5100 isr=0000+r.0 ifa=2000000000008008 | volume 2, table 5-6: key permission before the access bit
	KEYED key_order_rights, KEY | 2, READ_ONLY, "st8 [r4] = r5"
//= key_order_rights 5100 isr=0000+w.0 ifa=2000000000008008 | volume 2, table 5-6: key permission before access rights
	KEYED key_order_miss, 0, READ_ONLY, "st8 [r4] = r5"
//= key_order_miss 1c00 isr=0000+w.0 ifa=2000000000008008 | volume 2, table 5-6: key miss first
	KEYED key_order_absent, 0, ABSENT, "st8 [r4] = r5"
//= key_order_absent 5000 isr=0000+w.0 ifa=2000000000008008 | volume 2, table 5-6: page not present before key miss
	KEYED key_order_nat, 0, NAT_PAGE, "st8 [r4] = r5"
//= key_order_nat 5600 isr=0020+w.0 ifa=2000000000008008 | volume 2, table 5-6: NaT page before key miss
	KEYED_FETCH key_order_fetch, 0, NO_A
//= key_order_fetch 1800 isr=0000+x.0 ifa=2000000000008020 | volume 2, table 5-6
	KEYED_FETCH key_order_rights_fetch, KEY | 8, READ_ONLY
//= key_order_rights_fetch 5100 isr=0000+x.0 ifa=2000000000008020 | volume 2, table 5-6
	PAGED order_rights_dirty, (P | A | AR(0) | PAGE), "st8 [r4] = r5"
//= order_rights_dirty 5300 isr=0000+w.0 ifa=2000000000008008 | volume 2, table 5-6: access rights before the dirty bit
	FETCHED order_rights_access, (P | AR(0) | PAGE)
//= order_rights_access 5200 isr=0000+x.0 ifa=2000000000008020 | volume 2, table 5-6: access rights before the access bit
	PAGED order_unaligned_access, NO_A, "adds r4 = 1, r4;; ld8.acq r8 = [r4]"
//= order_unaligned_access 2800 isr=0000+r.1 ifa=2000000000008009 | volume 2, table 5-6: unaligned after all translation faults
	FINISH
