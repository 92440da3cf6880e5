"""`python -m spinney.jit.worker LEVEL PART PARTS TARGET`: compile a share of the kernels into an object file."""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Compile every PARTS-th kernel for a CPU level, telling each one's name on standard output."""
    from spinney.jit import compiler, sources

    level, part, parts, target = arguments[0], int(arguments[1]), int(arguments[2]), Path(arguments[3])

    def tell(name: str) -> None:
        sys.stdout.write(name + "\n")
        sys.stdout.flush()

    share = sources.all_kernels()[part::parts]
    target.write_bytes(compiler.object_code(share, level, tell))


if __name__ == "__main__":
    main(sys.argv[1:])
