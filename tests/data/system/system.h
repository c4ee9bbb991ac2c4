// What the images of this folder share: an interruption vector table whose vectors record the interruption and go on
// behind the case, and macros for a case, its translations and its line of output.
//
// A case, and what the manual says that it prints:
//
//	CASE name
//	...				// what it needs; r4 to r7 are its own
//	AT name				// the bundle that IIP and IIPA are printed against
//	ld8 r8 = [r4]
//	END name, ISR | IIP		// the fields that are printed behind the vector
//	//= name 1000 isr=0000+r.0 iip=+0 | volume 2, 8.3
//
// Started in physical mode at level 0. Level 0 runs with KPSR from main on: translated, 16 MB at 0 mapped by TR 0 to
// themselves for all levels. Output through SSC 31, the end through SSC 66. Interruptions that nothing of a case causes
// end it: it prints them. A case without an interruption prints "none".

// PSR, volume 2, 3.3.2
#define PSR_BE	(1 << 1)
#define PSR_UP	(1 << 2)
#define PSR_AC	(1 << 3)
#define PSR_MFL	(1 << 4)
#define PSR_MFH	(1 << 5)
#define PSR_IC	(1 << 13)
#define PSR_I	(1 << 14)
#define PSR_PK	(1 << 15)
#define PSR_DT	(1 << 17)
#define PSR_DFL	(1 << 18)
#define PSR_DFH	(1 << 19)
#define PSR_SP	(1 << 20)
#define PSR_PP	(1 << 21)
#define PSR_DI	(1 << 22)
#define PSR_SI	(1 << 23)
#define PSR_DB	(1 << 24)
#define PSR_LP	(1 << 25)
#define PSR_TB	(1 << 26)
#define PSR_RT	(1 << 27)
#define PSR_CPL(level)	((level) << 32)
#define PSR_IT	(1 << 36)
#define PSR_ID	(1 << 37)
#define PSR_DA	(1 << 38)
#define PSR_DD	(1 << 39)
#define PSR_SS	(1 << 40)
#define PSR_RI(slot)	((slot) << 41)
#define PSR_ED	(1 << 43)
#define PSR_BN	(1 << 44)
#define PSR_IA	(1 << 45)
#define KPSR	(PSR_BN | PSR_IT | PSR_RT | PSR_DT | PSR_IC)

// A translation, volume 2, 4.1.1.5
#define P	(1 << 0)
#define MA(attribute)	((attribute) << 2)
#define A	(1 << 5)
#define D	(1 << 6)
#define PL(level)	((level) << 7)
#define AR(rights)	((rights) << 9)
#define ED	(1 << 52)
#define RWX	(P | A | D | PL(3) | AR(3))

// Fields of a line
#define ISR	1
#define IFA	2
#define ITIR	4
#define IIP	8
#define IIPA	0x10
#define IIM	0x20
#define IHA	0x40
#define IFS	0x80
#define R8	0x100
#define IPSR	0x200
#define COUNT	0x400
#define ENTRY	0x800

// Memory
#define IVT	0x200000
#define STATE	0x210000
#define STACK	0x220000
#define PAGE	0x400000		/* pages for translations of cases */
#define TABLE	0x800000		/* VHPT */
#define RID(region)	(0x10 + (region))
#define RRV(region, ps, ve)	(RID(region) << 8 | (ps) << 2 | (ve))
#define IN(region, offset)	(((region) << 61) + (offset))

// Offsets in STATE
#define S_VECTOR	0
#define S_RESUME	0x58
#define S_AT		0x60
#define S_HOOK		0x68
#define S_R8		0x70
#define S_ENTRY		0x78

	.macro GO target, link			// a call without a frame
	movl r26 = .Lgo\@
	;;
	mov \link = r26
	br.cond.sptk.many \target
	;;
.Lgo\@:
	.endm

	.macro CASE name
	movl r24 = resume_\name
	movl r25 = at_\name
	;;
	GO begin, b7
	.endm

	.macro AT name
	;;
	.align 16
at_\name:
	.endm

	.macro ATX name, address			// the same for an address elsewhere
	.set at_\name, \address
	.endm

	.macro ISNAT				// r8: whether it is a NaT
	tnat.nz p6, p7 = r8
	;;
