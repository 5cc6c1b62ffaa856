"""Reading, writing and editing files below one root folder."""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.tool.files.browse import Browser
    from agentslot.tool.files.containment import FileRoot, Location, plain_path
    from agentslot.tool.files.edit import Edit, edit_bytes
    from agentslot.tool.files.glob import path_filter
    from agentslot.tool.files.lettercase import case_matters
    from agentslot.tool.files.read import TextRange, read_range
    from agentslot.tool.files.tools import FileTools
    from agentslot.tool.files.undo import Change, ChangeLog
    from agentslot.tool.files.write import replace, sha256

__all__ = [
    "Browser",
    "Change",
    "ChangeLog",
    "Edit",
    "FileRoot",
    "FileTools",
    "Location",
    "TextRange",
    "case_matters",
    "edit_bytes",
    "path_filter",
    "plain_path",
    "read_range",
    "replace",
    "sha256",
]
