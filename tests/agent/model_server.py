"""A language-model service on loopback: speaks the OpenAI protocol, plays a script, faults included."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Play = Callable[["Exchange"], None]
_PIECE = re.compile(r"[^\w]?[A-Za-z]+|\d{1,3}| ?[^\w\s]+|_|\s+|[^\x00-\x7f]")
_LONG_WORD = 13


def tokens_of(text: str) -> int:
    """Tokens of a text by the rule that splits words in byte-pair vocabularies of today: a word with the sign
    before it, up to three digits, a run of signs; long words count twice. Needs no vocabulary file."""
    return sum(1 + (len(piece) > _LONG_WORD) for piece in _PIECE.findall(text))


def prompt_tokens(body: Body) -> int:
    """Tokens of a request: texts, tool calls and tool schemas."""
    parts = [json.dumps(body.get("tools", []), separators=(",", ":"))]
    for message in body["messages"]:
        parts.append(str(message.get("content") or ""))
        parts += [str(call["function"]) for call in message.get("tool_calls", ())]
    return sum(map(tokens_of, parts)) + 4 * len(body["messages"])


class Exchange:
    """One request with the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: Body) -> None:
        self.handler = handler
        self.body = body

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    def json(self, values: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(values).encode()
        self.handler.send_response(status)
        self.handler.send_header("content-type", "application/json")
        self.handler.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def message(self, message: Body, pause_s: float = 0.0, cut_after: int | None = None) -> None:
        """A completion, in one piece or as a stream; `cut_after` ends a stream after so many parts."""
        usage_in = prompt_tokens(self.body)
        usage = {"prompt_tokens": usage_in, "completion_tokens": 20, "total_tokens": usage_in + 20}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        shared = {"id": "c1", "created": 1, "model": "scripted"}
        if not self.streams:
            whole = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
            time.sleep(pause_s * 20)
            if cut_after is not None:
                self._cut_body()
                return
            self.json({**shared, "object": "chat.completion", "choices": [whole], "usage": usage})
            return
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream")
        self.handler.end_headers()
        for number, delta in enumerate(_deltas(message)):
            if number == cut_after:
                return
            self._part({**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            time.sleep(pause_s)
        self._part({**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self._part({**shared, "choices": [], "usage": usage})
        self.handler.wfile.write(b"data: [DONE]\n\n")

    def _cut_body(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("content-type", "application/json")
        self.handler.send_header("content-length", "5000")
        self.handler.end_headers()
        self.handler.wfile.write(b'{"id": "c1", "choices": [')

    def _part(self, values: Body) -> None:
        part = {"object": "chat.completion.chunk", **values}
        self.handler.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
        self.handler.wfile.flush()


def _deltas(message: Body) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield {"tool_calls": [{"index": index, **call}]}
    text = message.get("content") or ""
    for start in range(0, len(text), 8):
        yield {"content": text[start : start + 8]}
    if message.get("refusal"):
        yield {"refusal": message["refusal"]}


class ModelServer:
    """Plays `script` in order; the last play is repeated. `bodies` holds every request."""

    def __init__(self, *script: Play) -> None:
        self.script = list(script)
        self.bodies: list[Body] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.bodies.append(body)
                play = outer.script[min(len(outer.bodies), len(outer.script)) - 1]
                # The client gives up in some scripts, which is what they are about.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    play(Exchange(self, body))

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def says(text: str) -> Play:
    return lambda exchange: exchange.message({"content": text})


def calls(name: str, arguments: object, call_id: str = "call_1") -> Play:
    """A tool call; `arguments` as text is sent as it is, broken JSON included."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return lambda exchange: exchange.message({"content": None, "tool_calls": [call]})


def fails(status: int, message: str, code: str = "", **headers: str) -> Play:
    error = {"error": {"message": message, "type": "error", "code": code or None, "param": None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda exchange: exchange.json(error, status, named)


def refuses(text: str) -> Play:
    return lambda exchange: exchange.message({"content": None, "refusal": text})


def silent(seconds: float) -> Play:
    return lambda exchange: time.sleep(seconds)


def slow(text: str, pause_s: float) -> Play:
    return lambda exchange: exchange.message({"content": text}, pause_s=pause_s)


def cut(text: str) -> Play:
    return lambda exchange: exchange.message({"content": text}, cut_after=2)
