// Page sizes, insertion and purges. Volume 2, 4.1.1 (TC, TR, table 4-1), 4.1.1.7; volume 3, itc, itr, ptc, ptr, tak, tpa.
#include "system.h"

// The page behind the first three of its size goes to the second of its size: its last 8 bytes, and the page behind it
	.macro SIZED ps
	CASE size\ps
	MAP d, IN(3, 3 << \ps) + 0x123, RWX | 1 << \ps, \ps
	movl r4 = IN(3, 4 << \ps) - 8
	;;
	tpa r8 = r4
	AT size\ps
	END size\ps, R8
	CASE size\ps\()_behind
	movl r4 = IN(3, 4 << \ps)
	AT size\ps\()_behind
	tpa r8 = r4
	END size\ps\()_behind, IFA
	CASE size\ps\()_before
	movl r4 = IN(3, 3 << \ps) - 1
	AT size\ps\()_before
	tpa r8 = r4
	END size\ps\()_before, IFA
	UNMAP IN(3, 3 << \ps), \ps
	.endm
	SIZED 12
//= size12 none r8=0000000000001ff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size12_behind 1000 ifa=6000000000004000 | volume 2, 4.1.1.7
//= size12_before 1000 ifa=6000000000002fff | volume 2, 4.1.1.7
	SIZED 13
//= size13 none r8=0000000000003ff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size13_behind 1000 ifa=6000000000008000 | volume 2, 4.1.1.7
//= size13_before 1000 ifa=6000000000005fff | volume 2, 4.1.1.7
	SIZED 14
//= size14 none r8=0000000000007ff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size14_behind 1000 ifa=6000000000010000 | volume 2, 4.1.1.7
//= size14_before 1000 ifa=600000000000bfff | volume 2, 4.1.1.7
	SIZED 16
//= size16 none r8=000000000001fff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size16_behind 1000 ifa=6000000000040000 | volume 2, 4.1.1.7
//= size16_before 1000 ifa=600000000002ffff | volume 2, 4.1.1.7
	SIZED 18
//= size18 none r8=000000000007fff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size18_behind 1000 ifa=6000000000100000 | volume 2, 4.1.1.7
//= size18_before 1000 ifa=60000000000bffff | volume 2, 4.1.1.7
	SIZED 20
//= size20 none r8=00000000001ffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size20_behind 1000 ifa=6000000000400000 | volume 2, 4.1.1.7
//= size20_before 1000 ifa=60000000002fffff | volume 2, 4.1.1.7
	SIZED 22
//= size22 none r8=00000000007ffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size22_behind 1000 ifa=6000000001000000 | volume 2, 4.1.1.7
//= size22_before 1000 ifa=6000000000bfffff | volume 2, 4.1.1.7
	SIZED 24
//= size24 none r8=0000000001fffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size24_behind 1000 ifa=6000000004000000 | volume 2, 4.1.1.7
//= size24_before 1000 ifa=6000000002ffffff | volume 2, 4.1.1.7
	SIZED 26
//= size26 none r8=0000000007fffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size26_behind 1000 ifa=6000000010000000 | volume 2, 4.1.1.7
//= size26_before 1000 ifa=600000000bffffff | volume 2, 4.1.1.7
	SIZED 28
//= size28 none r8=000000001ffffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size28_behind 1000 ifa=6000000040000000 | volume 2, 4.1.1.7
//= size28_before 1000 ifa=600000002fffffff | volume 2, 4.1.1.7
	SIZED 32
//= size32 none r8=00000001fffffff8 | volume 2, 4.1.1.7; bits of IFA below the size are ignored
//= size32_behind 1000 ifa=6000000400000000 | volume 2, 4.1.1.7
//= size32_before 1000 ifa=60000002ffffffff | volume 2, 4.1.1.7
	CASE low_bits
	MAP d, IN(3, 0x30000), RWX | 0x43f000, 16
	movl r4 = IN(3, 0x31008)
	;;
	tpa r8 = r4
	AT low_bits
	END low_bits, R8
	UNMAP IN(3, 0x30000), 16
