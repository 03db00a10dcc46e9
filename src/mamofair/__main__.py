"""`python -m mamofair` is the command line."""

from mamofair.cli import main

if __name__ == "__main__":
    main()
