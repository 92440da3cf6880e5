"""Private words, which the package does not use: for each one the field's word.

A private word is one that a newcomer would not search for (`kin` for groups of rows), or one that makes a person of an array or
of a function ("the array is told", "whoever asks"). `python tests/words.py tree growth/kernels` prints every place in two
packages, `python tests/words.py tests/tree docs/forests.md` those in other files.
"""

import ast
import io
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

from layout import PACKAGE, place, source_files

# Parts of names, which are split at underscores and capitals: `told_columns` and `ToldColumns` have the part `told`.
# Here are only words that are private wherever they stand.
PARTS = {
    "told": "encoded, explicit, notify, fields, decision or reported",
    "said": "shown, predicted, votes or records",
    "unsaid": "preset_values",
    "say": "on_round, tree_weight or write_value",
    "says": "the verb of what is done",
    "tell": "broadcast or notify",
    "tells": "the verb of what is done",
    "heard": "callbacks or counts_missing",
    "hear": "decide",
    "hears": "the verb of what is done",
    "speaks": "predicts",
    "speakers": "VotingTrees",
    "asks": "the verb of what is done",
    "asked": "used or requested",
    "asking": "call_scheduler",
    "whoever": "caller",
    "knows": "has",
    "kin": "row_groups",
    "course": "RoundPlan or plan",
    "sight": "apply_target_encoding",
    "sights": "apply_target_encoding",
    "stranger": "unknown_name",
    "strangers": "unknown_names or OutlierFields",
    "manners": "interface",
    "learnt": "FitInputs or what was read",
    "room": "buffer, memory, allocate() or package",
    "rooms": "buffers or packages",
    "tally": "fold_sums",
    "tallies": "fold_sums",
    "luck": "noise_margin",
    "judge": "metric",
    "judges": "metrics",
    "judged": "evaluate or evaluated",
    "judgement": "MetricValue",
    "judgements": "metric_values",
    "judging": "inspection",
    "joining": "collective or communicator",
    "dealing": "RowSplitter",
    "dealt": "assigned",
    "lottery": "WeightTable",
    "committee": "ClonedEnsemble",
    "widen": "with_columns or add_encoded",
    "widened": "with_columns",
    "seat": "RankEndpoint",
    "thinner": "CutThinning",
    "lone": "single_column",
    "fours": "four_columns",
    "movers": "moved_rows",
    "renewal": "refit_by_loss or RankLeafRefit",
    "renew": "refit_by_loss",
    "desk": "ShuffleScratch",
    "desks": "ShuffleScratch",
}

# Whole names. Their parts are words of the field elsewhere.
NAMES = {
    "Boosting": "Booster",
    "Decision": "RoundPlan",
    "Past": "InitialModel",
    "past_of": "load_init_model",
    "check_past": "check_compatible",
    "so_far": "build_model",
    "Round": "RoundRecord",
    "Watched": "ValidationSet",
    "Outcome": "Predictions",
    "deciding": "stopping_value",
    "decided": "plan_rounds",
    "copies_of": "Duplicates",
    "RowMarks": "RowHasher",
    "Shard": "BinnedData",
    "strata_of_events": "event_strata",
    "give_back": "keep_rare_labels or restore",
    "Statistics": "TargetEncoding",
    "Made": "FoldEncoding",
    "MadeCodes": "EncodedCodes",
    "Amounts": "WeightedTargets",
    "Beside": "RawLabels",
    "RowLabels": "Labels",
    "LabelParts": "LabelCollector",
    "Side": "LabelInfo",
    "sides": "LabelInfo",
    "SetFacts": "LabelSummary",
    "LabelFacts": "LabelSummary",
    "ForestSample": "FitInputs",
    "check_anew": "check_single_model",
    "left_out": "unsaved",
    "UnwritableError": "NotJsonError",
    "learn_plain": "read_labels",
    "call_own": "call_user_function",
    "RowByRow": "a plain function",
    "Lines": "DenseColumns",
    "Line": "Channel, or a column",
    "Entries": "SparseEntries",
    "Features": "ColumnLayout",
    "Fine": "FineBins",
    "Plan": "BinPlan",
    "mostly_in": "default_bins",
    "PageRoom": "PageBuffer",
    "PageForm": "PageLayout",
    "Raw": "PageBytes",
    "Steps": "StepProgress",
    "hand_over": "release",
    "Traffic": "TransferStats",
    "Held": "RankInput",
    "Ended": "Interrupted",
    "UnfitError": "WorkerMismatchError",
    "Refusal": "TaskError",
    "Order": "RankAssignment",
    "Given": "PartitionedInput",
    "Opened": "ScannedPartitions",
    "named_rows": "match_names",
    "spelled": "by_spelling",
    "placed": "resolve_columns",
    "found_places": "check_columns",
    "by_place": "resolved",
    "reconciled": "check_together",
    "takers": "objectives_taking",
    "signs": "directions",
    "Learner": "TreeGrower",
    "Setup": "GrowerInputs",
    "Finish": "LeafFinisher",
    "most_ahead": "max_speculative",
    "Mine": "own(scratch)",
    "Waiting": "PendingNode",
    "Found": "ThreadSplits",
    "Goal": "WalkOutput",
    "noted": "leaf_of_row",
    "look_at": "scan_missing",
    "met": "flags",
    "Subject": "ScoredModel",
    "Scale": "PredictionKind",
    "Replaceable": "ShuffledTable",
    "heavy": "has_weight",
    "Listening": "Hooks",
    "JoinedSampler": "RankSampler",
    "JoinedRenewal": "RankLeafRefit",
    "PeersOrder": "SklearnOrderLoss",
}
# Classes of a user's own functions.
NAME_PATTERNS = {r"_?Own[A-Z]\w*": "Custom..."}

