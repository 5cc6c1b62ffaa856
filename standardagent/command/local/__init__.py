"""A model on this machine, for whoever has no key: `agentslot chat --local`."""

from agentslot.standardagent.command.local.agent import LOCAL_AGENT, introduction, local_agent
from agentslot.standardagent.command.local.server import LocalModel, local_model
from agentslot.standardagent.command.local.waiting import waiting
from agentslot.standardagent.command.local.weights import SMOLLM2, Weights, fetch, model_file

__all__ = [
    "LOCAL_AGENT",
    "SMOLLM2",
    "LocalModel",
    "Weights",
    "fetch",
    "introduction",
    "local_agent",
    "local_model",
    "model_file",
    "waiting",
]
