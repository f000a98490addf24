"""From a question to its hits."""
