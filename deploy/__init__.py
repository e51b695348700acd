"""What runs Eunoe in containers; no part of the package."""

__all__: list[str] = []
