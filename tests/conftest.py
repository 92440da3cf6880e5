"""What holds for all tests."""

from spinney.jit import cores

# Teams are as large as a test asks for, whatever the machine has: models must not depend on their number of threads.
cores.THREADS_PER_CORE = 64
