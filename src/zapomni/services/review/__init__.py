"""The review desk: what is proposed, raised, handed over and missed."""
