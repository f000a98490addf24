"""Files to text: one module a format behind one protocol."""
