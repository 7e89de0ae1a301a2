-- The table of that name was made for this, and nothing was ever put into it.
DROP TABLE inbox;

-- What has come out of the inboxes of workspaces: one row for each that was accepted,
-- kept as long as the platform may hand it out again.
CREATE TABLE inbox (
  n         INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of acceptance
  workspace TEXT NOT NULL,
  activity  TEXT NOT NULL,             -- the platform's id of it
  seq       INTEGER NOT NULL,          -- the platform's number of it; 0 from platforms without
  kind      TEXT NOT NULL,
  chat      TEXT NOT NULL,             -- the conversation that it is part of
  peer      TEXT NOT NULL DEFAULT '',  -- who is answered; empty is the user
  uri       TEXT NOT NULL DEFAULT '',  -- of the file that it tells of
  body      BLOB NOT NULL,             -- emptied when it is finished
  state     TEXT NOT NULL,             -- accepted, given, answered, done, dead or drained
  mute      TEXT NOT NULL DEFAULT '',  -- why it is not answered; empty if it is
  task      TEXT NOT NULL DEFAULT '',  -- that it is part of
  reply     TEXT NOT NULL DEFAULT '',  -- the id of its reply
  note      TEXT NOT NULL DEFAULT '',  -- what came of it; of a file, where it is
  created   INTEGER NOT NULL,
  changed   INTEGER NOT NULL,
  UNIQUE (workspace, activity)
) STRICT;
CREATE INDEX inbox_open ON inbox (n) WHERE state IN ('accepted', 'given');
CREATE INDEX inbox_unfinished ON inbox (workspace, seq) WHERE state IN ('accepted', 'given', 'answered');
CREATE INDEX inbox_seq ON inbox (workspace, seq);
CREATE INDEX inbox_chat ON inbox (workspace, kind, chat, n);
CREATE INDEX inbox_task ON inbox (task) WHERE task <> '';
CREATE INDEX inbox_reply ON inbox (reply) WHERE reply <> '';
CREATE INDEX inbox_uri ON inbox (workspace, uri) WHERE uri <> '';
CREATE INDEX inbox_finished ON inbox (changed) WHERE state IN ('done', 'dead', 'drained');

-- What is said to whoever sent them. The id is the same for the same reply.
CREATE TABLE inbox_replies (
  n         INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT NOT NULL UNIQUE,
  workspace TEXT NOT NULL,
  chat      TEXT NOT NULL,
  peer      TEXT NOT NULL DEFAULT '',
  task      TEXT NOT NULL DEFAULT '',
  final     INTEGER NOT NULL,          -- nothing more comes of its task
  body      BLOB NOT NULL,             -- emptied when it is sent
  digest    BLOB NOT NULL,             -- of what its reader sees
  state     TEXT NOT NULL,             -- due, sent or dead
  tries     INTEGER NOT NULL DEFAULT 0,
  due_at    INTEGER NOT NULL,
  tried_at  INTEGER NOT NULL DEFAULT 0, -- when the try began of which nothing is known; 0 if there is none
  error     TEXT NOT NULL DEFAULT '',  -- of the last try
  created   INTEGER NOT NULL,
  changed   INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_replies_due ON inbox_replies (workspace, chat, n) WHERE state = 'due';
CREATE INDEX inbox_replies_dead ON inbox_replies (n) WHERE state = 'dead';
CREATE INDEX inbox_replies_task ON inbox_replies (task, final) WHERE task <> '';
CREATE INDEX inbox_replies_finished ON inbox_replies (changed) WHERE state IN ('sent', 'dead');

-- How far each inbox has been read, and acknowledged.
CREATE TABLE inbox_cursors (
  workspace TEXT PRIMARY KEY,
  cursor    TEXT NOT NULL DEFAULT '',  -- the last row that was accepted; empty reads by time
  acked     INTEGER NOT NULL DEFAULT 0,
  read_at   INTEGER NOT NULL DEFAULT 0 -- when a page was last accepted
) STRICT;
