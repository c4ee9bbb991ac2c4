// All registers that are reserved, read-only or ignored, and the levels of probe. Each access has a bundle of its own; a
// hook counts the interruptions, keeps what their ISRs have in common and not, and goes on with the next bundle.
// Volume 1, table 3-3 (application registers); volume 2, table 3-3 (control registers); volume 3, mov ar, mov cr, probe.
#include "system.h"
	.set S_OR, STATE + 0x80
	.macro MANY name
	CASE \name
	STORE S_OR, 0
	HOOK skip
	movl r4 = 0
	.explicit
	AT \name
	.endm
	.macro MANY_END name
	.default
	movl r4 = S_OR
	;;
	ld8 r8 = [r4]
	END \name, COUNT | R8
	.endm
	.macro ONE_M instruction
	{ .mii
	\instruction
	nop.i 0
	nop.i 0 ;;
	}
	.endm
	.macro ONE_I instruction
	{ .mii
	nop.m 0
	\instruction
	nop.i 0 ;;
	}
	.endm
	br.cond.sptk.many begin_cases
	;;
skip:						// bank 0: the ISRs or-ed (their slot aside), IIP to the next bundle
	movl r16 = S_OR
	movl r21 = STATE + S_HOOK
	movl r22 = skip
	mov r17 = cr.isr
	mov r18 = cr.iip
	mov r19 = cr.ipsr
	;;
	ld8 r20 = [r16]
	dep r17 = 0, r17, 41, 2
	st8 [r21] = r22
	adds r18 = 16, r18
	dep r19 = 0, r19, 41, 2
	;;
	or r20 = r20, r17
	mov cr.iip = r18
	mov cr.ipsr = r19
	;;
	st8 [r16] = r20
	RETRY
begin_cases:
	MANY reserved_cr_read
	ONE_M "mov r8 = cr3"
	ONE_M "mov r8 = cr4"
	ONE_M "mov r8 = cr5"
	ONE_M "mov r8 = cr6"
	ONE_M "mov r8 = cr7"
	ONE_M "mov r8 = cr10"
	ONE_M "mov r8 = cr11"
	ONE_M "mov r8 = cr12"
	ONE_M "mov r8 = cr13"
	ONE_M "mov r8 = cr14"
	ONE_M "mov r8 = cr15"
	ONE_M "mov r8 = cr18"
	ONE_M "mov r8 = cr28"
	ONE_M "mov r8 = cr29"
	ONE_M "mov r8 = cr30"
	ONE_M "mov r8 = cr31"
	ONE_M "mov r8 = cr32"
	ONE_M "mov r8 = cr33"
	ONE_M "mov r8 = cr34"
	ONE_M "mov r8 = cr35"
	ONE_M "mov r8 = cr36"
	ONE_M "mov r8 = cr37"
	ONE_M "mov r8 = cr38"
	ONE_M "mov r8 = cr39"
	ONE_M "mov r8 = cr40"
	ONE_M "mov r8 = cr41"
	ONE_M "mov r8 = cr42"
	ONE_M "mov r8 = cr43"
	ONE_M "mov r8 = cr44"
	ONE_M "mov r8 = cr45"
	ONE_M "mov r8 = cr46"
	ONE_M "mov r8 = cr47"
	ONE_M "mov r8 = cr48"
	ONE_M "mov r8 = cr49"
	ONE_M "mov r8 = cr50"
	ONE_M "mov r8 = cr51"
	ONE_M "mov r8 = cr52"
	ONE_M "mov r8 = cr53"
	ONE_M "mov r8 = cr54"
	ONE_M "mov r8 = cr55"
	ONE_M "mov r8 = cr56"
	ONE_M "mov r8 = cr57"
	ONE_M "mov r8 = cr58"
	ONE_M "mov r8 = cr59"
	ONE_M "mov r8 = cr60"
	ONE_M "mov r8 = cr61"
	ONE_M "mov r8 = cr62"
	ONE_M "mov r8 = cr63"
	ONE_M "mov r8 = cr75"
	ONE_M "mov r8 = cr76"
	ONE_M "mov r8 = cr77"
	ONE_M "mov r8 = cr78"
	ONE_M "mov r8 = cr79"
	ONE_M "mov r8 = cr82"
	ONE_M "mov r8 = cr83"
	ONE_M "mov r8 = cr84"
	ONE_M "mov r8 = cr85"
	ONE_M "mov r8 = cr86"
	ONE_M "mov r8 = cr87"
	ONE_M "mov r8 = cr88"
	ONE_M "mov r8 = cr89"
	ONE_M "mov r8 = cr90"
	ONE_M "mov r8 = cr91"
	ONE_M "mov r8 = cr92"
	ONE_M "mov r8 = cr93"
	ONE_M "mov r8 = cr94"
	ONE_M "mov r8 = cr95"
	ONE_M "mov r8 = cr96"
	ONE_M "mov r8 = cr97"
	ONE_M "mov r8 = cr98"
	ONE_M "mov r8 = cr99"
	ONE_M "mov r8 = cr100"
	ONE_M "mov r8 = cr101"
	ONE_M "mov r8 = cr102"
	ONE_M "mov r8 = cr103"
	ONE_M "mov r8 = cr104"
	ONE_M "mov r8 = cr105"
	ONE_M "mov r8 = cr106"
	ONE_M "mov r8 = cr107"
	ONE_M "mov r8 = cr108"
	ONE_M "mov r8 = cr109"
	ONE_M "mov r8 = cr110"
	ONE_M "mov r8 = cr111"
	ONE_M "mov r8 = cr112"
	ONE_M "mov r8 = cr113"
	ONE_M "mov r8 = cr114"
	ONE_M "mov r8 = cr115"
	ONE_M "mov r8 = cr116"
	ONE_M "mov r8 = cr117"
	ONE_M "mov r8 = cr118"
	ONE_M "mov r8 = cr119"
	ONE_M "mov r8 = cr120"
	ONE_M "mov r8 = cr121"
	ONE_M "mov r8 = cr122"
	ONE_M "mov r8 = cr123"
	ONE_M "mov r8 = cr124"
	ONE_M "mov r8 = cr125"
	ONE_M "mov r8 = cr126"
	ONE_M "mov r8 = cr127"
	MANY_END reserved_cr_read
