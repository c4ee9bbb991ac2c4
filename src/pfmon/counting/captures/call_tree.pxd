"""Counts by call path: see call_tree.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockHead


cdef enum:
    MAX_NODE_COUNTS = 8
    MAX_CALL_NODES = 1 << 18     # call paths of the program
    MAX_STUBS_BYTES = 1 << 16    # between an import stub and the rest of it, elsewhere among the stubs
    MAX_CALL_DEPTH = 400         # depth of calls: deeper ones count there
    PYTHON_FILE = 0xFFFFFFFF     # CallNode.file of a Python function
    MAX_PYTHON_LINES = 1 << 20   # lines that were executed: others count as the first function's


cdef uint64_t PYTHON_ENTRIES     # entries of Python functions from here on: addresses of no program


cdef struct CallNode:            # a function called by its parent
    uint64_t entry               # the address called
    uint32_t file                # BlockHead.file of the code there
    uint32_t parent, first_child, next_sibling
    uint32_t depth
    uint32_t python              # the closest Python function of the path, itself included; 0: none
    uint32_t line                # of a Python function: its running line's number among all
    uint64_t calls
    int64_t counts[MAX_NODE_COUNTS]


cdef struct PythonLine:          # number 0: its line is not known
    uint32_t function, line
    int64_t counts[MAX_NODE_COUNTS]


cdef struct PythonMarks:         # in force from the next block on
    uint64_t returns             # of functions
    uint64_t called              # the number of a function; 0: none
    uint64_t line                # ... and one; 0: it is the same


cdef struct CallChain:           # position in the tree, of one thread
    uint32_t at                  # the node of the running function
    uint32_t* node_at            # by depth of calls: the caller's node
    uint64_t capacity
    bint begun                   # it has run
    bint fresh                   # the first block since a call is running, or since a stub's jump
    PythonMarks python
    uint64_t beyond              # Python functions without a node: the path is too long
    uint64_t beyond_depth        # depth of native calls then
    bint stub                    # ... and ended with an indirect branch, whose target is the function called
    uint64_t entry               # the address called
    uint32_t jumps               # indirect branches since the call, in a row
    bint binding                 # a stub's second block ended with a direct branch: to what calls the linker
    uint32_t linker              # the node of the dynamic linker's function that binds the call; 0: none


@cython.final
cdef class CallPath(CallStack):
    cdef CallNode* nodes
    cdef uint32_t node_count, node_capacity
    cdef CallChain chain         # of the running thread
    cdef CallChain* chains       # of the other threads, by number
    cdef uint64_t chain_count
    cdef readonly bint lost      # sticky: there was no memory for a node
    cdef PythonLine* lines
    cdef uint32_t* line_at       # by hash: its number; 0: none
    cdef uint32_t line_count, line_capacity
    cdef bint uncounted          # what runs does not count
    cdef bint moved              # another function or line runs than when this was last cleared

    cdef void rise(self, uint64_t depth) noexcept nogil
    cdef void follow_stub(self, const BlockHead* head) noexcept nogil
    cdef void arrive_natively(self, uint64_t word) noexcept nogil
    cdef void apply_python(self) noexcept nogil
    cdef void leave_python(self, uint64_t returns) noexcept nogil
    cdef uint32_t line_of(self, uint64_t function, uint64_t line) noexcept nogil
    cdef uint32_t* line_place(self, uint64_t function, uint64_t line) noexcept nogil
    cdef bint grow_lines(self) noexcept nogil
    cdef int64_t* line_counts(self) noexcept nogil
    cdef bint descend(self, uint64_t ip, uint32_t file) noexcept nogil
    cdef uint32_t child(self, uint32_t parent, uint64_t ip, uint32_t file) noexcept nogil


@cython.final
cdef class CallTree(BlockIncrements):
    cdef CallPath path
    cdef bint counts_words       # the monitors count instructions, too
    cdef int64_t* to_node        # counts of the running function
    cdef int64_t* to_line        # ... and line; NULL: no Python function executes

    cdef int64_t* to_thread      # ... and thread
    cdef int64_t* thread_counts  # MAX_NODE_COUNTS for each thread, by number
    cdef uint64_t thread_capacity

    cdef void add_length(self, uint32_t length) noexcept nogil
    cdef void add(self, const int64_t* counts) noexcept nogil
    cdef void move_to_thread(self, uint64_t thread) noexcept nogil
    cdef bint grow(self, uint64_t thread) noexcept nogil
    cdef void count_marks(self, const ObservedBlock* block, int64_t* counts) noexcept nogil
