-- The first schema. storage/SCHEMA.md explains tables and columns.

PRAGMA application_id = 0x486f6e65;  -- "Hone"

CREATE TABLE blob (
  digest TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  stored_size INTEGER NOT NULL,
  data BLOB
) STRICT;

CREATE TABLE tuning (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  key_digest TEXT NOT NULL,
  module_fingerprint TEXT NOT NULL,
  target TEXT NOT NULL,
  task TEXT NOT NULL,
  task_options TEXT NOT NULL,
  space_version TEXT NOT NULL,
  module_name TEXT NOT NULL,
  module_digest TEXT NOT NULL,
  optimizer TEXT NOT NULL,
  seed INTEGER NOT NULL,
  budget_trials INTEGER NOT NULL,
  budget_time_ns INTEGER,
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
  error TEXT NOT NULL,
  trials INTEGER NOT NULL,
  default_cost REAL,
  best_cost REAL,
  created_ns INTEGER NOT NULL,
  updated_ns INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX tuning_unfinished_by_key ON tuning (key_digest)
  WHERE state IN ('pending', 'running');

CREATE TABLE trial (
  tuning INTEGER NOT NULL REFERENCES tuning (sequence) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  candidate TEXT NOT NULL,
  outcome TEXT NOT NULL,
  cost REAL,
  samples TEXT,
  message TEXT,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (tuning, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE record (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  key_digest TEXT NOT NULL UNIQUE,
  module_fingerprint TEXT NOT NULL,
  target TEXT NOT NULL,
  task TEXT NOT NULL,
  task_options TEXT NOT NULL,
  space_version TEXT NOT NULL,
  module_name TEXT NOT NULL,
  unit TEXT NOT NULL,
  default_cost REAL,
  best_cost REAL,
  decision TEXT NOT NULL,
  tuned_module_digest TEXT NOT NULL,
  optimizer TEXT NOT NULL,
  seed INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  seconds REAL,
  verification_method TEXT NOT NULL,
  verification_max_rel_error REAL,
  tuning_id TEXT NOT NULL,
  producer TEXT NOT NULL,
  created_ns INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 1;
