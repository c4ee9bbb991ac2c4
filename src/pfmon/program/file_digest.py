"""The digest that identifies a file in a recording."""

import hashlib


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file's contents, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
