// Break, disabled floating-point registers, alignment, memory attributes, floating-point faults and traps, and the traps
// of PSR.lp, tb and ss. Volume 2, 3.3.2, 5.5, 8.2 (table 8-3, trap codes), 8.3.
#include "system.h"
#define PLACE	IN(1, 0x8000)

	.macro PLACED name, psr, template, first, second, third, fields=ISR | IIP
	CASE \name
	mov r5 = 1
	ENTER \psr
	.explicit
	AT \name
	{ .\template
	\first
	\second
	\third ;;
	}
	.default
	END \name, \fields
	.endm

// break: IIM, slots, levels
	PLACED break_m, KPSR, mib, "break.m 0x1234", "nop.i 0", "nop.b 0", ISR | IIP | IIM
//= break_m 2c00 isr=0000.0 iip=+000 iim=0000000000001234 | volume 2, 8.3, 0x2c00
	PLACED break_i, KPSR, mib, "nop.m 0", "break.i 0x1fffff", "nop.b 0", ISR | IIP | IIM
//= break_i 2c00 isr=0000.1 iip=+000 iim=00000000001fffff | volume 3, break: zero extended
	PLACED break_f, KPSR, mfi, "nop.m 0", "break.f 0x1235", "nop.i 0", ISR | IIP | IIM
//= break_f 2c00 isr=0000.1 iip=+000 iim=0000000000001235 | volume 3, break
	PLACED break_b, KPSR, mib, "nop.m 0", "nop.i 0", "break.b 0x1236", ISR | IIP | IIM
//= break_b 2c00 isr=0000.2 iip=+000 iim=0000000000000000 | volume 3, break: the B unit's immediate is not kept
	PLACED break_level3, KPSR | PSR_CPL(3), mii, "nop.m 0", "nop.i 0", "break.i 0x42", ISR | IIP | IIM | IPSR
//= break_level3 2c00 isr=0000.2 iip=+000 iim=0000000000000042 ipsr=0000141308022000 | volume 2, 8.3, 0x2c00: IPSR.ri
	CASE break_x
	.explicit
	AT break_x
	{ .mlx
	nop.m 0
	break.x 0x3123456789abcdef ;;
	}
	.default
	END break_x, ISR | IIP | IIM
//= break_x 2c00 isr=0000.1 iip=+000 iim=00000000001bcdef | volume 3, break: the low 21 of its 62 bits, i:imm41:imm20a; the assembler puts i below imm41

// disabled floating-point registers
	PLACED low, KPSR | PSR_DFL, mfi, "nop.m 0", "fma.d f10 = f11, f1, f0", "nop.i 0"
//= low 5500 isr=0001.1 iip=+000 | volume 2, 8.3, 0x5500: code bit 0 for f2 to f31
	PLACED high, KPSR | PSR_DFH, mfi, "nop.m 0", "fma.d f32 = f0, f1, f0", "nop.i 0"
//= high 5500 isr=0002.1 iip=+000 | volume 2, 8.3, 0x5500: code bit 1 for f32 to f127
	PLACED low_and_high, KPSR | PSR_DFH | PSR_DFL, mfi, "nop.m 0", "fma.d f10 = f127, f1, f0", "nop.i 0"
//= low_and_high 5500 isr=0003.1 iip=+000 | volume 2, 8.3, 0x5500
	PLACED low_only, KPSR | PSR_DFL, mfi, "nop.m 0", "fma.d f40 = f127, f1, f0", "nop.i 0"
//= low_only none | volume 2, 3.3.2: dfl is for f2 to f31
	PLACED high_only, KPSR | PSR_DFH, mfi, "nop.m 0", "fma.d f31 = f2, f1, f0", "nop.i 0"
//= high_only none | volume 2, 3.3.2
	PLACED constants, KPSR | PSR_DFH | PSR_DFL, mfi, "nop.m 0", "fcmp.eq p6, p7 = f0, f1", "nop.i 0"
//= constants none | volume 2, 3.3.2: f0 and f1 are in neither
	PLACED high_load, KPSR | PSR_DFH, mii, "ldfd f40 = [r0]", "nop.i 0", "nop.i 0"
//= high_load 5500 isr=0002+r.0 iip=+000 | volume 3, ldf: the kind of reference goes with the fault
	PLACED high_store, KPSR | PSR_DFH, mii, "stfd [r0] = f40", "nop.i 0", "nop.i 0"
