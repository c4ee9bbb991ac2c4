"""pfmon: a performance-monitoring unit in software."""
