"""Formulas as MathML, made at the build: pages need neither a script nor the network for them."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app: Any) -> None:
    """Add the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(translator: Any, node: Any) -> None:
    _write(translator, node, as_block=False)


def _displayed(translator: Any, node: Any) -> None:
    _write(translator, node, as_block=True)


def _write(translator: Any, node: Any, *, as_block: bool) -> None:
    try:
        translator.body.append(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("%s in %s", error, node.astext(), location=node)
    raise SkipNode
