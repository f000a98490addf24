"""`python -m zapomni` is the command `zapomni`."""

from zapomni.surfaces.start import main

main()
