"""Object files → functions to call, by LLVM and without a linker.

Where no C compiler links the kernels into a library, the objects of all parts are kept side by side in one file, and LLVM
puts them into memory: the same machine code, loaded in 0.1 s. `python -m spinney.jit.objects PATH` tries it.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def pack(objects: Sequence[bytes], symbols: Sequence[str]) -> bytes:
    """One file of several objects: a line that tells their sizes and the functions in them, then the objects."""
    header = {"sizes": [len(code) for code in objects], "symbols": list(symbols)}
    return json.dumps(header).encode() + b"\n" + b"".join(objects)


class Objects:
    """The functions of packed object files, by their symbols, as a `ctypes` library has them.

    LLVM is asked for all addresses at once and never again: a process forked off meanwhile might find its lock held.
    """

    def __init__(self, path: Path) -> None:
        from llvmlite import binding as llvm

        header, _, code = path.read_bytes().partition(b"\n")
        about = json.loads(header)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        machine = target.create_target_machine(reloc="pic", codemodel="default", jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        begin = 0
        for size in about["sizes"]:
            engine.add_object_file(llvm.ObjectFileRef.from_data(code[begin : begin + size]))
            begin += size
        engine.finalize_object()
        self._addresses: dict[str, int] = {
            symbol: engine.get_function_address(symbol) for symbol in about["symbols"]
        }
        # The code stays in memory for as long as the process lives: a thread may be in it to the very end.
        engine.detach()

    def __getitem__(self, symbol: str) -> Any:
        """A function, its argument types still to be set; AttributeError where there is none of this name."""
        address = self._addresses.get(symbol, 0)
        if address == 0:
            raise AttributeError(symbol)
        return ctypes.CFUNCTYPE(None)(address)


def main(path: str) -> None:
    """Load packed object files and look for every kernel. LLVM ends a process that asks for what cannot be loaded."""
    from spinney.jit import sources

    loaded = Objects(Path(path))
    for kernel in sources.all_kernels():
        loaded[kernel.symbol]


if __name__ == "__main__":
    main(sys.argv[1])
