"""OpenTelemetry as a module; the library is imported when it is declared, by extra `otel`."""

from typing import TYPE_CHECKING

from agentslot import Module
from agentslot._extras import MissingExtra
from agentslot.standardagent.observe.contract import TRACE_SINKS

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider


class OpenTelemetryModule(Module):
    """Spans and metrics after OpenTelemetry's conventions for generative AI.

    A Run is a span `invoke_agent`, with a span `chat` below it for each model request and a span
    `execute_tool` for each tool call. Set up the SDK and its exporters as usual, before the
    application starts.
    """

    def __init__(
        self,
        tracer_provider: "TracerProvider | None" = None,
        meter_provider: "MeterProvider | None" = None,
        *,
        module_id: str = "observe.opentelemetry",
    ) -> None:
        """Declare the sink.

        Args:
            tracer_provider: who makes the spans; the global one unless given.
            meter_provider: who makes the instruments; the global one unless given.
            module_id: tells several of these modules in one application apart.

        Raises:
            MissingExtra: `opentelemetry-api` is not installed.
        """
        try:
            # Only here, so that importing agentslot needs no more than its own dependencies.
            from agentslot.standardagent.observe.genai import GenAISink
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "opentelemetry":
                raise
            raise MissingExtra("OpenTelemetryModule", "otel") from error
        super().__init__(module_id, TRACE_SINKS.append(GenAISink(tracer_provider, meter_provider)))
