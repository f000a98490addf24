"""A folder of memories and its index: what it costs, how it is cut, what in it wants repair."""
