// PSR at interruptions and by instruction, banks, rfi and frames, epc, what registers keep. Volume 2, 3.3.2 (table 3-2),
// 3.3.4, 3.3.5, 3.3.7; volume 3.
#include "system.h"
	.set STOP, 0x55

	.macro ENTRY_OF name, psr, fields=ENTRY | IPSR
	CASE \name
	ENTER \psr
	AT \name
	break.m STOP
	END \name, \fields
	.endm
	ENTRY_OF entry, KPSR
//= entry 2c00 ipsr=0000101008022000 entry=0000001008020000 | volume 2, table 3-2: dt, rt and it stay, ic and bn go
	ENTRY_OF entry_user_mask, KPSR | PSR_UP | PSR_MFL | PSR_MFH
//= entry_user_mask 2c00 ipsr=0000101008022034 entry=0000001008020034 | volume 2, table 3-2: up, mfl and mfh stay
	ENTRY_OF entry_ac, KPSR | PSR_AC
//= entry_ac 2c00 ipsr=0000101008022008 entry=0000001008020000 | volume 2, table 3-2
	ENTRY_OF entry_be, KPSR | PSR_BE
//= entry_be 2c00 ipsr=0000101008022002 entry=0000001008020000 | volume 2, table 3-2: be is DCR.be
	ENTRY_OF entry_i, KPSR | PSR_I
//= entry_i 2c00 ipsr=0000101008026000 entry=0000001008020000 | volume 2, table 3-2
	ENTRY_OF entry_dfl, KPSR | PSR_DFL | PSR_DFH
//= entry_dfl 2c00 ipsr=00001010080e2000 entry=0000001008020000 | volume 2, table 3-2
	ENTRY_OF entry_pp, KPSR | PSR_PP | PSR_SP
//= entry_pp 2c00 ipsr=0000101008322000 entry=0000001008020000 | volume 2, table 3-2: pp is DCR.pp, sp goes
	ENTRY_OF entry_di, KPSR | PSR_DI | PSR_SI
//= entry_di 2c00 ipsr=0000101008c22000 entry=0000001008020000 | volume 2, table 3-2
	ENTRY_OF entry_db, KPSR | PSR_DB | PSR_LP | PSR_TB
//= entry_db 2c00 ipsr=000010100f022000 entry=0000001008020000 | volume 2, table 3-2
	CASE entry_pk
	SETPKR 0, 1
	ENTER KPSR | PSR_PK
	AT entry_pk
	break.m STOP
	END entry_pk, ENTRY | IPSR
//= entry_pk 2c00 ipsr=000010100802a000 entry=0000001008028000 | volume 2, table 3-2: pk stays
	ENTRY_OF entry_one_shot, KPSR | PSR_ID | PSR_DA | PSR_DD | PSR_ED | PSR_IA, IPSR
//= entry_one_shot 2c00 ipsr=000038f008022000 | volume 2, 3.3.2: a fault keeps da, dd, ed, id and ia in IPSR
	CASE entry_one_shot_over
	ENTER KPSR | PSR_ID | PSR_DA | PSR_DD | PSR_ED | PSR_IA
	.explicit
	AT entry_one_shot_over
	{ .mmi
	nop.m 0
	break.m STOP
	nop.i 0 ;;
	}
	.default
	END entry_one_shot_over, IPSR | ISR
//= entry_one_shot_over 2c00 isr=0000.1 ipsr=0000121008022000 | volume 2, 3.3.2: the first instruction that succeeds clears them
	ENTRY_OF entry_physical, PSR_BN | PSR_IC
//= entry_physical 2c00 ipsr=0000100000002000 entry=0000000000000000 | volume 2, table 3-2: dt, rt and it stay
	ENTRY_OF entry_level3, KPSR | PSR_CPL(3)
//= entry_level3 2c00 ipsr=0000101308022000 entry=0000001008020000 | volume 2, table 3-2
	CASE entry_level3_reads
	HOOK level_of_handler
	LEVEL 3
	AT entry_level3_reads
	break.m STOP
