"""Sphinx configuration; build with ``sphinx-build -W docs docs/_build/html``."""

import os
import re
import sys
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from api_pages import write_api  # noqa: E402

import rskpca  # noqa: E402

matplotlib.use("agg")
os.environ.setdefault("OMP_NUM_THREADS", "2")

project = "rskpca"
author = copyright = "the rskpca developers"
version = release = rskpca.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "math_pages",
]
exclude_patterns = ["_build", "gallery/README.rst", "**/sg_execution_times.rst"]

# ---------------------------------------------------------------------------- pages

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "rskpca"
html_static_path = ["_static"]
html_sidebars = {page: [] for page in ("index", "start", "which", "migration", "extending")}
templates_path = ["_templates"]
html_css_files = ["rskpca.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False

# --------------------------------------------------------------------- API reference

write_api(DOCS / "api.rst")
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -------------------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

# ---------------------------------------------------------------------------- hooks


def mark_trailing_underscores(app, what, name, value, options, lines):
    """Quote names such as n_features_in_ in parameter types; reST would parse them as links."""
    for i, line in enumerate(lines):
        head, colon, kind = line.partition(" : ")
        if colon:
            lines[i] = head + colon + re.sub(r"(?<![\w`])([a-z]\w*_)(?!\w)", r"``\1``", kind)


def setup(app):
    # A priority below numpydoc's, which is 500, makes this hook run first.
    app.connect("autodoc-process-docstring", mark_trailing_underscores, priority=100)
