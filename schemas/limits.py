"""Bounds of Eunoe, in one place: texts, batches, pages, caches, calls, tries, waits.

A value over its bound is `Rejected` with a sentence or makes the caller wait; none grows freely.
Sizes that belong to one engine's file format or to a language's grammar stand where they are used.
"""

from typing import Final

__all__ = [
    "AGAIN_S",
    "BACKOFF_S_FIRST",
    "BACKOFF_S_MAX",
    "BATCH_RECORDS_MAX",
    "BUSY_EVERY_S",
    "BUSY_TIMEOUT_S",
    "CALLS_MAX",
    "CHUNK_OVERLAP_TOKENS",
    "CHUNK_TOKENS_MAX",
    "CLOSE_S_MAX",
    "COMPARISONS_MAX",
    "CONNECTIONS_MAX",
    "CONTEXT_CHARACTERS_MAX",
    "CONTEXT_TURNS",
    "DIGEST_ATTEMPTS_MAX",
    "DIGEST_PAUSE_S",
    "ENCODE_TEXTS",
    "FILE_CACHE_KIB",
    "FLUSH_RECORDS",
    "GROUP_RECORDS_MAX",
    "HELD_S_MAX",
    "HOUSEKEEPING_S",
    "ID_CHARACTERS_MAX",
    "IMPORT_SETTLE_S",
    "KEY_FILE_BYTES_MAX",
    "LETTERS_PAGE",
    "LETTER_ORIGINAL_BYTES_MAX",
    "LINE_BYTES_MAX",
    "LIST_PAGE",
    "LOG_KEYS_CACHED_MAX",
    "MESSAGES_PER_ADD_MAX",
    "METADATA_BYTES_MAX",
    "METADATA_DEPTH_MAX",
    "PIECE_CHARACTERS_MAX",
    "PING_S_MAX",
    "POLL_S",
    "PROPOSALS_MAX",
    "PROPOSAL_CHARACTERS_MAX",
    "QUERY_CHARACTERS_MAX",
    "READ_CHARACTERS_MAX",
    "RECORD_KEY_BYTES_MAX",
    "REFUSALS_KEPT_MAX",
    "REQUEST_BYTES_MAX",
    "SEARCH_LIMIT_MAX",
    "SENTENCES_MAX",
    "SESSIONS_CACHED_MAX",
    "SETTLE_TIMEOUT_S",
    "SILENCE_S_MAX",
    "STATEMENTS_MAX",
    "TEXT_CHARACTERS_MAX",
    "TOLD_CHARACTERS_MAX",
    "TOPICS_MAX",
]

# --- Texts and ids that are taken --------------------------------------------------------------

ID_CHARACTERS_MAX: Final = 512  # ids, sources, user, tenant, session and agent ids, names
TEXT_CHARACTERS_MAX: Final = 1_000_000  # one message
METADATA_BYTES_MAX: Final = 65_536  # one message's metadata, as JSON
METADATA_DEPTH_MAX: Final = 16
MESSAGES_PER_ADD_MAX: Final = 10_000
QUERY_CHARACTERS_MAX: Final = 10_000
SEARCH_LIMIT_MAX: Final = 1_000
REQUEST_BYTES_MAX: Final = 64 * 1024 * 1024  # one request to the process that owns the folder
LINE_BYTES_MAX: Final = 16 * 1024 * 1024  # of an import: the longest text, every character escaped
RECORD_KEY_BYTES_MAX: Final = 65_536
KEY_FILE_BYTES_MAX: Final = 1_024
LETTER_ORIGINAL_BYTES_MAX: Final = REQUEST_BYTES_MAX // 2  # whole; sealed it must fit a record
TOLD_CHARACTERS_MAX: Final = 24  # a misspelt field's name; what is longer may be what was said

# --- What is read of a text, and made of it ----------------------------------------------------

READ_CHARACTERS_MAX: Final = 50_000  # of a turn; what stands behind is found by search only
PIECE_CHARACTERS_MAX: Final = 2_000  # read by the recogniser at a time
CHUNK_TOKENS_MAX: Final = 400
CHUNK_OVERLAP_TOKENS: Final = 50
SENTENCES_MAX: Final = 200
PROPOSALS_MAX: Final = 8
PROPOSAL_CHARACTERS_MAX: Final = 1_000
STATEMENTS_MAX: Final = 16
TOPICS_MAX: Final = 6
CONTEXT_TURNS: Final = 2  # how many turns before are summarised
CONTEXT_CHARACTERS_MAX: Final = 240  # the short summary of what came before

# --- Batches and pages -------------------------------------------------------------------------

BATCH_RECORDS_MAX: Final = 64  # ingress records decided in one journal transaction
ENCODE_TEXTS: Final = 16  # encoded at a time, so that a question doesn't wait for a whole batch
GROUP_RECORDS_MAX: Final = 10_000  # of calls that wait and share one transaction of the log
FLUSH_RECORDS: Final = 2_000  # applied records after which the episodic store is flushed
LIST_PAGE: Final = 500
LETTERS_PAGE: Final = 256

# --- What is held in memory --------------------------------------------------------------------

REFUSALS_KEPT_MAX: Final = 10_000  # reasons remembered for callers who wait
SESSIONS_CACHED_MAX: Final = 1_024
LOG_KEYS_CACHED_MAX: Final = 4_096
FILE_CACHE_KIB: Final = 2_048  # of each connection to a file

# --- Calls at a time ---------------------------------------------------------------------------

CALLS_MAX: Final = 16  # of one client, each on a connection of its own
CONNECTIONS_MAX: Final = 64  # to the owner's door

# --- Tries and waits, in seconds ---------------------------------------------------------------

POLL_S: Final = 5.0
BACKOFF_S_FIRST: Final = 0.05
BACKOFF_S_MAX: Final = 5.0
BUSY_TIMEOUT_S: Final = 5.0  # for a lock of a file
SETTLE_TIMEOUT_S: Final = 600.0
IMPORT_SETTLE_S: Final = 3600.0
HOUSEKEEPING_S: Final = 3_600.0  # between two rounds of what is due by the clock
DIGEST_ATTEMPTS_MAX: Final = 1_000  # looks at a state that is being written to
COMPARISONS_MAX: Final = 1_000  # of a replayed with a live state that is being written to
DIGEST_PAUSE_S: Final = 0.01
PING_S_MAX: Final = 5.0  # for the first answer on a connection
SILENCE_S_MAX: Final = 60.0  # between two signs of life while a call is worked on
BUSY_EVERY_S: Final = 1.0  # between two signs of life
CLOSE_S_MAX: Final = 5.0  # for calls that change something, when the door closes
HELD_S_MAX: Final = 10.0  # an owner that is starting has the folder before it has a door
AGAIN_S: Final = 0.1
