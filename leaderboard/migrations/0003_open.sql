-- Network of a run of the open class, as JSON; absent in other suites.
ALTER TABLE started_runs ADD COLUMN network TEXT;

-- Runs of the open class that were proven at some time, with the loss that the server computed.
CREATE TABLE open_results (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    data_set TEXT NOT NULL,
    title TEXT NOT NULL,                -- of the network
    loss DOUBLE PRECISION NOT NULL,     -- on the whole test set
    parameters BIGINT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,  -- of training, limited by the server's clock
    submitted_unix_seconds DOUBLE PRECISION NOT NULL
);

CREATE INDEX open_results_by_loss ON open_results (data_set, loss, submitted_unix_seconds, run_id);
