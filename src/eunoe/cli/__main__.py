"""Run the command line as `python -m eunoe.cli`."""

from . import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
