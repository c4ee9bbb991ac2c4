// What was reached once is not reached for ever: translations, keys, regions, levels, PSR bits, breakpoints and code change
// between two references to the same address. Volume 2, 4.1, 3.3.2, 4.4.11 (coherence); volume 3, ptc, ptr, mov, fc.
#include "system.h"
#define PLACE	IN(1, 0x8000)
#define OTHER	(PAGE + 0x10000)
#define HIGH	0x2000000		/* 32 MB: behind what TR 0 maps */

	.macro COPY source, target		// a bundle
	movl r2 = \source
	movl r3 = \target
	;;
	ld8 r26 = [r2], 8
	mov r28 = r3
	;;
	ld8 r27 = [r2]
	st8 [r3] = r26, 8
	;;
	st8 [r3] = r27
	fc.i r28
	;;
	sync.i
	;;
	srlz.i
	;;
	.endm
	.macro RUN va				// r8: what the code there says; it goes to b2
	movl r26 = \va
	movl r27 = .Lrun\@
	;;
	mov b1 = r26
	mov b2 = r27
	;;
	br.cond.sptk.many b1
	;;
	.align 16
.Lrun\@:
	.endm
	.macro AND_THEN				// r8 into r7, eight bits more
	shl r7 = r7, 8
	;;
	or r7 = r7, r8
	;;
	.endm
	.macro READ va
	movl r26 = \va
	;;
	ld8 r8 = [r26]
	;;
	AND_THEN
	.endm
	.macro BEGIN name
	CASE \name
	mov r7 = 0
	.endm
	.macro RESULT name, fields=R8
	mov r8 = r7
	AT \name
	END \name, \fields
	.endm
	.macro DENIED name, instruction, fields=ISR | IFA	// r4 the address
	AT \name
	\instruction
	END \name, \fields
	.endm
	br.cond.sptk.many first
	;;
	.explicit
	.align 16
