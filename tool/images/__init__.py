"""Bringing images into a form and size that models take."""

from agentslot.tool.images.normalize import MAX_BASE64_BYTES, MAX_SIDE, normalize_image
from agentslot.tool.images.problem import image_problem
from agentslot.tool.images.signature import IMAGE_TYPES, image_type

__all__ = [
    "IMAGE_TYPES",
    "MAX_BASE64_BYTES",
    "MAX_SIDE",
    "image_problem",
    "image_type",
    "normalize_image",
]
