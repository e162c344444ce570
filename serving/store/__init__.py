"""What outlives an answer: keys, sites, rates, questions, thumbs, hand-overs; in SQLite or PostgreSQL."""

from serving.store.open import Store, StoreDown, open_store

__all__ = ["Store", "StoreDown", "open_store"]
