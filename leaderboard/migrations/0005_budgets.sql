-- How many announced runs are open is counted before each announcement: from this index alone.
CREATE INDEX started_runs_open ON started_runs (used, expires_unix_seconds);

-- Bytes of the records that were imported on a day (UTC); only the current one is kept.
CREATE TABLE import_days (
    day BIGINT PRIMARY KEY,             -- days since 1970
    bytes BIGINT NOT NULL
);
