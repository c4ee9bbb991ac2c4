"""The program of `pfmon demo`: order, for x86-64, and its source order.c, which says how it was built."""
