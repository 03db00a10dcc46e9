"""Sphinx's settings: `make docs` builds the site into docs/_build/html, offline, with warnings as errors."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from sphinx_gallery.sorting import ExplicitOrder

import mamofair

project = "mamofair"
author = "the mamofair developers"
copyright = f"2026, {author}"
version = release = mamofair.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "reference",  # pages of the reference, from what the package exports
    "repository_links",  # links that work on a code host work here, too
    "llms",  # llms.txt
]
exclude_patterns = ["_build", "results/paper"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring links to what it names, and is code if there is no such thing
highlight_language = "text"
suppress_warnings = [
    "myst.header",  # tables of results are headed by ###
    "config.cache",  # sphinx-gallery's settings hold classes
]
toc_object_entries_show_parents = "hide"
nitpicky = False  # types of other projects have no pages in an offline build

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # signatures would be longer than what they sign; docstrings say what is expected
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the page of a class lists them itself
numpydoc_xref_param_type = False

FIRST_EXAMPLES = (  # a newcomer's questions first; by default, the shortest scripts come first
    *("choose_limit", "trained_model", "audit_vendor", "fairer_model", "certain_limit", "three_attributes"),
    *("costs", "four_fifths", "departments", "late_labels", "pipeline"),
    *("own_network", "fine_tuning", "own_loop", "counterfactual"),
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/used",
    "doc_module": ("mamofair",),
    "filename_pattern": r"/examples/(?!mlflow_model)",  # mlflow is not a dependency
    "within_subsection_order": ExplicitOrder([*(f"plot_{name}.py" for name in FIRST_EXAMPLES), "*"]),
    "image_scrapers": ("gallery_figures.scrape",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "default_thumb_file": str(Path(__file__).parent / "images/front.png"),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "parallel": False,
}
os.environ.setdefault("OMP_NUM_THREADS", "1")  # examples are small, and threads would wait for each other

intersphinx_mapping = {
    "sklearn": ("https://scikit-learn.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "torch": ("https://docs.pytorch.org/docs/stable", None),
}
if os.environ.get("MAMOFAIR_DOCS_INTERSPHINX"):  # needs the network, which a build must not
    extensions.append("sphinx.ext.intersphinx")

html_title = "mamofair"
html_theme = "pydata_sphinx_theme"
html_baseurl = os.environ.get("MAMOFAIR_DOCS_URL", "")  # of the page for 404, which is shown at any depth
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_additional_pages = {"404": "404.html"}
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"start": [], "glossary": [], "search": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
