// A kernel that runs one program at level 3, as little as it takes: translation registers for the program's segments,
// the calls write, exit and exit_group, a timer. What to run stands at PARAMETERS (tests/support/level3.py):
//	entry, stack pointer, backing store, timer period (0: none), ticks so far, number of segments,
//	and for each segment virtual address, physical address, size as a power of two.
// Level 0 has 16 MB of physical memory at the beginning of region 7. Output by simulator call 31, the end by 66.

	.set PARAMETERS, 0x1f0000
	.set KERNEL, 7 << 61
	.set PTE_KERNEL, 0x0010000000000661	// present, accessed, dirty, level 0, rwx
	.set PTE_USER, 0x00100000000007e1	// ... level 3
	.set CALL, 0x100000
	.set VECTOR, 0xef

#define SSC(n)	mov r15 = n ;; break.m 0x80001 ;;

	.macro UNEXPECTED offset, last
	.org ivt + \offset
	cover
	;;
	alloc r16 = ar.pfs, 0, 1, 0, 0
	;;
	mov r32 = \offset >> 8
	SSC(66)
	.if \last - \offset
	UNEXPECTED "(\offset + 0x400)", \last
	.endif
	.endm

	.section .ivt, "ax"
	.align 0x8000
ivt:
	UNEXPECTED 0, 0x2800
	.org ivt + 0x2c00		// break
	mov r31 = pr
	mov r16 = cr.iim
	movl r17 = CALL
	;;
	cmp.eq p6, p7 = r16, r17
	mov r21 = cr.ipsr		// go on behind the break
	mov r22 = cr.iip
	;;
(p7)	br.cond.spnt.few bad
	extr.u r23 = r21, 41, 2
	;;
	cmp.eq p8, p9 = 2, r23
	;;
(p8)	adds r22 = 16, r22
(p8)	mov r23 = 0
(p9)	adds r23 = 1, r23
	;;
	dep r21 = r23, r21, 41, 2
	mov cr.iip = r22
	movl r17 = 1027			// write
	;;
	mov cr.ipsr = r21
	cmp.eq p6, p7 = r15, r17
	mov r18 = 1025			// exit
	mov r19 = 1236			// exit_group
	;;
	cmp.eq p8, p9 = r15, r18
	cmp.eq p10, p11 = r15, r19
	;;
(p8)	br.cond.spnt.few end
(p10)	br.cond.spnt.few end
(p6)	br.cond.sptk.few write
	mov r8 = 38			// ENOSYS
	mov r10 = -1
	mov pr = r31, -1
	;;
	rfi
	;;
end:	br.call.sptk.few b6 = 1f	// the call's arguments are the outputs of its frame
1:	alloc r16 = ar.pfs, 1, 0, 0, 0
	;;
	SSC(66)
bad:	cover
	;;
	alloc r16 = ar.pfs, 0, 1, 0, 0
	;;
	mov r32 = 0x2c
	SSC(66)
	.org ivt + 0x3000		// external interrupt: the timer
	mov r16 = cr.ivr
	movl r17 = KERNEL + PARAMETERS + 24
	;;
	ld8 r18 = [r17], 8
	mov r19 = ar.itc
	;;
	ld8 r20 = [r17]
	add r19 = r18, r19
	;;
	adds r20 = 1, r20
	mov cr.itm = r19
	;;
	st8 [r17] = r20
	mov cr.eoi = r0
	;;
	srlz.d
	rfi
	;;
	UNEXPECTED 0x3400, 0x3400
	.org ivt + 0x5000
	.rept 28
	cover
	;;
	alloc r16 = ar.pfs, 0, 1, 0, 0
	;;
	mov r32 = 0x50
	SSC(66)
	.balign 0x100
	.endr
write:
	mov r18 = ar.pfs
	mov r19 = ar.lc
	mov r20 = b6
	br.call.sptk.few b6 = written
	;;
	mov ar.pfs = r18
	mov ar.lc = r19
	mov b6 = r20
	mov r8 = r17
	mov r10 = 0
	mov pr = r31, -1
	;;
	rfi
	;;
written:
	alloc r22 = ar.pfs, 3, 0, 0, 0	// of the call: descriptor, address, length
	mov r16 = r33
	mov r17 = r34
	;;
	cmp.eq p6, p7 = r0, r17
	adds r21 = -1, r17
	;;
(p6)	br.cond.spnt.few 2f
	mov ar.lc = r21
	;;
1:	ld1 r32 = [r16], 1
	SSC(31)
	br.cloop.sptk.few 1b
	;;
2:	mov ar.pfs = r22
	br.ret.sptk.few b6
	;;
	.org ivt + 0x7000
	.global _start
_start:
	rsm psr.i | psr.ic
	;;
	srlz.i
	mov ar.rsc = 0
	;;
	loadrs
	;;
	alloc r2 = ar.pfs, 0, 0, 0, 0
	movl r4 = 7 << 61		// region n has identifier n + 16 and pages of 16 KB
	mov r5 = 7
	mov r6 = 23
	;;
	mov ar.lc = r5
	movl r7 = -1 << 61
	;;
1:	shl r8 = r6, 8
	;;
	adds r8 = 14 << 2, r8
	;;
	mov rr[r4] = r8
	add r4 = r4, r7
	adds r6 = -1, r6
	br.cloop.sptk.few 1b
	;;
	srlz.i
	;;
	movl r4 = KERNEL
	mov r5 = 24 << 2
	movl r6 = PTE_KERNEL
	;;
	mov cr.ifa = r4
	mov cr.itir = r5
	;;
	itr.i itr[r0] = r6
	;;
	itr.d dtr[r0] = r6
	;;
	movl r16 = PARAMETERS
	mov r20 = 1
	;;
	ld8 r17 = [r16], 8		// entry
	;;
	ld8 r12 = [r16], 8
	;;
	ld8 r18 = [r16], 8		// backing store
	;;
	ld8 r19 = [r16], 16		// period
	;;
	ld8 r21 = [r16], 8		// segments
	;;
	adds r21 = -1, r21
	;;
	mov ar.lc = r21
	movl r26 = PTE_USER
	;;
1:	ld8 r22 = [r16], 8
	;;
	ld8 r23 = [r16], 8
	;;
	ld8 r24 = [r16], 8
	;;
	shl r24 = r24, 2
	or r25 = r23, r26
	;;
	mov cr.ifa = r22
	mov cr.itir = r24
	;;
	itr.i itr[r20] = r25
	;;
	itr.d dtr[r20] = r25
	;;
	adds r20 = 1, r20
	br.cloop.sptk.few 1b
	;;
	srlz.i
	;;
	movl r4 = KERNEL
	movl r5 = ivt
	;;
	add r4 = r4, r5
	mov cr.tpr = r0
	mov r6 = VECTOR
	cmp.eq p6, p7 = r0, r19
	mov r7 = ar.itc
	;;
	mov cr.iva = r4
(p7)	mov cr.itv = r6
	add r7 = r7, r19
	;;
(p7)	mov cr.itm = r7
	movl r9 = 3 << 32 | 1 << 44 | 1 << 36 | 1 << 27 | 1 << 17 | 1 << 14 | 1 << 13	// level 3, bn, it, rt, dt, i, ic
	;;
	mov cr.ipsr = r9
	mov cr.iip = r17
	mov cr.ifs = r0
	mov ar.bspstore = r18
	mov ar.lc = r0
	mov r10 = 0xc
	;;
	mov ar.rsc = r10		// lazy, level 3
	srlz.d
	;;
	rfi
	;;