//= reserved_cr_read 5400 count=0000000000000063 r8=0000000000000000 | volume 2, table 3-3: illegal operations, 3 to 7, 10 to 15, 18, 28 to 63, 75 to 79, 82 to 127
	MANY reserved_cr_write
	ONE_M "mov cr3 = r4"
	ONE_M "mov cr4 = r4"
	ONE_M "mov cr5 = r4"
	ONE_M "mov cr6 = r4"
	ONE_M "mov cr7 = r4"
	ONE_M "mov cr10 = r4"
	ONE_M "mov cr11 = r4"
	ONE_M "mov cr12 = r4"
	ONE_M "mov cr13 = r4"
	ONE_M "mov cr14 = r4"
	ONE_M "mov cr15 = r4"
	ONE_M "mov cr18 = r4"
	ONE_M "mov cr28 = r4"
	ONE_M "mov cr29 = r4"
	ONE_M "mov cr30 = r4"
	ONE_M "mov cr31 = r4"
	ONE_M "mov cr32 = r4"
	ONE_M "mov cr33 = r4"
	ONE_M "mov cr34 = r4"
	ONE_M "mov cr35 = r4"
	ONE_M "mov cr36 = r4"
	ONE_M "mov cr37 = r4"
	ONE_M "mov cr38 = r4"
	ONE_M "mov cr39 = r4"
	ONE_M "mov cr40 = r4"
	ONE_M "mov cr41 = r4"
	ONE_M "mov cr42 = r4"
	ONE_M "mov cr43 = r4"
	ONE_M "mov cr44 = r4"
	ONE_M "mov cr45 = r4"
	ONE_M "mov cr46 = r4"
	ONE_M "mov cr47 = r4"
	ONE_M "mov cr48 = r4"
	ONE_M "mov cr49 = r4"
	ONE_M "mov cr50 = r4"
	ONE_M "mov cr51 = r4"
	ONE_M "mov cr52 = r4"
	ONE_M "mov cr53 = r4"
	ONE_M "mov cr54 = r4"
	ONE_M "mov cr55 = r4"
	ONE_M "mov cr56 = r4"
	ONE_M "mov cr57 = r4"
	ONE_M "mov cr58 = r4"
	ONE_M "mov cr59 = r4"
	ONE_M "mov cr60 = r4"
	ONE_M "mov cr61 = r4"
	ONE_M "mov cr62 = r4"
	ONE_M "mov cr63 = r4"
	ONE_M "mov cr75 = r4"
	ONE_M "mov cr76 = r4"
	ONE_M "mov cr77 = r4"
	ONE_M "mov cr78 = r4"
	ONE_M "mov cr79 = r4"
	ONE_M "mov cr82 = r4"
	ONE_M "mov cr83 = r4"
	ONE_M "mov cr84 = r4"
	ONE_M "mov cr85 = r4"
	ONE_M "mov cr86 = r4"
	ONE_M "mov cr87 = r4"
	ONE_M "mov cr88 = r4"
	ONE_M "mov cr89 = r4"
	ONE_M "mov cr90 = r4"
	ONE_M "mov cr91 = r4"
	ONE_M "mov cr92 = r4"
	ONE_M "mov cr93 = r4"
	ONE_M "mov cr94 = r4"
	ONE_M "mov cr95 = r4"
	ONE_M "mov cr96 = r4"
	ONE_M "mov cr97 = r4"
	ONE_M "mov cr98 = r4"
	ONE_M "mov cr99 = r4"
	ONE_M "mov cr100 = r4"
	ONE_M "mov cr101 = r4"
	ONE_M "mov cr102 = r4"
	ONE_M "mov cr103 = r4"
	ONE_M "mov cr104 = r4"
	ONE_M "mov cr105 = r4"
	ONE_M "mov cr106 = r4"
	ONE_M "mov cr107 = r4"
	ONE_M "mov cr108 = r4"
	ONE_M "mov cr109 = r4"
	ONE_M "mov cr110 = r4"
	ONE_M "mov cr111 = r4"
	ONE_M "mov cr112 = r4"
	ONE_M "mov cr113 = r4"
	ONE_M "mov cr114 = r4"
	ONE_M "mov cr115 = r4"
	ONE_M "mov cr116 = r4"
	ONE_M "mov cr117 = r4"
	ONE_M "mov cr118 = r4"
	ONE_M "mov cr119 = r4"
	ONE_M "mov cr120 = r4"
	ONE_M "mov cr121 = r4"
	ONE_M "mov cr122 = r4"
	ONE_M "mov cr123 = r4"
	ONE_M "mov cr124 = r4"
	ONE_M "mov cr125 = r4"
	ONE_M "mov cr126 = r4"
	ONE_M "mov cr127 = r4"
	MANY_END reserved_cr_write
