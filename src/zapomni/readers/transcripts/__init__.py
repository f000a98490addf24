"""Transcripts: what was said in a session, read from the file that its client keeps."""
