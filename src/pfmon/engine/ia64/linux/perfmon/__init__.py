"""Performance monitoring as Linux for IA-64 gives it to programs: perfmonctl (perfmon 2.0) and perf_event_open."""
