"""Everything about compiling and running kernels.

Enters: Python functions with a declared signature. Leaves: machine code, called without the GIL by a team of threads.
Nothing here depends on trees. Numba is imported only here, and only while something is compiled; LLVM also where it loads object
files.
"""

from spinney.jit.barrier import Counter, Member
from spinney.jit.kernel import Bound, Kernel, framed, kernel
from spinney.jit.records import allocate, own, record
from spinney.jit.types import Inline, f32, f64, hole, i32, i64, inline, item, out, u8, u16, u32, u64

__all__ = [
    "Bound",
    "Counter",
    "Inline",
    "Kernel",
    "Member",
    "allocate",
    "f32",
    "f64",
    "framed",
    "hole",
    "i32",
    "i64",
    "inline",
    "item",
    "kernel",
    "out",
    "own",
    "record",
    "u8",
    "u16",
    "u32",
    "u64",
]
