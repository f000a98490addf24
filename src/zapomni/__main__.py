"""`python -m zapomni` is the command `zapomni`."""

from zapomni.surfaces.cli.main import main

main()