//= high_store 5500 isr=0002+w.0 iip=+000 | volume 3, stf
	PLACED low_getf, KPSR | PSR_DFL, mii, "getf.sig r8 = f5", "nop.i 0", "nop.i 0"
//= low_getf 5500 isr=0001.0 iip=+000 | volume 2, 8.3, 0x5500
	PLACED low_setf, KPSR | PSR_DFL, mii, "setf.sig f5 = r0", "nop.i 0", "nop.i 0"
//= low_setf 5500 isr=0001.0 iip=+000 | volume 2, 8.3, 0x5500
	CASE high_before_miss
	movl r4 = IN(2, 0)
	ENTER KPSR | PSR_DFH
	AT high_before_miss
	ldfd f40 = [r4]
	END high_before_miss, ISR
//= high_before_miss 5500 isr=0002+r.0 | volume 2, table 5-6: before all data faults
	CASE high_before_nat
	NAT r4
	ENTER KPSR | PSR_DFH
	AT high_before_nat
	ldfd f40 = [r4]
	END high_before_nat, ISR
//= high_before_nat 5500 isr=0002+r.0 | volume 2, table 5-6: before register NaT consumption
	CASE high_speculative
	movl r4 = IN(2, 0)
	ENTER KPSR | PSR_DFH
	AT high_speculative
	ldfd.s f40 = [r4]
	END high_speculative, ISR
//= high_speculative 5500 isr=0002+r+sp.0 | volume 2, 5.5.5: always raised

// alignment
	.macro ALIGNED name, psr, instruction, fields=ISR | IFA
	CASE \name
	movl r4 = PAGE + 1
	mov r5 = 1
	ENTER \psr
	AT \name
	\instruction
	END \name, \fields
	.endm
	ALIGNED unaligned_load, KPSR | PSR_AC, "ld8 r8 = [r4]", ISR | IIP | IFA
//= unaligned_load 5a00 isr=0000+r.0 iip=+000 ifa=0000000000400001 | volume 2, 8.3, 0x5a00
	ALIGNED unaligned_store, KPSR | PSR_AC, "st2 [r4] = r5"
//= unaligned_store 5a00 isr=0000+w.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00
	ALIGNED unaligned_byte, KPSR | PSR_AC, "ld1 r8 = [r4]"
//= unaligned_byte none | volume 1, 4.4.1
	ALIGNED unaligned_level3, KPSR | PSR_AC | PSR_CPL(3), "ld4 r8 = [r4]"
//= unaligned_level3 5a00 isr=0000+r.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00
	ALIGNED unaligned_speculative, KPSR | PSR_AC, "ld8.s r8 = [r4]"
//= unaligned_speculative 5a00 isr=0000+r+sp.0 ifa=0000000000400001 | volume 2, table 5-4: ITLB.ed 0, not deferred
	ALIGNED unaligned_exchange, KPSR, "xchg8 r8 = [r4], r5"
//= unaligned_exchange 5a00 isr=0000+w+r.0 ifa=0000000000400001 | volume 2, 4.5: semaphores whatever PSR.ac says
	ALIGNED unaligned_fetchadd, KPSR, "fetchadd4.acq r8 = [r4], 1"
//= unaligned_fetchadd 5a00 isr=0000+w+r.0 ifa=0000000000400001 | volume 2, 4.5
	ALIGNED unaligned_compare, KPSR, "cmpxchg2.rel r8 = [r4], r5, ar.ccv"
//= unaligned_compare 5a00 isr=0000+w+r.0 ifa=0000000000400001 | volume 2, 4.5
	ALIGNED unaligned_prefetch, KPSR | PSR_AC, "lfetch.fault [r4]"
//= unaligned_prefetch none | volume 3, lfetch: no alignment
	ALIGNED unaligned_float, KPSR | PSR_AC, "ldfe f8 = [r4]"
//= unaligned_float 5a00 isr=0000+r.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00
	ALIGNED unaligned_spill, KPSR | PSR_AC, "stf.spill [r4] = f8"
//= unaligned_spill 5a00 isr=0000+w.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00
	ALIGNED unaligned_ordered, KPSR | PSR_AC, "ld8.acq r8 = [r4]"
//= unaligned_ordered 5a00 isr=0000+r.0 ifa=0000000000400001 | volume 2, 8.3, 0x5a00

