"""Rows of files: what is read, and what is refused by name."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import spinney as sp
from paged import check_same
from spinney.data import files
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


def test_text_that_is_not_utf8_is_refused_with_advice(tmp_path):
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
    ("row", "column", "value", "message"),
    [
        (47, "rare", np.inf, r"part-2\.parquet': column \"rare\" holds an infinite value in row 7, counted"),
        (25, "y", np.nan, r"part-1\.parquet': Input y contains NaN. The first is in row 5"),
        (41, "w", -1.0, r"part-2\.parquet': weight is negative in row 1"),
        (40, "a", "x", r"part-2\.parquet': column \"a\" of X mixes text with other values|cannot be read"),
    ],
)
def test_a_bad_value_is_named_by_file_and_row(tmp_path, row, column, value, message):
    table = frame()
    if column != "a":
        write(change(table, row, column, value), tmp_path, "parquet")
    else:
        write(table, tmp_path, "parquet")
        pq.write_table(
            pa.table({**{name: table[name][40:] for name in table if name != "a"}, "a": ["x"] * 20}),
            tmp_path / "part-2.parquet",
        )
        message = r"part-2\.parquet': column \"a\" holds text, but plain numbers in earlier rows"
    with pytest.raises((DataError, DataTypeError), match=message):
        sp.Dataset.from_files(tmp_path, target="y", weight="w")


@pytest.mark.parametrize(
    ("given", "error", "message"),
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
def test_arguments_are_refused_by_name(tmp_path, given, error, message):
    write(frame(), tmp_path, "parquet")
    with pytest.raises(error, match=message):
        sp.Dataset.from_files(tmp_path, **given)


def test_a_file_without_the_target_is_named_before_anything_is_read(tmp_path):
    write(frame(), tmp_path, "parquet")
    write(frame().drop(columns="y").iloc[:3], tmp_path, "csv", parts=1)
    with pytest.raises(DataError, match=r"part-0\.csv' has no column 'y' \(target\)"):
        sp.Dataset.from_files([tmp_path / "part-1.parquet", tmp_path / "part-0.csv"], target="y")


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    for paths, message in (
        (tmp_path, "which holds no Parquet, Arrow or CSV file"),
        (tmp_path / "no.csv", "but there is no such file"),
        ([], "paths is empty"),
    ):
        with pytest.raises(DataError, match=message):
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


def test_a_csv_file_that_goes_on_otherwise_than_it_began_is_refused_with_advice(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,tree\n" + "1,\n" * (3 * 2**20) + "1,oak")
    with pytest.raises(
        DataError, match=r"rows\.csv' cannot be read: .*'oak'.* save it as Parquet, which holds them"
    ):
        sp.Dataset.from_files(path)
