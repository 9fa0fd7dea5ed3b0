-- Types and statements are those that SQLite and PostgreSQL both understand.

-- A run that was announced. The row outlives the result, so that a nonce can never be used again.
CREATE TABLE started_runs (
    run_id TEXT PRIMARY KEY,
    nonce TEXT NOT NULL,
    seed BIGINT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    engine_version TEXT NOT NULL,
    created_unix_seconds DOUBLE PRECISION NOT NULL,
    expires_unix_seconds DOUBLE PRECISION NOT NULL,
    used BOOLEAN NOT NULL
);

CREATE INDEX started_runs_by_expiry ON started_runs (expires_unix_seconds);

-- A run that was handed in. Columns repeat only what lists filter by or show.
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    notes TEXT NOT NULL,                -- JSON list of sentences
    submitted_unix_seconds DOUBLE PRECISION NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,   -- SHA-256 of the record without run id and nonce, in hex
    standard BOOLEAN NOT NULL,
    software BOOLEAN NOT NULL,
    backend TEXT NOT NULL,
    adapter TEXT NOT NULL,              -- JSON of results::Adapter
    client TEXT NOT NULL,               -- JSON of results::Client
    claimed_name TEXT,
    record TEXT NOT NULL                -- JSON of results::RunRecord, without the nonce
);

-- One row for each completed workload of a run.
CREATE TABLE results (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    batch_size BIGINT NOT NULL,
    samples_per_second DOUBLE PRECISION,
    summary TEXT NOT NULL,              -- JSON of results::Summary
    PRIMARY KEY (run_id, workload)
);

CREATE INDEX results_by_speed ON results (workload, samples_per_second);

-- Only hashes: whoever reads the data base cannot delete a run through the API.
CREATE TABLE deletion_secrets (
    secret_hash TEXT PRIMARY KEY,       -- SHA-256 in hex
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE
);

CREATE INDEX deletion_secrets_by_run ON deletion_secrets (run_id);
