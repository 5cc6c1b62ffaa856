"""Google's generateContent protocol, as AI Studio and Vertex AI speak it."""

from agentslot.model.wires.google_generative_ai.cached import CachedContentRequests
from agentslot.model.wires.google_generative_ai.decode import GoogleGenerativeAIDecoder
from agentslot.model.wires.google_generative_ai.families import GeminiFamily
from agentslot.model.wires.google_generative_ai.place import AI_STUDIO, VertexProject
from agentslot.model.wires.google_generative_ai.settings import GoogleSettings
from agentslot.model.wires.google_generative_ai.wire import GoogleGenerativeAIWire

__all__ = [
    "AI_STUDIO",
    "CachedContentRequests",
    "GeminiFamily",
    "GoogleGenerativeAIDecoder",
    "GoogleGenerativeAIWire",
    "GoogleSettings",
    "VertexProject",
]
