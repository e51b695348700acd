"""Bounds of Eunoe, in one place: texts, batches, pages, caches, calls, tries, waits.

A value over its bound is `Rejected` with a sentence or makes the caller wait; none grows freely.
Sizes that belong to one engine's file format or to a language's grammar stand where they are used.
"""

from typing import Final

__all__ = [
    "ABOUT_MAX",
    "AGAIN_S",
    "ALIAS_PERSONS_MAX",
    "ASSIGN_S_MAX",
    "BACKOFF_S_FIRST",
    "BACKOFF_S_MAX",
    "BATCHES_AHEAD_MAX",
    "BATCH_RECORDS_MAX",
    "BINDINGS_CACHED_MAX",
    "BUSY_EVERY_S",
    "BUSY_TIMEOUT_S",
    "CALLS_MAX",
    "CHUNK_OVERLAP_TOKENS",
    "CHUNK_TOKENS_MAX",
    "CLOSE_S_MAX",
    "COLLECTED_MAX",
    "COMMIT_EVERY_S",
    "COMMIT_RECORDS",
    "COMPARISONS_MAX",
    "CONNECTIONS_MAX",
    "CONTEXT_CHARACTERS_MAX",
    "CONTEXT_TURNS",
    "CROSS_ENCODER_S_MAX",
    "CROSS_ENCODER_TEXTS_MAX",
    "DATA_KEYS_CACHED_MAX",
    "DEVICE_CHARACTERS_MAX",
    "DIGEST_ATTEMPTS_MAX",
    "DIGEST_PAUSE_S",
    "ENCODED_HERE_CHARACTERS_MAX",
    "ENCODE_TEXTS",
    "ERRORS_BYTES_MAX",
    "EXIT_IDLE_S",
    "EXPERIENCE_BATCH_RECORDS",
    "EXPERIENCE_COUNT_MAX",
    "EXPERIENCE_DAYS_MAX",
    "EXPERIENCE_PSEUDONYMS_MAX",
    "EXPERIENCE_ROWS_MAX",
    "EXPERIENCE_WAIT_S",
    "EXPERIENCE_WRITE_POINTS",
    "FILE_CACHE_KIB",
    "FLUSH_RECORDS",
    "FLUSH_S_MAX",
    "GROUP_RECORDS_MAX",
    "HELD_S_MAX",
    "HOUSEKEEPING_S",
    "IDENTITY_CACHE_KIB",
    "IDS_CACHED_MAX",
    "ID_CHARACTERS_MAX",
    "IMPORT_SETTLE_S",
    "KAFKA_AGAIN_S",
    "KAFKA_BATCH_BYTES",
    "KAFKA_FETCH_BYTES_MAX",
    "KAFKA_FETCH_BYTES_MIN",
    "KAFKA_FETCH_RECORD_BYTES",
    "KAFKA_IN_FLIGHT_BYTES_MAX",
    "KAFKA_IN_FLIGHT_RECORDS_MAX",
    "KAFKA_LONG_FETCH_S",
    "KAFKA_MESSAGE_BYTES_MAX",
    "KAFKA_SETTLE_S_MAX",
    "KAFKA_TRANSACTION_S_MAX",
    "KEYS_CACHE_KIB",
    "KEYS_STALE_S",
    "KEY_FILE_BYTES_MAX",
    "LABELS_MAX",
    "LANE_AGAIN_S",
    "LANE_RECORDS_MAX",
    "LANE_RECORDS_MIN",
    "LETTERS_PAGE",
    "LETTER_ORIGINAL_BYTES_MAX",
    "LEVELLED_AT_A_TIME",
    "LINE_BYTES_MAX",
    "LISTED_TURNS_MAX",
    "LIST_PAGE",
    "LOG_KEYS_CACHED_MAX",
    "LOOKED_UP_MAX",
    "MESSAGES_PER_ADD_MAX",
    "METADATA_BYTES_MAX",
    "METADATA_DEPTH_MAX",
    "NAME_TERMS_MAX",
    "NEAREST_PAGE",
    "OPTIMISE_S_MAX",
    "OVER_FETCH",
    "OWNERS_CACHED_MAX",
    "PARENT_EVERY_S",
    "PIECE_CHARACTERS_MAX",
    "PING_S_MAX",
    "POLL_S",
    "POOL_USERS_MIN",
    "PRODUCER_IN_FLIGHT_BYTES_MAX",
    "PRODUCER_IN_FLIGHT_RECORDS_MAX",
    "PROGRESS_S_MAX",
    "PROMPT_CITED_MAX",
    "PROMPT_SHARES",
    "PROMPT_TEXT_TOKENS_MIN",
    "PROMPT_TOKENS_MAX",
    "PROPOSALS_MAX",
    "PROPOSAL_CHARACTERS_MAX",
    "QDRANT_GRAVE_S",
    "QDRANT_IDLE_S_MAX",
    "QDRANT_POINTS_A_PUT",
    "QDRANT_REQUEST_BYTES",
    "QUERY_CHARACTERS_MAX",
    "READ_CHARACTERS_MAX",
    "REASON_CHARACTERS_MAX",
    "RECALLS_BATCH",
    "RECALLS_CLOSE_S_MAX",
    "RECALLS_EVERY_S",
    "RECALLS_QUEUED_MAX",
    "RECALL_IDS_QUEUED_MAX",
    "RECOGNISER_FRAME_BYTES_MAX",
    "RECOGNISER_STARTS_MAX",
    "RECOGNISER_START_S_MAX",
    "RECOGNISE_S_MAX",
    "RECORD_KEY_BYTES_MAX",
    "REFUSALS_KEPT_MAX",
    "REQUEST_BYTES_MAX",
    "SAMPLE_S",
    "SCROLL_PAGE",
    "SEARCH_LIMIT_MAX",
    "SENTENCES_MAX",
    "SESSIONS_CACHED_MAX",
    "SETTLE_TIMEOUT_S",
    "SILENCE_S_MAX",
    "SMALL_TURNS_MAX",
    "SPEAKER_CHARACTERS_MAX",
    "SPOTS_CACHED_MAX",
    "STATEMENTS_MAX",
    "STOP_S_MAX",
    "STREAM_RECORDS_MAX",
    "TEXT_CHARACTERS_MAX",
    "TIKV_KEYS_A_READ",
    "TIKV_KEY_BYTES_MAX",
    "TIKV_MUTATIONS_MAX",
    "TIKV_OWNERS_AT_ONCE",
    "TIKV_PAGE",
    "TIKV_PAGE_BYTES",
    "TIKV_PAGE_FIRST",
    "TIKV_READS_AT_ONCE",
    "TIKV_RECORDS_MAX",
    "TIKV_SLOTS_SCANNED_MAX",
    "TIKV_TRIES_MAX",
    "TIKV_VALUE_BYTES_MAX",
    "TIME_CHARACTERS_MAX",
    "TIME_SPANS_MAX",
    "TIME_TRIES_MAX",
    "TOLD_CHARACTERS_MAX",
    "TOPICS_MAX",
    "WAIT_EVERY_S",
    "WAIT_EVERY_S_MAX",
]

