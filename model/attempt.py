"""One physical request: sent, and read until its answer is complete or broken."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import anyio

from agentslot._http import HttpBody, HttpError, HttpFailure, open_body
from agentslot.model.endpoint import Endpoint
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wire import Answer, Delta, Wire, WireRequest
from agentslot.session import AttemptId
from agentslot.session.credential import CredentialError, CredentialResolver

if TYPE_CHECKING:
    from agentslot._http import AsyncClient

_MAX_ERROR_BYTES = 64 * 1024
_MAX_DOCUMENT_BYTES = 1024 * 1024
_GRACE_SECONDS = 5.0
"""How long a complete answer waits for its usage figures and the end of the stream."""
_MAX_PARTIAL_CHARS = 65_536
"""How much is kept of what can be seen of an answer that was cut off."""
_CUT = "…"
"""Ends a message that was too long."""
_TELLING = 4
"""So many characters of a credential could be chance."""
_LINGER_SECONDS = 0.1
"""How long the end of the body may take after `[DONE]`, for the connection to be used again."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long an attempt may take.

    Attributes:
        connect_seconds: longest wait for a connection.
        idle_seconds: longest silence; every byte counts as life, keep-alive comments too.
        total_seconds: from the first byte sent to the last one received.
    """

    connect_seconds: float = 10.0
    idle_seconds: float = 120.0
    total_seconds: float = 900.0


class Attempt:
    """One request to a provider, whose start is recorded already."""

    def __init__(
        self,
        attempt_id: AttemptId,
        wire: Wire,
        endpoint: Endpoint,
        credentials: CredentialResolver,
        timeouts: Timeouts,
    ) -> None:
        self.id = attempt_id
        self.request_id = ""
        self.decoder = wire.decoder(attempt_id)
        self.answering = False
        self._wire = wire
        self._endpoint = endpoint
        self._credentials = credentials
        self._body: HttpBody | None = None
        self._idle_seconds = timeouts.idle_seconds
        self._deadline = monotonic() + timeouts.total_seconds
        self._secret = ""
        self._url = ""

    async def send(
        self, client: "AsyncClient", request: WireRequest, *, method: str = "POST"
    ) -> None:
        """Send the request and wait for the head of the answer.

        Raises:
            ModelError: no credential, no connection, no time, or an answer that is a failure.
        """
        try:
            with anyio.fail_after(self._deadline - monotonic()):
                headers = await self._header_fields(request)
                self._url = self._endpoint.url(request.path)
                self._body = await open_body(
                    client, self._url, headers, request.body, method=method
                )
        except (HttpError, TimeoutError) as error:
            raise _transport_error(error, unreached=self._endpoint.server) from error
        received = self._body.headers
        request_id = received.get("x-request-id") or received.get("request-id", "")
        self.request_id = self.redacted(request_id)
        if self._body.status != 200:
            raise await self._explain(self._body)
        self.answering = True

    async def _header_fields(self, request: WireRequest) -> Mapping[str, str]:
        own = {"content-type": "application/json", **request.headers}
        reference = self._endpoint.credential
        if reference is not None:
            try:
                async with self._credentials.resolve(reference) as material:
                    self._secret = material.token
            except CredentialError as error:
                raise ModelError(ModelErrorCode.CREDENTIAL_UNAVAILABLE, error.message) from error
            own.update(self._wire.authorization(self._secret))
        return self._endpoint.header_fields(own)

    async def read(self) -> Sequence[Delta] | None:
        """Wait for more of the answer; None at its end.

        Raises:
            ModelError: it broke, took too long, or is a failure.
        """
        if self._body is None or self.decoder.done:
            return None
        settled = self.decoder.settled
        remaining = self._deadline - monotonic()
        try:
            if remaining > self._idle_seconds and not settled:
                # The client gives up after that silence itself; a scope costs more than a delta.
                chunk = await self._body.read()
            else:
                with anyio.fail_after(min(remaining, _GRACE_SECONDS) if settled else remaining):
                    chunk = await self._body.read()
        except (HttpError, TimeoutError) as error:
            if settled:
                return None
            raise _transport_error(error) from error
        if not chunk:
            return None
        return self.decoder.feed(chunk)

    async def read_document(self) -> bytes:
        """The whole body of an answer that is none of a model, up to 1 MiB.

        Raises:
            ModelError: it broke, or took too long.
        """
        content = b""
        if self._body is None:
            return content
        try:
            with anyio.fail_after(self._deadline - monotonic()):
                while len(content) < _MAX_DOCUMENT_BYTES and (chunk := await self._body.read()):
                    content += chunk
        except (HttpError, TimeoutError) as error:
            raise _transport_error(error) from error
        return content

    def finish(self) -> Answer:
        """End the answer.

        Raises:
            ModelError: it ended early, or is none.
        """
        return self.decoder.finish()

    def partial_text(self) -> str:
        """What can be seen of the answer so far, but not more than is worth keeping."""
        text = self.decoder.text[: _MAX_PARTIAL_CHARS + len(self._secret)]
        return self.redacted(text)[:_MAX_PARTIAL_CHARS]

    def redact(self, error: ModelError) -> None:
        """Take the credential out of an error, should a provider have repeated it."""
        error.args = (self.redacted(error.message),)
        error.vendor_code = self.redacted(error.vendor_code)
        error.failed_generation = self.redacted(error.failed_generation)

    def redacted(self, text: str) -> str:
        """A text of the provider without the credential, or its beginning where it was cut off."""
        secret = self._secret
        if not secret:
            return text
        text = text.replace(secret, "***")
        kept = text.removesuffix(_CUT)
        if kept != text:
            for length in range(len(secret) - 1, _TELLING - 1, -1):
                if kept.endswith(secret[:length]):
                    return f"{kept[:-length]}***{_CUT}"
        return text

    def hint(self, error: ModelError) -> str:
        """What the provider's own message leaves out of a failure that people can mend."""
        key, server = self._endpoint.credential, self._endpoint.server
        if error.code == ModelErrorCode.MODEL_NOT_FOUND:
            return f"asked was {self._url}"
        if error.code != ModelErrorCode.AUTHENTICATION:
            return ""
        if key is None:
            return f"{server} got no key: name one with api_key_env or credential"
        return f"{server} got the key of {key.id!r}"

    async def aclose(self) -> None:
        """Let go of the connection."""
        if self._body is not None:
            await self._body.aclose(_LINGER_SECONDS if self.decoder.done else 0.0)

    async def _explain(self, body: HttpBody) -> ModelError:
        if 300 <= body.status < 400:
            return ModelError(
                ModelErrorCode.REQUEST_REJECTED,
                f"the server redirects (status {body.status}), and redirects are not followed, so"
                " that no other host sees the key: correct base_url",
                status=body.status,
            )
        content = b""
        # If the body does not come whole, the status and what has come explain the failure.
        with suppress(HttpError), anyio.move_on_after(_GRACE_SECONDS):
            while len(content) < _MAX_ERROR_BYTES and (chunk := await body.read()):
                content += chunk
        return self._wire.failure(body.status, body.headers, content[:_MAX_ERROR_BYTES])


_FAILURES = {
    HttpFailure.UNREACHABLE: ModelErrorCode.TRANSPORT,
    HttpFailure.BROKEN: ModelErrorCode.TRANSPORT,
    HttpFailure.TIMEOUT: ModelErrorCode.TIMEOUT,
    HttpFailure.UNREADABLE: ModelErrorCode.INVALID_ANSWER,
    HttpFailure.INVALID_REQUEST: ModelErrorCode.REQUEST_REJECTED,
}
_RETRYABLE = frozenset({HttpFailure.UNREACHABLE, HttpFailure.BROKEN, HttpFailure.TIMEOUT})


def _transport_error(error: HttpError | TimeoutError, *, unreached: str = "") -> ModelError:
    """What an exchange failed with; `unreached` names the server if no answer had begun."""
    failure = error.failure if isinstance(error, HttpError) else HttpFailure.TIMEOUT
    code = _FAILURES[failure]
    message = str(error) if isinstance(error, HttpError) else "the answer took too long in all"
    if unreached:
        message = f"{message}: {unreached}"
    elif code is ModelErrorCode.TRANSPORT:
        code = ModelErrorCode.BROKEN_STREAM
    return ModelError(code, message, retryable=failure in _RETRYABLE)
