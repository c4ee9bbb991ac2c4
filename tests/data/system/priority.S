// Which of several faults of one reference is taken: pairs of conditions that hold at once, for a semaphore, for a fetch and
// for a load of the register stack engine; and pairs of an instruction's own faults. Volume 2, table 5-6, figure 4-16.
#include "system.h"
#define PLACE	IN(1, 0x8000)
	.set DEBUGGED, 1 << 63 | 1 << 62 | 15 << 56 | (((1 << 56) - 1) & ~15)
	SETPKR 0, 1
	.macro DATA_PAIR name, pte, psr, key=0, pkr=0, debug=0, offset=0x10
	CASE \name
	SETPKR 1, \pkr
	.if \debug
	mov r2 = 0
	movl r3 = PLACE + 0x10
	;;
	mov dbr[r2] = r3
	mov r2 = 1
	movl r3 = DEBUGGED
	;;
	mov dbr[r2] = r3
	;;
	srlz.d
	;;
	.endif
	MAP d, PLACE, \pte, 12, \key
	movl r4 = PLACE + \offset
	mov r5 = 1
	ENTER \psr
	AT \name
	xchg8 r8 = [r4], r5
	END \name, ISR | IFA
	UNMAP PLACE, 12
	mov r2 = 1
	;;
	mov dbr[r2] = r0
	;;
	.endm
	.macro FETCH_PAIR name, pte, psr, key=0, pkr=0, debug=0
	CASE \name
	SETPKR 1, \pkr
	.if \debug
	mov r2 = 0
	movl r3 = PLACE + 0x10
	;;
	mov ibr[r2] = r3
	mov r2 = 1
	movl r3 = DEBUGGED & ~(1 << 62)
	;;
	mov ibr[r2] = r3
	;;
	srlz.i
	;;
	.endif
	MAP i, PLACE, \pte, 12, \key
	movl r4 = PLACE + 0x10
	;;
	mov b1 = r4
	ENTER \psr
	ATX \name, PLACE + 0x10
	br.cond.sptk.many b1
	END \name, ISR | IFA | IIP
	UNMAP PLACE, 12
	mov r2 = 1
	;;
	mov ibr[r2] = r0
	;;
	.endm
	.macro RSE_PAIR name, pte, psr, key=0, pkr=0, debug=0
	CASE \name
	SETPKR 1, \pkr
	.if \debug
	mov r2 = 0
	movl r3 = PLACE + 0x1f0
	;;
	mov dbr[r2] = r3
	mov r2 = 1
	movl r3 = DEBUGGED
	;;
	mov dbr[r2] = r3
	;;
	srlz.d
	;;
	.endif
	MAP d, PLACE, \pte, 12, \key
	mov ar.rsc = 0
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	loadrs
	;;
	movl r4 = PLACE + 0x1f8
	;;
	mov ar.bspstore = r4
	movl r4 = 0x40 << 16
	;;
	mov ar.rsc = r4
	ENTER \psr
	AT \name
	loadrs
	;;
	END \name, ISR | IFA
	mov ar.rsc = 0
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	loadrs
	;;
	movl r4 = STACK
	;;
	mov ar.bspstore = r4
	;;
	alloc r2 = ar.pfs, 0, 8, 0, 0
	UNMAP PLACE, 12
	mov r2 = 1
	;;
	mov dbr[r2] = r0
	;;
	.endm
	DATA_PAIR data_absent_nat, 0 | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_absent_nat 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before NaT Page Consumption
	DATA_PAIR data_absent_keymiss, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_absent_keymiss 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Key Miss
	DATA_PAIR data_absent_keyperm, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_absent_keyperm 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Key Permission
	DATA_PAIR data_absent_rights, 0 | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_absent_rights 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Access Rights
	DATA_PAIR data_absent_dirty, 0 | A | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_absent_dirty 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Dirty Bit
	DATA_PAIR data_absent_access, 0 | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_absent_access 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Access Bit
	DATA_PAIR data_absent_debug, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_absent_debug 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Debug
	DATA_PAIR data_absent_unaligned, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_absent_unaligned 5000 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Page Not Present before Unaligned Data Reference
	DATA_PAIR data_absent_unsupported, 0 | A | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_absent_unsupported 5000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Unsupported Data Reference
	DATA_PAIR data_nat_keymiss, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_nat_keymiss 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Key Miss
	DATA_PAIR data_nat_keyperm, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_nat_keyperm 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Key Permission
	DATA_PAIR data_nat_rights, P | A | D | MA(7) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_nat_rights 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Access Rights
	DATA_PAIR data_nat_dirty, P | A | 0 | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_nat_dirty 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Dirty Bit
	DATA_PAIR data_nat_access, P | 0 | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_nat_access 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Access Bit
	DATA_PAIR data_nat_debug, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_nat_debug 5600 isr=0020+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Debug
	DATA_PAIR data_nat_unaligned, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_nat_unaligned 5600 isr=0020+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: NaT Page Consumption before Unaligned Data Reference
	DATA_PAIR data_keymiss_rights, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_keymiss_rights 1c00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Access Rights
	DATA_PAIR data_keymiss_dirty, P | A | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_keymiss_dirty 1c00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Dirty Bit
	DATA_PAIR data_keymiss_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_keymiss_access 1c00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Access Bit
	DATA_PAIR data_keymiss_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1, 0x10
