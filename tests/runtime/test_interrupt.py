"""Ctrl-C ends a training within a tree, a forest within a node, a prediction within some rows; the process stays as it was."""

import pytest

import children

ROUNDS = 10**6
INTERRUPT = """
n_jobs, rounds = int(sys.argv[1]), int(sys.argv[2])
before = fit(n_jobs)
X, y = data()
dataset = sp.Dataset(X, y)
ends = []
for turns in (0, 100, 1000, 3000, 10_000, 30_000, 100_000, 300_000):
    reached, done = threading.Event(), 0

    def watch(info):
        global done
        done = info.round
        if done == 3:
            reached.set()

    def press(turns=turns):
        # Some while after the third round: the moment that the signal hits differs each time.
        reached.wait()
        for _ in range(turns):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        sp.train({"objective": "log_loss", "n_jobs": n_jobs}, dataset, rounds=rounds, callbacks=[watch])
        ends.append("trained to the end")
    except KeyboardInterrupt:
        ends.append([3 <= done < rounds, team_threads()])
    thread.join()
print(json.dumps([ends, fit(n_jobs) == before, team_threads()]))
"""


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_an_interrupt_ends_the_training_and_the_next_one_is_undisturbed(n_jobs):
    assert children.run_fits(INTERRUPT, n_jobs, ROUNDS) == [[[True, 0]] * 8, True, 0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_inside_a_callback_ends_the_training(n_jobs):
    program = """
    n_jobs, done = int(sys.argv[1]), []

    def press(info):
        done.append(info.round)
        if info.round == 2:
            signal.raise_signal(signal.SIGINT)

    before = fit(n_jobs)
    try:
        fit(n_jobs, rounds=1000, callbacks=[press])
    except KeyboardInterrupt:
        print(json.dumps([done, team_threads(), fit(n_jobs) == before]))
    """
    assert children.run_fits(program, n_jobs) == [[1, 2], 0, True]


def test_any_error_that_a_signal_raises_ends_the_training():
    program = """
    def late(number, frame):
        raise TimeoutError("too long")

    signal.signal(signal.SIGUSR1, late)
    reached = threading.Event()
    thread = threading.Thread(target=lambda: (reached.wait(), os.kill(os.getpid(), signal.SIGUSR1)))
    thread.start()
    before = fit()
    try:
        fit(rounds=10**6, callbacks=[lambda info: reached.set()])
    except TimeoutError as error:
        print(json.dumps([str(error), team_threads(), fit() == before]))
    thread.join()
    """
    assert children.run_fits(program) == ["too long", 0, True]


def test_an_error_in_a_callback_ends_the_training_and_its_threads():
    program = """
    def fail(info):
        raise LookupError("of the user")

    try:
        fit(callbacks=[fail])
    except LookupError as error:
        print(json.dumps([str(error), team_threads()]))
    """
    assert children.run_fits(program) == ["of the user", 0]


PREDICT = """
from scipy import sparse
from spinney.jit.team import Team
from spinney.model import predict

n_jobs, form = int(sys.argv[1]), sys.argv[2]
predict.SHARE_WALKS, predict.WORK, predict.FEWEST_ROWS = 0, 1, 16
X, y = data()
classifier = sp.GBMClassifier(n_estimators=3, n_jobs=n_jobs).fit(X, y)
model = classifier.model_
table = sparse.csr_array(X) if form == "sparse" else X
calls = {
    "predict": lambda: model.predict(table, n_jobs=n_jobs),
    "predict_raw": lambda: model.predict_raw(table, n_jobs=n_jobs),
    "predict_leaf": lambda: model.predict_leaf(table, n_jobs=n_jobs),
    "predict_proba": lambda: classifier.predict_proba(table),
}
run, started = Team.run, 0


def watched(team, job):
    # While the third stretch is under way, another thread presses Ctrl-C.
    global started
    started += 1
    if started != 3:
        return run(team, job)
    press = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
    press.start()
    try:
        run(team, job)
    finally:
        press.join()


ends = {}
for name, call in calls.items():
    before, started = call().tobytes(), 0
    Team.run = watched
    try:
        call()
        ends[name] = "predicted to the end"
    except KeyboardInterrupt:
        ends[name] = [started, team_threads()]
    Team.run = run
    ends[name] = [ends[name], call().tobytes() == before]
print(json.dumps(ends))
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_an_interrupt_ends_a_prediction_within_a_stretch_of_rows(n_jobs, form):
    names = ("predict", "predict_raw", "predict_leaf", "predict_proba")
    assert children.run_fits(PREDICT, n_jobs, form) == {name: [[3, 0], True] for name in names}


FOREST = """
from spinney.jit import barrier
from spinney.jit.team import Team

n_jobs = int(sys.argv[1])
X, y = data()
forest = sp.RandomForestRegressor(3, criterion="absolute_error", n_jobs=n_jobs, random_state=0)
before, run = forest.fit(X, y).model_, Team.run


def pressed(team, job):
    # Ctrl-C is pressed while the trees grow, on another thread than the main one; they grow until they are told to give up.
    if threading.current_thread() is threading.main_thread():
        return run(team, job)
    press = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
    press.start()
    while not team.sync[barrier.ABORT]:
        run(team, job)
    press.join()


Team.run = pressed
try:
    forest.fit(X, y)
    ended = "grown to the end"
except KeyboardInterrupt:
    ended = "interrupted"
Team.run = run
print(json.dumps([ended, team_threads(), forest.fit(X, y).model_ == before]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_an_interrupt_ends_a_forest_without_waiting_for_its_trees(n_jobs):
    assert children.run_fits(FOREST, n_jobs) == ["interrupted", 0, True]
