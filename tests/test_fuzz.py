"""Whatever comes in, only documented errors come out: the loader, the event log's reader, the decoder of records."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_documents import COMBINED, INVENTORY, SCENARIO, VARIED

from chaosk.document import DocumentError, load_inventory, load_variants
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Decoder, Payload, encode, of_other_run

pytestmark = pytest.mark.long

RUN = "run-1"
EXAMPLES = int(os.environ.get("CHAOSK_FUZZ", "200"))
FUZZ = settings(max_examples=EXAMPLES, deadline=5_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""A deadline for each example: none may hang, on a busy machine either."""

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
    st.sampled_from(["5s", "leader(orders, 0)", "orders", "${hold}", "${x}", "-1s", "broker 1", "1/s", "all", "."]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
DOCUMENTS = [yaml.safe_load(each) for each in (SCENARIO, VARIED, COMBINED, INVENTORY)]


def load_both(folder: Path, data: bytes) -> None:
    """As a scenario and as an inventory: a value or a DocumentError, and nothing written besides the file."""
    path = folder / "sub" / "file.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    for load in (load_variants, load_inventory):
        with suppress(DocumentError):
            _told(load, path)
    assert sorted(folder.rglob("*")) == [path.parent, path]


def _told(load: Callable[[Path], object], path: Path) -> None:
    """Load it; a refusal must say where and what, in text that a terminal shows."""
    try:
        load(path)
    except DocumentError as error:
        sound = bool(error.problems) and all(problem.line >= 1 and problem.what for problem in error.problems)
        if not sound or not all(line.isprintable() for line in str(error).splitlines()):
            raise AssertionError(str(error)) from error
        raise


@FUZZ
@given(data=st.binary(max_size=400))
def test_any_bytes_are_a_document_or_refused(tmp_path: Path, data: bytes) -> None:
    """Most are no UTF-8."""
    load_both(tmp_path, data)


@FUZZ
@given(text=st.text(alphabet=st.sampled_from("{}[]:,-?&*!|>'\"%@`#\n \tab0.~<=$()\\"), max_size=120))
def test_any_text_is_a_document_or_refused(tmp_path: Path, text: str) -> None:
    """Made of what means something in YAML."""
    load_both(tmp_path, text.encode())


@FUZZ
@given(
    base=st.sampled_from([SCENARIO, VARIED, COMBINED, INVENTORY]),
    at=st.integers(0, 2000), length=st.integers(0, 30), new=st.text(max_size=12),
)  # fmt: skip
def test_a_document_with_a_piece_replaced(tmp_path: Path, base: str, at: int, length: int, new: str) -> None:
    """Right all around: what is wrong is met late."""
    at %= len(base)
    load_both(tmp_path, (base[:at] + new + base[at + length :]).encode("utf-8", "replace"))


def _put(document: Any, path: list[int], value: object) -> Any:
    """The document with a value at the place that the numbers lead to."""
    if not path or not isinstance(document, dict | list) or not document:
        return value
    if isinstance(document, dict):
        key = list(document)[path[0] % len(document)]
        return {**document, key: _put(document[key], path[1:], value)}
    at = path[0] % len(document)
    return [*document[:at], _put(document[at], path[1:], value), *document[at + 1 :]]


@FUZZ
@given(base=st.sampled_from(DOCUMENTS), path=st.lists(st.integers(0, 20), min_size=1, max_size=6), value=VALUES)
def test_a_document_with_any_value_in_any_place(tmp_path: Path, base: Any, path: list[int], value: object) -> None:
    """Of any type, as deep as it goes."""
    load_both(tmp_path, yaml.safe_dump(_put(base, path, value), allow_unicode=True).encode("utf-8", "replace"))


@FUZZ
@given(key=st.text(max_size=20), value=VALUES, config=st.booleans())
def test_any_setting_of_a_client(tmp_path: Path, key: str, value: object, *, config: bool) -> None:
    """Librdkafka itself is asked, which has opinions of its own."""
    document = json.loads(json.dumps(DOCUMENTS[0]))
    if config:
        document["probes"]["writer"]["produce"]["config"] = {key: value}
    else:
        document["topics"]["orders"]["config"] = {key: value}
    load_both(tmp_path, yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "replace"))


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A live stream of two tables, as bytes."""
    folder = tmp_path_factory.mktemp("streams") / "w"
    with LiveLog(folder) as log:
        for number in range(60):
            log.write("clocks", (number, number))
            log.write("errors", ("w", 0, number, "_TRANSPORT", f"message {number}", False))
            if number % 20 == 0:
                log.flush()
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(FUZZ, max_examples=2 * EXAMPLES)
@given(
    name=st.sampled_from(["clocks.arrows", "errors.arrows"]), at=st.integers(0, 10_000), length=st.integers(0, 64),
    new=st.binary(max_size=64),
)  # fmt: skip
def test_a_damaged_stream_is_read_as_far_as_it_goes(
    tmp_path: Path, streams: dict[str, bytes], name: str, at: int, length: int, new: bytes
) -> None:
    """Rows and, where reading stopped early, a reason; the rows are of the schema and not more than were written."""
    raw = streams[name]
    at %= len(raw)
    path = tmp_path / name
    path.write_bytes(raw[:at] + new + raw[at + length :])
    found = read_live(path)
    assert found.table.num_rows <= 120
    assert found.torn is None or found.torn.startswith(f"{tmp_path.name}/{name}: ")
    found.table.to_pylist()


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_ten_bytes_overwritten_anywhere(tmp_path: Path, streams: dict[str, bytes], byte: int) -> None:
    """Lengths of texts among them, which Arrow itself would follow out of its memory."""
    raw, path = streams["errors.arrows"], tmp_path / "errors.arrows"
    whole = {row["message"] for row in read_of(path, raw)}
    for at in range(0, len(raw) - 10, 2):
        rows = read_of(path, raw[:at] + bytes([byte]) * 10 + raw[at + 10 :])
        assert len(rows) <= len(whole)


def read_of(path: Path, raw: bytes) -> list[dict[str, Any]]:
    """The rows of a stream with these bytes."""
    path.write_bytes(raw)
    rows: list[dict[str, Any]] = read_live(path).table.to_pylist()
    return rows


@FUZZ
@given(name=st.sampled_from(["clocks.arrows", "errors.arrows", "sends.arrows"]), data=st.binary(max_size=300))
def test_any_bytes_are_a_stream_or_torn(tmp_path: Path, name: str, data: bytes) -> None:
    """A file that never was a stream."""
    path = tmp_path / name
    path.write_bytes(data)
    found = read_live(path)
    assert found.table.num_rows == 0
    assert not data or found.torn or not found.closed


@settings(FUZZ, max_examples=3 * EXAMPLES)
@given(value=st.none() | st.binary(max_size=200))
def test_any_record_is_ours_or_is_none(value: bytes | None) -> None:
    """Whoever else writes to the topic: never an error, never taken for ours."""
    assert Decoder(RUN).decode(value) is None
    assert not of_other_run(value, RUN)


@settings(FUZZ, max_examples=3 * EXAMPLES)
@given(
    producer=st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20),
    numbers=st.tuples(st.integers(0, 65535), st.integers(0, 2**62), st.integers(0, 2**62)),
    at=st.integers(0, 500), new=st.binary(min_size=1, max_size=8), sealed=st.booleans(),
)  # fmt: skip
def test_a_forged_record_is_never_an_error(
    producer: str, numbers: tuple[int, int, int], at: int, new: bytes, *, sealed: bool
) -> None:
    """Of the right form, damaged, and with a checksum that fits the damage: None or a payload, by both ways to read."""
    whole = encode(RUN, Payload(producer[:20], *numbers), 200)
    at %= len(whole) - 4
    forged = (whole[:at] + new + whole[at + len(new) :])[: len(whole)]
    if sealed:
        forged = forged[:-4] + crc32(forged[:-4]).to_bytes(4, "little")
    found = Decoder(RUN).decode(forged)
    assert found is None or sealed or forged == whole
    Decoder(RUN).decode_all([whole, forged, None, os.urandom(200)])
    Decoder(RUN).decode_all([forged, whole])
