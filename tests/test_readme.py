"""The pages say what is true: what they name exists, and what they show works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from chaosk.cli.main import cli
from chaosk.core.errors import ExitCode
from chaosk.rundir.paths import RunDir

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEVELOPING = (ROOT / "docs" / "developing.md").read_text(encoding="utf-8")
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "reports/README.md")] + sorted(ROOT.glob("docs/**/*.md"))
SOURCES = [
    f"/{path.relative_to(ROOT)}"
    for folder in ("chaosk", "tests", "bench", "docs/site")
    for path in ROOT.glob(f"{folder}/**/*")
    if path.suffix in {".py", ".sh"}
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a place in this repository names a file or folder that is there."""
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_source_files_named_are_there(page: Path) -> None:
    """A page that sends a reader to a file of the code, by its path or the end of it, names one that exists."""
    if page.name == "CHANGELOG.md":  # what was there at that time
        return
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"`((?!acme_chaos)[a-z_/]+\.(?:py|sh))\b", text))
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in SOURCES)] == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions", "docs/experiments", "docs/measured", "docs/reference"])
def test_the_index_names_every_page(folder: str) -> None:
    """Each page and folder of a folder is linked from its index, but for what makes the site."""
    index = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / folder).iterdir()} - {"README.md", "site"}
    assert [page for page in pages if f"]({page})" not in index] == []


def test_the_exit_codes_are_the_programs() -> None:
    """The table has each exit code once, in order, and no other."""
    table = [int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)]
    assert table == sorted(ExitCode)


def test_the_scenario_shown_is_valid(tmp_path: Path) -> None:
    """What a reader copies first is accepted as it stands."""
    (shown,) = re.findall(r"```yaml\n(name:.*?)```", README, re.DOTALL)
    (tmp_path / "shown.yaml").write_text(shown, encoding="utf-8")
    answer = CliRunner().invoke(cli, ["validate", str(tmp_path / "shown.yaml")], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output


def test_every_command_shown_exists() -> None:
    """Each `chaosk WORD` and `./dev WORD` of the page is a command."""
    subcommands = cli.list_commands(cli.make_context("chaosk", ["validate", "x"], resilient_parsing=True))
    shells = "".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    words = set(re.findall(r"`chaosk ([a-z]+)", README)) | set(re.findall(r"^chaosk ([a-z]+)", shells, re.MULTILINE))
    assert words
    assert words - set(subcommands) == set()
    shown = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^\./dev ([a-z]+)", shown, re.MULTILINE))
    assert set(re.findall(r"\./dev ([a-z]+)", README + DEVELOPING)) <= known


def test_the_layout_shown_is_the_tree() -> None:
    """Every module and folder of the package is in the layout, and nothing that is gone."""
    (block,) = re.findall(r"## Layout\n.*?```\n(.*?)```", DEVELOPING, re.DOTALL)
    shown = {word.rstrip("/") for word in re.findall(r"^  ([a-z_]+(?:\.py|/)) ", block, re.MULTILINE)}
    tracked = subprocess.run(["git", "ls-files", "chaosk"], cwd=ROOT, capture_output=True, text=True, check=True)
    there = {Path(line).parts[1] for line in tracked.stdout.splitlines()}
    assert shown == there - {"__init__.py", "__main__.py", "py.typed"}
    around = re.findall(r"^([a-z]+)/ ", block, re.MULTILINE)
    assert [name for name in around if not (ROOT / name).is_dir()] == []


def test_the_files_of_a_run_are_described() -> None:
    """reports/README.md has a row for every file and folder that a run directory has."""
    page = (ROOT / "reports" / "README.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([a-z.]+)/?`", page))
    run = RunDir(Path("run"))
    paths = (getattr(run, name) for name, value in vars(RunDir).items() if isinstance(value, property))
    assert {path.name for path in paths} <= described
