-- Records by the machine that measured them, and by time. A column for the row,
-- and a table for the search. storage/SCHEMA.md explains them.

ALTER TABLE record ADD COLUMN measured_by TEXT NOT NULL DEFAULT '';

CREATE TABLE measurement (
  machine TEXT NOT NULL,
  record INTEGER NOT NULL REFERENCES record (sequence) ON DELETE CASCADE,
  PRIMARY KEY (machine, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX measurement_by_record ON measurement (record);

CREATE INDEX record_by_creation ON record (created_ns);

PRAGMA user_version = 4;
