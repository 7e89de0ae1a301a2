-- Times are nanoseconds since 1970; 0 is no time. A task's rows refer to it by
-- its number, which is never used twice.

CREATE TABLE tasks (
  n            INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  context_id   TEXT NOT NULL,
  conversation TEXT NOT NULL,
  state        TEXT NOT NULL,
  at           INTEGER NOT NULL,            -- of the status
  created      INTEGER NOT NULL,
  ended_at     INTEGER,                     -- NULL while the task lives
  epoch        INTEGER NOT NULL DEFAULT 0,
  last_seq     INTEGER NOT NULL DEFAULT 0,
  pruned       INTEGER NOT NULL DEFAULT 0,  -- its events are gone
  head         BLOB NOT NULL
) STRICT;
-- The state stands in them to be counted. An index by state would have to be
-- written with each change of state, as these two have to be for the time.
CREATE INDEX tasks_by_time    ON tasks (at DESC, id DESC, state);
CREATE INDEX tasks_by_context ON tasks (context_id, at DESC, id DESC, state);
CREATE INDEX tasks_live       ON tasks (n) WHERE ended_at IS NULL;
CREATE INDEX tasks_ended      ON tasks (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX tasks_unpruned   ON tasks (ended_at) WHERE ended_at IS NOT NULL AND pruned = 0;

CREATE TABLE history (
  task    INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (task, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
  task    INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (task, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  task      INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  epoch     INTEGER NOT NULL,
  body      BLOB NOT NULL,
  PRIMARY KEY (task, first_seq)
) STRICT, WITHOUT ROWID;

-- seq is the order of acceptance. The body of a message is in the history of
-- its task. A message whose key was given to another has no message_id.
CREATE TABLE messages (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  caller       TEXT NOT NULL,
  context_id   TEXT NOT NULL,
  task_ref     TEXT NOT NULL,
  message_id   TEXT,
  digest       BLOB NOT NULL,
  task         INTEGER NOT NULL,
  ordinal      INTEGER NOT NULL,
  job          TEXT NOT NULL UNIQUE,
  conversation TEXT NOT NULL,
  accepted_at  INTEGER NOT NULL,
  ended        INTEGER NOT NULL DEFAULT 0,
  attempt      INTEGER NOT NULL DEFAULT 0,
  interrupted  INTEGER NOT NULL DEFAULT 0,  -- its turn was cut off
  replaces     INTEGER,                     -- the message that had its key before
  UNIQUE (message_id, context_id, task_ref, caller)
) STRICT;
CREATE INDEX messages_waiting ON messages (seq) WHERE ended = 0;
CREATE INDEX messages_of_task ON messages (task);

CREATE TABLE turns (
  message   INTEGER NOT NULL,
  attempt   INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  turn_id   TEXT NOT NULL DEFAULT '',
  tool      INTEGER NOT NULL DEFAULT 0,
  begun_at  INTEGER NOT NULL,
  PRIMARY KEY (message, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
  key       TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL,
  used_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_use ON conversations (used_at);

CREATE TABLE threads (
  thread_id TEXT PRIMARY KEY,
  key       TEXT NOT NULL,
  created   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX threads_by_key ON threads (key);

CREATE TABLE questions (
  task     INTEGER NOT NULL,
  id       TEXT NOT NULL,
  body     BLOB NOT NULL,
  asked_at INTEGER NOT NULL,
  deadline INTEGER NOT NULL,
  PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE push_configs (
  task INTEGER NOT NULL,
  id   TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  kind    TEXT NOT NULL,
  task    INTEGER NOT NULL,
  target  TEXT NOT NULL,
  body    BLOB NOT NULL,
  tries   INTEGER NOT NULL DEFAULT 0,
  due_at  INTEGER NOT NULL,
  created INTEGER NOT NULL,
  dead    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_due     ON outbox (due_at) WHERE dead = 0;
CREATE INDEX outbox_dead    ON outbox (due_at) WHERE dead = 1;
CREATE INDEX outbox_of_task ON outbox (task);

CREATE TABLE inbox (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  source      TEXT NOT NULL,
  id          TEXT NOT NULL,
  body        BLOB NOT NULL,
  received_at INTEGER NOT NULL,
  state       TEXT NOT NULL,
  UNIQUE (source, id)
) STRICT;
CREATE INDEX inbox_by_state ON inbox (source, state, seq);

-- Tasks whose row is gone and whose other rows are still being deleted.
CREATE TABLE forgotten (
  task INTEGER PRIMARY KEY
) STRICT;
