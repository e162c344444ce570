"""Hand-over to a person: cases are kept in the database and sent by webhook or mail until they arrive."""

from __future__ import annotations

import asyncio
import json
import logging
import smtplib
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import httpx
from anyio import to_thread
from sqlalchemy import select, update

from serving.redact import redact, redact_head
from serving.signing import signature
from serving.store import Store, StoreDown
from serving.store.tables import HandOver
from settings import Settings

log = logging.getLogger(__name__)
TIMEOUT_S = 5.0
LEASE = timedelta(seconds=60)  # another replica takes a case over when its sender died
MAX_ATTEMPTS = 10  # with doubling pauses: about three hours
_LOOK_S = 10.0
_KEPT_MESSAGES = 60  # as many turns as an answer reads
_KEPT_CHARS = 8_000  # of each: a person reads the talk, not whole logs


class HandOverDesk:
    """Takes cases and delivers them. Each replica has one; a case is sent by one of them."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._awake = asyncio.Event()

    @property
    def has_target(self) -> bool:
        return bool(self._settings.handover_url or self._settings.handover_mail)

    def take(
        self,
        messages: Sequence[Mapping[str, str]],
        comment: str,
        contact: str,
        context: Mapping[str, str],
        channel: str,
        subject: str,
    ) -> str:
        """Keeps a case and gives its id. Raises `StoreDown`."""
        case = uuid.uuid4().hex
        now = datetime.now(UTC)
        row = HandOver(
            id=case,
            at=now,
            channel=channel,
            subject=subject[:120],
            transcript=[
                {"role": item["role"], "content": redact_head(item["content"], _KEPT_CHARS)}
                for item in messages[-_KEPT_MESSAGES:]
            ],
            comment=redact(comment),
            contact=contact,
            context={key: redact(value) for key, value in context.items()},
            status="queued",
            attempts=0,
            next_at=now,
            fault="",
        )
        with self._store.session() as session:
            session.add(row)
        return case

    def wake(self) -> None:
        """Delivers now instead of at the next look."""
        self._awake.set()

    async def run(self) -> None:
        """Delivers until cancelled."""
        while self.has_target:
            self._awake.clear()
            try:
                await to_thread.run_sync(self.deliver_due)
            except StoreDown:
                log.warning("hand-overs wait: the database is away")
            except Exception:  # the next look must come, or no case leaves until a restart
                log.exception("hand-overs wait")
            try:
                await asyncio.wait_for(self._awake.wait(), _LOOK_S)
            except TimeoutError:
                continue

    def deliver_due(self) -> int:
        """Sends every case that is due and gives how many arrived. Raises `StoreDown`."""
        arrived = 0
        while (case := self._claim()) is not None:
            fault = self._send(case)
            arrived += not fault
            self._settle(case, fault)
        return arrived

    def _claim(self) -> HandOver | None:
        now = datetime.now(UTC)
        due = select(HandOver).where(HandOver.status == "queued", HandOver.next_at <= now).limit(1)
        with self._store.session() as session:
            case = session.scalars(due).first()
            if case is None:
                return None
            taken = session.execute(
                update(HandOver)
                .where(
                    HandOver.id == case.id, HandOver.attempts == case.attempts, HandOver.status == "queued"
                )
                .values(attempts=case.attempts + 1, next_at=now + LEASE)
                .execution_options(synchronize_session=False)
            )
            session.expunge(case)
        return case if taken.rowcount == 1 else self._claim()  # type: ignore[attr-defined]

    def _settle(self, case: HandOver, fault: str) -> None:
        attempts = case.attempts + 1
        values: dict[str, object] = {"status": "sent", "contact": "", "fault": ""}
        if fault:
            log.warning("hand-over %s: %s", case.id, fault)
            pause = timedelta(seconds=10 * 2**attempts)
            given_up = attempts >= MAX_ATTEMPTS
            values = {
                "status": "given_up" if given_up else "queued",
                "next_at": datetime.now(UTC) + pause,
                "fault": fault[:300],
            }
        with self._store.session() as session:
            session.execute(update(HandOver).where(HandOver.id == case.id).values(**values))

    def _send(self, case: HandOver) -> str:
        """ "" when every target has the case, else what went wrong."""
        try:
            if self._settings.handover_url:
                self._post(case)
            if self._settings.handover_mail:
                self._mail(case)
        # Also what a wrong setting raises (a URL without host, a port that is no number): the case then waits
        # as it does for a silent desk, and the fault stands beside it.
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"
        return ""

    def _post(self, case: HandOver) -> None:
        body = json.dumps(case_values(case), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        secret = self._settings.handover_secret.get_secret_value()
        if secret:
            headers |= signed_headers(secret, body)
        reply = httpx.post(self._settings.handover_url, content=body, headers=headers, timeout=TIMEOUT_S)
        reply.raise_for_status()

    def _mail(self, case: HandOver) -> None:
        message = EmailMessage()
        message["Subject"] = f"GPU sizing assistant: hand-over {case.id[:8]}"
        message["To"] = self._settings.handover_mail
        message["From"] = self._settings.handover_mail
        message.set_content(case_text(case))
        server = urlsplit(self._settings.smtp_url or "smtp://localhost")
        kind = smtplib.SMTP_SSL if server.scheme == "smtps" else smtplib.SMTP
        with kind(server.hostname or "localhost", server.port or 0, timeout=TIMEOUT_S) as smtp:
            if server.username:
                if server.scheme == "smtp":
                    smtp.starttls()
                smtp.login(unquote(server.username), unquote(server.password or ""))
            smtp.send_message(message)


def signed_headers(secret: str, body: bytes, now: float | None = None) -> dict[str, str]:
    """Time and HMAC-SHA256 of "time.body", as the generic webhook and the hand-over carry them."""
    at = str(int(time.time() if now is None else now))
    return {"X-GSA-Timestamp": at, "X-GSA-Signature": signature(secret, at, body)}


def case_values(case: HandOver) -> dict[str, object]:
    """What the webhook gets. The id stays the same when a case is sent twice."""
    return {
        "id": case.id,
        "at": case.at.isoformat(),
        "channel": case.channel,
        "from": case.subject,
        "contact": case.contact,
        "comment": case.comment,
        "context": case.context,
        "messages": case.transcript,
    }


def case_text(case: HandOver) -> str:
    """The case as a mail."""
    head = [f"Contact: {case.contact or '-'}", f"Comment: {case.comment or '-'}", f"From: {case.subject}"]
    head += [f"{key}: {value}" for key, value in case.context.items()]
    talk = [f"--- {item['role']}\n{item['content']}" for item in case.transcript]
    return "\n".join(head) + "\n\n" + "\n\n".join(talk) + "\n"
