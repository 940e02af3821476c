"""The sentences and limits that hosts and people read, in one place."""

LEARNED = "learned"
"""The book's folder inside the configuration folder."""
PENDING = "pending/"
"""How the branch names of candidates start."""
LEARNED_MAX = 2000
"""How many characters of ``AGENTS.md`` a book holds; ``accept`` refuses what would take it past this."""
SETTINGS = "settings.json"
"""Where version 0.2.44 of the original kept the switch."""
STALE = "it no longer applies: the book has changed since it was proposed; edit or reject it"
BATCH = "a batch is running on {folder}; try again when it has finished"
NOT_PENDING = "nothing is pending as {id}"
CHANGED = "the book changed while this was being done, and nothing was done; try again"
UNCOMMITTED = "{folder} has uncommitted changes to {names}, which this candidate changes; commit or discard them first"
UNCOMMITTED_EXPIRY = "{folder} has uncommitted changes to {names}, which would expire; commit or discard them first"
TOO_LONG = (
    "accepting it would make AGENTS.md {length:,} characters long, past the {limit:,} a book allows; reject it, "
    "run `/learned compact {id}` to fold it into a shorter AGENTS.md, or shorten AGENTS.md and commit that first"
)
SECRET = "{name} holds what looks like a secret; edit or reject it"
MARKERS = "{name} still holds conflict markers; keep what shall stand and remove the lines <<<<<<<, ======= and >>>>>>>"
SIGNS = (
    "it shows signs to look at before it is accepted ({names}); read `/learned diff {id}`, and if it is what you want, "
    "say that you have seen them, and in which commit: `/learned accept {id}@{commit} --acknowledge`"
)
