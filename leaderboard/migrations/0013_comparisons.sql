-- Comparisons of back ends that somebody shares: their records stand together, and are no runs.
CREATE TABLE comparisons (
    comparison_id TEXT PRIMARY KEY,
    submitted_unix_seconds DOUBLE PRECISION NOT NULL,
    deletion_secret_hash TEXT NOT NULL,
    comparison TEXT NOT NULL            -- JSON: records, and back ends that could not train
);
