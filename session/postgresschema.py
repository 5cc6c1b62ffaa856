"""The tables of a PostgreSQL database of Sessions, made so that people can ask them in SQL.

    SELECT at, payload ->> 'name' FROM agentslot.facts WHERE session = '…' AND kind = 'tool_call';

Payloads and other values are `json`, which keeps numbers and escapes as they were written; `jsonb`
would not.
"""

VERSION = 1

TABLES = f"""
CREATE TABLE agentslot.format AS SELECT {VERSION} AS version;

CREATE TABLE agentslot.sessions (
    id text PRIMARY KEY,
    agent text NOT NULL,
    workspace text NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    model_config json NOT NULL,
    active_run json,
    lineage json
);

CREATE INDEX ON agentslot.sessions (agent, workspace, updated_at);

CREATE TABLE agentslot.facts (
    session text NOT NULL REFERENCES agentslot.sessions,
    sequence bigint NOT NULL,
    kind text NOT NULL,
    run text,
    step text,
    at timestamptz NOT NULL,
    actor_kind text NOT NULL,
    actor text NOT NULL,
    origin text,
    payload json NOT NULL,
    PRIMARY KEY (session, sequence)
);

CREATE TABLE agentslot.queue (
    session text NOT NULL REFERENCES agentslot.sessions,
    position bigint NOT NULL,
    delivery text NOT NULL,
    message json NOT NULL,
    PRIMARY KEY (session, position)
);

CREATE TABLE agentslot.journal (
    session text NOT NULL REFERENCES agentslot.sessions,
    call_sequence bigint NOT NULL,
    call text NOT NULL,
    status text NOT NULL,
    PRIMARY KEY (session, call_sequence)
);

CREATE TABLE agentslot.extensions (
    session text NOT NULL REFERENCES agentslot.sessions,
    sequence bigint NOT NULL,
    hook text NOT NULL,
    boundary text NOT NULL,
    run text,
    status text NOT NULL,
    effect text NOT NULL,
    entry json NOT NULL,
    PRIMARY KEY (session, sequence)
);

CREATE TABLE agentslot.contexts (
    session text NOT NULL REFERENCES agentslot.sessions,
    version bigint NOT NULL,
    view json NOT NULL,
    PRIMARY KEY (session, version)
);

CREATE TABLE agentslot.texts (
    session text NOT NULL REFERENCES agentslot.sessions,
    digest text NOT NULL,
    text json NOT NULL,
    PRIMARY KEY (session, digest)
);

CREATE TABLE agentslot.commits (
    session text NOT NULL REFERENCES agentslot.sessions,
    revision bigint NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint bytea NOT NULL,
    first_sequence bigint NOT NULL,
    last_sequence bigint NOT NULL,
    PRIMARY KEY (session, revision)
);
"""
