-- Exports read all runs in the order in which they came, a few at a time, from where the last few ended.
CREATE INDEX runs_by_submission ON runs (submitted_unix_seconds, run_id);
