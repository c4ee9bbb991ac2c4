// General exceptions (0x5400) with their codes: illegal operation, privileged operation, privileged register, reserved
// register or field. Volume 2, 3.3 (registers), 8.3; volume 3 (the order of checks in each instruction's operation).
#include "system.h"
	.macro AT0 name, instruction, fields=ISR | IIP, a=0, b=0	// at level 0 with r4, r5
	CASE \name
	movl r4 = \a
	movl r5 = \b
	AT \name
	\instruction
	END \name, \fields
	.endm
	.macro AT3 name, instruction, fields=ISR | IIP, a=0, b=0	// at level 3
	CASE \name
	movl r4 = \a
	movl r5 = \b
	LEVEL 3
	AT \name
	\instruction
	END \name, \fields
	.endm
	.macro CLOSED name, instruction, fields=ISR, a=0, b=0		// with PSR.ic 0
	CASE \name
	movl r4 = \a
	movl r5 = \b
	CLOSE
	AT \name
	\instruction
	END \name, \fields
	.endm

// every privileged instruction at level 3
	AT3 rsm3, "rsm psr.i"
//= rsm3 5400 isr=0010.0 iip=+000 | volume 3, rsm; volume 2, 8.3: code 1 in bits 7:4
	AT3 ssm3, "ssm psr.i"
//= ssm3 5400 isr=0010.0 iip=+000 | volume 3, ssm
	AT3 to_psr3, "mov psr.l = r4"
//= to_psr3 5400 isr=0010.0 iip=+000 | volume 3, mov psr
	AT3 from_psr3, "mov r8 = psr"
//= from_psr3 5400 isr=0010.0 iip=+000 | volume 3, mov psr
	AT3 to_cr3, "mov cr.dcr = r4"
//= to_cr3 5400 isr=0010.0 iip=+000 | volume 3, mov cr
	AT3 from_cr3, "mov r8 = cr.iva"
//= from_cr3 5400 isr=0010.0 iip=+000 | volume 3, mov cr
	AT3 to_rr3, "mov rr[r4] = r5"
//= to_rr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_rr3, "mov r8 = rr[r4]"
//= from_rr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 to_pkr3, "mov pkr[r4] = r5"
//= to_pkr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_pkr3, "mov r8 = pkr[r4]"
//= from_pkr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 to_ibr3, "mov ibr[r4] = r5"
//= to_ibr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_ibr3, "mov r8 = ibr[r4]"
//= from_ibr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 to_dbr3, "mov dbr[r4] = r5"
//= to_dbr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_dbr3, "mov r8 = dbr[r4]"
//= from_dbr3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 to_pmc3, "mov pmc[r4] = r5", ISR | IIP, 4
//= to_pmc3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_pmc3, "mov r8 = pmc[r4]", ISR | IIP, 4
//= from_pmc3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 to_pmd3, "mov pmd[r4] = r5", ISR | IIP, 4
//= to_pmd3 5400 isr=0010.0 iip=+000 | volume 3, mov indirect
	AT3 from_cpuid3, "mov r8 = cpuid[r4]", ISR, 3
//= from_cpuid3 none | volume 3, mov indirect: CPUID is readable at every level
	AT3 itr_d3, "itr.d dtr[r4] = r5", ISR | IIP, 1
//= itr_d3 5400 isr=0000.0 iip=+000 | volume 3, itr: PSR.ic 1 is an illegal operation, which is looked at first
	AT3 itr_i3, "itr.i itr[r4] = r5", ISR | IIP, 1
//= itr_i3 5400 isr=0000.0 iip=+000 | volume 3, itr
	AT3 itc_d3, "itc.d r5;;"
//= itc_d3 5400 isr=0000.0 iip=+000 | volume 3, itc: PSR.ic 1 is an illegal operation, which is looked at first
	AT3 itc_i3, "itc.i r5;;"
//= itc_i3 5400 isr=0000.0 iip=+000 | volume 3, itc
	AT3 ptr_d3, "ptr.d r4, r5"
//= ptr_d3 5400 isr=0010.0 iip=+000 | volume 3, ptr
	AT3 ptr_i3, "ptr.i r4, r5"
