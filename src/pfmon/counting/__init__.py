"""Counting: monitors decoded from registers, the increments of blocks and cycles, totals, and live counting."""
