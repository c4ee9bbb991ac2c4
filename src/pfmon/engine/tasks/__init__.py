"""The processes of a followed program, each with a reader thread of its own, whichever engine executes them."""
