"""Invoking a command: it acts on the Session that it is asked for, as long as the call lasts."""

import logging
from collections.abc import Sequence
from typing import cast

from agentslot.interaction import (
    ActionRequest,
    ActionResult,
    CancelAction,
    CommandInvocation,
    CommandResult,
    CommandScope,
    GatewayAccess,
    InvokeCommand,
    RunPendingAction,
    SendAction,
    SendMessage,
    SessionCommand,
    SteerAction,
    UpdateModelConfigAction,
)
from agentslot.model import ModelDescriptor
from agentslot.session import ClassifiedError, ErrorKind, ModelConfig, SessionState
from agentslot.standardagent.runtime.components import Components

log = logging.getLogger(__name__)


async def invoked(
    access: GatewayAccess, components: Components, state: SessionState, request: InvokeCommand
) -> CommandResult:
    """Carry out a command; see GatewayAccess."""
    installed = components.commands.get(request.key)
    if installed is None:
        there = ", ".join(components.commands) or "none"
        raise ClassifiedError(
            ErrorKind.NOT_FOUND,
            "command_not_found",
            f"there is no command {request.key!r}; there are: {there}",
        )
    scope = CommandScope(state.agent, state.workspace, state.id)
    invocation = CommandInvocation(
        scope, request.key, request.arguments, request.expected_revision, request.actor
    )
    actions = ScopedActions(access, components, invocation)
    try:
        result = await installed.command.invoke(invocation, actions)
    except ClassifiedError:
        raise
    except Exception as error:
        log.exception("command %s failed", request.key)
        raise _failed(request.key, "failed unexpectedly; its log entry has the cause") from error
    finally:
        actions.close()
    if not isinstance(cast("object", result), CommandResult):
        raise _failed(request.key, f"answered with {type(result).__name__}, not a CommandResult")
    return result


class ScopedActions:
    """CommandActions of one call: they know one Session, and end with the call."""

    def __init__(
        self, access: GatewayAccess, components: Components, invocation: CommandInvocation
    ) -> None:
        self._access = access
        self._components = components
        self._invocation = invocation
        self._closed = False

    def close(self) -> None:
        """The call has returned."""
        self._closed = True

    async def current_model_config(self) -> tuple[int, ModelConfig]:
        """The revision and the model; see CommandActions."""
        self._check_open()
        current = await self._access.model_config(self._invocation.scope.session_id)
        return current.revision, current.config

    async def available_models(self) -> Sequence[ModelDescriptor]:
        """The models of all catalogs; see CommandActions."""
        self._check_open()
        return available_models(self._components)

    async def apply(self, request: ActionRequest) -> ActionResult:
        """Act on the Session; see CommandActions."""
        self._check_open()
        access, session_id = self._access, self._invocation.scope.session_id
        actor = self._invocation.actor
        command = SessionCommand(session_id, request.expected_revision, actor)
        match request:
            case SendAction() | SteerAction():
                message = SendMessage(
                    session_id,
                    request.input,
                    request.expected_revision,
                    actor,
                    request.client_message_id,
                )
                submit = access.send if isinstance(request, SendAction) else access.steer
                receipt = await submit(message)
                return ActionResult(receipt.revision, receipt.message_id, receipt.run_id)
            case RunPendingAction():
                run = await access.run_pending(command)
                return ActionResult(run.revision, run_id=run.run_id)
            case CancelAction():
                await access.cancel(command)
                return ActionResult(await access.revision(session_id))
            case UpdateModelConfigAction():
                return ActionResult(
                    await access.update_model_config(
                        command,
                        request.config,
                        accept_compatibility_loss=request.accept_compatibility_loss,
                    )
                )

    def _check_open(self) -> None:
        if self._closed:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "runtime_closed",
                f"the call of command {self._invocation.key!r} is over, and its actions with it",
            )


def available_models(components: Components) -> Sequence[ModelDescriptor]:
    """The models of all catalogs, by provider and model.

    Raises:
        ClassifiedError: `internal/invalid_model_catalog`.
    """
    found: dict[tuple[str, str], ModelDescriptor] = {}
    for key, catalog in components.catalogs.items():
        for model in catalog.models():
            if model.provider != key:
                raise _invalid_catalog(key, f"it lists a model of provider {model.provider!r}")
            if (key, model.model) in found:
                raise _invalid_catalog(key, f"it lists {model.model!r} twice")
            found[key, model.model] = model
    return [found[name] for name in sorted(found)]


def _invalid_catalog(key: str, what: str) -> ClassifiedError:
    return ClassifiedError(
        ErrorKind.INTERNAL, "invalid_model_catalog", f"the model catalog {key!r} is wrong: {what}"
    )


def _failed(key: str, what: str) -> ClassifiedError:
    return ClassifiedError(ErrorKind.INTERNAL, "command_failed", f"command {key!r} {what}")
