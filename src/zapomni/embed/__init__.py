"""Text to vector: the protocol, the providers behind it and what keeps a failing one from harm."""
