-- What is known of the files in the folder of messages, and by what they are named. A row
-- of a message has its seq; one of a task that hands the file out, or of nothing, has 0. A
-- message's own file that nothing names (message 0, task 0, own 1) is being brought, or to
-- be removed.
CREATE TABLE files (
  name    TEXT NOT NULL,     -- in the folder
  message INTEGER NOT NULL,
  task    INTEGER NOT NULL,  -- its number; 0 is none, or one that is forgotten
  peer    INTEGER NOT NULL,  -- only other agents have it
  own     INTEGER NOT NULL,  -- it was brought as one message's own, and is of no use without
  PRIMARY KEY (name, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_of_task ON files (task);

-- Earlier versions have noted none: those stay that tasks name that have not ended. What else
-- stands there counts as ended when it was written.
INSERT OR IGNORE INTO files
SELECT substr(part.value, instr(part.value, '/.molecule/chat-uploads/') + 24), m.seq, m.task, 0, 0
FROM tasks t
  JOIN messages m ON m.task = t.n
  JOIN history h ON h.task = m.task AND h.ordinal = m.ordinal
  JOIN json_tree(iif(json_valid(CAST(h.body AS TEXT)), CAST(h.body AS TEXT), '{}')) part
WHERE t.ended_at IS NULL AND part.key = 'url' AND part.type = 'text' AND instr(part.value, '/.molecule/chat-uploads/') > 0;