//= low_bits none r8=0000000000431008 | volume 2, 4.1.1.5: bits of the page number below the size are ignored

// translation registers
	.macro INSERT_TR kind, slot, va, pte, ps, key=0
	CLOSE
	movl r26 = \va
	movl r27 = (\key) << 8 | (\ps) << 2
	;;
	mov cr.ifa = r26
	mov cr.itir = r27
	movl r26 = \pte
	mov r27 = \slot
	;;
	itr.\kind \kind\()tr[r27] = r26
	;;
	OPEN
	.endm
	.macro PURGE_TR kind, va, ps
	movl r26 = \va
	mov r27 = (\ps) << 2
	;;
	ptr.\kind r26, r27
	;;
	srlz.i
	;;
	srlz.d
	;;
	.endm
	.macro TPA_HIT name, va
	CASE \name
	movl r4 = \va
	AT \name
	tpa r8 = r4
	END \name, R8
	.endm
	.macro TPA_MISS name, va
	CASE \name
	movl r4 = \va
	AT \name
	tpa r8 = r4
	END \name, IFA
	.endm
	INSERT_TR d, 1, IN(3, 0x4000), RWX | 0x404000, 14
	TPA_HIT register1, IN(3, 0x4100)
//= register1 none r8=0000000000404100 | volume 3, itr
	INSERT_TR d, 7, IN(3, 0x8000), RWX | 0x408000, 14, 0x77
	TPA_HIT register7, IN(3, 0x8100)
//= register7 none r8=0000000000408100 | volume 3, itr
	TPA_HIT register_other, IN(3, 0x4100)
//= register_other none r8=0000000000404100 | volume 3, itr
	CASE register_key
	movl r4 = IN(3, 0x8100)
	;;
	tak r8 = r4
	AT register_key
	END register_key, R8
//= register_key none r8=0000000000007700 | volume 3, tak
	CASE registers_and_ptce
	mov r4 = r0
	;;
	ptc.e r4
	;;
	srlz.i
	;;
	movl r4 = IN(3, 0x4100)
	AT registers_and_ptce
	tpa r8 = r4
	END registers_and_ptce, R8
//= registers_and_ptce none r8=0000000000404100 | volume 3, ptc.e: translation registers stay
	INSERT_TR d, 1, IN(3, 0x10000), RWX | 0x410000, 14
	TPA_HIT register_again, IN(3, 0x10100)
//= register_again none r8=0000000000410100 | volume 3, itr: another translation in the same register
	TPA_MISS register_before, IN(3, 0x4100)
//= register_before 1000 ifa=6000000000004100 | volume 3, itr: the one before is gone
	PURGE_TR i, IN(3, 0x8000), 14
	TPA_HIT purge_other_kind, IN(3, 0x8100)
//= purge_other_kind none r8=0000000000408100 | volume 3, ptr: ptr.i purges no data translation
	PURGE_TR d, IN(3, 0x8000), 14
	TPA_MISS purge_register, IN(3, 0x8100)
//= purge_register 1000 ifa=6000000000008100 | volume 3, ptr
	TPA_HIT purge_register_other, IN(3, 0x10100)
//= purge_register_other none r8=0000000000410100 | volume 3, ptr: only what overlaps
	PURGE_TR d, IN(4, 0x10000), 16
	TPA_HIT purge_other_region, IN(3, 0x10100)
//= purge_other_region none r8=0000000000410100 | volume 3, ptr: the region's identifier counts
	PURGE_TR d, IN(3, 0), 20
	TPA_MISS purge_larger, IN(3, 0x10100)
//= purge_larger 1000 ifa=6000000000010100 | volume 3, ptr: whatever overlaps the range

// the translation cache
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	MAP d, IN(3, 0x8000), RWX | 0x408000, 14
	UNMAP IN(3, 0x4000), 14
	TPA_MISS cache_purged, IN(3, 0x4100)
//= cache_purged 1000 ifa=6000000000004100 | volume 3, ptc.l
	TPA_HIT cache_neighbour, IN(3, 0x8100)
//= cache_neighbour none r8=0000000000408100 | volume 3, ptc.l
	UNMAP IN(3, 0x8000), 12
	TPA_MISS cache_purged_part, IN(3, 0xb000)
