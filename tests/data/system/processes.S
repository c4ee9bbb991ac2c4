// Figures 6-6 to 6-8 of the Itanium manual (3-6 to 3-8 of the Montecito manual): three processes, the kernel that they
// enter by epc, and the handler of an interruption that each of them raises. Every place has its own number of nops, and R8
// is what a monitor counts of them: of the applications A, B, C 1, 2, 4; of the kernel on their behalf 0x10, 0x20, 0x40; of
// handlers while they run 0x100, 0x200, 0x400. Volume 2, 7.2.1, table 3-2; volume 3, epc.
// NOPS_RETIRED is 0x50 of an Itanium 2. No other nop is in code that is monitored.
//with --guest-pmu
//ski *: it has no performance monitors
#include "system.h"
#define PM	(1 << 6)
#define NOPS(plm)	(0x02000000 | 0x50 << 8 | (plm))
#define VECTORS	0x600000
#define GATE	IN(1, 0x100000)
#define FILL(register)	adds register = 0, register

	.macro SETPM file, number, value
	mov r26 = \number
	movl r27 = \value
	;;
	mov \file[r26] = r27
	;;
	.endm
	.macro PANEL name, processes, enable, pmc, dcr
	CASE \name
	SETCR dcr, \dcr
	SETPM pmc, 0, 1
	SETPM pmd, 4, 0
	SETPM pmc, 4, \pmc
	mov r4 = \processes			// those with the bit in their PSR
	movl r5 = \enable
	mov r6 = 0				// the next process
	movl r7 = at_\name
	movl r9 = gate + IN(1, 0)
	;;
	mov b1 = r9
	SETCR iva, VECTORS
	SETPM pmc, 0, 0
	srlz.i
	br.cond.sptk.many schedule
	;;
	AT \name
	mov r9 = 4
	;;
	mov r8 = pmd[r9]
	END \name, R8
	.endm

	MAP i, GATE, P | A | AR(7) | PL(0) | 0x100000, 18
	movl r4 = enter
	movl r5 = VECTORS + 0x2c00
	mov r6 = 6
	;;
1:	ld8 r8 = [r4], 8			// the vector of break
	adds r6 = -1, r6
	;;
	st8 [r5] = r8
	fc.i r5
	adds r5 = 8, r5
	cmp.ne p6, p7 = 0, r6
	;;
(p6)	br.cond.sptk.few 1b
	;;
	sync.i
	;;
	srlz.i
	br.cond.sptk.many panels
	;;
	.explicit
	.align 16
process:					// level 3; r11: 1, 2 or 4
	{ .mii
	FILL(r16)
	adds r17 = -1, r11 ;;
	mov.i ar.lc = r17 ;;
	}
1:	{ .mib
	nop.m 0
	FILL(r16)
	br.cloop.sptk.few 1b ;;
	}
	{ .mib
	FILL(r16)
	FILL(r17)
	br.call.sptk.many b2 = b1 ;;
	}
	{ .mii
	break.m 1
	FILL(r16)
	FILL(r17) ;;
	}
gate:
	{ .mib
	FILL(r16)
	FILL(r17)
	epc ;;
	}
	{ .mii
	FILL(r16)
	shl r17 = r11, 4 ;;
	adds r17 = -1, r17 ;;
	}
	{ .mii
	FILL(r16)
	mov.i ar.lc = r17
	FILL(r18) ;;
	}
1:	{ .mib
	nop.m 0
	FILL(r16)
	br.cloop.sptk.few 1b ;;
	}
	{ .mib
	FILL(r16)
	FILL(r17)
	br.ret.sptk.many b2 ;;
	}
enter:						// copied to the vector
	{ .mlx
	FILL(r16)
	movl r17 = handling ;;
	}
	{ .mii
	FILL(r16)
	FILL(r18)
	mov b7 = r17 ;;
	}
	{ .mib
	FILL(r16)
	FILL(r18)
	br.cond.sptk.many b7 ;;
	}
handling:
	{ .mii
	FILL(r16)
	shl r17 = r11, 8 ;;
	adds r17 = -1, r17 ;;
	}
	{ .mii
	FILL(r16)
	mov.i ar.lc = r17
	FILL(r18) ;;
	}
