"""The engine for programs that qemu-user executes."""
