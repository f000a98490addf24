"""Measuring retrieval and speed as users meet them."""
