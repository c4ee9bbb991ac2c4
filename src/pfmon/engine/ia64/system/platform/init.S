// The first program of a Linux system that runs one program of the user's (init_program.py makes an ELF file of it).
//
// It makes the system calls that pfmon gives it (program_setup.py), which make the files that the program needs. Then it
// runs the program with pipes as its standard files, and passes on what goes through them. When the program has ended it
// hands over the files that are wanted, and the program's status.
//
// pfmon is asked by `break.m 0x1f50a4`: a request in GR15, arguments in GR16 to GR18, the answer in GR8 (guest_calls.py).
// A buffer is one page of 4 KB, and is touched before each request: pfmon finds it by the translation that is there
// then. If there is none, the answer is RETRY. NEXT_CALL gives a system call: its number in GR8, its arguments in GR52 and
// those behind it, what they point to in the data; 0: there is none any more. GR16 and GR17 have the result of the last one
// and whether it failed.
//
// Built by tests/support/firmware_code.py.

	EXIT = 1025
	READ = 1026
	WRITE = 1027
	OPEN = 1028
	CLOSE = 1029
	EXECVE = 1033
	CHDIR = 1034
	DUP2 = 1070
	POLL = 1090
	WAIT4 = 1126
	CLONE = 1128
	PIPE2 = 1317
	PIDFD_OPEN = 1458

	TAKE_OUTPUT = 1			// requests
	GIVE_INPUT = 2
	CANNOT_START = 3
	ENDED = 4
	TAKE_FILE = 5
	FILE_ENDED = 6
	BEGINS = 7
	PROGRAM_ENDED = 8
	NEXT_CALL = 9

	RETRY = -1			// answers
	NOTHING_YET = -2
	NOBODY_READS = -3

	CLOSE_ON_EXEC = 0x80000
	SIGCHLD = 17
	POLLIN = 1
	POLLOUT = 4
	TICK = 10			// ms between questions for input
	PAGE = 4096

	DATA = 0x6000000000000000	// what pfmon puts there:
	PROGRAM = 0			// path, arguments, environment, directory,
	ARGUMENTS = 8
	ENVIRONMENT = 16
	DIRECTORY = 24
	FILES = 32			// paths of files to be handed over, and a zero
	WORK = 48			// a place for:
	PIPES = WORK			// three pairs of descriptors,
	POLLED = WORK + 24		// four entries of poll(2),
	STATUS = POLLED + 32		// a status of wait4(2)
	INPUT = 0x2000			// two buffers,
	OUTPUT = 0x3000
	DATA_END = 0x14000		// and what system calls of pfmon's point to

	.macro REQUEST number, immediate	// groups of its own
	.explicit
	{ .mii
	nop.m 0
	mov r15 = \number
	nop.i 0 ;;
	}
	{ .mii
	break.m \immediate
	nop.i 0
	nop.i 0 ;;
	}
	.auto
	.endm

	.macro CALL number
	REQUEST \number, 0x100000
	.endm

	.macro ASK number
	REQUEST \number, 0x1f50a4
	.endm

	.macro TOUCH page		// with rights to store
	ld1 r14 = [\page]
	st1 [\page] = r14
	.endm

	.macro CLOSED descriptor	// p6: it is, and poll(2) leaves it out
	cmp4.lt p6, p7 = \descriptor, r0
	.endm

	.macro SHUT descriptor
	mov out0 = \descriptor
	CALL CLOSE
	mov \descriptor = -1
	.endm

	.macro PUMP descriptor, number, done	// a part of an output goes to pfmon
	mov out0 = \descriptor
	mov out1 = output
	mov out2 = PAGE
	CALL READ
	cmp.ne p6, p7 = 0, r10		// an error, or the end
	cmp.eq.or.andcm p6, p7 = 0, r8
(p6)	br.cond.spnt.few 9f
	mov size = r8
8:	TOUCH output
	mov r16 = \number
	mov r17 = output
	mov r18 = size
	ASK TAKE_OUTPUT
	cmp.eq p6, p7 = RETRY, r8