//= reserved_cr_write 5400 count=0000000000000063 r8=0000000000000000 | volume 2, table 3-3
	MANY reserved_ar_read
	ONE_M "mov.m r8 = ar8"
	ONE_M "mov.m r8 = ar9"
	ONE_M "mov.m r8 = ar10"
	ONE_M "mov.m r8 = ar11"
	ONE_M "mov.m r8 = ar12"
	ONE_M "mov.m r8 = ar13"
	ONE_M "mov.m r8 = ar14"
	ONE_M "mov.m r8 = ar15"
	ONE_M "mov.m r8 = ar20"
	ONE_M "mov.m r8 = ar22"
	ONE_M "mov.m r8 = ar23"
	ONE_M "mov.m r8 = ar31"
	ONE_M "mov.m r8 = ar33"
	ONE_M "mov.m r8 = ar34"
	ONE_M "mov.m r8 = ar35"
	ONE_M "mov.m r8 = ar37"
	ONE_M "mov.m r8 = ar38"
	ONE_M "mov.m r8 = ar39"
	ONE_M "mov.m r8 = ar41"
	ONE_M "mov.m r8 = ar42"
	ONE_M "mov.m r8 = ar43"
	ONE_M "mov.m r8 = ar46"
	ONE_M "mov.m r8 = ar47"
	MANY_END reserved_ar_read
