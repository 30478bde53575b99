"""The documentation as a site: it is built of the pages as they are, and a link that leads nowhere stops it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
SPHINX = re.findall(r'^    python (-m sphinx .+) "\$out"$', (ROOT / "dev").read_text("utf-8"), re.MULTILINE)
PAGES = {
    "README.md": "# The way in\n",
    "CHANGELOG.md": "# Changes\n",
    "LICENSE": "Free.\n",
    "scenarios/quick.yaml": "name: Quick\n",
    "docs/README.md": "# Index\n\n[a](a.md) [sub](sub) [in](../README.md) [new](../CHANGELOG.md) [all](../scenarios)\n",
    "docs/a.md": "# A page\n\n## How far it may go\n\n[file](../scenarios/quick.yaml) [free](../LICENSE) PLANT\n",
    "docs/sub/README.md": "# Below\n\n[b](b.md) [up](../a.md#how-far-it-may-go)\n",
    "docs/sub/b.md": "# B page\n",
}
"""A tree as small as can be, with each kind of link; ``PLANT`` is where a test puts a wrong one."""


def build(tree: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build a tree as `./dev docs` does: by the very words of its line."""
    (words,) = SPHINX
    command = [sys.executable, *words.split(), str(out)]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=300, check=False)


def small(tree: Path, plant: str = "", **more: str) -> Path:
    """The small tree, with what makes the site."""
    for name, text in (PAGES | {name.replace("__", "/") + ".md": text for name, text in more.items()}).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text.replace("PLANT", plant), "utf-8")
    shutil.copytree(ROOT / "docs/site", tree / "docs/site", ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def test_the_whole_site_is_built(tmp_path: Path) -> None:
    """No warning, every page is there, and each is somewhere in the tree that the first one shows."""
    done = build(ROOT, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").glob("**/*.md")]
    assert len(pages) > 60
    assert [page for page in pages if not (tmp_path / page).with_suffix(".html").exists()] == []
    first = (tmp_path / "docs/README.html").read_text("utf-8")
    assert [page.stem for page in pages if f"{page.stem}.html" not in first and page.stem != "README"] == []
    assert "docs/README.html" in (tmp_path / "index.html").read_text("utf-8")


def test_links_into_the_tree_lead_there(tmp_path: Path) -> None:
    """To files by a copy of them, to folders by their index, to an anchor of another page, and one page to the next."""
    done = build(small(tmp_path / "tree"), tmp_path / "site")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site/docs/a.html").read_text("utf-8")
    copies = re.findall(r'href="\.\./(_downloads/[0-9a-f]+/(?:quick\.yaml|LICENSE))"', page)
    assert len(copies) == 2
    assert all((tmp_path / "site" / copy).is_file() for copy in copies)
    index = (tmp_path / "site/docs/README.html").read_text("utf-8")
    assert 'href="sub/README.html"' in index
    assert re.findall(r">all</span>(.{4})", index) == ["</sp"]  # the words of a folder without an index, and no link
    assert "../a.html#how-far-it-may-go" in (tmp_path / "site/docs/sub/README.html").read_text("utf-8")


def test_pages_stand_in_the_order_of_their_indexes(tmp_path: Path) -> None:
    """Each index has its pages below it, in the order in which it links to them; the first what lies outside too."""
    assert build(small(tmp_path / "tree"), tmp_path / "site").returncode == 0
    index = (tmp_path / "site/docs/README.html").read_text("utf-8")
    shown = re.findall(r'<li class="toctree-l(\d)[^"]*"><a class="reference internal" href="([^"]+)"', index)
    assert shown == [
        ("1", "a.html"),
        ("1", "sub/README.html"),
        ("2", "sub/b.html"),
        ("1", "../README.html"),
        ("1", "../CHANGELOG.html"),
    ]


@pytest.mark.parametrize(
    ("plant", "says"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[gone](sub/gone.md#there)", "sub/gone.md"),
        ("[anchor](sub/b.md#nowhere)", "nowhere"),
        ("[anchor](#nowhere)", "nowhere"),
        ("[file](../scenarios/gone.yaml)", "scenarios/gone.yaml"),
        ("[folder](../gone)", "gone"),
        ("![picture](gone.svg)", "gone.svg"),
    ],
)
def test_a_link_that_leads_nowhere_stops_it(tmp_path: Path, plant: str, says: str) -> None:
    """Whatever it is to: a page, an anchor of another page or its own, a file, a folder, a picture."""
    done = build(small(tmp_path / "tree", plant), tmp_path / "site")
    assert done.returncode == 1
    assert re.search(rf"docs/a\.md.*WARNING: .*{re.escape(says)}", done.stderr), done.stderr


def test_a_page_that_no_index_names_stops_it(tmp_path: Path) -> None:
    """Nobody would find it."""
    done = build(small(tmp_path / "tree", docs__sub__lost="# Lost\n"), tmp_path / "site")
    assert done.returncode == 1
    assert re.search(r"docs/sub/lost\.md.*toctree", done.stderr), done.stderr
