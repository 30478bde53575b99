"""The campaign that changes the code of checks: its mutants are what they say, and leave nothing behind."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"
IN_ONE_PROCESS = """
import argparse, json, pathlib
import _mutants, mutation
from _graft import grafted
from chaosk.analysis.checks import stuck_lso
from chaosk.analysis.check_runner import checks

kind, path = checks()["stuck_lso"], mutation.source("stuck_lso")
before = (kind.violations.__code__, kind.glance.__code__, stuck_lso.SLACK, stuck_lso._patience.__code__)
bad = next(each for each in _mutants.mutants(path) if each.operator == "returned" and "stays.filter" in each.was)
options = argparse.Namespace(minutes=9, limit=120.0, out=pathlib.Path("OUT"), equivalents=pathlib.Path("NONE"))
rows = mutation.campaign({"stuck_lso": [bad, _mutants.identity(path)]}, options)
after = (kind.violations.__code__, kind.glance.__code__, stuck_lso.SLACK, stuck_lso._patience.__code__)
print(json.dumps({"rows": rows, "back": all(a is b for a, b in zip(before, after))}))
"""


def bench(code: str, timeout: float = 60) -> Any:
    """Run lines of Python among the benchmarks; the JSON that they print in the end."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCH, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def changes(source: str, folder: Path) -> list[tuple[str, str, str]]:
    """Operator, what was and what became, of every mutant of a source."""
    (folder / "some.py").write_text(source, "utf-8")
    return [
        (operator, was, became)
        for operator, was, became in bench(
            "import json, pathlib, _mutants\n"
            f"found = _mutants.mutants(pathlib.Path({str(folder / 'some.py')!r}))\n"
            "print(json.dumps([(each.operator, each.was, each.became) for each in found]))"
        )
    ]


def test_the_operators_change_what_decides(tmp_path: Path) -> None:
    """One line for each operator, and what it must become."""
    source = """
a = x < 1
b = f & g
c = not d
e = 'violation'
h = F.min('at')
i = a.join(b, on='n', how='inner')
j = frame.filter(c).select('n')
k = F.coalesce(a, b)
l = F.when(c, 5000)
def m():
    if n:
        return o
    return bool(p)
"""
    found = changes(source, tmp_path)
    wanted = {
        ("boundary", "x < 1", "x <= 1"), ("negated", "x < 1", "x >= 1"), ("constant", "1", "2"), ("constant", "1", "0"),
        ("arithmetic", "f & g", "f | g"), ("half", "f & g", "f"), ("half", "f & g", "g"), ("plain", "not d", "d"),
        ("severity", "'violation'", "'allowed'"), ("opposite", "F.min", "F.max"),
        ("join", "how='inner'", "how='left'"), ("join", "how='inner'", "how='left_anti'"),
        ("dropped", "frame.filter(c)", "frame"), ("argument", "F.coalesce(a, b)", "F.coalesce(b)"),
        ("argument", "F.coalesce(a, b)", "F.coalesce(a)"), ("argument", "F.when(c, 5000)", "F.when(~c, 5000)"),
        ("constant", "5000", "10000"), ("constant", "5000", "2500"),
        ("branch", "if n: return o", "if True: return o"), ("branch", "if n: return o", "if False: return o"),
        ("returned", "return o", "return None"), ("returned", "return bool(p)", "return None"),
        ("returned", "return bool(p)", "return True"),
    }  # fmt: skip
    assert wanted == set(found)
    assert len(found) == len(wanted)


def test_words_are_left_alone(tmp_path: Path) -> None:
    """Docstrings, titles, names of tables, annotations, decorators, imports and messages are no mutants' matter."""
    source = '''
"""At most 5."""
from a import b

class C:
    """More than 3 & less than 4."""
    title = "violation"
    order = (*A, "violation")

    @cache(1)
    def d(self, e: int | None = None) -> int | str:
        """1 < 2."""
        raise ValueError(f"{e + 1} < 2")
'''
    assert changes(source, tmp_path) == []


