def processor_times() -> tuple[float, float]:
    """Return the seconds in user mode and in the kernel."""
