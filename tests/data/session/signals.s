// Does, a known number of times, what compiled programs rarely do (tests/integration/session/test_signals.py has the numbers).
// Assembled and linked with ia64-linux-gnu-as -x and ia64-linux-gnu-ld -static -z max-page-size=0x4000 -Ttext 0x4000000000010000 -Tdata 0x6000000000010000.
	.explicit
	.data
	.align 16
cell:	data8 1, 2, 3, 4
	.text
	.align 32
	.global _start
	.proc _start
_start:
	{ .mlx
	  alloc r40 = ar.pfs, 0, 24, 8, 0
	  movl r20 = cell ;;
	}
	{ .mlx
	  cmp.eq p6, p7 = 1, r0		// p6 = 0, p7 = 1
	  movl r21 = 0x1fffffffffff0000 ;;	// nothing is mapped there
	}
	// predicated off: two adds and a nop; executed under a predicate: one add
	{ .mii
	  (p6) add r22 = 1, r20
	  (p6) add r23 = 1, r20
	  (p6) nop.i 0
	}
	{ .mib
	  (p7) add r24 = 1, r20
	  nop.i 0
	  (p6) br.cond.sptk.few _start ;;
	}
	// speculation: two integer loads and one floating-point load deferred, the checks fail; one that does not
	{ .mmi
	  ld8.s r32 = [r21]
	  ld4.s r33 = [r21]
	  nop.i 0
	}
	{ .mmi
	  ldfd.s f8 = [r21]
	  ld8.s r34 = [r20]
	  nop.i 0 ;;
	}
	{ .mii
	  chk.s.m r34, fail
	  nop.i 0
	  chk.s.i r32, 1f ;;
	}
fail:	{ .mib
	  nop.m 0
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
1:	{ .mii
	  nop.m 0
	  mov r32 = 0
	  chk.s.i r33, 2f ;;
	}
	{ .mib
	  nop.m 0
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
2:	{ .mii
	  chk.s f8, 3f
	  mov r33 = 0
	  nop.i 0 ;;
	}
	{ .mib
	  nop.m 0
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
	// advanced loads: ld.c hits, ld.c misses after a store, chk.a hits, chk.a of an FR fails after invala
3:	{ .mmi
	  ld8.a r35 = [r20]
	  ldfd.a f9 = [r20]
	  adds r36 = 8, r20 ;;
	}
	{ .mmi
	  ld8.c.nc r35 = [r20]
	  st8 [r36] = r35
	  nop.i 0 ;;
	}
	{ .mmi
	  chk.a.nc r35, fail
	  st8 [r20] = r35
	  nop.i 0 ;;
	}
	{ .mmi
	  ld8.c.clr r35 = [r20]
	  invala
	  nop.i 0 ;;
	}
	{ .mmi
	  chk.a.clr f9, 4f
	  nop.m 0
	  nop.i 0 ;;
	}
	{ .mib
	  nop.m 0
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
	// unaligned: three loads, one store
4:	{ .mmi
	  adds r37 = 1, r20
	  adds r38 = 2, r20
	  nop.i 0 ;;
	}
	{ .mmi
	  ld8 r43 = [r37]
	  ld4 r39 = [r38]
	  nop.i 0 ;;
	}
	{ .mmi
	  ld2 r42 = [r37]
	  st4 [r38] = r39
	  nop.i 0 ;;
	}
	// tiny results: one in status field 0, two in status field 1 with flush-to-zero
	{ .mlx
	  nop.m 0
	  movl r41 = 0x0010000000000000 ;;	// the smallest normal double
	}
	{ .mmf
	  setf.d f10 = r41
	  nop.m 0
	  fsetc.s1 0x7f, 0x41 ;;		// ftz
	}
	{ .mfi
	  nop.m 0
	  fma.d.s0 f11 = f10, f10, f0
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fma.d.s1 f11 = f10, f10, f0
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fms.d.s1 f11 = f10, f10, f0
	  nop.i 0 ;;
	}
	// floating-point operations: 2 for fma, 4 for fpma, 1 for fadd, fcmp and fcvt
	{ .mfi
	  nop.m 0
	  fma.s0 f12 = f10, f10, f10
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fpma.s0 f12 = f1, f1, f1
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fadd.s0 f12 = f1, f10
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fcmp.eq.s0 p8, p9 = f1, f10
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fcvt.fx.trunc.s0 f12 = f1
	  nop.i 0 ;;
	}
	// fchkf: status field 0 has flags that field 2 lacks: no branch; field 1 has flags that 0 lacks: a branch
	{ .mfi
	  nop.m 0
	  fchkf.s2 fail
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fclrf.s0
	  nop.i 0 ;;
	}
	{ .mfi
	  nop.m 0
	  fchkf.s1 5f
	  nop.i 0 ;;
	}
	{ .mib
	  nop.m 0
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
	// two branches in a bundle, the second taken
5:	{ .bbb
	  nop.b 0
	  (p6) br.cond.sptk.few fail
	  br.call.sptk.many b6 = sub ;;
	}
	{ .mii
	  srlz.i
	  mov r15 = 1025		// exit
	  nop.i 0 ;;
	}
	{ .mii
	  srlz.i
	  mov r56 = 3
	  nop.i 0 ;;
	}
	{ .mib
	  break.m 0x100000
	  nop.i 0
	  br.cond.sptk.few fail ;;
	}
sub:	{ .mib
	  flushrs
	  nop.i 0
	  br.ret.sptk.many b6 ;;
	}
	.endp _start
