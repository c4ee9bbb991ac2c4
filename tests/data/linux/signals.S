// What signals do to a program; the first letter of the first argument says which case. Statically linked:
//   ia64-linux-gnu-as -o signals.o signals.S && ia64-linux-gnu-ld -s -o signals signals.o
// Every case exits with a status of its own when all went well, 100 + n when check n failed.
	.text
	.explicit
	.global _start
	.proc _start
_start:
	alloc r31 = ar.pfs, 0, 4, 6, 0 ;;
	adds r14 = 24+8, r12 ;;			// scratch area, argc, argv[0]
	ld8 r14 = [r14] ;;
	ld1 r14 = [r14] ;;
	cmp.eq p6, p0 = 'f', r14
	cmp.eq p7, p0 = 'o', r14
	cmp.eq p8, p0 = 'a', r14
	cmp.eq p9, p0 = 't', r14
	cmp.eq p10, p0 = 'n', r14
	cmp.eq p11, p0 = 'm', r14 ;;
(p6)	br.cond.sptk fault
(p7)	br.cond.sptk overflow
(p8)	br.cond.sptk alternate
(p9)	br.cond.sptk timer
(p10)	br.cond.sptk nested
(p11)	br.cond.sptk memory_stack ;;
	break.m 1 ;;				// integer division by zero
	.endp _start

// A load from a wild address: the handler checks the address in siginfo, skips the load through sc_ip; all
// registers are as they were, NaT bits included.
fault:
	movl r36 = 11 ;;
	movl r37 = fault_action ;;
	mov r38 = r0
	mov r39 = 8
	mov r15 = 1177 ;;
	break.m 0x100000 ;;
	movl r32 = 0x1111
	movl r33 = 0x2222
	movl r34 = 0x3333 ;;
	ld8.s r35 = [r0]			// address 0 is unmapped: r35 becomes NaT
	ld8.s r20 = [r0]			// a static scratch register as well
	movl r21 = 0x2121
	setf.sig f6 = r32
	setf.sig f40 = r33
	mov b7 = r34
	movl r3 = 0x5a5a ;;
	mov ar.ccv = r3
	cmp.eq p12, p13 = r0, r0
	movl r16 = 0x123450 ;;
	ld8 r17 = [r16] ;;			// slot 0 of its bundle
	mov r18 = 101				// which check fails
	cmp.eq p0, p14 = r21, r21 ;;
	movl r19 = 0x2121 ;;
	cmp.ne p14, p0 = r19, r21 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	movl r19 = 0x1111 ;;
	cmp.ne p14, p0 = r19, r32 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	movl r19 = 0x2222 ;;
	cmp.ne p14, p0 = r19, r33 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	movl r19 = 0x3333 ;;
	cmp.ne p14, p0 = r19, r34 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	tnat.z p14, p0 = r35 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	tnat.z p14, p0 = r20 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	getf.sig r19 = f6 ;;
	cmp.ne p14, p0 = r19, r32 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	getf.sig r19 = f40 ;;
	cmp.ne p14, p0 = r19, r33 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	mov r19 = b7 ;;
	cmp.ne p14, p0 = r19, r34 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18
	mov r19 = ar.ccv ;;
	cmp.ne p14, p0 = r19, r3 ;;
(p14)	br.cond.spnt bad ;;
	adds r18 = 1, r18 ;;
(p13)	br.cond.spnt bad ;;
	mov r18 = 20 ;;
(p12)	br.cond.sptk bad ;;			// not bad at all: status 20
	mov r18 = 199 ;;
bad:
	mov r36 = r18
	mov r15 = 1025 ;;
	break.m 0x100000 ;;

fault_handler:					// (signal, siginfo, context)
	alloc r2 = ar.pfs, 3, 0, 0, 0 ;;
	mov r18 = 120
	adds r14 = 16, r33 ;;			// si_addr
	ld8 r15 = [r14]
	movl r16 = 0x123450 ;;
	cmp.ne p6, p7 = r15, r16 ;;
(p6)	br.cond.spnt handler_bad ;;
	adds r18 = 1, r18
	cmp.ne p6, p7 = 11, r32 ;;
(p6)	br.cond.spnt handler_bad ;;
	adds r18 = 1, r18
	adds r14 = 8, r33 ;;
	ld4 r15 = [r14] ;;			// si_code: SEGV_MAPERR
	cmp4.ne p6, p7 = 1, r15 ;;
(p6)	br.cond.spnt handler_bad ;;
	adds r18 = 1, r18
	and r15 = 15, r12 ;;
	cmp.ne p6, p7 = 0, r15 ;;		// the stack pointer is aligned
(p6)	br.cond.spnt handler_bad ;;
	adds r14 = 40, r34 ;;			// sc_ip
	ld8 r15 = [r14] ;;
	adds r15 = 1, r15 ;;			// the next slot
	st8 [r14] = r15
	mov r16 = r0
	mov r17 = r0
	mov r19 = r0
	mov r20 = r0
	mov r21 = r0
	mov r3 = r0
	setf.sig f6 = r0
	setf.sig f40 = r0
	mov b7 = r0
	cmp.ne p12, p13 = r0, r0 ;;
	mov ar.ccv = r0
	br.ret.sptk b0 ;;
