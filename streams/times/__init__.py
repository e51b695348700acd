"""Expressions of time in English and Chinese, as intervals, ordinals of sessions and rules."""

from .parsing import Parsed, SessionOrdinal, TimeSpan, parse

__all__ = ["Parsed", "SessionOrdinal", "TimeSpan", "parse"]
