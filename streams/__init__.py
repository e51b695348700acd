"""Stream processors: pure decisions and the loops that feed them."""