(p6)	mov r8 = 1
(p7)	mov r8 = 0
	;;
	.endm

	.macro CLOSE				// psr.ic off, to write the interruption's registers
	rsm psr.ic
	;;
	srlz.d
	;;
	srlz.i
	;;
	.endm

	.macro OPEN
	ssm psr.ic
	;;
	srlz.d
	;;
	srlz.i
	;;
	.endm

	.macro END name, fields=0
	;;
	break.m 0x777
	;;
	.align 16
resume_\name:
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	.if (\fields) & R8
	movl r26 = STATE + S_R8
	;;
	st8 [r26] = r8
	.endif
	.pushsection .rodata, "a"
.Lname\@: stringz "\name"
	.popsection
	movl r9 = .Lname\@
	mov r10 = \fields
	;;
	GO show, b7
	.endm

	.macro HOOK label			// where the next interruption of the case goes when it is recorded
	movl r26 = STATE + S_HOOK
	movl r27 = \label
	;;
	st8 [r26] = r27
	;;
	.endm

	.macro RETRY				// the end of such a handler: the instruction again (or what cr.iip says)
	mov b0 = r30
	mov pr = r31, -1
	;;
	rfi
	;;
	.endm

	.macro ENTER psr			// goes on at the next bundle with that PSR
	rsm psr.ic | psr.i
	movl r26 = \psr
	movl r27 = .Lenter\@
	;;
	srlz.i
	;;
	mov cr.ipsr = r26
	mov cr.iip = r27
	mov cr.ifs = r0
	;;
	rfi
	;;
	.align 16
.Lenter\@:
	.endm

	.macro ENTERIN region, psr		// the same by another region's addresses
	rsm psr.ic | psr.i
	movl r26 = \psr
	movl r27 = .Lenter\@ + IN(\region, 0)
	;;
	srlz.i
	;;
	mov cr.ipsr = r26
	mov cr.iip = r27
	mov cr.ifs = r0
	;;
	rfi
	;;
	.align 16
.Lenter\@:
	.endm

	.macro LEVEL number
	ENTER KPSR | PSR_CPL(\number)
	.endm

	.macro SETCR name, value
	movl r26 = \value
	;;
	mov cr.\name = r26
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm

	.macro SETRR region, value
	movl r26 = (\region) << 61
	movl r27 = \value
	;;
	mov rr[r26] = r27
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm

	.macro SETPKR number, value
	mov r26 = \number
	movl r27 = \value
	;;
	mov pkr[r26] = r27
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm

	.macro MAP kind, va, pte, ps, key=0	// itc.i or itc.d
	rsm psr.ic
	movl r26 = \va
	movl r27 = (\key) << 8 | (\ps) << 2
	;;
	srlz.d
	;;
	mov cr.ifa = r26
	mov cr.itir = r27
	movl r26 = \pte
	;;
	itc.\kind r26
	;;
	ssm psr.ic
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm

	.macro UNMAP va, ps
	movl r26 = \va
	mov r27 = (\ps) << 2
	;;
	ptc.l r26, r27
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm

	.macro STORE address, value
	movl r26 = \address
	movl r27 = \value
	;;
	st8 [r26] = r27
	;;
	.endm

	.macro NAT register			// a NaT in a register of level 0: an ld.s of a page that is not present
	movl r26 = STATE + 0x100
	movl r27 = 1 << (((STATE + 0x100) >> 3) & 63)
	;;
	mov ar.unat = r27
	;;
	ld8.fill \register = [r26]
	;;
	mov ar.unat = r0
	;;
	.endm

	.macro FINISH
	movl r9 = .Lfinish
	;;
	GO puts, b6
	mov r32 = 0
	mov r15 = 66
	;;
	break.m 0x80001
	;;
99:	br.cond.sptk.few 99b
	;;
	.pushsection .rodata, "a"
.Lfinish: stringz "end\n"
	.popsection
	.endm

// ----

	.text
	.global _start
