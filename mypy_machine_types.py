"""What mypy must know of kernels: machine types are numbers, and with a size in brackets arrays of them.

`rows: i64` is an int and `values: f64["rows"]` an array. An array of items, `nodes: Node["count"]`, may be anything: its
fields are reached by name and by number.
"""

from collections.abc import Callable

from mypy.plugin import AnalyzeTypeContext, ClassDefContext, Plugin
from mypy.types import AnyType, Type, TypeOfAny

TYPES = "spinney.jit.types."
SCALARS = ("f64", "f32", "i64", "i32", "u64", "u32", "u16", "u8")


class MachineTypes(Plugin):
    """Gives machine types and items a meaning."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """Scalars and arrays of scalars."""
        name = fullname.removeprefix(TYPES)
        return None if name == fullname or name not in SCALARS else lambda context: _of(name, context)

    def get_class_decorator_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Items."""
        return _anything if fullname == f"{TYPES}item" else None


def _of(name: str, context: AnalyzeTypeContext) -> Type:
    if not context.type.args:
        return context.api.named_type("builtins.float" if name[0] == "f" else "builtins.int", [])
    any_type = AnyType(TypeOfAny.explicit)
    return context.api.named_type("numpy.ndarray", [any_type, any_type])


def _anything(context: ClassDefContext) -> None:
    context.cls.info.fallback_to_any = True


def plugin(version: str) -> type[Plugin]:
    """Return the plugin, for mypy."""
    return MachineTypes
