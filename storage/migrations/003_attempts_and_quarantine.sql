-- What ends the process that works on it: how often a tuning was begun without
-- a new trial, and modules that are set aside. Neither is part of a checksum:
-- a wrong number here costs an attempt, no result. storage/SCHEMA.md explains
-- them.

ALTER TABLE tuning ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tuning ADD COLUMN attempt_trials INTEGER NOT NULL DEFAULT 0;

CREATE TABLE quarantine (
  module_digest TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  since_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
