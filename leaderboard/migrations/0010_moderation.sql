-- What moderators did, for anyone to read. It outlives the runs that it is about, and holds nothing of their records.
CREATE TABLE moderation_log (
    entry TEXT PRIMARY KEY,             -- a random word
    done_unix_seconds DOUBLE PRECISION NOT NULL,
    deed TEXT NOT NULL,                 -- hide, restore, flag, set_tier, remove, merge_devices, separate_devices
    run_id TEXT,
    tier TEXT,                          -- what the run has been since
    device_key TEXT,
    into_device_key TEXT,
    reason TEXT                         -- absent where none was given
);

CREATE INDEX moderation_log_newest ON moderation_log (done_unix_seconds DESC, entry);

-- Runs that a moderator hid or flagged, with what they are of their own. That is shown again when the moderator takes the
-- word back; until then it is what a verification changes.
CREATE TABLE moderated_runs (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    own_tier TEXT NOT NULL,
    own_notes TEXT NOT NULL,            -- JSON list of sentences
    note TEXT                           -- the moderator's own, of a run that is flagged
);

-- Devices that a moderator merged into another one, whose runs are grouped as that one's, now and later. No key of the
-- second column is in the first.
CREATE TABLE device_aliases (
    device_key TEXT PRIMARY KEY,
    into_key TEXT NOT NULL,
    into_name TEXT NOT NULL,            -- what readers know the other one by, when they were merged
    into_vendor TEXT
);

CREATE INDEX device_aliases_by_target ON device_aliases (into_key);

-- The key that the record itself comes to, where it was merged into another one; otherwise absent.
ALTER TABLE runs ADD COLUMN own_device_key TEXT;

CREATE INDEX runs_merged ON runs (own_device_key) WHERE own_device_key IS NOT NULL;

-- Runs that were verified before wait for those that never were. Their weights are gone, so that only their first steps can
-- be computed again, which proves nothing.
ALTER TABLE verifications ADD COLUMN in_part BOOLEAN NOT NULL DEFAULT FALSE;

DROP INDEX verifications_by_age;
CREATE INDEX verifications_by_age ON verifications (in_part, queued_unix_seconds);

-- Runs that could be verified but for something that the server lacked: their weights are kept, as far as there is room.
CREATE TABLE unexamined_runs (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    since_unix_seconds DOUBLE PRECISION NOT NULL
);

-- What became of the latest replay of a run, for the host who asked for it.
CREATE TABLE replays (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    asked_unix_seconds DOUBLE PRECISION NOT NULL,
    outcome TEXT                        -- a sentence; absent until it was computed again
);
