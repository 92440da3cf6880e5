"""The meeting of threads, with compiled kernels: in step whatever holds them up, and free when one of them fails."""

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
    for size in (2, 3, 8):
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
    found = {f"{size} {delay}": [True] * 3 for size in (2, 3, 8) for delay in (0, 1, 77)}
    return found | {"thread 0": True, "thread 2": True, "left": 1}


def test_threads_go_in_step_and_a_failing_one_frees_the_others(toy):
    assert toy(MEET) == expected()


def test_they_do_so_under_numba_s_jit(toy):
    assert toy(MEET, SPINNEY_KERNELS="jit") == expected()


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
