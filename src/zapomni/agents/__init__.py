"""The clients that agents run in: where each keeps its settings, and how it is wired to the memory and unwired."""
