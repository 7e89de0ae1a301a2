-- The order of lists, and what they are filtered by, is in memory: these were written
-- with each change of state, and are read by nothing any more.
DROP INDEX tasks_by_time;
DROP INDEX tasks_by_context;