level_of_handler:
	br.cond.sptk.many to_resume
	END entry_level3_reads
//= entry_level3_reads 2c00 | volume 2, table 3-2: the handler is at level 0, or it could not read cr.ifa
	CASE entry_dcr
	SETCR dcr, 3
	AT entry_dcr
	break.m STOP
	END entry_dcr, ENTRY | IPSR
	SETCR dcr, 0
//= entry_dcr 2c00 ipsr=0000101008022000 entry=0000001008220002 | volume 2, 3.3.4.1: pp from bit 0, be from bit 1

// banks
	CASE bank
	mov r16 = 2
	CLOSE
	bsw.0
	;;
	mov r16 = 1
	;;
	bsw.1
	;;
	mov r8 = r16
	;;
	bsw.0
	;;
	shl r9 = r16, 4
	;;
	bsw.1
	;;
	or r8 = r8, r9
	AT bank
	END bank, R8
//= bank none r8=0000000000000012 | volume 2, 3.3.7
	CASE bank_limits
	mov r15 = 5
	mov r31 = 3
	CLOSE
	bsw.0
	;;
	mov r31 = 4
	mov r8 = r15
	;;
	bsw.1
	;;
	shl r9 = r31, 4
	;;
	or r8 = r8, r9
	AT bank_limits
	END bank_limits, R8
//= bank_limits none r8=0000000000000035 | volume 2, 3.3.7: r16 to r31
	CASE bank0_interrupted
	CLOSE
	bsw.0
	;;
	OPEN
	AT bank0_interrupted
	break.m STOP
	END bank0_interrupted, IPSR
//= bank0_interrupted 2c00 ipsr=0000001008022000 | volume 2, 3.3.2: bn

// rsm, ssm, mov psr
	CASE read
	AT read
	mov r8 = psr
	END read, R8
//= read none r8=0000001008022000 | volume 3, mov psr: bits 31:0, 35 and 36
	CASE set
	ssm PSR_UP | PSR_AC | PSR_MFL | PSR_MFH | PSR_DFL | PSR_DFH | PSR_SP | PSR_PP | PSR_DI | PSR_SI
	;;
	srlz.i
	;;
	mov r8 = psr
	AT set
	END set, R8
//= set none r8=0000001008fe203c | volume 3, ssm
	CASE reset
	ssm PSR_UP | PSR_AC | PSR_MFL | PSR_MFH | PSR_DFL | PSR_DFH | PSR_SP | PSR_PP | PSR_DI | PSR_SI
	;;
	srlz.i
	;;
	rsm PSR_UP | PSR_MFH | PSR_DFL | PSR_PP | PSR_SI
	;;
	srlz.i
	;;
	mov r8 = psr
	AT reset
	END reset, R8
//= reset none r8=00000010085a2018 | volume 3, rsm
	CASE move
	movl r4 = PSR_IC | PSR_DT | PSR_RT | PSR_DB | PSR_LP | PSR_PP
	;;
	mov psr.l = r4
	;;
	srlz.i
	;;
	mov r8 = psr
	AT move
	END move, R8
//= move none r8=000000100b222000 | volume 3, mov psr: bits 31:0 alone
	CASE user_mask
	LEVEL 3
	mov r4 = PSR_UP | PSR_MFL
	;;
	mov psr.um = r4
	;;
	sum PSR_AC | PSR_MFH
	;;
	rum PSR_MFL
	;;
	mov r8 = psr.um
	AT user_mask
	break.m STOP
	END user_mask, R8 | IPSR
//= user_mask 2c00 ipsr=000010130802202c r8=000000000000002c | volume 3, sum, rum, mov psr
	CASE user_mask_secure
	ENTER KPSR | PSR_SP | PSR_CPL(3)
	mov r4 = PSR_UP | PSR_MFL
	;;
	mov psr.um = r4
	;;
	sum PSR_UP | PSR_AC
	;;
	AT user_mask_secure
	break.m STOP
	END user_mask_secure, IPSR
