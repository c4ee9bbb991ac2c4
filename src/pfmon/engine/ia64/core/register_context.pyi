class ThreadContext:
    """The registers of a thread that does not run; made by Processor.context."""
