"""The config.json of a model by its id, from a model hub: one small file, read as data."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from knowledge.errors import AdvisorError, InputError, NotKnown
from knowledge.model_import import MAX_BYTES, MODEL_ID, ImportedModel, model_from_config

_PATHS = {
    "huggingface": "https://huggingface.co/{id}/resolve/main/config.json",
    "modelscope": "https://www.modelscope.cn/models/{id}/resolve/master/config.json",
}
_SAME_HOST_HOPS = 3  # a hub may send one to its own cache, never to another host
_PLAIN = {"Accept-Encoding": "identity"}  # nothing that unpacks to more than was sent
_KEPT_S = 24 * 3600.0
_KEPT_MODELS = 256
_UNREACHABLE_S = 60.0  # so long a hub that did not answer is not asked again
_HELP = "download its config.json yourself and give the file"


@dataclass(frozen=True)
class Hub:
    """One hub: where the config.json of an id lies."""

    name: str
    pattern: str

    def address(self, model_id: str) -> str:
        return self.pattern.format(id=model_id)


def hubs_named(names: Sequence[str]) -> tuple[Hub, ...]:
    """Hubs of their names: huggingface, modelscope, or the address of a mirror that speaks Hugging Face's
    paths. Raises `InputError` for anything else."""
    hubs = []
    for name in names:
        parts = urlsplit(name)
        if name in _PATHS:
            hubs.append(Hub(name, _PATHS[name]))
        elif parts.scheme in ("http", "https") and parts.hostname and "{" not in name:
            hubs.append(Hub(parts.netloc, f"{name.rstrip('/')}/{{id}}/resolve/main/config.json"))
        else:
            raise InputError("hub", name, "huggingface, modelscope or an address", list(_PATHS))
    return tuple(hubs)


class ModelHub:
    """Asks hubs in order and remembers what they said for a day. Safe for threads; one question each."""

    def __init__(self, hubs: Sequence[Hub], timeout_s: float = 4.0) -> None:
        self._hubs = tuple(hubs)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, ImportedModel | AdvisorError]] = {}

    def model(self, model_id: str) -> ImportedModel:
        """The model of an id. Raises `InputError` where no hub has it or its config cannot be used, and
        `NotKnown` where none can be reached or it is gated."""
        now = time.monotonic()
        with self._lock:
            until, kept = self._kept.get(model_id, (0.0, None))
        if kept is None or until < now:
            try:
                kept, lasts = self._asked(model_id), _KEPT_S
            except NotKnown as error:
                kept, lasts = error, _UNREACHABLE_S
            except InputError as error:
                kept, lasts = error, _KEPT_S
            with self._lock:
                if len(self._kept) >= _KEPT_MODELS:
                    self._kept.clear()
                self._kept[model_id] = (now + lasts, kept)
        if isinstance(kept, AdvisorError):
            raise kept
        return kept

    def _asked(self, model_id: str) -> ImportedModel:
        if not MODEL_ID.fullmatch(model_id) or ".." in model_id:
            raise InputError("model", model_id, "an id of the form owner/name")
        faults: list[AdvisorError] = []
        for hub in self._hubs:
            try:
                data = self._config(hub, model_id)
            except AdvisorError as error:
                faults.append(error)
                continue
            found = model_from_config(data, model_id)
            source = f"config.json of {model_id} at {hub.name}"
            return ImportedModel(found.model.model_copy(update={"source": source}), found.unknown)
        faults.sort(key=lambda fault: isinstance(fault, InputError))  # what could not be asked says more
        raise faults[0] if faults else NotKnown("model", model_id, "no model hub is set")

    def _config(self, hub: Hub, model_id: str) -> bytes:
        """At most `MAX_BYTES` of the file, within the time limit as a whole."""
        address = hub.address(model_id)
        ends = time.monotonic() + self._timeout_s
        try:
            with httpx.Client(timeout=self._timeout_s, follow_redirects=False) as client:
                for _ in range(_SAME_HOST_HOPS + 1):
                    with client.stream("GET", address, headers=_PLAIN) as reply:
                        if reply.is_redirect:
                            address = self._same_host(hub, address, reply.headers.get("location", ""))
                            continue
                        _check_status(hub, model_id, reply.status_code)
                        return _body(hub, model_id, reply, ends)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            told = f"{hub.name} cannot be reached ({_kind(error)}); {_HELP}"
            raise NotKnown("model", model_id, told) from None
        raise NotKnown("model", model_id, f"{hub.name} redirects without end; {_HELP}")

    def _same_host(self, hub: Hub, address: str, location: str) -> str:
        target = urljoin(address, location)
        here, there = urlsplit(address), urlsplit(target)
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            raise NotKnown("model", hub.name, f"{hub.name} redirects to another host: not followed; {_HELP}")
        return target


def _check_status(hub: Hub, model_id: str, status: int) -> None:
    if status == 404:
        raise InputError("model", model_id, f"a model that {hub.name} has")
    if status in (401, 403):
        raise NotKnown("model", model_id, f"{hub.name} keeps this model gated or private; {_HELP}")
    if status != 200:
        raise NotKnown("model", model_id, f"{hub.name} answered {status}; {_HELP}")


def _body(hub: Hub, model_id: str, reply: httpx.Response, ends: float) -> bytes:
    data = bytearray()
    for piece in reply.iter_raw():
        data += piece
        if len(data) > MAX_BYTES:
            raise InputError("config.json", f"over {MAX_BYTES} bytes", f"at most {MAX_BYTES} bytes")
        if time.monotonic() > ends:
            raise NotKnown("model", model_id, f"{hub.name} is too slow; {_HELP}")
    return bytes(data)


def _kind(error: Exception) -> str:
    return "timeout" if isinstance(error, httpx.TimeoutException) else type(error).__name__
