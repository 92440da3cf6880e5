"""What holds trees back."""

from dataclasses import dataclass

from spinney.params.rows import param


@dataclass(frozen=True, kw_only=True)
class RegularisationFields:
    """What holds trees back."""

    learning_rate: float = param(
        0.1,
        group="regularisation",
        low=0,
        low_open=True,
        aliases=("eta", "shrinkage_rate"),
        doc="Factor on what each tree adds to the score.",
    )
    gamma: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("min_split_loss", "min_gain_to_split", "min_split_gain"),
        doc="A split is made only if it lowers the loss by more than this: γ in gain = ½ [G_L² / (H_L + λ) + G_R² / (H_R + λ) - "
        "G² / (H + λ)] - γ, under every spelling. Gains of XGBoost and LightGBM lack the factor ½, so their number is twice "
        "ours: give half of it.",
    )
    reg_lambda: float = param(
        5.0,
        group="regularisation",
        low=0,
        aliases=("lambda", "lambda_l2", "l2_regularization"),
        doc="L2 penalty on leaf values. Objectives of ranking take 1 by default, because their hessians are small.",
    )
    reg_alpha: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("alpha", "lambda_l1", "l1_regularization"),
        doc="L1 penalty on leaf values.",
    )
    cat_smooth: float = param(
        10.0,
        group="regularisation",
        low=0,
        doc="Added to the hessians where categories are ordered. Categories of fewer rows in a node, rows of small hessians "
        "counting for less, are not taken.",
    )
    cat_l2: float = param(
        10.0,
        group="regularisation",
        low=0,
        doc="L2 penalty on top of reg_lambda where a set of categories is split, and on the leaves that it makes.",
    )
    cat_charge: float = param(
        0.2,
        group="regularisation",
        low=0,
        doc="Charge on the gain of a split by a set of c out of m categories, because the best of very many sets is the "
        "luckiest one: so much times c * (1 + log(m / c)) times what a split of no use gains on average. 0 charges nothing.",
    )
    max_delta_step: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("max_tree_output", "max_leaf_output"),
        doc="Largest absolute leaf value before the learning rate is applied. 0 means no limit, except that it is 1 with "
        "objective cox and 5 with aft.",
    )
