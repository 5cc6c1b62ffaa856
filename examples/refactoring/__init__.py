"""The refactoring: an agent renames a function all over a copy of this very repository."""
