"""Runs the migrations over the connection that `open_store` hands in."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from serving.store.tables import Table

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
connection.commit()
