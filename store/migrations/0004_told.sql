-- The digest of the instructions that a thread has heard. Empty if it has heard
-- none, or that is not known.
ALTER TABLE threads ADD COLUMN told TEXT NOT NULL DEFAULT '';
