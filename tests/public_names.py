"""The public names of the package, their signatures and the bases of errors, as `test_layout.py` compares them.

`python tests/public_names.py > tests/public_names.json` writes them anew, after a change that is meant.
"""

import dataclasses
import importlib
import inspect
import json
import re

# Modules whose public names users import, and where those that have no `__all__` define theirs.
MODULES = ("spinney", "spinney.dask", "spinney.errors")
COMMAND = "python tests/public_names.py > tests/public_names.json"


def public_names():
    """Module → name → what it is."""
    return {"written by": COMMAND} | {module: dict(_names(module)) for module in MODULES}


def _names(module):
    found = importlib.import_module(module)
    for name in sorted(getattr(found, "__all__", [name for name in vars(found) if name[0].isupper()])):
        value = getattr(found, name)
        if isinstance(value, type) and issubclass(value, BaseException):
            yield name, {"bases": [base.__name__ for base in value.__mro__[1:-1]]}
        elif isinstance(value, type):
            yield name, {"constructor": _parameters(value), "members": dict(_members(value))}
        else:
            yield name, _signature(value) if callable(value) else type(value).__name__


def _members(kind):
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    for name in sorted({*dir(kind), *fields}):
        if name in fields:
            yield (
                name,
                "property",
            )  # or a field of a frozen class: for users both are attributes that they only read
            continue
        (home, value) = next((base, vars(base)[name]) for base in kind.__mro__ if name in vars(base))
        # Methods of scikit-learn's own, and those that it makes, belong to its version.
        if (
            name.startswith("_")
            or not home.__module__.startswith("spinney.")
            or re.fullmatch(r"set_\w+_request", name)
        ):
            continue
        if isinstance(value, property):
            yield name, "property"
        elif callable(getattr(kind, name)):
            prefix = type(value).__name__ + " " if isinstance(value, classmethod | staticmethod) else ""
            yield name, prefix + _signature(getattr(kind, name))
        else:
            yield name, "attribute"


def _signature(function):
    """Names, kinds and defaults of parameters, in one line."""
    return str(_bare_signature(function))


def _parameters(function):
    """The same, one by one: constructors of estimators have sixty."""
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    return [
        f"{parameter}, by keyword" if parameter.kind is keyword_only else str(parameter)
        for parameter in _bare_signature(function).parameters.values()
    ]


def _bare_signature(function):
    signature = inspect.signature(function)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)


def differences(known, found, path=""):
    """Messages about what `found` has not, has otherwise, and has besides."""
    for name in known | found:
        where = f"{path}.{name}" if path else name
        if name not in found:
            yield f"{where} is lost"
        elif name not in known:
            yield f"{where} is new"
        elif isinstance(known[name], dict) and isinstance(found[name], dict):
            yield from differences(known[name], found[name], where)
        elif isinstance(known[name], list) and set(known[name]) != set(found[name]):
            yield from (f"{where} has no more: {item}" for item in known[name] if item not in found[name])
            yield from (f"{where} has besides: {item}" for item in found[name] if item not in known[name])
        elif known[name] != found[name]:
            yield f"{where} was {known[name]}, is {found[name]}"


if __name__ == "__main__":
    print(json.dumps(public_names(), indent=1))