//= data_keymiss_debug 1c00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Debug
	DATA_PAIR data_keymiss_unaligned, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x11
//= data_keymiss_unaligned 1c00 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Key Miss before Unaligned Data Reference
	DATA_PAIR data_keymiss_unsupported, P | A | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0, 0x10
//= data_keymiss_unsupported 1c00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Unsupported Data Reference
	DATA_PAIR data_keyperm_rights, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_keyperm_rights 5100 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Access Rights
	DATA_PAIR data_keyperm_dirty, P | A | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_keyperm_dirty 5100 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Dirty Bit
	DATA_PAIR data_keyperm_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_keyperm_access 5100 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Access Bit
	DATA_PAIR data_keyperm_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x5505, 1, 0x10
//= data_keyperm_debug 5100 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Debug
	DATA_PAIR data_keyperm_unaligned, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x11
//= data_keyperm_unaligned 5100 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Key Permission before Unaligned Data Reference
	DATA_PAIR data_keyperm_unsupported, P | A | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0, 0x10
//= data_keyperm_unsupported 5100 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Unsupported Data Reference
	DATA_PAIR data_rights_dirty, P | A | 0 | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_rights_dirty 5300 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Dirty Bit
	DATA_PAIR data_rights_access, P | 0 | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_rights_access 5300 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Access Bit
	DATA_PAIR data_rights_debug, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_rights_debug 5300 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Debug
	DATA_PAIR data_rights_unaligned, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_rights_unaligned 5300 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Access Rights before Unaligned Data Reference
	DATA_PAIR data_rights_unsupported, P | A | D | MA(4) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_rights_unsupported 5300 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Unsupported Data Reference
	DATA_PAIR data_dirty_access, P | 0 | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_dirty_access 2000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Dirty Bit before Access Bit
	DATA_PAIR data_dirty_debug, P | A | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_dirty_debug 2000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Dirty Bit before Debug
	DATA_PAIR data_dirty_unaligned, P | A | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_dirty_unaligned 2000 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Dirty Bit before Unaligned Data Reference
	DATA_PAIR data_dirty_unsupported, P | A | 0 | MA(4) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_dirty_unsupported 2000 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Dirty Bit before Unsupported Data Reference
	DATA_PAIR data_access_debug, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_access_debug 2800 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Bit before Debug
	DATA_PAIR data_access_unaligned, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_access_unaligned 2800 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Access Bit before Unaligned Data Reference
	DATA_PAIR data_access_unsupported, P | 0 | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x10
//= data_access_unsupported 2800 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Access Bit before Unsupported Data Reference
	DATA_PAIR data_debug_unaligned, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x11
