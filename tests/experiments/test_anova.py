"""The analysis of variance, and from which ell on something holds."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import f_oneway

from experiments import anova


def groups(shift, n=50):
    rng = np.random.default_rng(0)
    return rng.normal(size=n).tolist(), rng.normal(shift, 1.5, size=n).tolist()


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_p_value_is_that_of_the_f_test(shift):
    ours, theirs = map(np.array, groups(shift))
    between = 25 * (ours.mean() - theirs.mean()) ** 2
    within = (49 * ours.var(ddof=1) + 49 * theirs.var(ddof=1)) / 98
    wanted = f_distribution.sf(between / within, 1, 98)
    assert anova.p_value(ours, theirs) == pytest.approx(wanted, rel=1e-10)
    assert anova.p_value(ours, theirs) == f_oneway(ours, theirs).pvalue


def test_better_needs_more_than_chance():
    ours, theirs = groups(2.0)
    assert anova.better(ours, theirs)
    assert not anova.better(theirs, ours)
    assert not anova.no_worse(theirs, ours)
    near, equal = groups(0.1)
    assert not anova.better(near, equal)
    assert anova.no_worse(near, equal)
    assert anova.no_worse(equal, near)


def test_values_that_do_not_vary():
    assert anova.p_value([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert anova.p_value([1.0, 1.0], [2.0, 2.0]) == 0.0


def test_one_run_is_refused():
    with pytest.raises(ValueError, match="two runs"):
        anova.p_value([1.0], [2.0])


def test_holds_from_the_smallest_ell_without_a_gap_above():
    ours = {3.0: [1.0], 3.1: [9.0], 3.2: [1.0], 3.3: [1.0]}
    theirs = {ell: [5.0] for ell in (3.3, 3.2, 3.1, 3.0)}

    def smaller(a, b):
        return a[0] < b[0]

    assert anova.holds_from(smaller, ours, theirs) == 3.2
    assert anova.holds_from(smaller, theirs, ours) is None
    assert anova.holds_from(lambda a, b: True, ours, theirs) == 3.0
