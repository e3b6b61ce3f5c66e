"""Speaks to one OpenAI-compatible server: its models, its counts, its streams. Keeps no state of ours.

The only file of the running product that may open a connection off the machine, and only to `engine.url`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace

import httpx

from appliance.engine.address import CONNECT_S, Address, connect
from appliance.engine.dialect import Counting, Json, RemoteModel, choose_model
from appliance.engine.refusal import error_of
from appliance.errors import (
    EngineBusyError,
    EngineError,
    EngineLostError,
    EngineNotReadyError,
    PromptTooLongError,
)
from appliance.lines import lines

_POLL = httpx.Timeout(10.0, connect=CONNECT_S)  # for questions about the server; answers have no limit
_NO_SUCH_ROUTE = (401, 403, 404, 405, 501)  # 401 and 403: a gateway that shows /v1 only


class RemoteServer:
    """A server at an address. What goes wrong is raised as the errors of `Engine`, with the server's name."""

    def __init__(self, address: Address, key: str) -> None:
        self.name = address.name
        self._http = connect(address, key)

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def look(self, wanted: str) -> RemoteModel:
        """Find the model to ask, and how much context it has.

        Args:
            wanted: its name; empty: the server's first.
        Raises:
            EngineNotReadyError: nobody answers, or the model is loading.
            EngineError: waiting does not help: the key is wrong, there is no such model, it is no such server.
            TimeoutError: it takes the connection and does not answer.
        """
        with self._named():
            listed = _sound(await self._http.get("/v1/models", timeout=_POLL))
            model = choose_model(listed, wanted)
            if not model.dialect.about:
                return model
            about = await self._http.get(model.dialect.about, timeout=_POLL)
            if about.status_code in _NO_SUCH_ROUTE:
                return model
            return replace(model, n_ctx=model.dialect.n_ctx(_sound(about)) or model.n_ctx)

    async def check_health(self, route: str) -> None:
        """Return when the server lives.

        Raises:
            EngineNotReadyError: it does not, or says so.
            TimeoutError: it takes the connection and does not answer.
        """
        with self._named():
            response = await self._http.get(route, timeout=_POLL)
            if response.is_server_error:
                raise EngineNotReadyError(f"it is not well (HTTP {response.status_code})")

    async def count(self, counting: Counting, texts: Sequence[str], model: str) -> list[int] | None:
        """Return the tokens of each text; None when the server does not count."""
        with self._named():
            bodies = counting.bodies(texts, model)
            replies = await asyncio.gather(*(self._http.post(counting.path, json=body) for body in bodies))
            if any(reply.status_code in _NO_SUCH_ROUTE for reply in replies):
                return None
            return [n for reply in replies for n in counting.counts(_sound(reply))]

    async def chat(self, body: Json) -> AsyncGenerator[Json, None]:
        """Yield the chunks of an answer. Closing it closes the connection, by which the server knows to stop."""
        max_tokens = body["max_tokens"]
        with self._named():
            async with self._http.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise error_of(response.status_code, response.headers, await response.aread(), max_tokens)
                async with aclosing(_events(response)) as events:
                    async for data in events:
                        if data == "[DONE]":
                            return
                        chunk = json.loads(data)
                        if "error" in chunk or chunk.get("object") == "error":
                            raise error_of(_status_of(chunk), {}, chunk, max_tokens)
                        yield chunk

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn what httpx and a strange server raise into our errors."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            why = str(error) or "it does not answer"
            raise EngineNotReadyError(f"{self.name} cannot be reached: {why}") from error
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except httpx.RequestError as error:
            how = type(error).__name__
            raise EngineLostError(f"the connection to {self.name} broke ({how}); ask again") from error
        except (EngineBusyError, PromptTooLongError):
            raise
        except EngineError as error:
            raise type(error)(f"{self.name}: {error}") from error
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise EngineError(
                f"{self.name} does not answer as an OpenAI-compatible server does ({error!r}); check engine.url"
            ) from error


def _sound(response: httpx.Response) -> Json:
    """Return the object in a reply, raise what a refusal stands for."""
    if response.status_code != httpx.codes.OK:
        raise error_of(response.status_code, response.headers, response.content)
    found: Json = response.json()
    return found


def _status_of(chunk: Json) -> int:
    """Return the HTTP status that an error inside a stream would have had."""
    error = chunk["error"] if isinstance(chunk.get("error"), dict) else chunk
    named = [value for value in (error.get("status"), error.get("code")) if isinstance(value, int)]
    return named[0] if named else httpx.codes.INTERNAL_SERVER_ERROR


async def _events(response: httpx.Response) -> AsyncGenerator[str, None]:
    """Yield the data of each event."""
    async for line in lines(response):
        if line.startswith("data:"):
            yield line.removeprefix("data:").strip()