//= user_mask_secure 2c00 ipsr=0000101308122018 | volume 3, sum, mov psr: with PSR.sp up does not change
	CASE user_mask_secure_off
	ENTER KPSR | PSR_SP | PSR_UP | PSR_CPL(3)
	rum PSR_UP
	;;
	AT user_mask_secure_off
	break.m STOP
	END user_mask_secure_off, IPSR
//= user_mask_secure_off 2c00 ipsr=0000101308122004 | volume 3, rum: with PSR.sp up does not change
	CASE high_written
	setf.sig f40 = r0
	;;
	AT high_written
	break.m STOP
	END high_written, IPSR
//= high_written 2c00 ipsr=0000101008022020 | volume 2, 3.3.2: mfh
	CASE low_written
	ldfd f5 = [r0]
	;;
	AT low_written
	break.m STOP
	END low_written, IPSR
//= low_written 2c00 ipsr=0000101008022010 | volume 2, 3.3.2: mfl

// cover, rfi and the frame
	CASE cover_closed
	CLOSE
	movl r4 = 0x123
	;;
	mov cr.ifs = r4
	;;
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	mov r8 = cr.ifs
	AT cover_closed
	END cover_closed, R8
//= cover_closed none r8=8000000000000408 | volume 3, cover: IFS is the frame with PSR.ic 0
	CASE cover_open
	CLOSE
	movl r4 = 0x123
	;;
	mov cr.ifs = r4
	;;
	OPEN
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	CLOSE
	mov r8 = cr.ifs
	AT cover_open
	END cover_open, R8
//= cover_open none r8=0000000000000123 | volume 3, cover: with PSR.ic 1 IFS stays
	CASE cover_empties
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	AT cover_empties
	mov r32 = r0
	END cover_empties, ISR
//= cover_empties 5400 isr=0000.0 | volume 3, cover: CFM is zero
	CASE frame_back
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	mov r32 = 0x3232
	mov r39 = 0x3939
	CLOSE
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	alloc r2 = ar.pfs, 0, 2, 0, 0
	;;
	mov r32 = 1
	mov r33 = 1
	;;
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	movl r4 = KPSR
	movl r5 = at_frame_back
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	;;
	rfi
	AT frame_back
	shl r8 = r32, 16
	;;
	or r8 = r8, r39
	END frame_back, R8
//= frame_back none r8=0000000032323939 | volume 3, rfi: with IFS.v 1 the frame that cover left
	CASE frame_back_limit
	alloc r2 = ar.pfs, 0, 8, 0, 0
	;;
	CLOSE
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	cover ;;
	}
	.default
	movl r4 = KPSR
	movl r5 = at_frame_back_limit
	;;
	mov cr.ipsr = r4
	mov cr.iip = r5
	;;
	rfi
	.explicit
	AT frame_back_limit
	{ .mmi
	mov r39 = r0
	mov r40 = r0
	nop.i 0 ;;
	}
	.default
	END frame_back_limit, ISR | IIP
//= frame_back_limit 5400 isr=0000.1 iip=+000 | volume 3, rfi: no register more than it had
	CASE frame_same
	alloc r2 = ar.pfs, 0, 3, 0, 0
	;;
	CLOSE
	movl r4 = KPSR
	movl r5 = at_frame_same
	movl r6 = 0x0000000000000408
	;;
	mov cr.ifs = r6
	mov cr.ipsr = r4
	mov cr.iip = r5
	;;
	rfi
	.explicit
	AT frame_same
	{ .mmi
	mov r34 = r0
	mov r35 = r0
	nop.i 0 ;;
	}
	.default
	END frame_same, ISR | IIP
//= frame_same 5400 isr=0000.1 iip=+000 | volume 3, rfi: with IFS.v 0 the frame stays
	CASE ifs_cleared
	CLOSE
	movl r4 = 1 << 63 | 0x408
	;;
	mov cr.ifs = r4
	;;
	OPEN
	HOOK only_valid
	AT ifs_cleared
	break.m STOP
only_valid:
	mov r8 = cr.ifs
	;;
	shr.u r8 = r8, 63
	br.cond.sptk.many to_resume
	END ifs_cleared, R8