# --- Texts and ids that are taken --------------------------------------------------------------

ALIAS_PERSONS_MAX: Final = 100  # that one alias stands for, or ever stood
DEVICE_CHARACTERS_MAX: Final = 512  # a fingerprint
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
REASON_CHARACTERS_MAX: Final = 200  # of an engine's own words in a sentence
ERRORS_BYTES_MAX: Final = 65_536  # read of what a process of ours says of errors

# --- What is read of a text, and made of it ----------------------------------------------------

READ_CHARACTERS_MAX: Final = 50_000  # of a turn; what stands behind is found by search only
PIECE_CHARACTERS_MAX: Final = 2_000  # read by the recogniser at a time
CHUNK_TOKENS_MAX: Final = 100
CHUNK_OVERLAP_TOKENS: Final = 20
SENTENCES_MAX: Final = 200
PROPOSALS_MAX: Final = 8
PROPOSAL_CHARACTERS_MAX: Final = 1_000
STATEMENTS_MAX: Final = 16
TOPICS_MAX: Final = 6
TIME_CHARACTERS_MAX: Final = 20_000  # of a text that is read for times
TIME_TRIES_MAX: Final = 1_000  # places in it where one may begin
TIME_SPANS_MAX: Final = 64
ABOUT_MAX: Final = 8  # times that a turn is found by
OVER_FETCH: Final = 3  # points asked for, for each that is wanted
NAME_TERMS_MAX: Final = 48  # of the names in a turn, by which others of its matter are found
LISTED_TURNS_MAX: Final = 1_000  # of a time that is asked for alone
LABELS_MAX: Final = 32  # fields of metadata that a turn can be filtered by
CONTEXT_TURNS: Final = 2  # how many turns before are summarised
CONTEXT_CHARACTERS_MAX: Final = 240  # the short summary of what came before
PROMPT_TOKENS_MAX: Final = 100_000  # a block of text for a prompt
PROMPT_SHARES: Final = 3  # a text that takes more than one of so many is cut, if not all fits
PROMPT_TEXT_TOKENS_MIN: Final = 8  # of a text that is cut: less tells nothing
PROMPT_CITED_MAX: Final = 5  # sources of a line
SPEAKER_CHARACTERS_MAX: Final = 40  # of a name in a line

# --- Batches and pages -------------------------------------------------------------------------

