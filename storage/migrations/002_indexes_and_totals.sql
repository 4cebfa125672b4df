-- Misses, statistics and the start of the daemon without scans: contexts, the
-- indexes that retention and the collection of blobs need, and running totals.
-- storage/SCHEMA.md explains them.

CREATE TABLE context (
  id INTEGER PRIMARY KEY,
  target TEXT NOT NULL,
  task TEXT NOT NULL,
  task_options TEXT NOT NULL,
  space_version TEXT NOT NULL,
  newest INTEGER NOT NULL,
  UNIQUE (target, task, task_options, space_version)
) STRICT;
CREATE INDEX context_by_newest ON context (newest);

INSERT INTO context (target, task, task_options, space_version, newest)
  SELECT target, task, task_options, space_version, MAX(sequence)
  FROM record GROUP BY target, task, task_options, space_version;

ALTER TABLE record ADD COLUMN context INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN used_ns INTEGER NOT NULL DEFAULT 0;
UPDATE record SET used_ns = created_ns, context = (
  SELECT id FROM context
  WHERE context.target = record.target AND context.task = record.task
    AND context.task_options = record.task_options
    AND context.space_version = record.space_version);

CREATE INDEX record_by_module ON record (module_fingerprint);
CREATE INDEX record_by_context ON record (context);
CREATE INDEX record_by_use ON record (used_ns);
CREATE INDEX record_by_blob ON record (tuned_module_digest)
  WHERE tuned_module_digest <> '';

CREATE INDEX tuning_unfinished ON tuning (sequence)
  WHERE state IN ('pending', 'running');
CREATE INDEX tuning_finished_by_age ON tuning (updated_ns)
  WHERE state IN ('succeeded', 'failed', 'cancelled');
CREATE INDEX tuning_by_blob ON tuning (module_digest);

-- Not a column of blob: it would lie behind the content.
CREATE TABLE blob_use (
  digest TEXT PRIMARY KEY,
  used_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO blob_use
  SELECT digest, CAST(strftime('%s', 'now') AS INTEGER) * 1000000000 FROM blob;

CREATE TABLE total (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  records INTEGER NOT NULL,
  tunings INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  blobs INTEGER NOT NULL,
  file_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO total VALUES (
  1,
  (SELECT COUNT(*) FROM record),
  (SELECT COUNT(*) FROM tuning),
  (SELECT COALESCE(SUM(trials), 0) FROM tuning),
  (SELECT COUNT(*) FROM blob),
  (SELECT COALESCE(SUM(stored_size), 0) FROM blob WHERE data IS NULL));

CREATE TRIGGER record_inserted AFTER INSERT ON record BEGIN
  UPDATE total SET records = records + 1;
  UPDATE context SET newest = NEW.sequence WHERE id = NEW.context;
END;
CREATE TRIGGER record_deleted AFTER DELETE ON record BEGIN
  UPDATE total SET records = records - 1;
  UPDATE context SET newest = COALESCE(
      (SELECT MAX(sequence) FROM record WHERE context = OLD.context), 0)
    WHERE id = OLD.context AND newest = OLD.sequence;
  DELETE FROM context WHERE id = OLD.context AND newest = 0;
END;
CREATE TRIGGER tuning_inserted AFTER INSERT ON tuning BEGIN
  UPDATE total SET tunings = tunings + 1, trials = trials + NEW.trials;
END;
CREATE TRIGGER tuning_grown AFTER UPDATE OF trials ON tuning
  WHEN NEW.trials <> OLD.trials BEGIN
  UPDATE total SET trials = trials + NEW.trials - OLD.trials;
END;
CREATE TRIGGER tuning_deleted AFTER DELETE ON tuning BEGIN
  UPDATE total SET tunings = tunings - 1, trials = trials - OLD.trials;
END;
CREATE TRIGGER blob_inserted AFTER INSERT ON blob BEGIN
  UPDATE total SET blobs = blobs + 1,
    file_bytes = file_bytes + IIF(NEW.data IS NULL, NEW.stored_size, 0);
END;
CREATE TRIGGER blob_deleted AFTER DELETE ON blob BEGIN
  UPDATE total SET blobs = blobs - 1,
    file_bytes = file_bytes - IIF(OLD.data IS NULL, OLD.stored_size, 0);
  DELETE FROM blob_use WHERE digest = OLD.digest;
END;

PRAGMA user_version = 2;
