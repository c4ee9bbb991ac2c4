// Two processors of a system, in physical mode at level 0: they count under a lock, send an interrupt to a halted one,
// compare their clocks, purge translations of one and of both, and change code that the other executes. Processor 0
// prints a letter for each that holds:
//
//	L  the lock: both have counted, and nothing is lost (volume 2, 4.4.7; xchg has acquire semantics)
//	I  an interrupt message wakes processor 1, which is halted by PAL, with its vector (volume 2, 5.8.4)
//	C  the clocks differ by less than a turn of each
//	l  ptc.l of processor 0 leaves the translation of processor 1 (volume 2, 4.1.1.3)
//	G  ptc.g of processor 0 purges it
//	e  ptc.e of processor 0 leaves the translation of processor 1; E: it purges it, as they share a core (Montecito manual
//	   2.4.3.1)
//	M  processor 1 executes code as processor 0 has changed it (volume 2, 4.4.6.2)
//
//	ia64-linux-gnu-as -o processors.o processors.s; ia64-linux-gnu-ld -T ../system/image.lds ...

#define TURNS	10000
#define HALT_LIGHT	29
#define MESSAGE	(1 << 63 | 0xfee01000)	/* to the processor with id 1 */
#define VECTOR	0x41
#define REGION	(1 << 61)
#define KEY	5
#define CLOSE	60000

#define LOCK	0x00			/* offsets of shared words, a line each */
#define COUNT	0x80
#define DONE	0x100
#define FLAG	0x180
#define WORD	0x200

	.macro WORDAT register, offset
	movl \register = shared + \offset
	;;
	.endm
	.macro TELL phase
	WORDAT r14, FLAG
	mov r15 = \phase
	;;
	st8.rel [r14] = r15
	;;
	.endm
	.macro AWAIT phase
	WORDAT r14, FLAG
.Lawait\@:
	ld8.acq r15 = [r14]
	;;
	cmp.gt p6, p7 = \phase, r15
(p6)	br.cond.sptk.few .Lawait\@
	;;
	.endm
	.macro PRINT letter, predicate=p0
	mov r16 = r32
	mov r15 = 31
	mov r32 = \letter
	;;
(\predicate)	break.m 0x80001
	;;
	mov r32 = r16
	;;
	.endm
	.macro INSERT			// a data translation of REGION
	movl r14 = REGION
	movl r15 = 0x77 << 8 | 14 << 2
	;;
	mov rr[r14] = r15
	;;
	srlz.d
	;;
	mov r15 = KEY << 8 | 14 << 2
	mov cr.ifa = r14
	;;
	mov cr.itir = r15
	movl r15 = 0x661		// present, accessed, dirty, level 0 to 3, RWX
	;;
	itc.d r15
	;;
	srlz.d
	;;
	.endm
	.macro KEYAT register		// 1: there is no translation
	movl r14 = REGION
	;;
	tak \register = r14
	;;
	.endm

	.text
	.global _start
_start:
	mov ar.rsc = 0
	cmp.eq p1, p2 = 0, r33		// p1: processor 0, p2: processor 1
	mov r20 = TURNS
	;;
1:	WORDAT r14, LOCK
	mov r15 = 1
	;;
2:	xchg8 r16 = [r14], r15
	;;
	cmp.ne p6, p7 = 0, r16
(p6)	br.cond.sptk.few 2b
	;;
	WORDAT r17, COUNT
	ld8 r18 = [r17]
	;;
	adds r18 = 1, r18
	;;
	st8 [r17] = r18
	st8.rel [r14] = r0
	adds r20 = -1, r20
	;;
	cmp.ne p6, p7 = 0, r20
(p6)	br.cond.sptk.few 1b
	;;
	WORDAT r14, DONE
	fetchadd8.rel r15 = [r14], 1
	;;
3:	ld8.acq r15 = [r14]
	;;
	cmp.ne p6, p7 = 2, r15
(p6)	br.cond.sptk.few 3b
(p2)	br.cond.sptk.many second
	;;

first:
	WORDAT r14, COUNT
	ld8 r15 = [r14]
	movl r16 = 2 * TURNS
	;;
	cmp.eq p3, p4 = r15, r16
	PRINT 'L', p3

	AWAIT 1				// processor 1 halts
	movl r20 = 50000
	;;
1:	adds r20 = -1, r20
	;;
	cmp.ne p6, p7 = 0, r20