BATCH_RECORDS_MAX: Final = 64  # ingress records decided in one journal transaction
CROSS_ENCODER_TEXTS_MAX: Final = 50  # scored for a question: each costs as much as encoding it
BATCHES_AHEAD_MAX: Final = 3  # read by the writer: names looked for, being encoded, up next
ENCODED_HERE_CHARACTERS_MAX: Final = 400  # of a question that the event loop encodes itself
ENCODE_TEXTS: Final = 16  # encoded at a time, so that a question doesn't wait for a whole batch
GROUP_RECORDS_MAX: Final = 10_000  # of calls that wait and share one transaction of the log
# Of texts or names on the pipe: a batch of the longest texts, every character escaped, is 19 MB.
RECOGNISER_FRAME_BYTES_MAX: Final = 32 * 1024 * 1024
FLUSH_RECORDS: Final = 2_000  # applied records after which the episodic store is flushed
LIST_PAGE: Final = 500
RECALLS_BATCH: Final = 100  # searches after which what they served is published at once
LETTERS_PAGE: Final = 256
NEAREST_PAGE: Final = 32  # near duplicates asked for at a time
SCROLL_PAGE: Final = 512
LEVELLED_AT_A_TIME: Final = 250  # records given to a new shard; then other calls have their turn
LOOKED_UP_MAX: Final = 64  # points or keys that the event loop reads itself, and no thread
COLLECTED_MAX: Final = 10_000  # records applied while a shard is optimised: up to some 50 MB

# --- A cluster's workers -----------------------------------------------------------------------

LANE_RECORDS_MAX: Final = 1_024  # of one partition in flight; then it is paused
LANE_RECORDS_MIN: Final = 512  # in flight, at which it goes on
PROGRESS_S_MAX: Final = 60.0  # a partition with lag and no progress for longer is unhealthy
STOP_S_MAX: Final = 10.0  # for a worker to end, whatever is in flight
LANE_AGAIN_S: Final = 1.0  # between two tries to open a lane
FLUSH_S_MAX: Final = 3.0  # for the stores' markers when a lane ends
SAMPLE_S: Final = 1.0  # between two looks at what /metrics says
STREAM_RECORDS_MAX: Final = 256  # between Faust and the lanes
COMMIT_EVERY_S: Final = 0.2  # between two commits of a group's offsets
COMMIT_RECORDS: Final = 500  # acknowledged, after which they are committed at once
ASSIGN_S_MAX: Final = 120.0  # for a group to let a worker in
WAIT_EVERY_S: Final = 0.05  # between two looks how far the writer of a cluster is
WAIT_EVERY_S_MAX: Final = 0.5

# --- What is held in memory --------------------------------------------------------------------

REFUSALS_KEPT_MAX: Final = 10_000  # reasons remembered for callers who wait
RECALLS_QUEUED_MAX: Final = 1_000  # searches whose ids wait to be published
RECALL_IDS_QUEUED_MAX: Final = 20_000  # of what they served, all together
SESSIONS_CACHED_MAX: Final = 1_024
LOG_KEYS_CACHED_MAX: Final = 4_096
DATA_KEYS_CACHED_MAX: Final = 32_768  # some 600 bytes each
OWNERS_CACHED_MAX: Final = 10_000
BINDINGS_CACHED_MAX: Final = 10_000  # owners of whom it is known what they are bound to
IDS_CACHED_MAX: Final = 1_024  # of events and owners: as long as the writer is at a few batches
SPOTS_CACHED_MAX: Final = 8_192  # some 400 bytes each
SMALL_TURNS_MAX: Final = 128  # of an owner: reading all takes less time than looking some up
FILE_CACHE_KIB: Final = 2_048  # of each connection to a file
IDENTITY_CACHE_KIB: Final = 8_192  # of the look-ups that a search makes
KEYS_CACHE_KIB: Final = 4_096  # likewise

# --- Experience --------------------------------------------------------------------------------

POOL_USERS_MIN: Final = 5  # behind each figure over several users
EXPERIENCE_BATCH_RECORDS: Final = 512  # read at a time: a journal record has some 5 KB
EXPERIENCE_COUNT_MAX: Final = 1_000_000  # of one point; sums of them fit 64 bits
EXPERIENCE_DAYS_MAX: Final = 3_660  # looked at in one call
EXPERIENCE_PSEUDONYMS_MAX: Final = 1_200  # read or erased in one call: a century of an owner
EXPERIENCE_ROWS_MAX: Final = 100_000  # sums returned by one call
EXPERIENCE_WAIT_S: Final = 1.0  # between two batches of one process: it isn't in a hurry
EXPERIENCE_WRITE_POINTS: Final = 5_000  # in one request to a time-series store

# --- Calls at a time ---------------------------------------------------------------------------

