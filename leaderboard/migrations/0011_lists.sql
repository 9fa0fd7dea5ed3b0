-- Whatever lists are filtered by. What has few values stands in one number, so that each index can end with all of it.
CREATE TABLE kinds (
    kind BIGINT PRIMARY KEY,            -- begins the SHA-256 of the words that follow, so that every server makes the same
    backend TEXT NOT NULL,
    precision TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    client_kind TEXT NOT NULL,          -- native, browser
    browser TEXT NOT NULL,              -- a family; empty for programs that are none
    system TEXT NOT NULL,               -- a family
    vendor TEXT NOT NULL,               -- empty where nobody says
    tier TEXT NOT NULL,
    ranked_as TEXT NOT NULL             -- gpu, processor; empty for what may not be ranked
);

ALTER TABLE results ADD COLUMN kind BIGINT NOT NULL DEFAULT 0;      -- 0 until the record was read
ALTER TABLE results ADD COLUMN device_key TEXT NOT NULL DEFAULT '';
-- Negated, so that all columns of an index go the same way and a page begins in the middle of it.
ALTER TABLE results ADD COLUMN descending_rate DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE results ADD COLUMN descending_accuracy DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE results ADD COLUMN seconds_to_target DOUBLE PRECISION;  -- absent where it was not reached
-- What the history of a device goes by.
ALTER TABLE results ADD COLUMN engine_version TEXT NOT NULL DEFAULT '';
ALTER TABLE results ADD COLUMN driver TEXT NOT NULL DEFAULT '';
ALTER TABLE results ADD COLUMN submitter TEXT;
ALTER TABLE results ADD COLUMN submitter_day BIGINT NOT NULL DEFAULT 0;

DROP INDEX results_fastest;
DROP INDEX results_fastest_of_backend;
DROP INDEX results_fastest_of_precision;
DROP INDEX results_fastest_of_both;
DROP INDEX results_newest;
DROP INDEX results_ranked;
DROP INDEX results_ranked_of_backend;
DROP INDEX results_ranked_newest;

UPDATE results SET descending_rate = -rate WHERE rate > 0;
UPDATE results SET (device_key, submitter, submitter_day) = (
    SELECT COALESCE(runs.device_key, ''), runs.submitter, COALESCE(runs.submitter_day, 0)
    FROM runs WHERE runs.run_id = results.run_id);

-- One for each order. Filters are looked at in the index, so that rows that do not fit are never read.
CREATE INDEX results_newest ON results (submitted_unix_seconds DESC, run_id, workload, kind, device_key,
    descending_rate, descending_accuracy, seconds_to_target) WHERE shown;
CREATE INDEX results_fastest ON results (workload, descending_rate, submitted_unix_seconds, run_id, kind, device_key)
    WHERE shown;
CREATE INDEX results_most_accurate
    ON results (workload, descending_accuracy, submitted_unix_seconds, run_id, kind, device_key) WHERE shown;
CREATE INDEX results_soonest ON results (workload, seconds_to_target, submitted_unix_seconds, run_id, kind, device_key)
    WHERE shown AND seconds_to_target IS NOT NULL;
CREATE INDEX results_newest_of_device ON results (device_key, submitted_unix_seconds DESC, run_id, workload, kind)
    WHERE shown;
-- One for each filter that may leave few: those are read and sorted.
CREATE INDEX results_of_kind ON results (kind, workload, submitted_unix_seconds, run_id, device_key,
    descending_rate, descending_accuracy, seconds_to_target) WHERE shown;
CREATE INDEX results_of_device ON results (device_key, workload, descending_rate, submitted_unix_seconds, run_id, kind,
    descending_accuracy, seconds_to_target) WHERE shown;
-- Results whose records are still to be read.
CREATE INDEX results_without_kind ON results (run_id) WHERE kind = 0;
