"""Render formulas as MathML at build time, so that pages need no scripts and no network access."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# Replacements for docutils accents by characters that do not touch the letter in fonts without math
# support.
ACCENTS = {"\u02c9": "_", "\u02c6": "^", "\u02dc": "~", "_": "_", "^": "^", "~": "~"}


def setup(app: Any) -> None:
    """Register the math renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(translator: Any, node: Any) -> None:
    _write(translator, node, as_block=False)


def _displayed(translator: Any, node: Any) -> None:
    _write(translator, node, as_block=True)


def _write(translator: Any, node: Any, *, as_block: bool) -> None:
    try:
        formula = mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("%s in %s", error, node.astext(), location=node)
    else:
        translator.body.append(f'<div class="formula">{formula}</div>' if as_block else formula)
    raise SkipNode


def mathml(tex: str, *, as_block: bool = False) -> str:
    """Convert TeX to MathML, with the subscripts of accented letters to the right, not below."""
    xml = tex2mathml(tex, as_block=as_block).replace(f' xmlns="{NAMESPACE}"', "")
    root = ET.fromstring(re.sub(r"&(?!amp|lt|gt)\w+;", lambda match: unescape(match[0]), xml))
    for parent in list(root.iter()):
        for index, child in enumerate(parent):
            if child.tag in ("mover", "munderover") and child[-1].text in ACCENTS:
                parent[index] = _move_subscript(child)
    return ET.tostring(root, encoding="unicode")


def _move_subscript(node: ET.Element) -> ET.Element:
    letter, *below, accent = node
    sign = ET.Element("mo", stretchy="false")
    sign.text = ACCENTS[accent.text or ""]
    over = _element("mover", letter, sign, accent="true")
    return _element("msub", over, *below) if below else over


def _element(tag: str, *children: ET.Element, **attributes: str) -> ET.Element:
    element = ET.Element(tag, attributes)
    element.extend(children)
    return element
