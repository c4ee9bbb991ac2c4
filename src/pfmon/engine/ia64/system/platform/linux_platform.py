"""The platform that a Linux kernel boots on: firmware, tables, devices, and what the kernel is given (Linux,
arch/ia64/include/asm/processor.h, struct ia64_boot_param; EFI's and SAL's are in firmware/)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Protocol

from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import SystemProcessor
from pfmon.engine.ia64.system.devices import interrupt_block, io_ports, iosapic, power_switch, uart
from pfmon.engine.ia64.system.devices.interrupt_block import InterruptBlock
from pfmon.engine.ia64.system.devices.io_ports import IoPorts
from pfmon.engine.ia64.system.devices.iosapic import Iosapic
from pfmon.engine.ia64.system.devices.power_switch import PowerSwitch
from pfmon.engine.ia64.system.devices.uart import Uart
from pfmon.engine.ia64.system.firmware import acpi_tables, efi_tables, firmware_calls, sal_table
from pfmon.engine.ia64.system.firmware.acpi_tables import Placed
from pfmon.engine.ia64.system.firmware.efi_services import Efi
from pfmon.engine.ia64.system.firmware.firmware_calls import FirmwareCalls
from pfmon.engine.ia64.system.firmware.sal_procedures import Sal
from pfmon.engine.ia64.system.firmware.table_area import TableArea
from pfmon.engine.ia64.system.physical_device import PlacedDevice
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.platform import guest_calls, layout
from pfmon.engine.ia64.system.platform.command_line import command_line
from pfmon.engine.ia64.system.platform.guest_calls import GuestCalls
from pfmon.engine.ia64.system.platform.guest_code import GuestCode
from pfmon.engine.ia64.system.platform.initial_files import InitialFiles, place_initial_files
from pfmon.engine.ia64.system.platform.kernel_console import KernelConsole, beside_a_program
from pfmon.engine.ia64.system.platform.packed_files import program_files, program_path
from pfmon.engine.ia64.system.platform.setup_calls import SetupCalls
from pfmon.engine.ia64.system.snapshots.kept_fields import Keeper
from pfmon.engine.system_settings import BootSettings, SystemSettings
from pfmon.errors import PfmonError
from pfmon.program.image import Image

REGISTER_STACK_POINTER, ENTRY, PORTS = 2, 3, 14
"""General registers that services.S takes."""
GLOBAL_POINTER, STACK_POINTER, BOOT_PARAMETERS = 1, 12, 28
SCRATCH_AREA = 16
"""Bytes above the stack pointer that belong to who is called (software conventions, 7.1)."""
PANICKED = 125
BOOT = struct.Struct("<5QI4H4x3Q")
COLUMNS, ROWS = 80, 25
"""Of the console, which nobody asks for."""
BREAKS = (firmware_calls.BEGIN_BREAK, firmware_calls.GO_ON_BREAK)


class PlatformHost(Protocol):
    """The system as its platform reaches it."""

    @property
    def nanoseconds(self) -> int:
        """Its time, since 1970."""

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory; False: there is none."""

    def finish(self, ending: ExitReport) -> None:
        """End the run."""

    def begin_program(self) -> None:
        """The current task is about to execute the program."""

    def end_program(self) -> None:
        """The program has ended."""

    def is_between_calls(self) -> bool:
        """Whether no processor is in a call of firmware."""

    def ready(self) -> bool:
        """The system is ready for a program: whether the run goes on."""

    def want_snapshot(self) -> None:
        """Have a snapshot taken before the next instruction."""


