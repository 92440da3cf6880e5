"""Write the parameters page to standard output: `python -m spinney.params > docs/parameters.md`."""

import sys

from spinney.params import markdown

if __name__ == "__main__":
    sys.stdout.write(markdown())
