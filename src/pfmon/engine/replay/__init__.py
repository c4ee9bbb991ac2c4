"""Recordings run again: the second engine."""
