"""How Sphinx makes the site: Markdown, the PyData theme, nothing from the network. Run by tools/site.py."""

import safetab

project = "SafeTab"
author = "The SafeTab maintainers"
version = release = safetab.__version__
language = "en"
# Two hyphens are an option, not a dash.
smartquotes = False

extensions = ["myst_parser", "sphinx_design"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_title = "SafeTab"
html_static_path = ["_static"]
html_css_files = ["safetab.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
# A browser cannot fetch the pages that a search has found from a disk.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "SafeTab"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# The start page has doors of its own; the others are alone in their section.
html_sidebars = {page: [] for page in ("index", "tutorial/*", "glossary", "changelog")}
