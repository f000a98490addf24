"""Sessions of agents: what they are told, and what is kept of them."""
