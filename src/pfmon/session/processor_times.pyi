def processor_times() -> tuple[float, float]:
    """Seconds in user mode and in the kernel."""
