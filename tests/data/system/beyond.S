// Unimplemented Instruction Address traps: branches and rfi to physical addresses with more than 50 bits. Volume 2, 4.3.1,
// 8.3 (0x5e00), table 8-3. Processors may report them as faults of the fetch; the later Itaniums trap.
#include "system.h"
//ski *: it ends at the first of these addresses
	.macro BEYOND name, psr, address, fields=ISR | IIPA
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
	BEYOND beyond_branch, KPSR & ~PSR_IT, 1 << 50
//= beyond_branch 5e00 isr=0010.2 iipa=+000 | volume 2, 8.3, 0x5e00, table 8-3: ui
	BEYOND beyond_branch_taken, (KPSR | PSR_TB) & ~PSR_IT, 1 << 50
//= beyond_branch_taken 5e00 isr=0014.2 iipa=+000 | volume 2, table 8-3: both in the code
	BEYOND beyond_branch_step, (KPSR | PSR_SS | PSR_RI(2)) & ~PSR_IT, 1 << 50
//= beyond_branch_step 5e00 isr=0018.2 iipa=+000 | volume 2, table 8-3
	BEYOND beyond_branch_level3, (KPSR | PSR_CPL(3)) & ~PSR_IT, 1 << 61, ISR | IIPA | IPSR
//= beyond_branch_level3 5e00 isr=0010.2 iipa=+000 ipsr=0000100308022000 | volume 2, 8.3, 0x5e00
	FINISH
