-- The model that a conversation's thread has by itself, where a turn of it has
-- used another. Empty if none has, or it is not known.
ALTER TABLE conversations ADD COLUMN model TEXT NOT NULL DEFAULT '';

-- What is said of a task's end, to whom, and whether it has arrived: one row for
-- each ended task that was to be told of. Without a target there is nobody to tell.
CREATE TABLE notices (
  task    INTEGER PRIMARY KEY,
  target  TEXT NOT NULL,
  body    BLOB NOT NULL,
  status  TEXT NOT NULL,               -- pending, failed, sent or no_target; empty is no_target that nobody has asked for
  error   TEXT NOT NULL DEFAULT '',    -- of the last try
  tries   INTEGER NOT NULL DEFAULT 0,
  due_at  INTEGER NOT NULL,            -- 0 means not by itself
  sent_at INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX notices_open ON notices (task) WHERE status IN ('', 'pending', 'failed');
