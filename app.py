"""Builds everything in order, mounts the page and the API on one port, and serves."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI

from agent.run import open_advisor
from serving.app import build_api
from serving.desk import PageAdvisor
from serving.logs import set_up_logs
from settings import Settings
from ui.page import build_page, mount_page


def build_app(settings: Settings) -> FastAPI:
    """The whole application: settings, facts, index, model, agent, API, page."""
    advisor = open_advisor(settings)
    advisor.warm()
    api = build_api(advisor, settings, advisor.searcher)
    page = build_page(PageAdvisor(api.state.desk), advisor.catalog)
    return mount_page(api, page, root_path=settings.root_path, max_file_bytes=settings.max_upload_bytes)


def main() -> None:
    """Serves until stopped; Ctrl-C finishes the answers that are being written."""
    settings = Settings()
    set_up_logs(settings.log_format)
    app = build_app(settings)
    print(f"GPU sizing assistant: http://{settings.host}:{settings.port}", flush=True)  # noqa: T201
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # `TRUSTED_PROXIES` says whose word counts
        timeout_graceful_shutdown=30,
    )


if __name__ == "__main__":
    main()