//= ptr_i3 5400 isr=0010.0 iip=+000 | volume 3, ptr
	AT3 ptc_l3, "ptc.l r4, r5"
//= ptc_l3 5400 isr=0010.0 iip=+000 | volume 3, ptc.l
	AT3 ptc_e3, "ptc.e r4"
//= ptc_e3 5400 isr=0010.0 iip=+000 | volume 3, ptc.e
	AT3 ptc_g3, "ptc.g r4, r5;;"
//= ptc_g3 5400 isr=0010.0 iip=+000 | volume 3, ptc.g
	AT3 ptc_ga3, "ptc.ga r4, r5;;"
//= ptc_ga3 5400 isr=0010.0 iip=+000 | volume 3, ptc.g
	AT3 tpa3, "tpa r8 = r4"
//= tpa3 5400 isr=0010+na.0 iip=+000 | volume 3, tpa; volume 2, table 5-1: the fault of a non-access instruction
	AT3 tak3, "tak r8 = r4"
//= tak3 5400 isr=0013+na.0 iip=+000 | volume 3, tak
	AT3 thash3, "thash r8 = r4", ISR
//= thash3 none | volume 3, thash: at every level
	AT3 ttag3, "ttag r8 = r4", ISR
//= ttag3 none | volume 3, ttag
	AT3 probe3, "probe.r r8 = r4, 0", ISR
//= probe3 none | volume 3, probe
	.macro B_UNIT name, instruction
	CASE \name
	LEVEL 3
	.explicit
	AT \name
	{ .mib
	nop.m 0
	nop.i 0
	\instruction ;;
	}
	.default
	END \name, ISR | IIP
	.endm
	B_UNIT rfi3, rfi
//= rfi3 5400 isr=0010.2 iip=+000 | volume 3, rfi
	B_UNIT bsw0_3, bsw.0
//= bsw0_3 5400 isr=0010.2 iip=+000 | volume 3, bsw
	B_UNIT bsw1_3, bsw.1
//= bsw1_3 5400 isr=0010.2 iip=+000 | volume 3, bsw
	B_UNIT cover3, cover
//= cover3 none | volume 3, cover: at every level
	B_UNIT epc3, epc
//= epc3 5400 isr=0000.2 iip=+000 | volume 3, epc: PFS.ppl 0 is more privileged than PSR.cpl
	AT3 user_mask3, "sum 4;; rum 4;; mov r8 = psr.um;; mov psr.um = r8", ISR
//= user_mask3 none | volume 3, sum, rum, mov psr
	AT3 serialize3, "srlz.d;; srlz.i;; sync.i;; mf;; mf.a", ISR
//= serialize3 none | volume 3, srlz, sync, mf

// levels 1 and 2 are not privileged either
	CASE level1
	LEVEL 1
	AT level1
	mov r8 = psr
	END level1, ISR | IPSR
//= level1 5400 isr=0010.0 ipsr=0000101108022000 | volume 2, 3.2
	CASE level2
	LEVEL 2
	AT level2
	mov r8 = psr
	END level2, ISR | IPSR
//= level2 5400 isr=0010.0 ipsr=0000101208022000 | volume 2, 3.2

// privileged registers
	AT3 kernel_register, "mov ar.k3 = r4"
//= kernel_register 5400 isr=0020.0 iip=+000 | volume 3, mov ar; volume 2, 8.3: code 2
	AT3 kernel_register_read, "mov r8 = ar.k3", ISR
//= kernel_register_read none | volume 1, 3.1.8.1
	AT3 interval_counter, "mov ar.itc = r4"
//= interval_counter 5400 isr=0020.0 iip=+000 | volume 3, mov ar
	AT3 interval_counter_read, "mov r8 = ar.itc", ISR
//= interval_counter_read none | volume 3, mov ar: PSR.si 0
	CASE interval_counter_secure
	ENTER KPSR | PSR_CPL(3) | PSR_SI
	AT interval_counter_secure
	mov r8 = ar.itc
	END interval_counter_secure, ISR | IIP
//= interval_counter_secure 5400 isr=0020.0 iip=+000 | volume 2, 3.3.2: PSR.si
	CASE interval_counter_secure0
	ENTER KPSR | PSR_SI
	AT interval_counter_secure0
	mov r8 = ar.itc
	END interval_counter_secure0, ISR