//= reserved_ar_read 5400 count=0000000000000017 r8=0000000000000000 | volume 1, table 3-3: 8 to 15, 20, 22, 23, 31, 33 to 35, 37 to 39, 41 to 43, 46, 47
	MANY reserved_ar_write
	ONE_M "mov.m ar8 = r4"
	ONE_M "mov.m ar9 = r4"
	ONE_M "mov.m ar10 = r4"
	ONE_M "mov.m ar11 = r4"
	ONE_M "mov.m ar12 = r4"
	ONE_M "mov.m ar13 = r4"
	ONE_M "mov.m ar14 = r4"
	ONE_M "mov.m ar15 = r4"
	ONE_M "mov.m ar20 = r4"
	ONE_M "mov.m ar22 = r4"
	ONE_M "mov.m ar23 = r4"
	ONE_M "mov.m ar31 = r4"
	ONE_M "mov.m ar33 = r4"
	ONE_M "mov.m ar34 = r4"
	ONE_M "mov.m ar35 = r4"
	ONE_M "mov.m ar37 = r4"
	ONE_M "mov.m ar38 = r4"
	ONE_M "mov.m ar39 = r4"
	ONE_M "mov.m ar41 = r4"
	ONE_M "mov.m ar42 = r4"
	ONE_M "mov.m ar43 = r4"
	ONE_M "mov.m ar46 = r4"
	ONE_M "mov.m ar47 = r4"
	MANY_END reserved_ar_write
//= reserved_ar_write 5400 count=0000000000000017 r8=0000000000000000 | volume 1, table 3-3
	MANY reserved_ar_read_i
	ONE_I "mov.i r8 = ar67"
	ONE_I "mov.i r8 = ar68"
	ONE_I "mov.i r8 = ar69"
	ONE_I "mov.i r8 = ar70"
	ONE_I "mov.i r8 = ar71"
	ONE_I "mov.i r8 = ar72"
	ONE_I "mov.i r8 = ar73"
	ONE_I "mov.i r8 = ar74"
	ONE_I "mov.i r8 = ar75"
	ONE_I "mov.i r8 = ar76"
	ONE_I "mov.i r8 = ar77"
	ONE_I "mov.i r8 = ar78"
	ONE_I "mov.i r8 = ar79"
	ONE_I "mov.i r8 = ar80"
	ONE_I "mov.i r8 = ar81"
	ONE_I "mov.i r8 = ar82"
	ONE_I "mov.i r8 = ar83"
	ONE_I "mov.i r8 = ar84"
	ONE_I "mov.i r8 = ar85"
	ONE_I "mov.i r8 = ar86"
	ONE_I "mov.i r8 = ar87"
	ONE_I "mov.i r8 = ar88"
	ONE_I "mov.i r8 = ar89"
	ONE_I "mov.i r8 = ar90"
	ONE_I "mov.i r8 = ar91"
	ONE_I "mov.i r8 = ar92"
	ONE_I "mov.i r8 = ar93"
	ONE_I "mov.i r8 = ar94"
	ONE_I "mov.i r8 = ar95"
	ONE_I "mov.i r8 = ar96"
	ONE_I "mov.i r8 = ar97"
	ONE_I "mov.i r8 = ar98"
	ONE_I "mov.i r8 = ar99"
	ONE_I "mov.i r8 = ar100"
	ONE_I "mov.i r8 = ar101"
	ONE_I "mov.i r8 = ar102"
	ONE_I "mov.i r8 = ar103"
	ONE_I "mov.i r8 = ar104"
	ONE_I "mov.i r8 = ar105"
	ONE_I "mov.i r8 = ar106"
	ONE_I "mov.i r8 = ar107"
	ONE_I "mov.i r8 = ar108"
	ONE_I "mov.i r8 = ar109"
	ONE_I "mov.i r8 = ar110"
	ONE_I "mov.i r8 = ar111"
	MANY_END reserved_ar_read_i
