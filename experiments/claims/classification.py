"""Section 6: claims about accuracy, retained data and other reduced sets in figures 4 to 8."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .. import summary
from . import claim
from .claim import Claim, Finding, Pair, ResultsByName, Verdict, means, medians

POINT, NOTICEABLE, MINIMAL = 0.01, 0.001, 0.005  # differences in accuracy
FIGURES = {"fig04": "usps", "fig05": "yale"}
REDUCED_SETS = {"fig07": "usps", "fig08": "yale"}
NYSTROM = {"nystrom": "Nystrom", "wnystrom": "WNystrom", "sklearn-nystroem": "scikit-learn"}
SCHEMES = {"kmeans": "k-means", "paring": "KDE paring", "herding": "herding"}
TRAIN = ("fit", "embed")


def _judge_competitive(others: Sequence[str], results: ResultsByName) -> Finding:
    words, flags = [], {}
    for figure, name in FIGURES.items():
        pairs = {m: claim.pair_runs(results[figure]["rows"], m, "accuracy") for m in others}
        best = _best_competitor(list(pairs.values()))
        flags[name] = [_deficit(pair) <= POINT for pair in best.values()]
        words.append(f"{name} {_describe_accuracy(best)} ({_describe_coverage(pairs)})")
    words.append(f"competitive at {claim.count_groups(flags)}")
    return Finding("; ".join(words), claim.grade_groups(flags))


def _best_competitor(pairs: Sequence[dict[float, Pair]]) -> dict[float, Pair]:
    """Return the comparison with the largest deficit at each ell."""
    ells = sorted({ell for one in pairs for ell in one})
    return {ell: max((one[ell] for one in pairs if ell in one), key=_deficit) for ell in ells}


def _deficit(pair: Pair) -> float:
    """Return the mean accuracy of the other method minus ours."""
    return float(np.mean(pair.theirs) - np.mean(pair.ours))


def _describe_accuracy(best: dict[float, Pair]) -> str:
    first, last = min(best), max(best)
    low, high = (100 * np.mean(best[ell].ours) for ell in (first, last))
    most = 100 * max(0.0, *map(_deficit, best.values()))
    return (
        f"{low:.3g}% at ell = {first:g}, {high:.3g}% at ell = {last:g}, "
        f"at most {most:.2f} points behind"
    )


def _describe_coverage(pairs: dict[str, dict[float, Pair]]) -> str:
    """Return text such as "Nystrom: 21 values of ell, 10 runs"."""
    return "; ".join(
        f"{NYSTROM[method]}: {len(each)} values of ell, {claim.count_runs(each.values())}"
        for method, each in pairs.items()
    )


def _judge_loss(results: ResultsByName) -> Finding:
    """Compare the accuracy with that of exact kernel PCA."""
    words, flags = [], {}
    for figure, name in FIGURES.items():
        table = results[figure]["rows"]
        exact = summary.overall_mean(table, "kpca", "accuracy")
        losses = [exact - value for value in means(table, "shadow", "accuracy").values()]
        flags[name] = [loss <= MINIMAL for loss in losses]
        low, high = 100 * min(losses), 100 * max(losses)
        words.append(f"{name} {low:.2f} to {high:.2f} points (KPCA {100 * exact:.2f}%)")
    words.append(f"minimal at {claim.count_groups(flags)}")
    return Finding("; ".join(words), claim.grade_groups(flags))


def _judge_retained(name: str, results: ResultsByName) -> Finding:
    if name not in results["fig06"]:
        return Finding(f"requires fig06 with {name}", Verdict.NOT_RUN)
    table = results["fig06"][name]["rows"]
    share = {ell: m / table["n"][0] for ell, m in means(table, "shadow", "m").items()}
    below = [ell for ell, value in share.items() if value < 0.1]
    first, last = min(share), max(share)
    limit = f"below 10% up to ell = {max(below):g}" if below else "never below 10%"
    words = f"{share[first]:.1%} at ell = {first:g}, {share[last]:.1%} at ell = {last:g}; {limit}"
    return Finding(words, claim.grade(value < 0.1 for value in share.values()))


def _retained(name: str) -> Claim:
    return Claim(
        "Section 6, classification",
        f"Less than 10% of {name} is retained for ell in [3, 5]",
        "< 10%",
        f"mean fraction over runs. Reproduced: below 10% at every ell; partly: at "
        f"{claim.PARTLY_FROM}",
        ("fig06",),
        partial(_judge_retained, name),
    )


def _accuracy_spread(results: ResultsByName, figure: str) -> dict[float, float]:
    """Return the best minus the worst accuracy of the reduced sets at each shared ell."""
    table = results[figure]["rows"]
    each = [means(table, m, "accuracy") for m in ("shadow", *SCHEMES)]
    shared = [ell for ell in each[0] if all(ell in one for one in each)]
    return {ell: max(o[ell] for o in each) - min(o[ell] for o in each) for ell in shared}


def _judge_influence(results: ResultsByName) -> Finding:
    words, flags = [], []
    for figure, name in REDUCED_SETS.items():
        spread = _accuracy_spread(results, figure)
        first, last = min(spread), max(spread)
        runs = summary.by_ell(results[figure]["rows"], "shadow", "accuracy")[first]
        noise = 2 * summary.standard_error(runs)
        words.append(
            f"{name} {100 * spread[first]:.2f} points at ell = {first:g}, "
            f"{100 * spread[last]:.2f} at ell = {last:g} (two standard errors: {100 * noise:.2f})"
        )
        flags.append(noise < spread[first] >= 2 * spread[last])
    return Finding("; ".join(words), claim.grade(flags))


def _judge_cost(results: ResultsByName) -> Finding:
    """Check whether schemes that are more accurate at small ell train slower."""
    words, flags = [], []
    for figure, name in REDUCED_SETS.items():
        table = results[figure]["rows"]
        ours, seconds = means(table, "shadow", "accuracy"), medians(table, "shadow", TRAIN)
        small = min(ours)
        for scheme, title in SCHEMES.items():
            gain = means(table, scheme, "accuracy")[small] - ours[small]
            times = medians(table, scheme, TRAIN)[small] / seconds[small]
            if gain >= NOTICEABLE:
                flags.append(times > 1)
            words.append(f"{title} on {name} {100 * gain:+.2f} points, {times:.3g} times as long")
    if not flags:
        return Finding(f"no scheme is more accurate; {'; '.join(words)}", Verdict.NOT)
    return Finding("; ".join(words), claim.grade(flags))


def _judge_testing_time(results: ResultsByName) -> Finding:
    ratios = []
    for figure in REDUCED_SETS:
        table = results[figure]["rows"]
        ours = medians(table, "shadow", ("transform",))
        for scheme in SCHEMES:
            theirs = medians(table, scheme, ("transform",))
            ratios += [theirs[ell] / ours[ell] for ell in theirs]
    low, high = np.quantile(ratios, [0.05, 0.95])
    words = f"90% take {low:.3g} to {high:.3g} times as long as ShDE"
    if low > 0.8 and high < 1.25:
        return Finding(words, Verdict.REPRODUCED)
    return Finding(words, Verdict.PARTLY if low > 0.5 and high < 2 else Verdict.NOT)


WHERE_R = "Section 6, other RSDE schemes"
COMPETITIVE = Claim(
    "Section 6, classification",
    "The accuracy of ShDE+RSKPCA is competitive with the Nystrom methods",
    "competitive",
    "'competitive' means a mean accuracy at most one point below that of (a) the better of the "
    "methods Nystrom and WNystrom that were measured at that ell, (b) scikit-learn's Nystroem + "
    "PCA, over the runs that both methods have. Reproduced: at every measured ell on both data "
    f"sets; partly: at {claim.PARTLY_FROM}",
    tuple(FIGURES),
    partial(_judge_competitive, ("nystrom", "wnystrom")),
    partial(_judge_competitive, ("sklearn-nystroem",)),
)
CLAIMS = (
    COMPETITIVE,
    Claim(
        "Conclusion",
        "Training and evaluation time are reduced with minimal performance loss",
        "minimal",
        f"'minimal' means a mean accuracy at most {100 * MINIMAL:g} points below that of KPCA, "
        f"over the same folds. Reproduced: at every ell on both data sets; partly: at "
        f"{claim.PARTLY_FROM}",
        tuple(FIGURES),
        _judge_loss,
    ),
    _retained("usps"),
    _retained("yale"),
    Claim(
        WHERE_R,
        "The quality of the reduced set influences accuracy for small ell, but less for large ell",
        "small ell only",
        "best minus worst mean accuracy of the four schemes. Reproduced: above two standard "
        "errors at the smallest ell, and at most half of that difference at the largest, on both "
        "data sets; partly: on one of them",
        tuple(REDUCED_SETS),
        _judge_influence,
    ),
    Claim(
        WHERE_R,
        "Schemes with better accuracy are costlier than ShDE",
        "costlier",
        "training time of the schemes that are more accurate by at least 0.1 points at the "
        "smallest ell, relative to ShDE. Reproduced: all of them are slower; partly: half of "
        "them or more are; not reproduced: fewer are, or no scheme is more accurate",
        tuple(REDUCED_SETS),
        _judge_cost,
    ),
    Claim(
        WHERE_R,
        "Evaluation speed-up is the same for all reduced sets",
        "the same",
        "median testing times at each ell. Reproduced: 90% are 0.8 to 1.25 times that of ShDE; "
        "partly: 90% are 0.5 to 2 times that of ShDE",
        tuple(REDUCED_SETS),
        _judge_testing_time,
    ),
)