code_a:	{ .mib
	mov r8 = 0xa
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
code_b:	{ .mib
	mov r8 = 0xb
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
code_c:	{ .mib
	mov r8 = 0xc
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
code_ip: { .mib
	nop.m 0
	mov r8 = ip
	br.cond.sptk.many b2 ;;
	}
code_psr: { .mib
	mov r8 = psr
	nop.i 0
	br.cond.sptk.many b2 ;;
	}
code_on: { .mib
	mov r8 = 0xd
	nop.i 0
	nop.b 0 ;;
	}
	.default
first:
	COPY code_a, PAGE
	COPY code_b, OTHER
	STORE PAGE + 0x100, 0xa1
	STORE OTHER + 0x100, 0xb1

// data: another page at the same address
	BEGIN remapped
	MAP d, PLACE, RWX | PAGE, 14
	READ PLACE + 0x100
	UNMAP PLACE, 14
	MAP d, PLACE, RWX | OTHER, 14
	READ PLACE + 0x100
	MAP d, PLACE, RWX | PAGE, 14
	READ PLACE + 0x100
	RESULT remapped
//= remapped none r8=0000000000a1b1a1 | volume 2, 4.1.1.2
	BEGIN written_alias
	MAP d, IN(5, 0x8000), RWX | PAGE, 14
	movl r4 = IN(5, 0x8100)
	mov r5 = 0xa2
	;;
	st8 [r4] = r5
	;;
	READ PLACE + 0x100
	READ PAGE + 0x100
	mov r5 = 0xa1
	;;
	st8 [r4] = r5
	RESULT written_alias
	UNMAP IN(5, 0x8000), 14
//= written_alias none r8=000000000000a2a2 | volume 2, 4.1.10 and 4.4: aliases of cacheable memory
	CASE purged
	movl r4 = PLACE + 0x100
	UNMAP PLACE, 14
	DENIED purged, "ld8 r8 = [r4]"
//= purged 1000 isr=0000+r.0 ifa=2000000000008100 | volume 3, ptc.l
	BEGIN regions
	MAP d, PLACE, RWX | PAGE, 14
	READ PLACE + 0x100
	SETRR 1, RRV(9, 14, 0)
	MAP d, PLACE, RWX | OTHER, 14
	READ PLACE + 0x100
	SETRR 1, RRV(1, 14, 0)
	READ PLACE + 0x100
	SETRR 1, RRV(9, 14, 0)
	READ PLACE + 0x100
	UNMAP PLACE, 14
	SETRR 1, RRV(1, 14, 0)
	RESULT regions
//= regions none r8=00000000a1b1a1b1 | volume 2, 4.1.2: two spaces at the same addresses
	CASE region_without
	movl r4 = PLACE + 0x100
	SETRR 1, RRV(9, 14, 0)
	DENIED region_without, "ld8 r8 = [r4]"
	SETRR 1, RRV(1, 14, 0)
//= region_without 1000 isr=0000+r.0 ifa=2000000000008100 | volume 2, 4.1.2
	CASE level_changes
	MAP d, PLACE, P | A | D | AR(3) | PL(0) | PAGE, 14
	movl r4 = PLACE + 0x100
	;;
	ld8 r8 = [r4]
	LEVEL 3
	DENIED level_changes, "ld8 r8 = [r4]"
//= level_changes 5300 isr=0000+r.0 ifa=2000000000008100 | volume 2, 4.1.1.6: what level 0 reads
	BEGIN level_back
	READ PLACE + 0x100
	RESULT level_back
//= level_back none r8=00000000000000a1 | volume 2, 4.1.1.6
	CASE level_store
	MAP d, PLACE, P | A | D | AR(4) | PL(3) | PAGE, 14
	movl r4 = PLACE + 0x108
	;;
	st8 [r4] = r0
	LEVEL 3
	ld8 r8 = [r4]
	DENIED level_store, "st8 [r4] = r0"
//= level_store 5300 isr=0000+w.0 ifa=2000000000008108 | volume 2, 4.1.1.6: written at level 0, read only at level 3
	CASE read_then_written
	MAP d, PLACE, P | A | AR(3) | PL(3) | PAGE, 14
	movl r4 = PLACE + 0x108
	;;
	ld8 r8 = [r4]
	DENIED read_then_written, "st8 [r4] = r0"
//= read_then_written 2000 isr=0000+w.0 ifa=2000000000008108 | volume 2, 4.1.1.5: the dirty bit
	CASE keys_on
	MAP d, PLACE, RWX | PAGE, 14, 0x55
	SETPKR 0, 1
	SETPKR 1, 0
	movl r4 = PLACE + 0x108
	;;
	ld8 r8 = [r4]
	ENTER KPSR | PSR_PK
	DENIED keys_on, "ld8 r8 = [r4]"
//= keys_on 1c00 isr=0000+r.0 ifa=2000000000008108 | volume 2, 4.1.3: PSR.pk
	CASE key_changes
	SETPKR 1, 0x5501
	movl r4 = PLACE + 0x108
	ENTER KPSR | PSR_PK
	ld8 r8 = [r4]
	;;
	st8 [r4] = r8
	SETPKR 1, 0x5503
	ld8 r8 = [r4]
	DENIED key_changes, "st8 [r4] = r8"
//= key_changes 5100 isr=0000+w.0 ifa=2000000000008108 | volume 2, 4.1.3: the register was changed
	CASE key_leaves
	SETPKR 1, 0x5501
	movl r4 = PLACE + 0x108
	ENTER KPSR | PSR_PK
	ld8 r8 = [r4]
	SETPKR 1, 0x5601
	DENIED key_leaves, "ld8 r8 = [r4]"
	SETPKR 1, 0
//= key_leaves 1c00 isr=0000+r.0 ifa=2000000000008108 | volume 2, 4.1.3
	BEGIN translation_off
	STORE HIGH, 0x77				// not mapped: faults at once, and the case is wrong
	RESULT translation_off, ISR | IFA
//= translation_off 1000 isr=0000+w.0 ifa=0000000002000000 | volume 2, 4.1.1: TR 0 maps 16 MB
	BEGIN same_number
	MAP d, HIGH, RWX | OTHER, 14
	READ HIGH + 0x100
	ENTER KPSR & ~PSR_DT
	STORE HIGH + 0x100, 0xc1
	READ HIGH + 0x100
	ENTER KPSR
	READ HIGH + 0x100
	ENTER KPSR & ~PSR_DT
	READ HIGH + 0x100
	ENTER KPSR
	RESULT same_number
//= same_number none r8=00000000b1c1b1c1 | volume 2, 4.2: virtual and physical addresses of the same number
	CASE watched
	MAP d, PLACE, P | A | AR(3) | PL(3) | PAGE, 14
	movl r4 = PLACE + 0x108
	mov r5 = 0
	mov r6 = 1
	movl r9 = 1 << 63 | 15 << 56 | ((1 << 56) - 1)
	ENTER KPSR | PSR_DB
	ld8 r8 = [r4]
	;;
	mov dbr[r5] = r4
	mov dbr[r6] = r9
	;;
	srlz.d
	;;
	AT watched
	ld8 r8 = [r4]
	END watched, ISR | IFA
	mov r6 = 1
	;;
	mov dbr[r6] = r0
	;;
	srlz.d
	;;
//= watched 5900 isr=0000+r.0 ifa=2000000000008108 | volume 2, 7.1: a breakpoint set behind the first reference
	CASE register_replaced
	CLOSE
	movl r26 = IN(6, 0x8000)
	mov r27 = 14 << 2
	;;
	mov cr.ifa = r26
	mov cr.itir = r27
	movl r26 = RWX | PAGE
	mov r27 = 4
	;;
	itr.d dtr[r27] = r26
	;;
	OPEN
	mov r7 = 0
	READ IN(6, 0x8100)
	CLOSE
	movl r26 = IN(6, 0x8000)
	mov r27 = 14 << 2
	;;
	ptr.d r26, r27
	;;
	srlz.d
	;;
	mov cr.ifa = r26
	mov cr.itir = r27
	movl r26 = RWX | OTHER
	mov r27 = 4
	;;
	itr.d dtr[r27] = r26
	;;
	OPEN
	READ IN(6, 0x8100)
	movl r26 = IN(6, 0x8000)
	mov r27 = 14 << 2
	;;
	ptr.d r26, r27
	;;
	srlz.d
	;;
	RESULT register_replaced
//= register_replaced none r8=000000000000a1b1 | volume 3, itr
	BEGIN walker_keeps
	movl r2 = TABLE + (0x30000 >> 14 << 3)
	movl r3 = RWX | PAGE
	;;
	st8 [r2] = r3
	SETRR 1, RRV(1, 14, 1)
	SETCR pta, TABLE | 20 << 2 | 1
	MAP d, IN(1, TABLE), RWX | TABLE, 20
	READ IN(1, 0x30100)
	movl r2 = TABLE + (0x30000 >> 14 << 3)
	movl r3 = RWX | OTHER
	;;
	st8 [r2] = r3
	UNMAP IN(1, 0x30000), 14
	READ IN(1, 0x30100)
	SETCR pta, 15 << 2
	SETRR 1, RRV(1, 14, 0)
	UNMAP IN(1, 0x30000), 14
	UNMAP IN(1, TABLE), 20
	RESULT walker_keeps
//= walker_keeps none r8=000000000000a1b1 | volume 2, 4.1.5: a new entry serves behind a purge

// code
	BEGIN code_remapped
	MAP i, PLACE, RWX | PAGE, 14
	RUN PLACE
	AND_THEN
	UNMAP PLACE, 14
	MAP i, PLACE, RWX | OTHER, 14
	RUN PLACE
	AND_THEN
	RESULT code_remapped
//= code_remapped none r8=0000000000000a0b | volume 2, 4.1.1.2
	CASE code_purged
	UNMAP PLACE, 14
	movl r4 = PLACE
	;;
	mov b1 = r4
	;;
	ATX code_purged, PLACE
	br.cond.sptk.many b1
	END code_purged, ISR | IIP
//= code_purged 0c00 isr=0000+x.0 iip=+000 | volume 3, ptc.l
	BEGIN code_regions
	MAP i, PLACE, RWX | PAGE, 14
	RUN PLACE
	AND_THEN
	SETRR 1, RRV(9, 14, 0)
	MAP i, PLACE, RWX | OTHER, 14
	RUN PLACE
	AND_THEN
	SETRR 1, RRV(1, 14, 0)
	RUN PLACE
	AND_THEN
	RESULT code_regions
//= code_regions none r8=00000000000a0b0a | volume 2, 4.1.2
	BEGIN code_written
	COPY code_c, PAGE
	RUN PLACE
	AND_THEN
	COPY code_a, PAGE
	RUN PLACE
	AND_THEN
	RUN PAGE
	AND_THEN
	RESULT code_written
//= code_written none r8=00000000000c0a0a | volume 2, 4.4.3 and volume 3, fc: written by another address, flushed by it
	BEGIN code_by_two_addresses
	COPY code_ip, PAGE
	RUN PLACE
	mov r6 = r8
	RUN PAGE
	;;
	sub r7 = r6, r8
	RESULT code_by_two_addresses
	COPY code_a, PAGE
//= code_by_two_addresses none r8=1fffffffffc08000 | volume 1, 3.1.4: IP is the address that it was reached by
	CASE code_level
	MAP i, PLACE, P | A | AR(1) | PL(0) | PAGE, 14
	RUN PLACE
	movl r4 = PLACE
	;;
	mov b1 = r4
	LEVEL 3
	ATX code_level, PLACE
	br.cond.sptk.many b1
	END code_level, ISR | IIP
//= code_level 5200 isr=0000+x.0 iip=+000 | volume 2, 4.1.1.6: what level 0 executes
	CASE code_privileged
	COPY code_psr, PAGE
	MAP i, PLACE, P | A | AR(1) | PL(3) | PAGE, 14
	RUN PLACE
	LEVEL 3
	movl r4 = PLACE
	;;
	mov b1 = r4
	;;
	ATX code_privileged, PLACE
	br.cond.sptk.many b1
	END code_privileged, ISR | IIP
	COPY code_a, PAGE
//= code_privileged 5400 isr=0010.0 iip=+000 | volume 2, 3.2: the same instruction at another level
	CASE code_keys
	MAP i, PLACE, RWX | PAGE, 14, 0x55
	SETPKR 0, 1
	RUN PLACE
	movl r4 = PLACE
	;;
	mov b1 = r4
	ENTER KPSR | PSR_PK
	ATX code_keys, PLACE
	br.cond.sptk.many b1
	END code_keys, ISR | IIP
	UNMAP PLACE, 14
//= code_keys 1800 isr=0000+x.0 iip=+000 | volume 2, 4.1.3
	BEGIN code_physical
	MAP i, HIGH, RWX | OTHER, 14
	RUN HIGH
	AND_THEN
	ENTER PSR_BN | PSR_IC
	COPY code_c, HIGH
	RUN HIGH
	AND_THEN
	ENTER KPSR
	RUN HIGH
	AND_THEN
	RESULT code_physical
	UNMAP HIGH, 14
//= code_physical none r8=00000000000b0c0b | volume 2, 4.2: virtual and physical code at the same number

// code that goes on into another page
	CASE into_next_page
	COPY code_on, PAGE + 0x3ff0
	MAP i, PLACE, RWX | PAGE, 14
	movl r4 = PLACE + 0x3ff0
	;;
	mov b1 = r4
	mov r8 = 0
	;;
	ATX into_next_page, PLACE + 0x4000
	br.cond.sptk.many b1
	END into_next_page, ISR | IIP | IIPA | IFA | R8
//= into_next_page 0c00 isr=0000+x.0 iip=+000 ifa=200000000000c000 iipa=-010 r8=000000000000000d | volume 2, 3.3.5.3 and 3.3.5.6
	BEGIN into_mapped_page
	MAP i, PLACE + 0x4000, RWX | OTHER, 14
	RUN PLACE + 0x3ff0
	AND_THEN
	RESULT into_mapped_page
	UNMAP PLACE, 16
//= into_mapped_page none r8=000000000000000b | volume 2, 4.1
	CASE into_page_of_rights
	MAP i, PLACE, RWX | PAGE, 14
	MAP i, PLACE + 0x4000, P | A | D | AR(2) | OTHER, 14
	movl r4 = PLACE + 0x3ff0
	;;
	mov b1 = r4
	;;
	ATX into_page_of_rights, PLACE + 0x4000
	br.cond.sptk.many b1
	END into_page_of_rights, ISR | IIP | IIPA
	UNMAP PLACE, 16
//= into_page_of_rights 5200 isr=0000+x.0 iip=+000 iipa=-010 | volume 2, 8.3, 0x5200
	FINISH
