"""The HTTP application: routes and errors put together."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI

from appliance.api import ask, conversations, errors, ingest, library, openai, status, tasks, tokenize
from appliance.api.parts import Parts


def create_app(parts: Parts) -> FastAPI:
    """Return the application that serves these parts."""
    # No documentation pages: they load scripts from the internet. The schema is at /openapi.json.
    app = FastAPI(title="appliance", version=version("appliance"), docs_url=None, redoc_url=None)
    app.state.parts = parts
    for room in (ask, tasks, library, ingest, conversations, status, tokenize, openai):
        app.include_router(room.router)
    errors.install(app)
    return app
