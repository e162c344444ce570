"""Thumbs and comments on an answer, and the wish to talk to a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from anyio import to_thread
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import case

from serving.access.caller import Caller
from serving.chat import Calling, ChatMessage, channel_of
from serving.handover import HandOverDesk
from serving.problems import Refused, refusals
from serving.redact import redact
from serving.store import Store, StoreDown
from serving.store.tables import Feedback, Question


class FeedbackRequest(BaseModel):
    """A thumb for an answer; `answer_id` is the `id` of a chat reply."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"answer_id": "5f1c0e6d2b6b4d0c", "rating": "down", "comment": "price is old"}]
        },
    )

    answer_id: str = Field(min_length=1, max_length=80)
    rating: Literal["up", "down"]
    comment: str = Field(default="", max_length=2000)


class FeedbackKept(BaseModel):
    status: Literal["kept"] = "kept"


class HandOverRequest(BaseModel):
    """A conversation for a person. `contact` is how to reach the visitor; `context` is what the page adds."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "messages": [{"role": "user", "content": "Which GPU for 4 streams of SDXL?"}],
                    "comment": "I need a quote",
                    "contact": "me@example.com",
                    "context": {"page": "https://desk.example/gpu"},
                }
            ]
        },
    )

    messages: list[ChatMessage] = Field(min_length=1, max_length=400)
    comment: str = Field(default="", max_length=2000)
    contact: str = Field(default="", max_length=200)
    context: dict[Annotated[str, Field(max_length=50)], Annotated[str, Field(max_length=500)]] = Field(
        default={}, max_length=20
    )


class HandOverTaken(BaseModel):
    """The desk's case number."""

    id: str
    status: Literal["queued"] = "queued"


def feedback_routes(store: Store, handover: HandOverDesk) -> APIRouter:
    """`/api/v1/feedback` and `/api/v1/handover`."""
    router = APIRouter(tags=["feedback"])

    @router.post("/api/v1/feedback", status_code=201, responses=refusals(404))
    async def feedback(body: FeedbackRequest, caller: Calling) -> FeedbackKept:
        """Keeps a thumb for an answer that this caller got; a second one replaces the first."""
        await to_thread.run_sync(_keep, store, body, caller)
        return FeedbackKept()

    @router.post("/api/v1/handover", status_code=202, responses=refusals(404))
    async def hand_over(body: HandOverRequest, caller: Calling) -> HandOverTaken:
        """Passes the conversation on to a person; it is delivered at once, and again until it arrives."""
        if not handover.has_target:
            raise Refused(404, "No person here", "No desk is set up: HANDOVER_URL or HANDOVER_MAIL.")
        messages = [message.model_dump() for message in body.messages]
        case = await to_thread.run_sync(
            _take, handover, messages, body.comment, body.contact, body.context, caller
        )
        handover.wake()
        return HandOverTaken(id=case)

    return router


def _keep(store: Store, body: FeedbackRequest, caller: Caller) -> None:
    try:
        with store.session() as session:
            question = session.get(Question, body.answer_id)
            if question is None or question.subject != caller.subject:
                raise Refused(404, "Unknown answer", "You got no answer of this id, or it is too old.")
            given = store.insert(Feedback).values(
                answer_id=body.answer_id,
                subject=caller.subject,
                at=datetime.now(UTC),
                rating=body.rating,
                comment=redact(body.comment),
            )
            new = given.excluded
            session.execute(
                given.on_conflict_do_update(
                    index_elements=[Feedback.answer_id, Feedback.subject],
                    set_={
                        "at": new.at,
                        "rating": new.rating,
                        # A thumb and its comment may arrive in either order.
                        "comment": case((new.comment != "", new.comment), else_=Feedback.comment),
                    },
                )
            )
    except StoreDown:
        raise _away() from None


def _take(
    handover: HandOverDesk,
    messages: list[dict[str, str]],
    comment: str,
    contact: str,
    context: dict[str, str],
    caller: Caller,
) -> str:
    try:
        return handover.take(messages, comment, contact, context, channel_of(caller), caller.subject)
    except StoreDown:
        raise _away() from None


def _away() -> Refused:
    return Refused(503, "The database is away", "Nothing can be kept now.", {"Retry-After": "5"})
