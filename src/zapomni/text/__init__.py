"""What text means to the product: folded, cut, counted and guarded. Pure functions: no I/O and no clock."""
