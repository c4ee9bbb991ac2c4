// The VHPT walker: what it needs, short and long format, what ends a search; thash and ttag. Volume 2, 4.1.5 to 4.1.8,
// table 4-10; 8.3. Table of 1 MB at 8 MB of each region, its pages from physical 8 MB; region 0's is mapped by TR 0.
#include "system.h"
	.set SHORT, TABLE | 20 << 2 | 1
	.set LONG, TABLE | 20 << 2 | 1 << 8 | 1
	.set OFF, 15 << 2
	.set GOOD, P | A | D | PL(3) | AR(3)

// what thash says, with the walker off
	.macro HASHED name, va, pta, ps
	CASE \name
	SETRR 1, RRV(1, \ps, 0)
	SETRR 7, RRV(7, \ps, 0)
	SETCR pta, \pta
	movl r4 = \va
	;;
	thash r8 = r4
	AT \name
	END \name, R8
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	SETRR 7, RRV(7, 14, 0)
	.endm
	HASHED hash_short, IN(1, 0x12345678), TABLE | 20 << 2, 14
//= hash_short none r8=2000000000824688 | volume 2, 4.1.6.1: 8 bytes a page, modulo the table, in the address's region
	HASHED hash_short_ps16, IN(1, 0x12345678), TABLE | 20 << 2, 16
//= hash_short_ps16 none r8=20000000008091a0 | volume 2, 4.1.6.1: RR.ps
	HASHED hash_short_wraps, IN(1, 0x3456789abc000), TABLE | 20 << 2, 14
//= hash_short_wraps none r8=2000000000813578 | volume 2, 4.1.6.1: the offset is cut to the table's size
	HASHED hash_short_region7, 0xffffffffffffc000, TABLE | 20 << 2, 14
//= hash_short_region7 none r8=e0000000008ffff8 | volume 2, 4.1.6.1
	HASHED hash_short_size15, IN(1, 0x12345678), 0xe000000000008000 | 15 << 2, 12
//= hash_short_size15 none r8=2000000000009a28 | volume 2, 4.1.6.1: the base's region is not used
	HASHED hash_short_base, IN(1, 0x4000), 0x1ff0000000008000 | 20 << 2, 14
//= hash_short_base none r8=3ff0000000000008 | volume 2, 4.1.6.1: base bits below the size are not used
	CASE hash_long
	SETCR pta, 0xa000000000800000 | 20 << 2 | 1 << 8
	movl r4 = IN(1, 0x12345678)
	;;
	thash r5 = r4
	ttag r6 = r4
	;;
	dep r8 = 0, r5, 5, 15
	shr.u r6 = r6, 63
	;;
	or r8 = r8, r6
	AT hash_long
	END hash_long, R8
	SETCR pta, OFF
//= hash_long none r8=a000000000800000 | volume 2, 4.1.6.2: 32-byte entries in the table that PTA.base names; ttag has ti 0

// short format: r4 the address, its entry is written through region 0
	.macro ENTRY_AT va, pte			// of region 1 to 7, for pages of 16 KB
	movl r26 = TABLE + (((\va) & ((1 << 61) - 1)) >> 14 << 3)
	movl r27 = \pte
	;;
	st8 [r26] = r27
	;;
	.endm
	.macro WALK name, va, pte, instruction, fields=ISR | IFA, pta=SHORT, ve=1, table=RWX | TABLE
	CASE \name
	ENTRY_AT \va, \pte
	SETRR 1, RRV(1, 14, \ve)
	SETCR pta, \pta
	.if (\table) != 0
	MAP d, IN(1, TABLE), \table, 20
	.endif
	movl r4 = \va
	mov r5 = 1
	AT \name
	\instruction
	END \name, \fields
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	UNMAP \va, 14
	UNMAP IN(1, TABLE), 20
	.endm
	STORE PAGE + 8, 0x1122334455667788
	WALK short_hit, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", R8
//= short_hit none r8=1122334455667788 | volume 2, 4.1.5
	WALK short_store, IN(1, 0x30010), GOOD | PAGE, "st8 [r4] = r5"
//= short_store none | volume 2, 4.1.5
	WALK short_tpa, IN(1, 0x33210), GOOD | PAGE, "tpa r8 = r4", R8
//= short_tpa none r8=0000000000403210 | volume 3, tpa: the walker serves it too; the page size is RR.ps
	WALK short_probe, IN(1, 0x33210), GOOD | PAGE, "probe.w r8 = r4, 3", R8