CALLS_MAX: Final = 16  # of one client, each on a connection of its own
CONNECTIONS_MAX: Final = 64  # to the owner's door

# --- Tries and waits, in seconds ---------------------------------------------------------------

POLL_S: Final = 5.0
BACKOFF_S_FIRST: Final = 0.05
BACKOFF_S_MAX: Final = 5.0
BUSY_TIMEOUT_S: Final = 5.0  # for a lock of a file
CROSS_ENCODER_S_MAX: Final = 5.0  # then a question is answered without it
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
RECALLS_EVERY_S: Final = 5.0  # between a search and the publication of what it served
RECALLS_CLOSE_S_MAX: Final = 2.0  # for what is left of it, when the memory closes
OPTIMISE_S_MAX: Final = 3_600.0  # 20,000 points take 15 s on two cores
RECOGNISER_STARTS_MAX: Final = 2  # of its process, without an answer between; then here
RECOGNISER_START_S_MAX: Final = 60.0  # for an interpreter to be there: .3 s
RECOGNISE_S_MAX: Final = 600.0  # for a batch, the first time with the models: mostly under a second
PARENT_EVERY_S: Final = 1.0  # between two looks whether the process that started it is there
HELD_S_MAX: Final = 10.0  # an owner that is starting has the folder before it has a door
AGAIN_S: Final = 0.1

# --- The log on Kafka --------------------------------------------------------------------------

# The largest record, its key and headers, and what a batch of one record adds: 61 bytes of its
# own and at most 50 of the record's.
KAFKA_MESSAGE_BYTES_MAX: Final = REQUEST_BYTES_MAX + RECORD_KEY_BYTES_MAX + 65_536
KAFKA_BATCH_BYTES: Final = 65_536  # of small records that go to one partition together
KAFKA_IN_FLIGHT_RECORDS_MAX: Final = 20_000  # sent and not acknowledged; then callers wait
KAFKA_IN_FLIGHT_BYTES_MAX: Final = 2 * REQUEST_BYTES_MAX  # likewise
PRODUCER_IN_FLIGHT_RECORDS_MAX: Final = 2_000  # of a program that only publishes: it has other work
PRODUCER_IN_FLIGHT_BYTES_MAX: Final = 16 * 1024 * 1024  # likewise; a larger one goes alone
KAFKA_FETCH_BYTES_MIN: Final = 16_384  # asked for at a time; one whole batch comes anyway
KAFKA_FETCH_BYTES_MAX: Final = 8 * 1024 * 1024
KAFKA_FETCH_RECORD_BYTES: Final = 4_096  # asked for, for each record that is wanted
KAFKA_LONG_FETCH_S: Final = 0.5  # that a broker holds a request back while there is nothing
KAFKA_AGAIN_S: Final = 0.1  # between two tries of a call
KAFKA_TRANSACTION_S_MAX: Final = 60.0  # then the broker aborts it; a lane's successor does before
KAFKA_SETTLE_S_MAX: Final = 1.0  # for the goodbye of a producer that is closed

# --- The identity store on TiKV ----------------------------------------------------------------

TIKV_KEYS_A_READ: Final = 512  # asked for at a time: an answer may have 4 MiB
TIKV_PAGE: Final = 1_024  # of a scan, once it is known how long its rows are
TIKV_PAGE_FIRST: Final = 256
TIKV_PAGE_BYTES: Final = 2 * 1024 * 1024  # aimed at
TIKV_READS_AT_ONCE: Final = 8  # of one call
TIKV_OWNERS_AT_ONCE: Final = 8  # of a batch, each in a transaction of its own
TIKV_RECORDS_MAX: Final = 256  # of one owner in one transaction
TIKV_MUTATIONS_MAX: Final = 4_000  # after which a transaction takes no more: half a second of work
TIKV_TRIES_MAX: Final = 12  # of a transaction in whose way others are; a dead one's locks last 6 s
TIKV_SLOTS_SCANNED_MAX: Final = 32  # one by one; of more, all statements are read
TIKV_KEY_BYTES_MAX: Final = 4_096
TIKV_VALUE_BYTES_MAX: Final = 2 * 1024 * 1024  # a longer one couldn't be read back
EXIT_IDLE_S: Final = 0.2  # for the client's threads to come to rest before a process ends

# --- Qdrant ------------------------------------------------------------------------------------

QDRANT_GRAVE_S: Final = 3_600.0  # that a gravestone stands at least
QDRANT_IDLE_S_MAX: Final = 2.0  # of a connection: a server closes one after 5 s
QDRANT_POINTS_A_PUT: Final = 512  # of one request: each is compared with what is there
QDRANT_REQUEST_BYTES: Final = 8 * 1024 * 1024  # about; a server takes 32 MiB
KEYS_STALE_S: Final = 3_600.0  # without a look at the key log: then it is read anew
