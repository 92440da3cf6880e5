"""The preset, and how many models are averaged."""

from dataclasses import dataclass

from spinney.params.presets import BEST, DEFAULT, listed
from spinney.params.rows import param


@dataclass(frozen=True, kw_only=True)
class PresetFields:
    """The preset, and how many models are averaged."""

    preset: str = param(
        DEFAULT,
        group="running",
        choices={DEFAULT: (), BEST: ()},
        in_model=False,
        doc="What stands for parameters that are not given. default takes the defaults of this page. best takes longer for less "
        f"loss: it sets {listed(BEST)}; rounds (n_estimators of estimators) are found by auto, which then waits for 2.5 / "
        "learning_rate rounds without improvement.",
    )
    models: int = param(
        1,
        group="running",
        low=1,
        high=1000,
        in_model=False,
        doc="Models that are trained one after the other, each with another seed and, where auto holds out rows, with others "
        "held out. The result is their mean: one model with the trees of all, each divided by their number.",
    )
