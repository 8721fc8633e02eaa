"""The abstract's summary of the comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .claim import NOT, NOT_RUN, PARTLY, REPRODUCED, Claim, Finding, Found, Judge
from .classification import COMPETITIVE
from .embedding import BETTER, NO_WORSE
from .speed import THAN_NYSTROM, THAN_WNYSTROM

PARTS = (*BETTER, *NO_WORSE, COMPETITIVE, THAN_NYSTROM, THAN_WNYSTROM)
TODAYS_PARTS = (*BETTER, COMPETITIVE, THAN_NYSTROM)  # scikit-learn has no weighted Nystrom


def _together(judges: Sequence[Judge | None], found: Found) -> Finding:
    verdicts = [judge(found).verdict for judge in judges if judge is not None]
    kinds = (REPRODUCED, PARTLY, NOT)
    words = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds)
    if NOT_RUN in verdicts:
        return Finding(f"{words}; needs two runs", NOT_RUN)
    alike = verdicts[0] if len(set(verdicts)) == 1 else PARTLY
    return Finding(f"of {len(verdicts)} comparisons below {words}", alike)


CLAIMS = (
    Claim(
        "Abstract",
        "RSKPCA compares favorably to the Nystrom and density-weighted Nystrom methods",
        "favorably",
        "the claims below on (a) the embedding against Nystrom and WNystrom, the accuracy against "
        "both, the training time against Nystrom to classify and against WNystrom; (b) the same "
        "against scikit-learn's Nystroem + PCA, each comparison once, so without those with "
        "WNystrom. Slower training than Nystrom for the embedding alone is a claim of the paper "
        "and not among them. Reproduced: all are; not: none is; partly: otherwise",
        ("fig02", "fig03", "fig04", "fig05"),
        partial(_together, [claim.judge for claim in PARTS]),
        partial(_together, [claim.today for claim in TODAYS_PARTS]),
    ),
)
