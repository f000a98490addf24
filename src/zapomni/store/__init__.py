"""What is kept: memories, their history, their words and their vectors."""
