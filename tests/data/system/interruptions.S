// What an interruption keeps and what software finds in it: banks, frames with rotation, slots of every kind of fault, register
// NaT consumption by every kind of reader, interrupts against faults of an incomplete frame. Volume 2, 3.3, 5.5, 5.6, 8.3.
#include "system.h"
#define PLACE	IN(2, 0x8000)

// a handler that skips a break of slot 0: the interrupted code does not notice
	.macro SKIPPED name, psr, before, after, check
	CASE \name
	HOOK skip_\name
	ENTER \psr
	\before
	;;
	.explicit
	AT \name
	{ .mii
	break.m 0x98
	nop.i 0
	nop.i 0 ;;
	}
	.default
	\after
	;;
	END \name, R8 | IIM
	br.cond.sptk.many 1f
	;;
skip_\name:
	\check
	mov r17 = cr.ipsr
	;;
	dep r17 = -1, r17, 41, 1
	;;
	mov cr.ipsr = r17
	RETRY
1:
	.endm
	SKIPPED kept_bank1, KPSR, "mov r16 = 1;; mov r31 = 2", "shl r8 = r16, 4;; add r8 = r8, r31", "mov r16 = 7"
//= kept_bank1 2c00 iim=0000000000000098 r8=0000000000000012 | volume 2, 3.3.7: the handler has bank 0, rfi goes back to bank 1
	SKIPPED kept_bank1_level3, KPSR | PSR_CPL(3), "mov r16 = 3;; mov r20 = 4", "shl r8 = r16, 4;; add r8 = r8, r20", "mov r20 = 7"
//= kept_bank1_level3 2c00 iim=0000000000000098 r8=0000000000000034 | volume 2, 3.3.7
	SKIPPED kept_mask, KPSR | PSR_UP | PSR_CPL(3), "nop.m 0", "mov r8 = psr.um", "nop.m 0"
//= kept_mask 2c00 iim=0000000000000098 r8=0000000000000004 | volume 2, 5.5: rfi takes PSR from IPSR
	SKIPPED kept_predicates, KPSR, "mov r8 = 0x7654;; mov pr = r8, -1", "mov r8 = pr", "cmp.eq p1, p2 = r0, r0"
//= kept_predicates 2c00 iim=0000000000000098 r8=0000000000007655 | volume 2, 5.5
	SKIPPED kept_big_endian, KPSR | PSR_BE, "nop.m 0", "movl r9 = 0x123456;; movl r10 = 0x400000;; st8 [r10] = r9;; rum 2;; ld8 r8 = [r10]", "nop.m 0"
//= kept_big_endian 2c00 iim=0000000000000098 r8=5634120000000000 | volume 2, table 3-2: PSR.be comes back with rfi

// a frame with rotation goes through cover and IFS
	CASE rotated
	HOOK rotated_handler
	.explicit
	{ .mii
	alloc r2 = ar.pfs, 0, 16, 0, 16
	nop.i 0
	nop.i 0 ;;
	}
	.default
	mov r8 = 3
	mov r9 = 2
	;;
	mov ar.lc = r8
	mov ar.ec = r9
	mov r32 = 0x32
	;;
	br.ctop.sptk.many 1f
	;;
1:
	.explicit
	AT rotated
	{ .mii
	break.m 0x97
	nop.i 0
	nop.i 0 ;;
	}
	.default
	shl r9 = r33, 48			// where r32 has gone
	;;
	xor r8 = r8, r9
	clrrrb
	;;
	END rotated, R8
	br.cond.sptk.many 2f
	;;
rotated_handler:
	cover
	;;
	mov r8 = cr.ifs
	mov r17 = cr.iip
	;;
	adds r17 = 16, r17
	;;
	mov cr.iip = r17
	mov r17 = cr.ipsr
	;;
	dep r17 = 0, r17, 41, 2
	;;
	mov cr.ipsr = r17
	RETRY
2:
//= rotated 2c00 r8=8032002fbe3c8810 | volume 2, 3.3.5.7; volume 1, 3.1.7: IFS.ifm is CFM with sor and the rotating bases

