// Calls, returns and levels; what takes no interruption; instruction translation registers. Volume 1, 4.5; volume 2, 3.3.2,
// 5.5; volume 3.
#include "system.h"

	.macro CALLED name, level
	CASE \name
	movl r4 = .Lcalled_\name
	;;
	mov b1 = r4
	mov ar.pfs = r0
	LEVEL \level
	br.call.sptk.many b2 = b1
	;;
	.align 16
.Lcalled_\name:
	mov r8 = ar.pfs
	;;
	shr.u r8 = r8, 62
	AT \name
	break.m 0x99
	END \name, R8 | IPSR
	mov ar.pfs = r0
	.endm
	CALLED called0, 0
//= called0 2c00 ipsr=0000101008022000 r8=0000000000000000 | volume 3, br.call: PFS.ppl is PSR.cpl
	CALLED called1, 1
//= called1 2c00 ipsr=0000101108022000 r8=0000000000000001 | volume 3, br.call
	CALLED called2, 2
//= called2 2c00 ipsr=0000101208022000 r8=0000000000000002 | volume 3, br.call
	CALLED called3, 3
//= called3 2c00 ipsr=0000101308022000 r8=0000000000000003 | volume 3, br.call

	.macro RETURNED name, level, ppl
	CASE \name
	movl r4 = at_\name
	movl r5 = (\ppl) << 62
	;;
	mov b1 = r4
	mov ar.pfs = r5
	LEVEL \level
	br.ret.sptk.many b1
	;;
	AT \name
	break.m 0x99
	END \name, IPSR
	mov ar.pfs = r0
	.endm
	RETURNED return_0_0, 0, 0
//= return_0_0 2c00 ipsr=0000101008022000 | volume 3, br.ret
	RETURNED return_0_1, 0, 1
//= return_0_1 2c00 ipsr=0000101108022000 | volume 3, br.ret: to PFS.ppl if that is less privileged
	RETURNED return_0_3, 0, 3
//= return_0_3 2c00 ipsr=0000101308022000 | volume 3, br.ret
	RETURNED return_2_1, 2, 1
//= return_2_1 2c00 ipsr=0000101208022000 | volume 3, br.ret: never to a more privileged level
	RETURNED return_2_3, 2, 3
//= return_2_3 2c00 ipsr=0000101308022000 | volume 3, br.ret
	RETURNED return_3_0, 3, 0
//= return_3_0 2c00 ipsr=0000101308022000 | volume 3, br.ret

// a call by epc and back: level 3 calls a page with rights to promote, whose code enters level 0, reads psr and returns
	CASE gate
	MAP i, IN(1, 0x100000), P | A | AR(7) | PL(0) | 0x100000, 18
	movl r4 = .Lgate + IN(1, 0)
	;;
	mov b1 = r4
	mov ar.pfs = r0
	LEVEL 3
	br.call.sptk.many b2 = b1
	;;
	AT gate
	break.m 0x99
	;;
	.align 16
.Lgate:
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	epc ;;
	}
	.default
	mov r8 = psr
	;;
	br.ret.sptk.many b2
	;;
	END gate, R8 | IPSR | IIP
	UNMAP IN(1, 0x100000), 18
//= gate 2c00 iip=+000 ipsr=0000101308022000 r8=0000001008022000 | volume 1, 4.5; volume 3, epc, br.ret: privileged between epc and the return
	CASE gate_without_epc
	MAP i, IN(1, 0x100000), P | A | AR(7) | PL(0) | 0x100000, 18
	ENTERIN 1, KPSR | PSR_CPL(3)
	AT gate_without_epc
	mov r8 = psr
	END gate_without_epc, ISR | IIP
	UNMAP IN(1, 0x100000), 18
//= gate_without_epc 5400 isr=0010.0 iip=+000 | volume 2, 4.1.1.6: the page alone does not promote

// checks branch, they do not raise a speculation fault where the processor has them
	CASE check_speculation
	NAT r4
	mov r8 = 0
	;;
	chk.s r4, 1f
	;;
	mov r8 = 1
	br.cond.sptk.few 2f
	;;
1:	mov r8 = 2
	;;
2:
	AT check_speculation
	END check_speculation, R8
//= check_speculation none r8=0000000000000002 | volume 3, chk
	CASE check_good
	mov r4 = 0
	mov r8 = 0
	;;
	chk.s r4, 1f
	;;
	mov r8 = 1
	br.cond.sptk.few 2f
	;;
1:	mov r8 = 2
	;;
2:
	AT check_good
	END check_good, R8
