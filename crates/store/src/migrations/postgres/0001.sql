-- Text is compared byte by byte, whatever the database's language is. A constraint is called as the columns
-- that it is about. `rowid` counts the rows of a table in the order in which they were written.

-- What the journal says happened, in order. `payload` is canonical JSON.
CREATE TABLE events (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    session TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    run TEXT COLLATE "C",
    actor TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    salt TEXT COLLATE "C" NOT NULL,
    previous TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "events.session, events.sequence" UNIQUE (session, sequence)
);

-- Values that events and rows hold commitments to. `value` is canonical JSON.
CREATE TABLE contents (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    commitment TEXT COLLATE "C" NOT NULL,
    salt TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "contents.commitment" PRIMARY KEY (commitment),
    CONSTRAINT "contents.rowid" UNIQUE (rowid)
);

-- Signed statements of where a session's chain stood.
CREATE TABLE heads (
    number BIGINT NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    previous_head TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "heads.number" PRIMARY KEY (number)
);

-- The state: a fold of the events. `record` is the whole row as JSON; the other columns are what rows
-- are found by.
CREATE TABLE sessions (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "sessions.id" PRIMARY KEY (id),
    CONSTRAINT "sessions.rowid" UNIQUE (rowid)
);

CREATE TABLE runs (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "runs.id" PRIMARY KEY (id)
);
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_by_status ON runs (status);
-- Runs that are not ended, in the order in which they are taken up.
CREATE INDEX runs_open ON runs ((COALESCE(CAST(record AS JSON) ->> 'priority', 'normal')), id)
    WHERE status IN ('queued', 'running', 'waiting_for_approval');

CREATE TABLE calls (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    effect_sent_at BIGINT,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "calls.id" PRIMARY KEY (id),
    CONSTRAINT "calls.idempotency_key" UNIQUE (idempotency_key)
);
CREATE INDEX calls_by_session ON calls (session);
CREATE INDEX calls_by_run ON calls (run);
CREATE INDEX calls_open ON calls (status)
    WHERE status IN ('proposed', 'authorized', 'waiting_for_approval', 'running', 'uncertain');

CREATE TABLE approvals (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    call TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "approvals.id" PRIMARY KEY (id)
);
CREATE INDEX approvals_by_session ON approvals (session);
CREATE INDEX approvals_by_status ON approvals (status);
CREATE INDEX approvals_open ON approvals (run) WHERE status = 'pending';

-- A yes that reaches further than one call.
CREATE TABLE grants (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "grants.id" PRIMARY KEY (id)
);
CREATE INDEX grants_by_session ON grants (session);

CREATE TABLE items (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    CONSTRAINT "items.session, items.place" UNIQUE (session, place)
);

-- Who works on a run, and until when nobody else may take it up. No part of the state: what a run's owner
-- may still write is decided by the run's epoch.
CREATE TABLE leases (
    run TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT "leases.run" PRIMARY KEY (run)
);

-- What this store says of itself, signed with its key.
CREATE TABLE meta (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

-- The steps that made these tables.
CREATE TABLE schema_steps (
    version BIGINT NOT NULL PRIMARY KEY,
    sha256 TEXT COLLATE "C" NOT NULL,
    sql TEXT COLLATE "C" NOT NULL
);
