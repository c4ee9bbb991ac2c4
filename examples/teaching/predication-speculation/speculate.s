// 16384 turns of a loop, written in two ways:
//   branches, predicates: one of two additions, by a random bit: behind a branch, or each under a predicate
//   plain, advanced: a load behind a store to an address that is computed late: in its place, or advanced before the
//     store (ld8.a) and checked behind it (ld8.c); in COLLISIONS of 256 turns the store is to the load's address
// usage: speculate branches|predicates|plain|advanced [COLLISIONS]
	.explicit
	.bss
	.align 128
numbers: .skip 65536			// more than L1D has: each line comes from L2
other:	.skip 128

	.text
	.align 32
	.global _start
	.proc _start
_start:	alloc r2 = ar.pfs, 0, 12, 0, 0
	movl r3 = @gprel(0f)
0:	mov r9 = ip
	;;
	sub gp = r9, r3
	adds r8 = 32, sp		// argv[1]
	mov r32 = 0			// COLLISIONS
	;;
	addl r33 = @gprel(numbers), gp
	addl r34 = @gprel(other), gp
	ld8 r9 = [r8], 8
	movl r40 = 0x9e3779b97f4a7c15	// the state of the random numbers
	;;
	ld8 r10 = [r8]			// argv[2]
	ld1 r35 = [r9], 1
	;;
	ld1 r36 = [r9]
	cmp.eq p6, p0 = r10, r0
(p6)	br.cond.dptk 2f
	;;
1:	ld1 r11 = [r10], 1		// a decimal number
	;;
	cmp.eq p6, p7 = r11, r0
	shladd r12 = r32, 2, r32
	;;
(p7)	add r11 = -48, r11
	;;
(p7)	shladd r32 = r12, 1, r11
(p7)	br.cond.dptk 1b
	;;
2:	cmp.eq p6, p0 = 'b', r35
	cmp.eq p7, p0 = 'r', r36	// predicates
	cmp.eq p8, p0 = 'l', r36	// plain
	mov r14 = 16383
	mov r15 = 0
	mov r16 = 0
	;;
	mov ar.lc = r14
(p6)	br.cond.spnt branches
	cmp.eq p9, p0 = 'p', r35
	;;
(p9)	cmp.eq.unc p10, p0 = 'r', r36
	;;
(p10)	br.cond.spnt predicates
	;;
	mov r17 = r33			// the load's address
	mov r18 = 0			// the turn
(p8)	br.cond.spnt plain
	br.cond.sptk advanced
	.endp _start

	.proc branches
branches: shl r20 = r40, 13
	;;
	xor r40 = r40, r20
	;;
	shr.u r20 = r40, 7
	;;
	xor r40 = r40, r20
	;;
	shl r20 = r40, 17
	;;
	xor r40 = r40, r20
	;;
	tbit.nz p6, p7 = r40, 40
(p6)	br.cond.dpnt 1f
	;;
	add r15 = 1, r15
	br.cond.sptk 2f
	;;
1:	add r16 = 1, r16
	;;
2:	br.cloop.sptk.few branches
	;;
	br.cond.sptk done
	.endp branches

	.proc predicates
predicates: shl r20 = r40, 13
	;;
	xor r40 = r40, r20
	;;
	shr.u r20 = r40, 7
	;;
	xor r40 = r40, r20
	;;
	shl r20 = r40, 17
	;;
	xor r40 = r40, r20
	;;
	tbit.nz p6, p7 = r40, 40
	;;
(p7)	add r15 = 1, r15
(p6)	add r16 = 1, r16
	br.cloop.sptk.few predicates
	;;
	br.cond.sptk done
	.endp predicates

	.proc plain
plain:	zxt1 r20 = r18
	add r18 = 1, r18
	;;
	cmp.ltu p6, p7 = r20, r32
	xor r21 = r20, r17
	;;
	xor r21 = r21, r17
	;;
(p6)	mov r22 = r17
(p7)	mov r22 = r34
	;;
	st8 [r22] = r21
	;;
	ld8 r23 = [r17]
	;;
	add r15 = r15, r23		// waits for L2
	adds r17 = 64, r17
	;;
	sub r24 = r17, r33
	;;
	tbit.nz p8, p0 = r24, 16	// behind the last line
	;;
(p8)	mov r17 = r33
	br.cloop.sptk.few plain
	;;
	br.cond.sptk done
	.endp plain

	.proc advanced
advanced: ld8.a r23 = [r17]		// under way while the store's address is computed
	zxt1 r20 = r18
	add r18 = 1, r18
	;;
	cmp.ltu p6, p7 = r20, r32
	xor r21 = r20, r17
	;;
	xor r21 = r21, r17
	;;
(p6)	mov r22 = r17
(p7)	mov r22 = r34
	;;
	st8 [r22] = r21
	;;
	ld8.c.clr r23 = [r17]		// loads again if the store was to this address
	;;
	add r15 = r15, r23
	adds r17 = 64, r17
	;;
	sub r24 = r17, r33
	;;
	tbit.nz p8, p0 = r24, 16
	;;
(p8)	mov r17 = r33
	br.cloop.sptk.few advanced
	;;
	br.cond.sptk done
	.endp advanced

	.proc done
done:	mov r32 = 0
	mov r15 = 1025			// exit
	break 0x100000
	;;
	.endp done
