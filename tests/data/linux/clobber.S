// A signal handler that leaves nothing of the scratch registers as it was and drives the register stack through
// all its physical registers. Position-independent; the tests use the bytes of its text:
//   ia64-linux-gnu-as -o clobber.o clobber.S && ia64-linux-gnu-objcopy -O binary -j .text clobber.o clobber
	.text
	.explicit
	.proc handler
handler:
	alloc r35 = ar.pfs, 3, 3, 1, 0 ;;
	mov r36 = b0
	mov r37 = ar.lc
	mov r38 = 3 ;;
	br.call.sptk.many b0 = deep ;;
	movl r2 = 0xdeadbeefdeadbeef ;;
	mov r3 = r2
	mov r8 = r2
	mov r9 = r2
	mov r10 = r2
	mov r11 = r2
	mov r14 = r2
	mov r15 = r2
	mov r16 = r2
	mov r17 = r2
	mov r18 = r2
	mov r19 = r2
	mov r20 = r2
	mov r21 = r2
	mov r22 = r2
	mov r23 = r2
	mov r24 = r2
	mov r25 = r2
	mov r26 = r2
	mov r27 = r2
	mov r28 = r2
	mov r29 = r2
	mov r30 = r2
	ld8.s r31 = [r0]
	setf.sig f6 = r2
	setf.sig f7 = r2
	setf.sig f8 = r2
	setf.sig f9 = r2
	setf.sig f10 = r2
	setf.sig f11 = r2
	setf.sig f12 = r2
	setf.sig f13 = r2
	setf.sig f14 = r2
	setf.sig f15 = r2
	setf.sig f32 = r2
	setf.sig f33 = r2
	setf.sig f64 = r2
	setf.sig f127 = r2
	mov b6 = r2
	mov b7 = r2 ;;
	mov ar.ccv = r2
	mov pr = r2, -1
	mov ar.unat = r2
	mov ar.fpsr = r0 ;;
	mov ar.lc = r37
	mov ar.pfs = r35
	mov b0 = r36 ;;
	br.ret.sptk b0 ;;
	.endp handler

	.proc deep				// (how deep)
deep:
	alloc r33 = ar.pfs, 1, 90, 1, 0 ;;
	mov r34 = b0
	mov r35 = r32
	mov r60 = -1
	ld8.s r61 = [r0]			// NaT bits go through the backing store too
	mov r90 = -1
	cmp.eq p6, p7 = 0, r32
	adds r123 = -1, r32 ;;
(p7)	br.call.sptk.many b0 = deep ;;
	mov b0 = r34
	mov ar.pfs = r33 ;;
	br.ret.sptk b0 ;;
	.endp deep
