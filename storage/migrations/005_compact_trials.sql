-- Candidates and samples of trials as bytes, which large candidates need. Rows
-- of older schemas stay as they are: candidate_bytes is NULL, and candidate and
-- samples hold JSON, which are '' and NULL in newer rows. storage/SCHEMA.md
-- explains the bytes.

ALTER TABLE trial ADD COLUMN candidate_bytes BLOB;
ALTER TABLE trial ADD COLUMN sample_bytes BLOB;
ALTER TABLE trial ADD COLUMN violation REAL;

-- NULL: unlimited.
ALTER TABLE tuning ADD COLUMN budget_evaluations INTEGER;

PRAGMA user_version = 5;
