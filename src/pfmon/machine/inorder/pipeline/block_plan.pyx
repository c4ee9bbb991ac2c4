"""Plans of blocks: operands resolved to scoreboard indices, ports, ends of bundles."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    ACCESS_CHECK, ACCESS_RELEASE, AR_CCV, AR_EC, AR_FPSR, AR_LC, AR_OTHER, AR_PFS, AR_RSE, AR_UNAT, BR_FIRST,
    EFFECT_ALLOC, EFFECT_HINT, EFFECT_NONE, EFFECT_PAUSE, EFFECT_RETURN_FROM, EFFECT_ROTATE, FIXED, FR_FIRST, GR_FIRST, OP_FROM_CLOCK,
    OP_FROM_OTHER, OP_FROM_STATUS, OP_TO_BRANCH, PR_FIRST, STACKED, UNIT_B, UNIT_F, UNIT_M, UNIT_X, Attributes, Operand,
    Operands, Row, decode, load_decoder, operands)
from pfmon.stream._stream cimport ALWAYS, BlockInstruction, Cut, Ia64Kind, Ia64Payload, free_arena, arena_alloc

cdef enum:
    NOTHING = 0xFFFF             # an untracked register: r0, f0, f1, p0
    AR_ITC = 44                  # numbers of application registers
    AR_RUC = 45
    PAUSE = 0                    # the hint @pause


cdef uint16_t application(uint8_t number) noexcept nogil:
    """Returns the scoreboard index of an application register."""
    if number == 65:
        return AR_LC
    if number == 66:
        return AR_EC
    if number == 64:
        return AR_PFS
    if number == 32:
        return AR_CCV
    if number == 36:
        return AR_UNAT
    if number == 40:
        return AR_FPSR
    if 16 <= number <= 19:
        return AR_RSE
    return AR_OTHER


cdef uint16_t register_of(const Operand* operand, const DecodedCode* code) noexcept nogil:
    """Returns the scoreboard index of an operand, STACKED | n for r32 + n, or NOTHING."""
    cdef uint8_t number
    if operand.place == FIXED:
        return operand.first
    number = code.qp
    if operand.place == 0:
        number = code.r1
    elif operand.place == 1:
        number = code.r2
    elif operand.place == 2:
        number = code.r3
    elif operand.place == 3:
        number = code.r4
    if operand.first == AR_OTHER:
        return application(number)
    if operand.first == GR_FIRST:
        if number == 0:
            return NOTHING
        return number if number < 32 else <uint16_t>(STACKED | (number - 32))
    if (operand.first == FR_FIRST and number < 2) or (operand.first == PR_FIRST and number == 0):
        return NOTHING
    return operand.first + number


cdef void resolve_operands(const Attributes* attributes, const DecodedCode* code, PipelineOp* step) noexcept nogil:
    cdef uint32_t i
    cdef uint16_t register
    for i in range(attributes.sources):
        register = register_of(&attributes.source[i], code)
        if register != NOTHING:
            step.source[step.sources] = register
            step.use[step.sources] = attributes.source[i].what
            step.sources += 1
    for i in range(attributes.targets):
        register = register_of(&attributes.target[i], code)
        if register != NOTHING:
            step.target[step.targets] = register
            step.operation[step.targets] = attributes.target[i].what
            if attributes.target[i].what == OP_FROM_OTHER and application(code.r3) == AR_FPSR:
                step.operation[step.targets] = OP_FROM_STATUS
            elif attributes.target[i].what == OP_FROM_OTHER and (code.r3 == AR_ITC or code.r3 == AR_RUC):
                step.operation[step.targets] = OP_FROM_CLOCK
            step.targets += 1


cdef uint8_t branch_register(const uint16_t* registers, uint32_t count) noexcept nogil:
    """Returns the number + 1 of the first branch register among scoreboard indices; 0: none."""
    cdef uint32_t i
    for i in range(count):
        if BR_FIRST <= registers[i] < BR_FIRST + 8:
            return <uint8_t>(registers[i] - BR_FIRST + 1)
    return 0


cdef void decode_branch(const Attributes* attributes, const DecodedCode* code, Branch* branch,
                      bint conditional) noexcept nogil:
    branch.address = code.address
    branch.fall_through = (code.address & ~<uint64_t>15) + 16
    branch.target = <uint64_t>code.imm
    branch.kind = attributes.branch - 1
    branch.conditional = conditional
    branch.whether = attributes.whether
    branch.many = attributes.many
    branch.clear = attributes.clear
    branch.multiway = code.isa_kind & Ia64Kind.MULTIWAY != 0
    place_branch(branch)


cdef class BlockPlans:
    """``table``: descriptions of the blocks. ``thread_id``: bits that are set in all addresses of the plans. ``pages``:
    of a whole system."""

    def __cinit__(self, config, BlockTable table, uint64_t thread_id=0, PhysicalAddresses pages=None):
        load_decoder()
        self.table, self.thread_id, self.pages = table, thread_id, pages
        self.a_in_i_to_m = config["pipeline.a_in_i_slot_to_m"]
        self.mmf_splits = config["pipeline.mmf_splits"]
        self.line = config["l1i.line"]
        fill_ports(&self.ports, config)

    def __dealloc__(self):
        cdef uint64_t chunk
        for chunk in range(CHUNKS):
            free(self.plans[chunk])
        free_arena(&self.arena)
        free_arena(&self.steps)

    cdef BlockPlan* plan(self, uint64_t number) noexcept nogil:
        """Returns the plan of a block; NULL when there can be none: `failure`."""
        cdef BlockPlan** chunk = self.plans[number // CHUNK]
        if chunk == NULL:
            chunk = self.plans[number // CHUNK] = <BlockPlan**>calloc(CHUNK, sizeof(BlockPlan*))
            if chunk == NULL:
                self.failure = Failure.OUT_OF_MEMORY
                return NULL
        if chunk[number % CHUNK] == NULL:
            chunk[number % CHUNK] = self.make(number)
        return chunk[number % CHUNK]

    cdef void decode_block(self, const BlockHead* head, DecodedCode* code) noexcept nogil:
        """Decodes the instructions of a block with their operands."""
        cdef const BlockInstruction* instruction
        cdef const Ia64Payload* payload
        cdef Operands found
        cdef Row* row
        cdef uint32_t i
        for i in range(head.length):
            instruction = &self.table.c.instructions[head.first + i]
            payload = <const Ia64Payload*>(self.table.c.payloads) + head.first + i
            code[i].address = instruction.address | self.thread_id
            code[i].kind, code[i].isa_kind = instruction.kind, instruction.isa_kind
            code[i].condition, code[i].access = instruction.condition, instruction.access
            code[i].unit, code[i].qp = payload.unit, payload.qp
            code[i].stop = instruction.isa_kind & Ia64Kind.STOP != 0
            row = NULL
            if payload.unit <= UNIT_X:
                row = decode(payload.unit, payload.encoding, payload.extension)
            code[i].row = row
            code[i].imm = code[i].y = code[i].x = 0
            if row != NULL:
                operands(row, payload.encoding, payload.extension, code[i].address & ~<uint64_t>15, &found)
                code[i].r1, code[i].r2, code[i].r3, code[i].r4 = found.r1, found.r2, found.r3, found.r4
                code[i].imm, code[i].y, code[i].x = found.imm, found.y, found.x

    cdef BlockPlan* make(self, uint64_t number) noexcept nogil:
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef BlockPlan* plan = self.allocate(head)
        cdef DecodedCode codes[MAX_PLAN_LENGTH]
        cdef uint32_t i
        cdef uint8_t groups = 0
        if plan == NULL:
            return NULL
        self.decode_block(head, codes)
        for i in range(head.length):
            if i and codes[i - 1].stop:
                groups += 1
            start_step(codes, i, &plan.steps[i])
            if codes[i].row != NULL:
                self.add_step(plan, codes, i, groups)
        if self.mmf_splits:
            mark_mmf(codes, head.length, plan.steps)
        self.finish(plan, &codes[head.length - 1])
        if self.pages is not None:
            self.tag(plan, head)
        return plan

    cdef BlockPlan* allocate(self, const BlockHead* head) noexcept nogil:
        """Makes a plan with what the block's head says; NULL: there can be none (`failure`)."""
        cdef uint64_t bytes = sizeof(BlockPlan) + head.length * sizeof(MemAccess)
        cdef BlockPlan* plan
        cdef PipelineOp* steps
        self.failure = Failure.BLOCK_TOO_LONG if head.length > MAX_PLAN_LENGTH else Failure.OUT_OF_MEMORY
        plan = <BlockPlan*>arena_alloc(&self.arena, bytes) if head.length <= MAX_PLAN_LENGTH else NULL
        steps = <PipelineOp*>arena_alloc(&self.steps, head.length * sizeof(PipelineOp)) if plan != NULL else NULL
        if steps == NULL:
            return NULL
        memset(plan, 0, bytes)
        memset(steps, 0, head.length * sizeof(PipelineOp))
        plan.mem_accesses = <MemAccess*>(plan + 1)
        plan.steps = steps
        plan.length, plan.cut = <uint8_t>head.length, <uint8_t>head.cut
        plan.accesses, plan.access_mask = <uint16_t>head.accesses, head.access_mask
        plan.plain = 1
        plan.ip = head.ip | self.thread_id
        return plan

    cdef void add_step(self, BlockPlan* plan, const DecodedCode* codes, uint32_t i, uint8_t group) noexcept nogil:
        """Adds what the attributes of instruction ``i`` say, in issue group ``group`` of the block."""
        cdef const DecodedCode* code = &codes[i]
        cdef const Attributes* attributes = &code.row.attributes
        cdef PipelineOp* step = &plan.steps[i]
        step.port = port_of(&self.ports, attributes.layout, code.kind, code.isa_kind)
        if step.port == PORT_A and (code.unit == UNIT_M or not self.a_in_i_to_m):
            step.port = PORT_M if code.unit == UNIT_M else PORT_I
        step.effect = attributes.effect
        resolve_operands(attributes, code, step)
        if code.access:
            add_access(plan, code, i, group)
        add_effect(plan, code, step)
        if attributes.branch and i == <uint32_t>plan.length - 1:
            add_branch(plan, code, step)
        elif step.targets and step.operation[0] == OP_TO_BRANCH and step.target[0] > BR_FIRST:
            step.writes_br = branch_register(step.target, 1) - 1
            if plan.br_writes_end == 0:
                plan.first_br_write = <uint8_t>i
            plan.br_writes_end = <uint8_t>(i + 1)
        mark_end_of_bundle(codes, i, step)

    cdef void finish(self, BlockPlan* plan, const DecodedCode* last) noexcept nogil:
        """Adds what follows from all instructions; ``last``: the last one."""
        plan.first_window = plan.ip & ~<uint64_t>(WINDOW - 1)
        plan.more_windows = <uint8_t>((last.address - plan.first_window) // WINDOW)
        plan.more_lines = <uint8_t>(last.address // self.line - plan.first_window // self.line)
        plan.taken_condition = last.condition if plan.branch.conditional else ALWAYS
        plan.moves_frames = plan.calls | plan.returns | plan.rotates
        plan.fast = plan.plain and plan.cut != Cut.FAILED_CHECK and not plan.pauses
        plan.end = last.address + 1
        if plan.steps[plan.length - 1].ends:
            plan.end = (last.address & ~<uint64_t>15) + 16

    cdef void tag(self, BlockPlan* plan, const BlockHead* head) noexcept nogil:
        """Gives a block of a whole system the physical addresses of its windows and its branch, which are those of what
        L1I and the predictor hold."""
        cdef uint64_t base = self.pages.block_base(plan.ip, head.physical)
        cdef uint64_t distance = (base & PHYSICAL_BITS) - (plan.ip >> FRAME_SHIFT << FRAME_SHIFT)
        cdef uint32_t i
        plan.alias = <uint8_t>(base >> ALIAS_SHIFT)
        plan.first_window += distance
        for i in range(plan.length):
            plan.steps[i].window += distance
            plan.returns_from |= plan.steps[i].effect == EFFECT_RETURN_FROM
        if plan.has_branch:
            plan.branch.address += distance
            place_branch(&plan.branch)


cdef void start_step(const DecodedCode* codes, uint32_t i, PipelineOp* step) noexcept nogil:
    """Sets what the place of an instruction says."""
    cdef const DecodedCode* code = &codes[i]
    step.address = code.address
    step.window = code.address & ~<uint64_t>(WINDOW - 1)
    step.slot = code.address & 3
    step.condition = code.condition
    step.stop = code.stop
    step.slots = 2 if code.unit == UNIT_X else 1
    step.imm, step.y, step.x = code.imm, code.y, code.x
    step.begins = i == 0 or codes[i - 1].address >> 4 != code.address >> 4
    step.ends = step.slot + (0 if code.unit == UNIT_X and step.slot == 2 else step.slots - 1) == 2


cdef void add_access(BlockPlan* plan, const DecodedCode* code, uint32_t i, uint8_t group) noexcept nogil:
    """Adds the memory access of instruction ``i``."""
    cdef const Attributes* attributes = &code.row.attributes
    cdef PipelineOp* step = &plan.steps[i]
    cdef MemAccess* mem_access = &plan.mem_accesses[plan.access_count]
    step.access = attributes.access
    step.access_flags = attributes.access_flags
    step.size = attributes.size
    if attributes.access:
        mem_access.step, mem_access.group = i, group
        mem_access.condition = code.condition
        mem_access.kind = attributes.access - 1
        mem_access.size = attributes.size
        mem_access.releases = attributes.access_flags & ACCESS_RELEASE != 0
        mem_access.checks = attributes.access_flags & ACCESS_CHECK != 0
        plan.access_count += 1


cdef void add_effect(BlockPlan* plan, const DecodedCode* code, PipelineOp* step) noexcept nogil:
    """Adds what an instruction's effect means for the block."""
    if step.effect == EFFECT_ALLOC:
        plan.allocs += 1
        plan.sof, plan.sol, plan.sor = <int32_t>code.imm, <int32_t>code.y, code.x
    elif step.effect >= EFFECT_HINT and not step.access:
        plan.has_hints = 1
    elif step.effect == EFFECT_PAUSE:
        if code.imm != PAUSE:
            step.effect = EFFECT_NONE
        plan.pauses |= code.imm == PAUSE
    elif step.effect == EFFECT_ROTATE:
        plan.rotates = 1
    elif step.effect != EFFECT_NONE:
        plan.plain = 0


cdef void add_branch(BlockPlan* plan, const DecodedCode* code, const PipelineOp* step) noexcept nogil:
    """Adds the block's branch."""
    cdef const Attributes* attributes = &code.row.attributes
    plan.has_branch = 1
    plan.calls = is_call(attributes.branch - 1)
    plan.returns = attributes.branch - 1 == BRANCH_RETURN
    decode_branch(attributes, code, &plan.branch, code.condition != ALWAYS)
    if is_indirect(plan.branch.kind):
        plan.branch.through = branch_register(step.source, step.sources)


cdef void mark_mmf(const DecodedCode* codes, uint32_t length, PipelineOp* steps) noexcept nogil:
    """Marks MMF bundles, which issue alone (Itanium dispersal rules)."""
    cdef uint32_t i
    for i in range(2, length):
        if steps[i].slot == 2 and codes[i].unit == UNIT_F and codes[i - 1].unit == UNIT_M \
                and steps[i - 2].slot == 0 and codes[i - 2].unit == UNIT_M:
            steps[i - 2].alone = 1
            steps[i].after = SPLITS


cdef void mark_end_of_bundle(const DecodedCode* code, uint32_t i, PipelineOp* step) noexcept nogil:
    """Marks where the issue group ends after a bundle (Itanium 2 reference manual, dispersal rules)."""
    cdef bint b_before = i > 0 and code[i - 1].address >> 4 == code[i].address >> 4 and code[i - 1].unit == UNIT_B
    if code[i].unit != UNIT_B:
        return
    step.all_b = step.slot == 0
    if not step.ends:
        return
    if b_before or step.port == PORT_B or i == 0:
        step.after = SPLITS
    elif step.port == PORT_BRP:
        step.after = SPLITS_BEFORE_BBB