//= data_debug_unaligned 5900 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Debug before Unaligned Data Reference
//ski data_debug_unaligned: it does not look at breakpoints on pages whose access and dirty bits are set
	DATA_PAIR data_debug_unsupported, P | A | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x10
//= data_debug_unsupported 5900 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, table 5-6: Debug before Unsupported Data Reference
//ski data_debug_unsupported: it does not look at breakpoints on pages whose access and dirty bits are set
	DATA_PAIR data_unaligned_unsupported, P | A | D | MA(4) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0, 0x11
//= data_unaligned_unsupported 5a00 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Unaligned Data Reference before Unsupported Data Reference
	FETCH_PAIR fetch_absent_nat, 0 | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_absent_nat 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before NaT Page Consumption
	FETCH_PAIR fetch_absent_keymiss, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= fetch_absent_keymiss 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Key Miss
	FETCH_PAIR fetch_absent_keyperm, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5509, 0
//= fetch_absent_keyperm 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Key Permission
	FETCH_PAIR fetch_absent_rights, 0 | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_absent_rights 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Access Rights
	FETCH_PAIR fetch_absent_access, 0 | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_absent_access 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Access Bit
	FETCH_PAIR fetch_absent_debug, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= fetch_absent_debug 5000 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Page Not Present before Debug
	FETCH_PAIR fetch_nat_keymiss, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= fetch_nat_keymiss 5600 isr=0020+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Key Miss
	FETCH_PAIR fetch_nat_keyperm, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5509, 0
//= fetch_nat_keyperm 5600 isr=0020+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Key Permission
	FETCH_PAIR fetch_nat_rights, P | A | D | MA(7) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_nat_rights 5600 isr=0020+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Access Rights
	FETCH_PAIR fetch_nat_access, P | 0 | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_nat_access 5600 isr=0020+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Access Bit
	FETCH_PAIR fetch_nat_debug, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= fetch_nat_debug 5600 isr=0020+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: NaT Page Consumption before Debug
	FETCH_PAIR fetch_keymiss_rights, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= fetch_keymiss_rights 1800 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Access Rights
	FETCH_PAIR fetch_keymiss_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= fetch_keymiss_access 1800 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Access Bit
	FETCH_PAIR fetch_keymiss_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1
//= fetch_keymiss_debug 1800 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Miss before Debug
	FETCH_PAIR fetch_keyperm_rights, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5509, 0
//= fetch_keyperm_rights 5100 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Access Rights
	FETCH_PAIR fetch_keyperm_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5509, 0
//= fetch_keyperm_access 5100 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Access Bit
	FETCH_PAIR fetch_keyperm_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x5509, 1
//= fetch_keyperm_debug 5100 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Key Permission before Debug
	FETCH_PAIR fetch_rights_access, P | 0 | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= fetch_rights_access 5200 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Access Bit
	FETCH_PAIR fetch_rights_debug, P | A | D | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= fetch_rights_debug 5200 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Access Rights before Debug
	FETCH_PAIR fetch_access_debug, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= fetch_access_debug 2400 isr=0000+x.0 iip=+000 ifa=2000000000008010 | volume 2, table 5-6: Access Bit before Debug
	RSE_PAIR rse_absent_nat, 0 | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= rse_absent_nat 5000 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Page Not Present before NaT Page Consumption
	RSE_PAIR rse_absent_keymiss, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= rse_absent_keymiss 5000 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Page Not Present before Key Miss
	RSE_PAIR rse_absent_keyperm, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0
//= rse_absent_keyperm 5000 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Page Not Present before Key Permission
	RSE_PAIR rse_absent_access, 0 | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= rse_absent_access 5000 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Page Not Present before Access Bit
	RSE_PAIR rse_absent_debug, 0 | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= rse_absent_debug 5000 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Page Not Present before Debug
	RSE_PAIR rse_nat_keymiss, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= rse_nat_keymiss 5600 isr=0020+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: NaT Page Consumption before Key Miss
	RSE_PAIR rse_nat_keyperm, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0