//= short_probe none r8=0000000000000001 | volume 3, probe
	WALK short_tak, IN(1, 0x33210), GOOD | PAGE, "ld8 r8 = [r4];; tak r8 = r4", R8
//= short_tak none r8=0000000000001100 | volume 2, 4.1.5.3: the key is the region's identifier
	WALK short_table_missing, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR | IHA, SHORT, 1, 0
//= short_table_missing 0000 isr=0000+r.0 iip=+000 ifa=2000000000030008 itir=0000000000001138 iha=2000000000800060 | volume 2, 8.3, 0x0000
	WALK short_table_missing_store, IN(1, 0x30008), GOOD | PAGE, "st8 [r4] = r5", ISR | IFA, SHORT, 1, 0
//= short_table_missing_store 0000 isr=0000+w.0 ifa=2000000000030008 | volume 2, 8.3, 0x0000: the original reference
	WALK short_table_missing_tpa, IN(1, 0x30008), GOOD | PAGE, "tpa r8 = r4", ISR | IFA, SHORT, 1, 0
//= short_table_missing_tpa 0000 isr=0000+na.0 ifa=2000000000030008 | volume 2, 8.3, 0x0000
	WALK short_absent, IN(1, 0x30008), 0, "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR
//= short_absent 5000 isr=0000+r.0 iip=+000 ifa=2000000000030008 itir=0000000000001138 | volume 2, 4.1.5: installed all the same
	WALK short_absent_ignored, IN(1, 0x30008), 0xfffffffffffffffe, "ld8 r8 = [r4]"
//= short_absent_ignored 5000 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.5.3: all other bits are software's
	WALK short_reserved, IN(1, 0x30008), GOOD | PAGE | MA(1), "ld8 r8 = [r4]", ISR | IIP | IFA | ITIR | IHA
//= short_reserved 0800 isr=0000+r.0 iip=+000 ifa=2000000000030008 itir=0000000000001138 iha=2000000000800060 | volume 2, 4.1.5: an entry with reserved encodings ends the search
	WALK short_reserved_bit, IN(1, 0x30008), GOOD | PAGE | 2, "st8 [r4] = r5"
//= short_reserved_bit 0800 isr=0000+w.0 ifa=2000000000030008 | volume 2, 4.1.5
	WALK short_not_dirty, IN(1, 0x30008), P | A | PL(3) | AR(3) | PAGE, "st8 [r4] = r5"
//= short_not_dirty 2000 isr=0000+w.0 ifa=2000000000030008 | volume 2, 4.1.8: checked behind the insertion
	WALK short_rights, IN(1, 0x30008), P | A | D | AR(0) | PAGE, "st8 [r4] = r5"
//= short_rights 5300 isr=0000+w.0 ifa=2000000000030008 | volume 2, 4.1.8
	WALK short_nat_page, IN(1, 0x30008), GOOD | MA(7) | PAGE, "ld8 r8 = [r4]"
//= short_nat_page 5600 isr=0020+r.0 ifa=2000000000030008 | volume 2, 4.1.8
	WALK short_pta_off, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", ISR | IFA, SHORT & ~1
//= short_pta_off 1000 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.7: PTA.ve 0
	WALK short_region_off, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", ISR | IFA, SHORT, 0
//= short_region_off 1000 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.7: RR.ve 0
	WALK short_prefetch, IN(1, 0x30008), GOOD | MA(1), "lfetch [r4]"
//= short_prefetch none | volume 3, lfetch
	WALK short_prefetch_fault, IN(1, 0x30008), GOOD | MA(1), "lfetch.fault [r4]"
//= short_prefetch_fault 0800 isr=0004+r+na.0 ifa=2000000000030008 | volume 2, 8.3, 0x0800
	WALK short_probe_miss, IN(1, 0x30008), GOOD | MA(1), "probe.r r8 = r4, 0"
//= short_probe_miss 0800 isr=0002+r+na.0 ifa=2000000000030008 | volume 2, 8.3, 0x0800
	WALK short_speculative, IN(1, 0x30008), GOOD | MA(1), "ld8.s r8 = [r4]"
//= short_speculative 0800 isr=0000+r+sp.0 ifa=2000000000030008 | volume 2, table 5-4: DCR.dm 0
	WALK short_table_absent, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", ISR | IFA | IHA, SHORT, 1, 1 << 53
