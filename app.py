"""Builds everything in order, mounts the page and the API on one port, and serves."""

from __future__ import annotations

import logging

import uvicorn
from fastapi import FastAPI

from agent.run import open_advisor
from serving.app import build_api
from settings import Settings
from ui.page import build_page, mount_page


def build_app(settings: Settings) -> FastAPI:
    """The whole application: settings, facts, index, model, agent, API, page."""
    advisor = open_advisor(settings)
    advisor.warm()
    api = build_api(advisor, settings)
    return mount_page(api, build_page(advisor), root_path=settings.root_path)


def main() -> None:
    """Serves until stopped; Ctrl-C finishes the answers that are being written."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    settings = Settings()
    app = build_app(settings)
    print(f"GPU sizing assistant: http://{settings.host}:{settings.port}", flush=True)  # noqa: T201
    uvicorn.run(
        app, host=settings.host, port=settings.port, log_level="warning", timeout_graceful_shutdown=30
    )


if __name__ == "__main__":
    main()
