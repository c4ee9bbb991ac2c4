"""Programs that qemu-user executes: x86-64."""
