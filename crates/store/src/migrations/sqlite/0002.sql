-- A yes that reaches further than one call.
CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    status TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX grants_by_session ON grants (session);
