"""Links as a Git host knows them, on a site: to folders of this repository, and the order of pages from their indexes.

A page that is called README.md is the index of its folder: its links to other pages, in their order, are what the site
shows below it. A link to a folder leads to that folder's README.md; where it has none, its words stay and the link
goes. Links to files need nothing: the site holds copies of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.typing import ExtensionMetadata

INDEX = "README"
FIRST = "docs/README"


def below(page: str, links: list[str]) -> list[str]:
    """Of the pages that an index links to those that have their place below it, each once, in order.

    They are those of its own folder and the indexes of the folders in it; for the first of all also what is outside.
    """
    folder = page.removesuffix(INDEX)
    return [one for one in dict.fromkeys(links) if one != page and _is_below(folder, one, outside=page == FIRST)]


def _is_below(folder: str, one: str, *, outside: bool) -> bool:
    if not one.startswith(folder):
        return outside
    return "/" not in one.removeprefix(folder).removesuffix(f"/{INDEX}")


class Folders(SphinxTransform):
    """Have links to folders lead to their indexes; a place that is not there stays, for others to complain about."""

    default_priority = 210

    def apply(self, **_: Any) -> None:  # noqa: ANN401 - docutils' own signature
        """Change them in place."""
        here = Path(self.env.doc2path(self.env.docname)).parent
        for link in list(self.document.findall(addnodes.pending_xref)):
            folder = here / str(link["reftarget"])
            if link.get("reftype") != "myst" or not folder.is_dir():
                continue
            if (folder / f"{INDEX}.md").is_file():
                link["refdomain"], link["refdoc"], link["reftargetid"] = "doc", self.env.docname, None
                link["reftarget"] = self.env.path2doc((folder / f"{INDEX}.md").resolve())
            else:
                link.replace_self(nodes.inline("", "", *link.children))


class Order(SphinxTransform):
    """Give an index the tree of the pages that it links to."""

    default_priority = 870
    """Before 880, at which Sphinx collects the trees."""

    def apply(self, **_: Any) -> None:  # noqa: ANN401 - docutils' own signature
        """Append a hidden one."""
        page = self.env.docname
        if page.rpartition("/")[2] != INDEX or page == INDEX:
            return
        links = [str(link["reftarget"]) for link in self.document.findall(addnodes.pending_xref) if _to_page(link)]
        if pages := below(page, links):
            title = next(self.document.findall(nodes.section), self.document)
            title.append(tree(page, pages))  # below the title, and not beside it: so it is a tree


def _to_page(link: addnodes.pending_xref) -> bool:
    return link.get("refdomain") == "doc" and not link.get("reftargetid")


def tree(page: str, pages: list[str]) -> addnodes.toctree:
    """What the directive ``toctree`` would leave in a page."""
    made = addnodes.toctree()
    made["parent"], made["entries"], made["includefiles"] = page, [(None, one) for one in pages], list(pages)
    made["hidden"], made["glob"], made["includehidden"], made["numbered"] = True, False, False, 0
    made["maxdepth"], made["caption"], made["titlesonly"] = -1, None, True
    return made


def setup(app: Sphinx) -> ExtensionMetadata:
    """What Sphinx calls."""
    app.add_transform(Folders)
    app.add_transform(Order)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
