// Mandatory register stack references: faults of flushrs, alloc, loadrs, br.ret and rfi; RSC.pl, PSR.rt. Volume 2,
// chapter 6, 5.5, 3.3.5.2 (ISR.rs and ir), table 5-6 (IR faults). RSC.mode is 0: none but mandatory references.
#include "system.h"
#define PLACE	IN(2, 0x8000)
	.macro BACKING address			// nothing dirty, nothing clean
	mov ar.rsc = 0
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	loadrs
	;;
	movl r26 = \address
	;;
	mov ar.bspstore = r26
	;;
	mov ar.rnat = r0
	;;
	.endm
	.macro FRAME_OUT
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	.endm
	.macro USUAL				// the image's own, and a frame
	BACKING STACK
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	mov ar.pfs = r0
	;;
	.endm
	.macro DATA pte, key=0
	.if (\pte) != -1
	MAP d, PLACE, \pte, 12, \key
	.endif
	.endm

	.macro FLUSH name, pte=-1, rsc=0, psr=KPSR, fields=ISR | IFA, key=0
	CASE \name
	DATA \pte, \key
	BACKING PLACE + 0x20
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	mov r32 = 0x1234
	FRAME_OUT
	mov r4 = \rsc
	;;
	mov ar.rsc = r4
	ENTER \psr
	AT \name
	flushrs
	;;
	END \name, \fields
	USUAL
	UNMAP PLACE, 12
	.endm
	FLUSH flush, -1, 0, KPSR, ISR | IIP | IFA | ITIR
//= flush 1000 isr=0000+w+rs.0 iip=+000 ifa=4000000000008020 itir=0000000000001238 | volume 2, 3.3.5.2; volume 3, flushrs: a mandatory store
	FLUSH flush_good, RWX | PAGE
//= flush_good none | volume 3, flushrs
	CASE flush_stored
	movl r4 = PAGE + 0x20
	;;
	ld8 r8 = [r4]
	AT flush_stored
	END flush_stored, R8
//= flush_stored none r8=0000000000001234 | volume 3, flushrs
	FLUSH flush_absent, 0
//= flush_absent 5000 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x5000
	FLUSH flush_nat, RWX | MA(7) | PAGE
//= flush_nat 5600 isr=0020+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x5600
	FLUSH flush_rights, P | A | D | AR(0) | PAGE
//= flush_rights 5300 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x5300
	FLUSH flush_level, P | A | D | AR(2) | PAGE, 3 << 2
//= flush_level 5300 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 6.5: with the rights of RSC.pl, not of PSR.cpl
	FLUSH flush_level_same, P | A | D | AR(2) | PL(3) | PAGE, 3 << 2
//= flush_level_same none | volume 2, 6.5
	FLUSH flush_level0, P | A | D | AR(2) | PAGE, 0, KPSR | PSR_CPL(3)
//= flush_level0 none | volume 2, 6.5: RSC.pl 0 while PSR.cpl is 3
	FLUSH flush_dirty, P | A | PL(3) | AR(2) | PAGE
//= flush_dirty 2000 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x2000
	FLUSH flush_access, P | D | PL(3) | AR(2) | PAGE
//= flush_access 2800 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x2800
	FLUSH flush_access_da, P | D | PL(3) | AR(2) | PAGE, 0, KPSR | PSR_DA
//= flush_access_da 2800 isr=0000+w+rs.0 ifa=4000000000008028 | volume 2, 3.3.2: PSR.da is for one mandatory reference
	SETPKR 0, 1
	FLUSH flush_key, RWX | PAGE, 0, KPSR | PSR_PK, ISR | IFA, 0x55
//= flush_key 1c00 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x1c00
	FLUSH flush_level3, -1, 3 << 2, KPSR | PSR_CPL(3), ISR | IFA | IPSR
//= flush_level3 1000 isr=0000+w+rs.0 ifa=4000000000008020 ipsr=0000101308022000 | volume 2, 3.3.5.2
	FLUSH flush_closed, -1, 0, KPSR & ~PSR_IC, 0
