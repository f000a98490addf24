"""Text to judgement: the protocol, the providers behind it, and what makes sense of their replies."""