//= interval_counter_secure0 none | volume 2, 3.3.2: level 0 may

// illegal operations
	AT0 out_of_frame, "mov r60 = r4"
//= out_of_frame 5400 isr=0000.0 iip=+000 | volume 1, 4.1: a target beyond the frame
	AT3 illegal_before_privileged, "mov r60 = psr"
//= illegal_before_privileged 5400 isr=0000.0 iip=+000 | volume 2, table 5-6
	AT0 read_only_ivr, "mov cr.ivr = r4"
//= read_only_ivr 5400 isr=0000.0 iip=+000 | volume 3, mov cr: read-only registers
	AT0 read_only_irr0, "mov cr.irr0 = r4"
//= read_only_irr0 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 read_only_irr3, "mov cr.irr3 = r4"
//= read_only_irr3 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 reserved_cr3, "mov r8 = cr3"
//= reserved_cr3 5400 isr=0000.0 iip=+000 | volume 2, 3.3.4, table 3-3
	AT0 reserved_cr10, "mov cr10 = r4"
//= reserved_cr10 5400 isr=0000.0 iip=+000 | volume 2, table 3-3
	AT0 reserved_cr63, "mov r8 = cr63"
//= reserved_cr63 5400 isr=0000.0 iip=+000 | volume 2, table 3-3
	AT0 reserved_cr75, "mov cr75 = r4"
//= reserved_cr75 5400 isr=0000.0 iip=+000 | volume 2, table 3-3
	AT0 reserved_cr127, "mov r8 = cr127"
//= reserved_cr127 5400 isr=0000.0 iip=+000 | volume 2, table 3-3
	AT0 ic_ipsr, "mov r8 = cr.ipsr"
//= ic_ipsr 5400 isr=0000.0 iip=+000 | volume 3, mov cr: interruption registers with PSR.ic 1
	AT0 ic_isr, "mov cr.isr = r4"
//= ic_isr 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_iip, "mov r8 = cr.iip"
//= ic_iip 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_ifa, "mov cr.ifa = r4"
//= ic_ifa 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_itir, "mov cr.itir = r4"
//= ic_itir 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_iipa, "mov r8 = cr.iipa"
//= ic_iipa 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_ifs, "mov cr.ifs = r4"
//= ic_ifs 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_iim, "mov r8 = cr.iim"
//= ic_iim 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_iha, "mov cr.iha = r4"
//= ic_iha 5400 isr=0000.0 iip=+000 | volume 3, mov cr
	AT0 ic_itr, "itr.d dtr[r4] = r5", ISR | IIP, 1
//= ic_itr 5400 isr=0000.0 iip=+000 | volume 3, itr: PSR.ic has to be 0
	AT0 ic_itc, "itc.i r5;;"
//= ic_itc 5400 isr=0000.0 iip=+000 | volume 3, itc
	AT3 ic_ifa3, "mov cr.ifa = r4"
//= ic_ifa3 5400 isr=0000.0 iip=+000 | volume 3, mov cr: before the level
	AT0 reserved_ar8, "mov.m r8 = ar8"
//= reserved_ar8 5400 isr=0000.0 iip=+000 | volume 1, table 3-3
	AT0 reserved_ar15, "mov.m ar15 = r4"
//= reserved_ar15 5400 isr=0000.0 iip=+000 | volume 1, table 3-3
	AT0 ignored_ar50, "mov.m r8 = ar50", R8
//= ignored_ar50 none r8=0000000000000000 | volume 1, table 3-3: ignored registers read as zero
	AT0 read_only_bsp, "mov ar.bsp = r4"
//= read_only_bsp 5400 isr=0000.0 iip=+000 | volume 3, mov ar
	CASE bspstore_eager
	mov r5 = ar.bspstore
	mov r4 = 3
	;;
	mov ar.rsc = r4
	;;
	AT bspstore_eager
	mov ar.bspstore = r5
	END bspstore_eager, ISR | IIP