//= flush_closed 1400 | volume 2, 8.3, 0x1400
	CASE flush_physical
	STORE TABLE + 0x20, 0
	BACKING TABLE + 0x20
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	mov r32 = 0x4321
	FRAME_OUT
	ENTER KPSR & ~PSR_RT
	flushrs
	;;
	movl r4 = TABLE + 0x20
	;;
	ld8 r8 = [r4]
	AT flush_physical
	END flush_physical, R8
	USUAL
//= flush_physical none r8=0000000000004321 | volume 2, 3.3.2: PSR.rt 0

// alloc spills when there are no registers left
	.macro SPILLED name, pte=-1, fields=ISR | IFA
	CASE \name
	DATA \pte
	BACKING PLACE + 0x20
	alloc r2 = ar.pfs, 0, 80, 0, 0
	;;
	FRAME_OUT
	AT \name
	alloc r2 = ar.pfs, 0, 80, 0, 0
	;;
	END \name, \fields
	USUAL
	UNMAP PLACE, 12
	.endm
	SPILLED spill, -1, ISR | IIP | IFA | ITIR
//= spill 1000 isr=0000+w+rs.0 iip=+000 ifa=4000000000008020 itir=0000000000001238 | volume 3, alloc
	SPILLED spill_good, RWX | PAGE
//= spill_good none | volume 3, alloc
	SPILLED spill_absent, 0
//= spill_absent 5000 isr=0000+w+rs.0 ifa=4000000000008020 | volume 3, alloc
	SPILLED spill_rights, P | A | D | AR(1) | PAGE
//= spill_rights 5300 isr=0000+w+rs.0 ifa=4000000000008020 | volume 3, alloc

// loadrs loads what lies below BSP
	.macro LOADED_BACK name, pte=-1, fields=ISR | IFA
	CASE \name
	DATA \pte
	BACKING PLACE + 0x100
	movl r4 = 0x40 << 16
	;;
	mov ar.rsc = r4
	;;
	AT \name
	loadrs
	;;
	END \name, \fields
	USUAL
	UNMAP PLACE, 12
	.endm
	LOADED_BACK load, -1, ISR | IIP | IFA | ITIR
//= load 1000 isr=0000+r+rs.0 iip=+000 ifa=40000000000080f8 itir=0000000000001238 | volume 3, loadrs: from BSP downwards
	LOADED_BACK load_good, RWX | PAGE
//= load_good none | volume 3, loadrs
	LOADED_BACK load_absent, 0
//= load_absent 5000 isr=0000+r+rs.0 ifa=40000000000080f8 | volume 3, loadrs
	LOADED_BACK load_nat, RWX | MA(7) | PAGE
//= load_nat 5600 isr=0020+r+rs.0 ifa=40000000000080f8 | volume 3, loadrs
	LOADED_BACK load_access, P | D | PL(3) | AR(2) | PAGE
//= load_access 2800 isr=0000+r+rs.0 ifa=40000000000080f8 | volume 3, loadrs
	LOADED_BACK load_not_dirty, P | A | PL(3) | AR(2) | PAGE
//= load_not_dirty none | volume 3, loadrs

// br.ret: the frame is incomplete at its target, where the fault is taken
	.macro RETURN name, pte=-1, psr=KPSR, fields=ISR | IFA, key=0, pfs=0x408
	CASE \name
	DATA \pte, \key
	BACKING PLACE + 0x100
	movl r4 = \pfs
	movl r5 = at_\name
	;;
	mov ar.pfs = r4
	mov b1 = r5
	ENTER \psr
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	br.ret.sptk.many b1 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	nop.b 0 ;;
	}
	.default
	AT \name
	nop.m 0
	END \name, \fields
	USUAL
	UNMAP PLACE, 12
	.endm
	RETURN return, -1, KPSR, ISR | IIP | IFA | ITIR | IIPA | IPSR