# Prose: docstrings, comments, strings. Matched as whole words in any case.
PROSE = {
    # Users are persons; arrays and functions are not.
    r"(?<!user )(?<!users )(?<!people )(?<!person )(?<!somebody )(?<!someone )(?<!anybody )(?<!anyone )who": "that, which",
    "whom": "which",
    "who(m)?ever": "the caller, or the name of what does it",
    "says?|saying": "gives, shows, is",
    "said": "given, shown, set",
    "tells?": "gives, shows; tells apart: separates",
    "told": "given, set, reported, encoded",
    "hears?|heard": "is called with, receives",
    "speaks?|spoken": "predicts, is of",
    "asks": "calls, requests, needs",
    "asked": "requested, used, called",
    "ask": "call, request, need",
    "asking": "calling, requesting",
    "hearing": "receiving",
    "goes by|go by|going by|went by": "uses, is chosen by",
    "knows?": "has, holds, depends on",
    "kin": "group of rows",
    "sight": "(the function's name)",
    "strangers?": "unknown name, other",
    "manners": "interface",
    "learnt": "read, counted, fitted",
    "rooms?": "package (of code), buffer or space (in memory)",
    "cards?": "docstring",
    "at hand": "local, present",
    "by place": "by position",
    "beside the data": "with the data",
    "judge[sd]?|judgements?|judging": "metric, evaluate, inspection",
    "tally|tallies": "fold sums",
    "luck|lucky": "noise",
    "lottery": "draw",
    "committee": "ensemble of clones",
    "seats?": "rank's endpoint",
    "hub": "rank 0's worker",
    "broken off|break off|breaks off": "interrupted",
    "made columns?": "encoded columns",
    "light rows?": "zero-weight rows",
    "heavy rows?": "rows with weight",
    "statistics of the target": "target encoding",
    "held whole": "groups",
    "dealt": "assigned",
    "widened": "with encoded columns",
}

# Public names, and words that stand in files, which stay as they are.
PUBLIC = {"OwnFunctionError", "committee_", "left_out"}

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def findings(*targets):
    """Messages about private words in packages (`"tree"`, `"growth/kernels"`, `"errors"`), or in files and folders by path."""
    for target in targets:
        for path in _files(target):
            text = path.read_text(encoding="utf-8")
            found = sorted(_of_python(path, text) if path.suffix == ".py" else _of_text(text))
            yield from (f"{place(path, line)}: {message}" for line, message in found)


def _files(target):
    for path in (PACKAGE / target, PACKAGE / f"{target}.py", Path(target)):
        if path.is_dir():
            return source_files(path)
        if path.is_file():
            return [path]
    raise FileNotFoundError(f"no package of spinney and no file: {target}")


def _of_python(path, text):
    found = {(1, f"file {message}") for message in _in_name(path.stem)}
    for node in ast.walk(ast.parse(text)):
        for name in _defined(node):
            found |= {(node.lineno, message) for message in _in_name(name)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= _in_lines(node.value, node.lineno, node.end_lineno)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found |= _in_lines(token.string, token.start[0], token.start[0])
    return found


def _defined(node):
    """Names that a piece of code gives to something. Those that it only uses are defined elsewhere."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.alias) and node.asname:
        yield node.asname
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


@cache
def _in_name(name):
    if name in PUBLIC:
        return ()
    bare = name.strip("_")
    if bare in NAMES:
        return (f"name {name!r}: rather {NAMES[bare]}",)
    for pattern, instead in NAME_PATTERNS.items():
        if re.fullmatch(pattern, name):
            return (f"name {name!r}: rather {instead}",)
    parts = {part.lower() for part in _PARTS.findall(name)}
    return tuple(f"name {name!r}: rather {PARTS[part]}" for part in sorted(parts & PARTS.keys()))


def _in_lines(text, first, last):
    """Private words of a string or a comment. Of a string with line breaks written as `\\n` the last line is named."""
    return {(min(first + line - 1, last), message) for line, message in _of_text(text)}


def _of_text(text):
    """Private words of prose. Lines are joined for words that a line break parts."""
    found = set()
    flat = re.sub(r"\s", " ", text)
    for name in PUBLIC:  # as long as before, so that lines are those of the text
        flat = flat.replace(name, " " * len(name))
    for match in _prose().finditer(flat):
        instead = next(
            instead for pattern, instead in PROSE.items() if _whole(pattern).match(flat, match.start())
        )
        found.add((1 + text.count("\n", 0, match.start()), f"word {match.group()!r}: rather {instead}"))
    return found


@cache
def _prose():
    return re.compile("|".join(_whole(pattern).pattern for pattern in PROSE), re.IGNORECASE)


@cache
def _whole(pattern):
    return re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", re.IGNORECASE)


if __name__ == "__main__":
    messages = list(findings(*sys.argv[1:]))
    print(*messages, sep="\n")
    print(f"{len(messages)} findings in {', '.join(sys.argv[1:])}")
