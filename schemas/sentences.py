"""What a refusal's sentence may repeat of what was given."""

from typing import Final

__all__ = ["QUOTED_CHARACTERS_MAX", "is_quotable"]

QUOTED_CHARACTERS_MAX: Final = 64
"""An id up to so long may stand in a sentence; what is longer is no id that anybody looks up."""


def is_quotable(ident: str) -> bool:
    """Say whether an id may stand in an error's text: short, and of visible characters only.

    A sentence ends up in logs, on terminals and before models: neither line breaks nor marks
    that turn the direction of writing nor whole texts belong there.

    Args:
        ident: As it was given.
    """
    return 0 < len(ident) <= QUOTED_CHARACTERS_MAX and ident.isprintable()
