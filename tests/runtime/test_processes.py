"""A fit gives the same bytes in a forked or spawned process, in a thread, under joblib and inside another fit."""

import os

import pytest

import children

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

FORK = """
def in_fork(work):
    # Run in a forked process and return a function that waits for what it returned.
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while there are threads
        child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(work()).encode())
        os._exit(0)
    os.close(writing)

    def result():
        with open(reading) as pipe:
            told = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        return json.loads(told)

    return result

"""


@pytest.fixture(scope="module")
def undisturbed():
    """Digest of the model that every one of these programs fits."""
    return children.run_fits("print(json.dumps(fit(n_jobs=1)))")


@forking
def test_a_forked_process_fits_after_its_parent_did(undisturbed):
    program = """
    before = fit()
    child = in_fork(fit)
    print(json.dumps([before, child(), fit()]))
    """
    assert children.run_fits(FORK + children.textwrap.dedent(program)) == [undisturbed] * 3


@pytest.mark.slow
@forking
def test_a_process_forked_inside_a_fit_goes_on_with_it_and_so_does_its_parent(undisturbed):
    program = """
    children = []

    def split(info):
        if info.round == 2 and not children:
            reading, writing = os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                children.append((os.fork(), reading, writing))

    found = fit(callbacks=[split])
    child, reading, writing = children[0]
    if child == 0:
        os.write(writing, json.dumps([found, team_threads(), fit()]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        told = json.load(pipe)
    print(json.dumps([found, *told, os.waitpid(child, 0)[1]]))
    """
    assert children.run_fits(program) == [undisturbed, undisturbed, 0, undisturbed, 0]


@pytest.mark.slow
@forking
def test_a_ranker_that_was_loaded_scores_and_fits_in_a_forked_process(tmp_path):
    program = """
    X, y = data()
    qid = np.arange(len(y)) % 100
    fitted = sp.GBMRanker(n_estimators=2).fit(X, y, qid=qid)
    fitted.save(sys.argv[1])
    loaded = sp.load_estimator(sys.argv[1])

    def work():
        scores = loaded.predict(X).tobytes()
        again = loaded.fit(X, y, qid=qid).model_.to_bytes()
        return hashlib.sha256(scores + again).hexdigest()

    expected = hashlib.sha256(fitted.predict(X).tobytes() + fitted.model_.to_bytes()).hexdigest()
    print(json.dumps([in_fork(work)(), work(), expected]))
    """
    found = children.run_fits(FORK + children.textwrap.dedent(program), str(tmp_path / "ranker.safetensors"))
    assert found == [found[0]] * 3


@pytest.mark.slow
@forking
def test_a_process_forked_while_another_thread_fits_can_fit(undisturbed):
    program = """
    started, asked_to_end = threading.Event(), threading.Event()

    def stay(info):
        started.set()
        return asked_to_end.is_set()

    thread = threading.Thread(target=fit, kwargs={"rounds": 10**6, "callbacks": [stay]})
    thread.start()
    started.wait()
    found = [in_fork(fit)() for _ in range(3)]
    asked_to_end.set()
    thread.join()
    print(json.dumps(found))
    """
    assert children.run_fits(FORK + children.textwrap.dedent(program)) == [undisturbed] * 3


@pytest.mark.slow
@forking
def test_a_process_forked_while_another_thread_loads_the_library_can_fit(undisturbed):
    program = """
    from spinney.jit import library

    loading, go_on, choose = threading.Event(), threading.Event(), library._choose

    def slow():
        loading.set()
        go_on.wait()
        return choose()

    library._choose = slow
    thread = threading.Thread(target=library.runtime)
    thread.start()
    loading.wait()

    def in_child():
        library._choose = choose
        return fit()

    child = in_fork(in_child)
    found = child()
    go_on.set()
    thread.join()
    print(json.dumps([found, fit()]))
    """
    assert children.run_fits(FORK + children.textwrap.dedent(program)) == [undisturbed] * 2


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_fits(undisturbed, method):
    program = """
    import multiprocessing

    if __name__ == "__main__":
        before = fit()
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            print(json.dumps([before, *pool.map(fit, [1, 2, 3])]))
    """
    if method not in __import__("multiprocessing").get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    assert children.run_fits(program, method) == [undisturbed] * 4


def test_joblib_fits_in_processes_and_in_threads(undisturbed):
    program = """
    import joblib

    found = [fit()]
    for backend in ("loky", "threading"):
        found += joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit)(k) for k in (1, 2, None))
    print(json.dumps(found))
    """
    assert children.run_fits(program) == [undisturbed] * 7


def test_threads_fit_at_the_same_time(undisturbed):
    program = """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fit, [2] * 8))
    print(json.dumps([found, team_threads()]))
    """
    assert children.run_fits(program) == [[undisturbed] * 8, 0]


def test_a_callback_fits_another_model(undisturbed):
    program = """
    inner = []
    outer = fit(callbacks=[lambda info: inner.append(fit(callbacks=[lambda info: inner.append(fit())]))], rounds=2)
    print(json.dumps([outer == fit(rounds=2), sorted(set(inner)), len(inner), team_threads()]))
    """
    assert children.run_fits(program) == [True, [undisturbed], 10, 0]


def test_small_work_stays_on_one_thread_and_large_work_has_the_threads_asked_for():
    program = """
    from spinney.jit import cores

    cores.THREADS_PER_CORE = 4
    seen = []
    count = lambda info: seen.append(team_threads())
    X, y = data()
    for rows, n_jobs in ((500, 4), (3_000, 1), (3_000, 4)):
        sp.train({"n_jobs": n_jobs}, sp.Dataset(X[:rows], y[:rows], n_jobs=n_jobs), rounds=1, callbacks=[count])
    print(json.dumps(seen))
    """
    assert children.run_fits(program) == [0, 0, 3]


def test_a_fit_that_is_still_running_when_the_program_ends_does_no_harm():
    program = """
    started = threading.Event()
    forever = {"rounds": 10**6, "callbacks": [lambda info: started.set()]}
    threading.Thread(target=fit, kwargs=forever, daemon=True).start()
    started.wait()
    print(json.dumps("the end"))
    """
    assert children.run_fits(program) == "the end"