//= bspstore_eager 5400 isr=0000.0 iip=+000 | volume 3, mov ar: RSC.mode other than 0
	CASE rnat_eager
	AT rnat_eager
	mov r8 = ar.rnat
	END rnat_eager, ISR | IIP
//= rnat_eager 5400 isr=0000.0 iip=+000 | volume 3, mov ar
	CASE loadrs_eager
	alloc r2 = ar.pfs, 0, 0, 0, 0
	;;
	AT loadrs_eager
	loadrs
	END loadrs_eager, ISR | IIP
	mov ar.rsc = r0
//= loadrs_eager 5400 isr=0000.0 iip=+000 | volume 3, loadrs: RSC.mode other than 0
	CASE loadrs_frame
	mov r4 = 0
	;;
	AT loadrs_frame
	loadrs
	END loadrs_frame, ISR | IIP
//= loadrs_frame none | volume 3, loadrs: a frame is no fault with RSC.loadrs 0
	CASE loadrs_frame_more
	mov r4 = 8
	;;
	shl r4 = r4, 16
	;;
	mov ar.rsc = r4
	;;
	AT loadrs_frame_more
	loadrs
	END loadrs_frame_more, ISR | IIP
	mov ar.rsc = r0
//= loadrs_frame_more 5400 isr=0000.0 iip=+000 | volume 3, loadrs: CFM.sof with RSC.loadrs
	CASE template6
	AT template6
	data8 0x0000000000000006, 0x0000000000000000
	END template6, ISR | IIP
//= template6 5400 isr=0000.0 iip=+000 | volume 3, 4.2: a reserved template
	CASE opcode2
	AT opcode2
	data8 0x0000800000000001 | 2 << 42, 0x0004000000000200	// M 2, nop.i, nop.i with a stop
	END opcode2, ISR | IIP
//= opcode2 5400 isr=0000.0 iip=+000 | volume 3, 4.2: a reserved opcode
	CASE vmsw0
	.explicit
	AT vmsw0
	{ .mib
	nop.m 0
	nop.i 0
	vmsw.0 ;;
	}
	.default
	END vmsw0, ISR | IIP
//= vmsw0 5400 isr=0000.2 iip=+000 | volume 3, vmsw: virtualization is not implemented
	B_UNIT vmsw3, vmsw.1
//= vmsw3 5400 isr=0000.2 iip=+000 | volume 3, vmsw: before the level

// reserved fields
	AT0 rsm_reserved, "rsm 1"
//= rsm_reserved 5400 isr=0030.0 iip=+000 | volume 3, rsm; volume 2, 8.3: code 3
	AT0 rsm_reserved12, "rsm 0x1000"
//= rsm_reserved12 5400 isr=0030.0 iip=+000 | volume 2, 3.3.2
	AT0 ssm_reserved, "ssm 0x40"
//= ssm_reserved 5400 isr=0030.0 iip=+000 | volume 3, ssm
	AT0 ssm_reserved16, "ssm 0x10000"
//= ssm_reserved16 5400 isr=0030.0 iip=+000 | volume 2, 3.3.2
	AT3 ssm_reserved3, "ssm 0x40"
//= ssm_reserved3 5400 isr=0010.0 iip=+000 | volume 2, table 5-6: privileged operation first
	AT0 sum_reserved, "sum 1"
//= sum_reserved 5400 isr=0030.0 iip=+000 | volume 3, sum
	AT3 rum_reserved, "rum 0x40"
//= rum_reserved 5400 isr=0030.0 iip=+000 | volume 3, rum
	AT3 um_reserved, "mov psr.um = r4", ISR | IIP, 0x40
//= um_reserved 5400 isr=0030.0 iip=+000 | volume 3, mov psr
	AT0 psr_reserved0, "mov psr.l = r4", ISR | IIP, KPSR | 1
//= psr_reserved0 5400 isr=0030.0 iip=+000 | volume 3, mov psr
	AT0 psr_reserved28, "mov psr.l = r4", ISR | IIP, KPSR | 0x10000000
//= psr_reserved28 5400 isr=0030.0 iip=+000 | volume 3, mov psr
	AT0 dcr_reserved3, "mov cr.dcr = r4", ISR | IIP, 8
