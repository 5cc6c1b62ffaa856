"""The command `model`: shows which model a Session uses, and switches it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from agentslot import Module, Registrar
from agentslot._json import JsonError, JsonValue, loads
from agentslot.interaction.command import (
    INTERACTION_COMMANDS,
    CommandActions,
    CommandDescriptor,
    CommandField,
    CommandInvocation,
    CommandResult,
    FieldType,
    NextAction,
    UpdateModelConfigAction,
)
from agentslot.model import ModelDescriptor
from agentslot.session import ClassifiedError, ErrorKind, ModelConfig, Reasoning

MODEL_COMMAND = CommandDescriptor(
    "model",
    "Model",
    "show the model and those there are, or switch to another one",
    (
        CommandField("model", "Model"),
        CommandField("provider", "Provider", description="only needed if several have the model"),
        CommandField("reasoning", "Effort", description="one that the model offers"),
        CommandField("temperature", "Temperature"),
        CommandField("max_tokens", "Most tokens of an answer"),
        CommandField(
            "accept_compatibility_loss",
            "Switch although the model cannot read all that was attached",
            FieldType.BOOLEAN,
        ),
    ),
)


class _Selection(BaseModel):
    """A whole selection: what it leaves out is the default, not what the Session has now."""

    model_config = ConfigDict(extra="forbid")

    model: str
    provider: str | None = None
    reasoning: Reasoning = Reasoning.DEFAULT
    temperature: float | None = None
    max_tokens: int | None = None
    accept_compatibility_loss: bool = False


class ModelCommand:
    """Without arguments it answers what there is to choose from, with them it switches."""

    def describe(self) -> CommandDescriptor:
        """`model` and its fields."""
        return MODEL_COMMAND

    async def invoke(self, invocation: CommandInvocation, actions: CommandActions) -> CommandResult:
        """Show or switch; see InteractionCommand."""
        models = await actions.available_models()
        if not invocation.arguments.strip():
            revision, config = await actions.current_model_config()
            data: JsonValue = {
                "current": _shown_config(config),
                "models": [_shown_model(model) for model in models],
            }
            return CommandResult(revision, data, (NextAction("update_model_config", "Switch"),))
        selection = _selection(invocation.arguments)
        config = _config(selection, models)
        action = UpdateModelConfigAction(
            config, invocation.expected_revision, selection.accept_compatibility_loss
        )
        result = await actions.apply(action)
        return CommandResult(result.revision, {"current": _shown_config(config)})


class ModelCommandModule(Module):
    """Adds the command `model`."""

    id = "interaction.command.model"

    def register(self, registrar: Registrar) -> None:
        """Fill `interaction.command` under its key."""
        registrar.contribute(INTERACTION_COMMANDS.add(MODEL_COMMAND.key, ModelCommand()))


def _selection(arguments: str) -> _Selection:
    try:
        return _Selection.model_validate(loads(arguments))
    except JsonError as error:
        raise _invalid(str(error)) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise _invalid(f"{where}: {first['msg']}" if where else first["msg"]) from error


def _config(selection: _Selection, models: Sequence[ModelDescriptor]) -> ModelConfig:
    provider = selection.provider
    if provider is None:
        having = [each.provider for each in models if each.model == selection.model]
        if len(having) != 1:
            named = f"{', '.join(having)} have" if having else "no provider in the catalog has"
            raise _invalid(f"{named} the model {selection.model!r}: name the provider, too")
        provider = having[0]
    try:
        return ModelConfig(
            provider,
            selection.model,
            selection.reasoning,
            selection.temperature,
            selection.max_tokens,
        )
    except ValueError as error:
        raise _invalid(str(error)) from error


def _invalid(what: str) -> ClassifiedError:
    return ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_arguments", f"model: {what}")


def _shown_config(config: ModelConfig) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {
        "provider": config.provider,
        "model": config.model,
        "reasoning": config.reasoning.value,
    }
    if config.temperature is not None:
        shown["temperature"] = config.temperature
    if config.max_tokens is not None:
        shown["max_tokens"] = config.max_tokens
    return shown


def _shown_model(model: ModelDescriptor) -> dict[str, JsonValue]:
    can = model.capabilities
    return {
        "provider": model.provider,
        "model": model.model,
        "title": model.title,
        "input": [*sorted(modality.value for modality in can.input_modalities)],
        "output": [*sorted(modality.value for modality in can.output_modalities)],
        "reasoning": [effort.value for effort in can.reasoning],
        "context_window_tokens": can.context_window_tokens,
        "max_output_tokens": can.max_output_tokens,
    }
