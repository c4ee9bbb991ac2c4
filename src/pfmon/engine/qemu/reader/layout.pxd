"""Memory shared by the plugin and its reader (layout.h), and their waits (futex.h)."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "<time.h>" nogil:
    struct timespec:
        long tv_sec
        long tv_nsec

cdef extern from "futex.h" nogil:
    void futex_wait(uint32_t* word, uint32_t seen, const timespec* patience)
    void futex_wake(uint32_t* word)

cdef extern from *:
    """
    #define pfmon_read_once(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
    #define pfmon_write(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
    """
    uint64_t read_once "pfmon_read_once"(const uint64_t*) nogil
    uint32_t read_word_once "pfmon_read_once"(const uint32_t*) nogil
    void write_word "pfmon_write"(uint32_t*, uint32_t) nogil

cdef extern from "x86_gather.h" nogil:
    struct x86_gather:
        uint32_t elements
        uint32_t bytes

    x86_gather x86_gather_of(const uint8_t* code, size_t size)

cdef extern from "layout.h" nogil:
    enum: RING_BUFFERS
    enum: RING_BUFFER_WORDS
    enum: AREA_HEAD
    enum: MIN_AREA_BYTES
    enum: MAX_AREA_BYTES
    enum: MAX_MESSAGE_BYTES
    enum: MAX_PATH_BYTES
    enum: MAX_GUEST_THREADS
    enum: THREAD_NUMBERS
    enum: MAX_TRANSLATED_INSTRUCTIONS
    enum: MAX_TRANSLATED_SLOTS
    enum: MAX_GATHER_SLOTS
    enum: GATHER_SLOTS
    enum: EXITED
    enum: KILLED
    enum: EXECUTES_ANEW
    enum: ANNOUNCES_FUNCTION
    enum: MAY_FAULT
    enum: SLOTS_SHIFT
    enum: SIZE_BITS
    enum: COUNTED
    enum: SUCCESSOR
    enum: REPEATED
    enum: TAKEN_IN_LINE
    enum: PATH_IN_LINE
    enum: MAX_PATH_BLOCKS
    enum: REQUEST_ARGUMENTS
    enum: MAX_REQUEST_BYTES
    enum: MAX_REQUEST_NOTICES

    struct ring_buffer:
        uint64_t count
        uint64_t words[32768]

    struct ring:
        char magic[8]
        uint32_t filling
        uint32_t reading
        ring_buffer buffers[8]

    struct announcement:
        uint64_t number
        uint64_t ip
        uint64_t last_ip
        uint64_t next_ip
        uint64_t whole
        uint32_t instructions
        uint32_t bytes
        uint16_t length
        uint8_t parts
        uint8_t cut
        uint8_t tail
        uint8_t accesses
        uint16_t slots
        uint32_t counters
        uint32_t file

    struct string:
        uint64_t first
        uint64_t last

    struct thread:
        uint64_t progress
        uint64_t before
        const announcement* last
        uint64_t slots[1770]
        string strings[2]

    struct handover:
        uint32_t ready
        int32_t reader
        int32_t ring_file
        int32_t area_file
        uint64_t python[3]

    struct request_notice:
        uint64_t event
        uint64_t code

    struct request:
        uint32_t asked
        uint32_t answered
        uint32_t what
        uint32_t length
        uint64_t ip
        uint64_t clock_offset
        int64_t arguments[5]
        int64_t result
        uint64_t stop
        int32_t reader
        uint32_t notices
        uint32_t more
        request_notice notice[64]
        uint8_t data[16384]

    struct area:
        thread threads[256]
        uint64_t announced
        uint64_t count
        uint64_t retired
        uint64_t executing
        announcement nothing
        const area* base
        uint32_t stopping
        uint32_t traced
        uint32_t totals
        uint64_t begun
        uint64_t doubtful
        uint64_t doubtful_at
        uint32_t trouble
        uint32_t message_length
        char message[4000]
        uint32_t task
        uint32_t forks
        uint64_t inherited
        uint32_t status
        uint32_t outside
        char executed[256]
        uint64_t fault_ip
        uint32_t processor_results
        uint64_t silent
        handover handover
        request request
