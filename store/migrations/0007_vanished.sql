-- Whether an attempt was cut off and is in no history: codex, or the runtime, ended
-- before the model had the message.
ALTER TABLE turns ADD COLUMN vanished INTEGER NOT NULL DEFAULT 0;
