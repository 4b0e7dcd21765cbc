"""Alembic's entry point: the migrations run on the connection that `schema.upgrade` opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
