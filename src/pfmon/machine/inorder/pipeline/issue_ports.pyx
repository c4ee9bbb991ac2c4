"""Issue ports of encodings: the machine's [ports] table (Montecito manual tables 2-4 to 2-7), by format."""

from pfmon.stream._stream cimport ADVANCED, LOAD_CHECK, NOP, PREFETCH_HINT

from pfmon.isa.ia64.formats import FORMATS
PORT_NUMBERS = {
    "A": PORT_A, "M": PORT_M, "M01": PORT_M01, "M0": PORT_M0, "M23": PORT_M23, "M2": PORT_M2, "I": PORT_I,
    "I0": PORT_I0, "F": PORT_F, "F0": PORT_F0, "B": PORT_B, "BRP": PORT_BRP, "L": PORT_L,
}


cdef int fill_ports(PortTable* table, config) except -1:
    """Reads ``ports.FORMAT`` and ``ports.FORMAT-advanced`` of a machine's figures."""
    cdef uint32_t number
    if len(FORMATS) > MAX_FORMATS:
        raise ValueError(f"more than {MAX_FORMATS} formats")
    for number, name in enumerate(FORMATS):
        if name[0] == "B":
            table.plain[number] = table.advanced[number] = PORT_B
            table.hint[number] = PORT_BRP
            continue
        if f"ports.{name}" not in config:    # a format without encodings (machine_config.py requires all others)
            table.plain[number] = table.advanced[number] = table.hint[number] = PORT_A
            continue
        table.plain[number] = table.hint[number] = PORT_NUMBERS[config[f"ports.{name}"]]
        table.advanced[number] = PORT_NUMBERS[config.get(f"ports.{name}-advanced", config[f"ports.{name}"])]
    return 0


cdef uint8_t port_of(const PortTable* table, uint8_t layout, uint32_t kind, uint32_t isa_kind) noexcept nogil:
    """Returns the ports for an encoding of these kinds."""
    if kind & NOP or isa_kind & PREFETCH_HINT:
        return table.hint[layout]
    if isa_kind & (ADVANCED | LOAD_CHECK):
        return table.advanced[layout]
    return table.plain[layout]


def ports_of(config):
    """By format: the ports of its encodings, of its advanced and check loads, of its hints (PORT_NUMBERS)."""
    cdef PortTable table
    fill_ports(&table, config)
    return {
        name: (table.plain[number], table.advanced[number], table.hint[number]) for number, name in enumerate(FORMATS)
    }
