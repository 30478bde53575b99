"""The site of the documentation: `./dev docs` builds it, from the pages as they lie in the tree."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "chaosk"
project_copyright = "the chaosk authors, Apache-2.0"
extensions = ["myst_parser", "treelinks"]
root_doc = "docs/README"
include_patterns = ["README.md", "CHANGELOG.md", "reports/README.md", "docs/**.md"]
exclude_patterns = [".*", "bench", "chaosk", "inventory", "reports/*/**", "scenarios", "schemas", "tests"]
"""Folders that hold no page, so that nobody walks through them."""

# A link, an anchor or a file that is not there is an error: `./dev docs` makes every warning one.
nitpicky = True
myst_heading_anchors = 4
"""Headings down to this level have the anchors that Git hosts give them."""

html_theme = "furo"
html_title = "chaosk"
html_copy_source = False
html_show_sphinx = False
templates_path = ["templates"]
html_additional_pages = {"index": "first.html"}
"""Pages keep the places that they have in the tree; this one leads to the first of them."""