//= reserved_ar_read_i 5400 count=000000000000002d r8=0000000000000000 | volume 1, table 3-3: 67 to 111
	MANY reserved_ar_write_i
	ONE_I "mov.i ar67 = r4"
	ONE_I "mov.i ar68 = r4"
	ONE_I "mov.i ar69 = r4"
	ONE_I "mov.i ar70 = r4"
	ONE_I "mov.i ar71 = r4"
	ONE_I "mov.i ar72 = r4"
	ONE_I "mov.i ar73 = r4"
	ONE_I "mov.i ar74 = r4"
	ONE_I "mov.i ar75 = r4"
	ONE_I "mov.i ar76 = r4"
	ONE_I "mov.i ar77 = r4"
	ONE_I "mov.i ar78 = r4"
	ONE_I "mov.i ar79 = r4"
	ONE_I "mov.i ar80 = r4"
	ONE_I "mov.i ar81 = r4"
	ONE_I "mov.i ar82 = r4"
	ONE_I "mov.i ar83 = r4"
	ONE_I "mov.i ar84 = r4"
	ONE_I "mov.i ar85 = r4"
	ONE_I "mov.i ar86 = r4"
	ONE_I "mov.i ar87 = r4"
	ONE_I "mov.i ar88 = r4"
	ONE_I "mov.i ar89 = r4"
	ONE_I "mov.i ar90 = r4"
	ONE_I "mov.i ar91 = r4"
	ONE_I "mov.i ar92 = r4"
	ONE_I "mov.i ar93 = r4"
	ONE_I "mov.i ar94 = r4"
	ONE_I "mov.i ar95 = r4"
	ONE_I "mov.i ar96 = r4"
	ONE_I "mov.i ar97 = r4"
	ONE_I "mov.i ar98 = r4"
	ONE_I "mov.i ar99 = r4"
	ONE_I "mov.i ar100 = r4"
	ONE_I "mov.i ar101 = r4"
	ONE_I "mov.i ar102 = r4"
	ONE_I "mov.i ar103 = r4"
	ONE_I "mov.i ar104 = r4"
	ONE_I "mov.i ar105 = r4"
	ONE_I "mov.i ar106 = r4"
	ONE_I "mov.i ar107 = r4"
	ONE_I "mov.i ar108 = r4"
	ONE_I "mov.i ar109 = r4"
	ONE_I "mov.i ar110 = r4"
	ONE_I "mov.i ar111 = r4"
	MANY_END reserved_ar_write_i
//= reserved_ar_write_i 5400 count=000000000000002d r8=0000000000000000 | volume 1, table 3-3
	MANY ignored_ar
	ONE_M "mov.m ar48 = r4"
	ONE_M "mov.m ar49 = r4"
	ONE_M "mov.m ar50 = r4"
	ONE_M "mov.m ar51 = r4"
	ONE_M "mov.m ar52 = r4"
	ONE_M "mov.m ar53 = r4"
	ONE_M "mov.m ar54 = r4"
	ONE_M "mov.m ar55 = r4"
	ONE_M "mov.m ar56 = r4"
	ONE_M "mov.m ar57 = r4"
	ONE_M "mov.m ar58 = r4"
	ONE_M "mov.m ar59 = r4"
	ONE_M "mov.m ar60 = r4"
	ONE_M "mov.m ar61 = r4"
	ONE_M "mov.m ar62 = r4"
	ONE_M "mov.m ar63 = r4"
	MANY_END ignored_ar
//= ignored_ar none count=0000000000000000 r8=0000000000000000 | volume 1, table 3-3: 48 to 63 are ignored
	MANY ignored_ar_i
	ONE_I "mov.i ar112 = r4"
	ONE_I "mov.i ar113 = r4"
	ONE_I "mov.i ar114 = r4"
	ONE_I "mov.i ar115 = r4"
	ONE_I "mov.i ar116 = r4"
	ONE_I "mov.i ar117 = r4"
	ONE_I "mov.i ar118 = r4"
	ONE_I "mov.i ar119 = r4"
	ONE_I "mov.i ar120 = r4"
	ONE_I "mov.i ar121 = r4"
	ONE_I "mov.i ar122 = r4"
	ONE_I "mov.i ar123 = r4"
	ONE_I "mov.i ar124 = r4"
	ONE_I "mov.i ar125 = r4"
	ONE_I "mov.i ar126 = r4"
	ONE_I "mov.i ar127 = r4"
	MANY_END ignored_ar_i
