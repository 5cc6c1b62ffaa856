"""What type checkers infer. The checkers read these files; pytest checks that they did."""