class LinuxPlatform:
    """The platform of one kernel. PfmonError: something does not fit into the memory, or is not what it should be."""

    def __init__(
        self,
        host: PlatformHost,
        memory: PhysicalMemory,
        image: Image,
        system: SystemSettings,
        settings: GuestSettings,
        on_notice: Callable[[str], None],
    ) -> None:
        assert system.boot is not None
        self._host, self._memory, self._image, self._on_notice = host, memory, image, on_notice
        self._boot: BootSettings = system.boot
        self._files = settings.standard_files
        self._uart_address = layout.UART if system.uart is None else system.uart
        if self._uart_address > layout.HIGHEST_UART:
            raise PfmonError(f"--uart={self._uart_address:#x}: a kernel's is below 4G").about("--uart")
        program = self._boot.program
        self.console = KernelConsole(
            beside_a_program(self._files) if self._boot.takes_programs else self._files,
            on_notice,
            shown=not self._boot.takes_programs or self._boot.console,
            exit_on=self._boot.exit_on,
            on_end=self._console_ended,
            snapshot_on=self._boot.snapshot_on,
            on_snapshot=host.want_snapshot,
        )
        outputs = [one for _, one in program.outputs] if program else []
        self.guest_calls = GuestCalls(memory, self._files, outputs, host.finish, self._program_changes, on_notice)
        self._calls: dict[int, FirmwareCalls] = {}
        self.sal = Sal(system.processor.bus_frequency, system.processors)
        self.keepers: Mapping[str, Keeper] = {}
        """What a snapshot has of devices and firmware, by name; `make_devices` makes them."""
        files = program_files(program) if program else None
        self.code = GuestCode(files) if files else None
        """The files that the program's processes execute; None: there is no program."""
        given = (files, program, program_path(program)) if files and program else None
        self.guest_calls.setup = SetupCalls(
            host, memory.write, given, is_ready=bool(self._boot.from_snapshot), seed=settings.seed
        )
        self._parameters = self._place_tables(
            place_initial_files(memory, image, self._boot, files.size if files else 0)
        )

    def _place_tables(self, initial: InitialFiles) -> int:
        """Put code and tables into the memory. Return the address of the boot parameters."""
        firmware = self._memory.firmware
        self._code = firmware + layout.SERVICES
        area = TableArea(firmware + layout.TABLES)
        placed = Placed(
            interrupt_block.ADDRESS, layout.IOSAPIC, layout.POWER, self._uart_address, uart.REGISTERS, layout.UART_LINE
        )
        acpi = acpi_tables.place_tables(area, placed, self.sal.processors)
        sal = area.place(sal_table.system_table(firmware, self._code, 0))
        places = efi_tables.place_tables(area, self._code, sal, acpi)
        memory_map = efi_tables.memory_map(layout.memory_ranges(firmware, self._uart_address))
        text = command_line(self._image, self._boot, self._uart_address)
        parameters = BOOT.pack(
            area.place(text + b"\0"),
            places.system,
            area.place(memory_map),
            *(len(memory_map), efi_tables.DESCRIPTOR.size, efi_tables.DESCRIPTOR_VERSION),
            *(COLUMNS, ROWS, 0, 0),
            *(0, initial.address, initial.length),
        )
        at = area.place(parameters)
        self._memory.write(self._code, firmware_calls.code())
        self._memory.write(area.address, area.content)
        self.efi = Efi(self, places, self._code)
        return at

    # --- for the system

    @property
    def reserved_breaks(self) -> list[int]:
        """Immediates that `take` answers at level 0."""
        return list(BREAKS)

    @property
    def user_break(self) -> int | None:
        """The immediate that `take` answers at each level; None: the first program is not pfmon's."""
        return guest_calls.BREAK if self._boot.takes_programs else None

    def make_devices(self, block: InterruptBlock) -> list[PlacedDevice]:
        """The devices and their addresses. ``block``: what interrupt messages go to."""

        def send(processor_id: int, vector: int, mode: int) -> None:
            offset = processor_id << 4
            block.write(offset, interrupt_block.MESSAGE_BYTES, vector | mode << 8)

        controller = Iosapic(send)
        self._uart = Uart(self.console, lambda raised: controller.set_line(layout.UART_LINE, raised))
        self.keepers = {"interrupt_block": block, "iosapic": controller, "uart": self._uart, "efi": self.efi}
        return [
            (layout.IOSAPIC, iosapic.BYTES, controller),
            (layout.POWER, power_switch.BYTES, PowerSwitch(self.reset)),
            (layout.UNCLAIMED, interrupt_block.ADDRESS - layout.UNCLAIMED, IoPorts()),
            (layout.IO_PORTS, io_ports.BYTES, IoPorts()),
            (self._uart_address, uart.REGISTERS, self._uart),
        ]

    def begin(self, processor: SystemProcessor) -> None:
        """Have the first processor begin the kernel (services.S)."""
        firmware = self._memory.firmware
        processor.set_gr(REGISTER_STACK_POINTER, firmware + layout.REGISTER_STACK)
        processor.set_gr(STACK_POINTER, firmware + layout.MEMORY_STACK - SCRATCH_AREA)
        processor.set_gr(ENTRY, self._image.elf.physical_entry)
        processor.set_gr(PORTS, layout.IO_PORTS)
        processor.set_gr(BOOT_PARAMETERS, self._parameters)
        processor.set_ip(self._code + firmware_calls.START)

    def begin_other(self, processor: SystemProcessor) -> bool:
        """Have an application processor begin at the rendezvous of SAL_SET_VECTORS, by the interrupt that wakes it
        (SAL specification 3.2.5). False: the system has set no such vector."""
        handler = self.sal.rendezvous
        processor.acknowledge()
        if handler is None:
            return False
        processor.set_gr(GLOBAL_POINTER, handler.gp)
        processor.set_ip(handler.address)
        return True

    @property
    def is_between_calls(self) -> bool:
        """Whether no processor is in a call of SAL or EFI."""
        return all(one.is_between_calls for one in self._calls.values())

    @property
    def uart_address(self) -> int:
        """The physical address of the serial port."""
        return self._uart_address

    def take(self, immediate: int, processor: SystemProcessor) -> None:
        """Answer a break of a processor."""
        if immediate == guest_calls.BREAK:
            self.guest_calls.take(processor)
            return
        calls = self._calls.get(id(processor))
        if calls is None:
            calls = self._calls[id(processor)] = FirmwareCalls(processor, {0: self.sal.call, **self.efi.services})
        calls.take(immediate)

    def resume(self, processor: SystemProcessor) -> None:
        """The system comes from a snapshot: the first program's request gets its answer."""
        self.guest_calls.take(processor)

    def halted(self, nanoseconds: int) -> None:
        """The system waits for so long, or for an interrupt: input may come."""
        if self._boot.takes_programs:
            self.guest_calls.wait(nanoseconds / 1e9)
        else:
            self.console.wait(nanoseconds / 1e9)
            self._uart.update_line()

    def take_interrupt(self) -> bool:
        """Ctrl-C was typed: whether the kernel gets it."""
        taken = self.console.interrupt()
        if taken:
            self._uart.update_line()
        return taken

    def close(self) -> None:
        """The run has ended."""
        self.guest_calls.abandon()
        self.console.close()

    # --- for EFI

    @property
    def nanoseconds(self) -> int:
        """The system's time, since 1970."""
        return self._host.nanoseconds

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory."""
        return self._host.write_memory(address, content)

    def reset(self) -> None:
        """The system resets itself, or switches itself off."""
        self._console_ended(self.console.panic)

    def _program_changes(self, begins: bool) -> None:
        """The program begins, or has ended."""
        if begins:
            self._host.begin_program()
        else:
            self._host.end_program()

    def _console_ended(self, panic: str) -> None:
        if not panic:
            self._host.finish(ExitReport(0))
            return
        if self.console.hidden_text:
            self._on_notice(f"the console of the system:\n{self.console.hidden_text}")
        text = f"the system panicked: {panic}"
        self._on_notice(text)
        self._host.finish(ExitReport(PANICKED, 0, text))
