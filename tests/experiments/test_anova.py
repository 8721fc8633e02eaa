"""Test the analysis of variance, and the ell from which a comparison holds."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import f_oneway

from experiments import anova, eigenembedding


def sample_groups(shift, n=50):
    rng = np.random.default_rng(0)
    return rng.normal(size=n).tolist(), rng.normal(shift, 1.5, size=n).tolist()


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_the_p_value_equals_that_of_the_f_test(shift):
    ours, theirs = map(np.array, sample_groups(shift))
    between = 25 * (ours.mean() - theirs.mean()) ** 2
    within = (49 * ours.var(ddof=1) + 49 * theirs.var(ddof=1)) / 98
    expected = f_distribution.sf(between / within, 1, 98)
    assert anova.p_value(ours, theirs) == pytest.approx(expected, rel=1e-10)
    assert anova.p_value(ours, theirs) == f_oneway(ours, theirs).pvalue


def test_a_method_is_better_only_if_the_difference_is_significant():
    ours, theirs = sample_groups(2.0)
    assert anova.better(ours, theirs)
    assert not anova.better(theirs, ours)
    assert not anova.no_worse(theirs, ours)
    near, equal = sample_groups(0.1)
    assert not anova.better(near, equal)
    assert anova.no_worse(near, equal)
    assert anova.no_worse(equal, near)


def test_the_p_value_of_constant_values_is_0_or_1():
    assert anova.p_value([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert anova.p_value([1.0, 1.0], [2.0, 2.0]) == 0.0


def test_a_single_run_raises_an_error():
    with pytest.raises(ValueError, match="two runs"):
        anova.p_value([1.0], [2.0])


def test_the_onset_is_the_smallest_ell_without_a_gap_above_it():
    ours = {3.0: [1.0], 3.1: [9.0], 3.2: [1.0], 3.3: [1.0]}
    theirs = {ell: [5.0] for ell in (3.3, 3.2, 3.1, 3.0)}

    def smaller(a, b):
        return a[0] < b[0]

    assert anova.onset(anova.compare(smaller, ours, theirs)) == 3.2
    assert anova.onset(anova.compare(smaller, theirs, ours)) is None
    assert anova.onset(anova.compare(lambda a, b: True, ours, theirs)) == 3.0


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((True, True, True), "at 3 of 3 values of ell, from ell = 3 onward"),
        ((True, False, True), "at 2 of 3 values of ell, from ell = 5 onward"),
        ((True, True, False), "at 2 of 3 values of ell, not at the largest"),
        ((False, False, False), "at 0 of 3 values of ell"),
    ],
)
def test_the_description_counts_all_values_of_ell(flags, expected):
    assert anova.describe(dict(zip((3.0, 4.0, 5.0), flags, strict=True))) == expected


def test_the_note_below_a_figure_states_both_comparisons():
    errors = {"shadow": (1.0, 9.0), "nystrom": (5.0, 5.0), "wnystrom": (0.5, 9.0)}
    rows = [
        (method, ell, run, at[i] + 0.01 * run)
        for method, at in (errors | {"subsampled": (9.0, 9.0)}).items()
        for i, ell in enumerate((3.0, 4.0))
        for run in range(3)
    ]
    columns = zip(*rows, strict=True)
    table = dict(zip(("method", "ell", "run", "embedding_error"), map(list, columns), strict=True))
    verdict = eigenembedding._verdict(table)
    assert "better than Nyström at 1 of 2 values of ell, not at the largest;" in verdict
    assert "no worse than WNyström at 1 of 2 values of ell, from ell = 4 onward." in verdict
