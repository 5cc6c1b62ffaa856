"""The tables of a database of Sessions, made so that people can ask them in SQL.

    SELECT at, payload ->> '$.name' FROM facts WHERE session = ? AND kind = 'tool_call';

Times are ISO 8601 in UTC; payloads and other values are JSON as in Session files.
"""

APPLICATION_ID = 0x41474C53  # "AGLS"
VERSION = 1

SCHEMA = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    model_config TEXT NOT NULL,
    active_run TEXT,
    lineage TEXT
) WITHOUT ROWID;

CREATE TABLE facts (
    session TEXT NOT NULL REFERENCES sessions (id),
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    run TEXT,
    step TEXT,
    at TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    origin TEXT,
    payload TEXT NOT NULL,
    PRIMARY KEY (session, sequence)
) WITHOUT ROWID;

CREATE TABLE queue (
    session TEXT NOT NULL REFERENCES sessions (id),
    position INTEGER NOT NULL,
    delivery TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (session, position)
) WITHOUT ROWID;

CREATE TABLE journal (
    session TEXT NOT NULL REFERENCES sessions (id),
    call_sequence INTEGER NOT NULL,
    call TEXT NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (session, call_sequence)
) WITHOUT ROWID;

CREATE TABLE extensions (
    session TEXT NOT NULL REFERENCES sessions (id),
    sequence INTEGER NOT NULL,
    hook TEXT NOT NULL,
    boundary TEXT NOT NULL,
    run TEXT,
    status TEXT NOT NULL,
    effect TEXT NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (session, sequence)
) WITHOUT ROWID;

CREATE TABLE contexts (
    session TEXT NOT NULL REFERENCES sessions (id),
    version INTEGER NOT NULL,
    view TEXT NOT NULL,
    PRIMARY KEY (session, version)
) WITHOUT ROWID;

CREATE TABLE texts (
    session TEXT NOT NULL REFERENCES sessions (id),
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;

CREATE TABLE commits (
    session TEXT NOT NULL REFERENCES sessions (id),
    revision INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    PRIMARY KEY (session, revision)
) WITHOUT ROWID;
"""
