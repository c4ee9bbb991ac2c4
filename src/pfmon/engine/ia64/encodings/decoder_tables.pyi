"""Types of pfmon.engine.ia64.encodings.decoder_tables."""

ROW_SIZE: int

def computed() -> bytes: ...
