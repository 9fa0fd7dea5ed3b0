-- Types and statements are those that both SQLite and PostgreSQL understand.

-- Announced runs; a row outlives the result, so that a nonce is never used twice.
CREATE TABLE started_runs (
    run_id TEXT PRIMARY KEY,
    nonce TEXT NOT NULL,                -- empty: the nonce follows from the other columns and the server's secret
    seed BIGINT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    engine_version TEXT NOT NULL,
    created_unix_seconds DOUBLE PRECISION NOT NULL,
    expires_unix_seconds DOUBLE PRECISION NOT NULL,
    used BOOLEAN NOT NULL,
    submitter TEXT,                     -- word of one day
    prefix TEXT,                        -- word of one day for the /24 or /48; absent for the host's own machine
    verified_unix_seconds DOUBLE PRECISION      -- time of the last verification
);

CREATE INDEX started_runs_by_expiry ON started_runs (expires_unix_seconds);
-- Open runs are counted before each announcement, from this index alone.
CREATE INDEX started_runs_open ON started_runs (used, expires_unix_seconds);
-- The prefix that was served longest ago comes first.
CREATE INDEX started_runs_verified ON started_runs (prefix, verified_unix_seconds);

-- Uploaded and imported runs: the record, and the columns that follow from it.
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    notes TEXT NOT NULL,                -- JSON list of notes
    submitted_unix_seconds DOUBLE PRECISION NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,   -- SHA-256 of the record without run id and nonce, in hex
    standard BOOLEAN NOT NULL,
    software BOOLEAN NOT NULL,
    backend TEXT NOT NULL,
    adapter TEXT NOT NULL,              -- JSON of results::Adapter
    client TEXT NOT NULL,               -- JSON of results::Client
    claimed_name TEXT,
    record TEXT NOT NULL,               -- JSON of results::RunRecord, without the nonce
    suite_name TEXT,
    suite_version BIGINT,
    client_kind TEXT,                   -- native, browser
    device_class TEXT,                  -- gpu, processor, software, masked
    device_key TEXT,                    -- runs with the same key are of one device
    device_name TEXT,
    device_source TEXT,                 -- reported, claimed, masked
    inferred TEXT,                      -- a guess for readers
    vendor TEXT,
    submitter TEXT,                     -- word of one day; absent for runs that `leaderboard import` stored
    submitter_day BIGINT,               -- day of that word, in days since 1970
    own_device_key TEXT,                -- key before a moderator merged the device into another one; otherwise absent
    prefix TEXT                         -- as in started_runs
);

CREATE INDEX runs_by_submission ON runs (submitted_unix_seconds, run_id);
CREATE INDEX runs_by_device ON runs (device_key, submitted_unix_seconds DESC, run_id);
CREATE INDEX runs_merged ON runs (own_device_key) WHERE own_device_key IS NOT NULL;
-- If a run is flagged, others of its submitter are looked for.
CREATE INDEX runs_by_submitter ON runs (submitter) WHERE submitter IS NOT NULL;

-- Completed workloads of runs, with every column that lists filter and sort by.
CREATE TABLE results (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    batch_size BIGINT NOT NULL,
    samples_per_second DOUBLE PRECISION,
    summary TEXT NOT NULL,              -- JSON of results::Summary
    precision TEXT NOT NULL DEFAULT 'f32',
    rankable BOOLEAN NOT NULL DEFAULT FALSE,    -- enough windows that agree, and a network that learned
    backend TEXT NOT NULL DEFAULT '',
    submitted_unix_seconds DOUBLE PRECISION NOT NULL DEFAULT 0,
    rate DOUBLE PRECISION NOT NULL DEFAULT 0,   -- samples per second; 0 if there is no figure
    shown BOOLEAN NOT NULL DEFAULT TRUE,        -- false if the run is hidden
    ranked_as TEXT,                     -- gpu, processor; absent if it may not be ranked
    kind BIGINT NOT NULL DEFAULT 0,
    device_key TEXT NOT NULL DEFAULT '',
    -- Negated, so that all columns of an index go the same way and a page begins in the middle of it.
    descending_rate DOUBLE PRECISION NOT NULL DEFAULT 0,
    descending_accuracy DOUBLE PRECISION NOT NULL DEFAULT 0,
    seconds_to_target DOUBLE PRECISION, -- absent if the target was not reached
    engine_version TEXT NOT NULL DEFAULT '',
    driver TEXT NOT NULL DEFAULT '',
    voice TEXT,                         -- the run's prefix, or its submitter if it has none: one voice a day for a device
    submitter_day BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, workload)
);

-- One for each order. Filters are applied in the index, so that rows that do not fit are never read.
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
-- One for each filter that may leave few results: those are read and sorted.
CREATE INDEX results_of_kind ON results (kind, workload, submitted_unix_seconds, run_id, device_key,
    descending_rate, descending_accuracy, seconds_to_target) WHERE shown;
CREATE INDEX results_of_device ON results (device_key, workload, descending_rate, submitted_unix_seconds, run_id, kind,
    descending_accuracy, seconds_to_target) WHERE shown;

-- Values that lists filter by and of which there are few, together as one number.
CREATE TABLE kinds (
    kind BIGINT PRIMARY KEY,            -- begins the SHA-256 of the words that follow, so that every server makes the same
    backend TEXT NOT NULL,
    precision TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    client_kind TEXT NOT NULL,          -- native, browser
    browser TEXT NOT NULL,              -- a family; empty for other programs
    system TEXT NOT NULL,               -- a family
    vendor TEXT NOT NULL,               -- empty if unknown
    tier TEXT NOT NULL,
    ranked_as TEXT NOT NULL             -- gpu, processor; empty if it may not be ranked
);

