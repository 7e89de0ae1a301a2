-- Among which tasks this one is counted when there are too many that have ended, as
-- store.Class has it. Those of earlier versions count as tasks whose turn was begun.
ALTER TABLE tasks ADD COLUMN class INTEGER NOT NULL DEFAULT 3;
DROP INDEX tasks_ended;
CREATE INDEX tasks_ended ON tasks (class, ended_at) WHERE ended_at IS NOT NULL;