//= ifs_cleared 2c00 r8=0000000000000000 | volume 2, 3.3.5.7: an interruption clears IFS.v

// epc, on pages with rights to promote: the image's own, by another region's addresses
	.macro PROMOTE name, rights, level, psr, ppl=3
	CASE \name
	MAP i, IN(1, 0x100000), \rights | 0x100000, 18
	movl r4 = \ppl << 62
	;;
	mov ar.pfs = r4
	ENTERIN 1, \psr | PSR_CPL(\level)
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	epc ;;
	}
	.default
	AT \name
	break.m STOP
	END \name, IPSR | ISR
	UNMAP IN(1, 0x100000), 18
	.endm
	PROMOTE promoted0, (P | A | AR(7) | PL(0)), 3, KPSR
//= promoted0 2c00 isr=0000.0 ipsr=0000101008022000 | volume 3, epc: to the page's level
	PROMOTE promoted1, (P | A | AR(7) | PL(1)), 3, KPSR
//= promoted1 2c00 isr=0000.0 ipsr=0000101108022000 | volume 3, epc
	PROMOTE promoted2, (P | A | AR(7) | PL(2)), 3, KPSR
//= promoted2 2c00 isr=0000.0 ipsr=0000101208022000 | volume 3, epc
	PROMOTE promoted3, (P | A | AR(7) | PL(3)), 3, KPSR
//= promoted3 2c00 isr=0000.0 ipsr=0000101308022000 | volume 3, epc
	PROMOTE promoted_lower, (P | A | AR(7) | PL(2)), 1, KPSR
//= promoted_lower 2c00 isr=0000.0 ipsr=0000101108022000 | volume 3, epc: never to a lower privilege
	PROMOTE promoted_2to1, (P | A | AR(7) | PL(1)), 2, KPSR
//= promoted_2to1 2c00 isr=0000.0 ipsr=0000101108022000 | volume 3, epc
	PROMOTE not_promoted, (P | A | AR(3) | PL(3)), 3, KPSR
//= not_promoted 2c00 isr=0000.0 ipsr=0000101308022000 | volume 3, epc: other rights change nothing
	PROMOTE promoted_ppl, (P | A | AR(7) | PL(0)), 3, KPSR, 2
//= promoted_ppl 5400 isr=0000.2 ipsr=0000141308022000 | volume 3, epc: PFS.ppl may not be more privileged
	CASE promoted_physical
	movl r4 = 3 << 62
	;;
	mov ar.pfs = r4
	ENTER (KPSR & ~PSR_IT) | PSR_CPL(3)
	.explicit
	{ .mib
	nop.m 0
	nop.i 0
	epc ;;
	}
	.default
	AT promoted_physical
	break.m STOP
	END promoted_physical, IPSR
//= promoted_physical 2c00 ipsr=0000100008022000 | volume 3, epc: level 0 with PSR.it 0

// what registers keep
	.macro KEPT name, register, value
	CASE \name
	movl r4 = \value
	;;
	mov cr.\register = r4
	;;
	srlz.d
	;;
	mov r8 = cr.\register
	;;
	srlz.d
	;;
	mov cr.\register = r0
	AT \name
	END \name, R8
	.endm
	.macro KEPT_CLOSED name, register, value
	CASE \name
	movl r4 = \value
	CLOSE
	mov cr.\register = r4
	;;
	srlz.d
	;;
	mov r8 = cr.\register
	AT \name
	END \name, R8
	.endm
	KEPT kept_dcr, dcr, 0x7f07
//= kept_dcr none r8=0000000000007f07 | volume 2, 3.3.4.1
	KEPT kept_itm, itm, 0xfedcba9876543210
//= kept_itm none r8=fedcba9876543210 | volume 2, 3.3.4.2
	CASE kept_iva
	movl r4 = IVT
	movl r5 = IVT + 0x1234
	;;
	mov cr.iva = r5
	;;
	srlz.d
	;;
	mov r6 = cr.iva
	mov cr.iva = r4
	;;
	dep r8 = 0, r6, 0, 15
	AT kept_iva
	END kept_iva, R8
