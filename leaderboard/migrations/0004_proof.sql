-- What announced runs told of their training while it went on, with this server's own times.
CREATE TABLE checkpoints (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    number BIGINT NOT NULL,
    step BIGINT NOT NULL,
    weights_sha256 TEXT NOT NULL,
    measured_sha256 TEXT NOT NULL,
    is_last BOOLEAN NOT NULL,
    told_unix_seconds DOUBLE PRECISION NOT NULL,
    weights_wanted BOOLEAN NOT NULL,
    shown_unix_seconds DOUBLE PRECISION,
    PRIMARY KEY (run_id, workload, number)
);

-- Weights that were asked for, until they have been looked at.
CREATE TABLE shown_weights (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    step BIGINT NOT NULL,
    weights TEXT NOT NULL,              -- float32, little-endian, in base64
    PRIMARY KEY (run_id, workload)
);

-- Runs that wait to be computed again in parts. A server that works on one says until when nobody else needs to.
CREATE TABLE verifications (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    queued_unix_seconds DOUBLE PRECISION NOT NULL,
    taken_until_unix_seconds DOUBLE PRECISION NOT NULL,
    attempts BIGINT NOT NULL
);

CREATE INDEX verifications_by_age ON verifications (queued_unix_seconds);

-- Nothing ever earned this tier, which a host could give by hand.
UPDATE runs SET tier = 'checked' WHERE tier = 'replayed';