// references that the page's attribute does not support
	.macro ATTRIBUTED name, attribute, instruction
	CASE \name
	MAP d, PLACE, RWX | MA(\attribute) | PAGE, 12
	movl r4 = PLACE + 0x10
	mov r5 = 1
	AT \name
	\instruction
	END \name, ISR | IFA
	UNMAP PLACE, 12
	.endm
	ATTRIBUTED uncacheable_load, 4, "ld8 r8 = [r4]"
//= uncacheable_load none | volume 2, 4.4.3
	ATTRIBUTED uncacheable_exchange, 4, "xchg8 r8 = [r4], r5"
//= uncacheable_exchange 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9, 8.3, 0x5b00
	ATTRIBUTED uncacheable_compare, 4, "cmpxchg8.acq r8 = [r4], r5, ar.ccv"
//= uncacheable_compare 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	ATTRIBUTED uncacheable_fetchadd, 4, "fetchadd8.acq r8 = [r4], 1"
//= uncacheable_fetchadd 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	ATTRIBUTED coalescing_fetchadd, 6, "fetchadd8.acq r8 = [r4], 1"
//= coalescing_fetchadd 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	ATTRIBUTED coalescing_exchange, 6, "xchg1 r8 = [r4], r5"
//= coalescing_exchange 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	ATTRIBUTED exported_exchange, 5, "xchg8 r8 = [r4], r5"
//= exported_exchange 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	ATTRIBUTED uncacheable_extended, 4, "ldfe f8 = [r4]"
//= uncacheable_extended 5b00 isr=0000+r.0 ifa=2000000000008010 | volume 2, part 2, 7.2: ldfe to memory that is not cacheable
//ski uncacheable_extended: it does not look at the attribute but for semaphores
	ATTRIBUTED uncacheable_store_extended, 6, "stfe [r4] = f8"
//= uncacheable_store_extended 5b00 isr=0000+w.0 ifa=2000000000008010 | volume 2, part 2, 7.2
//ski uncacheable_store_extended: it does not look at the attribute but for semaphores
	ATTRIBUTED unaligned_before_unsupported, 4, "adds r4 = 1, r4;; xchg8 r8 = [r4], r5;;"
//= unaligned_before_unsupported 5a00 isr=0000+w+r.1 ifa=2000000000008011 | volume 2, table 5-6: unaligned first

// floating-point faults and traps: FPSR, volume 1, 5.2: traps masked by bits 0 to 5 (v d z o u i)
	.macro FLOAT name, fpsr, psr, instruction, fields=ISR | IIP | IIPA
	CASE \name
	movl r4 = \fpsr
	movl r5 = 0x7fe0000000000000			// 2^1023
	movl r6 = 0x0010000000000000			// the smallest
	;;
	mov ar.fpsr = r4
	setf.d f8 = r5
	setf.d f9 = r6
	ENTER \psr
	.explicit
	AT \name
	{ .mfi
	nop.m 0
	\instruction
	nop.i 0 ;;
	}
	.default
	END \name, \fields
	movl r4 = 0x9804c0270033f
	;;
	mov ar.fpsr = r4
	.endm
	.set FPSR, 0x9804c0270033f			// all masked
	FLOAT float_masked, FPSR, KPSR, "frcpa f10, p6 = f1, f0"
//= float_masked none | volume 1, 5.4
	FLOAT float_zero, FPSR & ~4, KPSR, "frcpa f10, p6 = f1, f0"
//= float_zero 5c00 isr=0004.1 iip=+000 iipa=+000 | volume 2, 8.3, 0x5c00: z
	FLOAT float_invalid, FPSR & ~1, KPSR, "frcpa f10, p6 = f0, f0"
//= float_invalid 5c00 isr=0001.1 iip=+000 iipa=+000 | volume 2, 8.3, 0x5c00: v
	FLOAT float_overflow, FPSR & ~8, KPSR, "fma.d.s0 f10 = f8, f8, f0", ISR | IIP | IIPA | IPSR
//= float_overflow 5d00 isr=0801.1 iip=+000 iipa=+000 ipsr=0000141008022010 | volume 2, table 8-3: o, PSR.mfl, IIP and IPSR.ri behind the instruction
	FLOAT float_underflow, FPSR & ~16, KPSR, "fma.d.s0 f10 = f9, f9, f0"
