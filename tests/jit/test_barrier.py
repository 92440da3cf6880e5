"""The meeting of threads, with compiled kernels: in step whatever holds them up, and free when one of them fails."""

import pytest

MEET = """
    import json, sys, threading
    import numpy as np
    from spinney.jit import barrier
    from spinney.jit.team import Team
    from spinney.toy import kernels

    def hand_on(team, turns):
        cells = np.zeros(8 * team.size, np.int64)
        cells[::8] = np.arange(team.size)
        team.run(kernels.hand_on.bind(team.size, turns, cells))
        return cells[::8].tolist()

    found = {}
    for size in (2, 3, 8, 9, 17, 24):
        for delay in (0, 1, 77):
            with Team(size) as team:
                team.sync[barrier.DELAY] = delay
                turns = 60 if delay else 500
                found[f"{size} {delay}"] = [
                    hand_on(team, turns) == [(rank + turns) % size + turns for rank in range(size)] for _ in range(3)
                ]

    class Failing:
        # One thread fails where the others wait for it inside the kernel.
        def __init__(self, team, which):
            self.job = kernels.hand_on.bind(team.size, 10**15, np.zeros(8 * team.size, np.int64))
            self.which = which
        def machine_code(self, threads):
            return None
        def __call__(self, rank, size, sync):
            if rank == self.which:
                raise OSError(f"thread {rank}")
            self.job(rank, size, sync)

    for which in (0, 2):
        with Team(3) as team:
            try:
                team.run(Failing(team, which))
            except OSError as error:
                found[str(error)] = hand_on(team, 3) == [3, 4, 5]
    found["left"] = threading.active_count()
    print(json.dumps(found))
"""


def expected():
    found = {f"{size} {delay}": [True] * 3 for size in (2, 3, 8, 9, 17, 24) for delay in (0, 1, 77)}
    return found | {"thread 0": True, "thread 2": True, "left": 1}


def test_threads_go_in_step_and_a_failing_one_frees_the_others(toy):
    assert toy(MEET) == expected()


@pytest.mark.slow
def test_they_do_so_under_numba_s_jit(toy):
    assert toy(MEET, SPINNEY_KERNELS="jit") == expected()


TURNS = """
    import json, threading
    import numpy as np
    from spinney.jit import barrier
    from spinney.jit.team import Team
    from spinney.toy import kernels

    def take_turns(team, turns, last):
        cells = np.zeros(1, np.int64)
        team.run(kernels.take_turns.bind(turns, last, cells))
        return int(cells[0])

    found = {}
    for size in (2, 3, 8):
        for delay in (0, 5):
            with Team(size) as team:
                team.sync[barrier.DELAY] = delay
                turns = 60 if delay else 20_000
                found[f"{size} {delay}"] = [take_turns(team, turns, turns * size) == turns * size for _ in range(3)]

    class Failing:
        # One thread fails, so that the sum for which the others wait is never reached.
        def __init__(self, job, which, busy):
            self.job, self.which, self.busy = job, which, busy
        def machine_code(self, threads):
            return None
        def __call__(self, rank, size, sync):
            if rank == self.which:
                sync[barrier.BUSY] += self.busy
                raise OSError(f"thread {rank}")
            self.job(rank, size, sync)

    for which in (0, 2):
        for busy in (0, 1):
            with Team(3) as team:
                try:
                    team.run(Failing(kernels.take_turns.bind(50, 150, np.zeros(1, np.int64)), which, busy))
                except OSError as error:
                    found[f"{error} {busy}"] = take_turns(team, 7, 21) == 21
    found["left"] = threading.active_count()
    print(json.dumps(found))
"""


@pytest.mark.parametrize("environment", [{}, {"SPINNEY_KERNELS": "jit"}], ids=["compiled", "jit"])
def test_threads_take_turns_and_a_failing_one_frees_those_that_wait(toy, environment):
    expected = {f"{size} {delay}": [True] * 3 for size in (2, 3, 8) for delay in (0, 5)}
    expected |= {f"thread {rank} {busy}": True for rank in (0, 2) for busy in (0, 1)}
    assert toy(TURNS, **environment) == expected | {"left": 1}


OUT_OF_BOUNDS = """
    import json, threading
    import numpy as np
    from spinney.jit.team import Team
    from spinney.toy import kernels

    found = []
    for size in (1, 3):
        with Team(size) as team:
            job = kernels.hand_on.bind(team.size, 5, np.zeros(8 * team.size, np.int64))
            job.arguments[2] = np.zeros(8 * (team.size - 1), np.int64)
            try:
                team.run(job)
            except IndexError as error:
                found.append(str(error))
    print(json.dumps([found, threading.active_count()]))
"""


def test_an_index_out_of_bounds_in_one_thread_is_an_error_where_bounds_are_checked(toy):
    found, threads = toy(OUT_OF_BOUNDS, NUMBA_BOUNDSCHECK=1)
    assert len(found) == 2
    assert threads == 1
