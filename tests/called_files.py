"""How many files of the package take part in a call: programs for processes of their own, run by `test_layout.py`."""

import json
import textwrap

import children

# Kernels, `jit` and the package's list of names do not count: they are behind one door each.
PROGRAM = """
    import gc, json, sys, threading
    from pathlib import Path
    import numpy as np
    import spinney as sp

    PACKAGE = Path(sp.__file__).parent
    files = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    def called():
        names = {Path(name) for name in files}
        for path in sorted(path.relative_to(PACKAGE) for path in names if path.is_relative_to(PACKAGE)):
            if path.parts[0] not in ("jit", "__init__.py") and "kernels" not in path.parts:
                yield path.as_posix()

    {prepare}

    def call():
        {call}

    call()  # imports, and what happens once in a process
    gc.disable()
    threading.setprofile(note)
    sys.setprofile(note)
    call()
    sys.setprofile(None)
    threading.setprofile(None)
    print(json.dumps(list(called())))
"""

TRAIN = {
    "prepare": "X = np.random.default_rng(0).normal(size=(500, 5)); y = X[:, 0] + X[:, 1] > 0",
    "call": 'sp.train({"objective": "log_loss"}, sp.Dataset(X, y), rounds=50)',
}
# Numbers, a text of few and one of many categories, as most users have them.
FIT = {
    "prepare": """
import pandas as pd
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
frame["place"] = np.array(["oak", "ash", "elm"])[rng.integers(0, 3, 1000)]
frame["name"] = [f"tree {k}" for k in rng.integers(0, 150, 1000)]
y = np.where(frame.a + frame.b > 0, "yes", "no")
""",
    "call": "sp.GBMClassifier().fit(frame, y)",
}


def files_called_by(program):
    """Names of the files with a function that is called by a program, on any thread."""
    text = textwrap.dedent(PROGRAM)
    for name, part in program.items():
        text = text.replace("{" + name + "}", part)
    return children.run(text)


if __name__ == "__main__":
    for program in (TRAIN, FIT):
        print(len(files_called_by(program)), json.dumps(files_called_by(program), indent=1))