//= check_good none r8=0000000000000001 | volume 3, chk
	CASE check_advanced
	mov r8 = 0
	;;
	invala
	;;
	chk.a.clr r4, 1f
	;;
	mov r8 = 1
	br.cond.sptk.few 2f
	;;
1:	mov r8 = 2
	;;
2:
	AT check_advanced
	END check_advanced, R8
//= check_advanced none r8=0000000000000002 | volume 3, chk: an ALAT without entries
	CASE check_traps
	NAT r4
	ENTER KPSR | PSR_TB
	AT check_traps
	chk.s r4, 1f
	;;
	nop.m 0
	;;
1:	nop.m 0
	END check_traps, ISR | IIPA
//= check_traps 5f00 isr=0004.0 iipa=+000 | volume 2, 3.3.2, 8.3, 0x5f00: a check that branches is a taken branch

// rfi takes any IIP
	CASE iip_low_bits
	CLOSE
	movl r4 = at_iip_low_bits + 15
	movl r5 = KPSR
	;;
	mov cr.iip = r4
	mov cr.ipsr = r5
	mov cr.ifs = r0
	;;
	rfi
	AT iip_low_bits
	break.m 0x99
	END iip_low_bits, IIP | ISR
//= iip_low_bits 2c00 isr=0000.0 iip=+000 | volume 2, 3.3.5.3: bits 3:0 are ignored
	CASE rfi_slot2_long
	CLOSE
	movl r4 = at_rfi_slot2_long
	movl r5 = KPSR | PSR_RI(1)
	mov r8 = 0
	mov r9 = 0
	;;
	mov cr.iip = r4
	mov cr.ipsr = r5
	mov cr.ifs = r0
	;;
	rfi
	.explicit
	AT rfi_slot2_long
	{ .mlx
	adds r9 = 1, r9
	movl r8 = 0x1234 ;;
	}
	{ .mii
	add r8 = r8, r9
	nop.i 0
	nop.i 0 ;;
	}
	.default
	END rfi_slot2_long, R8
//= rfi_slot2_long none r8=0000000000001234 | volume 2, 3.3.2: PSR.ri 1 is the long instruction

// instructions by a translation register
	CASE code_register
	CLOSE
	movl r26 = IN(4, 0x100000)
	movl r27 = 18 << 2
	;;
	mov cr.ifa = r26
	mov cr.itir = r27
	movl r26 = RWX | 0x100000
	mov r27 = 5
	;;
	itr.i itr[r27] = r26
	;;
	OPEN
	ENTERIN 4, KPSR | PSR_CPL(3)
	AT code_register
	break.m 0x99
	END code_register, IIP | IPSR
//= code_register 2c00 iip=+000 ipsr=0000101308022000 | volume 3, itr
	CASE code_register_data
	movl r4 = IN(4, 0x100000)
	AT code_register_data
	ld8 r8 = [r4]
	END code_register_data, ISR
//= code_register_data 1000 isr=0000+r.0 | volume 3, itr: itr.i is for instructions
	CASE code_register_purged
	movl r26 = IN(4, 0x100000)
	mov r27 = 18 << 2
	;;
	ptr.i r26, r27
	;;
	srlz.i
	;;
	movl r4 = IN(4, 0x100000)
	;;
	mov b1 = r4
	;;
	ATX code_register_purged, IN(4, 0x100000)
	br.cond.sptk.many b1
	END code_register_purged, ISR | IIP
//= code_register_purged 0c00 isr=0000+x.0 iip=+000 | volume 3, ptr

// an interruption inside a handler: only ISR is written, and all is as it was behind rfi
	CASE handler_interrupted
	HOOK outer
	AT handler_interrupted
	break.m 0x98
	;;
	mov r8 = r8
	END handler_interrupted, R8 | COUNT | ISR | IIM
	br.cond.sptk.many 1f
	;;
outer:						// bank 0, PSR.ic 0: the access rights of a page of its own
	movl r17 = inner
	movl r18 = STATE + S_HOOK
	movl r19 = IN(5, 0x8000)
	mov r20 = 12 << 2
	;;
	st8 [r18] = r17
	mov cr.ifa = r19
	mov cr.itir = r20
	movl r17 = P | A | D | AR(0) | PAGE
	;;
	itc.d r17
	;;
	srlz.d
	;;
	st8 [r19] = r0
	;;
	br.cond.sptk.many to_resume
	;;
inner:
	mov r8 = cr.iip
	movl r17 = at_handler_interrupted
	;;
	sub r8 = r8, r17
	br.cond.sptk.many to_resume
	;;
1:
//= handler_interrupted 5300 isr=0000+w+ni.0 iim=0000000000000098 count=0000000000000002 r8=0000000000000000 | volume 2, 5.5: IIP and IIM are those of the first
	FINISH