//= ignored_ar_i none count=0000000000000000 r8=0000000000000000 | volume 1, table 3-3: 112 to 127 are ignored
	MANY interruption_cr_read
	ONE_M "mov r8 = cr16"
	ONE_M "mov r8 = cr17"
	ONE_M "mov r8 = cr19"
	ONE_M "mov r8 = cr20"
	ONE_M "mov r8 = cr21"
	ONE_M "mov r8 = cr22"
	ONE_M "mov r8 = cr23"
	ONE_M "mov r8 = cr24"
	ONE_M "mov r8 = cr25"
	MANY_END interruption_cr_read
//= interruption_cr_read 5400 count=0000000000000009 r8=0000000000000000 | volume 3, mov cr: PSR.ic is 1
	MANY interruption_cr_write
	ONE_M "mov cr16 = r4"
	ONE_M "mov cr17 = r4"
	ONE_M "mov cr19 = r4"
	ONE_M "mov cr20 = r4"
	ONE_M "mov cr21 = r4"
	ONE_M "mov cr22 = r4"
	ONE_M "mov cr23 = r4"
	ONE_M "mov cr24 = r4"
	ONE_M "mov cr25 = r4"
	MANY_END interruption_cr_write
//= interruption_cr_write 5400 count=0000000000000009 r8=0000000000000000 | volume 3, mov cr
	MANY other_cr_read
	ONE_M "mov r8 = cr0"
	ONE_M "mov r8 = cr1"
	ONE_M "mov r8 = cr2"
	ONE_M "mov r8 = cr8"
	ONE_M "mov r8 = cr64"
	ONE_M "mov r8 = cr66"
	ONE_M "mov r8 = cr67"
	ONE_M "mov r8 = cr68"
	ONE_M "mov r8 = cr69"
	ONE_M "mov r8 = cr70"
	ONE_M "mov r8 = cr71"
	ONE_M "mov r8 = cr72"
	ONE_M "mov r8 = cr73"
	ONE_M "mov r8 = cr74"
	ONE_M "mov r8 = cr80"
	ONE_M "mov r8 = cr81"
	MANY_END other_cr_read
//= other_cr_read none count=0000000000000000 r8=0000000000000000 | volume 2, table 3-3: readable at any time (IVR has its own cases)

// probe: the less privileged of PSR.cpl and the operand
	.macro PROBED name, level, operand, pl
	CASE \name
	MAP d, IN(1, 0x8000), P | A | D | AR(2) | PL(\pl) | PAGE, 12
	movl r4 = IN(1, 0x8000)
	mov r5 = \operand
	LEVEL \level
	probe.w r8 = r4, r5
	AT \name
	END \name, R8
	UNMAP IN(1, 0x8000), 12
	.endm
	PROBED probe_level0_operand0_page1, 0, 0, 1
//= probe_level0_operand0_page1 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level0_operand0_page2, 0, 0, 2
//= probe_level0_operand0_page2 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level0_operand1_page1, 0, 1, 1
//= probe_level0_operand1_page1 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level0_operand2_page2, 0, 2, 2
//= probe_level0_operand2_page2 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level0_operand3_page1, 0, 3, 1
//= probe_level0_operand3_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level1_operand0_page1, 1, 0, 1
//= probe_level1_operand0_page1 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level1_operand1_page1, 1, 1, 1
//= probe_level1_operand1_page1 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level1_operand1_page2, 1, 1, 2
//= probe_level1_operand1_page2 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level1_operand2_page1, 1, 2, 1
//= probe_level1_operand2_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level1_operand3_page2, 1, 3, 2
//= probe_level1_operand3_page2 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level2_operand0_page2, 2, 0, 2
//= probe_level2_operand0_page2 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level2_operand1_page1, 2, 1, 1
//= probe_level2_operand1_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level2_operand2_page1, 2, 2, 1
//= probe_level2_operand2_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level2_operand2_page2, 2, 2, 2
//= probe_level2_operand2_page2 none r8=0000000000000001 | volume 3, probe
	PROBED probe_level2_operand3_page1, 2, 3, 1
