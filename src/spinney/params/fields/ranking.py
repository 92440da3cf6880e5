"""What only losses and metrics of ranking take."""

from dataclasses import dataclass

from spinney.params.rows import INT32, param


@dataclass(frozen=True, kw_only=True)
class RankingFields:
    """What only losses and metrics of ranking take."""

    lambdarank_truncation_level: int = param(
        30,
        group="objective",
        low=1,
        high=INT32,
        aliases=("lambdarank_num_pair_per_sample",),
        doc="rank_ndcg, rank_map and rank_pairwise learn from pairs of rows of a query of which at least one stands among this "
        "many first places, by score. XGBoost's name means the same with its pair method topk.",
    )
    lambdarank_norm: bool = param(
        True,
        group="objective",
        aliases=("lambdarank_normalization",),
        doc="Whether rank_ndcg, rank_map and rank_pairwise divide what a pair weighs by 0.01 + the difference of its scores, and "
        "level queries of many pairs with those of few: their sum s of gradients becomes log2(1 + s).",
    )
    lambdarank_sigmoid: float = param(
        1.0,
        group="objective",
        low=1e-6,
        high=1e6,
        aliases=("sigmoid",),
        doc="Factor on the difference of two scores before the logistic function tells how likely they are in the right order.",
    )
    label_gain: tuple[float, ...] | None = param(
        None,
        group="objective",
        doc="What a row of relevance 0, 1, 2, ... is worth, for rank_ndcg, rank_xendcg and metric ndcg. None takes 2**relevance "
        "- 1 up to relevance 30; [0, 1, 2, 3, 4] is what XGBoost computes with ndcg_exp_gain=False. The relevance of a row must "
        "have a place in it.",
    )
