"""The command line: `main` finds the command, `session` opens the memory, `options` reads, `render` shows."""