(p6)	br.cond.spnt.few 8b
	cmp.eq p6, p7 = NOBODY_READS, r8
(p7)	br.cond.sptk.few \done
9:	SHUT \descriptor
	br.cond.sptk.few \done
	.endm

	.macro ENTRY number, descriptor, events	// an entry of poll(2)
	adds r14 = POLLED + 8 * \number, data
	adds r16 = POLLED + 8 * \number + 4, data
	mov r17 = \events
	st4 [r14] = \descriptor
	st4 [r16] = r17
	.endm

	.macro HAPPENED number		// p6: something has
	adds r14 = POLLED + 8 * \number + 6, data
	ld2 r14 = [r14]
	cmp.ne p6, p7 = 0, r14
	.endm

	.macro POLLS timeout
	adds out0 = POLLED, data
	mov out1 = 4
	mov out2 = \timeout
	CALL POLL
	.endm

	data = r33
	input = r34
	output = r35
	child = r36
	watched = r37			// descriptor of the child
	into = r38			// the program's standard input, output and error: our ends,
	from = r39
	errors = r40
	its_in = r41			// and its ends
	its_out = r42
	its_errors = r43
	left = r44			// input that is not written yet: how much, and where
	place = r45
	size = r46
	table = r47
	number = r48
	file = r49
	failure = r50
	waits = r51

	.auto
	.text
	.global _start
_start:
	alloc r32 = ar.pfs, 0, 20, 8, 0
	movl data = DATA
	movl input = DATA + INPUT
	movl output = DATA + OUTPUT
	mov left = 0
	mov r8 = 0
	mov r10 = 0

setup:	mov size = r8
	mov failure = r10
1:	mov r16 = size
	mov r17 = failure
	ASK NEXT_CALL
	cmp.eq p6, p7 = RETRY, r8
(p6)	br.cond.spnt.few touch
	cmp.eq p6, p7 = 0, r8
(p6)	br.cond.spnt.few pipes
	CALL r8
	br.cond.sptk.few setup
touch:	mov place = data
	movl table = DATA + DATA_END
2:	TOUCH place
	movl r14 = PAGE
	add place = place, r14
	cmp.ltu p6, p7 = place, table
(p6)	br.cond.sptk.few 2b
	br.cond.sptk.few 1b

pipes:	adds table = PIPES, data
	mov number = 3
1:	mov out0 = table
	movl out1 = CLOSE_ON_EXEC
	CALL PIPE2
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few failed
	adds table = 8, table
	adds number = -1, number
	cmp.ne p6, p7 = 0, number
(p6)	br.cond.sptk.few 1b
	adds table = PIPES, data
	ld4 its_in = [table], 4
	ld4 into = [table], 4
	ld4 from = [table], 4
	ld4 its_out = [table], 4
	ld4 errors = [table], 4
	ld4 its_errors = [table], 4

	mov out0 = SIGCHLD
	mov out1 = 0
	mov out2 = 0
	mov out3 = 0
	mov out4 = 0
	mov out5 = 0
	CALL CLONE
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few failed
	mov child = r8
	cmp.ne p6, p7 = 0, child
(p6)	br.cond.sptk.few parent

	mov out0 = its_in
	mov out1 = 0
	CALL DUP2
	mov out0 = its_out
	mov out1 = 1
	CALL DUP2
	mov out0 = its_errors
	mov out1 = 2
	CALL DUP2
	adds r14 = DIRECTORY, data
	ld8 out0 = [r14]
	CALL CHDIR
	adds r14 = PROGRAM, data
	adds r16 = ARGUMENTS, data
	adds r17 = ENVIRONMENT, data
	ld8 out0 = [r14]
	ld8 out1 = [r16]
	ld8 out2 = [r17]
	ASK BEGINS			// counts are from here on: two bundles of this code
	CALL EXECVE
failed:	mov r16 = r8
	ASK CANNOT_START
	mov out0 = 127
	CALL EXIT

