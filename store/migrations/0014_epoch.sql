-- The last epoch that machines were told: see HeaderEpoch in machine/wire.
ALTER TABLE identity ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
