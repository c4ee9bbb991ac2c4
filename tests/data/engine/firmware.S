// A system image that calls PAL in physical mode by both conventions, halts until its timer, and writes to a serial port
// at 0x20000000. It prints the processor's name and a letter for each check that holds (- for one that does not), and ends
// with status 0.
//
//     ia64-linux-gnu-as -o firmware.o firmware.S
//     ia64-linux-gnu-ld -static -nostdlib -z max-page-size=4096 -Ttext 0x100000 -Tdata 0x110000 -o firmware firmware.o

.macro PAL number, first=0, second=0, third=0		// static registers: br.cond, return address in b0
	movl r28 = \number
	movl r29 = \first
	movl r30 = \second
	movl r31 = \third
	movl r16 = 9f
	;;
	mov b0 = r16
	br.cond.sptk.many b6
	.align 32
9:
.endm
.macro SAY letter
	mov r32 = \letter
	mov r15 = 31
	;;
	break.m 0x80001
	;;
.endm
.macro CHECK letter				// p6: it holds
	mov r32 = 45
	mov r15 = 31
	;;
(p6)	mov r32 = \letter
	;;
	break.m 0x80001
	;;
.endm
.macro CALL letter, number, first=0, second=0, third=0, nine=0, ten=0
	PAL \number, \first, \second, \third
	movl r17 = \nine
	movl r18 = \ten
	;;
	cmp.eq p6, p0 = r0, r8
	;;
(p6)	cmp.eq.unc p6, p0 = r9, r17
	;;
(p6)	cmp.eq.unc p6, p0 = r10, r18
	;;
	CHECK \letter
.endm

	.text
	.global _start
_start:
	mov b6 = r34
	mov ar.rsc = 0
	;;
	loadrs
	;;
	movl r2 = 0x300000
	;;
	mov ar.bspstore = r2
	alloc r3 = ar.pfs, 0, 1, 4, 0
	;;
// stacked registers: PAL_BRAND_INFO
	mov r28 = 274
	mov r33 = 274
	mov r34 = r0
	movl r35 = buffer
	mov r36 = r0
	;;
	br.call.sptk.many b0 = b6
	;;
	movl r5 = buffer
	;;
1:	ld1 r32 = [r5], 1
	mov r15 = 31
	;;
	cmp.eq p6, p7 = r0, r32
(p6)	br.cond.spnt.few 2f
	;;
	break.m 0x80001
	br.sptk.few 1b
	;;
2:	SAY 10
	CALL 'r', 19, nine=96				// PAL_RSE_INFO
	CALL 'p', 34, nine=0x115557000, ten=0x115557000	// PAL_VM_PAGE_SIZE
	CALL 'd', 11, nine=4, ten=4			// PAL_DEBUG_INFO
// PAL_PERF_MON_INFO without a PMU of its own: 128 bytes of zeros and no more
	PAL 15, buffer
	movl r5 = buffer + 120
	;;
	ld8 r17 = [r5], 8
	;;
	ld8 r18 = [r5]
	;;
	cmp.eq p6, p0 = r0, r17
	;;
(p6)	cmp.ne.unc p6, p0 = r0, r18
	;;
	CHECK 'b'
// PAL_COPY_PAL, and a call of the copy
	mov r28 = 256
	mov r33 = 256
	movl r34 = 0x200000
	mov r35 = 4096
	mov r36 = r0
	;;
	br.call.sptk.many b0 = b6
	;;
	movl r17 = 0x200000
	;;
	add r17 = r17, r9
	;;
	mov b6 = r17
	;;
	CALL 'c', 19, nine=96
// an unknown procedure
	PAL 255
	cmp.eq p6, p0 = -1, r8
	;;
	CHECK 'u'
// PAL_VM_TR_READ of DTR 3: 16 MB at 0
	movl r17 = 0x0010000000000661
	mov r18 = 24 << 2
	mov r19 = 3
	mov cr.ifa = r0
	;;
	mov cr.itir = r18
	;;
	itr.d dtr[r19] = r17
	;;
	srlz.d
	mov r28 = 261
	mov r33 = 261
	mov r34 = 3
	mov r35 = 1
	movl r36 = buffer
	;;
	br.call.sptk.many b0 = b6
	;;
	movl r5 = buffer
	;;
	ld8 r20 = [r5], 8
	;;
	ld8 r21 = [r5], 8
	;;
	ld8 r22 = [r5]
	cmp.eq p6, p0 = r20, r17
	;;
(p6)	cmp.eq.unc p6, p0 = r21, r18
	;;
(p6)	cmp.eq.unc p6, p0 = 1, r22
	;;
	CHECK 't'
// PAL_HALT_LIGHT with psr.i = 0: the timer's interrupt pends afterwards
	mov r17 = 0xef
	mov cr.tpr = r0
	;;
	mov cr.itv = r17
	mov r18 = ar.itc
	movl r19 = 10000000
	;;
	add r19 = r18, r19
	;;
	mov cr.itm = r19
	;;
	srlz.d
	mov r6 = r19
	;;
	PAL 29
	mov r18 = ar.itc
	mov r20 = cr.ivr
	mov r17 = 0xef
	;;
	cmp.geu p6, p0 = r18, r6
	;;
(p6)	cmp.eq.unc p6, p0 = r20, r17
	;;
	CHECK 'h'
	mov cr.eoi = r0
// a serial port, uncacheable
	movl r17 = 0x8000000020000000
	mov r18 = 'U'
	movl r19 = 0x8000000020000005
	;;
	st1 [r17] = r18
	;;
	ld1 r20 = [r19]
	mov r21 = 0x60
	;;
	cmp.eq p6, p0 = r20, r21
	;;
	CHECK 's'
	SAY 10
	mov r32 = r0
	mov r15 = 66
	;;
	break.m 0x80001

	.data
	.align 16
buffer:	.skip 128, 0xff
	.skip 128, 0xff
