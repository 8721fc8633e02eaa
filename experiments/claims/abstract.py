"""The abstract's summary of the comparisons."""

from __future__ import annotations

from functools import partial

from . import classification, embedding, speed
from .claim import NOT, NOT_RUN, PARTLY, REPRODUCED, Claim, Finding, Found, Judge

PARTS = [
    claim
    for module in (embedding, speed, classification)
    for claim in module.CLAIMS
    if claim.today is not None and "Nystrom" in claim.text and "slower" not in claim.text
]


def _together(axis: str, found: Found) -> Finding:
    judges: list[Judge] = [getattr(claim, axis) for claim in PARTS]
    verdicts = [judge(found).verdict for judge in judges]
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
        "the claims below that compare accuracy or training time with Nystrom methods, but for "
        "that of slower training. Reproduced: all are; not: none is",
        ("fig02", "fig03", "fig04", "fig05"),
        partial(_together, "judge"),
        partial(_together, "today"),
    ),
)