handler_bad:
	alloc r2 = ar.pfs, 3, 0, 1, 0 ;;
	mov r35 = r18
	mov r15 = 1025 ;;
	break.m 0x100000 ;;

// Endless recursion with large frames: the register backing store overflows.
overflow:
	br.call.sptk.many b0 = recurse ;;
recurse:
	alloc r32 = ar.pfs, 0, 90, 0, 0 ;;
	mov r33 = b0
	br.call.sptk.many b0 = recurse ;;

// The same with a handler on an alternate stack: the handler exits with 21.
alternate:
	movl r36 = alternate_stack
	mov r37 = r0
	mov r15 = 1176 ;;
	break.m 0x100000 ;;
	movl r36 = 11 ;;
	movl r37 = alternate_action
	mov r38 = r0
	mov r39 = 8
	mov r15 = 1177 ;;
	break.m 0x100000 ;;
	br.call.sptk.many b0 = recurse ;;
alternate_handler:
	alloc r2 = ar.pfs, 3, 4, 1, 0 ;;
	movl r14 = stack_area
	movl r16 = stack_area + 0x40000 ;;
	mov r18 = 110
	cmp.ltu p6, p0 = r12, r14
	cmp.gtu p7, p0 = r12, r16 ;;		// the memory stack is the alternate one
(p6)	mov r18 = 131
;;
(p7)	mov r18 = 132 ;;
	mov r15 = ar.bsp ;;
	cmp.ltu p8, p0 = r15, r14
	cmp.gtu p9, p0 = r15, r12 ;;		// and the backing store below it as well
(p8)	mov r18 = 133
;;
(p9)	mov r18 = 134 ;;
	cmp.eq p6, p0 = 110, r18 ;;
(p6)	mov r18 = 21 ;;
	mov r39 = r18
	mov r15 = 1025 ;;
	break.m 0x100000 ;;

// setitimer, then sigsuspend: it returns EINTR after the handler has counted.
timer:
	movl r36 = 14 ;;
	movl r37 = timer_action
	mov r38 = r0
	mov r39 = 8
	mov r15 = 1177 ;;
	break.m 0x100000 ;;
	mov r36 = r0
	movl r37 = two_seconds
	mov r38 = r0
	mov r15 = 1118 ;;
	break.m 0x100000 ;;
	movl r36 = no_signals
	mov r37 = 8
	mov r15 = 1182 ;;
	break.m 0x100000 ;;
	mov r18 = 141
	cmp.ne p6, p0 = 4, r8 ;;		// EINTR
(p6)	br.cond.spnt bad
	mov r18 = 142
	cmp.ne p6, p0 = -1, r10 ;;
(p6)	br.cond.spnt bad
	// spin until the second expiry, a second later
	movl r14 = ticks ;;
0:	ld8.acq r16 = [r14] ;;
	cmp.gtu p6, p0 = 2, r16 ;;
(p6)	br.cond.dptk 0b ;;
	mov r18 = 22 ;;
	br.cond.sptk bad ;;
timer_handler:
	alloc r2 = ar.pfs, 3, 0, 0, 0 ;;
	movl r14 = ticks ;;
	ld8 r16 = [r14] ;;
	adds r16 = 1, r16 ;;
	st8 [r14] = r16
	br.ret.sptk b0 ;;

// A handler for SIGSEGV that faults itself, again and again, until its stack is used up.
nested:
	movl r36 = 11 ;;
	movl r37 = nested_action
	mov r38 = r0
	mov r39 = 8
	mov r15 = 1177 ;;
	break.m 0x100000 ;;
nested_handler:
	ld8 r14 = [r0] ;;

// Endless recursion on the memory stack.
memory_stack:
	adds r12 = -0x800, r12 ;;
	st8 [r12] = r12
	br.cond.sptk memory_stack ;;

	.data
	.align 16
fault_descriptor:	data8 fault_handler, 0
fault_action:		data8 fault_descriptor, 4, 0			// SA_SIGINFO
alternate_descriptor:	data8 alternate_handler, 0
alternate_action:	data8 alternate_descriptor, 0x08000000, 0	// SA_ONSTACK
timer_descriptor:	data8 timer_handler, 0
timer_action:		data8 timer_descriptor, 0x10000000, 0		// SA_RESTART
nested_descriptor:	data8 nested_handler, 0
nested_action:		data8 nested_descriptor, 0x40000000, 0		// SA_NODEFER
alternate_stack:	data8 stack_area, 0, 0x40000
two_seconds:		data8 0, 200, 2, 0				// every 200 microseconds, first after 2 s
no_signals:		data8 0
ticks:			data8 0
	.bss
	.align 16
stack_area:		.skip 0x40000
