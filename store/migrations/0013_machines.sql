-- Which machine a conversation's commands run on, where they run on others.
CREATE TABLE placements (
  conversation TEXT PRIMARY KEY,
  machine      TEXT NOT NULL,
  placed_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The id by which machines know this state. It has one row.
CREATE TABLE identity (
  id TEXT NOT NULL
) STRICT;
INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));