//= dcr_reserved3 5400 isr=0030.0 iip=+000 | volume 2, 3.3.4.1
	AT0 dcr_reserved15, "mov cr.dcr = r4", ISR | IIP, 0x8000
//= dcr_reserved15 5400 isr=0030.0 iip=+000 | volume 2, 3.3.4.1
	AT0 pta_reserved1, "mov cr.pta = r4", ISR | IIP, 15 << 2 | 2
//= pta_reserved1 5400 isr=0030.0 iip=+000 | volume 2, 3.3.4.4
	AT0 pta_reserved9, "mov cr.pta = r4", ISR | IIP, 15 << 2 | 0x200
//= pta_reserved9 5400 isr=0030.0 iip=+000 | volume 2, 3.3.4.4
	AT0 pta_size14, "mov cr.pta = r4", ISR | IIP, 14 << 2
//= pta_size14 5400 isr=0030.0 iip=+000 | volume 2, 3.3.4.4: sizes below 2^15 are reserved
	AT0 tpr_reserved8, "mov cr.tpr = r4", ISR | IIP, 0x100
//= tpr_reserved8 5400 isr=0030.0 iip=+000 | volume 2, 5.8.3.3
	AT0 tpr_ignored, "mov cr.tpr = r4;; mov cr.tpr = r0", ISR, 0xf
//= tpr_ignored none | volume 2, 5.8.3.3: bits 3:0 are ignored
	AT0 itv_masked, "mov cr.itv = r4", ISR | IIP, 0x100ef
//= itv_masked none | volume 2, 5.8.3.5: bit 16 masks
	AT0 itv_reserved9, "mov cr.itv = r4", ISR | IIP, 0x102ef
//= itv_reserved9 5400 isr=0030.0 iip=+000 | volume 2, 5.8.3.5
	AT0 pmv_reserved9, "mov cr.pmv = r4", ISR | IIP, 0x102ef
//= pmv_reserved9 5400 isr=0030.0 iip=+000 | volume 2, 5.8.3.6
	AT0 cmcv_reserved9, "mov cr.cmcv = r4", ISR | IIP, 0x102ef
//= cmcv_reserved9 5400 isr=0030.0 iip=+000 | volume 2, 5.8.3.7
	AT0 lrr_reserved17, "mov cr.lrr0 = r4", ISR | IIP, 0x30000
//= lrr_reserved17 5400 isr=0030.0 iip=+000 | volume 2, 5.8.3.8
//ski lrr_reserved17: it does not look at reserved bits of LRR0
	AT0 rr_page11, "mov rr[r4] = r5", ISR | IIP, IN(3, 0), RRV(3, 11, 0)
//= rr_page11 5400 isr=0030.0 iip=+000 | volume 2, 4.1.2 and 4.1.1.7
	AT0 rr_reserved1, "mov rr[r4] = r5", ISR | IIP, IN(3, 0), RRV(3, 14, 0) | 2
//= rr_reserved1 5400 isr=0030.0 iip=+000 | volume 2, 4.1.2
	AT0 rr_reserved32, "mov rr[r4] = r5", ISR | IIP, IN(3, 0), RRV(3, 14, 0) | 1 << 32
//= rr_reserved32 5400 isr=0030.0 iip=+000 | volume 2, 4.1.2
	AT0 pkr_reserved4, "mov pkr[r4] = r5", ISR | IIP, 2, 0x10
//= pkr_reserved4 5400 isr=0030.0 iip=+000 | volume 2, 4.1.3
	AT0 pkr_number, "mov pkr[r4] = r5", ISR | IIP, 0xff, 0
//= pkr_number 5400 isr=0030.0 iip=+000 | volume 3, mov indirect: a register that is not implemented
	AT0 ibr_number, "mov ibr[r4] = r5", ISR | IIP, 0xff, 0
//= ibr_number 5400 isr=0030.0 iip=+000 | volume 3, mov indirect
	AT0 dbr_number, "mov r8 = dbr[r4]", ISR | IIP, 0xff, 0
//= dbr_number 5400 isr=0030.0 iip=+000 | volume 3, mov indirect
	AT0 cpuid_number, "mov r8 = cpuid[r4]", ISR | IIP, 0xff, 0
