"""The demonstration: an agent repairs a project, is killed in the middle, and goes on."""
