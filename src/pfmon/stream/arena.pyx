"""Allocates from an arena (see arena.pxd)."""

cdef enum:
    LINE = 64                    # bytes of a line of the host's cache: pieces are aligned to it
    PIECE_SIZE = 1 << 18


cdef void* arena_alloc(Arena* arena, uint64_t size) noexcept nogil:
    """Allocates ``size`` bytes, less than PIECE_SIZE - LINE; NULL when there is no memory."""
    cdef uint64_t rounded = (size + LINE - 1) & ~<uint64_t>(LINE - 1)
    if arena.current == NULL or arena.used + rounded > PIECE_SIZE:
        if not next_piece(arena):
            return NULL
    arena.used += rounded
    return <char*>arena.current + arena.used - rounded


cdef bint next_piece(Arena* arena) noexcept nogil:
    """Continues in the next piece: one kept from before, or a new one."""
    cdef ArenaPiece* piece = arena.first if arena.current == NULL else arena.current.next
    if piece == NULL:
        piece = <ArenaPiece*>mmap(NULL, PIECE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                                  -1, 0)
        if piece == MAP_FAILED:
            return False
        if arena.current == NULL:
            arena.first = piece
        else:
            arena.current.next = piece
    arena.current = piece
    arena.used = LINE
    return True


cdef void arena_reset(Arena* arena) noexcept nogil:
    """Frees all allocations; keeps the memory for reuse."""
    arena.current = NULL


cdef void free_arena(Arena* arena) noexcept nogil:
    """Returns all memory to the host."""
    cdef ArenaPiece* piece = arena.first
    cdef ArenaPiece* following
    while piece != NULL:
        following = piece.next
        munmap(piece, PIECE_SIZE)
        piece = following
    arena.first = arena.current = NULL
