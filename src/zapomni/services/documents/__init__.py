"""Documents: sources, their scans, and what is found in them."""
