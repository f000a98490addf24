"""The reading memory: what a language model reads, concludes and answers."""
