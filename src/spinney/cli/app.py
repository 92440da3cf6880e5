"""What can be typed after `spinney`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spinney import __version__

# Fewer rows leave classes or leaves empty; more need memory that a demonstration should not take.
FEWEST_ROWS = 100
MOST_ROWS = 10_000_000

app = typer.Typer(
    name="spinney",
    help="Tree ensembles: fast, and the same model bit for bit on any number of threads.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
kernel_commands = typer.Typer(help="Show how kernels run here, or build their library.")
app.add_typer(kernel_commands, name="kernels")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spinney {__version__}")
        raise typer.Exit


@app.callback()
def spinney(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Tree ensembles: fast, and the same model bit for bit on any number of threads."""


def _check_rows(rows: int | None) -> int | None:
    if rows is not None and not FEWEST_ROWS <= rows <= MOST_ROWS:
        raise typer.BadParameter(f"{rows} rows; give a number from {FEWEST_ROWS} to {MOST_ROWS}")
    return rows


@app.command()
def demo(
    rows: Annotated[
        int | None,
        typer.Option(
            callback=_check_rows, help="Generate this many rows, in place of the small real tables."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, writable=True, help="Keep the model files in this folder."
        ),
    ] = None,
) -> None:
    """Train a classifier and a regressor, evaluate them on held-out rows, save them and load them again."""
    from spinney.cli.demo import run

    run(rows, save)


@kernel_commands.callback(invoke_without_command=True)
def show_kernels(context: typer.Context) -> None:
    """Show how kernels run here: which library, for which CPU level, where it lies."""
    if context.invoked_subcommand is None:
        from spinney.cli.kernels import show

        show()


@kernel_commands.command("build")
def build_kernels(
    all_levels: Annotated[
        bool, typer.Option("--all-levels", help="For every CPU level, not for this CPU only.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also where a fitting library is there.")] = False,
) -> None:
    """Build the kernel library into the cache folder, so that the first fit need not wait for it."""
    from spinney.cli.kernels import build

    build(all_levels, force)