//= float_underflow 5d00 isr=1001.1 iip=+000 iipa=+000 | volume 2, table 8-3: u
	FLOAT float_inexact, FPSR & ~32, KPSR, "fma.d.s0 f10 = f8, f1, f9"
//= float_inexact 5d00 isr=2001.1 iip=+000 iipa=+000 | volume 2, table 8-3: i
	FLOAT float_overflow_step, FPSR & ~8, KPSR | PSR_SS | PSR_RI(1), "fma.d.s0 f10 = f8, f8, f0", ISR | IIP | IIPA
//= float_overflow_step 5d00 isr=0809.1 iip=+000 iipa=+000 | volume 2, table 5-6, 8.2: the FP trap's vector, both in the code
//ski float_overflow_step: it takes the trap of the single step once more, in the handler
	FLOAT float_disabled, FPSR & ~4, KPSR | PSR_DFL, "frcpa f10, p6 = f1, f0"
//= float_disabled 5500 isr=0001.1 iip=+000 iipa=+000 | volume 2, table 5-6

// taken branch
	.macro BRANCHED name, psr, branch, fields=ISR | IIP | IIPA
	CASE \name
	movl r4 = at_\name + 0x20
	mov r5 = ar.pfs
	cmp.eq p6, p7 = r0, r0
	mov r9 = 3
	;;
	mov b1 = r4
	movl r4 = 3 << 62
	;;
	mov ar.pfs = r4
	mov ar.lc = r9
	ENTER \psr
	.explicit
	AT \name
	{ .mib
	nop.m 0
	nop.i 0
	\branch ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	nop.b 0 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	nop.b 0 ;;
	}
	.default
	END \name, \fields
	mov ar.pfs = r0
	.endm
	BRANCHED taken, KPSR | PSR_TB, "br.cond.sptk.many b1", ISR | IIP | IIPA | IPSR
//= taken 5f00 isr=0004.2 iip=+020 iipa=+000 ipsr=000010100c022000 | volume 2, table 8-3, 8.3, 0x5f00: IIP is the target, ei the branch
	BRANCHED taken_not, KPSR | PSR_TB, "(p7) br.cond.sptk.many b1"
//= taken_not none | volume 2, 3.3.2: only taken ones
	BRANCHED taken_call, KPSR | PSR_TB, "br.call.sptk.many b2 = b1"
//= taken_call 5f00 isr=0004.2 iip=+020 iipa=+000 | volume 2, 8.3, 0x5f00
	BRANCHED taken_cloop, KPSR | PSR_TB, "br.cloop.sptk.many at_taken_cloop + 0x20"
//= taken_cloop 5f00 isr=0004.2 iip=+020 iipa=+000 | volume 2, 8.3, 0x5f00
	BRANCHED taken_level3, KPSR | PSR_TB | PSR_CPL(3), "br.cond.sptk.many b1", ISR | IIP | IPSR
//= taken_level3 5f00 isr=0004.2 iip=+020 ipsr=000010130c022000 | volume 2, 8.3, 0x5f00
	BRANCHED taken_step, KPSR | PSR_TB | PSR_SS | PSR_RI(2), "br.cond.sptk.many b1"
//= taken_step 5f00 isr=000c.2 iip=+020 iipa=+000 | volume 2, table 5-6: taken branch before single step, both in the code

// lower privilege
	BRANCHED lower, KPSR | PSR_LP, "br.ret.sptk.many b1", ISR | IIP | IIPA | IPSR
//= lower 5e00 isr=0002.2 iip=+020 iipa=+000 ipsr=000010130a022000 | volume 2, table 8-3, 8.3, 0x5e00: IPSR.cpl is the new level
	BRANCHED lower_off, KPSR, "br.ret.sptk.many b1"
//= lower_off none | volume 2, 3.3.2
	BRANCHED lower_same, KPSR | PSR_LP | PSR_CPL(3), "br.ret.sptk.many b1"
//= lower_same none | volume 2, 8.3, 0x5e00: the level does not change
	BRANCHED lower_taken, KPSR | PSR_LP | PSR_TB, "br.ret.sptk.many b1"
//= lower_taken 5e00 isr=0006.2 iip=+020 iipa=+000 | volume 2, table 5-6: lower privilege before taken branch
	BRANCHED lower_taken_step, KPSR | PSR_LP | PSR_TB | PSR_SS | PSR_RI(2), "br.ret.sptk.many b1"
