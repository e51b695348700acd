"""What calls models or tools; empty until an issue needs it."""
