"""What the bundle starts: the server that `uv` has installed from the package."""

from zapomni.surfaces.cli.main import main

if __name__ == "__main__":
    main()
