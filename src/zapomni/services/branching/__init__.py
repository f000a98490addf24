"""Branches of the memory: writing apart, comparing, merging."""
