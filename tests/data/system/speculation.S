// Speculative and advanced loads with attributes, updates of bases beside faults and deferral, the ALAT beside interruptions.
// Volume 2, 4.4.6, 4.4.10, 5.5.5; volume 3, ld, lfetch, chk, ptc.ga.
#include "system.h"
#define PLACE	IN(1, 0x8000)
	.macro LOADED name, attribute, code, psr=KPSR, address=PLACE + 0x10, fields=R8
	CASE \name
	STORE PAGE + 0x10, 0x1234
	MAP d, PLACE, RWX | MA(\attribute) | PAGE, 12
	movl r4 = \address
	mov r8 = 5
	ENTER \psr
	\code
	;;
	AT \name
	END \name, \fields
	UNMAP PLACE, 12
	.endm
	LOADED speculative, 0, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1"
//= speculative none r8=0000000000001234 | volume 2, 4.4.6
	LOADED speculative_uncacheable, 4, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1"
//= speculative_uncacheable none r8=0000000000000001 | volume 2, 4.4.6: memory that is not speculative gives a NaT
	LOADED speculative_exported, 5, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1"
//= speculative_exported none r8=0000000000000001 | volume 2, 4.4.6
	LOADED speculative_physical, 0, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", KPSR & ~PSR_DT, (1 << 63) | PAGE + 0x10
//= speculative_physical none r8=0000000000000001 | volume 2, 4.2, 4.4.6: bit 63
	LOADED advanced, 0, "ld8.a r8 = [r4]"
//= advanced none r8=0000000000001234 | volume 3, ld
	LOADED advanced_uncacheable, 4, "ld8.a r8 = [r4]"
//= advanced_uncacheable none r8=0000000000000000 | volume 3, ld: zero from memory that is not speculative; volume 2, 4.4.10
	LOADED advanced_physical, 0, "ld8.a r8 = [r4]", KPSR & ~PSR_DT, (1 << 63) | PAGE + 0x10
//= advanced_physical none r8=0000000000000000 | volume 3, ld
	LOADED advanced_checked, 4, "ld8.a r8 = [r4];; ld8.c.clr r8 = [r4]"
//= advanced_checked none r8=0000000000001234 | volume 2, 4.4.10: no entry, so the check loads
	LOADED speculative_advanced, 4, "ld8.sa r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1"
//= speculative_advanced none r8=0000000000000001 | volume 3, ld
	LOADED float_speculative, 4, "ldfd.s f8 = [r4];; getf.sig r8 = f8;; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1"
//= float_speculative none r8=0000000000000001 | volume 3, ldf: NaTVal
	LOADED float_advanced, 4, "ldf8.a f8 = [r4];; getf.sig r8 = f8"
//= float_advanced none r8=0000000000000000 | volume 3, ldf

// bases
	CASE base_kept
	movl r4 = 0x4000000000000010
	AT base_kept
	ld8 r8 = [r4], 8
	;;
	END base_kept
	CASE base_kept_value
	movl r5 = 0x4000000000000010
	;;
	sub r8 = r4, r5
	AT base_kept_value
	END base_kept_value, R8
//= base_kept 1000 | volume 3, ld
//= base_kept_value none r8=0000000000000000 | volume 3, ld: nothing is updated by a fault
	CASE base_deferred
	movl r4 = 0x4000000000000010
	mov r5 = r0
	ENTER KPSR & ~PSR_IC
	ld8.s r8 = [r4], 8
	;;
	OPEN
	movl r5 = 0x4000000000000010
	;;
	sub r8 = r4, r5
	AT base_deferred
	END base_deferred, R8
//= base_deferred none r8=0000000000000008 | volume 2, 5.5.5: other effects are performed
	CASE base_ed
	movl r4 = 0x4000000000000010
	mov r5 = 0x40
	ENTER KPSR | PSR_ED
	lfetch.fault [r4], r5
	;;
	movl r5 = 0x4000000000000010
	;;
	sub r8 = r4, r5
	AT base_ed
	END base_ed, R8
//= base_ed none r8=0000000000000040 | volume 3, lfetch: PSR.ed leaves the update
	CASE base_nat_ed
	NAT r4
	ENTER KPSR | PSR_ED
	AT base_nat_ed
	lfetch.fault [r4]
	END base_nat_ed, ISR
//= base_nat_ed none | volume 3, lfetch: PSR.ed suppresses every fault of the prefetch
	CASE base_frame_ed
	ENTER KPSR | PSR_ED
	AT base_frame_ed
	lfetch.fault [r100], 8
	END base_frame_ed, ISR
//= base_frame_ed 5400 isr=0000.0 | volume 3, lfetch: but Illegal Operation, which is of the update
	CASE base_prefetch
	movl r4 = 0x4000000000000010
	;;
	lfetch [r4], 0x20
	;;
	movl r5 = 0x4000000000000010
	;;
	sub r8 = r4, r5
	AT base_prefetch
	END base_prefetch, R8
//= base_prefetch none r8=0000000000000020 | volume 3, lfetch
	CASE pair_fault
	movl r4 = 0x4000000000000010
	;;
	setf.sig f8 = r0
	AT pair_fault
	ldfp8 f8, f9 = [r4], 16
	;;
	END pair_fault, ISR
//= pair_fault 1000 isr=0000+r.0 | volume 3, ldfp

// the ALAT
	.macro ADVANCED name, code, psr=KPSR
	CASE \name
	STORE PAGE + 0x10, 0x1234
	MAP d, PLACE, RWX | PAGE, 12
	movl r4 = PLACE + 0x10
	movl r5 = PAGE + 0x10
	mov r6 = 0x99
	ENTER \psr
	ld8.a r8 = [r4]
	;;
	\code
	;;
	chk.a.clr r8, .Lfailed_\name
	;;
	mov r8 = 1
	br.cond.sptk.few .Lpassed_\name
	;;
.Lfailed_\name:
	mov r8 = 2
	;;
.Lpassed_\name:
	AT \name
	END \name, R8
	UNMAP PLACE, 12
	.endm
	ADVANCED alat_alias, "st8 [r5] = r6"
//= alat_alias none r8=0000000000000002 | volume 1, 4.4.5.4: a store to the same memory by another virtual address
	ADVANCED alat_invala, "invala"
//= alat_invala none r8=0000000000000002 | volume 3, invala
	FINISH
