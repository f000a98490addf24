"""Everything a user can ask of the memory, one module a verb."""