//= lower_taken_step 5e00 isr=000e.2 iip=+020 iipa=+000 | volume 2, table 5-6
//ski lower_taken_step: it takes the trap of the single step once more, in the handler
	BRANCHED lower_step, KPSR | PSR_LP | PSR_SS | PSR_RI(2), "br.ret.sptk.many b1"
//= lower_step 5e00 isr=000a.2 iip=+020 iipa=+000 | volume 2, table 5-6
//ski lower_step: it takes the trap of the single step once more, in the handler
	CASE lower_rfi
	CLOSE
	movl r4 = KPSR | PSR_LP | PSR_TB | PSR_CPL(3)
	movl r5 = at_lower_rfi
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	mov cr.ifs = r0
	;;
	rfi
	AT lower_rfi
	nop.m 0
	END lower_rfi
//= lower_rfi none | volume 2, 8.3, 0x5e00 and 0x5f00: not on rfi
	CASE return_keeps_level
	movl r4 = at_return_keeps_level
	LEVEL 3
	mov ar.pfs = r0
	mov b1 = r4
	;;
	br.ret.sptk.many b1
	;;
	AT return_keeps_level
	mov r8 = psr
	END return_keeps_level, ISR | IPSR
//= return_keeps_level 5400 isr=0010.0 ipsr=0000101308022000 | volume 3, br: a return never raises the level

// single step
	PLACED step0, KPSR | PSR_SS, mii, "nop.m 0", "nop.i 0", "nop.i 0", ISR | IIP | IIPA | IPSR
//= step0 6000 isr=0008.0 iip=+000 iipa=+000 ipsr=0000131008022000 | volume 2, table 8-3, 8.3, 0x6000: not on rfi, but behind the next instruction
	PLACED step1, KPSR | PSR_SS | PSR_RI(1), mii, "nop.m 0", "nop.i 0", "nop.i 0", ISR | IIP | IIPA | IPSR
//= step1 6000 isr=0008.1 iip=+000 iipa=+000 ipsr=0000151008022000 | volume 2, 8.3, 0x6000
	PLACED step2, KPSR | PSR_SS | PSR_RI(2), mii, "nop.m 0", "nop.i 0", "nop.i 0", ISR | IIP | IIPA | IPSR
//= step2 6000 isr=0008.2 iip=+010 iipa=+000 ipsr=0000111008022000 | volume 2, 8.3, 0x6000
	PLACED step_load, KPSR | PSR_SS, mii, "ld8 r8 = [r0]", "nop.i 0", "nop.i 0", ISR | IIP
//= step_load 6000 isr=0008.0 iip=+000 | volume 2, 8.3, 0x6000: neither r nor w
	PLACED step_level3, KPSR | PSR_SS | PSR_CPL(3), mii, "nop.m 0", "nop.i 0", "nop.i 0", ISR | IIP | IPSR
//= step_level3 6000 isr=0008.0 iip=+000 ipsr=0000131308022000 | volume 2, 8.3, 0x6000
	CASE step_long
	ENTER KPSR | PSR_SS | PSR_RI(1)
	.explicit
	AT step_long
	{ .mlx
	nop.m 0
	movl r8 = 0x123456789abcdef ;;
	}
	.default
	END step_long, ISR | IIP | IIPA | IPSR
//= step_long 6000 isr=0008.1 iip=+010 iipa=+000 ipsr=0000111008022000 | volume 2, 8.3, 0x6000
	PLACED step_fault, KPSR | PSR_SS, mii, "mov cr.ivr = r0", "nop.i 0", "nop.i 0"
//= step_fault 5400 isr=0000.0 iip=+000 | volume 2, 8.2: a fault has no trap code
	PLACED step_break, KPSR | PSR_SS, mii, "break.m 0x99", "nop.i 0", "nop.i 0"
//= step_break 2c00 isr=0000.0 iip=+000 | volume 2, 8.2
	CASE step_branch
	movl r4 = at_step_branch
	;;
	mov b1 = r4
	ENTER KPSR | PSR_SS | PSR_RI(2)
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b1 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	nop.b 0 ;;
	}
	.default
	AT step_branch
	nop.m 0
	END step_branch, ISR | IIP | IIPA
//= step_branch 6000 isr=0008.2 iip=+000 iipa=-020 | volume 2, 8.3, 0x6000: IIP is the target
	FINISH
