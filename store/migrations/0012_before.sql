-- before is the thread that the conversation had, if it goes on in another one: that may be a fork, and
-- codex reads the history of a fork in the thread that it is of.
ALTER TABLE threads ADD COLUMN before TEXT NOT NULL DEFAULT '';
CREATE INDEX threads_by_before ON threads (before) WHERE before <> '';

-- far is for how long processes have seen the clock far ahead of at, in nanoseconds.
ALTER TABLE ageing ADD COLUMN far INTEGER NOT NULL DEFAULT 0;
