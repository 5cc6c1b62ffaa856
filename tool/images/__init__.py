"""Bringing images into a form and size that models take."""

from agentslot.tool.images.normalize import MAX_BASE64_BYTES, MAX_SIDE, normalize_image
from agentslot.tool.images.problem import image_problem

__all__ = ["MAX_BASE64_BYTES", "MAX_SIDE", "image_problem", "normalize_image"]
