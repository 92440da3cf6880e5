"""Every case, one line each."""

from dataclasses import dataclass

from benchmarks.bench import Run
from benchmarks.cases import (
    accuracy,
    adaboost,
    areas,
    build,
    categories,
    cluster,
    costs,
    cross_validation,
    datasets,
    disk,
    fits,
    flights,
    forest_accuracy,
    forest_categories,
    forest_growth,
    forest_same,
    forest_use,
    forests,
    identical,
    identical_losses,
    inspection,
    isolation,
    levels,
    losses,
    memory,
    methods,
    methods_same,
    parity,
    prediction,
    prediction_sparse,
    quantiles,
    ranking,
    sampling,
    scaling,
    sketches,
    small,
    sparsity,
    survival,
    threads,
    training,
)
from benchmarks.peers import BOOSTING

EVERY = tuple(BOOSTING)
LIGHTGBM = ("lightgbm",)
XGBOOST = ("xgboost",)
TWIN = ("sklearn-forest",)
ADABOOST = ("sklearn-adaboost",)
TWINS = ("sklearn-forest", "intelex-forest")
ISOLATION = ("sklearn-isolation", "isotree")
RANKERS = ("lightgbm-ranker", "xgboost-ranker")
NOBODY: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A name to choose it by, what it measures, how, and against whom unless told otherwise."""

    name: str
    what: str
    run: Run
    peers: tuple[str, ...]


LIST = (
    Case("train-255", "train 500 000 × 28, 255 leaves, 100 rounds", training.run, EVERY),
    Case("train-31", "train 500 000 × 28, 31 leaves, 100 rounds", training.run, EVERY),
    Case("train-wide", "train 50 000 × 500, 255 leaves, 100 rounds", training.run, EVERY),
    Case("train-long", "train 5 000 000 × 28, 255 leaves, 20 rounds", training.run, EVERY),
    Case("train-classes", "train 100 000 × 50, 10 classes, 31 leaves, 100 rounds", training.run, EVERY),
    Case("small-fit", "a warm fit of 1 000 × 10 through the estimator", fits.run_small, EVERY),
    Case("cv", "cross-validate 100 000 × 28, 5 folds, 31 leaves, 100 rounds", cross_validation.run, LIGHTGBM),
    Case("losses", "train 500 000 × 28, 255 leaves, 100 rounds, four losses", losses.run_timed, LIGHTGBM),
    Case(
        "quantiles",
        "three quantiles of 200 000 × 28, 31 leaves, 100 rounds",
        quantiles.run,
        ("lightgbm", "xgboost"),
    ),
    Case("survival", "Cox and AFT on 200 000 × 20, depth 6, 100 rounds", survival.run, XGBOOST),
    Case("survival-accuracy", "concordance of Cox and AFT over five seeds", survival.run_accuracy, XGBOOST),
    Case("dataset", "build the Dataset of 500 000 × 28", datasets.run, EVERY),
    Case("memory", "peak memory of train-long in its own process", memory.run, EVERY),
    Case(
        "disk", "from batches on disk, 5 000 000 × 28, depth 8 and 255 leaves, 20 rounds", disk.run, XGBOOST
    ),
    Case("disk-memory", "peak memory of 20 000 000 × 28 with 500 MB for pages", disk.run_memory, NOBODY),
    Case(
        "dask",
        "on a cluster of two processes, 2 000 000 × 28, 255 leaves, 20 rounds",
        cluster.run,
        ("lightgbm", "xgboost"),
    ),
    Case(
        "dask-faults",
        "200 trainings on a cluster with kills, new workers and interrupts",
        cluster.run_faults,
        NOBODY,
    ),
    Case("predict", "predict 500 000 rows, 100 trees of 255 leaves", prediction.run_many, EVERY),
    Case("predict-one", "predict one row, 100 trees of 255 leaves", prediction.run_one, EVERY),
    Case(
        "predict-sparse",
        "predict 200 000 sparse rows, 100 trees of 63 leaves, one thread",
        prediction_sparse.run,
        ("lightgbm", "xgboost"),
    ),
    Case("first-fit", "a fit of 1 000 × 10 in a new process, imports included", fits.run_first, EVERY),
    Case("build", "compile the kernels of every CPU level; size of the wheel", build.run, NOBODY),
    Case("levels", "the CPU levels against each other, work by work", levels.run, NOBODY),
    Case("identical", "model files of every train case for 1, 2, 3 and 8 threads", identical.run, NOBODY),
    Case("identical-losses", "model files of every loss by threads", identical_losses.run, NOBODY),
    Case("scaling", "growth of training time when rows or columns double", scaling.run, LIGHTGBM),
    Case(
        "threads",
        "every learner and predict on 1, 2, ... threads, with the processor time that they take",
        threads.run,
        ("lightgbm", "xgboost", "sklearn-forest", "sklearn-isolation"),
    ),
    Case("flights", "one-hot flights: bundling, GOSS, peers", flights.run, ("lightgbm", "xgboost")),
    Case("flights-peers", "one-hot flights, peers alone", flights.run_peers, ("lightgbm", "xgboost")),
    Case("categories", "categorical columns: flights, adult, census", categories.run, LIGHTGBM),
    Case("flights-categories", "categorical columns: time on flights", categories.run_timed, LIGHTGBM),
    Case("goss", "GOSS against uniform sampling of as many rows", sampling.run, NOBODY),
    Case("density", "training time on a sparse matrix by density", sparsity.run_density, NOBODY),
    Case("bundles", "bundles of one-hot blocks", sparsity.run_bundles, NOBODY),
    Case("identical-sparse", "model files of one-hot flights", sparsity.run_identical, NOBODY),
    Case("sketch", "quantile sketches of 10 000 000 values", sketches.run, NOBODY),
    Case("accuracy", "held-out loss on real tables, five splits each", accuracy.run, LIGHTGBM),
    Case(
        "losses-real",
        "held-out losses of every kind on real tables, five splits each",
        losses.run_real,
        ("lightgbm", "xgboost"),
    ),
    Case("auc", "areas under curves of 1 000 000 rows", areas.run, NOBODY),
    Case("exact", "exact, 100 000 × 28, depth 6, 100 rounds", methods.run_exact, XGBOOST),
    Case("approx", "approx, 500 000 × 28, depth 6, 20 rounds", methods.run_approx, XGBOOST),
    Case(
        "hist-exact", "hist against exact, 500 000 × 28, depth 6, 20 rounds", methods.run_hist_exact, NOBODY
    ),
    Case("depthwise", "level by level, 500 000 × 28, depth 6 and 8", methods.run_depthwise, XGBOOST),
    Case(
        "exact-sparse", "exact on stored values against the same table dense", methods_same.run_sparse, NOBODY
    ),
    Case("identical-methods", "model files of every method by threads", methods_same.run_identical, NOBODY),
    Case("methods", "hist, approx and exact at 1 000 000 × 100: time, memory, AUC", costs.run, NOBODY),
    Case("exact-parity", "exact trees against XGBoost's on real tables", parity.run, XGBOOST),
    Case("small-tables", "exact against hist on small tables", small.run, NOBODY),
    Case(
        "inspection",
        "importance of shuffled columns, 100 000 × 28, 100 trees of 31 leaves",
        inspection.run_permutation,
        NOBODY,
    ),
    Case("forest", "random forest, 100 trees fully grown, 100 000 × 28, two classes", forests.run, TWINS),
    Case("forest-covtype", "the same on covtype, 100 000 × 54, 7 classes", forests.run, TWINS),
    Case(
        "forest-large",
        "20 trees on 1 000 000 × 28, fully grown and of depth 20",
        forests.run_large,
        (*TWINS, "xgboost-forest", "lightgbm-forest"),
    ),
    Case("forest-regression", "random forest of numbers, 100 000 × 28", forests.run, TWINS),
    Case("forest-exact", "random forest of exact cuts, 100 000 × 28", forests.run, TWIN),
    Case("extra-trees", "extra trees, 100 000 × 28, two classes", forests.run, TWINS),
    Case("extra-trees-covtype", "extra trees on covtype, 100 000 × 54", forests.run, TWINS),
    Case("forest-predict", "predict 100 000 rows, 100 trees fully grown", forest_use.run_predict, TWINS),
    Case("forest-memory", "memory and file of 100 trees fully grown", forest_use.run_memory, TWINS),
    Case("forest-growth", "time of a fit when trees, rows, columns double", forest_growth.run, NOBODY),
    Case("identical-forests", "files of forests and of AdaBoost by threads", forest_same.run, NOBODY),
    Case("forest-accuracy", "forests on real tables, five seeds", forest_accuracy.run, TWIN),
    Case(
        "forest-categories", "bias and loss where columns have many categories", forest_categories.run, NOBODY
    ),
    Case("forest-missing", "AUC where values are missing", forest_accuracy.run_missing, NOBODY),
    Case("adaboost", "AdaBoost, 100 stumps and 100 trees of depth 4, 100 000 × 28", adaboost.run, ADABOOST),
    Case("ranking", "LambdaMART, 400 000 × 136, 4 000 queries, 31 leaves, 100 rounds", ranking.run, RANKERS),
    Case("ranking-accuracy", "NDCG@10 of held-out queries, five seeds", ranking.run_accuracy, RANKERS),
    Case("isolation", "isolation forest, 300 trees, fit and score 500 000 × 28", isolation.run, ISOLATION),
    Case("isolation-memory", "memory of the same beyond the table", isolation.run_memory, ISOLATION),
    Case("isolation-accuracy", "anomalies found, ten seeds", isolation.run_accuracy, ISOLATION),
)
CASES = {case.name: case for case in LIST}