//= rse_nat_keyperm 5600 isr=0020+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: NaT Page Consumption before Key Permission
	RSE_PAIR rse_nat_access, P | 0 | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR, 0x0, 0x0, 0
//= rse_nat_access 5600 isr=0020+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: NaT Page Consumption before Access Bit
	RSE_PAIR rse_nat_debug, P | A | D | MA(7) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= rse_nat_debug 5600 isr=0020+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: NaT Page Consumption before Debug
	RSE_PAIR rse_keymiss_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x0, 0
//= rse_keymiss_access 1c00 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Key Miss before Access Bit
	RSE_PAIR rse_keymiss_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1
//= rse_keymiss_debug 1c00 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Key Miss before Debug
	RSE_PAIR rse_keyperm_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK, 0x55, 0x5505, 0
//= rse_keyperm_access 5100 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Key Permission before Access Bit
	RSE_PAIR rse_keyperm_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x5505, 1
//= rse_keyperm_debug 5100 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Key Permission before Debug
	RSE_PAIR rse_access_debug, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1
//= rse_access_debug 2800 isr=0000+r+rs.0 ifa=20000000000081f0 | volume 2, table 5-6: Access Bit before Debug
	DATA_PAIR all_from_absent, 0 | 0 | 0 | MA(7) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1, 0x11
//= all_from_absent 5000 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Page Not Present, of all that follow it
	DATA_PAIR all_from_nat, P | 0 | 0 | MA(7) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1, 0x11
//= all_from_nat 5600 isr=0020+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: NaT Page Consumption, of all that follow it
	DATA_PAIR all_from_keymiss, P | 0 | 0 | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_PK | PSR_DB, 0x55, 0x0, 1, 0x11
//= all_from_keymiss 1c00 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Key Miss, of all that follow it
	DATA_PAIR all_from_rights, P | 0 | 0 | MA(0) | AR(0) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x11
//= all_from_rights 5300 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Access Rights, of all that follow it
	DATA_PAIR all_from_dirty, P | 0 | 0 | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x11
//= all_from_dirty 2000 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Dirty Bit, of all that follow it
	DATA_PAIR all_from_access, P | 0 | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x11
//= all_from_access 2800 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Access Bit, of all that follow it
	DATA_PAIR all_from_debug, P | A | D | MA(0) | AR(3) | PL(3) | PAGE, KPSR | PSR_DB, 0x0, 0x0, 1, 0x11
//= all_from_debug 5900 isr=0000+w+r.0 ifa=2000000000008011 | volume 2, table 5-6: Debug, of all that follow it
//ski all_from_debug: it does not look at breakpoints on pages whose access and dirty bits are set

// an instruction's own faults
	.macro OWN_PAIR name, psr, instruction, nat=0
	CASE \name
	movl r4 = IN(1, 0x10)
	.if \nat
	NAT r4
	.endif
	movl r5 = 8
	ENTER \psr
	AT \name
	\instruction
	;;
	END \name, ISR
	.endm
	OWN_PAIR frame_dfl, KPSR | PSR_DFL, "getf.sig r100 = f5"
//= frame_dfl 5400 isr=0000.0 | volume 2, table 5-6: Illegal Operation before Disabled Floating-point Register
	OWN_PAIR frame_nat, KPSR, "ld8 r100 = [r4]", 1
//= frame_nat 5400 isr=0000.0 | volume 2, table 5-6: Illegal Operation before Register NaT Consumption
	OWN_PAIR frame_miss, KPSR, "ld8 r100 = [r4]"
//= frame_miss 5400 isr=0000.0 | volume 2, table 5-6: Illegal Operation before Alternate Data TLB
	OWN_PAIR frame_level, KPSR | PSR_CPL(3), "mov r100 = cr.dcr"
//= frame_level 5400 isr=0000.0 | volume 2, table 5-6: Illegal Operation before Privileged Operation
	OWN_PAIR frame_tpa, KPSR | PSR_CPL(3), "tpa r100 = r4"