//= probe_level2_operand3_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level3_operand0_page1, 3, 0, 1
//= probe_level3_operand0_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level3_operand1_page2, 3, 1, 2
//= probe_level3_operand1_page2 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level3_operand2_page1, 3, 2, 1
//= probe_level3_operand2_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level3_operand3_page1, 3, 3, 1
//= probe_level3_operand3_page1 none r8=0000000000000000 | volume 3, probe
	PROBED probe_level3_operand3_page2, 3, 3, 2
//= probe_level3_operand3_page2 none r8=0000000000000000 | volume 3, probe
	CASE probe_operand_bits
	MAP d, IN(1, 0x8000), P | A | D | AR(2) | PL(1) | PAGE, 12
	movl r4 = IN(1, 0x8000)
	movl r5 = 0xfffffffffffffffc
	;;
	probe.w r8 = r4, r5
	AT probe_operand_bits
	END probe_operand_bits, R8
	UNMAP IN(1, 0x8000), 12
//= probe_operand_bits none r8=0000000000000001 | volume 3, probe: bits 1:0 of the register

// external interrupt registers
	.macro KEPT name, register, value
	CASE \name
	movl r4 = \value
	mov r5 = cr.\register
	;;
	mov cr.\register = r4
	;;
	srlz.d
	;;
	mov r8 = cr.\register
	;;
	mov cr.\register = r5
	AT \name
	END \name, R8
	.endm
	KEPT kept_lid, lid, 0x12340000
//= kept_lid none r8=0000000012340000 | volume 2, 5.8.3.1
	KEPT kept_lrr0, lrr0, 0x10000
//= kept_lrr0 none r8=0000000000010000 | volume 2, 5.8.3.8
	KEPT kept_lrr1, lrr1, 0x1a0ee
//= kept_lrr1 none r8=000000000001a0ee | volume 2, 5.8.3.8: vector, ipp, tm, m
	KEPT kept_itv, itv, 0x100ef
//= kept_itv none r8=00000000000100ef | volume 2, 5.8.3.5

// 16-byte references
	.macro WIDE name, instruction, address, ma=0, psr=KPSR
	CASE \name
	MAP d, IN(1, 0x8000), RWX | MA(\ma) | PAGE, 12
	movl r4 = IN(1, 0x8000) + \address
	ENTER \psr
	AT \name
	\instruction
	END \name, ISR | IFA
	UNMAP IN(1, 0x8000), 12
	.endm
	WIDE wide_load, "ld16 r8, ar.csd = [r4]", 0x10
//= wide_load none | volume 3, ld
	WIDE wide_load_unaligned, "ld16 r8, ar.csd = [r4]", 8, 0, KPSR | PSR_AC
//= wide_load_unaligned 5a00 isr=0000+r.0 ifa=2000000000008008 | volume 2, 8.3, 0x5a00: 16-byte alignment
	WIDE wide_load_uncacheable, "ld16 r8, ar.csd = [r4]", 0x10, 4
//= wide_load_uncacheable 5b00 isr=0000+r.0 ifa=2000000000008010 | volume 3, ld: only cacheable pages with write-back
//ski wide_load_uncacheable: it does not look at the attribute but for semaphores
	WIDE wide_store_uncacheable, "st16 [r4] = r0, ar.csd", 0x10, 4
//= wide_store_uncacheable 5b00 isr=0000+w.0 ifa=2000000000008010 | volume 3, st
//ski wide_store_uncacheable: it does not look at the attribute but for semaphores
	WIDE wide_exchange_uncacheable, "cmp8xchg16.acq r8 = [r4], r0, ar.csd, ar.ccv", 0x10, 4
//= wide_exchange_uncacheable 5b00 isr=0000+w+r.0 ifa=2000000000008010 | volume 2, 4.4.9
	FINISH
