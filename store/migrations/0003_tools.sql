-- The tools that a conversation's thread was started with, by a name of their set:
-- codex keeps them for as long as the thread lives. Empty if there were none.
ALTER TABLE conversations ADD COLUMN tools TEXT NOT NULL DEFAULT '';
