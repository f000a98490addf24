"""Mirrored folders: files of notes and memories kept in step, both ways."""
