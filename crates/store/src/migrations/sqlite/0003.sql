-- Who works on a run, and until when nobody else may take it up. No part of the state: what a run's owner
-- may still write is decided by the run's epoch.
CREATE TABLE leases (
    run TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- Runs that are not ended, by priority, in the order in which they are taken up.
CREATE INDEX runs_open ON runs
    (CASE WHEN json_valid(record) THEN COALESCE(json_extract(record, '$.priority'), 'normal') END, id)
    WHERE status IN ('queued', 'running', 'waiting_for_approval');

-- What runs wait for.
CREATE INDEX approvals_open ON approvals (run) WHERE status = 'pending';

-- What a run has done, in conversations of many runs.
CREATE INDEX calls_by_run ON calls (run);

-- When a call first said that it is about to reach out.
ALTER TABLE calls ADD COLUMN effect_sent_at INTEGER;
UPDATE calls SET effect_sent_at = json_extract(record, '$.effect_sent_at');
