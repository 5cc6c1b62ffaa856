"""Cached contents: the head of a request that the server keeps under a name, for a time.

Such a head holds the system prompt, the tools and which of them must be called. A request that
names one may say none of these.
"""

import re
from dataclasses import replace
from urllib.parse import unquote

from agentslot._json import JsonError, dumps, loads
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import WireRequest
from agentslot.model.wires.google_generative_ai.place import METHOD, VertexProject
from agentslot.model.wires.google_generative_ai.settings import GoogleSettings
from agentslot.model.wires.reading import as_object, as_text

_NAME = re.compile(r"(?:projects/[\w.:-]+/locations/[\w-]+/)?cachedContents/[\w-]+", re.ASCII)


class CachedContentRequests:
    """Requests for cached contents, made of one that could do without; see `CachedContents`."""

    def __init__(self, settings: GoogleSettings, vertex: VertexProject | None) -> None:
        """Take the settings, and the project in Google Cloud; None asks AI Studio."""
        self._prefix = f"/{settings.api_version}/"
        # The stable version of AI Studio knows nothing of them.
        known = settings.api_version != "v1" or vertex is not None
        self._version = self._prefix if known else "/v1beta/"
        parent = "" if vertex is None else f"projects/{vertex.project}/locations/{vertex.location}/"
        self._collection = f"{self._version}{parent}cachedContents"

    def creation(self, request: WireRequest, ttl_seconds: float) -> WireRequest:
        """Have the server keep the head of a request for so long."""
        model = unquote(request.path.removeprefix(self._prefix).removesuffix(METHOD))
        members = f',"model":{dumps(model)},"ttl":{dumps(f"{ttl_seconds:.3f}s")}}}'
        head = request.body[: request.head - 1]  # without the last comma
        return WireRequest(self._collection, head + members.encode())

    @staticmethod
    def created_name(answer: bytes) -> str:
        """The name that the server gave to what it keeps.

        Raises:
            ModelError: `invalid_answer`: it gave none.
        """
        try:
            name = as_text(as_object(loads(answer)).get("name"))
        except JsonError:
            name = ""
        if not _NAME.fullmatch(name):
            raise ModelError(ModelErrorCode.INVALID_ANSWER, "the server named no cached content")
        return name

    def naming(self, request: WireRequest, name: str) -> WireRequest:
        """The request with the name of what the server keeps in place of its head."""
        path = self._version + request.path.removeprefix(self._prefix)
        named = f'{{"cachedContent":{dumps(name)},'.encode()
        body = b"".join((named, memoryview(request.body)[request.head :]))
        return replace(request, path=path, body=body, stable=0, head=0, cached=name)

    def deletion(self, name: str) -> WireRequest:
        """Have the server forget what it keeps; to be sent with DELETE."""
        return WireRequest(f"{self._version}{name}", b"")