parent:	SHUT its_in
	SHUT its_out
	SHUT its_errors
	mov out0 = child
	mov out1 = 0
	CALL PIDFD_OPEN
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few failed
	mov watched = r8

pass:	mov waits = -1			// for as long as it takes
	CLOSED into
(p6)	br.cond.spnt.few 3f
	cmp.ne p6, p7 = 0, left
(p6)	br.cond.sptk.few 3f
1:	TOUCH input
	mov r16 = input
	mov r17 = PAGE
	ASK GIVE_INPUT
	cmp.eq p6, p7 = RETRY, r8
(p6)	br.cond.spnt.few 1b
	cmp.eq p6, p7 = NOTHING_YET, r8
(p6)	mov waits = TICK
(p6)	br.cond.spnt.few 3f
	mov left = r8
	mov place = input
	cmp.ne p6, p7 = 0, left
(p6)	br.cond.sptk.few 3f
	SHUT into			// the end of the input
3:	ENTRY 0, from, POLLIN
	ENTRY 1, errors, POLLIN
	ENTRY 2, watched, POLLIN
	mov size = into
	cmp.eq p6, p7 = 0, left
(p6)	mov size = -1
	ENTRY 3, size, POLLOUT
	POLLS waits
	HAPPENED 0
(p7)	br.cond.sptk.few 4f
	PUMP from, 1, 4f
4:	HAPPENED 1
(p7)	br.cond.sptk.few 5f
	PUMP errors, 2, 5f
5:	HAPPENED 3
(p7)	br.cond.sptk.few 7f
	mov out0 = into
	mov out1 = place
	mov out2 = left
	CALL WRITE
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few 6f
	sub left = left, r8
	add place = place, r8
	br.cond.sptk.few 7f
6:	SHUT into			// the program has closed it
	mov left = 0
7:	HAPPENED 2
(p7)	br.cond.sptk.few pass

rest:	ENTRY 2, watched, 0		// what is still in the pipes
	mov size = -1
	ENTRY 3, size, 0
1:	ENTRY 0, from, POLLIN
	ENTRY 1, errors, POLLIN
	POLLS 0
	mov number = 0
	HAPPENED 0
(p7)	br.cond.sptk.few 2f
	mov number = 1
	PUMP from, 1, 2f
2:	HAPPENED 1
(p7)	br.cond.sptk.few 3f
	mov number = 1
	PUMP errors, 2, 3f
3:	cmp.ne p6, p7 = 0, number
(p6)	br.cond.sptk.few rest

	mov out0 = child
	adds out1 = STATUS, data
	mov out2 = 0
	mov out3 = 0
	CALL WAIT4
	ASK PROGRAM_ENDED

	adds table = FILES, data
	mov number = 0
	ld8 table = [table]
files:	ld8 out0 = [table], 8
	cmp.eq p6, p7 = 0, out0
(p6)	br.cond.spnt.few ended
	mov out1 = 0
	mov out2 = 0
	CALL OPEN
	mov failure = r8
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few 3f
	mov file = r8
1:	mov out0 = file
	mov out1 = output
	mov out2 = PAGE
	CALL READ
	mov failure = r8
	cmp.ne p6, p7 = 0, r10
(p6)	br.cond.spnt.few 3f
	cmp.eq p6, p7 = 0, r8
(p6)	br.cond.spnt.few 3f
	mov size = r8
2:	TOUCH output
	mov r16 = number
	mov r17 = output
	mov r18 = size
	ASK TAKE_FILE
	cmp.eq p6, p7 = RETRY, r8
(p6)	br.cond.spnt.few 2b
	br.cond.sptk.few 1b
3:	mov r16 = number		// with an error number, or 0
	mov r17 = failure
	ASK FILE_ENDED
	adds number = 1, number
	br.cond.sptk.few files

ended:	adds r14 = STATUS, data
	ld4 r16 = [r14]
	ASK ENDED
1:	br.cond.sptk.few 1b