//= frame_tpa 5400 isr=0000.0 | volume 3, tpa: Illegal Operation before Privileged Operation
	OWN_PAIR frame_probe, KPSR, "probe.r r100 = r4, 0"
//= frame_probe 5400 isr=0000.0 | volume 3, probe: Illegal Operation before the miss
	OWN_PAIR frame_fetchadd, KPSR, "fetchadd8.acq r100 = [r4], 1", 1
//= frame_fetchadd 5400 isr=0000.0 | volume 3, fetchadd
	OWN_PAIR base_frame, KPSR, "ld8 r8 = [r100], 8"
//= base_frame 5400 isr=0000.0 | volume 3, ld: a base that is updated is a target
	OWN_PAIR level_reserved, KPSR | PSR_CPL(3), "mov cr.dcr = r5"
//= level_reserved 5400 isr=0010.0 | volume 2, table 5-6: Privileged Operation before Reserved Register/Field
	OWN_PAIR level_number, KPSR | PSR_CPL(3), "mov r8 = cr75"
//= level_number 5400 isr=0000.0 | volume 3, mov cr: a reserved register is an Illegal Operation at every level
	OWN_PAIR level_insert, (KPSR | PSR_CPL(3)) & ~PSR_IC, "itc.d r5"
//= level_insert 5400 isr=0010+ni.0 | volume 3, itc
	OWN_PAIR level_insert_tr, (KPSR | PSR_CPL(3)) & ~PSR_IC, "itr.d dtr[r5] = r5"
//= level_insert_tr 5400 isr=0010+ni.0 | volume 3, itr
	OWN_PAIR level_register, KPSR | PSR_CPL(3), "mov cr.ivr = r5"
//= level_register 5400 isr=0000.0 | volume 3, mov cr: read-only registers at every level
	OWN_PAIR dfl_nat, KPSR | PSR_DFL, "setf.sig f5 = r4", 1
//= dfl_nat 5500 isr=0001.0 | volume 3, setf
	OWN_PAIR dfl_miss, KPSR | PSR_DFL, "ldfs f5 = [r4]"
//= dfl_miss 5500 isr=0001+r.0 | volume 2, table 5-6: Disabled Floating-point Register before Alternate Data TLB
	OWN_PAIR dfh_pair, KPSR | PSR_DFH, "ldfps f40, f41 = [r4]", 1
//= dfh_pair 5500 isr=0002+r.0 | volume 2, table 5-6: Disabled Floating-point Register before Register NaT Consumption
	OWN_PAIR nat_number, KPSR, "mov r8 = pkr[r4]", 1
//= nat_number 5600 isr=0010.0 | volume 2, table 5-6: Register NaT Consumption before Reserved Register/Field
	OWN_PAIR nat_insert, KPSR & ~PSR_IC, "itc.d r4", 1
//= nat_insert 5600 isr=0010+ni.0 | volume 3, itc
	OWN_PAIR miss_unaligned, KPSR | PSR_AC, "adds r4 = 1, r4;; xchg8 r8 = [r4], r5"
//= miss_unaligned 1000 isr=0000+w+r.1 | volume 2, table 5-6: Alternate Data TLB before Unaligned Data Reference

// a trap of a branch comes before the faults of its target
	.macro TARGET_PAIR name, psr
	CASE \name
	movl r4 = IN(1, 0x10)
	;;
	mov b1 = r4
	ENTER \psr
	.explicit
	AT \name
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b1 ;;
	}
	.default
	END \name, ISR | IIPA
	.endm
	TARGET_PAIR branch_miss, KPSR | PSR_TB
//= branch_miss 5f00 isr=0004.2 iipa=+000 | volume 2, 5.5: the trap is of the instruction before
	TARGET_PAIR step_miss, KPSR | PSR_SS | PSR_RI(2)
//= step_miss 6000 isr=0008.2 iipa=+000 | volume 2, 5.5
	TARGET_PAIR plain_miss, KPSR
//= plain_miss 0c00 isr=0000+x.0 iipa=+000 | volume 2, 5.5
	FINISH