//= kept_iva none r8=0000000000200000 | volume 2, 3.3.4.3: 32 KB alignment
	CASE kept_pta
	movl r4 = 0xa000000000008000 | 1 << 8 | 15 << 2
	movl r5 = 15 << 2
	;;
	mov cr.pta = r4
	;;
	srlz.d
	;;
	mov r8 = cr.pta
	mov cr.pta = r5
	AT kept_pta
	END kept_pta, R8
//= kept_pta none r8=a00000000000813c | volume 2, 3.3.4.4
	KEPT kept_tpr, tpr, 0x100f0
//= kept_tpr none r8=00000000000100f0 | volume 2, 5.8.3.3
	KEPT kept_pmv, pmv, 0x100ee
//= kept_pmv none r8=00000000000100ee | volume 2, 5.8.3.6
	KEPT kept_cmcv, cmcv, 0x100ed
//= kept_cmcv none r8=00000000000100ed | volume 2, 5.8.3.7
	KEPT_CLOSED kept_ifa, ifa, 0xfedcba9876543210
//= kept_ifa none r8=fedcba9876543210 | volume 2, 3.3.5.4
	KEPT_CLOSED kept_isr, isr, 0x0000040f00000020
//= kept_isr none r8=0000040f00000020 | volume 2, 3.3.5.2: software may write it
	KEPT_CLOSED kept_iip, iip, 0xe000000000123450
//= kept_iip none r8=e000000000123450 | volume 2, 3.3.5.3
	KEPT_CLOSED kept_ipsr, ipsr, 0x00001013084a6008
//= kept_ipsr none r8=00001013084a6008 | volume 2, 3.3.5.1
	KEPT_CLOSED kept_itir, itir, 0x12345638
//= kept_itir none r8=0000000012345638 | volume 2, 3.3.5.5
	KEPT_CLOSED kept_ifs, ifs, 0x8000000000000408
//= kept_ifs none r8=8000000000000408 | volume 2, 3.3.5.7
	KEPT_CLOSED kept_iim, iim, 0x1fffff
//= kept_iim none r8=00000000001fffff | volume 2, 3.3.5.6
	KEPT_CLOSED kept_iha, iha, 0xe000000000123458
//= kept_iha none r8=e000000000123458 | volume 2, 3.3.5.9
	.macro INDEXED name, file, index, value
	CASE \name
	movl r4 = \index
	movl r5 = \value
	;;
	mov r6 = \file[r4]
	mov \file[r4] = r5
	;;
	srlz.i
	;;
	srlz.d
	;;
	mov r8 = \file[r4]
	;;
	mov \file[r4] = r6
	AT \name
	END \name, R8
	.endm
	INDEXED kept_rr, rr, 0x7fffffffffffffff, 0xabcdef39
//= kept_rr none r8=00000000abcdef39 | volume 2, 4.1.2: region 3, the number is in bits 63:61
	INDEXED kept_pkr, pkr, 3, 0xabcdef0f
//= kept_pkr none r8=00000000abcdef0f | volume 2, 4.1.3
	INDEXED kept_ibr, ibr, 6, 0xfedcba9876543210
//= kept_ibr none r8=fedcba9876543210 | volume 2, 7.1
	INDEXED kept_dbr, dbr, 3, 0x01fffffffffffff8
//= kept_dbr none r8=01fffffffffffff8 | volume 2, 7.1
	CASE kept_kr
	movl r4 = 0xfedcba9876543210
	;;
	mov ar.k7 = r4
	;;
	LEVEL 3
	mov r8 = ar.k7
	AT kept_kr
	END kept_kr, R8
//= kept_kr none r8=fedcba9876543210 | volume 1, 3.1.8.1
	CASE counter_written
	movl r4 = 1 << 40
	;;
	mov ar.itc = r4
	;;
	srlz.d
	;;
	mov r8 = ar.itc
	;;
	shr.u r8 = r8, 32
	mov ar.itc = r0
	AT counter_written
	END counter_written, R8
//= counter_written none r8=0000000000000100 | volume 3, mov ar: level 0 sets ITC
	FINISH