_start:
	rsm psr.i | psr.ic
	;;
	srlz.i
	;;
	mov ar.rsc = 0
	;;
	loadrs
	;;
	movl r2 = STACK
	;;
	mov ar.bspstore = r2
	mov ar.rnat = r0
	bsw.1
	;;
	alloc r3 = ar.pfs, 0, 8, 0, 0
	;;
// the vectors
	movl r2 = IVT
	movl r4 = vectors
	;;
1:	movl r3 = stub
	ld2 r5 = [r4], 2
	;;
	add r6 = r5, r2
	mov r7 = 8
	cmp.eq p6, p7 = 1, r5
	;;
(p6)	br.cond.sptk.few 3f
	;;
2:	ld8 r8 = [r3], 8
	;;
	st8 [r6] = r8
	fc.i r6
	adds r6 = 8, r6
	adds r7 = -1, r7
	;;
	cmp.ne p6, p7 = 0, r7
	;;
(p6)	br.cond.sptk.few 2b
	br.cond.sptk.few 1b
	;;
3:	sync.i
	;;
	srlz.i
	;;
	movl r2 = IVT
	;;
	mov cr.iva = r2
	mov cr.dcr = r0
	movl r3 = 15 << 2
	;;
	mov cr.pta = r3				// off; 15 is the smallest size
	;;
// regions: RID(region), pages of 16 KB, no walker
	mov r4 = 0
	movl r2 = 0
	movl r3 = RRV(0, 14, 0)
	movl r6 = 1 << 61
	;;
4:	mov rr[r2] = r3
	add r2 = r2, r6
	adds r3 = 0x100, r3
	adds r4 = 1, r4
	;;
	cmp.gt p6, p7 = 8, r4
	;;
(p6)	br.cond.sptk.few 4b
	;;
	mov r6 = 24 << 2			// 16 MB at 0
	mov cr.ifa = r0
	movl r7 = RWX
	;;
	mov cr.itir = r6
	;;
	itr.i itr[r0] = r7
	;;
	itr.d dtr[r0] = r7
	;;
	srlz.i
	;;
	srlz.d
	;;
	ENTER KPSR
	br.cond.sptk.many main
	;;

	.align 32
stub:
	.explicit
	{ .mii
	nop.m 0
	mov r30 = b0
	mov r29 = ip ;;
	}
	{ .mlx
	nop.m 0
	movl r28 = handler ;;
	}
	{ .mii
	nop.m 0
	mov b0 = r28
	nop.i 0 ;;
	}
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b0 ;;
	}
	.default

	.pushsection .rodata, "a"
	.align 2
vectors:
	data2 0x0000, 0x0400, 0x0800, 0x0c00, 0x1000, 0x1400, 0x1800, 0x1c00, 0x2000, 0x2400, 0x2800, 0x2c00, 0x3000
	data2 0x3400, 0x5000, 0x5100, 0x5200, 0x5300, 0x5400, 0x5500, 0x5600, 0x5700, 0x5900, 0x5a00, 0x5b00, 0x5c00
	data2 0x5d00, 0x5e00, 0x5f00, 0x6000, 0x6100, 1
	.popsection

	.align 32
handler:					// bank 0; r29 vector, r30 b0
	mov r31 = pr
	mov r27 = psr
	rum PSR_BE				// as it is if DCR.be is set
	movl r16 = STATE
	movl r17 = IVT
	mov r18 = cr.isr
	;;
	sub r17 = r29, r17
	mov r19 = cr.iim
	mov r20 = 0x777
	mov r21 = 0x2c00
	;;
	cmp.eq p6, p7 = r19, r20
	tbit.nz p8, p9 = r18, 39		// with PSR.ic 0 there is no IIM: any break is the end
	;;
(p8)	cmp.eq p6, p7 = r0, r0
	;;
(p6)	cmp.eq p6, p7 = r21, r17
	;;
(p6)	mov r17 = -1				// the case ended without an interruption
(p7)	cmp.eq p8, p9 = r0, r0
(p6)	cmp.ne p8, p9 = r0, r0
	adds r22 = S_HOOK, r16
	;;
	ld8 r23 = [r22]				// the hook, once
	adds r24 = S_RESUME, r16
	;;
	st8 [r22] = r0
