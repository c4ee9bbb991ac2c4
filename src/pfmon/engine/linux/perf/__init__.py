"""perf_event_open: perf events, their files, rings and samples; the owner of a process's PMU."""
