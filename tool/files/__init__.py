"""Reading, writing and editing files below one root folder."""
