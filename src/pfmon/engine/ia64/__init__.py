"""The IA-64 engine."""