//= return 1000 isr=0000+r+rs+ir.0 iip=+000 ifa=40000000000080f8 itir=0000000000001238 iipa=-020 ipsr=0000101008022000 | volume 2, 6.8, table 5-6: IR faults, at the target
	RETURN return_good, RWX | PAGE
//= return_good none | volume 3, br
	RETURN return_absent, 0
//= return_absent 5000 isr=0000+r+rs+ir.0 ifa=40000000000080f8 | volume 2, table 5-6
	RETURN return_nat, RWX | MA(7) | PAGE
//= return_nat 5600 isr=0020+r+rs+ir.0 ifa=40000000000080f8 | volume 2, table 5-6
	RETURN return_access, P | D | PL(3) | AR(2) | PAGE
//= return_access 2800 isr=0000+r+rs+ir.0 ifa=40000000000080f8 | volume 2, table 5-6
	RETURN return_key, RWX | PAGE, KPSR | PSR_PK, ISR | IFA, 0x55
//= return_key 1c00 isr=0000+r+rs+ir.0 ifa=40000000000080f8 | volume 2, table 5-6
	RETURN return_level3, -1, KPSR, ISR | IIP | IFA | IPSR, 0, 0xc000000000000408
//= return_level3 1000 isr=0000+r+rs+ir.0 iip=+000 ifa=40000000000080f8 ipsr=0000101308022000 | volume 2, 6.8: behind the demotion
	RETURN return_no_locals, -1, KPSR, ISR, 0, 0x8
//= return_no_locals none | volume 2, 6.5: a frame without locals reads nothing
	RETURN return_trap, -1, KPSR | PSR_TB, ISR | IIP
//= return_trap 5f00 isr=0004+ir.2 iip=+000 | volume 2, 3.3.5.2, 6.7, table 5-6: the trap of the branch first, with the frame as it is, which stays so in the handler
//ski return_trap: it goes on to load the frame in the handler
	CASE return_retried
	STORE PAGE + 0xc0, 0x1111
	STORE PAGE + 0xf8, 0x8888
	HOOK serve
	BACKING PLACE + 0x100
	movl r4 = 0x408
	movl r5 = at_return_retried
	;;
	mov ar.pfs = r4
	mov b1 = r5
	;;
	br.ret.sptk.many b1
	;;
serve:
	cover
	;;
	movl r17 = PLACE
	movl r18 = RWX | PAGE
	mov r19 = 12 << 2
	;;
	mov cr.ifa = r17
	mov cr.itir = r19
	;;
	itc.d r18
	;;
	srlz.d
	RETRY
	AT return_retried
	shl r8 = r32, 16
	;;
	or r8 = r8, r39
	END return_retried, R8 | ISR | COUNT
	USUAL
	UNMAP PLACE, 12
//= return_retried 1000 isr=0000+r+rs+ir.0 count=0000000000000001 r8=0000000011118888 | volume 2, 6.8: cover, and rfi loads the frame

// rfi with IFS.v
	.macro RESUMED name, pte=-1, psr=KPSR, fields=ISR | IFA, slot=0
	CASE \name
	DATA \pte
	BACKING PLACE + 0x100
	CLOSE
	movl r4 = \psr
	movl r5 = at_\name
	movl r6 = 1 << 63 | 8
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	mov cr.ifs = r6
	;;
	rfi
	AT \name
	nop.m 0
	END \name, \fields
	USUAL
	UNMAP PLACE, 12
	.endm
	RESUMED rfi_missing, -1, KPSR, ISR | IIP | IFA | IPSR
//= rfi_missing 1000 isr=0000+r+rs+ir.0 iip=+000 ifa=40000000000080f8 ipsr=0000101008022000 | volume 3, rfi; volume 2, 6.8
	RESUMED rfi_level3, -1, KPSR | PSR_CPL(3), ISR | IIP | IFA | IPSR
