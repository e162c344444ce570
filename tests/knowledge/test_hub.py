"""A model by its id from a hub: on loopback, with everything that a hub may do wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from knowledge.__main__ import app
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError, NotKnown
from knowledge.hub import ModelHub, hubs_named

CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 40,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "auto_map": {"AutoModel": "https://evil.example/code.py"},
}


class Hub(BaseHTTPRequestHandler):
    """Answers by the name of the model asked for."""

    asked: list[str] = []

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        name = self.path.split("/")[2]
        replies = {
            "Zebra-10B": (200, json.dumps(CONFIG).encode()),
            "Cached-10B": (200, json.dumps(CONFIG).encode()),
            "Gated-10B": (403, b""),
            "Broken-10B": (200, b"<html>"),
            "Huge-10B": (200, b'{"a":"' + b"b" * (2**20 + 10) + b'"}'),
            "Ill-10B": (500, b""),
        }
        if name == "Slow-10B":
            time.sleep(1.5)
        elif name == "Moved-10B":
            self._reply(307, b"", location="/api/Cached-10B/config.json")
        elif name == "Elsewhere-10B":
            self._reply(302, b"", location="http://localhost:1/config.json")
        elif name == "Endless-10B":
            self._reply(302, b"", location=self.path)
        else:
            self._reply(*replies.get(name, (404, b"")))

    def _reply(self, status: int, body: bytes, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Tests print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def hub_at(address: str, timeout_s: float = 3.0) -> ModelHub:
    return ModelHub(hubs_named([address]), timeout_s)


@pytest.mark.parametrize("name", ["Zebra-10B", "Moved-10B"])
def test_a_config_is_read_by_id_and_nothing_that_it_points_to(address: str, name: str) -> None:
    found = hub_at(address).model(f"acme/{name}")
    assert found.model.model_id == f"acme/{name}"
    assert found.model.params_total_b == pytest.approx(9.78, abs=0.01)
    assert len(Hub.asked) == (1 if name == "Zebra-10B" else 2)


def test_a_second_question_asks_no_hub_again(address: str) -> None:
    hub = hub_at(address)
    assert hub.model("acme/Zebra-10B") == hub.model("acme/Zebra-10B")
    for _ in range(2):
        with pytest.raises(InputError):
            hub.model("acme/None-10B")
    assert len(Hub.asked) == 2


@pytest.mark.parametrize(
    ("name", "error", "word"),
    [
        ("None-10B", InputError, "model"),
        ("Broken-10B", InputError, "JSON"),
        ("Huge-10B", InputError, "bytes"),
        ("Gated-10B", NotKnown, "gated"),
        ("Ill-10B", NotKnown, "500"),
        ("Elsewhere-10B", NotKnown, "another host"),
        ("Endless-10B", NotKnown, "without end"),
        ("Slow-10B", NotKnown, "timeout"),
    ],
)
def test_what_a_hub_does_wrong_is_one_clear_sentence(
    address: str, name: str, error: type[AdvisorError], word: str
) -> None:
    with pytest.raises(error, match=word):
        hub_at(address, timeout_s=0.5).model(f"acme/{name}")


def test_a_hub_that_is_away_is_said_with_the_way_out() -> None:
    with pytest.raises(NotKnown, match=r"cannot be reached.*config\.json"):
        hub_at("http://127.0.0.1:1").model("acme/Zebra-10B")


@pytest.mark.parametrize(
    "model_id", ["zebra", "a/../b", "../../etc", "a/b/c", "acme/x?y=1", "a/" + "x" * 200]
)
def test_only_ids_are_asked_for(address: str, model_id: str) -> None:
    with pytest.raises(InputError):
        hub_at(address).model(model_id)
    assert Hub.asked == []


@pytest.mark.parametrize("name", ["", "hub", "ftp://host", "http://", "http://h/{id.__class__}"])
def test_a_hub_is_a_known_name_or_an_address(name: str) -> None:
    with pytest.raises(InputError):
        hubs_named([name])


def test_add_model_takes_an_id(address: str, tmp_path: Path) -> None:
    arguments = ["add-model", "acme/Zebra-10B", "--hub", address, "--overlay", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "9.77516B" in result.output
    assert Catalog(overlay=tmp_path).model("Zebra-10B").num_layers == 40
