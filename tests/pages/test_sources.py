"""Rows in batches and files: what is read, and what is refused by name."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from scipy import sparse

import spinney as sp
from paged import check_same, paged
from spinney.binning import cuts
from spinney.data import files
from spinney.data.sources import BatchSource
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

FEATURES = ["a", "tree", "flag", "rare"]


def frame(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.integers(-8, 8, rows) / 4,
            "tree": rng.choice(["oak", "ash", None], rows),
            "flag": rng.random(rows) < 0.5,
            "rare": np.where(rng.random(rows) < 0.9, 0.0, 1.5),
            "y": rng.integers(0, 9, rows) / 8,
            "w": rng.integers(1, 4, rows) / 2,
            "q": np.sort(rng.integers(0, 9, rows)),
        }
    )


def write(table, folder, kind, parts=3):
    """A table in several files."""
    size = -(-len(table) // parts)
    for k in range(parts):
        part = table.iloc[k * size : (k + 1) * size]
        path = folder / f"part-{k}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.Table.from_pandas(part, preserve_index=False), path, row_group_size=7)
        elif kind == "feather":
            feather.write_feather(pa.Table.from_pandas(part, preserve_index=False), path)
        else:
            part.to_csv(path, index=False)
    return folder


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files_of_any_kind_give_the_data_set_of_their_rows(tmp_path, kind):
    table = frame()
    write(table, tmp_path, kind)
    whole = sp.Dataset(table[FEATURES], table["y"], weight=table["w"], qid=table["q"])
    for paths in (tmp_path, tmp_path / f"*.{kind}", [tmp_path / f"part-{k}.{kind}" for k in range(3)]):
        dataset = sp.Dataset.from_files(
            str(paths) if paths == tmp_path / f"*.{kind}" else paths,
            target="y", weight="w", qid="q", page_rows=25, progress=True,
        )  # fmt: skip
        check_same(dataset, whole)


def test_columns_of_files_can_be_chosen_and_categories_named(tmp_path):
    table = frame()
    write(table, tmp_path, "parquet")
    dataset = sp.Dataset.from_files(
        tmp_path, target=["y", "w"], base_margin="a", columns=["q", "rare"], categorical=["q"]
    )
    whole = sp.Dataset(table[["q", "rare"]], table[["y", "w"]], base_margin=table["a"], categorical=["q"])
    check_same(dataset, whole)


def test_the_column_of_queries_may_be_called_group(tmp_path):
    table = frame()
    write(table, tmp_path, "csv")
    dataset = sp.Dataset.from_files(tmp_path, target="y", group="q", columns=["a"])
    check_same(dataset, sp.Dataset(table[["a"]], table["y"], qid=table["q"]))


def test_text_that_is_not_utf8_is_told_as_such(tmp_path):
    path = tmp_path / "menu.csv"
    path.write_bytes("price,drink\n1,café\n2,thé\n".encode("latin-1"))
    with pytest.raises(
        DataError, match=r"menu\.csv': column 'drink' holds bytes that are no UTF-8 text; save the file"
    ):
        sp.Dataset.from_files(path)
    check_same(
        sp.Dataset.from_files(path, columns=["price"]), sp.Dataset(pd.DataFrame({"price": [1.0, 2.0]}))
    )


def test_whole_numbers_of_a_csv_file_may_go_on_with_fractions(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n" + "1,2\n" * 5)
    (tmp_path / "b.csv").write_text("a,y\n1.5,2\n,3\n")
    (tmp_path / "c.csv").write_text("a,y\n,4\n")
    dataset = sp.Dataset.from_files(tmp_path, target="y")
    check_same(
        dataset, sp.Dataset(pd.DataFrame({"a": [1.0] * 5 + [1.5, np.nan, np.nan]}), [2.0] * 6 + [3.0, 4.0])
    )


def change(table, row, column, value):
    changed = table.copy()
    changed[column] = changed[column].astype(object if isinstance(value, str) else float)
    changed.loc[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("row", "column", "value", "said"),
    [
        (47, "rare", np.inf, r"part-2\.parquet': column \"rare\" holds an infinite value in row 7, counted"),
        (25, "y", np.nan, r"part-1\.parquet': Input y contains NaN. The first is in row 5"),
        (41, "w", -1.0, r"part-2\.parquet': weight is negative in row 1"),
        (40, "a", "x", r"part-2\.parquet': column \"a\" of X mixes text with other values|cannot be read"),
    ],
)
def test_a_bad_value_is_named_by_file_and_row(tmp_path, row, column, value, said):
    table = frame()
    if column != "a":
        write(change(table, row, column, value), tmp_path, "parquet")
    else:
        write(table, tmp_path, "parquet")
        pq.write_table(
            pa.table({**{name: table[name][40:] for name in table if name != "a"}, "a": ["x"] * 20}),
            tmp_path / "part-2.parquet",
        )
        said = r"part-2\.parquet': column \"a\" holds text, but plain numbers in earlier rows"
    with pytest.raises((DataError, DataTypeError), match=said):
        sp.Dataset.from_files(tmp_path, target="y", weight="w")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"target": "nope"}, DataError, r"part-0\.parquet' has no column 'nope' \(target\); it has 'a', "),
        ({"columns": ["a", "nope"]}, DataError, r"has no column 'nope' \(columns\)"),
        ({"columns": ["a", "y"], "target": "y"}, DataError, "columns names 'y', which holds something else"),
        ({"columns": ["a", "a"]}, DataError, "columns names a column twice"),
        ({"weight": 3}, ParameterTypeError, "weight=3 must be the name of a column"),
        ({"target": [3]}, ParameterTypeError, "target holds 3; give names"),
        ({"target": 3}, ParameterTypeError, "target=3 must be the name of a column, or a list of names"),
        ({"columns": 3}, ParameterTypeError, "columns=3 must be the name of a column, or a list of names"),
        ({"group": "nope"}, DataError, r"has no column 'nope' \(group\)"),
        ({"group": 3}, ParameterTypeError, "group=3 must be the name of a column"),
        ({"group": "q", "qid": "q"}, ParameterError, "qid='q' and group='q' both name the column of queries"),
        ({"memory": "lots"}, ParameterError, "memory='lots' must be a number with a unit"),
        ({"memory": 1.5}, ParameterTypeError, "memory=1.5 must be bytes, or text such as '2GB'"),
        ({"page_rows": 0}, ParameterError, "page_rows=0 must be 1 or more"),
        ({"page_rows": "9"}, ParameterTypeError, "page_rows='9' must be a whole number"),
        ({"compression": "zip"}, ParameterError, "compression='zip' must be one of 'auto', 'none'"),
        ({"progress": 2}, ParameterTypeError, "progress=2 must be True or False"),
        ({"max_bin": 1}, ParameterError, "max_bin"),
    ],
)
def test_arguments_are_refused_by_name(tmp_path, given, error, said):
    write(frame(), tmp_path, "parquet")
    with pytest.raises(error, match=said):
        sp.Dataset.from_files(tmp_path, **given)


def test_a_file_without_the_target_is_named_before_anything_is_read(tmp_path):
    write(frame(), tmp_path, "parquet")
    write(frame().drop(columns="y").iloc[:3], tmp_path, "csv", parts=1)
    with pytest.raises(DataError, match=r"part-0\.csv' has no column 'y' \(target\)"):
        sp.Dataset.from_files([tmp_path / "part-1.parquet", tmp_path / "part-0.csv"], target="y")


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    for paths, said in (
        (tmp_path, "which holds no Parquet, Arrow or CSV file"),
        (tmp_path / "no.csv", "but there is no such file"),
        ([], "paths is empty"),
    ):
        with pytest.raises(DataError, match=said):
            sp.Dataset.from_files(paths)
    with pytest.raises(DataTypeError, match="paths holds 3, which is no path"):
        sp.Dataset.from_files([3])
    (tmp_path / "broken.csv").symlink_to("nowhere.csv")
    for paths in (tmp_path / "broken.csv", str(tmp_path / "bro*.csv"), tmp_path):
        with pytest.raises(DataError, match=r"broken\.csv', a link that leads nowhere"):
            sp.Dataset.from_files(paths)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match=r"pipe\.csv', which is no regular file"):
        sp.Dataset.from_files(tmp_path / "pipe.csv")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(DataError, match=r"is of no known kind; give \.parquet"):
        sp.Dataset.from_files(tmp_path / "a.txt")
    (tmp_path / "a.parquet").write_text("hello")
    with pytest.raises(DataError, match=r"a\.parquet' cannot be read"):
        sp.Dataset.from_files(tmp_path / "a.parquet")


X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


@pytest.mark.parametrize(
    ("batches", "error", "said"),
    [
        ([(X, Y), X], DataError, "batch 1: it has no y, but rows before it have it"),
        ([X, (X, Y)], DataError, "batch 1: it has y, but rows before it have none"),
        ([(X, Y), (X, Y[:5])], DataError, "batch 1: y has 5 values, but X has 6 rows"),
        ([(X, Y), (X,)], DataError, r"batch 1 is a tuple of 1; it must be \(X, y\)"),
        ([{"X": X, "z": 1}], DataError, "batch 0 is a dict with the key 'z'; it must have X"),
        ([{"y": Y}], DataError, "batch 0 is a dict with no key 'X'"),
        ([(X, Y), (X[:, :1], Y)], DataError, "batch 1: it has 1 columns, but rows before it have 2"),
        ([(X, Y), (np.where(X == 5, -np.inf, X), Y)], DataError, "batch 1: column 1 holds an infinite value in row 2"),
        (
            [sparse.csr_array(X), sparse.csr_array(np.where(X == 5, np.inf, X))],
            DataError,
            "batch 1: column 1 holds an infinite value in row 2",
        ),
        ([(X, Y), (sparse.csr_array(X), Y)], DataError, "batch 1: it is sparse, but rows before it are dense"),
        ([{"X": X, "weight": np.zeros(6)}], DataError, "weight holds only zeros"),
        ([(X, Y), ("oak", Y)], DataError, "batch 1: Expected 2D array"),
        ([], DataError, "source gave no rows; give at least one"),
        ([{"X": X, "group": [6]}, {"X": X, "qid": Y}], DataError, "batch 1: it has qid, but rows before it have group"),
        ([{"X": X, "qid": Y}, {"X": X, "group": [6]}], DataError, "batch 1: it has group, but rows before it have qid"),
        (
            [{"X": X, "qid": [*"aabbcc"]}, {"X": X, "qid": Y}], DataTypeError,
            "batch 1: qid holds numbers, but text in rows before it; give queries as one of them",
        ),
        ([{"X": X, "qid": Y}, {"X": X, "qid": [*"123456"]}], DataTypeError, "batch 1: qid holds text, but numbers in"),
        (
            [pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": [1.0]})],
            DataTypeError,
            'batch 1: column "a" holds plain numbers, but text in earlier rows; give one kind only',
        ),
        (
            [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": pd.Categorical([1])})],
            DataTypeError,
            'batch 1: column "a" holds categories that are numbers, but plain numbers in earlier rows',
        ),
        (
            [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})],
            DataError,
            "batch 1: it has columns of other names, such as 'b'",
        ),
        (
            [(X, pd.DataFrame({"p": Y, "q": -Y})), (X, pd.DataFrame({"q": -Y, "p": Y}))],
            DataError,
            "batch 1: y has the columns q, p, but rows before it have p, q; give them in one order",
        ),
        (
            [(X, pd.DataFrame({0: Y, 1: -Y})), (X, pd.DataFrame({1: -Y, 0: Y}))],
            DataError,
            "batch 1: y has the columns 1, 0, but rows before it have 0, 1",
        ),
        (
            [pd.DataFrame({"a": [1.0]}), np.ones((1, 1))],
            DataError,
            "batch 1: it has columns in another order, or without names; every batch",
        ),
        ([pd.DataFrame({"a": ["1", "2"]}), pd.DataFrame({"a": ["3"]})], DataError, "text that reads as numbers"),
    ],
)  # fmt: skip
def test_a_bad_batch_is_named(batches, error, said):
    with pytest.raises(error, match=said):
        sp.Dataset.from_batches(batches)


def test_an_iterator_that_cannot_be_read_twice_is_refused():
    with pytest.raises(
        DataTypeError, match="it is a generator, which can be read only once: give a function"
    ):
        sp.Dataset.from_batches(batch for batch in [(X, Y)])
    with pytest.raises(DataTypeError, match="it is a int, which is neither"):
        sp.Dataset.from_batches(3)
    with pytest.raises(
        DataTypeError, match="must give an iterator of batches when it is called; it gave a int"
    ):
        list(BatchSource(lambda: 3).batches())


def test_an_unknown_category_is_an_error_where_the_reference_says_so():
    table = frame()
    reference = sp.Dataset(table[FEATURES], table["y"], unseen="error")
    other = table[FEATURES].assign(tree="yew")
    with pytest.raises(
        DataError, match="batch 1: column \"tree\" holds 'yew', a category that training did not see"
    ):
        sp.Dataset.from_batches([(table[FEATURES], table["y"]), (other, table["y"])], reference=reference)


def test_the_number_of_rows_spares_a_reading_and_must_be_right(monkeypatch):
    monkeypatch.setattr(cuts, "SAMPLE", 4)
    readings = []

    def source():
        readings.append(1)
        yield X, Y
        yield X, Y

    check_same(sp.Dataset.from_batches(source), sp.Dataset(np.vstack([X, X]), [*Y, *Y]))
    assert len(readings) == 3
    check_same(sp.Dataset.from_batches(source, rows=12), sp.Dataset(np.vstack([X, X]), [*Y, *Y]))
    assert len(readings) == 5
    for rows, said in ((11, "should give 11 rows, but gave more than 11"), (13, "13 rows, but gave 12")):
        with pytest.raises(DataError, match=said):
            sp.Dataset.from_batches(source, rows=rows)
    with pytest.raises(ParameterTypeError, match="rows='9' must be a whole number"):
        sp.Dataset.from_batches(source, rows="9")
    with pytest.raises(ParameterError, match="rows=0 must be 1 or more"):
        sp.Dataset.from_batches(source, rows=0)
    with pytest.raises(DataError, match="there are more than 2147483647 rows in source"):
        sp.Dataset.from_batches(source, rows=2**70)


def test_batches_without_rows_are_passed_over():
    dataset = sp.Dataset.from_batches([(X[:0], Y[:0]), (X, Y), (X[:0], Y[:0])])
    check_same(dataset, sp.Dataset(X, Y))


def test_rows_of_weight_0_may_fill_a_batch():
    weight = np.array([0.0, 0, 0, 1, 2, 3])
    check_same(paged(X, Y, 3, {"weight": weight}), sp.Dataset(X, Y, weight=weight))


@pytest.mark.parametrize(
    "names",
    [
        [str(2**53 + k) for k in range(10)],
        [str(2**63 + k) for k in range(10)],
        [*map(str, range(5)), *(str(2**64 - k) for k in range(1, 6))],
        [str(k - 5) for k in range(9)] + [str(2**63)],
        [*map(str, range(9)), "9.0"],
        [str(2**80 + k) for k in range(10)],
        ["7a", *map(str, range(9))],
    ],
    ids=["2^53", "2^63", "from 0", "from -5", "floats", "2^80", "text"],
)
def test_queries_of_a_csv_file_stay_apart_however_large(tmp_path, monkeypatch, names):
    monkeypatch.setattr(files, "BATCH_ROWS", 7)
    qid = names * 4
    path = tmp_path / "lists.csv"
    path.write_text("\n".join(["x,y,q", *(f"{row},{row % 3},{qid[row]}" for row in range(40))]))
    dataset = sp.Dataset.from_files(path, target="y", qid="q")
    assert dataset.queries.tolist() == [*range(10)] * 4


def test_a_query_that_is_missing_in_a_csv_file_is_named(tmp_path):
    (tmp_path / "lists.csv").write_text("x,q\n1,1\n2,\n3,9223372036854775808\n4,-1")
    with pytest.raises(DataError, match=r"lists\.csv': qid names no query in row 1"):
        sp.Dataset.from_files(tmp_path, qid="q")


def test_queries_are_text_in_all_files_or_in_none(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "q": [1, 1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0], "q": ["1", "1"]}), tmp_path / "2.parquet")
    with pytest.raises(DataTypeError, match=r"2\.parquet': qid holds text, but numbers in rows before it"):
        sp.Dataset.from_files(tmp_path, qid="q")


def test_a_csv_file_that_goes_on_otherwise_than_it_began_is_told_a_way_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,tree\n" + "1,\n" * (3 * 2**20) + "1,oak")
    with pytest.raises(
        DataError, match=r"rows\.csv' cannot be read: .*'oak'.* save it as Parquet, which tells them"
    ):
        sp.Dataset.from_files(path)
