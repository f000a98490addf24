"""How people and agents reach the memory: parse, call one verb, render."""
