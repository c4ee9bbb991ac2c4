"""Performance monitoring interfaces of Linux for IA-64: perfmonctl (perfmon 2.0) and perf_event_open."""