(p6)	mov r23 = 0
	adds r25 = 0x50, r16
	;;
	ld8 r26 = [r25]				// how many
	;;
(p8)	adds r26 = 1, r26
	;;
	st8 [r25] = r26
	cmp.ne p10, p11 = 0, r26
	;;
	cmp.eq p12, p13 = -1, r17
	;;
(p12)	cmp.ne p12, p13 = 0, r26		// an end behind interruptions that were handled: these stay
	;;
(p12)	br.cond.sptk.few 1f
	;;
	st8 [r16] = r17, 8
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.ipsr
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.iip
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.ifa
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.itir
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.iipa
	;;
	st8 [r16] = r18, 8
	;;
	st8 [r16] = r19, 8
	mov r18 = cr.iha
	;;
	st8 [r16] = r18, 8
	mov r18 = cr.ifs
	;;
	st8 [r16] = r18
	movl r16 = STATE + S_ENTRY
	;;
	st8 [r16] = r27
	cmp.ne p6, p7 = 0, r23
	;;
(p6)	mov b0 = r23
	movl r16 = STATE
	;;
(p6)	br.cond.sptk.many b0
	;;
1:
to_resume:					// hooks may end here
	movl r24 = STATE + 8
	;;
	ld8 r25 = [r24]				// ISR.ir: the frame is not complete, and goes
	;;
	tbit.z p6, p7 = r25, 38
	;;
(p6)	br.cond.sptk.few 2f
	;;
	cover
	;;
2:	movl r24 = STATE + S_RESUME
	;;
	ld8 r25 = [r24]
	movl r26 = KPSR
	;;
	mov cr.iip = r25
	mov cr.ipsr = r26
	mov cr.ifs = r0
	;;
	RETRY

begin:						// r24 resume, r25 at
	movl r28 = STATE + S_RESUME
	;;
	st8 [r28] = r24, 8
	;;
	st8 [r28] = r25, 8
	;;
	st8 [r28] = r0				// no hook
	movl r28 = STATE + 0x50
	;;
	st8 [r28] = r0				// none yet
	br.cond.sptk.many b7
	;;

putc:						// r20
	mov r32 = r20
	mov r15 = 31
	;;
	break.m 0x80001
	;;
	br.cond.sptk.many b6
	;;
puts:						// r9
	ld1 r32 = [r9], 1
	mov r15 = 31
	;;
	cmp.eq p6, p7 = 0, r32
	;;
(p6)	br.cond.sptk.many b6
	;;
	break.m 0x80001
	;;
	br.cond.sptk.few puts
	;;
hex:						// r21, r22 digits: of the low bits
	adds r22 = -1, r22
	;;
	shl r23 = r22, 2
	;;
	shr.u r23 = r21, r23
	;;
	and r23 = 15, r23
	;;
	cmp.gt p6, p7 = 10, r23
	;;
(p6)	adds r32 = 48, r23
(p7)	adds r32 = 87, r23
	mov r15 = 31
	;;
	break.m 0x80001
	;;
	cmp.ne p6, p7 = 0, r22
	;;
(p6)	br.cond.sptk.few hex
	br.cond.sptk.many b6
	;;

	.macro TEXT text
	.pushsection .rodata, "a"
.Ltext\@: stringz "\text"
	.popsection
	movl r9 = .Ltext\@
	;;
	GO puts, b6
	.endm

	.macro FIELD bit, text, offset
	tbit.z p6, p7 = r10, \bit
	;;
(p6)	br.cond.sptk.many .Lfield\@
	;;
	TEXT " \text="
	movl r21 = STATE + \offset
	mov r22 = 16
	;;
	ld8 r21 = [r21]
	;;
	GO hex, b6
.Lfield\@:
	.endm

	.macro DELTA bit, text, offset
	tbit.z p6, p7 = r10, \bit
	;;
(p6)	br.cond.sptk.many .Ldelta\@
	;;
	TEXT " \text="
	movl r21 = STATE + \offset
	;;
	GO delta, b6
.Ldelta\@:
	.endm