(p6)	br.cond.sptk.few 1b
	;;
	WORDAT r14, FLAG
	ld8 r15 = [r14]
	movl r16 = MESSAGE
	mov r17 = VECTOR
	;;
	cmp.eq p3, p4 = 1, r15		// and does not go on by itself
	st8 [r16] = r17
	;;
	AWAIT 2
	WORDAT r14, WORD
	ld8 r15 = [r14]
	mov r16 = VECTOR
	;;
(p3)	cmp.eq p3, p4 = r15, r16
	PRINT 'I', p3

	WORDAT r14, WORD
	mov r15 = ar.itc
	;;
	st8 [r14] = r15
	TELL 3
	AWAIT 4
	WORDAT r14, WORD
	ld8 r15 = [r14]
	movl r16 = CLOSE
	movl r17 = 2 * CLOSE
	;;
	add r15 = r15, r16
	;;
	cmp.ltu p3, p4 = r15, r17
	PRINT 'C', p3

	INSERT
	AWAIT 5
	movl r14 = REGION
	mov r15 = 14 << 2
	;;
	ptc.l r14, r15
	;;
	srlz.d
	KEYAT r18
	cmp.eq p3, p4 = 1, r18
	;;
	TELL 6
	AWAIT 7
	WORDAT r14, WORD
	ld8 r15 = [r14]
	mov r16 = KEY << 8
	;;
(p3)	cmp.eq p3, p4 = r15, r16
	PRINT 'l', p3
	movl r14 = REGION
	mov r15 = 14 << 2
	;;
	ptc.g r14, r15
	;;
	srlz.d
	TELL 8
	AWAIT 9
	WORDAT r14, WORD
	ld8 r15 = [r14]
	;;
	cmp.eq p3, p4 = 1, r15
	PRINT 'G', p3

	AWAIT 10
	ptc.e r0
	;;
	srlz.d
	TELL 11
	AWAIT 12
	WORDAT r14, WORD
	ld8 r15 = [r14]
	;;
	cmp.eq p3, p4 = 1, r15
	PRINT 'E', p3
	PRINT 'e', p4

	AWAIT 13
	movl r14 = other
	movl r15 = changed
	;;
	ld8 r16 = [r14], 8
	;;
	st8 [r15] = r16
	fc.i r15
	;;
	ld8 r16 = [r14]
	adds r15 = 8, r15
	;;
	st8 [r15] = r16
	fc.i r15
	;;
	sync.i
	;;
	srlz.i
	;;
	TELL 14
	AWAIT 15
	WORDAT r14, WORD
	ld8 r15 = [r14]
	mov r16 = 0x201
	;;
	cmp.eq p3, p4 = r15, r16
	PRINT 'M', p3
	PRINT '\n'
	mov r32 = 0
	mov r15 = 66
	;;
	break.m 0x80001
	;;

second:
	TELL 1
	mov r28 = HALT_LIGHT
	mov r29 = 0
	mov r30 = 0
	mov r31 = 0
	movl r14 = 1f
	mov b6 = r34
	;;
	mov b0 = r14
	br.cond.sptk.many b6
	;;
	.align 16
1:	mov r14 = cr.ivr
	WORDAT r15, WORD
	st8 [r15] = r14
	mov cr.eoi = r0
	;;
	srlz.d
	TELL 2

	AWAIT 3
	WORDAT r14, WORD
	ld8 r15 = [r14]
	mov r16 = ar.itc
	;;
	sub r15 = r16, r15
	;;
	st8 [r14] = r15
	TELL 4

	INSERT
	TELL 5
	AWAIT 6
	KEYAT r18
	WORDAT r14, WORD
	st8 [r14] = r18
	TELL 7
	AWAIT 8
	KEYAT r18
	WORDAT r14, WORD
	st8 [r14] = r18
	TELL 9

	INSERT
	TELL 10
	AWAIT 11
	KEYAT r18
	WORDAT r14, WORD
	st8 [r14] = r18
	TELL 12

	br.call.sptk.many b0 = changed
	;;
	mov r19 = r8
	TELL 13
	AWAIT 14
	srlz.i
	;;
	br.call.sptk.many b0 = changed
	;;
	shl r8 = r8, 8
	;;
	or r8 = r8, r19
	WORDAT r14, WORD
	st8 [r14] = r8
	TELL 15
2:	br.cond.sptk.few 2b
	;;

	.explicit
	.align 32
changed:
	{ .mib
	mov r8 = 1
	nop.i 0
	br.ret.sptk.many b0 ;;
	}
	.align 32
other:
	{ .mib
	mov r8 = 2
	nop.i 0
	br.ret.sptk.many b0 ;;
	}
	.default

	.data
	.align 128
shared:
	.skip 0x280
