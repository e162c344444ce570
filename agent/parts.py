"""What the settings name for an advisor: a language model, model hubs, the guide search."""

from __future__ import annotations

import logging

from langchain_core.language_models import BaseChatModel

from agent.guides import GuideSearch
from agent.hub import ModelSource
from knowledge.catalog import Catalog
from settings import Settings

log = logging.getLogger(__name__)


def hub_of(settings: Settings) -> ModelSource | None:
    """The model hubs of the settings; None, as by default, where nothing is asked outside."""
    if not settings.model_hubs:
        return None
    from knowledge.hub import ModelHub, hubs_named  # its HTTP client is loaded where it is used

    return ModelHub(hubs_named(settings.model_hubs))


def model_of(settings: Settings) -> BaseChatModel | None:
    """The configured model. Its client library takes most of a second to load and most starts need none."""
    if not settings.has_model:
        return None
    from agent.model import open_model

    return open_model(settings)


def searcher_of(settings: Settings, catalog: Catalog) -> GuideSearch | None:
    """The guide search, or None where it cannot be opened: answers then say that guides are missing."""
    from retrieval.open import settings_searcher

    try:
        return settings_searcher(settings, catalog)
    except Exception:
        log.exception("the guide search could not be opened; answers go without guides")
        return None