//= short_table_absent 0800 isr=0000+r.0 ifa=2000000000030008 iha=2000000000800060 | volume 2, 4.1.7: any fault of the walker's reference but a miss ends the search
	WALK short_table_nat, IN(1, 0x30008), GOOD | PAGE, "ld8 r8 = [r4]", ISR | IFA, SHORT, 1, RWX | MA(7) | TABLE
//= short_table_nat 0800 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.7
	CASE short_level3
	ENTRY_AT IN(1, 0x30008), GOOD | PAGE
	SETRR 1, RRV(1, 14, 1)
	SETCR pta, SHORT
	MAP d, IN(1, TABLE), P | A | D | AR(0) | TABLE, 20
	LEVEL 3
	movl r4 = IN(1, 0x30008)
	AT short_level3
	ld8 r8 = [r4]
	END short_level3, R8
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, 0x30008), 14
	UNMAP IN(1, TABLE), 20
//= short_level3 none r8=1122334455667788 | volume 2, 4.1.7: the walker reads at level 0

	.macro WALK_CLOSED name, pte, table, fields=R8
	CASE \name
	ENTRY_AT IN(1, 0x30008), \pte
	SETRR 1, RRV(1, 14, 1)
	SETCR pta, SHORT
	.if (\table) != 0
	MAP d, IN(1, TABLE), \table, 20
	.endif
	movl r4 = IN(1, 0x30008)
	CLOSE
	mov cr.isr = r0
	;;
	AT \name
	ld8 r8 = [r4]
	OPEN
	END \name, \fields
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, 0x30008), 14
	UNMAP IN(1, TABLE), 20
	.endm
	WALK_CLOSED closed_hit, GOOD | PAGE, RWX | TABLE
//= closed_hit none r8=1122334455667788 | volume 2, 4.1.7: data references are walked for with PSR.ic 0
	WALK_CLOSED closed_reserved, GOOD | MA(1), RWX | TABLE, ISR
//= closed_reserved 1400 isr=0000.0 | volume 2, 4.1.8: data nested TLB for every miss with PSR.ic 0
	WALK_CLOSED closed_table_missing, GOOD | PAGE, 0, ISR
//= closed_table_missing 1400 isr=0000.0 | volume 2, 4.1.8

// instructions: the page begins with br.cond.sptk.many b2, which goes back to the case
	.macro FETCH_WALK name, pte, fields=ISR | IFA, pta=SHORT, ve=1, table=RWX | TABLE
	CASE \name
	ENTRY_AT IN(1, 0x30000), \pte
	SETRR 1, RRV(1, 14, \ve)
	SETCR pta, \pta
	.if (\table) != 0
	MAP d, IN(1, TABLE), \table, 20
	.endif
	movl r4 = IN(1, 0x30000)
	movl r5 = .Lback_\name
	;;
	mov b1 = r4
	mov b2 = r5
	;;
	ATX \name, IN(1, 0x30000)
	br.cond.sptk.many b1
	;;
	.align 16
.Lback_\name:
	END \name, \fields
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, 0x30000), 14
	UNMAP IN(1, TABLE), 20
	.endm
	movl r2 = back
	movl r3 = PAGE
	br.cond.sptk.many copy
	;;
	.explicit
	.align 16
back:	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
	.default
copy:
	ld8 r4 = [r2], 8
	;;
	st8 [r3] = r4, 8
	ld8 r4 = [r2]
	;;
	st8 [r3] = r4
	fc.i r3
	;;
	sync.i
	;;
	srlz.i
	;;
	FETCH_WALK fetch_hit, GOOD | PAGE
//= fetch_hit none | volume 2, 4.1.5
	FETCH_WALK fetch_table_missing, GOOD | PAGE, ISR | IIP | IFA | ITIR | IHA, SHORT, 1, 0
//= fetch_table_missing 0000 isr=0000+x.0 iip=+000 ifa=2000000000030000 itir=0000000000001138 iha=2000000000800060 | volume 2, 8.3, 0x0000
	FETCH_WALK fetch_reserved, GOOD | PAGE | MA(2), ISR | IIP | IFA | ITIR | IHA
//= fetch_reserved 0400 isr=0000+x.0 iip=+000 ifa=2000000000030000 itir=0000000000001138 iha=2000000000800060 | volume 2, 8.3, 0x0400
	FETCH_WALK fetch_absent, 0
//= fetch_absent 5000 isr=0000+x.0 ifa=2000000000030000 | volume 2, 4.1.8
	FETCH_WALK fetch_rights, P | A | D | AR(2) | PL(3) | PAGE
