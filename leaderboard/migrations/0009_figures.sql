-- Lists are read from `results` alone, in the order of an index: what they filter by stands in each row.
ALTER TABLE results ADD COLUMN backend TEXT NOT NULL DEFAULT '';
ALTER TABLE results ADD COLUMN submitted_unix_seconds DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE results ADD COLUMN rate DOUBLE PRECISION NOT NULL DEFAULT 0;    -- samples per second; 0 where there is none
ALTER TABLE results ADD COLUMN shown BOOLEAN NOT NULL DEFAULT TRUE;         -- whether its run is not hidden
ALTER TABLE results ADD COLUMN ranked_as TEXT;      -- gpu, processor; absent for what may not be ranked

UPDATE results SET (backend, submitted_unix_seconds, shown) = (
    SELECT runs.backend, runs.submitted_unix_seconds, runs.tier <> 'hidden' FROM runs WHERE runs.run_id = results.run_id);
UPDATE results SET rate = samples_per_second WHERE samples_per_second IS NOT NULL;
UPDATE results SET ranked_as = (
    SELECT CASE WHEN runs.tier = 'proven' AND runs.standard AND NOT runs.software
        AND runs.device_class IN ('gpu', 'processor') THEN runs.device_class END
    FROM runs WHERE runs.run_id = results.run_id) WHERE rankable;

DROP INDEX results_by_speed;
CREATE INDEX results_fastest ON results (workload, rate DESC, submitted_unix_seconds, run_id) WHERE shown;
CREATE INDEX results_fastest_of_backend ON results (workload, backend, rate DESC, submitted_unix_seconds, run_id)
    WHERE shown;
CREATE INDEX results_fastest_of_precision ON results (workload, precision, rate DESC, submitted_unix_seconds, run_id)
    WHERE shown;
CREATE INDEX results_fastest_of_both ON results (workload, backend, precision, rate DESC, submitted_unix_seconds, run_id)
    WHERE shown;
CREATE INDEX results_newest ON results (submitted_unix_seconds DESC, run_id, workload) WHERE shown;
CREATE INDEX results_ranked ON results (ranked_as, workload, precision, rate DESC, submitted_unix_seconds, run_id)
    WHERE ranked_as IS NOT NULL;
CREATE INDEX results_ranked_of_backend
    ON results (ranked_as, workload, backend, precision, rate DESC, submitted_unix_seconds, run_id)
    WHERE ranked_as IS NOT NULL;
CREATE INDEX results_ranked_newest ON results (ranked_as, submitted_unix_seconds DESC, run_id, workload)
    WHERE ranked_as IS NOT NULL;

-- A device's runs, the newest first; and all that its figures are made from.
CREATE INDEX runs_by_device ON runs (device_key, submitted_unix_seconds DESC, run_id);
DROP INDEX runs_by_suite;

-- What all proven runs of a device come to in one category. Each row follows from `runs` and `results`, and is made
-- again when they change.
CREATE TABLE figures (
    device_key TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    device_class TEXT NOT NULL,
    workload TEXT NOT NULL,             -- empty for the score over all workloads of the suite
    backend TEXT NOT NULL,
    precision TEXT NOT NULL,
    client_kind TEXT NOT NULL,
    vendor TEXT,
    median DOUBLE PRECISION NOT NULL,
    lower_quartile DOUBLE PRECISION NOT NULL,
    upper_quartile DOUBLE PRECISION NOT NULL,
    line TEXT NOT NULL,                 -- JSON of figures::DeviceFigure
    rates TEXT NOT NULL,                -- JSON of ranking::Histogram
    PRIMARY KEY (device_key, suite_name, suite_version, device_class, workload, backend, precision, client_kind)
);

-- It holds all that places are made from.
CREATE INDEX figures_by_median
    ON figures (suite_name, suite_version, device_class, precision, workload, median DESC, device_key, backend, client_kind,
        lower_quartile, upper_quartile);

-- Devices whose figures have to be made again. Whoever does it forgets the row as it was before: where another change
-- came meanwhile, it has another mark.
CREATE TABLE stale_devices (
    device_key TEXT PRIMARY KEY,
    mark TEXT NOT NULL
);

INSERT INTO stale_devices (device_key, mark)
    SELECT DISTINCT device_key, 'migration' FROM runs WHERE tier = 'proven' AND device_key IS NOT NULL;