delta:						// [r21] against at, signed, three digits or more
	movl r22 = STATE + S_AT
	mov r31 = b6
	;;
	ld8 r21 = [r21]
	ld8 r22 = [r22]
	;;
	sub r21 = r21, r22
	;;
	shl r21 = r21, 3			// regions aside
	;;
	shr r21 = r21, 3
	;;
	cmp.gt p6, p7 = 0, r21
	;;
(p6)	mov r20 = 45
(p6)	sub r21 = r0, r21
(p7)	mov r20 = 43
	;;
	GO putc, b6
	movl r23 = 0xfff
	;;
	cmp.ltu p6, p7 = r23, r21
	mov r22 = 3
	;;
(p6)	mov r22 = 16
	;;
	GO hex, b6
	mov b6 = r31
	;;
	br.cond.sptk.many b6
	;;

isr_text:					// code+flags.slot
	mov r31 = b6
	movl r21 = STATE + 8
	mov r22 = 4
	;;
	ld8 r24 = [r21]
	;;
	mov r21 = r24
	;;
	GO hex, b6
	shr.u r25 = r24, 32
	movl r19 = .Lflags
	;;
1:	ld1 r20 = [r19], 1
	tbit.z p8, p9 = r25, 0
	shr.u r25 = r25, 1
	;;
	cmp.eq p6, p7 = 0, r20
	mov r9 = r19
	adds r19 = 3, r19
	;;
(p6)	br.cond.sptk.few 2f
	;;
(p8)	br.cond.sptk.few 1b
	;;
	adds r9 = -1, r9
	;;
	GO puts, b6
	br.cond.sptk.few 1b
	;;
2:	tbit.z p8, p9 = r24, 43
	movl r9 = .Led
	;;
(p8)	br.cond.sptk.few 3f
	;;
	GO puts, b6
3:	mov r20 = 46
	;;
	GO putc, b6
	extr.u r21 = r24, 41, 2
	mov r22 = 1
	;;
	GO hex, b6
	shr.u r21 = r24, 44			// reserved fields, and the vector of IA-32
	extr.u r23 = r24, 16, 16
	;;
	or r21 = r21, r23
	;;
	cmp.eq p6, p7 = 0, r21
	;;
(p6)	br.cond.sptk.few 4f
	;;
	movl r9 = .Lreserved
	;;
	GO puts, b6
4:	mov b6 = r31
	;;
	br.cond.sptk.many b6
	;;
	.pushsection .rodata, "a"
.Lflags: data1 0x2b, 0x78, 0, 0, 0x2b, 0x77, 0, 0, 0x2b, 0x72, 0, 0, 0x2b, 0x6e, 0x61, 0	// +x +w +r +na
	data1 0x2b, 0x73, 0x70, 0, 0x2b, 0x72, 0x73, 0, 0x2b, 0x69, 0x72, 0			// +sp +rs +ir
	data1 0x2b, 0x6e, 0x69, 0, 0x2b, 0x73, 0x6f, 0, 0					// +ni +so
.Led:	stringz "+ed"
.Lreserved: stringz "+reserved"
	.popsection

show:						// r9 name, r10 fields; link b7
	GO puts, b6
	mov r20 = 32
	;;
	GO putc, b6
	movl r21 = STATE
	mov r22 = 4
	;;
	ld8 r21 = [r21]
	;;
	cmp.eq p6, p7 = -1, r21
	;;
(p6)	br.cond.sptk.many 1f
	;;
	GO hex, b6
	tbit.z p6, p7 = r10, 0
	;;
(p6)	br.cond.sptk.many 2f
	;;
	TEXT " isr="
	GO isr_text, b6
2:	DELTA 3, iip, 0x18
	FIELD 1, ifa, 0x20
	FIELD 2, itir, 0x28
	DELTA 4, iipa, 0x30
	FIELD 5, iim, 0x38
	FIELD 6, iha, 0x40
	FIELD 7, ifs, 0x48
	FIELD 9, ipsr, 0x10
	FIELD 11, entry, S_ENTRY
	br.cond.sptk.many 3f
	;;
1:	TEXT "none"
3:	FIELD 10, count, 0x50
	FIELD 8, r8, S_R8
	mov r20 = 10
	;;
	GO putc, b6
	br.cond.sptk.many b7
	;;
	.align 32
main:
