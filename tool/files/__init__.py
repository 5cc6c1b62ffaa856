"""Reading, writing and editing files below one root folder."""

from agentslot.tool.files.edit import Edit, edit_bytes

__all__ = ["Edit", "edit_bytes"]