//= cache_purged_part 1000 ifa=600000000000b000 | volume 3, ptc.l: a translation that overlaps the range goes as a whole
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	MAP d, IN(3, 0x8000), RWX | 0x408000, 14
	UNMAP IN(3, 0x3000), 16
	TPA_MISS cache_purged_range, IN(3, 0x4100)
//= cache_purged_range 1000 ifa=6000000000004100 | volume 3, ptc.l: bits of the address below the size are ignored
	TPA_MISS cache_purged_range2, IN(3, 0x8100)
//= cache_purged_range2 1000 ifa=6000000000008100 | volume 3, ptc.l
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	CASE cache_purged_globally
	movl r4 = IN(3, 0x4100)
	mov r5 = 14 << 2
	;;
	ptc.g r4, r5
	;;
	srlz.i
	;;
	AT cache_purged_globally
	tpa r8 = r4
	END cache_purged_globally, IFA
//= cache_purged_globally 1000 ifa=6000000000004100 | volume 3, ptc.g
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	CASE cache_purged_alat
	movl r4 = IN(3, 0x4100)
	mov r5 = 14 << 2
	;;
	ptc.ga r4, r5
	;;
	srlz.i
	;;
	AT cache_purged_alat
	tpa r8 = r4
	END cache_purged_alat, IFA
//= cache_purged_alat 1000 ifa=6000000000004100 | volume 3, ptc.g
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	CASE cache_purged_whole
	mov r4 = r0
	;;
	ptc.e r4
	;;
	srlz.i
	;;
	movl r4 = IN(3, 0x4100)
	AT cache_purged_whole
	tpa r8 = r4
	END cache_purged_whole, IFA
//= cache_purged_whole 1000 ifa=6000000000004100 | volume 3, ptc.e: one purge with PAL_PTCE_INFO's counts of 1
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	MAP d, IN(3, 0x4000), RWX | 0x424000, 14
	TPA_HIT cache_replaced, IN(3, 0x4100)
//= cache_replaced none r8=0000000000424100 | volume 2, table 4-1: an insertion purges what it overlaps
	MAP d, IN(3, 0), RWX | 0x500000, 20
	TPA_HIT cache_replaced_larger, IN(3, 0x4100)
//= cache_replaced_larger none r8=0000000000504100 | volume 2, table 4-1
	INSERT_TR d, 2, IN(3, 0x8000), RWX | 0x408000, 14
	TPA_HIT cache_and_register, IN(3, 0x8100)
//= cache_and_register none r8=0000000000408100 | volume 2, table 4-1: itr purges the cache's entries that it overlaps
	TPA_MISS cache_and_register_gone, IN(3, 0x4100)
//= cache_and_register_gone 1000 ifa=6000000000004100 | volume 2, table 4-1
	PURGE_TR d, IN(3, 0x8000), 14
	SETRR 3, RRV(3, 16, 0)
	CASE default_size
	movl r4 = IN(3, 0x4100)
	AT default_size
	ld8 r8 = [r4]
	END default_size, ITIR
	SETRR 3, RRV(3, 14, 0)
//= default_size 1000 itir=0000000000001340 | volume 2, 8.3: ITIR from the region register
	CASE region_changes
	MAP d, IN(3, 0x4000), RWX | 0x404000, 14
	SETRR 3, RRV(9, 14, 0)
	movl r4 = IN(3, 0x4100)
	AT region_changes
	ld8 r8 = [r4]
	END region_changes, ITIR | IFA
	SETRR 3, RRV(3, 14, 0)
//= region_changes 1000 ifa=6000000000004100 itir=0000000000001938 | volume 2, 4.1.2: another identifier, another space
	TPA_HIT region_back, IN(3, 0x4100)
//= region_back none r8=0000000000404100 | volume 2, 4.1.2: translations of the first one are still there
	CASE identity
	movl r4 = STATE
	;;
	tpa r8 = r4
	AT identity
	END identity, R8
//= identity none r8=0000000000210000 | volume 3, tpa
	FINISH
