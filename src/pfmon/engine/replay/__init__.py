"""The replay engine: recordings instead of programs."""
