"""Write the constructors to standard output: `python -m spinney.estimators > src/spinney/estimators/generated.py`."""

import sys

from spinney.estimators.constructors import source

if __name__ == "__main__":
    sys.stdout.write(source())
