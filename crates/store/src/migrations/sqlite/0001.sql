-- What the journal says happened, in order. `payload` is canonical JSON.
CREATE TABLE events (
    session TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    run TEXT,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT NOT NULL,
    salt TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (session, sequence)
) STRICT;

-- Values that events and rows hold commitments to. `value` is canonical JSON.
CREATE TABLE contents (
    commitment TEXT NOT NULL PRIMARY KEY,
    salt TEXT NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- Signed statements of where a session's chain stood.
CREATE TABLE heads (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    hash TEXT NOT NULL,
    previous_head TEXT NOT NULL,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;

-- The state: a fold of the events. `record` is the whole row as JSON; the other columns are what rows
-- are found by.
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    principal TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    status TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_by_status ON runs (status);

CREATE TABLE calls (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    status TEXT NOT NULL,
    idempotency_key TEXT UNIQUE,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX calls_by_session ON calls (session);
CREATE INDEX calls_open ON calls (status)
    WHERE status IN ('proposed', 'authorized', 'waiting_for_approval', 'running', 'uncertain');

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    call TEXT NOT NULL,
    status TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_by_session ON approvals (session);
CREATE INDEX approvals_by_status ON approvals (status);

CREATE TABLE items (
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    place INTEGER NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (session, place)
) STRICT;

-- What this store says of itself, signed with its key.
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- The steps that made these tables.
CREATE TABLE schema_steps (
    version INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    sql TEXT NOT NULL
) STRICT;