//= fetch_rights 5200 isr=0000+x.0 ifa=2000000000030000 | volume 2, 4.1.8
	FETCH_WALK fetch_access, P | AR(3) | PL(3) | PAGE
//= fetch_access 2400 isr=0000+x.0 ifa=2000000000030000 | volume 2, 4.1.8
	FETCH_WALK fetch_region_off, GOOD | PAGE, ISR | IFA, SHORT, 0
//= fetch_region_off 0c00 isr=0000+x.0 ifa=2000000000030000 | volume 2, 4.1.7
	FETCH_WALK fetch_pta_off, GOOD | PAGE, ISR | IFA, SHORT & ~1
//= fetch_pta_off 0c00 isr=0000+x.0 ifa=2000000000030000 | volume 2, 4.1.7

// long format: the entry lies where thash says, with the tag of ttag
	.macro WALK_LONG name, instruction, pte, itir, tag=0, fields=ISR | IFA, pta=LONG, table=0
	CASE \name
	SETRR 1, RRV(1, 14, 1)
	SETCR pta, LONG
	movl r4 = IN(1, 0x30008)
	;;
	thash r2 = r4
	ttag r3 = r4
	movl r8 = \pte
	;;
	st8 [r2] = r8, 8
	movl r8 = \itir
	;;
	st8 [r2] = r8, 8
	movl r8 = \tag
	;;
	xor r3 = r3, r8
	;;
	st8 [r2] = r3
	SETCR pta, \pta
	mov r5 = 1
	AT \name
	\instruction
	END \name, \fields
	SETCR pta, OFF
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, 0x30008), 16
	.endm
	STORE PAGE + 8, 0x1122334455667788
	WALK_LONG long_hit, "ld8 r8 = [r4]", GOOD | PAGE, 14 << 2, 0, R8
//= long_hit none r8=1122334455667788 | volume 2, 4.1.5.4
	WALK_LONG long_tag, "ld8 r8 = [r4]", GOOD | PAGE, 14 << 2, 1, ISR | IIP | IFA | ITIR
//= long_tag 0800 isr=0000+r.0 iip=+000 ifa=2000000000030008 itir=0000000000001138 | volume 2, 8.3, 0x0800: another tag
	WALK_LONG long_tag_invalid, "st8 [r4] = r5", GOOD | PAGE, 14 << 2, 1 << 63
//= long_tag_invalid 0800 isr=0000+w.0 ifa=2000000000030008 | volume 2, table 4-9: ti
	WALK_LONG long_reserved, "ld8 r8 = [r4]", GOOD | PAGE | MA(3), 14 << 2
//= long_reserved 0800 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.5
	WALK_LONG long_reserved_ps, "ld8 r8 = [r4]", GOOD | PAGE, 11 << 2
//= long_reserved_ps 0800 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.5
	WALK_LONG long_absent, "ld8 r8 = [r4]", 0xfffffffffffffffe, 14 << 2
//= long_absent 5000 isr=0000+r.0 ifa=2000000000030008 | volume 2, 4.1.5
	WALK_LONG long_key, "ld8 r8 = [r4];; tak r8 = r4", GOOD | PAGE, 0x777700 | 14 << 2, 0, R8
//= long_key none r8=0000000000777700 | volume 2, 4.1.5.4: the entry's key
	WALK_LONG long_size, "tpa r8 = r4", GOOD | 0x430000, 12 << 2, 0, R8
//= long_size none r8=0000000000430008 | volume 2, 4.1.5.4: the entry's page size
	WALK_LONG long_size16, "ld8 r8 = [r4];; adds r4 = -8, r4;; movl r5 = 0x4000;; add r4 = r4, r5;; tpa r8 = r4", GOOD | 0x430000, 16 << 2, 0, R8
//= long_size16 none r8=0000000000434000 | volume 2, 4.1.5.4: the other 16 KB of a 64 KB page are inserted with it
	WALK_LONG long_table_missing, "ld8 r8 = [r4]", GOOD | PAGE, 14 << 2, 0, ISR | IFA | ITIR, 0xc000000000800000 | 20 << 2 | 1 << 8 | 1
//= long_table_missing 0000 isr=0000+r.0 ifa=2000000000030008 itir=0000000000001638 | volume 2, 8.3, 0x0000: ITIR is of the table's address
	WALK_LONG long_rights, "st8 [r4] = r5", P | A | D | AR(0) | PAGE, 14 << 2
//= long_rights 5300 isr=0000+w.0 ifa=2000000000030008 | volume 2, 4.1.8
	FINISH