//= rfi_level3 1000 isr=0000+r+rs+ir.0 iip=+000 ifa=40000000000080f8 ipsr=0000101308022000 | volume 3, rfi
	RESUMED rfi_slot2, -1, KPSR | PSR_RI(2), ISR | IIP | IFA | IPSR
//= rfi_slot2 1000 isr=0000+r+rs+ir.2 iip=+000 ifa=40000000000080f8 ipsr=0000141008022000 | volume 2, 3.3.5.2: ei is PSR.ri
	RESUMED rfi_good, RWX | PAGE
//= rfi_good none | volume 3, rfi
	RESUMED rfi_rights, P | A | D | AR(7) | PAGE, KPSR, ISR | IFA
//= rfi_rights none | volume 2, table 4-4: AR 7 is readable at level 0, which RSC.pl is
	CASE rsc_level3
	LEVEL 3
	mov r4 = 0
	;;
	mov ar.rsc = r4
	;;
	mov r8 = ar.rsc
	AT rsc_level3
	END rsc_level3, R8
	mov ar.rsc = r0
//= rsc_level3 none r8=000000000000000c | volume 1, 3.1.8.2: RSC.pl is never more privileged than PSR.cpl
	CASE rsc_level0
	mov r4 = 4
	;;
	mov ar.rsc = r4
	;;
	mov r8 = ar.rsc
	AT rsc_level0
	END rsc_level0, R8
	mov ar.rsc = r0
//= rsc_level0 none r8=0000000000000004 | volume 1, 3.1.8.2

// the walker serves the register stack, too
	.set WALKER, TABLE | 20 << 2 | 1
	.macro WALKED name, entry, mapped, fields=ISR | IFA
	CASE \name
	movl r2 = TABLE + (0x8000 >> 14 << 3)
	movl r3 = \entry
	;;
	st8 [r2] = r3
	SETRR 2, RRV(2, 14, 1)
	SETCR pta, WALKER
	.if \mapped
	MAP d, IN(2, TABLE), RWX | TABLE, 20
	.endif
	BACKING PLACE + 0x20
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	FRAME_OUT
	ENTER KPSR
	AT \name
	flushrs
	;;
	END \name, \fields
	USUAL
	SETCR pta, 15 << 2
	SETRR 2, RRV(2, 14, 0)
	UNMAP PLACE, 14
	UNMAP IN(2, TABLE), 20
	.endm
	WALKED walked, RWX | PAGE, 1
//= walked none | volume 2, 4.1.7
	WALKED walked_absent, 0, 1
//= walked_absent 5000 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 4.1.8
	WALKED walked_reserved, RWX | MA(1), 1
//= walked_reserved 0800 isr=0000+w+rs.0 ifa=4000000000008020 | volume 2, 8.3, 0x0800
	WALKED walked_missing, RWX | PAGE, 0, ISR | IFA | IHA | ITIR
//= walked_missing 0000 isr=0000+w+rs.0 ifa=4000000000008020 itir=0000000000001238 iha=4000000000800010 | volume 2, 8.3, 0x0000
	CASE walked_return
	movl r2 = TABLE + (0x8000 >> 14 << 3)
	movl r3 = RWX | PAGE
	;;
	st8 [r2] = r3
	SETRR 2, RRV(2, 14, 1)
	SETCR pta, WALKER
	BACKING PLACE + 0x100
	movl r4 = 0x408
	movl r5 = at_walked_return
	;;
	mov ar.pfs = r4
	mov b1 = r5
	;;
	br.ret.sptk.many b1
	;;
	AT walked_return
	nop.m 0
	END walked_return, ISR | IFA | IHA | IIP
	USUAL
	SETCR pta, 15 << 2
	SETRR 2, RRV(2, 14, 0)
//= walked_return 0000 isr=0000+r+rs+ir.0 iip=+000 ifa=40000000000080f8 iha=4000000000800010 | volume 2, 8.3, 0x0000, table 5-6: IR VHPT Data
	FINISH
