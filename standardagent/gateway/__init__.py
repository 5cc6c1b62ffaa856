"""The fixed Gateway: the one backend of all channels."""