def test_every_mutant_of_every_check_is_another_code() -> None:
    """Thousands there are, none is the code as it is, and they are the same each time they are made."""
    found = bench(
        "import ast, json, mutation, _mutants\n"
        "from chaosk.analysis.check_runner import checks\n"
        "made = {name: list(_mutants.mutants(mutation.source(name))) for name in checks()}\n"
        "again = {name: list(_mutants.mutants(mutation.source(name))) for name in ('lost', 'eos')}\n"
        "dead = [(name, m.line, m.was, m.became) for name in made for m in made[name] if m.was == m.became]\n"
        "stable = all(made[name] == again[name] for name in again)\n"
        "print(json.dumps([sum(map(len, made.values())), min(map(len, made.values())), dead, stable]))",
        timeout=240,
    )
    count, fewest, dead, stable = found
    assert count > 2000
    assert fewest >= 1
    assert dead == []
    assert stable


def test_a_larger_sample_holds_the_smaller_one() -> None:
    """So that a campaign can be gone on with; every check has its share."""
    small, large = bench(
        "import json, mutation\n"
        "names = ('lost', 'latency', 'swallowed')\n"
        "draw = lambda n: {k: [m.number for m in v] for k, v in mutation.drawn(names, n, 1).items()}\n"
        "print(json.dumps([draw(9), draw(40)]))"
    )
    assert {name: len(numbers) for name, numbers in small.items()} == {"lost": 3, "latency": 3, "swallowed": 3}
    assert all(large[name][:3] == numbers for name, numbers in small.items())
    assert sum(map(len, large.values())) == 40


def test_a_graft_reaches_whoever_imported_and_is_taken_out(tmp_path: Path) -> None:
    """Functions, methods, constants and default values; and a module that cannot be imported changes nothing."""
    (tmp_path / "stem.py").write_text("LIMIT = 1\nclass C:\n    def m(self, n=1): return n\ndef f(): return LIMIT\n")
    (tmp_path / "user.py").write_text("from stem import C, LIMIT, f\ndef all(): return [LIMIT, C().m(), f()]\n")
    code = (tmp_path / "stem.py").read_text().replace("1", "2")
    ast.parse(code)
    seen = bench(
        f"import json, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import stem, user\n"
        "from _graft import Unimportable, grafted\n"
        "said = [user.all()]\n"
        f"with grafted(stem, compile({code!r}, 'stem.py', 'exec')): said.append(user.all())\n"
        "said.append(user.all())\n"
        "try:\n"
        f"    with grafted(stem, compile({code!r} + '1 / 0', 'stem.py', 'exec')): said.append('imported')\n"
        "except Unimportable as error: said.append(str(error))\n"
        "print(json.dumps([*said, user.all()]))"
    )
    assert seen == [[1, 1, 1], [2, 2, 2], [1, 1, 1], "ZeroDivisionError: division by zero", [1, 1, 1]]


def outcome(status: str, became: str, line: int = 1) -> dict[str, str]:
    """A row of the record: in the first line of the check ``some`` a number was changed."""
    row = {"check": "some", "line": str(line), "operator": "constant", "was": "1", "became": became}
    return row | {"status": status, "by": "test_some.py::test_it" if status == "killed" else ""}


def counted(folder: Path, rows: list[dict[str, str]], listed: str) -> dict[str, Any]:
    """What the bench makes of some rows and a list of equivalents: statuses, exit code, and the lines it prints."""
    (folder / "some.py").write_text("a = 1\nb = 1\n", "utf-8")
    (folder / "list.csv").write_text(f"check,code,was,became,why\n{listed}\n", "utf-8")
    found: dict[str, Any] = bench(
        "import contextlib, io, json, pathlib\n"
        "from _equivalents import label, listed\n"
        "from _score import report\n"
        f"rows, folder, said = {rows!r}, pathlib.Path({str(folder)!r}), io.StringIO()\n"
        "known, source = listed(folder / 'list.csv'), lambda name: folder / f'{name}.py'\n"
        "label(rows, known, source)\n"
        "with contextlib.redirect_stdout(said): code = report(rows, known, source)\n"
        "statuses = [row['status'] for row in rows]\n"
        "print(json.dumps({'statuses': statuses, 'code': code, 'said': said.getvalue().splitlines()}))"
    )
    return found


