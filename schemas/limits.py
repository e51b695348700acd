"""Every bound of Eunoe, in one place: texts, batches, queues, retries, waits.

A value over its bound is `Rejected` with a sentence or makes the caller wait; none grows freely.
"""

from typing import Final

__all__ = [
    "BATCH_RECORDS_MAX",
    "CHUNK_OVERLAP_TOKENS",
    "CHUNK_TOKENS_MAX",
    "COMPARISONS_MAX",
    "CONTEXT_CHARACTERS_MAX",
    "CONTEXT_TURNS",
    "DIGEST_ATTEMPTS_MAX",
    "DIGEST_PAUSE_S",
    "FLUSH_RECORDS",
    "HOUSEKEEPING_S",
    "ID_CHARACTERS_MAX",
    "MESSAGES_PER_ADD_MAX",
    "METADATA_BYTES_MAX",
    "METADATA_DEPTH_MAX",
    "QUERY_CHARACTERS_MAX",
    "REFUSALS_KEPT_MAX",
    "REQUEST_BYTES_MAX",
    "SEARCH_LIMIT_MAX",
    "SESSIONS_CACHED_MAX",
    "SETTLE_TIMEOUT_S",
    "TEXT_CHARACTERS_MAX",
]

CONTEXT_TURNS: Final = 2  # how many turns before are summarised
FLUSH_RECORDS: Final = 2_000  # applied records after which the episodic store is flushed
ID_CHARACTERS_MAX: Final = 512  # ids, sources, user, tenant, session and agent ids, names
TEXT_CHARACTERS_MAX: Final = 1_000_000  # one message
METADATA_BYTES_MAX: Final = 65_536  # one message's metadata, as JSON
METADATA_DEPTH_MAX: Final = 16
MESSAGES_PER_ADD_MAX: Final = 10_000
QUERY_CHARACTERS_MAX: Final = 10_000
SEARCH_LIMIT_MAX: Final = 1_000
CHUNK_TOKENS_MAX: Final = 400
CHUNK_OVERLAP_TOKENS: Final = 50
CONTEXT_CHARACTERS_MAX: Final = 240  # the short summary of what came before
BATCH_RECORDS_MAX: Final = 64  # ingress records decided in one journal transaction
REFUSALS_KEPT_MAX: Final = 10_000  # reasons remembered for callers who wait
SESSIONS_CACHED_MAX: Final = 1_024
SETTLE_TIMEOUT_S: Final = 600.0
REQUEST_BYTES_MAX: Final = 64 * 1024 * 1024  # one request to the process that owns the folder
DIGEST_ATTEMPTS_MAX: Final = 1_000  # looks at a state that is being written to
DIGEST_PAUSE_S: Final = 0.01
COMPARISONS_MAX: Final = 1_000  # of a replayed with a live state that is being written to
HOUSEKEEPING_S: Final = 3_600.0  # between two rounds of what is due by the clock
