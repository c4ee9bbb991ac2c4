// Instruction addresses that are not implemented: branches to physical addresses of more than 50 bits. Processors trap at the
// branch, or fault at the fetch, with another ISR (volume 2, 8.3, 0x5e00, notes): what both have in common is here.
#include "system.h"
//ski *: it ends at the first of these addresses
	.macro BEYOND name, psr, address, fields=IIPA
	CASE \name
	movl r4 = \address
	;;
	mov b1 = r4
	ENTER \psr
	.explicit
	AT \name
	{ .mib
	nop.m 0
	nop.i 0
	br.cond.sptk.many b1 ;;
	}
	.default
	END \name, \fields
	.endm
	BEYOND beyond50, KPSR & ~PSR_IT, 1 << 50
//= beyond50 5e00 iipa=+000 | volume 2, 4.3.1, 8.3, 0x5e00
	BEYOND beyond62, KPSR & ~PSR_IT, 1 << 62
//= beyond62 5e00 iipa=+000 | volume 2, 4.3.1, 8.3, 0x5e00
	BEYOND beyond_level3, (KPSR | PSR_CPL(3)) & ~PSR_IT, 1 << 61, IIPA | IPSR
//= beyond_level3 5e00 iipa=+000 ipsr=0000100308022000 | volume 2, 8.3, 0x5e00
	CASE beyond_rfi
	CLOSE
	movl r4 = KPSR & ~PSR_IT
	movl r5 = 1 << 50
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	mov cr.ifs = r0
	;;
	rfi
	AT beyond_rfi
	END beyond_rfi, IPSR
//= beyond_rfi 5e00 ipsr=0000100008022000 | volume 2, 8.3, 0x5e00: rfi, too
	FINISH