def test_a_survivor_that_changes_no_verdict_counts_apart(tmp_path: Path) -> None:
    """By the line of code, what was and what became; nine of ten others killed are enough."""
    rows = [outcome("killed", str(number)) for number in range(10, 19)] + [outcome("survived", "2")]
    rows += [outcome("survived", "0"), outcome("broken", "3")]
    found = counted(tmp_path, rows, "some,a = 1,1,0,nobody asks")
    assert found["statuses"] == ["killed"] * 9 + ["survived", "equivalent", "broken"]
    last = "10 mutants, 1 survived, score 90.0%; besides 1 that change no verdict, 1 that cannot be imported"
    assert (found["code"], found["said"][-1]) == (0, last)
    assert counted(tmp_path, rows[1:], "some,a = 1,1,0,nobody asks")["code"] == 1


def test_what_is_not_in_the_list_any_more_survived(tmp_path: Path) -> None:
    """Another line of the code with the same change is another mutant; a list may be cleared."""
    rows = [outcome("equivalent", "0"), outcome("survived", "0", line=2)]
    assert counted(tmp_path, rows, "some,b = 1,1,0,nobody asks")["statuses"] == ["survived", "equivalent"]


def test_a_listed_mutant_that_a_test_kills_is_said_to_be_none(tmp_path: Path) -> None:
    """Then the list is wrong, however good the score."""
    found = counted(tmp_path, [outcome("killed", "0")], "some,a = 1,1,0,nobody asks")
    assert (found["statuses"], found["code"]) == (["killed"], 1)
    assert "some:1: 1 -> 0 is listed as equivalent: killed by test_some.py::test_it" in found["said"]


def test_the_list_has_to_say_why(tmp_path: Path) -> None:
    """An entry without its reason is refused."""
    (tmp_path / "list.csv").write_text("check,code,was,became,why\nsome,a = 1,1,0,\n", "utf-8")
    said = bench(
        "import json, pathlib\n"
        "from _equivalents import listed\n"
        f"try: listed(pathlib.Path({str(tmp_path / 'list.csv')!r}))\n"
        "except SystemExit as error: print(json.dumps(str(error)))"
    )
    assert said.startswith("list.csv: not all of check, code, was, became, why are given")


def test_the_list_is_of_mutants_of_the_code_as_it_is() -> None:
    """An entry whose line was changed excuses nothing any more, and has to go."""
    unknown = bench(
        "import json, mutation\n"
        "from _equivalents import key, listed\n"
        "from _mutants import mutants\n"
        "known = listed()\n"
        "files = {name: mutation.source(name) for name, *_ in known}\n"
        "made = {key({'check': name, 'line': m.line, 'was': m.was, 'became': m.became}, files[name])\n"
        "        for name in files for m in mutants(files[name])}\n"
        "print(json.dumps([each for each in known if each not in made]))",
        timeout=240,
    )
    assert unknown == []


@pytest.mark.long
@pytest.mark.spark
def test_a_bad_mutant_is_killed_and_the_original_is_not(tmp_path: Path) -> None:
    """A check that finds nothing any more is killed by its tests, the check as it is by none, and it is back after."""
    found = bench(IN_ONE_PROCESS.replace("OUT", str(tmp_path / "out.csv")), timeout=280)
    assert {row["operator"]: row["status"] for row in found["rows"]} == {"returned": "killed", "identity": "survived"}
    assert [row["by"] for row in found["rows"] if row["status"] == "killed"] != [""]
    assert found["back"]
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == 3
