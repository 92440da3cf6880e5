"""Everything about compiling and running kernels.

Enters: Python functions with a declared signature. Leaves: machine code, called without the GIL by a team of threads.
Nothing here depends on trees. Numba is imported only here, and only while something is compiled; LLVM also where it loads object
files.

`kernel`, `types` and `records` declare kernels and what they are given. `compiler` makes machine code of them, `build` a library
for the package or the user's cache, and `library` finds and loads it: so one wheel per platform serves every version of Python.
`team` runs kernels on threads, which meet at the barriers of `barrier` and take up jobs by `kernels`. `intrinsics` and `math`
have what Python has no word for, and functions with the same bits on every system.

Words: a *kernel* is a compiled entry point. A *record* has arrays and numbers under one name; a *per-thread record* is memory of
each thread; an *item* is a type of table rows. A *frame* is a function that calls *holes*: names, declared in its module, of
functions that are put in later, such as the formula of a loss. A *team* is the threads of one training, a *member* one of them,
its *rank* the number of it.
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