// IIPA behind rfi: an rfi with PSR.ic 0 is not the last instruction that executed
	CASE previous
	movl r4 = IN(1, 0x8000)
	HOOK previous_handler
	.explicit
	{ .mii
	nop.m 0
	nop.i 0
	nop.i 0 ;;
	}
	{ .mii
	break.m 0x96
	nop.i 0
	nop.i 0 ;;
	}
	AT previous
	{ .mii
	ld8 r8 = [r4]
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END previous, ISR | IIP | IIPA | COUNT
	br.cond.sptk.many 1f
	;;
previous_handler:
	mov r17 = cr.iip
	;;
	adds r17 = 16, r17
	;;
	mov cr.iip = r17
	RETRY
1:
//= previous 1000 isr=0000+r.0 iip=+000 iipa=-020 count=0000000000000002 | volume 2, 3.3.5.6: rfi does not update IIPA with PSR.ic 0

// slots: ei and IPSR.ri of faults and traps in slot 1 and 2
	.macro SLOTTED name, template, first, second, third, psr=KPSR, fields=IIPA | IPSR
	CASE \name
	movl r4 = IN(1, 0x8000)
	ENTER \psr
	.explicit
	AT \name
	{ .\template
	\first
	\second
	\third ;;
	}
	.default
	END \name, ISR | IIP | \fields
	.endm
	SLOTTED slot_store, mmi, "nop.m 0", "st8 [r4] = r4", "nop.i 0"
//= slot_store 1000 isr=0000+w.1 iip=+000 iipa=+000 ipsr=0000121008022000 | volume 2, 3.3.5.2
	SLOTTED slot_reserved, mmi, "nop.m 0", "ssm 0x40", "nop.i 0"
//= slot_reserved 5400 isr=0030.1 iip=+000 iipa=+000 ipsr=0000121008022000 | volume 2, 3.3.5.2
	SLOTTED slot_privileged, mmi, "nop.m 0", "mov r8 = cr.iva", "nop.i 0", KPSR | PSR_CPL(2)
//= slot_privileged 5400 isr=0010.1 iip=+000 iipa=+000 ipsr=0000121208022000 | volume 2, 3.3.5.2
	SLOTTED slot_frame, mii, "nop.m 0", "nop.i 0", "mov r100 = r0"
//= slot_frame 5400 isr=0000.2 iip=+000 iipa=+000 ipsr=0000141008022000 | volume 2, 3.3.5.2
	SLOTTED slot_kernel_register, mmi, "nop.m 0", "mov ar.k1 = r4", "nop.i 0", KPSR | PSR_CPL(3)
//= slot_kernel_register 5400 isr=0020.1 iip=+000 iipa=+000 ipsr=0000121308022000 | volume 2, 3.3.5.2
	SLOTTED slot_illegal_after, mmi, "ld8 r8 = [r4]", "mov cr.ivr = r4", "nop.i 0", KPSR, IPSR
//= slot_illegal_after 1000 isr=0000+r.0 iip=+000 ipsr=0000101008022000 | volume 2, 5.6: in program order, whatever the priorities
	SLOTTED slot_predicate, mmi, "(p0) nop.m 0", "(p0) break.m 0x98", "nop.i 0"
//= slot_predicate 2c00 isr=0000.1 iip=+000 iipa=+000 ipsr=0000121008022000 | volume 2, 3.3.5.2

// readers of a NaT
	.macro READER name, instruction, level=0, fields=ISR
	CASE \name
	NAT r4
	mov r5 = 0
	mov r8 = 0
	LEVEL \level
	AT \name
	\instruction
	;;
	END \name, \fields
	.endm
	READER nat_branch, "mov b1 = r4", 3
//= nat_branch 5600 isr=0010.1 | volume 3, mov br
	READER nat_predicates, "mov pr = r4, -1", 3
//= nat_predicates 5600 isr=0010.1 | volume 3, mov pr
	READER nat_lc, "mov ar.lc = r4", 3
//= nat_lc 5600 isr=0010.1 | volume 3, mov ar
	READER nat_unat, "mov ar.unat = r4", 3
//= nat_unat 5600 isr=0010.0 | volume 3, mov ar
	READER nat_bspstore, "mov ar.bspstore = r4", 3
//= nat_bspstore 5600 isr=0010.0 | volume 3, mov ar
	READER nat_rr_index, "mov r8 = rr[r4]"
//= nat_rr_index 5600 isr=0010.0 | volume 3, mov indirect
	READER nat_cpuid_index, "mov r8 = cpuid[r4]", 3
//= nat_cpuid_index 5600 isr=0010.0 | volume 3, mov indirect
	READER nat_ptr, "ptr.d r5, r4"
//= nat_ptr 5600 isr=0010.0 | volume 3, ptr
	READER nat_ptce, "ptc.e r4"
//= nat_ptce 5600 isr=0010.0 | volume 3, ptc.e
	READER nat_store_float, "setf.sig f8 = r4;; stfd [r5] = f8", 3, 0
//= nat_store_float 5600 | volume 3, stf: NaTVal
	READER nat_spill, "movl r5 = 0x400000;; st8.spill [r5] = r4", 3
//= nat_spill none | volume 3, st: the NaT goes into UNAT
	READER nat_compare, "cmp.eq p6, p7 = r4, r0", 3
//= nat_compare none | volume 3, cmp
	READER nat_add, "add r8 = r4, r4;; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", 3, R8
//= nat_add none r8=0000000000000001 | volume 1, 4.4.4
	READER nat_off, "cmp.ne p6, p7 = r0, r0;; (p6) ld8 r8 = [r4];; (p6) mov b1 = r4", 3
//= nat_off none | volume 1, 4.4.4: a false predicate reads nothing

// an interrupt comes before the faults of an incomplete frame
	CASE frame_and_interrupt
	mov ar.rsc = 0
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	loadrs
	;;
	movl r4 = PLACE + 0x100
	;;
	mov ar.bspstore = r4
	SETCR tpr, 0
	SETCR itv, 0x45
	mov r4 = ar.itc
	movl r5 = 2000
	movl r6 = 10000000
	;;
	add r4 = r4, r5
	;;
	mov cr.itm = r4
	;;
	srlz.d
	;;
1:	mov r7 = cr.irr1
	adds r6 = -1, r6
	;;
	cmp.eq p6, p7 = 0, r6
	tbit.nz p8, p9 = r7, 5
	;;
(p6)	br.cond.sptk.few 2f
	;;
(p9)	br.cond.sptk.few 1b
	;;
2:
	CLOSE
	movl r4 = KPSR | PSR_I
	movl r5 = at_frame_and_interrupt
	movl r6 = 1 << 63 | 8
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	mov cr.ifs = r6
	;;
	rfi
	AT frame_and_interrupt
	nop.m 0
	END frame_and_interrupt, ISR | IIP
	mov r4 = cr.ivr
	;;
	mov cr.eoi = r0
	SETCR itv, 0x10000
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
	;;
//= frame_and_interrupt 3000 isr=0000+ir.0 iip=+000 | volume 2, 3.3.5.2, 6.7: a sequence of mandatory loads is interrupted; table 5-6
//ski frame_and_interrupt: it raises the fault of the frame behind the interrupt, although the handler has covered it
	FINISH
