// Access rights: each of the 32 combinations of TLB.ar and TLB.pl at levels 3, 2, 1, 0, by a load, a store and a fetch at
// that level; behind the bar what probe says of it at level 0. Volume 2, 4.1.1.6, table 4-4.
#include "system.h"
#define PLACE	IN(1, 0x8000)
	br.cond.sptk.many rights
	;;
	.explicit
	.align 16
	.global sample
sample:
	{ .mii
	break.m 0x55
	nop.i 0
	nop.i 0 ;;
	}
	.default
// r4 rights, r5 page's level, r6 level
rights:
	movl r2 = sample
	movl r3 = PAGE
	;;
	ld8 r8 = [r2], 8
	;;
	st8 [r3] = r8, 8
	ld8 r8 = [r2]
	;;
	st8 [r3] = r8
	fc.i r3
	;;
	sync.i
	;;
	srlz.i
	mov r4 = 0
	;;
each_rights:
	mov r5 = 3
	;;
each_page_level:
	TEXT "ar"
	adds r20 = 48, r4
	;;
	GO putc, b6
	TEXT "_pl"
	adds r20 = 48, r5
	;;
	GO putc, b6
	shl r2 = r4, 9
	shl r3 = r5, 7
	movl r7 = P | A | D | PAGE
	;;
	or r2 = r2, r3
	;;
	or r7 = r7, r2
	CLOSE
	movl r2 = PLACE
	mov r3 = 12 << 2
	;;
	mov cr.ifa = r2
	mov cr.itir = r3
	;;
	itc.i r7
	;;
	itc.d r7
	;;
	OPEN
	mov r6 = 3
	;;
each_level:
	mov r20 = 32
	;;
	GO putc, b6
	.macro TRY letter, instruction
	CASE \letter
	movl r2 = KPSR
	shl r3 = r6, 32
	CLOSE
	or r2 = r2, r3
	movl r3 = .Ltry_\letter
	;;
	mov cr.ipsr = r2
	mov cr.iip = r3
	mov cr.ifs = r0
	movl r2 = PLACE
	;;
	mov b1 = r2
	rfi
	;;
	.align 16
.Ltry_\letter:
	AT \letter
	\instruction
	;;
	break.m 0x55
	;;
	.align 16
resume_\letter:
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	movl r2 = STATE
	movl r3 = 0x2c00
	;;
	ld8 r2 = [r2]
	;;
	cmp.eq p6, p7 = r2, r3
	;;
(p6)	mov r20 = LETTER_\letter
(p7)	mov r20 = 45
	;;
	GO putc, b6
	.endm
	.set LETTER_r, 114
	.set LETTER_w, 119
	.set LETTER_x, 120
	TRY r, "ld8 r8 = [r2]"
	TRY w, "st8 [r2] = r0"
	movl r2 = sample				// the store may have succeeded
	movl r3 = PAGE
	;;
	ld8 r8 = [r2]
	;;
	st8 [r3] = r8
	fc.i r3
	;;
	sync.i
	;;
	srlz.i
	;;
	TRY x, "br.cond.sptk.many b1"
	adds r6 = -1, r6
	;;
	cmp.ne p6, p7 = -1, r6
	;;
(p6)	br.cond.sptk.many each_level
	;;
	TEXT " |"
	mov r6 = 3
	movl r7 = PLACE
	;;
each_probe:
	mov r20 = 32
	;;
	GO putc, b6
	probe.r r8 = r7, r6
	;;
	cmp.ne p6, p7 = 0, r8
	;;
(p6)	mov r20 = 114
(p7)	mov r20 = 45
	;;
	GO putc, b6
	probe.w r8 = r7, r6
	;;
	cmp.ne p6, p7 = 0, r8
	;;
(p6)	mov r20 = 119
(p7)	mov r20 = 45
	;;
	GO putc, b6
	adds r6 = -1, r6
	;;
	cmp.ne p6, p7 = -1, r6
	;;
(p6)	br.cond.sptk.many each_probe
	;;
	mov r20 = 10
	;;
	GO putc, b6
	UNMAP PLACE, 12
	adds r5 = -1, r5
	;;
	cmp.ne p6, p7 = -1, r5
	;;
(p6)	br.cond.sptk.many each_page_level
	;;
	adds r4 = 1, r4
	;;
	cmp.ne p6, p7 = 8, r4
	;;
(p6)	br.cond.sptk.many each_rights
	;;
//= ar0_pl3 r-- r-- r-- r-- | r- r- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar0_pl2 --- r-- r-- r-- | -- r- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar0_pl1 --- --- r-- r-- | -- -- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar0_pl0 --- --- --- r-- | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
//= ar1_pl3 r-x r-x r-x r-x | r- r- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar1_pl2 --- r-x r-x r-x | -- r- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar1_pl1 --- --- r-x r-x | -- -- r- r- | volume 2, 4.1.1.6, table 4-4
//= ar1_pl0 --- --- --- r-x | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
//= ar2_pl3 rw- rw- rw- rw- | rw rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar2_pl2 --- rw- rw- rw- | -- rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar2_pl1 --- --- rw- rw- | -- -- rw rw | volume 2, 4.1.1.6, table 4-4
//= ar2_pl0 --- --- --- rw- | -- -- -- rw | volume 2, 4.1.1.6, table 4-4
//= ar3_pl3 rwx rwx rwx rwx | rw rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar3_pl2 --- rwx rwx rwx | -- rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar3_pl1 --- --- rwx rwx | -- -- rw rw | volume 2, 4.1.1.6, table 4-4
//= ar3_pl0 --- --- --- rwx | -- -- -- rw | volume 2, 4.1.1.6, table 4-4
//= ar4_pl3 r-- rw- rw- rw- | r- rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar4_pl2 --- r-- rw- rw- | -- r- rw rw | volume 2, 4.1.1.6, table 4-4
//= ar4_pl1 --- --- r-- rw- | -- -- r- rw | volume 2, 4.1.1.6, table 4-4
//= ar4_pl0 --- --- --- rw- | -- -- -- rw | volume 2, 4.1.1.6, table 4-4
//= ar5_pl3 r-x r-x r-x rwx | r- r- r- rw | volume 2, 4.1.1.6, table 4-4
//= ar5_pl2 --- r-x r-x rwx | -- r- r- rw | volume 2, 4.1.1.6, table 4-4
//= ar5_pl1 --- --- r-x rwx | -- -- r- rw | volume 2, 4.1.1.6, table 4-4
//= ar5_pl0 --- --- --- rwx | -- -- -- rw | volume 2, 4.1.1.6, table 4-4
//= ar6_pl3 rwx rw- rw- rw- | rw rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar6_pl2 --- rwx rw- rw- | -- rw rw rw | volume 2, 4.1.1.6, table 4-4
//= ar6_pl1 --- --- rwx rw- | -- -- rw rw | volume 2, 4.1.1.6, table 4-4
//= ar6_pl0 --- --- --- rw- | -- -- -- rw | volume 2, 4.1.1.6, table 4-4
//= ar7_pl3 --x --x --x r-x | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
//= ar7_pl2 --x --x --x r-x | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
//= ar7_pl1 --x --x --x r-x | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
//= ar7_pl0 --x --x --x r-x | -- -- -- r- | volume 2, 4.1.1.6, table 4-4
	FINISH
