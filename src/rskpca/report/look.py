"""The colours of the page, light and dark: the style sheet and the scripts read them alike."""

from __future__ import annotations

from .._style import BAND, CATEGORIES, INK, MARK, PALE

LIGHT = {
    "paper": "#ffffff",
    "sheet": "#f4f6f9",
    "text": "#1c2733",
    "faint": "#566372",
    "line": "#d9e0e8",
    "ink": INK,
    "band": BAND,
    "pale": PALE,
    "mark": MARK,
    "green": "#1a7f4b",
    "amber": "#9a6200",
    "red": "#b3261e",
    "none": "#566372",
    "low": "#00224e",
    "middle": "#7c7b78",
    "high": "#e3c13b",
    "categories": ",".join(CATEGORIES),
}
DARK = {
    "paper": "#161c24",
    "sheet": "#0e1319",
    "text": "#e6ebf1",
    "faint": "#a3b0be",
    "line": "#2c3642",
    "ink": "#a9d1f5",
    "band": "#4b7fae",
    "pale": "#42505f",
    "mark": "#ff8896",
    "green": "#5fd39a",
    "amber": "#f0b64d",
    "red": "#ff8a80",
    "none": "#a3b0be",
    "low": "#3d6fb5",
    "middle": "#a39fa0",
    "high": "#ffe36b",
    # Paul Tol's light scheme, which stands out on dark
    "categories": "#77aadd,#ee8866,#eedd88,#44bb99,#99ddff,#ffaabb,#bbcc33,#aaaa00,#cc99ff,#dddddd",
}


def variables() -> str:
    """Custom properties: what the system prefers, unless the page's switch says otherwise."""
    light, dark = (
        "".join(f"--{name}:{value};" for name, value in colours.items())
        for colours in (LIGHT, DARK)
    )
    return (
        f":root{{color-scheme:light;{light}}}"
        f'@media(prefers-color-scheme:dark){{:root:not([data-theme="light"])'
        f"{{color-scheme:dark;{dark}}}}}"
        f':root[data-theme="dark"]{{color-scheme:dark;{dark}}}'
    )
