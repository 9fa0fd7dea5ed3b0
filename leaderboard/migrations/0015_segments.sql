-- Segments take the place of checkpoints. Runs that wait for verification with nothing but weights lose them, and can be
-- computed again in part only.
DROP TABLE shown_weights;
DROP TABLE checkpoints;
DELETE FROM unexamined_runs;

-- Segments that follow each other with nothing in between, from the server's answer on.
CREATE TABLE laps (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    first_segment BIGINT NOT NULL,
    state_sha256 TEXT NOT NULL,         -- of the state with which it begins
    opened_unix_seconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run_id, workload, first_segment)
);

-- Windows of training that announced runs committed to.
CREATE TABLE segments (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    number BIGINT NOT NULL,             -- from 0, without gaps
    step BIGINT NOT NULL,               -- steps done at its end
    beacon TEXT NOT NULL,
    state_sha256 TEXT NOT NULL,         -- of the state with which it ended
    losses_sha256 TEXT NOT NULL,        -- of the losses of its steps
    ends_lap BOOLEAN NOT NULL,
    committed_unix_seconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run_id, workload, number)
);

-- Workloads whose training has ended, so that parts of it are drawn.
CREATE TABLE proofs (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    word TEXT NOT NULL,                 -- draws inside of segments follow from it
    segments BIGINT NOT NULL,           -- number of segments
    drawn TEXT NOT NULL,                -- segment of each draw, as a JSON list
    tested_step BIGINT NOT NULL,        -- steps done at the last evaluation
    target_step BIGINT,                 -- absent if the target accuracy was not reached
    PRIMARY KEY (run_id, workload)
);

-- Hashes of states inside of drawn parts, and losses where a part is a whole segment. They go with the states.
CREATE TABLE part_hashes (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    draw BIGINT NOT NULL,
    first_step BIGINT NOT NULL,
    last_step BIGINT NOT NULL,
    bytes BIGINT NOT NULL,              -- of hashes and losses
    hashes TEXT NOT NULL,               -- JSON list, as the next one
    losses TEXT NOT NULL,
    PRIMARY KEY (run_id, workload, draw, first_step, last_step)
);

-- States that were wanted, until they have been looked at.
CREATE TABLE shown_states (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    step BIGINT NOT NULL,
    weights_only BOOLEAN NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT NOT NULL,                -- results::StateBytes::body in base64
    PRIMARY KEY (run_id, workload, step)
);

-- Where one run is flagged, others of its submitter are looked for.
CREATE INDEX runs_by_submitter ON runs (submitter) WHERE submitter IS NOT NULL;

-- The /24 or /48 that a run was announced from, as `started_runs` has it. It has one voice a day about a device. Results
-- have its word, or that of the submitter where there is none.
ALTER TABLE runs ADD COLUMN prefix TEXT;
UPDATE runs SET prefix = (SELECT prefix FROM started_runs WHERE started_runs.run_id = runs.run_id);
ALTER TABLE results RENAME COLUMN submitter TO voice;
UPDATE results SET voice = COALESCE((SELECT prefix FROM runs WHERE runs.run_id = results.run_id), voice);

-- Devices with enough voices to have a place come before the others. All figures are made again.
ALTER TABLE figures ADD COLUMN has_place BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX figures_by_median;
CREATE INDEX figures_by_median
    ON figures (suite_name, suite_version, device_class, precision, workload, has_place DESC, median DESC, device_key, backend,
        client_kind, lower_quartile, upper_quartile);
INSERT INTO stale_devices (device_key, mark) SELECT DISTINCT device_key, 'migration' FROM figures
    WHERE device_key NOT IN (SELECT device_key FROM stale_devices);