//= cpuid_number 5400 isr=0030.0 iip=+000 | volume 3, mov indirect
	CLOSED itr_number, "itr.d dtr[r4] = r5", ISR, 0xff, RWX
//= itr_number 5400 isr=0030+ni.0 | volume 3, itr: a slot that is not implemented
	.macro INSERT name, pte, itir
	CASE \name
	movl r4 = IN(1, 0x8000)
	movl r5 = \itir
	movl r6 = \pte
	CLOSE
	mov cr.ifa = r4
	mov cr.itir = r5
	;;
	AT \name
	itc.d r6
	;;
	END \name, ISR
	UNMAP IN(1, 0x8000), 12
	.endm
	INSERT insert_attribute1, RWX | MA(1), 12 << 2
//= insert_attribute1 5400 isr=0030+ni.0 | volume 2, 4.4: reserved memory attributes
	INSERT insert_attribute2, RWX | MA(2), 12 << 2
//= insert_attribute2 5400 isr=0030+ni.0 | volume 2, 4.4
	INSERT insert_attribute3, RWX | MA(3), 12 << 2
//= insert_attribute3 5400 isr=0030+ni.0 | volume 2, 4.4
	INSERT insert_absent, MA(3) | 2, 12 << 2
//= insert_absent none | volume 2, 4.1.1.5: with p 0 only the page size is checked
	INSERT insert_reserved1, RWX | 2, 12 << 2
//= insert_reserved1 5400 isr=0030+ni.0 | volume 2, 4.1.1.5, table 4-3
	INSERT insert_reserved50, RWX | 1 << 50, 12 << 2
//= insert_reserved50 5400 isr=0030+ni.0 | volume 2, 4.1.1.5, table 4-3
	INSERT insert_reserved51, RWX | 1 << 51, 12 << 2
//= insert_reserved51 5400 isr=0030+ni.0 | volume 2, 4.1.1.5, table 4-3
	INSERT insert_page11, RWX, 11 << 2
//= insert_page11 5400 isr=0030+ni.0 | volume 2, 4.1.1.7
	INSERT insert_absent_page11, 0, 11 << 2
//= insert_absent_page11 5400 isr=0030+ni.0 | volume 2, 4.1.1.5
	AT0 rsc_reserved5, "mov ar.rsc = r4", ISR | IIP, 0x20
//= rsc_reserved5 5400 isr=0030.0 iip=+000 | volume 1, 3.1.8.2
	AT0 rsc_reserved30, "mov ar.rsc = r4", ISR | IIP, 1 << 30
//= rsc_reserved30 5400 isr=0030.0 iip=+000 | volume 1, 3.1.8.2
	AT0 fpsr_reserved58, "mov ar.fpsr = r4", ISR | IIP, 1 << 58
//= fpsr_reserved58 5400 isr=0030.0 iip=+000 | volume 1, 5.2
	CLOSED ifs_reserved38, "mov cr.ifs = r4", ISR, 1 << 38
//= ifs_reserved38 5400 isr=0030+ni.0 | volume 2, 3.3.5.7

// the order with register NaT consumption
	.macro WITH_NAT name, level, instruction, fields=ISR | IIP, b=0
	CASE \name
	NAT r4
	movl r5 = \b
	LEVEL \level
	AT \name
	\instruction
	END \name, \fields
	.endm
	WITH_NAT nat_privileged, 3, "mov cr.dcr = r4"
//= nat_privileged 5400 isr=0010.0 iip=+000 | volume 2, table 5-6: privileged operation before register NaT consumption
	WITH_NAT nat_cr, 0, "mov cr.dcr = r4"
//= nat_cr 5600 isr=0010.0 iip=+000 | volume 3, mov cr; volume 2, 8.3, 0x5600: code 1 in bits 7:4
	WITH_NAT nat_read_only, 0, "mov cr.ivr = r4"
//= nat_read_only 5400 isr=0000.0 iip=+000 | volume 2, table 5-6: illegal operation first
	WITH_NAT nat_kernel_register, 3, "mov ar.k3 = r4"
//= nat_kernel_register 5600 isr=0010.0 iip=+000 | volume 3, mov ar: NaT consumption before the privileged register
	WITH_NAT nat_rr, 0, "mov rr[r5] = r4"
