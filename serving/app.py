"""The HTTP application: what a help desk needs beside the page, assembled in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress

from anyio import to_thread
from fastapi import FastAPI
from starlette.routing import Route

from agent.guides import GuideSearch
from knowledge.catalog import installed_catalog
from serving.access.cors import SiteCors
from serving.access.gatekeeper import AccessMiddleware, Gatekeeper
from serving.access.login import login_routes
from serving.access.tokens import open_signer
from serving.body_limit import BodyLimitMiddleware
from serving.bots.bot import BotDesk
from serving.bots.feishu import feishu_routes
from serving.bots.webhook import webhook_routes
from serving.calculators import calculator_routes
from serving.chat import chat_routes
from serving.desk import Asks, Desk
from serving.feedback import feedback_routes
from serving.gate import Gate
from serving.guard import GuardMiddleware
from serving.handover import HandOverDesk
from serving.health import health_routes
from serving.mcp_server import McpEndpoint, build_mcp
from serving.metrics import Metrics
from serving.openai_api import openai_routes
from serving.openapi import add_openapi
from serving.problems import add_problems, add_unknown
from serving.records import prune
from serving.search import search_routes
from serving.store import Store, StoreDown, open_store
from serving.widget.routes import widget_routes
from settings import Settings

log = logging.getLogger(__name__)
_PRUNE_EVERY_S = 6 * 3600
# Answers of the built-in model are work for the CPU: more at once only makes each slower. With a model
# service most of an answer is waiting for it.
_PLACES_BUILTIN = 8
_PLACES_WITH_MODEL = 64


def build_api(advisor: Asks, settings: Settings, searcher: GuideSearch | None = None) -> FastAPI:
    """The application without the page. Raises `StoreDown` when the database cannot be opened."""
    store = open_store(settings.store_url)
    signer = open_signer(store, settings.secret_key.get_secret_value())
    catalog = installed_catalog(
        settings.overlay_dir, settings.cny_per_usd, settings.cny_per_usd_date, settings.default_region
    )
    metrics = Metrics()
    places = settings.max_answers or (_PLACES_WITH_MODEL if settings.has_model else _PLACES_BUILTIN)
    gate = Gate(places, metrics)
    desk = Desk(advisor, store, metrics, gate)
    mcp = McpEndpoint(build_mcp(catalog, searcher, gate))
    bots = BotDesk(desk, store)
    handover = HandOverDesk(store, settings)

    app = FastAPI(
        title="GPU sizing assistant",
        version="1",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan(store, settings, handover, mcp, bots),
    )
    app.state.desk = desk
    app.state.store = store
    app.add_middleware(AccessMiddleware, gatekeeper=Gatekeeper(store, signer, settings))
    app.add_middleware(SiteCors, store=store, configured=settings.cors_origins)
    app.add_middleware(
        BodyLimitMiddleware,
        most_bytes=settings.max_body_bytes,
        upload_path=PAGE_UPLOADS,
        upload_bytes=settings.max_upload_bytes,
    )
    app.add_middleware(
        GuardMiddleware,
        metrics=metrics,
        frame_ancestors=settings.frame_ancestors,
        root_path=settings.root_path,
    )
    add_problems(app)
    checks = {
        "facts": lambda: f"ok: {len(catalog.instances)} instance types",
        "database": lambda: _answers(store.ping),
        "guides": lambda: "ok" if searcher is not None else "ok: no index, answers go without guides",
    }
    for router in (
        health_routes(checks, metrics),
        chat_routes(desk),
        openai_routes(desk),
        calculator_routes(catalog, gate),
        search_routes(searcher, gate),
        feedback_routes(store, handover),
        widget_routes(store, signer, settings),
        login_routes(store, signer),
        webhook_routes(bots, settings),
        feishu_routes(bots, settings),
    ):
        app.include_router(router)
    app.router.routes.append(Route("/mcp", endpoint=mcp, include_in_schema=False))
    add_openapi(app)
    add_unknown(app, ("/api/", "/v1/", "/bots/"))
    return app


PAGE_UPLOADS = "/gradio_api/upload"  # where the page's files arrive


def _answers(call: Callable[[], None]) -> str:
    call()
    return "ok"


def _lifespan(
    store: Store, settings: Settings, handover: HandOverDesk, mcp: McpEndpoint, bots: BotDesk
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        # Left in the reverse order: no new messages, their answers finished, then the rest.
        async with AsyncExitStack() as stack:
            stack.callback(store.close)
            await stack.enter_async_context(mcp.running())
            for work in (handover.run(), _prune_regularly(store, settings.retention_days)):
                stack.push_async_callback(_end, asyncio.create_task(work))
            stack.push_async_callback(bots.finish)
            if settings.dingtalk_client_id:
                from serving.bots.dingtalk import DingTalkBot  # its SDK is loaded where it is used

                robot = DingTalkBot(bots, settings)
                robot.start()
                stack.callback(robot.stop)
            yield

    return lifespan


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _prune_regularly(store: Store, retention_days: int) -> None:
    while True:
        try:
            gone = await to_thread.run_sync(prune, store, retention_days)
            log.info("retention: %d rows deleted", gone)
        except StoreDown:
            log.warning("nothing was pruned: the database is away")
        except Exception:  # the next time must come
            log.exception("nothing was pruned")
        await asyncio.sleep(_PRUNE_EVERY_S)