1:	{ .mib
	nop.m 0
	FILL(r16)
	br.cloop.sptk.few 1b ;;
	}
	{ .mib
	rsm PSR_PP | PSR_UP
	FILL(r16)
	br.cond.sptk.many schedule ;;
	}
	.default
schedule:					// the next process, with its PSR; not monitored
	rsm psr.ic | psr.i
	;;
	srlz.i
	;;
	cmp.eq p6, p7 = 3, r6
	shr.u r9 = r4, r6
	movl r10 = KPSR | PSR_CPL(3)
	;;
(p6)	br.cond.spnt.few finished
	tbit.nz p8, p9 = r9, 0
	movl r9 = process
	;;
(p8)	or r10 = r10, r5
	mov cr.iip = r9
	mov r9 = 1
	;;
	mov cr.ipsr = r10
	mov cr.ifs = r0
	shl r11 = r9, r6
	adds r6 = 1, r6
	;;
	rfi
	;;
finished:
	mov r9 = 0
	mov r10 = 1
	;;
	mov pmc[r9] = r10
	movl r9 = IVT
	movl r10 = KPSR
	;;
	mov cr.iva = r9
	mov cr.dcr = r0
	mov cr.iip = r7
	mov cr.ipsr = r10
	mov cr.ifs = r0
	;;
	srlz.i
	;;
	rfi
	;;
panels:
#define A	1
#define AB	3
#define ABC	7
	PANEL single_applications, A, PSR_UP, NOPS(8), 0
//= single_applications none r8=0000000000000001 | volume 2, 7.2.1; figure 6-6, left
	PANEL single_kernel, A, PSR_UP, NOPS(9), 0
//= single_kernel none r8=0000000000000111 | volume 2, 7.2.1, table 3-2: handlers keep PSR.up; figure 6-6, middle
	PANEL single_privileged, A, PSR_PP, NOPS(9) | PM, 0
//= single_privileged none r8=0000000000000011 | volume 2, 7.2.1, table 3-2: PSR.pp is DCR.pp in handlers; figure 3-6, middle
	PANEL single_handlers, A, PSR_PP, NOPS(9) | PM, 1
//= single_handlers none r8=0000000000000711 | volume 2, 7.2.1, table 3-2: whatever process they interrupt; figure 6-6, right
	PANEL multiple_applications, AB, PSR_UP, NOPS(8), 0
//= multiple_applications none r8=0000000000000003 | volume 2, 7.2.1; figure 6-7, left
	PANEL multiple_kernel, AB, PSR_UP, NOPS(9), 0
//= multiple_kernel none r8=0000000000000333 | volume 2, 7.2.1, table 3-2; figure 6-7, middle
	PANEL multiple_privileged, AB, PSR_PP, NOPS(9) | PM, 0
//= multiple_privileged none r8=0000000000000033 | volume 2, 7.2.1, table 3-2; figure 3-7, middle
	PANEL multiple_handlers, AB, PSR_PP, NOPS(9) | PM, 1
//= multiple_handlers none r8=0000000000000733 | volume 2, 7.2.1, table 3-2; figure 6-7, right
	PANEL all_applications, ABC, PSR_UP, NOPS(8), 0
//= all_applications none r8=0000000000000007 | volume 2, 7.2.1; figure 6-8, left
	PANEL all_applications_privileged, ABC, PSR_PP, NOPS(8) | PM, 1
//= all_applications_privileged none r8=0000000000000007 | volume 2, 7.2.1
	PANEL all_kernel, ABC, PSR_UP, NOPS(9), 0
//= all_kernel none r8=0000000000000777 | volume 2, 7.2.1, table 3-2; figure 6-8, middle
	PANEL all_privileged, ABC, PSR_PP, NOPS(9) | PM, 0
//= all_privileged none r8=0000000000000077 | volume 2, 7.2.1, table 3-2: without handlers
	PANEL all_handlers, ABC, PSR_PP, NOPS(9) | PM, 1
//= all_handlers none r8=0000000000000777 | volume 2, 7.2.1, table 3-2; figure 6-8, right
	PANEL handlers_alone, 0, 0, NOPS(1) | PM, 1
//= handlers_alone none r8=0000000000000700 | volume 2, 7.2.1, table 3-2: no process has PSR.pp
	PANEL kernel_alone, A, PSR_PP, NOPS(1) | PM, 0
//= kernel_alone none r8=0000000000000010 | volume 2, 7.2.1: without the application
	FINISH