//= nat_rr 5600 isr=0010.0 iip=+000 | volume 3, mov indirect
	WITH_NAT nat_psr, 0, "mov psr.l = r4"
//= nat_psr 5600 isr=0010.0 iip=+000 | volume 3, mov psr
	WITH_NAT nat_um, 3, "mov psr.um = r4"
//= nat_um 5600 isr=0010.0 iip=+000 | volume 3, mov psr
	WITH_NAT nat_tpa, 0, "tpa r8 = r4"
//= nat_tpa 5600 isr=0010+na.0 iip=+000 | volume 3, tpa
	WITH_NAT nat_tak, 0, "tak r8 = r4"
//= nat_tak 5600 isr=0013+na.0 iip=+000 | volume 3, tak
	WITH_NAT nat_flush, 0, "fc r4"
//= nat_flush 5600 isr=0011+r+na.0 iip=+000 | volume 3, fc
	WITH_NAT nat_prefetch, 0, "lfetch [r4]"
//= nat_prefetch none | volume 3, lfetch
	WITH_NAT nat_prefetch_fault, 0, "lfetch.fault [r4]"
//= nat_prefetch_fault 5600 isr=0014+r+na.0 iip=+000 | volume 3, lfetch
	WITH_NAT nat_probe, 0, "probe.w r8 = r4, 0"
//= nat_probe 5600 isr=0012+w+na.0 iip=+000 | volume 3, probe
	WITH_NAT nat_probe_level, 0, "probe.r r8 = r5, r4"
//= nat_probe_level 5600 isr=0012+r+na.0 iip=+000 | volume 3, probe
	WITH_NAT nat_probe_fault, 0, "probe.rw.fault r4, 0"
//= nat_probe_fault 5600 isr=0015+w+r+na.0 iip=+000 | volume 3, probe
	WITH_NAT nat_load, 0, "ld8 r8 = [r4]"
//= nat_load 5600 isr=0010+r.0 iip=+000 | volume 3, ld
	WITH_NAT nat_load_post, 3, "ld8 r8 = [r5], r4"
//= nat_load_post none | volume 3, ld: a NaT increment makes the base a NaT
	WITH_NAT nat_store, 0, "st8 [r4] = r5"
//= nat_store 5600 isr=0010+w.0 iip=+000 | volume 3, st
	WITH_NAT nat_store_value, 0, "st8 [r5] = r4", ISR | IIP, PAGE
//= nat_store_value 5600 isr=0010+w.0 iip=+000 | volume 3, st
	WITH_NAT nat_exchange, 0, "xchg8 r8 = [r4], r5"
//= nat_exchange 5600 isr=0010+w+r.0 iip=+000 | volume 3, xchg
	WITH_NAT nat_exchange_value, 0, "xchg8 r8 = [r5], r4", ISR | IIP, PAGE
//= nat_exchange_value 5600 isr=0010+w+r.0 iip=+000 | volume 3, xchg
	WITH_NAT nat_fetchadd, 0, "fetchadd8.acq r8 = [r4], 1"
//= nat_fetchadd 5600 isr=0010+w+r.0 iip=+000 | volume 3, fetchadd
	WITH_NAT nat_speculative, 0, "ld8.s r8 = [r4];; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", R8
//= nat_speculative none r8=0000000000000001 | volume 2, 5.5.5: NaT addresses are deferred always
	WITH_NAT nat_thash, 0, "thash r8 = r4;; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", R8
//= nat_thash none r8=0000000000000001 | volume 3, thash: a NaT gives a NaT
	WITH_NAT nat_ttag, 3, "ttag r8 = r4;; tnat.nz p6, p7 = r8;; (p6) mov r8 = 1", R8
//= nat_ttag none r8=0000000000000001 | volume 3, ttag
	WITH_NAT nat_ptc, 0, "ptc.l r4, r5"
//= nat_ptc 5600 isr=0010.0 iip=+000 | volume 3, ptc.l
	WITH_NAT nat_rsc, 3, "mov ar.rsc = r4"
//= nat_rsc 5600 isr=0010.0 iip=+000 | volume 3, mov ar
	FINISH
