"""`python -m spinney.jit.worker PART PARTS TARGET LEVEL...`: compile a share of the kernels into object files."""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Compile one of PARTS shares of the kernels for some CPU levels into TARGET-LEVEL.o, telling each on standard output."""
    from spinney.jit import compiler, sources

    part, parts, target, levels = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]

    def tell(level: str, name: str) -> None:
        sys.stdout.write(f"{level} {name}\n")
        sys.stdout.flush()

    share = sources.shares(parts)[part]
    for level, code in zip(levels, compiler.object_codes(share, levels, tell), strict=True):
        Path(f"{target}-{level}.o").write_bytes(code)


if __name__ == "__main__":
    main(sys.argv[1:])