-- Hashes of the secrets that delete runs; with the database alone nobody can delete a run through the API.
CREATE TABLE deletion_secrets (
    secret_hash TEXT PRIMARY KEY,       -- SHA-256 in hex
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE
);

CREATE INDEX deletion_secrets_by_run ON deletion_secrets (run_id);

-- Hashes of deleted records, so that nobody brings one back from an export.
CREATE TABLE deleted_records (
    fingerprint TEXT PRIMARY KEY        -- SHA-256 of the record without run id and nonce, in hex
);

-- Laps of announced runs: segments that follow each other without a gap, from the server's answer on.
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

-- Draws of workloads whose training has ended.
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

-- Hashes of states inside of drawn parts, and losses if a part is a whole segment; deleted together with the states.
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

-- States that were wanted, until they have been examined.
CREATE TABLE shown_states (
    run_id TEXT NOT NULL REFERENCES started_runs (run_id) ON DELETE CASCADE,
    workload TEXT NOT NULL,
    step BIGINT NOT NULL,
    weights_only BOOLEAN NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT NOT NULL,                -- results::StateBytes::body in base64
    PRIMARY KEY (run_id, workload, step)
);

-- Runs that wait to be computed again in parts.
CREATE TABLE verifications (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    queued_unix_seconds DOUBLE PRECISION NOT NULL,
    taken_until_unix_seconds DOUBLE PRECISION NOT NULL, -- until then no other server takes it
    attempts BIGINT NOT NULL,
    in_part BOOLEAN NOT NULL DEFAULT FALSE,     -- its states are gone, so that only its first steps can be computed
    taken_by TEXT                       -- server that took it; a server that starts releases what it had taken before
);

CREATE INDEX verifications_by_age ON verifications (in_part, queued_unix_seconds);

-- Runs whose verification lacked something on the server; their states are kept as long as there is room.
CREATE TABLE unexamined_runs (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    since_unix_seconds DOUBLE PRECISION NOT NULL
);

-- Outcome of the latest replay of a run, for the host who asked for it.
CREATE TABLE replays (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    asked_unix_seconds DOUBLE PRECISION NOT NULL,
    outcome TEXT                        -- a sentence; absent until it was computed again
);

-- Figures of devices over their proven runs, one row for each category; they follow from runs and results.
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
    has_place BOOLEAN NOT NULL DEFAULT FALSE,   -- true if it has enough voices
    PRIMARY KEY (device_key, suite_name, suite_version, device_class, workload, backend, precision, client_kind)
);

-- It holds everything that places are made from.
CREATE INDEX figures_by_median
    ON figures (suite_name, suite_version, device_class, precision, workload, has_place DESC, median DESC, device_key, backend,
        client_kind, lower_quartile, upper_quartile);

-- Devices whose figures have to be made again; each change sets another mark.
CREATE TABLE stale_devices (
    device_key TEXT PRIMARY KEY,
    mark TEXT NOT NULL
);

-- Announced and finished runs of each submitter; they outlive the announcements.
CREATE TABLE announcements (
    submitter TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    day BIGINT NOT NULL,
    announced BIGINT NOT NULL,
    finished BIGINT NOT NULL,
    PRIMARY KEY (submitter, suite_name, suite_version)
);

CREATE INDEX announcements_by_use ON announcements (finished, day);

-- Secrets from which all servers make the words of a day; each is deleted a day after its own.
CREATE TABLE submitter_salts (
    day BIGINT PRIMARY KEY,
    salt TEXT NOT NULL                  -- 32 bytes in hex
);

-- Bytes of the records that were imported on a day (UTC); only the current day is kept.
CREATE TABLE import_days (
    day BIGINT PRIMARY KEY,             -- days since 1970
    bytes BIGINT NOT NULL
);

-- Public log of moderators; it outlives the runs that it is about and holds nothing of their records.
CREATE TABLE moderation_log (
    entry TEXT PRIMARY KEY,             -- a random word
    done_unix_seconds DOUBLE PRECISION NOT NULL,
    deed TEXT NOT NULL,                 -- hide, restore, flag, set_tier, remove, merge_devices, separate_devices
    run_id TEXT,
    tier TEXT,                          -- tier of the run since then
    device_key TEXT,
    into_device_key TEXT,
    reason TEXT                         -- absent if none was given
);

CREATE INDEX moderation_log_newest ON moderation_log (done_unix_seconds DESC, entry);

-- Runs that a moderator hid or flagged, with their own tier and notes, which are shown again after `restore`.
CREATE TABLE moderated_runs (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    own_tier TEXT NOT NULL,
    own_notes TEXT NOT NULL,            -- JSON list of notes
    reason TEXT                         -- the moderator's reason for a flag, perhaps empty; absent if the run is hidden
);

-- Devices that a moderator merged into another one; no key of the second column is in the first.
CREATE TABLE device_aliases (
    device_key TEXT PRIMARY KEY,
    into_key TEXT NOT NULL,
    into_name TEXT NOT NULL,            -- name of the other device when they were merged
    into_vendor TEXT
);

CREATE INDEX device_aliases_by_target ON device_aliases (into_key);

-- Shared comparisons of back ends; their records are not in runs.
CREATE TABLE comparisons (
    comparison_id TEXT PRIMARY KEY,
    submitted_unix_seconds DOUBLE PRECISION NOT NULL,
    deletion_secret_hash TEXT NOT NULL,
    comparison TEXT NOT NULL            -- JSON: records, and back ends that could not train
);
